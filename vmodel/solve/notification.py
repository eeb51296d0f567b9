"""Two parties and a ring between them: how often each must wake the other, and what that costs per packet.

A producer fills the ring, a consumer empties it. Who finds nothing to do goes to sleep and is woken by the other: the
kick (producer to consumer) and the interrupt (consumer to producer). Which of them happens, and how often, depends on
who is faster and on whether the ring lasts through a wake-up. The functions take plain floats: the answer names a
regime.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """One end of a ring."""

    work_s: float  # for one packet
    notify_s: float  # spent on waking the other end
    startup_s: float  # from being woken to the first packet


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """How a producer and a consumer settle down."""

    regime: str
    packet_s: float  # mean time per packet in steady state
    kicks: float  # per packet
    interrupts: float  # per packet
    producer_busy: float  # share of time, notifications included
    consumer_busy: float


MATCHED = "matched"
FAST_CONSUMER = "fast consumer"
FAST_PRODUCER = "fast producer"
SLOW_CONSUMER_WAKE_UP = "slow consumer wake-up"
SLOW_PRODUCER_WAKE_UP = "slow producer wake-up"


def fast_consumer_batch(producer: Party, consumer: Party) -> float:
    """Packets that share one kick when the consumer is the faster end and the ring never fills.

    b = floor(S_C / (W_P - W_C)) + 1.

    producer, consumer: W work, S start-up [s].  Returns a number of packets [-].  Valid for W_C < W_P.

    >>> slow, fast = (Party(work_s=w, notify_s=4.5, startup_s=2.1) for w in (2.0, 1.0))
    >>> fast_consumer_batch(slow, fast)
    3.0

    Source: LettieriMaffioneRizzo2018, fast consumer regime.
    """
    return math.floor(consumer.startup_s / (producer.work_s - consumer.work_s)) + 1.0


def fast_producer_batch(producer: Party, consumer: Party, threshold: int) -> float:
    """Packets that share one interrupt when the producer is the faster end and the ring never runs dry.

    b = floor((S_P + (k - 1) W_P) / (W_C - W_P)) + k.

    producer, consumer: W work, S start-up [s].  threshold: k, free places at which the consumer wakes the producer [-].
    Returns a number of packets [-].  Valid for W_P < W_C.

    >>> fast, slow = (Party(work_s=w, notify_s=3.0, startup_s=7.1) for w in (1.0, 2.0))
    >>> fast_producer_batch(fast, slow, 1)
    8.0

    Source: LettieriMaffioneRizzo2018, fast producer regime.
    """
    room = producer.startup_s + (threshold - 1) * producer.work_s
    return float(math.floor(room / (consumer.work_s - producer.work_s)) + threshold)


def notified_exchange(producer: Party, consumer: Party, places: int, threshold: int) -> Exchange:
    """Time per packet, kicks and interrupts of a producer and a consumer that wake each other, with the regime in
    force.

    fast consumer: T = W_P + N_P / b;  fast producer: T = W_C + N_C / b;
    slow wake-up (the ring fills or empties meanwhile): T = (N_P + S_C + k W_C + N_C + S_P + W_P + m W) / (L + m), W
    that of the slower end, m the packets it handles while the other catches up.

    producer, consumer: W, N, S [s].  places: L, ring size [-].  threshold: k, 1 <= k <= L [-].
    Exact for constant times (event simulation in the tests). T is never below max(W_P, W_C); it jumps where the ring
    first fills during a wake-up, as the machine does.

    >>> slow, fast = (Party(work_s=w, notify_s=4.5, startup_s=2.1) for w in (2.0, 1.0))
    >>> answer = notified_exchange(slow, fast, 256, 192)
    >>> answer.regime, answer.packet_s
    ('fast consumer', 3.5)

    Source: LettieriMaffioneRizzo2018 for the first two; the slow wake-ups follow from the same cycle.
    """
    wp, wc = producer.work_s, consumer.work_s
    fills = (places - 1) * wp <= consumer.startup_s + wc
    runs_dry = (places - threshold) * wc < producer.startup_s + wp
    if wp == wc:
        return _settle(MATCHED, producer, consumer, wp)
    if wc < wp and not fills:
        batch = fast_consumer_batch(producer, consumer)
        return _settle(FAST_CONSUMER, producer, consumer, wp + producer.notify_s / batch, kicks=1 / batch)
    if wp < wc and not runs_dry:
        batch = fast_producer_batch(producer, consumer, threshold)
        return _settle(FAST_PRODUCER, producer, consumer, wc + consumer.notify_s / batch, interrupts=1 / batch)
    if wc < wp:
        regime, slower = SLOW_CONSUMER_WAKE_UP, wp
        ahead = (places - threshold) * wc - producer.startup_s - wp
    else:
        regime, slower = SLOW_PRODUCER_WAKE_UP, wc
        ahead = (places - 1) * wp - consumer.startup_s - wc
    more = max(0.0, math.floor(ahead / abs(wp - wc)) + 1.0)
    awake = producer.notify_s + consumer.startup_s + threshold * wc + consumer.notify_s + producer.startup_s + wp
    share = 1 / (places + more)
    return _settle(regime, producer, consumer, (awake + more * slower) * share, kicks=share, interrupts=share)


def _settle(
    regime: str, producer: Party, consumer: Party, packet_s: float, *, kicks: float = 0.0, interrupts: float = 0.0
) -> Exchange:
    return Exchange(
        regime=regime,
        packet_s=packet_s,
        kicks=kicks,
        interrupts=interrupts,
        producer_busy=(producer.work_s + kicks * producer.notify_s) / packet_s,
        consumer_busy=(consumer.work_s + interrupts * consumer.notify_s) / packet_s,
    )


def sleeping_batch(slower_work_s: float, faster_work_s: float, sleep_s: float, places: int) -> float:
    """Packets that the faster end finds after a sleep, when ends sleep for a fixed time instead of being woken.

    b = Y / (W_slow - W_fast), Y not longer than (L - 1) W_slow - W_fast; then T = W_slow and nobody is notified.

    slower_work_s, faster_work_s: per packet [s].  sleep_s: Y [s].  places: L [-].  Returns a number of packets [-];
    infinite for equal ends.

    >>> sleeping_batch(2.0, 1.0, 5.0, 256)
    5.0

    Source: LettieriMaffioneRizzo2018, sleeping.
    """
    sleep = min(sleep_s, (places - 1) * slower_work_s - faster_work_s)
    return sleep / (slower_work_s - faster_work_s) if slower_work_s > faster_work_s else math.inf
