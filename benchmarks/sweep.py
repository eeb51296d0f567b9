"""What a sweep costs for each configuration, beside everything else that could answer it.

Latency, throughput and bottleneck of one path, CPU time of one core, best of a few rounds: computed, and computed and
kept as a chunk. Beside it: a loop over the API, an event simulation (SimPy) that runs until its mean is known to one
per cent, the figure of a queueing solver (LINE), and a bare copy of the same bytes. Then the wall time on one and on
all cores, and the memory a worker ever holds. Ends with exit code 1 when a path stays below the target.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded: one core is measured

import contextlib
import io
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import vmodel
from vmodel.sweep import engine
from vmodel.sweep.axis import faults_of
from vmodel.sweep.grid import grid, table
from vmodel.sweep.store import as_bytes

TARGET = 5e6  # configurations a second and core
ROUNDS = 5
COLUMNS = ["latency_us", "throughput_bps", "bottleneck"]
STREAM, PACKETS = {"workload": "stream"}, {"workload": "packets"}
SIZES, FRAMES = "size=1..65536/2000", "size=64..1500/1400"
CASES = {
    "vf, rr": ({"path": "vf"}, [SIZES, "rx_usecs=0..200/1000"]),
    "virtio-vhost, rr": ({"path": "virtio-vhost"}, [SIZES, "mtu=576..9000/1000"]),
    "virtio-vhost, stream": ({"path": "virtio-vhost", **STREAM}, [SIZES, "mtu=576..9000/1000"]),
    "vsock, stream": ({"path": "vsock", **STREAM}, [SIZES, "rx_buffer_bytes=4096..65536/1000"]),
    "virtio-vhost, packets": ({"path": "virtio-vhost", **PACKETS}, [FRAMES, "batch=1..1024/1000"]),
    "dpdk, packets": ({"path": "dpdk", **PACKETS}, [FRAMES, "batch=1..1024/1000"]),
}
LOADED = ({"path": "virtio-vhost", "workload": "packets"}, ["size=64..1500/50", "load=5%..95%/200"])
LOOPED = 300
# line-solver 3.0.8.0, open tandem of ten stations, MVA, building and solving the model in process: 11.4 to 11.6 ms,
# median of 11, measured 2026-11-30 on a guest with two vCPUs of an AMD EPYC (Zen 4); the import costs 1.5 s once
LINE_S = 11.5e-3  # quoted where it is not installed
LINE_RATIO = 50_000
STATIONS, LOWEST_LOAD, HIGHEST_LOAD = 10, 0.5, 0.9
CUSTOMERS, BATCHES = 12_000, 12
ACCURACY, STUDENT_95 = 0.01, 2.201  # of eleven degrees of freedom


def laid_out(settings, texts, columns=COLUMNS):
    axes, faults = faults_of(texts)
    if faults:
        raise SystemExit(str(faults))
    return grid(settings, axes, columns)


def best(work, count: int) -> float:
    """Seconds of CPU time for each configuration, the best of a few rounds."""
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) / count


def simulated() -> tuple[float, float]:
    """CPU seconds of SimPy until the mean time through the tandem is known to one per cent (95 %), and for a customer.

    The customers needed follow from the spread of batch means: the half width shrinks with the root of their number.
    """
    import simpy

    random.seed(1)
    env = simpy.Environment()
    servers = [simpy.Resource(env) for _ in range(STATIONS)]
    service = np.linspace(LOWEST_LOAD, HIGHEST_LOAD, STATIONS)
    times: list[float] = []

    def customer():
        begun = env.now
        for server, mean in zip(servers, service, strict=True):
            with server.request() as turn:
                yield turn
                yield env.timeout(random.expovariate(1 / mean))
        times.append(env.now - begun)

    def source():
        for _ in range(CUSTOMERS):
            yield env.timeout(random.expovariate(1.0))
            env.process(customer())

    start = time.process_time()
    env.process(source())
    env.run()
    took = time.process_time() - start
    means = np.array_split(np.array(times[CUSTOMERS // BATCHES :]), BATCHES)
    means = np.array([batch.mean() for batch in means])
    half = STUDENT_95 * means.std(ddof=1) / math.sqrt(len(means))
    needed = CUSTOMERS * (half / (ACCURACY * means.mean())) ** 2
    return took / CUSTOMERS * needed, took / CUSTOMERS


def copied(size: int) -> float:
    """Seconds to copy a byte from memory to memory, arrays far larger than the caches."""
    source = np.ones(size // 8)
    target = np.empty_like(source)
    return best(lambda: np.copyto(target, source), source.nbytes)


def pooled(g, workers: int) -> str:
    """Wall seconds of a sweep into a file, and CPU seconds of this process and of its workers."""
    with tempfile.TemporaryDirectory() as place:
        start, own, theirs = time.perf_counter(), time.process_time(), children()
        runner = engine.here if workers == 1 else engine.on_cores(workers)
        done = engine.to_file(g, Path(place) / "sweep.parquet", runner)
        if done.failures:
            raise SystemExit(str(done.failures[0]))
        took, own, theirs = time.perf_counter() - start, time.process_time() - own, children() - theirs
        return f"{took:.1f} s (CPU {own:.1f} s" + (f" and {theirs:.1f} s of the workers)" if workers > 1 else ")")


def children() -> float:
    """CPU seconds of all processes that were started from here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


MEMORY = """
import sys, tempfile
from pathlib import Path
from vmodel.sweep import engine
from vmodel.sweep.axis import faults_of
from vmodel.sweep.grid import grid
axes = faults_of(["size=1..65536/4000", f"mtu=576..9000/{sys.argv[1]}"])[0]
g = grid({"path": "virtio-vhost", "workload": "stream"}, axes, ["latency_us", "throughput_bps", "bottleneck"])
with tempfile.TemporaryDirectory() as place:
    engine.to_file(g, Path(place) / "sweep.parquet", engine.here)
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def held(values: int) -> float:
    """The most memory that a process of its own ever held for a sweep into a file [MiB]."""
    done = subprocess.run([sys.executable, "-c", MEMORY, str(values)], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def line_solver_s() -> tuple[str, float]:
    """Seconds in which LINE builds and solves an open tandem of ten stations; the quoted figure where it is missing."""
    try:
        import line_solver as line
    except ImportError:
        return "LINE, a tandem of ten (quoted)", LINE_S

    def solved() -> None:
        model = line.Network("tandem")
        source, sink = line.Source(model, "source"), line.Sink(model, "sink")
        queues = [line.Queue(model, f"station {i}", line.SchedStrategy.FCFS) for i in range(STATIONS)]
        frames = line.OpenClass(model, "frames", 0)
        source.set_arrival(frames, line.Exp(1.0))
        for i, queue in enumerate(queues):
            load = LOWEST_LOAD + (HIGHEST_LOAD - LOWEST_LOAD) * i / (STATIONS - 1)
            queue.set_service(frames, line.Exp(1.0 / load))
        model.link(line.Network.serial_routing(source, *queues, sink))
        with contextlib.redirect_stdout(io.StringIO()):
            line.MVA(model).avg_table()

    return "LINE, a tandem of ten", best(solved, 1)


def say(name: str, seconds: float, fastest: float, at_load: float) -> None:
    """One line of the comparison."""
    print(f"{name:44s} {seconds * 1e6:12,.1f} us {seconds / fastest:20,.0f} {seconds / at_load:12,.1f}")


def main() -> int:
    """Measure all and compare."""
    slow = False
    print(f"{'case':24s} {'million/s':>10s} {'ns each':>8s} {'with chunk':>11s}   latency, throughput, bottleneck")
    fastest = math.inf
    for name, (settings, texts) in CASES.items():
        g = laid_out(settings, texts)
        count = engine.CHUNK
        alone = best(lambda g=g, n=count: table(g, 0, n), count)
        kept = best(lambda g=g, n=count: as_bytes(g, table(g, 0, n)), count)
        slow = slow or 1 / alone < TARGET
        fastest = min(fastest, alone)
        mark = "  below the target" if 1 / alone < TARGET else ""
        print(f"{name:24s} {1e-6 / alone:10.1f} {alone * 1e9:8.0f} {kept * 1e9:8.0f} ns{mark}")
    bytes_each = 8 * (2 + 2) + 1
    floor = copied(1 << 27) * bytes_each
    print(f"{'copy of the same bytes':24s} {1e-6 / floor:10.1f} {floor * 1e9:8.1f}   {bytes_each} B each")
    settings, texts = LOADED
    loaded = laid_out(settings, texts)
    at_load = best(lambda: table(loaded, 0, loaded.rows), loaded.rows)
    intervals = laid_out(*CASES["virtio-vhost, stream"], columns=None)
    full = best(lambda: table(intervals, 0, 20_000), 20_000)
    sizes = np.linspace(1, 65536, LOOPED).round()
    looped = best(lambda: [vmodel.predict("virtio-vhost", workload="stream", size=float(s)) for s in sizes], LOOPED)
    print()
    print(f"{'one configuration by':44s} {'takes':>12s}   {'against the fastest':>20s} {'at a load':>12s}")
    say("this, all columns with intervals", full, fastest, at_load)
    say("this, at an offered load", at_load, fastest, at_load)
    say("a loop over vmodel.predict", looped, fastest, at_load)
    name, seconds = line_solver_s()
    say(name, seconds, fastest, at_load)
    slow = slow or seconds < LINE_RATIO * fastest
    try:
        whole, each = simulated()
    except ImportError:
        print("SimPy is not installed: pip install 'vmodel[check]'")
    else:
        say(f"SimPy, a tandem of ten to 1 % ({each * 1e6:.0f} us/customer)", whole, fastest, at_load)
    g = laid_out({"path": "virtio-vhost", "workload": "stream"}, ["size=1..65536/16000", "mtu=576..9000/1500"])
    print()
    print(f"{g.rows:,} configurations into Parquet, wall time, start and last merge included:")
    print(f"  one process {pooled(g, 1)}; {engine.cores()} processes {pooled(g, engine.cores())}")
    few, many = held(100), held(2000)
    print(f"most memory of one process: {few:.0f} MiB for 400,000 configurations, {many:.0f} MiB for 8,000,000")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
