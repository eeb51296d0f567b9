"""From a text to the options of a QEMU command line, as shells, logs, ps and /proc/PID/cmdline write it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vmodel.ingest.ethtool_facts import switch
from vmodel.ingest.given import words
from vmodel.ingest.result import refusal

BINARY = re.compile(r"(?:[^\s=]{0,300}/)?(?:qemu-system-[a-z0-9_]{1,20}|qemu-kvm|qemu-x86_64|kvm|qemu)(?:\.exe)?")
SURE = re.compile(r"(?:[^\s=]{0,300}/)?(?:qemu-system-[a-z0-9_]{1,20}|qemu-kvm)(?:\.exe)?")
QUOTED = {"'": re.compile(r"'([^']*)'"), '"': re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)}
PLAIN = re.compile(r"[^\s'\"\\]+")
CONTINUED = re.compile(r"\\[ \t]*\n")
UNESCAPED = re.compile(r'\\([\\"$`\n])')
MOST_BYTES = 1 << 20
MOST_WORDS = 20_000
MOST_PARTS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option with its argument as text and as properties."""

    name: str
    text: str
    properties: dict[str, str | bool]

    def get(self, *names: str) -> str | None:
        """The text of the first property that is given."""
        for name in names:
            value = self.properties.get(name)
            if value is not None:
                return ("on" if value else "off") if isinstance(value, bool) else value
        return None

    def on(self, name: str) -> bool | None:
        """A switch: on, yes, true, 1 or the bare name; None if it is not given."""
        value = self.get(name)
        if value is None:
            return None
        found = {"1": True, "0": False}.get(value, switch(value))
        if found is None:
            raise refusal(f'{self.name} {self.label}: {name} = "{words(value, 40)}": expected on or off')
        return found

    def number(self, name: str) -> int | None:
        """A whole number; None if it is not given."""
        value = self.get(name)
        if value is None:
            return None
        if not value.isascii() or not value.isdigit() or len(value) > 9:
            raise refusal(f"{self.name} {self.label}: {name}={words(value, 40)} is not a whole number")
        return int(value)

    @property
    def label(self) -> str:
        """How an error line calls it."""
        return words(self.get("id") or self.get("driver") or self.get("type") or self.text, 60)


IMPLIED = {"netdev": "type", "net": "type", "nic": "type", "device": "driver", "smp": "cpus", "machine": "type",
           "M": "type", "accel": "accel", "chardev": "backend", "name": "guest", "m": "size"}  # fmt: skip
WITHOUT = ("enable-kvm", "nodefaults", "no-user-config", "nographic", "S", "daemonize", "snapshot", "no-hpet", "usb",
           "no-acpi", "no-shutdown", "no-reboot", "preconfig", "s", "version", "help", "h", "full-screen")  # fmt: skip


def split(text: str) -> tuple[list[str], list[str]]:
    """The words of a command line, and notes; quotes, continued lines, comments, NULs, and JSON without its quotes."""
    if len(text) > MOST_BYTES:
        raise refusal(f"a command line of {len(text)} characters, expected at most {MOST_BYTES}")
    notes: list[str] = []
    if "\0" in text:
        return [word for part in text.split("\0") if (word := part.strip("\n"))][:MOST_WORDS], notes
    lines = text.split("\n")
    kept = [line for line in lines if not line.lstrip().startswith("#")]
    if len(kept) < len(lines) and any(line.lstrip().startswith("#") and not line.startswith("#!") for line in lines):
        notes.append("comment line ignored; in a real shell a comment between continued lines ends the command")
    found = list(_words(CONTINUED.sub(" ", "\n".join(kept))))
    if len(found) > MOST_WORDS:
        raise refusal(f"a command line of more than {MOST_WORDS} words")
    return found, notes


def _words(text: str) -> Iterator[str]:
    decoder = json.JSONDecoder()
    at, length, made = 0, len(text), 0
    while at < length and made <= MOST_WORDS:
        if text[at].isspace():
            at += 1
            continue
        start, parts = at, []
        if text[at] == "{":  # JSON that lost its quotes in ps
            try:
                value, at = decoder.raw_decode(text, at)
                made += 1
                yield json.dumps(value)
                continue
            except (ValueError, RecursionError):
                at = start
        while at < length and not text[at].isspace():
            quote = text[at]
            if quote == "\\":
                parts.append(text[at + 1 : at + 2])
                at += 2
                continue
            found = QUOTED[quote].match(text, at) if quote in QUOTED else PLAIN.match(text, at)
            if found is None:  # a quote that is never closed is a character
                parts.append(quote)
                at += 1
                continue
            inner = found[1] if quote in QUOTED else found[0]
            parts.append(UNESCAPED.sub(r"\1", inner) if quote == '"' else inner)
            at = found.end()
        made += 1
        yield "".join(parts)


def options(parts: list[str]) -> list[Option]:
    """The options behind the name of the program; a word that is no option belongs to the one before."""
    out: list[Option] = []
    at = 0
    while at < len(parts):
        word = parts[at]
        at += 1
        if not re.fullmatch(r"--?[A-Za-z][A-Za-z0-9-]{0,40}", word):
            continue
        name = word.lstrip("-")
        argument = ""
        if name not in WITHOUT and at < len(parts) and not re.fullmatch(r"--?[A-Za-z][A-Za-z-]{1,40}", parts[at]):
            argument = parts[at]
            at += 1
        out.append(Option(name=name, text=argument, properties=properties(argument, IMPLIED.get(name, ""))))
    return out


def properties(text: str, implied: str) -> dict[str, str | bool]:
    """key=value pairs separated by commas, where two commas are one, or the same as JSON."""
    if text.startswith("{"):
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            raise refusal(f'option "{words(text, 40)}": expected JSON') from None
        return {str(k): v if isinstance(v, bool) else words(_scalar(v), 400) for k, v in body.items()}
    out: dict[str, str | bool] = {}
    for place, part in enumerate(_commas(text)):
        key, equals, value = part.partition("=")
        if equals:
            out[key.strip()] = value
        elif place == 0 and implied:
            out[implied] = part
        elif part:
            out[part.strip()] = True
    return out


def _scalar(value: Any) -> str:
    if isinstance(value, list):
        return ":".join(_scalar(item) for item in value[:MOST_PARTS] if isinstance(item, (str, int, float)))
    return str(value) if isinstance(value, (str, int, float)) else ""


def _commas(text: str) -> list[str]:
    return [part.replace("\0", ",") for part in text.replace(",,", "\0").split(",")][:MOST_PARTS]
