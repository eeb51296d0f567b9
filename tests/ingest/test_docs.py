"""docs/ingest.md lists the readers and keys there are; `python -m tests.ingest.test_docs` renders its tables."""

import re
from pathlib import Path

from vmodel.ingest import keys
from vmodel.ingest.read import READERS

DOCS = Path(__file__).resolve().parents[2] / "docs" / "ingest.md"


def reader_table():
    lines = ["| `--tool` | form |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{reader.tool}` | {reader.form} |" for reader in READERS)]) + "\n"


def key_table(table):
    lines = ["| key | unit | meaning | tools |", "|---|---|---|---|"]
    return "\n".join([*lines, *(f"| `{k.name}` | {k.unit} | {k.about} | {k.tools} |" for k in table)]) + "\n"


TABLES = {
    "readers": reader_table(),
    "observation keys": key_table(keys.OBSERVATION),
    "configuration keys": key_table(keys.CONFIGURATION),
}


def place(name):
    return re.compile(rf"(<!-- {name}: [^\n]*-->\n)(.*?)(<!-- end -->)", re.DOTALL)


def test_the_tables_are_those_of_the_program():
    text = DOCS.read_text("utf-8")
    for name, table in TABLES.items():
        assert place(name).search(text)[2] == table, name


def test_no_key_is_described_twice():
    for table in (keys.OBSERVATION, keys.CONFIGURATION):
        names = [key.name for key in table]
        assert sorted(set(names)) == sorted(names)


if __name__ == "__main__":
    body = DOCS.read_text("utf-8")
    for name, table in TABLES.items():
        body = place(name).sub(lambda found, t=table: found[1] + t + found[3], body)
    DOCS.write_text(body, "utf-8")
