"""Small event simulations, independent of the closed forms they judge. Times in seconds, seeds fixed by the caller."""

import heapq
from collections import deque

import numpy as np

CHUNK = 1_000_000


def gamma_times(random, mean, scv, size):
    """Times of a given mean and squared coefficient of variation; constant for scv 0."""
    if scv == 0:
        return np.full(size, float(mean))
    if scv == 1:
        return random.exponential(mean, size)
    return random.gamma(1 / scv, mean * scv, size)


def one_server(random, gap, scv_gap, service, scv, *, customers):
    """Mean wait and a sample of responses of one FCFS server, by the prefix-sum form of Lindley's recursion."""
    left, total, kept = 0.0, 0.0, []
    for _ in range(max(1, customers // CHUNK)):
        size = min(customers, CHUNK)
        times = gamma_times(random, service, scv, size)
        steps = times - gamma_times(random, gap, scv_gap, size)
        walk = np.concatenate(([left], left + np.cumsum(steps)))
        waits = walk - np.minimum(np.minimum.accumulate(walk), 0.0)
        left = waits[-1]
        total += waits[:-1].mean()
        kept.append((waits[:-1] + times)[:: max(1, customers // (4 * CHUNK))])
    return total / max(1, customers // CHUNK), np.concatenate(kept)


def tandem(random, lam, services, scvs, customers):
    """Responses, one row per customer, of FCFS servers in a row."""
    arrivals = np.cumsum(random.exponential(1 / lam, customers))
    start = arrivals
    for service, scv in zip(services, scvs, strict=True):
        times = gamma_times(random, service, scv, customers)
        before = np.cumsum(times) - times
        start = np.maximum.accumulate(start - before) + before + times
    return start - arrivals


def several_servers(random, lam, service, scv, servers, *, customers):
    """Mean wait in one queue before several servers."""
    arrivals = np.cumsum(random.exponential(1 / lam, customers)).tolist()
    times = gamma_times(random, service, scv, customers).tolist()
    free, total = [0.0] * servers, 0.0
    for now, time in zip(arrivals, times, strict=True):
        start = max(now, free[0])
        total += start - now
        heapq.heapreplace(free, start + time)
    return total / customers


def ring(random, lam, service, scv, places, *, customers):
    """Loss and responses of the accepted of one server with finite room."""
    arrivals = np.cumsum(random.exponential(1 / lam, customers)).tolist()
    times = gamma_times(random, service, scv, customers).tolist()
    inside, lost, responses, end = deque(), 0, [], 0.0
    for now, time in zip(arrivals, times, strict=True):
        while inside and inside[0] <= now:
            inside.popleft()
        if len(inside) >= places:
            lost += 1
            continue
        end = max(now, end) + time
        inside.append(end)
        responses.append(end - now)
    return lost / customers, np.array(responses)


def batches(random, lam, fixed, each, cap, *, customers):
    """Mean batch, mean wait until taken, and share of batches that found the worker asleep."""
    arrivals = np.cumsum(random.exponential(1 / lam, customers))
    index, now, count, wait, kicks = 0, 0.0, 0, 0.0, 0
    while index < customers:
        if arrivals[index] > now:
            now = arrivals[index]
            kicks += 1
        taken = min(int(np.searchsorted(arrivals, now, side="right")), index + cap)
        wait += now * (taken - index) - arrivals[index:taken].sum()
        now += fixed + each * (taken - index)
        index = taken
        count += 1
    return customers / count, wait / customers, kicks / customers


def set_up(random, lam, service, scv, *, setup, scv_setup, window, customers):
    """Responses of a server that polls for a window when idle, then sleeps and must be set up."""
    arrivals = np.cumsum(random.exponential(1 / lam, customers)).tolist()
    times = gamma_times(random, service, scv, customers).tolist()
    delays = gamma_times(random, setup, scv_setup, customers).tolist()
    end, responses = 0.0, []
    for now, time, delay in zip(arrivals, times, delays, strict=True):
        start = end if now < end else now + (delay if now > end + window else 0.0)
        end = start + time
        responses.append(end - now)
    return np.array(responses)


def throttled(random, lam, timer, packets):
    """Waits and packets per interrupt when interrupts keep a minimum distance."""
    waits, interrupts, last, index = [], 0, -timer, 0
    arrivals = np.cumsum(random.exponential(1 / lam, packets))
    while index < packets:
        last = max(last + timer, arrivals[index])
        taken = int(np.searchsorted(arrivals, last, side="right"))
        waits.append(last - arrivals[index:taken])
        interrupts += 1
        index = taken
    return np.concatenate(waits), packets / interrupts


def held_off(random, lam, timer, frames, packets):
    """Waits and packets per interrupt when a timer starts with the first packet, cut short by enough frames."""
    waits, interrupts, index = [], 0, 0
    arrivals = np.cumsum(random.exponential(1 / lam, packets))
    while index < packets:
        fire = arrivals[index] + timer
        if index + frames <= packets:
            fire = min(fire, arrivals[index + frames - 1])
        taken = int(np.searchsorted(arrivals, fire, side="right"))
        waits.append(fire - arrivals[index:taken])
        interrupts += 1
        index = taken
    return np.concatenate(waits), packets / interrupts


def closed(random, demands, delay, customers, rounds):
    """Throughput of a closed network of exponential FCFS stations and an exponential delay."""
    stations = len(demands)
    queues, done, now, start = [deque() for _ in demands], 0, 0.0, 0.0
    events = [(float(t), -1) for t in random.exponential(max(delay, 1e-12), customers)]
    heapq.heapify(events)
    draws = iter(random.exponential(1.0, (rounds + 2 * customers) * (stations + 2)).tolist())
    while done < rounds:
        now, at = heapq.heappop(events)
        if at >= 0:
            queues[at].popleft()
            if queues[at]:
                heapq.heappush(events, (now + demands[at] * next(draws), at))
        if at == stations - 1:
            done += 1
            if done == rounds // 10:
                start = now
            heapq.heappush(events, (now + delay * next(draws), -1))
            continue
        queues[at + 1].append(now)
        if len(queues[at + 1]) == 1:
            heapq.heappush(events, (now + demands[at + 1] * next(draws), at + 1))
    return (rounds - rounds // 10) / (now - start)


def processor_sharing(random, lam, service, scv, *, customers):
    """Mean response of one server that all who are present share equally."""
    arrivals = np.cumsum(random.exponential(1 / lam, customers)).tolist()
    sizes = gamma_times(random, service, scv, customers).tolist()
    served, now, active, total = 0.0, 0.0, [], 0.0  # served: work each present customer has got so far
    for arrival, size in zip(arrivals, sizes, strict=True):
        while active and now + (active[0][0] - served) * len(active) <= arrival:
            now += (active[0][0] - served) * len(active)
            served, came = heapq.heappop(active)
            total += now - came
        if active:
            served += (arrival - now) / len(active)
        now = arrival
        heapq.heappush(active, (served + size, arrival))
    return total / (customers - len(active))


def exchange(producer, consumer, places, threshold, packets):
    """Time, kicks and interrupts per packet of two parties that wake each other; each is (work, notify, startup)."""
    (wp, np_, sp), (wc, nc, sc) = producer, consumer
    queue, made, used, kicks, interrupts = 0, 0, 0, 0, 0
    awake = {"p": True, "c": False}
    events, order = [(wp, 0, "p")], 1
    marks = {}
    while used < packets:
        now, _, who = heapq.heappop(events)
        pending = []
        if who == "p":
            queue, made = queue + 1, made + 1
            resume = now
            if not awake["c"]:
                awake["c"] = True
                kicks += 1
                resume = now + np_
                pending.append((resume + sc, "start c"))
            pending.append((resume, "start p"))
        elif who == "c":
            queue, used = queue - 1, used + 1
            if used in (packets // 2, packets):
                marks[used] = (now, kicks, interrupts)
            resume = now
            if not awake["p"] and places - queue >= threshold:
                awake["p"] = True
                interrupts += 1
                resume = now + nc
                pending.append((resume + sp, "start p"))
            pending.append((resume, "start c"))
        elif who == "start p":
            if queue < places:
                pending.append((now + wp, "p"))
            else:
                awake["p"] = False
        elif queue > 0:
            pending.append((now + wc, "c"))
        else:
            awake["c"] = False
        for event in pending:
            heapq.heappush(events, (event[0], order, event[1]))
            order += 1
    (t0, k0, i0), (t1, k1, i1) = marks[packets // 2], marks[packets]
    return tuple((b - a) / (packets - packets // 2) for a, b in ((t0, t1), (k0, k1), (i0, i1)))
