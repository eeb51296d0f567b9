"""Fair shares: the laws of max-min allocation, the printed example, and what tenants of one host do to each other."""

import itertools
import math

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import of_workload
from vmodel.config import scenario
from vmodel.library import tables
from vmodel.solve import compose, solver
from vmodel.solve.shared import Tenant, _added, _instance, _turn, max_min, share
from vmodel.solve.workloads import lower_bound

KINDS = ("one", "two", "three")
CLOSE = 1e-6
demand_tables = st.lists(
    st.dictionaries(st.sampled_from(KINDS), st.floats(0.01, 10.0), min_size=1), min_size=1, max_size=6
)
single = st.lists(st.tuples(st.floats(0.01, 10), st.floats(0.01, 100), st.floats(0.1, 10)), min_size=2, max_size=7)


def asked(path="vhost-user", **settings):
    return scenario(path=path, **{"profile": "generic", "topology": "vm-vm", "workload": "packets", **settings})


def tenants(count, scenario_, weight=1.0):
    return [Tenant(name=f"vm{i}", scenario=scenario_, weight=weight) for i in range(count)]


def total(found):
    return sum(s.rate_per_s for s in found.shares)


MIXES = (
    asked(size=64),
    asked(size=1500, load=200_000),
    asked(size=64, load=3_000_000),
    asked(size=64, workload="rr"),
    asked(size=64, workload="rr", in_flight=64),
    asked(size=16384, workload="stream"),
)
mixes = st.lists(st.tuples(st.sampled_from(MIXES), st.floats(0.2, 5.0)), min_size=2, max_size=6)


def mixed(drawn):
    return [Tenant(name=f"vm{i}", scenario=s, weight=w) for i, (s, w) in enumerate(drawn)]


@given(demand_tables, st.data())
def test_no_resource_does_more_than_its_capacity_and_each_tenant_has_a_reason_to_stop(demands, data):
    count = len(demands)
    ceilings = data.draw(st.lists(st.floats(0.001, 100), min_size=count, max_size=count))
    speeds = data.draw(st.lists(st.floats(0.1, 10), min_size=count, max_size=count))
    capacity = data.draw(st.dictionaries(st.sampled_from(KINDS), st.floats(0.1, 4)))
    found = max_min(demands, ceilings, speeds, capacity)
    use = {r: sum(x * d.get(r, 0) for x, d in zip(found.rates, demands, strict=True)) for r in KINDS}
    assert all(use[r] <= capacity.get(r, 1.0) * (1 + CLOSE) for r in KINDS)
    for i, (x, limit) in enumerate(zip(found.rates, found.limits, strict=True)):
        if limit is None:
            assert x == pytest.approx(ceilings[i])
            continue
        assert use[limit] == pytest.approx(capacity.get(limit, 1.0))  # its bottleneck is full, and there
        users = [j for j, d in enumerate(demands) if limit in d]
        assert all(found.rates[j] / speeds[j] <= x / speeds[i] * (1 + CLOSE) for j in users)  # nobody is better off


@given(demand_tables, st.data())
def test_the_worst_off_is_never_better_off_by_a_newcomer_nor_worse_off_by_capacity(demands, data):
    count = len(demands)
    ceilings = data.draw(st.lists(st.floats(0.001, 100), min_size=count, max_size=count))
    few = max_min(demands[:-1], ceilings[:-1], [1.0] * (count - 1), {})
    many = max_min(demands, ceilings, [1.0] * count, {})
    wide = max_min(demands, ceilings, [1.0] * count, {data.draw(st.sampled_from(KINDS)): 2.0})
    if count > 1:
        assert min(many.rates[:-1]) <= min(few.rates) * (1 + CLOSE)
    assert min(wide.rates) >= min(many.rates) * (1 - CLOSE)


@given(single)
def test_on_one_resource_a_newcomer_raises_nobody_and_capacity_hurts_nobody(drawn):
    demands = [{"core": d} for d, _, _ in drawn]
    ceilings, speeds = [c for _, c, _ in drawn], [w for _, _, w in drawn]
    many = max_min(demands, ceilings, speeds, {})
    few = max_min(demands[:-1], ceilings[:-1], speeds[:-1], {})
    wide = max_min(demands, ceilings, speeds, {"core": 1.5})
    assert all(m <= f * (1 + CLOSE) for m, f in zip(many.rates, few.rates, strict=False))
    assert all(w >= m * (1 - CLOSE) for w, m in zip(wide.rates, many.rates, strict=True))


def test_with_several_resources_a_newcomer_can_set_a_bystander_free():
    """Why the law above needs one resource: the newcomer slows the first, who leaves more of `b` to the second."""
    before = max_min([{"a": 1, "b": 1}, {"b": 1}], [9, 9], [1, 1], {})
    after = max_min([{"a": 1, "b": 1}, {"b": 1}, {"a": 4}], [9, 9, 9], [1, 1, 1], {})
    assert before.rates == (0.5, 0.5)
    assert after.rates == pytest.approx((0.2, 0.8, 0.2))


def test_the_textbook_network_has_its_fair_rates():
    """Of five flows three meet on one link, a fourth shares another with one of them (BertsekasGallager1992)."""
    links = [{"b": 1}, {"a": 1}, {"a": 1}, {"c": 1}, {"a": 1, "b": 1}]
    found = max_min(links, [9] * 5, [1] * 5, {})
    assert found.rates == pytest.approx((2 / 3, 1 / 3, 1 / 3, 1, 1 / 3))
    assert found.limits == ("b", "a", "a", "c", "a")


def test_one_tenant_alone_has_the_solvers_answer(path):
    for settings in of_workload(path, *tables.WORKLOADS):
        s = scenario(path=path, profile="generic", **settings)
        out = solver.solve(s, compose.parameter_values(s)).outcome
        (found,) = share([Tenant(name="it", scenario=s)]).shares
        assert (found.rate_per_s, found.latency_s, found.loss) == pytest.approx(
            (float(out.rate_per_s), float(out.latency_s), float(out.loss))
        )
        assert (found.limited_by, dict(found.waits_s), found.kept) == (None, {}, pytest.approx(1.0))


@hypothesis.settings(max_examples=20)
@given(mixes)
def test_shared_resources_are_never_overbooked_and_nobody_is_faster_than_alone(drawn):
    found = share(mixed(drawn))
    assert all(0 <= b <= 1 + CLOSE for b in found.busy.values())
    for s in found.shares:
        assert 0 < s.rate_per_s <= s.alone_per_s * (1 + CLOSE)
        assert s.latency_s >= s.alone_latency_s * (1 - CLOSE)
        assert 0 <= s.loss < 1


@pytest.mark.parametrize("count", [2, 7])
def test_equal_tenants_get_equal_shares(count):
    for s in MIXES:
        shares = share(tenants(count, s)).shares
        assert [x.rate_per_s for x in shares] == pytest.approx([shares[0].rate_per_s] * count), s.workload
        assert [x.latency_s for x in shares] == pytest.approx([shares[0].latency_s] * count), s.workload


@hypothesis.settings(max_examples=20)
@given(mixes)
def test_on_one_core_that_serves_in_pieces_another_tenant_raises_nobodys_rate(drawn):
    only = {"memory bus": 1e9}
    few, many = (share(mixed(d), capacity=only, batches=False) for d in (drawn[:-1], drawn))
    for f, m in zip(few.shares, many.shares, strict=False):
        assert m.rate_per_s <= f.rate_per_s * (1 + CLOSE), f.name


def test_long_batches_of_a_newcomer_can_drive_ping_pongs_back_so_far_that_others_gain():
    """Why the law above needs small pieces: who waits for an answer gives way, and the core stays full."""
    crowd = [*tenants(9, asked(size=64)), Tenant(name="loop", scenario=MIXES[4], weight=10.0)]
    newcomer = Tenant(name="new", scenario=asked(size=16384, workload="stream"), weight=0.5)
    before, after = ({s.name: s.rate_per_s for s in share(c).shares} for c in (crowd, [*crowd, newcomer]))
    assert after["loop"] < 0.9 * before["loop"] and after["vm0"] > before["vm0"]


@hypothesis.settings(max_examples=20)
@given(mixes, st.floats(1.0, 4.0))
def test_more_of_the_one_shared_resource_hurts_nobody(drawn, cores):
    only = {"memory bus": 1e9}
    few, many = (share(mixed(drawn), capacity={**only, "poll-mode core": c}, batches=False) for c in (1.0, cores))
    for f, m in zip(few.shares, many.shares, strict=True):
        assert m.rate_per_s >= f.rate_per_s * (1 - CLOSE), f.name


def test_the_total_of_one_poll_mode_core_is_the_same_from_4_to_14_vms():
    s = asked(size=1448, workload="stream")
    totals = {n: total(share(tenants(n, s))) for n in (1, 2, 4, 8, 14)}
    assert totals[1] <= totals[2] * (1 + CLOSE) <= 2 * totals[1]
    assert totals[14] == pytest.approx(totals[8]) and totals[14] == pytest.approx(totals[4], rel=0.1)
    found = share(tenants(14, s))
    assert found.suffering == {f"vm{i}": "poll-mode core|here" for i in range(14)}
    assert found.busy["poll-mode core|here"] == pytest.approx(1.0)


def test_workers_of_their_own_scale_until_another_resource_is_full():
    s = asked("virtio-vhost", size=1448, workload="stream")
    totals = [total(share(tenants(n, s))) for n in (1, 2, 4)]
    assert totals == pytest.approx([totals[0], 2 * totals[0], 4 * totals[0]])
    crowd = share(tenants(14, s))
    assert set(crowd.suffering.values()) == {"memory bus"}
    more = total(share(tenants(14, s), capacity={"memory bus": 4}))
    assert more > 2.5 * total(share(tenants(4, s), capacity={"memory bus": 4})) > 2.5 * total(crowd) * 0.7


def test_one_worker_for_all_vms_is_shared_like_a_poll_mode_core():
    s = asked("virtio-vhost", topology="host-vm", size=65536, workload="stream")
    own, one = (share(tenants(3, s), shared_worker=w, capacity={"memory bus": 9}) for w in (False, True))
    assert total(own) == pytest.approx(3 * total(one), rel=0.01)
    assert set(one.suffering.values()) == {"vhost worker|here"}


def test_weights_divide_the_contended_core():
    s = asked(size=16384, workload="stream")
    heavy = Tenant(name="heavy", scenario=s, weight=3.0)
    found = {x.name: x.rate_per_s for x in share([heavy, *tenants(4, s)]).shares}
    assert found["heavy"] == pytest.approx(min(3 * found["vm0"], share([heavy]).shares[0].rate_per_s))


def test_equal_messages_or_equal_time():
    small, large = asked(size=64), asked(size=16384, workload="stream")
    mix = [*tenants(12, large), Tenant(name="small", scenario=small), *[Tenant(name="s2", scenario=small)]]
    time = {x.name: x.rate_per_s for x in share(mix).shares}
    turns = {x.name: x.rate_per_s for x in share(mix, by_message=True).shares}
    assert time["small"] > time["vm0"]
    assert turns["small"] == pytest.approx(turns["vm0"]) and turns["small"] < time["small"]


def test_a_ping_pong_beside_bulk_tenants_waits_a_turn_for_each():
    echo = Tenant(name="echo", scenario=asked(size=64, workload="rr", batch=1))
    bulk = asked(size=64, batch=1)
    waits = [share([echo, *tenants(n, bulk)]).shares[0] for n in (0, 4, 8, 14)]
    assert [w.latency_s for w in waits] == sorted(w.latency_s for w in waits)
    assert all(w.rate_per_s == pytest.approx(1 / w.latency_s) for w in waits)  # Little
    core = solver.solve(echo.scenario, compose.parameter_values(echo.scenario)).outcome.demands_s["poll-mode core|0"]
    assert waits[-1].waits_s["poll-mode core|here"] == pytest.approx(14 * core, rel=0.05)
    assert share([echo, *tenants(8, bulk)]).suffering["echo"] == "poll-mode core|here"


def test_long_turns_of_backlogged_tenants_starve_a_ping_pong():
    """Half a round of 14 full batches is what a lone message waits for on average."""
    frames = {b: asked(size=64, batch=b) for b in (16, 64, 256)}
    echo = Tenant(name="echo", scenario=asked(size=64, workload="rr"))
    found = {b: share([echo, *tenants(40, s)]) for b, s in frames.items()}
    waits = {b: f.shares[0].waits_s["poll-mode core|here"] for b, f in found.items()}
    assert waits[16] < waits[64] < waits[256]
    core = solver.solve(frames[256], compose.parameter_values(frames[256])).outcome.demands_s["poll-mode core|0"]
    assert waits[256] == pytest.approx(40 * 256 * core / 2, rel=0.05)
    assert found[256].shares[0].rate_per_s == pytest.approx(1 / found[256].shares[0].latency_s)


def test_waiting_grows_into_a_full_ring_and_loss_names_who_offers_too_much():
    def one(load):
        return share([Tenant(name="it", scenario=asked(size=64, load=load)), *tenants(8, asked(size=64))]).shares[0]

    waits = [sum(one(load).waits_s.values()) for load in (50_000, 200_000, 400_000, 470_000)]
    assert all(b >= a * (1 - 1e-6) for a, b in itertools.pairwise(waits)) and waits[-1] > waits[0] > 0
    light = one(10_000)
    assert light.loss < CLOSE and light.limited_by is None
    crowd = share([Tenant(name="it", scenario=asked(size=64, load=450_000)), *tenants(20, asked(size=64))]).shares[0]
    assert crowd.limited_by == "poll-mode core|here"
    assert crowd.loss == pytest.approx(1 - crowd.rate_per_s / 450_000)
    lone = solver.solve(asked(size=64, load=450_000), COSTS).outcome
    assert crowd.latency_s == pytest.approx(lower_bound(lone) + 256 / crowd.rate_per_s)  # a full ring is before it


def test_opposite_directions_of_a_wire_and_far_hosts_are_not_shared():
    into, out = (
        scenario(path="virtio-vhost", profile="generic", topology="cross-host-vm", workload="stream", direction=d)
        for d in ("to-vm", "from-vm")
    )
    both = share([Tenant(name="in", scenario=into), Tenant(name="out", scenario=out)])
    assert not any(r.startswith("wire") for r in both.busy)
    twice = share([Tenant(name="a", scenario=into), Tenant(name="b", scenario=into)])
    assert "wire|in" in twice.busy
    apart = share([Tenant(name="a", scenario=into), Tenant(name="b", scenario=into)], peers_apart=True)
    assert {r for r in twice.busy if r.endswith("there")} and not {r for r in apart.busy if r.endswith("there")}


def by_hand(crowd, turns, rooms, steps=400):
    """The fixed point of the docstring of `share`, where no resource is full: rates and waits, resource by resource."""
    lone = [solver.solve(t.scenario, compose.parameter_values(t.scenario)).outcome for t in crowd]
    full = [solver.solve(asked(**{**LOADED[t.name], "load": "max"}), COSTS).outcome for t in crowd]
    demands = [
        {"poll-mode core|here": f.demands_s["poll-mode core|0"], "memory bus": f.demands_s["memory bus"]} for f in full
    ]
    loops = [t.scenario.knobs["in_flight"] if t.scenario.workload == "rr" else None for t in crowd]
    rates = [float(out.rate_per_s) for out in lone]
    presence = [dict.fromkeys(d, 0.0) for d in demands]
    for _ in range(steps):
        stretch, waits = [], []
        for i, t in enumerate(crowd):
            others = [j for j in range(len(crowd)) if j != i]
            stretch.append(
                {
                    r: max(1.0, (1 + sum(crowd[j].weight / t.weight * presence[j][r] for j in others)) / rooms[r])
                    for r in rooms
                }
            )
            half_round = sum(
                q * demands[j]["poll-mode core|here"] * min(turns[j], 1 / (1 - q)) / 2 / rooms["poll-mode core|here"]
                for j in others
                if (q := presence[j]["poll-mode core|here"]) < 1
            )
            turn = {"poll-mode core|here": half_round, "memory bus": 0.0}
            waits.append({r: max(demands[i][r] * (stretch[i][r] - 1), turn[r]) for r in rooms})
        for i, n in enumerate(loops):
            if n is not None:
                rates[i] = n / (n / float(lone[i].rate_per_s) + sum(waits[i].values()))
            for r in rooms:
                aim = min(1.0, rates[i] * demands[i][r] * stretch[i][r])
                presence[i][r] += 0.3 * (aim - presence[i][r])
    for i, n in enumerate(loops):
        for r in rooms if n is None else ():
            x, d = rates[i], demands[i][r]
            queue = d * stretch[i][r] / (1 - x * d * stretch[i][r]) - d / (1 - x * d)
            waits[i][r] = max(waits[i][r], queue)
    return rates, waits, lone, demands


LOADED = {
    "heavy": {"size": 64, "workload": "rr"},
    "light": {"size": 64, "workload": "rr"},
    "four": {"size": 256, "workload": "rr", "in_flight": 4},
    "frames": {"size": 1500, "load": 100_000},
}
COSTS = compose.parameter_values(asked())


@pytest.mark.parametrize("room", [1.0, 1.25])
def test_ping_pongs_and_frames_beside_each_other_are_the_fixed_point_that_is_written_down(room):
    weights = {"heavy": 2.0, "light": 1.0, "four": 0.5, "frames": 1.0}
    crowd = [Tenant(name=n, scenario=asked(**LOADED[n]), weight=w) for n, w in weights.items()]
    rooms = {"poll-mode core|here": room, "memory bus": 1.0}
    rates, waits, lone, demands = by_hand(crowd, (1, 1, 4, 64), rooms)
    found = share(crowd, capacity={"poll-mode core": room})
    for s, rate, waited, out, t in zip(found.shares, rates, waits, lone, crowd, strict=True):
        assert s.rate_per_s == pytest.approx(rate, rel=1e-9) and s.alone_per_s == float(out.rate_per_s)
        assert dict(s.waits_s) == {r: pytest.approx(w, rel=1e-6) for r, w in waited.items()}
        assert (s.limited_by, s.loss) == (None, pytest.approx(float(out.loss)))
        loop = t.scenario.workload == "rr"
        expected = t.scenario.knobs["in_flight"] / rate if loop else float(out.latency_s) + sum(waited.values())
        assert s.latency_s == pytest.approx(expected) and s.alone_latency_s == float(out.latency_s)
        assert s.kept == pytest.approx(rate / float(out.rate_per_s))
    busy = {r: sum(x * d[r] for x, d in zip(rates, demands, strict=True)) / rooms[r] for r in rooms}
    assert dict(found.busy) == {r: pytest.approx(b) for r, b in busy.items()}
    assert found.suffering == dict.fromkeys(("heavy", "light", "four"), "poll-mode core|here")


def test_what_sharing_adds_has_no_end_where_the_queue_has_none():
    assert _added(0.5, 1.5, 1.0, False) == pytest.approx(0.5 * 1.5 / 0.25 - 0.5 / 0.5)
    assert _added(0.5, 1.0, 1.0, False) == 0
    assert _added(0.5, 2.0, 1.0, False) == _added(0.5, 1.5, 1.0, True) == _added(0.5, 3.0, 1.0, False) == math.inf


def test_a_turn_is_a_batch_a_window_or_what_a_ring_holds():
    def turn(**settings):
        s = asked(**settings)
        return _turn(s, solver.solve(s, compose.parameter_values(s)))

    assert (turn(size=64), turn(size=64, batch=256), turn(size=64, batch=999, ring_size=256)) == (64, 256, 256)
    assert (turn(size=64, workload="rr"), turn(size=64, workload="rr", in_flight=9)) == (1, 9)
    assert turn(size=64, workload="rr", in_flight=99) == 64
    s = asked("virtio-vhost", topology="host-vm", size=65536, workload="stream", ring_size=256, batch=64)
    segments = solver.solve(s, compose.parameter_values(s)).words["segments"]
    pages = max(1.0, 65536 / max(segments, 1.0) / s.knobs["page_bytes"])
    assert pages > 4  # so that the ring, not the batch, is what a turn ends at
    assert _turn(s, solver.solve(s, compose.parameter_values(s))) == max(1.0, 256 / pages / segments)


INSTANCES = [
    ("memory bus", {}, {}, "memory bus"),
    ("guest vCPU|receiver", {}, {}, "guest vCPU|receiver|me"),
    ("poll-mode core|0", {}, {}, "poll-mode core|here"),
    ("vhost worker|sender", {}, {}, "vhost worker|sender|me"),
    ("vhost worker|sender", {}, {"shared_worker": True}, "vhost worker|here"),
    ("QEMU I/O thread|guest", {}, {"shared_worker": True}, "QEMU I/O thread|here"),
    ("poll-mode core|1", {"topology": "cross-vm-vm"}, {}, "poll-mode core|here"),
    ("poll-mode core|2", {"topology": "cross-vm-vm"}, {}, "poll-mode core|there"),
    ("poll-mode core|2", {"topology": "cross-vm-vm"}, {"peers_apart": True}, "poll-mode core|2|me"),
    ("poll-mode core|1", {"topology": "cross-vm-vm"}, {"peers_apart": True}, "poll-mode core|here"),
    ("wire|there", {"topology": "cross-host-vm", "direction": "to-vm"}, {}, "wire|in"),
    ("wire|back", {"topology": "cross-host-vm", "direction": "to-vm"}, {}, "wire|out"),
    ("wire|there", {"topology": "cross-host-vm", "direction": "from-vm"}, {}, "wire|out"),
    ("wire|back", {"topology": "cross-host-vm", "direction": "from-vm"}, {}, "wire|in"),
    ("vhost worker|sender", {"topology": "cross-vm-vm", "direction": "from-vm"}, {"shared_worker": True},
     "vhost worker|here"),
    ("vhost worker|receiver", {"topology": "cross-vm-vm", "direction": "from-vm"}, {"shared_worker": True},
     "vhost worker|there"),
    ("vhost worker|receiver", {"topology": "cross-vm-vm", "direction": "to-vm"}, {"shared_worker": True},
     "vhost worker|here"),
    ("vhost worker|guest", {"topology": "cross-host-vm", "direction": "to-vm"}, {"shared_worker": True},
     "vhost worker|here"),
]  # fmt: skip


def test_each_resource_is_named_by_the_host_it_stands_on():
    for key, settings, told, expected in INSTANCES:
        s = asked("virtio-vhost", **{"workload": "stream", **settings})
        given = {"shared_worker": False, "peers_apart": False, **told}
        assert _instance(Tenant(name="me", scenario=s), key, *given.values()) == expected, (key, settings, told)


def rounds(random, rates, draw, seconds):
    """Mean response of several Poisson tenants at a server that takes one message of each in turn."""
    come = [np.cumsum(random.exponential(1 / r, int(r * seconds))).tolist() for r in rates]
    heads, took, now, at = [0] * len(rates), 0.0, 0.0, 0
    while all(h < len(c) for h, c in zip(heads, come, strict=True)):
        for step in range(len(rates)):
            i = (at + step) % len(rates)
            if come[i][heads[i]] <= now:
                now += draw()
                took += now - come[i][heads[i]]
                heads[i] += 1
                at = i + 1
                break
        else:
            now = min(c[h] for c, h in zip(come, heads, strict=True))
    return took / sum(heads)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("constant, low, high", [(False, 0.75, 1.3), (True, 1.6, 2.4)])
def test_what_sharing_adds_against_simulated_turns(load, count, constant, low, high):
    """Processor sharing: right for exponential work, twice the wait of constant work that is not cut in pieces."""
    random = np.random.default_rng(20250711)

    def draw():
        return 1.0 if constant else float(random.exponential())

    rate = load / count
    together = rounds(random, [rate] * count, draw, 40_000)
    alone = rounds(random, [rate], draw, 40_000 * count)
    presence = 0.0
    for _ in range(500):
        presence = min(1.0, rate * (1 + (count - 1) * presence))
    added = _added(1.0, 1 + (count - 1) * presence, rate, False)
    assert low < added / (together - alone) < high
