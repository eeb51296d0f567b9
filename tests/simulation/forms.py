"""Every closed form of waiting, loss and sharing against its event simulation, over loads and variabilities.

`python -m tests.simulation.forms` writes docs/closed_forms.md. It takes some minutes.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.simulation import events
from vmodel.solve.batch import batch_mean, batch_wait, capped_batch_mean, capped_batch_wait, kick_share
from vmodel.solve.moderation_law import (
    capped_holdoff_batch,
    capped_holdoff_wait,
    holdoff_percentile,
    holdoff_time,
    throttle_batch,
    throttle_percentile,
    throttle_time,
)
from vmodel.solve.mva import approximate_mva, exact_mva
from vmodel.solve.queues import ggc_wait, mg1_wait, mg1ps_response, mmc_wait, two_moment_wait
from vmodel.solve.rings import mg1k, ring_percentile
from vmodel.solve.spread import largest_share
from vmodel.solve.tails import add_times, mg1_time, path_percentile
from vmodel.solve.tandem import Station, tandem, tandem_percentile
from vmodel.solve.wakeup import setup_time

FILE = Path(__file__).resolve().parents[2] / "docs" / "closed_forms.md"
SCVS = (0.0, 0.25, 1.0, 4.0)
COUNTED = 1500  # so many losses are counted to a few per cent
MEAN, P99, LOSS = 0.02, 0.05, 0.10  # what is asked of a form that states nothing else
HEAD = """# Closed forms against simulation

Each closed form of the model's library against a small event simulation that shares no code with it, over loads,
variabilities and sizes. This page is written by `python -m tests.simulation.forms`; the slow tests hold every single
figure to its stated error. Asked of a form are 2 % of a mean, 5 % of a percentile and 10 % of a loss; where more is
stated the form is an approximation, and its docstring says so. Whole paths are on [another page](simulation.md).

| closed form | figure | compared | largest gap | where | stated |
|---|---|--:|--:|---|--:|
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """One figure of a closed form, predicted and simulated, and the relative error that is stated."""

    figure: str
    where: str
    predicted: float
    simulated: float
    stated: float

    @property
    def gap(self) -> float:
        """Prediction against simulation."""
        return float(self.predicted / self.simulated - 1)


def one_station(random) -> Iterator[Seen]:
    for scv in SCVS:
        for rho, customers in ((0.05, 4e6), (0.3, 4e6), (0.6, 4e6), (0.9, 20e6)):
            wait, responses = events.one_server(random, 1 / rho, 1.0, 1.0, scv, customers=int(customers))
            yield from _station(rho, scv, wait, responses)


def one_station_near_saturation(random) -> Iterator[Seen]:
    for scv in (0.0, 1.0):
        wait, responses = events.one_server(random, 1 / 0.98, 1.0, 1.0, scv, customers=200_000_000)
        yield from _station(0.98, scv, wait, responses)


def _station(rho, scv, wait, responses) -> Iterator[Seen]:
    where = f"load {rho}, scv {scv}"
    yield Seen("mean wait", where, mg1_wait(rho, 1.0, scv), wait, MEAN)
    tail = path_percentile(rho, [(1.0, scv)], 0.0, 0.99)
    yield Seen("p99 response", where, tail, np.quantile(responses, 0.99), P99)


def general_arrivals(random) -> Iterator[Seen]:
    for scv_gap in (0.25, 4.0):
        for scv in (0.5, 1.0, 4.0):
            for rho, stated in ((0.6, 0.31), (0.9, 0.09)):
                wait, _ = events.one_server(random, 1 / rho, scv_gap, 1.0, scv, customers=8_000_000)
                found = two_moment_wait(rho, 1.0, scv_gap, scv)
                yield Seen("mean wait", f"load {rho}, scv {scv_gap} and {scv}", found, wait, stated)


def several_servers(random) -> Iterator[Seen]:
    for servers in (2, 16):
        for scv, stated in ((0.0, 0.1), (1.0, MEAN), (4.0, 0.1)):
            wait = events.several_servers(random, 0.8 * servers, 1.0, scv, servers, customers=2_000_000)
            where = f"{servers} servers, scv {scv}"
            yield Seen("mean wait", where, ggc_wait(0.8 * servers, 1.0, servers, 1.0, scv), wait, stated)
            if scv == 1:
                yield Seen("mean wait, M/M/c", where, mmc_wait(0.8 * servers, 1.0, servers), wait, MEAN)


def rings(random) -> Iterator[Seen]:
    for scv in SCVS:
        for places, rho in ((4, 0.3), (16, 0.6), (16, 0.9), (32, 0.98), (32, 1.0), (64, 1.5)):
            customers = 2_000_000 if places == 32 else 500_000
            loss, responses = events.ring(random, rho, 1.0, scv, places, customers=customers)
            ring, where = mg1k(rho, 1.0, scv, places), f"{places} places, load {rho}, scv {scv}"
            if ring.loss * customers > COUNTED:
                yield Seen("loss", where, ring.loss, loss, LOSS)
            yield Seen("mean response", where, ring.response_s, responses.mean(), MEAN if scv < 4 else 0.04)
            tail = ring_percentile(rho, 1.0, scv, places, 0.99)
            yield Seen("p99 response", where, tail, np.quantile(responses, 0.99), P99 if scv < 4 else 0.12)


def rows_of_stations(random) -> Iterator[Seen]:
    for services, mean, p99 in (
        ((0.5, 0.7, 0.9, 0.6), 0.06, 0.15),
        ((0.3, 0.6, 0.9), 0.06, 0.1),
        ((0.8, 0.8, 0.8), 0.15, 0.21),
    ):
        for scv in SCVS:
            responses = events.tandem(random, 1.0, services, [scv] * len(services), 8_000_000)
            stations = [Station(service_s=s, scv=scv) for s in services]
            where = f"{' '.join(map(str, services))}, scv {scv}"
            found = sum(passage.response_s for passage in tandem(1.0, 1.0, stations))
            yield Seen("mean response", where, found, responses.mean(), 0.03 if scv == 1 else mean)
            tail = tandem_percentile(1.0, stations, 0.0, 0.99)
            yield Seen("p99 response", where, tail, np.quantile(responses, 0.99), P99 if scv == 1 else p99)


def batch_workers(random) -> Iterator[Seen]:
    for fixed, each in ((1.0, 0.0), (1.0, 0.1), (1.0, 1.0), (0.1, 1.0)):
        for load, packets in ((0.05, 200_000), (0.3, 200_000), (0.6, 500_000), (0.9, 1_000_000)):
            lam, where = load / (each + fixed / 16), f"turn {fixed} + {each} a frame, load {load}"
            size, wait, kicks = events.batches(random, lam, fixed, each, 10**9, customers=packets)
            yield Seen("mean batch", where, batch_mean(lam, fixed, each), size, MEAN)
            yield Seen("mean wait", where, batch_wait(lam, fixed, each), wait, MEAN)
            if kicks > MEAN:  # a rarer one is counted too badly
                yield Seen("kicks", where, kick_share(lam, fixed, each), kicks, P99)
            size, wait, _ = events.batches(random, lam, fixed, each, 16, customers=packets)
            yield Seen("mean batch, capped", where, capped_batch_mean(lam, fixed, each, 16.0), size, MEAN)
            stated = 0.17 if each <= fixed else 0.24
            yield Seen("mean wait, capped", where, capped_batch_wait(lam, fixed, each, 16.0), wait, stated)


def wake_ups(random) -> Iterator[Seen]:
    for setup, window in ((2.0, 0.0), (10.0, 0.5)):
        for rho in (0.05, 0.5, 0.8):
            for scv in SCVS:
                responses = events.set_up(
                    random, rho, 1.0, scv, setup=setup, scv_setup=0.0, window=window, customers=2_000_000
                )
                whole = add_times([mg1_time(rho, 1.0, scv), setup_time(rho, setup, 0.0, window)])
                where = f"wake-up {setup}, window {window}, load {rho}, scv {scv}"
                yield Seen("mean response", where, whole.mean_s, responses.mean(), MEAN if scv < 4 else 0.04)
                yield Seen("variance", where, whole.variance_s2, responses.var(), LOSS)


def timers(random) -> Iterator[Seen]:
    for load in (0.1, 1.0, 10.0):
        where = f"{load} frames an interval"
        waits, batch = events.throttled(random, load, 1.0, 300_000)
        time = throttle_time(load, 1.0)
        yield Seen("throttle, mean batch", where, throttle_batch(load, 1.0), batch, MEAN)
        yield Seen("throttle, mean wait", where, time.mean_s, waits.mean(), MEAN)
        yield Seen("throttle, variance", where, time.variance_s2, waits.var(), MEAN)
        yield Seen("throttle, p99 wait", where, throttle_percentile(load, 1.0, 0.99), np.quantile(waits, 0.99), P99)
        for frames in (2, 5, 16, 1000):
            waits, batch = events.held_off(random, load, 1.0, frames, 100_000)
            capped = f"{where}, cap {frames}"
            yield Seen("hold-off, mean batch", capped, capped_holdoff_batch(load, 1.0, frames), batch, MEAN)
            yield Seen("hold-off, mean wait", capped, capped_holdoff_wait(load, 1.0, frames), waits.mean(), MEAN)
        yield Seen("hold-off, variance", where, holdoff_time(load, 1.0).variance_s2, waits.var(), 0.03)
        yield Seen("hold-off, p90 wait", where, holdoff_percentile(load, 1.0, 0.9), np.quantile(waits, 0.9), MEAN)


def closed_networks(random) -> Iterator[Seen]:
    demands, delay = (0.605, 2.1, 1.35), 15.0
    for customers in (1, 3, 20):
        measured = events.closed(random, demands, delay, customers, 200_000)
        where = f"{customers} customers"
        yield Seen("throughput, exact", where, exact_mva(demands, delay, customers).throughput_pps, measured, MEAN)
        found = approximate_mva(demands, delay, float(customers)).throughput_pps
        yield Seen("throughput, approximate", where, found, measured, 0.05)


def hashed_flows(random) -> Iterator[Seen]:
    for flows, queues in ((8, 4), (25, 8), (64, 16), (1000, 8)):
        counts = random.multinomial(flows, [1 / queues] * queues, size=200_000).max(axis=1)
        found = largest_share(flows, queues)
        yield Seen("hottest queue", f"{flows} flows, {queues} queues", found, counts.mean() / flows, 2e-3)


def shared_processors(random) -> Iterator[Seen]:
    for scv in (0.25, 4.0):
        response = events.processor_sharing(random, 0.7, 1.0, scv, customers=300_000)
        yield Seen("mean response", f"load 0.7, scv {scv}", mg1ps_response(0.7, 1.0), response, 0.03)


FORMS = {
    "M/G/1": one_station,
    "M/G/1 near saturation": one_station_near_saturation,
    "G/G/1": general_arrivals,
    "G/G/c": several_servers,
    "M/G/1/K": rings,
    "stations in a row": rows_of_stations,
    "batch worker": batch_workers,
    "wake-up after polling": wake_ups,
    "interrupt timers": timers,
    "closed network": closed_networks,
    "hashed flows": hashed_flows,
    "processor sharing": shared_processors,
}


def seen(name):
    """What a closed form and its simulation say; the seed depends on the name only."""
    return list(FORMS[name](np.random.default_rng([ord(c) for c in name])))


def page(results):
    lines = []
    for name, figures in results.items():
        for figure in dict.fromkeys(f.figure for f in figures):
            those = [f for f in figures if f.figure == figure]
            worst = max(those, key=lambda f: abs(f.gap) / f.stated)
            lines.append(
                f"| {name} | {figure} | {len(those)} | {worst.gap * 100:+.1f} % | {worst.where} "
                f"| {worst.stated * 100:.2g} % |"
            )
    return HEAD + "\n".join(lines) + "\n"


def main():
    with ProcessPoolExecutor() as pool:
        results = dict(zip(FORMS, pool.map(seen, FORMS), strict=True))
    (Path(sys.argv[1]) if len(sys.argv) > 1 else FILE).write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
