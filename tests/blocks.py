"""Blocks of a Markdown page, run: `sh` and `python` blocks must succeed, `console` blocks print what they show."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
FIGURE = re.compile(rf"({NUMBER.pattern})( %)?")
FILL = re.compile(r"[-─█|]{2,}|\s+")  # lines, bars and gaps of any length
TOLERANCE = 0.15  # a refit moves answers a little; what the text says stays true
POINTS = 5.0  # shares are compared in points of a per cent
TIMEOUT_S = 600


def environment(folder, home):
    """Where `vmodel` and `python` are those of this interpreter and of the checkout at home."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    for name, words in (("vmodel", "-m vmodel "), ("python", "")):
        command = bin_folder / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n', encoding="utf-8")
        command.chmod(0o755)
    paths = (str(home), os.environ.get("PYTHONPATH", ""))
    return {
        **os.environ,
        "PATH": os.pathsep.join((str(bin_folder), os.environ.get("PATH", os.defpath))),
        "PYTHONPATH": os.pathsep.join(p for p in paths if p),
        "MPLCONFIGDIR": str(folder / "matplotlib"),
        "PYTHONIOENCODING": "utf-8",
        "OPENBLAS_NUM_THREADS": "1",
    }


def run(arguments, folder, home=HOME):
    """Run a command in the folder's `work`; returns what it printed."""
    place = folder / "work"
    place.mkdir(exist_ok=True)
    ran = subprocess.run(
        arguments,
        cwd=place,
        env=environment(folder, home),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert ran.returncode == 0, f"{arguments[-1]}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def commands(text):
    """Command -> the lines printed after it, in order."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def words(line):
    """A line without its numbers, bars and gaps."""
    return FILL.sub(" ", NUMBER.sub("0", line)).strip()


def agrees(expected, line, tolerance):
    """Whether a printed line says what is expected, numbers within the tolerance."""
    if words(expected) != words(line):
        return False
    pairs = zip(FIGURE.findall(expected), FIGURE.findall(line), strict=True)
    return all(
        abs(float(a) - float(b)) <= max(tolerance * float(a), POINTS if percent else 0.0)
        for (a, percent), (b, _) in pairs
    )


def matched(expected, printed, tolerance=TOLERANCE):
    """The printed line for each expected one, in order; None for those that are not there."""
    out, start = [], 0
    for line in expected:
        places = [i for i, p in enumerate(printed) if i >= start and agrees(line, p, tolerance)]
        if line == "..." or not line:
            out.append(line)
        elif places:
            out.append(printed[places[0]])
            start = places[0] + 1
        else:
            out.append(None)
    return out


def check(text, folder, home=HOME):
    """Run every block of a text, one after the other; `toml` must parse, `text` is not looked at."""
    for kind, body in BLOCK.findall(text):
        if kind == "sh":
            run(["sh", "-euc", body], folder, home)
        elif kind == "python":
            run([sys.executable, "-W", "error", "-c", body], folder, home)
        elif kind == "toml":
            tomllib.loads(body)
        elif kind == "console":
            for command, expected in commands(body):
                printed = run(["sh", "-euc", command], folder, home).splitlines()
                missing = [e for e, m in zip(expected, matched(expected, printed), strict=True) if m is None]
                assert missing == [], "\n".join([command, *printed])
        else:
            assert kind == "text"


def refreshed(text, folder, home=HOME):
    """The text with what its `console` blocks print now; lines that are printed no longer are told and kept."""
    for kind, block in BLOCK.findall(text):
        if kind == "sh":
            run(["sh", "-euc", block], folder, home)
        elif kind == "console":
            lines = []
            for command, expected in commands(block):
                printed = run(["sh", "-euc", command], folder, home).splitlines()
                found = matched(expected, printed, tolerance=1e9)
                gone = [e for e, m in zip(expected, found, strict=True) if m is None]
                if gone:
                    sys.stderr.write(f"{command}\n  no longer prints: {gone}\n  printed:\n" + "\n".join(printed) + "\n")
                lines += [f"$ {command}", *(e if m is None else m for e, m in zip(expected, found, strict=True))]
            text = text.replace(block, "\n".join(lines) + "\n")
    return text
