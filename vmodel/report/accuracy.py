"""The accuracy page: how far the model can be trusted, as Markdown; per path, topology, figure and study."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vmodel.units import PERCENT_PER_ONE

ENOUGH = 10  # rows of a kind from which a line of advice is given
TOO_FAR, TOO_FEW_COVERED = 0.25, 0.75  # median error, and coverage, from which the page advises against use


OWN = "learned_population"  # this model with another prior


def _percent(x: float | None) -> str:
    return "-" if x is None else f"{x * PERCENT_PER_ONE:.1f} %"


def _number(x: float | None) -> str:
    return "-" if x is None else f"{x:.2f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *(f"| {' | '.join(row)} |" for row in rows), ""]


HEAD = (
    "rows", "studies", "in sample", "row out", "five rows", "median study", "covered: row out", "covered: five rows",
    "rank", "rank: all pairs", "zero rows: within 2x", "zero rows: covered", "best baseline",
)  # fmt: skip


def _cells(f: Mapping[str, Any]) -> list[str]:
    others = [item for item in f["baselines"].items() if item[0] != OWN]
    best = min(others, key=lambda item: item[1], default=None)
    return [
        str(f["rows"]),
        str(f["studies"]),
        _percent(f["inside"]),
        _percent(f["row_out"]),
        _percent(f["few"]),
        _percent(f["few_studies"]),
        _percent(f["row_out_covered"]),
        _percent(f["few_covered"]),
        _number(f["rank"]),
        _number(f["rank_all_pairs"]),
        _percent(f["within_two"]),
        _percent(f["zero_covered"]),
        "-" if best is None else f"{best[0].replace('_', ' ')} {_percent(best[1])}",
    ]


def page(
    whole: Mapping[str, Mapping[str, Any]],
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]],
    worst: Sequence[Mapping[str, Any]],
    unseen: Sequence[str],
) -> str:
    """Compose the page.

    whole: figures of all rows, by kind of figure.  groups: title -> name -> figures.  worst: rows with their reasons.
    unseen: paths and workloads that no study has a row of.
    """
    lines = [
        "# How far the predictions can be trusted",
        "",
        "Written by `vmodel validate -o docs/accuracy.md` from the studies in `calibration/`; do not edit.",
        "",
        "*In sample*: median absolute error of the rows that a profile was fitted to. *Row out*: the same for rows",
        "(and their repeats) that the fit had not seen. *Five rows*: as `vmodel fit --prior generic` does it, five",
        "rows of the study, spread over it, are given, and the rest is predicted; three draws of five. *Median study*:",
        "the median of the studies' medians, in which a study of many rows counts as one of few. *Zero rows*: the same",
        "with nothing given. *Covered*: the share of measured values inside their 90 % interval, whose model error is",
        "what the other studies were missed by. *Rank*: median of Kendall's tau of configurations within a study, from",
        "five rows, over the pairs that the measurements tell apart: repeats are pooled, and a pair that differs by",
        "less than twice the standard error of its difference (repeats, stated spread) has no order to be told. *All",
        "pairs*: the same with those. *Best baseline*: of nearest row, affine law per series (both from the same five",
        "rows), and a Gaussian process and boosted trees that also see all other studies. *Learned population*: this",
        "model with the prior that `fit --pool` learns from all other studies in place of what `generic` assumes.",
        "",
        "## All rows",
        "",
        *_table(("figure", *HEAD), [[name, *_cells(f)] for name, f in whole.items()]),
        "Baselines from the same five rows:",
        "",
        *_baselines(whole),
    ]
    for title, table in groups.items():
        lines += [f"## By {title}", "", *_table((title, *HEAD), [[n, *_cells(f)] for n, f in table.items()])]
    lines += [
        "## Worst rows of each study",
        "",
        "In sample, one row of each series, with the reason as far as known.",
        "",
    ]
    lines += _table(
        ("study", "row", "measured", "predicted", "error", "reason"),
        [[w["study"], w["id"], w["measured"], w["predicted"], w["error"], w["reason"]] for w in worst],
    )
    lines += ["## Where not to use the model", ""]
    lines += _advice(groups.get("path and workload", {}), unseen)
    return "\n".join(lines).rstrip() + "\n"


def _baselines(whole: Mapping[str, Mapping[str, Any]]) -> list[str]:
    names = sorted({n for f in whole.values() for n in f["baselines"]})
    rows = [[kind, _percent(f["few"]), *(_percent(f["baselines"].get(n)) for n in names)] for kind, f in whole.items()]
    return _table(("figure", "this model", *(n.replace("_", " ") for n in names)), rows)


def _advice(kinds: Mapping[str, Mapping[str, Any]], unseen: Sequence[str]) -> list[str]:
    tests: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], str]], ...] = (
        (
            lambda f: f["few"] is not None and f["few"] > TOO_FAR,
            lambda f: f"five rows leave a median error of {_percent(f['few'])}: measure more, or take the order only",
        ),
        (
            lambda f: f["few_covered"] is not None and f["few_covered"] < TOO_FEW_COVERED,
            lambda f: f"only {_percent(f['few_covered'])} of the intervals held: widen them",
        ),
        (
            lambda f: f["rank"] is not None and f["rank"] < 0.5,
            lambda f: f"the order of configurations is hardly told (tau {_number(f['rank'])})",
        ),
    )
    lines = []
    for name, f in kinds.items():
        if f["rows"] >= ENOUGH:
            lines += [f"- `{name}`: {say(f)}." for test, say in tests if test(f)]
    few = [f"`{name}`" for name, f in kinds.items() if f["rows"] < ENOUGH]
    if few:
        lines.append(f"- Fewer than {ENOUGH} rows stand behind {', '.join(few)}.")
    if unseen:
        lines.append(f"- No row was ever compared of {', '.join(f'`{n}`' for n in unseen)}: assumed costs only.")
    return lines or ["Nowhere that was measured."]
