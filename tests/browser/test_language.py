"""Printed functions, and what Python's words mean in a page, against Python itself."""

import json
from importlib.resources import files

import pytest

from tests.translate import samples
from vmodel.translate.program import Program

SAMPLES = ("arithmetic", "operators", "collections", "truths", "records", "text", "loops", "elementary")
PLAIN = """const plain = (x) => (x instanceof Map ? Object.fromEntries([...x].map(([k, v]) => [k, plain(v)]))
    : Array.isArray(x) ? x.map(plain) : typeof x === "number" && !Number.isFinite(x) ? String(x) : x);"""


def as_json(value):
    """A Python value as JSON has it; infinite numbers as JavaScript writes them."""
    text = json.dumps(value, default=list).replace("-Infinity", '"-Infinity"').replace(" Infinity", ' "Infinity"')
    return json.loads(text)


def close(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if type(a) in (int, float) and type(b) in (int, float):
        return a == pytest.approx(b, rel=1e-12, abs=0.0)
    return a == b


@pytest.mark.parametrize("name", SAMPLES)
def test_printed_functions_mean_what_the_python_means(chromium, name):
    program = Program({}, package="tests").text([("tests.translate.samples", name)])
    page = files("vmodel.report").joinpath("page")
    runtime = "".join(page.joinpath(name).read_text("utf-8") for name in ("python.js", "numbers.js"))
    chromium.get("data:text/html,<title>samples</title>")
    theirs = json.loads(
        chromium.execute_script(
            f"{runtime}\n{program}\n{PLAIN}\nreturn JSON.stringify(plain(translate_samples__{name}()))"
        )
    )
    ours = as_json(getattr(samples, name)())
    assert len(ours) == len(theirs)
    assert [(i, a, b) for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if not close(a, b)] == []
