"""Laws of plans: more demand never needs less, a larger host never refuses, failures are survived, costs add up."""

from dataclasses import replace

import numpy as np
import pytest

from tests.plan import fleets
from vmodel.plan.failure import failures, moved
from vmodel.plan.growth import FACTORS, curves
from vmodel.plan.limits import latency
from vmodel.plan.neighbours import fixed_point, servers_of
from vmodel.plan.options import catalogue
from vmodel.plan.placement import Problem, WrongPlan, check, solve
from vmodel.plan.plan import least_regret, plan_fleet
from vmodel.plan.pricing import Kind
from vmodel.plan.records import Group
from vmodel.plan.respond import respond
from vmodel.plan.room import COLUMNS, MEMORY, VCPU, WORK, Room, Wants
from vmodel.report.planned import plan_json


@pytest.fixture(scope="module")
def planned():
    return plan_fleet(fleets.fleet(n_minus_1=["host", "numa"], growth_per_year=0.3))


def test_every_vm_stands_once_and_no_host_is_overfull(planned):
    wants = planned.known.wants
    total = np.zeros(len(planned.fleet.vm))
    for g in planned.groups:
        assert wants.fits(g.room, g.counts)
        np.add.at(total, wants.vm, g.counts * g.hosts)
    assert total.tolist() == [vm.count for vm in planned.fleet.vm]


def test_every_objective_holds_among_neighbours_on_the_safe_side(planned):
    assert {s.option for s in planned.standings} == set(planned.placement.chosen)
    for s in planned.standings:
        assert s.keeps
        assert s.latency_s >= s.alone_s


def test_costs_and_watts_add_up(planned):
    used = [g for g in planned.groups if g.counts.any()]
    assert planned.placement.cost == sum(g.hosts for g in used) * 5000
    assert planned.price == sum(g.hosts for g in planned.groups) * 5000
    assert 150 * sum(g.hosts for g in planned.groups) <= planned.watts <= 400 * sum(g.hosts for g in planned.groups)
    assert planned.watts == pytest.approx(sum(g.hosts * planned.watts_of(g) for g in planned.groups))
    assert planned.placement.bound <= planned.placement.cost <= planned.placement.first_fit


def test_the_same_fleet_gives_the_same_plan(planned):
    again = plan_fleet(fleets.fleet(n_minus_1=["host", "numa"], growth_per_year=0.3))
    assert plan_json(again) == plan_json(planned)


def test_any_host_may_fail_and_every_objective_still_holds(planned):
    """Not by the limits alone: the fixed point is asked for the hosts as they look after each failure."""
    wants, options = planned.known.wants, planned.known.options
    assert {f.what for f in planned.failures} == {"host", "numa"}
    assert all(f.holds for f in planned.failures)
    for i, g in enumerate(planned.groups):
        others = [replace(h, hosts=h.hosts - (j == i)) for j, h in enumerate(planned.groups)]
        left, after = moved(wants, others, g.counts, None, np.zeros_like(g.counts))
        assert left == {}
        for room, shelf in after:
            present = np.flatnonzero(shelf.counts)
            if not present.size:
                continue
            answers = respond([options[o].asked[room.type] for o in present])
            group = Group(room=room, hosts=1, counts=shelf.counts)
            waits = fixed_point(answers, shelf.counts[present].astype(float), servers_of(group, wants, options))
            shares = np.array([options[o].vm.percentile / 100 for o in present])
            found = latency(answers, waits, shares) * [options[o].latency_factor for o in present]
            goals = np.array([options[o].vm.latency or np.inf for o in present])
            assert (found <= goals).all()


def test_without_a_spare_the_same_failure_is_not_survived(planned):
    assert planned.spares
    bare = [g for g in planned.groups if g.counts.any()]
    assert not all(f.holds for f in failures(planned.fleet, planned.known.wants, bare, ["host"]))


def test_an_adapter_may_fail_where_that_is_asked():
    found = plan_fleet(fleets.fleet(fleets.backup(count=40, rate="2Gbit/s"), n_minus_1=["nic"], confidence=0.5))
    free = plan_fleet(fleets.fleet(fleets.backup(count=40, rate="2Gbit/s"), confidence=0.5))
    assert all(f.holds for f in found.failures)
    assert {f.what for f in found.failures} == {"nic"}
    assert found.placement.cost > free.placement.cost
    one = fleets.host(nics=[{"rate": "25Gbit/s", "vfs": 16}])
    refused = plan_fleet(fleets.fleet(fleets.backup(), hosts=[one], n_minus_1=["nic"]))
    assert not refused.feasible
    assert "adapter" in refused.refusals[-1].because


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (fleets.web(), fleets.web(count=40)),
        (fleets.web(), fleets.web(rate=6000.0)),
        pytest.param(fleets.nfv(count=20), fleets.nfv(count=20, rate=90000.0), marks=pytest.mark.slow),
        pytest.param(fleets.nfv(count=20), fleets.nfv(count=20, latency="260us"), marks=pytest.mark.slow),
        (fleets.backup(count=30), fleets.backup(count=30, rate="3Gbit/s")),
        (fleets.web(), fleets.web(memory="24GiB")),
    ],
)
def test_more_demand_never_needs_less(less, more):
    a, b = (plan_fleet(fleets.fleet(vm, confidence=0.6)) for vm in (less, more))
    assert a.feasible
    assert not b.feasible or b.placement.cost >= a.placement.cost


LARGER = (
    {"cores": 64},
    {"memory": "1024GiB"},
    {"memory_bandwidth": "300GB/s"},
    {"nics": [{"rate": "25Gbit/s", "vfs": 64, "count": 4}]},
    {"nics": [{"rate": "100Gbit/s", "vfs": 16, "count": 2}]},
)


@pytest.mark.parametrize("vm", [fleets.web(), fleets.nfv(), fleets.backup(), fleets.nfv(rate=110000.0)])
def test_a_larger_host_is_never_refused_what_a_smaller_one_got(vm):
    hosts = [fleets.host(), *(fleets.host(name=f"larger{i}", **more) for i, more in enumerate(LARGER))]
    known = catalogue(fleets.fleet({**vm, "paths": ["virtio-vhost", "vhost-user", "vf", "pf"]}, hosts=hosts))
    assert known.options
    empty = np.zeros(len(known.options), dtype=int)
    for o in range(len(known.options)):
        small, *large = (known.wants.most_more(r, empty, o, 99) for r in known.rooms)
        assert small > 0
        assert min(large) >= small


def test_growth_names_the_resource_that_gives_way_and_when(planned):
    b = planned.bottleneck
    assert b.factor > 1
    assert b.years == pytest.approx(np.log(b.factor) / np.log(1.3))


def test_needs_over_load_pass_through_those_of_the_plan(planned):
    chosen = planned.placement.chosen
    found = curves(planned.known, chosen)
    at_one = int(np.argmin(abs(FACTORS - 1)))
    assert found.needs[at_one] == pytest.approx(planned.known.wants.needs[list(chosen)], rel=1e-6)
    assert (np.diff(found.needs, axis=0) >= 0).all()
    assert (np.diff(found.limits, axis=0) <= 0).all()


def test_the_horizon_is_planned_for():
    now, later = (
        catalogue(fleets.fleet(fleets.web(), **r)) for r in ({}, {"growth_per_year": 0.2, "horizon_years": 2})
    )
    assert later.factor == pytest.approx(1.44)
    assert (later.wants.needs[:, :, WORK] >= now.wants.needs[:, :, WORK]).all()


@pytest.mark.slow
def test_uncertain_demand_gives_chances_and_a_plan_that_is_regretted_least():
    fleet = fleets.fleet(fleets.nfv(count=12, uncertainty=0.6), fleets.web(count=6), confidence=0.6)
    found = plan_fleet(fleet)
    assert 0 < found.chance.plan < 1
    assert found.chance.per_class["web"] >= found.chance.plan
    best, *others = least_regret(fleet)
    assert others
    assert all(best.mean_regret <= c.mean_regret for c in others)
    by_quantile = sorted([best, *others], key=lambda c: c.quantile)
    assert [c.cost for c in by_quantile] == sorted(c.cost for c in by_quantile)
    assert [c.chance for c in by_quantile] == sorted(c.chance for c in by_quantile)


def running(**more):
    return {"name": "old", "host": "host", "count": 6, "vms": {"web": 5, "nfv": 2}, **more}


def test_a_running_fleet_that_is_good_stays_as_it_is():
    found = plan_fleet(fleets.fleet(fleets.web(), fleets.nfv(), running=[running()], move_price=10.0))
    assert found.feasible
    assert found.placement.moves == 0
    assert found.price == 0.0


def test_moves_cost_and_are_made_where_they_save_more():
    hosts = [fleets.host()]
    spread = [running(vms={"web": 1}, count=20)]
    web = fleets.web(count=20)
    cheap = plan_fleet(fleets.fleet(web, hosts=hosts, running=spread, minimise="hosts", move_price=0.01))
    dear = plan_fleet(fleets.fleet(web, hosts=hosts, running=spread, minimise="hosts", move_price=2.0))
    assert cheap.placement.moves > 0
    assert dear.placement.moves == 0
    assert sum(g.hosts for g in cheap.groups if g.counts.any()) < sum(g.hosts for g in dear.groups if g.counts.any())


def test_what_was_measured_beyond_its_vms_is_kept_free():
    busy = [running(memory=0.9, cores=0.1, nic=0.0)]
    found = plan_fleet(fleets.fleet(fleets.web(), fleets.nfv(), running=busy))
    by_name = {m.resource: m for m in found.measured}
    assert by_name["memory"].kept == pytest.approx(0.9 - by_name["memory"].explained)
    assert by_name["cores"].kept == 0.0
    old = next(g for g in found.groups if g.room.name.startswith("old"))
    assert old.room.taken[MEMORY] == pytest.approx(by_name["memory"].kept * old.room.capacity[MEMORY])


def room(cores=10.0, memory=10.0, price=1.0, count=None):
    capacity = np.zeros(COLUMNS)
    capacity[MEMORY] = memory
    return Room(
        name=f"r{cores:g}", type=0, cores=cores, capacity=capacity, adapters=0, taken=np.zeros(COLUMNS), price=price,
        watts=0.0, watts_idle=0.0, count=count,
    )  # fmt: skip


def packing(sizes, demand, rooms=None):
    """Bin packing in the words of the planner: (cores, memory) of each class."""
    needs = np.zeros((len(sizes), 1, COLUMNS))
    for i, (cores, memory) in enumerate(sizes):
        needs[i, 0, VCPU], needs[i, 0, MEMORY] = cores, memory
    wants = Wants(needs=needs, limits=np.full((len(sizes), 1), 0.96), vm=np.arange(len(sizes)))
    kinds = tuple(Kind(room=r, cost=r.price, most=r.count) for r in (rooms or [room()]))
    costs = {k.cost for k in kinds}
    step = costs.pop() if len(costs) == 1 else None
    return Problem(kinds=kinds, wants=wants, demand=np.array(demand, dtype=float), start=(), step=step)


def fewest(sizes, demand, capacity=(10, 10)):
    """The fewest bins, by trying everything."""
    items = [s for s, n in zip(sizes, demand, strict=True) for _ in range(n)]

    def fits(i, bins, most):
        if i == len(items):
            return True
        seen = set()
        for b in range(min(len(bins) + 1, most)):
            cores, memory = bins[b] if b < len(bins) else capacity
            left = (cores - items[i][0], memory - items[i][1])
            if min(left) < 0 or (cores, memory) in seen:
                continue
            seen.add((cores, memory))
            if fits(i + 1, [*bins[:b], left, *bins[b + 1 :]], most):
                return True
        return False

    return next(n for n in range(1, len(items) + 1) if fits(0, [], n))


@pytest.mark.parametrize("seed", range(6))
def test_small_packings_are_within_one_of_the_fewest_and_never_below_the_bound(seed):
    random = np.random.default_rng(seed)
    sizes = [(int(random.integers(2, 7)), int(random.integers(1, 7))) for _ in range(3)]
    demand = [int(n) for n in random.integers(1, 4, 3)]
    placed, _ = solve(packing(sizes, demand), time_limit_s=60)
    best = fewest(sizes, demand)
    assert placed.bound <= best <= placed.cost <= best + 1
    assert placed.cost <= placed.first_fit


@pytest.mark.parametrize("seed", range(4))
def test_many_vms_on_three_kinds_of_host_end_within_one_host_of_the_bound(seed):
    random = np.random.default_rng(seed)
    sizes = [(float(random.uniform(0.5, 6)), float(random.uniform(0.5, 6))) for _ in range(12)]
    demand = [int(n) for n in random.integers(5, 80, 12)]
    rooms = [room(10, 10, 1.0), room(20, 25, 1.9), room(40, 40, 3.7)]
    placed, _ = solve(packing(sizes, demand, rooms), time_limit_s=60)
    assert placed.bound <= placed.cost <= min(placed.bound + 3.7, placed.first_fit)


def test_where_first_fit_wastes_hosts_the_programme_does_not():
    sizes, demand = [(5, 1), (4, 1), (3, 1), (2, 1)], [40, 40, 40, 40]
    placed, _ = solve(packing(sizes, demand), time_limit_s=60)
    assert placed.cost == 56 == placed.bound  # 560 cores on hosts of ten


def test_the_cheapest_mix_of_host_types_is_found():
    rooms = [room(cores=10, memory=10, price=10), room(cores=4, memory=4, price=5.5)]
    placed, _ = solve(packing([(4, 4)], [5], rooms), time_limit_s=60)
    assert placed.cost == pytest.approx(25.5)  # two large hosts and one small one


def test_a_whole_adapter_carries_the_traffic_of_its_vm_and_nothing_else():
    asked = fleets.fleet(
        fleets.nfv(count=3, paths=["pf"], latency="1ms"), hosts=[fleets.host(nics=[{"rate": "25Gbit/s", "vfs": 16}])]
    )
    found = plan_fleet(asked)
    assert [(g.hosts, g.counts.tolist()) for g in found.placement.groups] == [(3, [1])]


def test_stock_that_is_too_small_is_no_plan():
    placed, found = solve(packing([(4, 4)], [5], [room(count=2)]), time_limit_s=60)
    assert placed is None
    assert found.missing.sum() == pytest.approx(0.0, abs=1.0)
    assert solve(packing([(4, 4)], [5], [room(count=3)]), time_limit_s=60)[0].cost == 3


def test_without_time_there_is_still_a_plan_with_a_bound_and_it_says_so():
    sizes, demand = [(5, 1), (4, 1), (3, 1), (2, 1)], [40, 40, 40, 40]
    placed, found = solve(packing(sizes, demand), time_limit_s=0.0)
    assert not placed.proven and "time limit" in placed.note
    assert 0 < found.bound <= 56 <= placed.cost <= placed.first_fit


def test_a_wrong_placement_is_caught_by_arithmetic():
    problem = packing([(4, 4)], [4])
    placed, _ = solve(problem, time_limit_s=60)
    group = placed.groups[0]
    with pytest.raises(WrongPlan):
        check(problem, replace(placed, groups=(replace(group, counts=group.counts + 5), *placed.groups[1:])))
    with pytest.raises(WrongPlan):
        check(problem, replace(placed, groups=placed.groups[1:]))
    with pytest.raises(WrongPlan):
        check(problem, replace(placed, cost=placed.cost + 1))
