"""Runs the chunks of a sweep: here, on all cores, or on a Dask cluster; the same chunks, the same table.

A chunk that fails is an EngineError in the answer and not an end of the sweep. What is done is on disk: a second run
computes only what is missing.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from vmodel.core import show
from vmodel.errors import ConfigError, EngineError, Fault
from vmodel.sweep.grid import REGIME, Column, Grid, table
from vmodel.sweep.store import Folder, as_bytes, assemble, digest, holds

CHUNK = 1 << 18  # rows of a chunk: some tens of megabytes
SLOW_CHUNK = 1 << 8  # rows of a chunk whose columns are found row by row
SHOWN_ROWS = 8  # of a sweep in a notebook
MOST_IN_MEMORY = 4_000_000
QUEUED = 4  # chunks that wait for each worker, so that no result piles up
RIVALS = 3  # times that another run of the same sweep may take the chunks away
RESTARTS = 3  # of a pool whose process was killed
PAYS_S = 3.0  # of work from which more processes are worth their start
KEPT = 4  # grids that a worker remembers
TIMEOUT = "10s"
Tell = Callable[[int], None]
Work = Callable[[Grid, int, int], bytes]
Named = tuple[str, Grid]  # a grid with the hash of its question


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep:
    """A grid with the columns of all its rows, and their units."""

    grid: Grid
    columns: Mapping[str, Column]

    @property
    def units(self) -> Mapping[str, str]:
        """Column -> unit."""
        return self.grid.units

    def __repr__(self) -> str:
        varied = ", ".join(f"{a.name} ({len(a.values)})" for a in self.grid.axes)
        return f"<Sweep of {self.grid.rows:,} configurations over {varied}>"

    def _repr_html_(self) -> str:
        units = self.units
        names = list(self.columns)
        heads = [f"{n} [{units[n]}]" if units[n] else n for n in names]
        cells = [[_brief(x) for x in self.columns[n][:SHOWN_ROWS].tolist()] for n in names]
        more = "" if self.grid.rows <= SHOWN_ROWS else f", the first {SHOWN_ROWS}"
        return show.table(f"{repr(self)[1:-1]}{more}", heads, list(zip(*cells, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a run did: chunks that were there, chunks that were computed, chunks that failed."""

    found: int
    computed: int
    failures: tuple[EngineError, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A chunk to compute."""

    first: int
    last: int

    @property
    def name(self) -> str:
        """The rows, as people count them."""
        return f"rows {self.first + 1} to {self.last}"


def jobs_of(g: Grid) -> list[Job]:
    """All chunks of a sweep."""
    size = max(1, (SLOW_CHUNK if REGIME in g.columns else CHUNK) // max(1, g.draws))
    return [Job(first=first, last=min(first + size, g.rows)) for first in range(0, g.rows, size)]


def _brief(x: Any) -> str:
    """A cell in a few digits."""
    return f"{x:.5g}" if isinstance(x, float) else str(x)


def _silent(rows: int) -> None:
    """Progress that nobody watches."""


def check_memory(g: Grid) -> None:
    """Raises ConfigError where rows are too many for memory."""
    if g.rows > MOST_IN_MEMORY:
        expected = f"a file (-o FILE.parquet) for more than {MOST_IN_MEMORY:,} configurations; these are {g.rows:,}"
        raise ConfigError([Fault(file="", key="--vary", expected=expected)])


def in_memory(g: Grid, tell: Tell = _silent) -> Sweep:
    """All rows at once in this process; raises ConfigError where they are too many."""
    check_memory(g)
    pieces = []
    for job in jobs_of(g):
        pieces.append(table(g, job.first, job.last))
        tell(job.last - job.first)
    return Sweep(grid=g, columns={name: _spelt(g, name, [p[name] for p in pieces]) for name in pieces[0]})


def _spelt(g: Grid, name: str, pieces: Sequence[Column]) -> Column:
    """A column with its words written out."""
    values = np.concatenate(pieces)
    vocabulary = g.vocabulary(name)
    return values if vocabulary is None else np.array(vocabulary, object)[values]


def compute(g: Grid, first: int, last: int) -> bytes:
    """The chunk of rows `first` up to `last`, as an Arrow file."""
    return as_bytes(g, table(g, first, last))


_KNOWN: dict[str, Grid] = {}


def _remembered(name: str, g: Grid) -> Grid:
    """The same grid that earlier chunks of a sweep used in this process, so that what it caches is found again."""
    if name not in _KNOWN:
        while len(_KNOWN) >= KEPT:
            del _KNOWN[next(iter(_KNOWN))]
        _KNOWN[name] = g
    return _KNOWN[name]


def attempt(work: Work, named: Named, job: Job, place: str | None) -> bytes | EngineError | None:
    """Compute a chunk and write it if there is a place; what goes wrong comes back as a record."""
    worker = f"{os.uname().nodename}:{os.getpid()}"
    try:
        found = work(_remembered(*named), job.first, job.last)
        if place is None:
            return found
        Folder(Path(place)).put(job.first, found)
    # A worker is another process, perhaps on another machine: whatever a chunk dies of goes back as words, since an
    # exception may not travel, and the other chunks go on. `run` tells every failure, and no table is made then.
    except Exception as error:
        return EngineError(worker, job.name, f"{type(error).__name__}: {error}")
    return None


Runner = Callable[[Work, Named, Iterable[Job], Folder], Iterator[tuple[Job, EngineError | None]]]


def run(g: Grid, folder: Folder, runner: Runner, tell: Tell = _silent, work: Work = compute) -> Done:
    """Compute the chunks that are missing in a folder; `tell` hears of rows, those that were there included."""
    folder.create()
    jobs = jobs_of(g)
    missing = [job for job in jobs if not folder.has(job.first, job.last - job.first, tuple(g.units))]
    tell(sum(job.last - job.first for job in jobs) - sum(job.last - job.first for job in missing))
    failures = []
    for job, failure in runner(work, (digest(g), g), missing, folder):
        if failure is not None:
            failures.append(failure)
        tell(job.last - job.first)
    folder.record(failures)
    return Done(found=len(jobs) - len(missing), computed=len(missing) - len(failures), failures=tuple(failures))


def to_file(g: Grid, output: Path, runner: Runner, tell: Tell = _silent, work: Work = compute) -> Done:
    """A sweep into one Parquet or CSV file; written only when every chunk is there, chunks deleted after."""
    jobs = jobs_of(g)
    if holds(output, g):
        return Done(found=len(jobs), computed=0, failures=())
    folder = Folder.beside(output, g)
    for _ in range(RIVALS):
        done = run(g, folder, runner, tell, work)
        if done.failures:
            return done
        try:
            assemble(g, folder, [job.first for job in jobs], output)
        except FileNotFoundError:  # another run of the same sweep was quicker and has tidied up
            if holds(output, g):
                return done
            continue
        folder.remove()
        return done
    expected = "a file that no other run of the same sweep writes at the same time"
    raise ConfigError([Fault(file="", key="-o", value=str(output), expected=expected)])


def from_folder(g: Grid, folder: Folder) -> Sweep:
    """All rows of a finished folder in memory."""
    pieces: dict[str, list[Any]] = {name: [] for name in g.units}
    for chunk in folder.tables(job.first for job in jobs_of(g)):
        for name, held in pieces.items():
            held.append(chunk.column(name).to_numpy())
    return Sweep(grid=g, columns={name: np.concatenate(held) for name, held in pieces.items()})


def here(work: Work, named: Named, jobs: Iterable[Job], folder: Folder) -> Iterator[tuple[Job, EngineError | None]]:
    """One chunk after the other in this process."""
    for job in jobs:
        found = attempt(work, named, job, str(folder.place))
        yield job, found if isinstance(found, EngineError) else None


def on_cores(count: int) -> Runner:
    """Chunks on processes of this machine; one that is killed is replaced and its chunks are computed again."""

    def runner(
        work: Work, named: Named, jobs: Iterable[Job], folder: Folder
    ) -> Iterator[tuple[Job, EngineError | None]]:
        left = {job.first: job for job in jobs}
        for _ in range(RESTARTS + 1):
            try:
                for job, failure in _pooled(count, work, named, list(left.values()), folder):
                    del left[job.first]
                    yield job, failure
            except BrokenProcessPool:
                names = tuple(named[1].units)
                for job in [job for job in left.values() if folder.has(job.first, job.last - job.first, names)]:
                    del left[job.first]
                    yield job, None
            if not left:
                return
        for job in left.values():
            yield job, EngineError("a process of this machine", job.name, "killed again and again")

    return runner


def as_it_pays(count: int) -> Runner:
    """The first chunk here; the others on so many processes if they take longer than starting those."""

    def runner(
        work: Work, named: Named, jobs: Iterable[Job], folder: Folder
    ) -> Iterator[tuple[Job, EngineError | None]]:
        listed = list(jobs)
        start = time.perf_counter()
        yield from here(work, named, listed[:1], folder)
        left = (time.perf_counter() - start) * len(listed[1:])
        chosen = on_cores(count) if count > 1 and left > PAYS_S else here
        yield from chosen(work, named, listed[1:], folder)

    return runner


def _pooled(
    count: int, work: Work, named: Named, jobs: Sequence[Job], folder: Folder
) -> Iterator[tuple[Job, EngineError | None]]:
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        waiting = iter(jobs)
        running: dict[Future[Any], Job] = {}

        def more(number: int) -> None:
            for job in islice(waiting, number):
                running[pool.submit(attempt, work, named, job, str(folder.place))] = job

        try:
            more(QUEUED * count)
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    found = future.result()
                    yield running.pop(future), found if isinstance(found, EngineError) else None
                more(len(done))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def on_dask(client: Any) -> Runner:
    """Chunks on a Dask cluster, which replaces lost workers; results come home and are written here."""

    def runner(
        work: Work, named: Named, jobs: Iterable[Job], folder: Folder
    ) -> Iterator[tuple[Job, EngineError | None]]:
        from distributed import as_completed

        waiting = iter(jobs)
        running: dict[str, Job] = {}
        ended = as_completed()

        def more(number: int) -> None:
            for job in islice(waiting, number):
                future = client.submit(attempt, work, named, job, None, pure=False)
                running[future.key] = job
                ended.add(future)

        more(QUEUED * max(1, sum(client.nthreads().values())))
        for future in ended:
            job = running.pop(future.key)
            found: Any
            if future.status == "finished":
                found = future.result()
            else:
                error = future.exception() if future.status == "error" else None
                found = EngineError("the cluster", job.name, f"{future.status}: {error}")
            future.release()
            if not isinstance(found, EngineError):
                folder.put(job.first, found)
            yield job, found if isinstance(found, EngineError) else None
            more(1)

    return runner


def cluster(address: str) -> AbstractContextManager[Any]:
    """A Dask client: of a scheduler's address, or `local` for a cluster on this machine. Raises ConfigError."""
    try:
        from distributed import Client
    except ImportError:
        expected = "Dask, which is not installed: pip install 'vmodel[dask]'"
        raise ConfigError([Fault(file="", key="--scheduler", value=address, expected=expected)]) from None
    if address == "local":
        return _local()
    try:
        found: AbstractContextManager[Any] = Client(address, timeout=TIMEOUT)
    except (OSError, TimeoutError, ValueError) as error:
        expected = f"the address of a Dask scheduler, as tcp://host:8786, or local ({error})"
        raise ConfigError([Fault(file="", key="--scheduler", value=address, expected=expected)]) from None
    return found


class _local:
    """A Dask cluster of this machine's cores, for as long as it is needed."""

    def __enter__(self) -> Any:
        import logging

        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(
            n_workers=cores(), threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
        )
        self.client = Client(self.cluster)
        return self.client

    def __exit__(self, *error: object) -> None:
        self.client.close()
        self.cluster.close()


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))
