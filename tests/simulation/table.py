"""`python -m tests.simulation.table` writes docs/simulation.md from a run over the grid. It takes some minutes."""

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

from tests.simulation.grid import CASES, KINDS, checked
from vmodel.simulate.check import NOT_PREDICTED, OFF, RARE_LOSS
from vmodel.simulate.known import KNOWN, USUAL
from vmodel.units import US_PER_S

FILE = Path(__file__).resolve().parents[2] / "docs" / "simulation.md"
FIGURES = ("mean", "p50", "p99", "throughput", "loss")
OVER_PATHS = ("mean", "throughput")
HEAD = """# Model against simulation

`vmodel check` runs a scenario in a discrete-event simulation (SimPy) that shares nothing with the model but the stage
times. Resources are first-come first-served servers with a ring of finite length; whoever finds one asleep waits until
it is awake, and so does everybody who comes meanwhile; a NIC keeps its interrupts apart, and all that wait for one come
through together; what a worker pays once a turn, and an end once an interrupt, is paid by the first of those that wait.
Stage times are gamma distributed with the stage's own variability.

This page is written by `python -m tests.simulation.table`: every path on the machine it is best known on, {messages}
messages, seed {seed}. A load is a share of the capacity that the model sees. A gap is the prediction against the
simulation. A figure agrees when the 95 % confidence interval of the simulation holds it, or touches the error that is
stated; **bold** ones do not. A dash: nothing to compare, or a loss below {rare:g} on both sides.

Agreement says that the formulas follow from the stage times, not that the stage times are right: for that see
`vmodel validate`.
"""


def cell(figure):
    if figure is None or figure.verdict == NOT_PREDICTED or figure.gap is None:
        return "-"
    if figure.name == "loss" and max(figure.predicted, figure.simulated) < RARE_LOSS:
        return "-"
    text = f"{figure.gap * 100:+.1f} %"
    return f"**{text}**" if figure.verdict == OFF else text


def row(path, found):
    figures = {figure.name: figure for figure in found.figures}
    mean = figures["mean"]
    seen = "-" if mean.predicted is None else f"{mean.simulated * US_PER_S:.4g} ± {mean.half_width * US_PER_S:.1g}"
    return f"| {path} | {seen} | " + " | ".join(cell(figures.get(name)) for name in FIGURES) + " |"


def over_paths(name, results):
    gaps = [abs(f.gap) for found in results for f in found.figures if f.name == name and f.gap is not None]
    return f"{median(gaps) * 100:.1f} % | {max(gaps) * 100:.0f} %" if gaps else "- | -"


def page(results, messages, seed):
    lines = [HEAD.format(messages=messages, seed=seed, rare=RARE_LOSS), "## Stated errors", ""]
    lines += ["| where | " + " | ".join(FIGURES) + " | why |", "|---|" + "--:|" * len(FIGURES) + "---|"]
    usual = " | ".join(f"{USUAL[name] * 100:.0f} %" for name in FIGURES)
    lines.append(f"| everywhere else | {usual} | |")
    for known in KNOWN:
        shares = [f"{known.errors[name] * 100:.0f} %" if name in known.errors else "-" for name in FIGURES]
        lines.append(f"| {known.name} | {' | '.join(shares)} | {known.reason} |")
    lines += ["", "## Gaps over all paths", ""]
    lines += ["| workload | mean: median | largest | throughput: median | largest |", "|---|" + "--:|" * 4]
    for kind in KINDS:
        cells = (over_paths(name, [found for (_, k), found in results.items() if k == kind]) for name in OVER_PATHS)
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    for kind in KINDS:
        lines += ["", f"## {kind[0].upper()}{kind[1:]}", ""]
        lines += ["| path | mean, simulated [us] | " + " | ".join(FIGURES) + " |", "|---|" + "--:|" * 6]
        lines += [row(path, found) for (path, k), found in results.items() if k == kind]
    return "\n".join(lines) + "\n"


def main(messages=20_000, seed=1):
    with ProcessPoolExecutor() as pool:
        results = dict(zip(CASES, pool.map(checked, CASES, chunksize=2), strict=True))
    text = page(results, messages, seed)
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
