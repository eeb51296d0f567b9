"""The rings along a way under load: the wait at each, what it loses, how its wait is spread.

Decomposition into single stations with two moments of the traffic between them. A worker that takes batches waits and
works as the batch server does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from vmodel.core.records import Load
from vmodel.solve.batch import capped_batch_ahead, capped_batch_mean, capped_batch_wait, capped_kick_share
from vmodel.solve.dual import is_float, largest, plain
from vmodel.solve.elementwise import Number, choose, least, most, over
from vmodel.solve.queues import md1_wait, mg1_wait, two_moment_wait
from vmodel.solve.rings import timed_ring
from vmodel.solve.tails import StageTime, add_times, scaled
from vmodel.solve.tandem import Station, tandem

MOST_SCV = 10.0  # irregularity beyond it lengthens the wait, but is not told to the ring
MOST_LOAD = 100.0  # a ring that is offered more carries the same
NEARLY = 1 - 1e-9  # the largest load at which an open queue is asked for its wait
MM1_SKEW = (1.5, 0.5)  # third moment of a wait over variance squared by mean: exact for M/M/1 at load 0 and 1
SMALLEST, NO_TIME_S = 1e-300, 1e-15


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """How frames arrive: rate, irregularity of the gaps between bursts, frames that come together."""

    load: Load
    bits: Any
    scv: Any = 1.0
    burst: Any = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A resource that takes a batch: turn and frame [s], most frames, and the batch that it finds."""

    fixed_s: Number
    each_s: Number
    most_packets: Number
    batch: Number
    asleep: Number  # kicks per frame that it needs
    wait_s: Number  # until it comes to a frame, with room for everybody
    turn_s: Number  # half a batch time and the place in the next one

    @property
    def busy_s(self) -> Number:
        """Seconds per frame when every batch is full."""
        return self.each_s + self.fixed_s / self.most_packets


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """One resource under load."""

    wait_s: Number
    loss: Number
    carried_pps: Number
    mean: Number  # frames in its ring, the one in service included
    fullness: Number  # 0 almost empty, 1 as full as at capacity and above
    time: StageTime


def worker_at(rate: Any, fixed: Any, each: Any, cap: Any) -> Worker:
    """A worker at a rate; a frame also waits for those before it in its batch."""
    rate = least(rate, NEARLY / (each + fixed / cap))
    batch = least(capped_batch_mean(rate, fixed, each, cap), cap)
    ahead = capped_batch_ahead(rate, fixed, each, cap) * each
    return Worker(
        fixed_s=fixed,
        each_s=each,
        most_packets=cap,
        batch=batch,
        asleep=capped_kick_share(rate, fixed, each, cap),
        wait_s=capped_batch_wait(rate, fixed, each, cap) + ahead,
        turn_s=(fixed + each * batch) / 2 + ahead,
    )


def positive(x: Any) -> bool:
    """Whether a number, or any of an array, is above zero."""
    return bool(x > 0) if is_float(x) else bool((x > 0).any())


def one_of(x: Any) -> float:
    """A number, or the last of an array: to name one by."""
    return float(x) if is_float(x) else float(x.flat[-1])


def ring_queues(
    service: Mapping[str, Any],
    variability: Mapping[str, float],
    workers: Mapping[str, Worker],
    offered: Any,
    offer: Offer,
    *,
    ring: int,
    trains_s: Mapping[str, Any],
) -> dict[str, Queue]:
    """Waits and losses along the way: decomposition into single stations, each a ring, what one loses the next spares.

    With ca2 and cs2 the ring is M/G/1/K of scv ca2 + cs2 - 1, its wait set right by the two-moment wait where ca2 < 1;
    in a burst of b the later ones also wait for those before them at the slowest station, (b - 1) / 2 of its service.
    trains_s: what the frames that an alarm has gathered upstream wait for each other at a slower station [s].
    """
    lam = plain(offered)
    kept = {k: most(workers[k].busy_s if k in workers else s, NO_TIME_S) for k, s in service.items()}
    slowest = largest(list(kept.values()))
    open_rate = least(lam, NEARLY / slowest)
    stations = [Station(service_s=s, scv=variability.get(k, 0.0)) for k, s in kept.items()]
    passages = tandem(open_rate, offer.scv * offer.burst, stations)
    found: dict[str, Queue] = {}
    before: Any = 0.0
    together = least(offer.burst, float(ring))
    for (k, s), station, passage in zip(kept.items(), stations, passages, strict=True):
        if not found and positive(offer.burst - 1):
            found[k] = _burst_queue(lam, station, offer, workers.get(k), ring)
        else:
            found[k] = _queue(lam, station, passage.scv_arrivals, workers.get(k), ring)
        ahead = (together - 1) / 2 * most(s - before, 0.0) + trains_s.get(k, 0.0) * (1 - found[k].fullness)
        wait = least(found[k].wait_s + ahead, ring * s)
        if positive(ahead):
            spread = StageTime(
                least_s=0.0 * ahead, mean_s=ahead, variance_s2=ahead * ahead / 3, third_s3=0.0 * ahead
            )  # uniform over the burst
            q = found[k]
            mean = least(q.carried_pps * (wait + s), float(ring))
            found[k] = replace(q, wait_s=wait, mean=mean, time=_with_mean(add_times([q.time, spread]), wait))
        before = most(before, s)
        lam = found[k].carried_pps
    return found


def _with_mean(time: StageTime, mean: Any) -> StageTime:
    factor = choose(time.mean_s > 0, mean / most(time.mean_s, SMALLEST), 0.0 * mean)
    return replace(scaled(time, factor), mean_s=mean)


def _burst_queue(lam: Any, station: Station, offer: Offer, worker: Worker | None, ring: int) -> Queue:
    """The first ring, which bursts of b reach whole: b frames are one customer of b times the service, K / b places.

    What a burst has more than the ring holds is lost.
    """
    b = one_of(offer.burst)
    kept = min(b, float(ring))
    whole = Station(service_s=station.service_s * kept, scv=station.scv / kept)
    q = _queue(lam / b, whole, offer.scv, None, max(int(ring // kept), 1))
    loss = 1 - (1 - q.loss) * kept / b
    wait = q.wait_s
    if worker is not None:  # the wait of a batch server for frames that come alone, longer as the bursts make it
        alone = md1_wait(least(lam, NEARLY / station.service_s), station.service_s)
        wait = most(wait, wait + (1 - q.fullness) * (worker.wait_s - alone))
    carried = lam * (1 - loss)
    return Queue(
        wait_s=wait,
        loss=loss,
        carried_pps=carried,
        mean=least(carried * (wait + station.service_s), float(ring)),
        fullness=q.fullness,
        time=_with_mean(q.time, wait),
    )


def _queue(lam: Any, station: Station, ca: Any, worker: Worker | None, ring: int) -> Queue:
    s, cs = station.service_s, station.scv
    scv = most(least(ca, MOST_SCV) + cs - 1, 0.0)
    asked = least(lam, MOST_LOAD / s)
    answer, whole = timed_ring(asked, s, scv, ring)
    open_rate = least(lam, NEARLY / s)
    spent = (
        s if worker is None else worker.each_s + worker.fixed_s / worker.batch
    )  # a turn shared as it is at this load
    below = least(open_rate, NEARLY / spent)
    ratio = over(two_moment_wait(below, spent, ca, cs), mg1_wait(below, spent, scv))
    quiet = least(ratio, 1.0)
    residence = s
    if worker is not None:
        ratio = ratio * over(worker.wait_s, md1_wait(open_rate, s))
        residence = worker.fixed_s + worker.each_s
    varied = least(
        least(ca + cs, 1.0) + most(asked * s - 1, 0.0) * ring, 1.0
    )  # at capacity what is steady fills no ring
    full = least(2 * answer.number / ring, 1.0) * varied
    ratio = ratio + (1 - ratio) * full
    quiet = quiet + (1 - quiet) * full
    fluid = most(1 - over(1.0 + 0.0 * asked, asked * s), 0.0)
    loss = 1 - (1 - fluid - most(answer.loss - fluid, 0.0) * quiet) * asked / lam
    loss = choose(lam * s > MOST_LOAD, loss, fluid + most(answer.loss - fluid, 0.0) * quiet)
    wait = least(most(answer.response_s - s, 0.0) * ratio, ring * s)
    mean = most(answer.response_s - s, SMALLEST)
    variance = most(whole.variance_s2 - scv * s * s, 0.0) * (wait / mean) * (wait / mean)
    busy = least(lam * s, 1.0)
    skewed: Any = 1.0
    if worker is not None:  # the rest of a turn is uniform for the share of them that find it busy, what is left M/M/1
        busy = most(least(open_rate * (worker.each_s + worker.fixed_s / worker.batch), 1.0), SMALLEST)
        turn = least(worker.turn_s * busy, wait)
        behind = wait - turn
        uniform = turn * turn * (4 / (3 * busy) - 1) + behind * behind * (2 - busy) / busy
        alone = worker.most_packets <= 1
        regular = choose(alone, 0.0 * busy, worker.fixed_s / (worker.fixed_s + worker.each_s))  # turns of one length
        skewed = 1 - regular * turn / most(wait, SMALLEST)
        variance = least(variance, regular * uniform + (1 - regular) * wait * wait * (2 - busy) / busy)
    time = StageTime(
        least_s=0.0 * wait,
        mean_s=wait,
        variance_s2=variance,
        third_s3=skewed * (MM1_SKEW[0] + MM1_SKEW[1] * busy) * variance * variance / most(wait, SMALLEST),
    )
    carried = lam * (1 - loss)
    number = least(carried * (wait + residence), float(ring))
    return Queue(wait_s=wait, loss=loss, carried_pps=carried, mean=number, fullness=full, time=time)
