"""Findings as lines for a person and as the JSON record."""

import textwrap
from collections.abc import Sequence
from typing import Any

from vmodel.errors import one_line
from vmodel.lint.rules import RULES
from vmodel.lint.sheet import ERROR, Finding, Gain, Sheet
from vmodel.report.tables import markdown
from vmodel.report.text import question

WRAP = 110
FACTOR_DIGITS = 3
KEPT_DIGITS = 12


def gain_text(gain: Gain) -> str:
    """A predicted gain with its interval."""
    low, high = (f"{x:.{FACTOR_DIGITS}g}" for x in (gain.interval.low, gain.interval.high))
    now, then = gain.quantity.write(gain.now), gain.quantity.write(gain.then)
    sure = "" if gain.interval.low > 1 else "; not certain"
    factor = f"{gain.factor:.{FACTOR_DIGITS}g} times better (90 %: {low} to {high}{sure})"
    return f"{gain.quantity.name} ({gain.workload}) {now} to {then}, {factor}"


def finding_lines(one: Finding) -> list[str]:
    """One finding: severity, rule, text, then evidence, gain and what mends it."""
    lines = textwrap.wrap(one_line(f"{one.severity}: {one.rule}: {one.text}"), WRAP, subsequent_indent="  ")
    lines += [f"  because {one_line(told)}" for told in one.evidence]
    if one.gain is not None:
        lines.append(f"  predicted: {gain_text(one.gain)}")
    lines += [f"  mend: {one.mend[0]}", *(f"        {line}" for line in one.mend[1:])] if one.mend else []
    return lines


def lint_lines(sheet: Sheet, found: Sequence[Finding], notes: Sequence[str]) -> list[str]:
    """All findings."""
    s = sheet.scenario
    asked = "path not known (--path): findings without predicted gain" if s is None else question(s)
    lines = [f"{len(sheet.sources)} file{'' if len(sheet.sources) == 1 else 's'}; {asked}"]
    lines += [f"  {one_line(note)}" for note in dict.fromkeys((*(() if s is None else s.notes), *notes))]
    for one in found:
        lines += ["", *finding_lines(one)]
    counts = {level: sum(one.severity == level for one in found) for level in ("error", "warning", "info")}
    summary = ", ".join(f"{n} {level}{'' if n == 1 or level == 'info' else 's'}" for level, n in counts.items())
    return [*lines, "", summary if found else "nothing found"]


def _number(value: float) -> float | None:
    return float(f"{value:.{KEPT_DIGITS}g}") if abs(value) < float("inf") else None


def _gain_json(gain: Gain | None) -> dict[str, Any] | None:
    if gain is None:
        return None
    return {
        "quantity": gain.quantity.name,
        "workload": gain.workload,
        "now": _number(gain.now),
        "then": _number(gain.then),
        "factor": _number(gain.factor),
        "interval90": [_number(gain.interval.low), _number(gain.interval.high)],
    }


def lint_json(sheet: Sheet, found: Sequence[Finding], notes: Sequence[str]) -> dict[str, Any]:
    """The record of `lint --json`; quantities in SI units."""
    s = sheet.scenario
    return {
        "files": [{"file": source.file, "tool": source.tool} for source in sheet.sources],
        "path": None if s is None else s.path,
        "topology": None if s is None else s.topology,
        "profile": None if s is None else s.profile.name,
        "settings": {name: s.knobs[name] for name in sheet.given if name in s.knobs} if s is not None else {},
        "findings": [
            {
                "rule": one.rule,
                "severity": one.severity,
                "text": one.text,
                "evidence": list(one.evidence),
                "gain": _gain_json(one.gain),
                "mend": list(one.mend),
            }
            for one in found
        ],
        "errors": sum(one.severity == ERROR for one in found),
        "notes": list(notes),
    }


def rules_markdown() -> list[str]:
    """The table of rules for the documentation."""
    rows = [(f"`{rule.name}`", (rule.look.__doc__ or "").strip(), rule.why, rule.source) for rule in RULES]
    return markdown(rows, ("rule", "what it finds", "why", "source"))
