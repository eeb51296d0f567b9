"""`python -m tests.schemas` writes the JSON Schemas that ship beside the tables they are made of."""

import json
from pathlib import Path

from vmodel.cli.schemas import MADE, schema_of

FOLDER = Path(__file__).resolve().parents[1] / "vmodel" / "library" / "schemas"

if __name__ == "__main__":
    for name in (name for name in MADE if name != "fleet"):  # that one ships beside its reader
        text = json.dumps(schema_of(name), indent=1, ensure_ascii=False) + "\n"
        (FOLDER / f"{name}.schema.json").write_text(text, encoding="utf-8")
