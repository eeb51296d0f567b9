"""Limits are the load model turned round: they hold where they are set and break one step above."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plan import fleets
from vmodel.library.profile import profile
from vmodel.plan.limits import LEVELS, Objective, added_wait, busy_limit, latency_at
from vmodel.plan.neighbours import fixed_point
from vmodel.plan.plan import plan_fleet
from vmodel.plan.respond import POLLED, SHARED, Asked, quantile, respond
from vmodel.report.planned import plan_lines
from vmodel.solve import solver
from vmodel.solve.shared import Tenant, share
from vmodel.solve.tails import StageTime, skewed_percentile


def asked(vm, path, **more):
    fleet = fleets.fleet(vm)
    return Asked(vm=fleet.vm[0], path=path, settings=(), host=fleet.host[0], profile=profile("generic"), **more)


QUESTIONS = [
    asked(vm, path, factor=factor)
    for vm in (fleets.web(), fleets.nfv(), fleets.backup(), fleets.nfv(direction="from-vm", size=1024.0))
    for path in ("virtio-vhost", "vhost-user", "vf", "macvtap-vhost", "vdpa")
    for factor in (0.1, 1.0)
]


@pytest.fixture(scope="module")
def answers():
    return respond(QUESTIONS)


def test_one_vm_alone_is_what_predict_says(answers):
    p99 = np.maximum(answers.floor_s, quantile(answers.times, 0.99))
    for i, q in enumerate(QUESTIONS):
        p = solver.predict(q.scenario())
        if q.vm.workload != "stream":
            assert p99[i] == pytest.approx(p.percentiles_s[0.99], rel=2e-3)
            assert answers.times[1, i] == pytest.approx(p.latency_s, rel=1e-9)
        if q.vm.workload == "packets":
            assert answers.loss[i] == pytest.approx(p.loss, abs=1e-12)


def test_what_stands_on_the_vms_host_is_counted_and_the_peers_is_not(answers):
    for i, q in enumerate(QUESTIONS):
        p = solver.predict(q.scenario())
        rate = q.rate_per_s()
        wire = (answers.load[SHARED.index("wire in"), i], answers.load[SHARED.index("wire out"), i])
        assert (wire[0] > 0) == (q.vm.direction == "to-vm" or q.vm.workload == "rr")
        assert (wire[1] > 0) == (q.vm.direction == "from-vm" or q.vm.workload == "rr")
        worker = p.demands_s.get("vhost worker", 0.0)
        assert answers.load[SHARED.index("vhost worker"), i] == pytest.approx(worker * rate, rel=1e-9)
        assert answers.load[SHARED.index(POLLED), i] == pytest.approx(p.demands_s.get(POLLED, 0.0) * rate, rel=1e-9)
        assert answers.bus_bytes[i] * rate <= p.demands_s["memory bus"] * rate * 1e12


@given(
    st.lists(st.tuples(st.floats(1e-6, 1e-3), st.floats(0.01, 3.0), st.floats(0.05, 6.0)), min_size=1, max_size=8),
    st.sampled_from([0.5, 0.9, 0.99, 0.999]),
)
def test_the_quantile_is_that_of_the_percentiles(rows, share_):
    mean = np.array([r[0] for r in rows])
    variance = (mean * np.array([r[1] for r in rows])) ** 2
    third = np.array([r[2] for r in rows]) * variance**1.5
    mine = quantile(np.stack([mean * 0, mean, variance, third]), share_)
    for i in range(len(rows)):
        time = StageTime(least_s=0.0, mean_s=mean[i], variance_s2=variance[i], third_s3=third[i])
        assert mine[i] == pytest.approx(skewed_percentile(time, share_), rel=1e-6)


def test_a_limit_holds_and_the_next_step_breaks(answers):
    n = len(QUESTIONS)
    goal = Objective(
        latency_s=np.array([q.vm.latency or np.inf for q in QUESTIONS]),
        share=np.full(n, 0.99),
        loss=np.full(n, 1e-3),
        latency_factor=np.full(n, 1.2),
        load_factor=np.ones((len(SHARED), n)),
    )
    found = busy_limit(answers, goal)
    assert ((found > 0) & (found < LEVELS[-1])).any()
    kept = latency_at(answers, found, goal.share) * 1.2
    above = latency_at(answers, found + LEVELS[0], goal.share) * 1.2
    for i in range(n):
        if found[i] > 0:
            assert kept[i] <= goal.latency_s[i]
        if 0 < found[i] < LEVELS[-1] and np.isfinite(goal.latency_s[i]):
            assert above[i] > goal.latency_s[i] or found[i] >= 0.9  # else the ring's loss stops it


@given(st.floats(0.001, 0.3), st.floats(0.01, 0.95), st.floats(0.01, 0.95), st.booleans())
def test_waits_grow_with_the_level_and_vanish_at_the_own_share(own, low, high, closed):
    low, high = sorted((low, high))
    at = [float(added_wait(np.array(1e-6), np.array(own), np.array(u), np.array(closed))) for u in (own, low, high)]
    assert at[0] == pytest.approx(0.0, abs=1e-18)
    assert at[1] <= at[2]


def tenants_of(question, count):
    s = question.scenario()
    return [Tenant(name=f"vm{i}", scenario=s) for i in range(count)]


@pytest.mark.parametrize(("path", "count"), [("vhost-user", 4), ("vf", 6), ("vhost-user", 12)])
@pytest.mark.parametrize("vm", [fleets.nfv(rate=30000.0), fleets.web(rate=1000.0)])
def test_neighbours_wait_as_in_the_fixed_point_of_the_load_model(path, count, vm):
    question = asked(vm, path)
    shared = share(tenants_of(question, count), peers_apart=True)
    if question.vm.workload == "rr":  # there round trips come as fast as they can: ask for the same rate here
        question = asked({**vm, "rate": shared.shares[0].rate_per_s}, path)
    waits = fixed_point(respond([question]), np.array([float(count)]), np.ones(len(SHARED)))
    theirs = {r.replace("|here", "").replace("|", " "): w for r, w in shared.shares[0].waits_s.items()}
    mine = {kind: float(waits[i, 0]) for i, kind in enumerate(SHARED)}
    for kind in ("PCIe link", "NIC DMA engine", "wire in"):
        assert mine[kind] == pytest.approx(theirs[kind], rel=1e-6)
    if (
        POLLED in theirs
    ):  # there a contended core always takes full batches; here a frame costs what it costs at its load
        assert mine[POLLED] >= theirs[POLLED] * (1 - 1e-6)


def test_a_plan_says_why_nothing_may_be_busier():
    """The latency of the limit keeps the objective, that of the next step does not; it is the limit of the option."""
    found = plan_fleet(fleets.fleet(fleets.web(latency="200us"), fleets.backup()))
    web, backup = found.busy
    assert web.level == found.known.wants.limits[found.placement.chosen[0]].max()
    assert web.binds and web.latency_s <= 200e-6 < web.above_s
    assert web.above == pytest.approx(web.level + 0.04)
    assert not backup.binds and backup.above is None
    text = "\n".join(plan_lines(found))
    assert "beyond 200 us" in text and "no latency objective" in text
