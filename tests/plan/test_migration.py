"""The worked example of docs/planning.md: when is a virtual function worth losing migration?

`python -m tests.plan.test_migration` renders its table again.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.plan.migration import MACHINES, OBJECTIVES_US, fleet
from vmodel.plan.plan import plan_fleet, without_migration

PAGE = Path(__file__).resolve().parents[2] / "docs" / "planning.md"
DEFAULT, TEN, LATER = MACHINES


@cache
def answer(machine, objective_us, must_migrate):
    return plan_fleet(fleet(machine, objective_us, must_migrate=must_migrate))


def path(found):
    return None if found.placement is None else found.known.options[found.placement.chosen[0]].path


def cell(machine, objective_us):
    free, bound = (answer(machine, objective_us, must) for must in (False, True))
    if free.placement is None:
        return "neither"
    if bound.placement is None:
        return f"{path(free)}, {free.placement.hosts} hosts; the only path"
    more = bound.placement.hosts - free.placement.hosts
    told = f"{more} hosts" if more else "nothing"
    return f"{path(free)}, {free.placement.hosts} hosts; migration costs {told}"


def table():
    rows = [["objective (median)", *MACHINES], ["---"] * (len(MACHINES) + 1)]
    rows += [[f"{o} us", *(cell(m, o) for m in MACHINES)] for o in OBJECTIVES_US]
    head, rule, *rest = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, rule.replace(" ", ""), *rest]) + "\n"


@pytest.mark.slow
def test_the_table_of_the_page_is_what_the_planner_says():
    shown = re.search(r"<!-- flips: [^\n]*-->\n(.*?)<!-- end -->", PAGE.read_text("utf-8"), re.DOTALL).group(1)
    assert shown == table()


def test_at_its_default_the_function_is_refused_and_the_reason_is_its_timer():
    found = answer(DEFAULT, 350, False)
    assert path(found) == "virtio-vhost"
    (refusal,) = found.refusals
    assert (refusal.path, refusal.resource, refusal.conflict) == ("vf", "interrupt moderation", ("latency", "settings"))
    assert refusal.available == pytest.approx(488e-6, rel=0.05)


def test_with_a_short_timer_it_is_the_only_path_and_worth_losing_migration():
    assert path(answer(TEN, 250, False)) == "vf"
    bound = answer(TEN, 250, True)
    assert not bound.feasible
    assert "must_migrate" in bound.refusals[-1].conflict
    assert "must_migrate = false, which leaves vf" in bound.refusals[-1].change
    assert without_migration(bound).paths == {"service": "vf"}


def test_on_a_later_machine_migration_costs_nothing():
    bound = answer(LATER, 250, True)
    assert path(bound) == "virtio-vhost"
    assert without_migration(bound).cost == bound.placement.cost


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    PAGE.write_text(
        re.sub(r"(<!-- flips: [^\n]*-->\n).*?(<!-- end -->)", lambda m: m[1] + table() + m[2], text, flags=re.DOTALL),
        encoding="utf-8",
    )
