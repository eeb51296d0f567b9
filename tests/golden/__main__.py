"""`python -m tests.golden` freezes what the model says now. Look at the difference before committing it."""

import json
from pathlib import Path

from tests.golden.cases import answers

FILE = Path(__file__).with_name("predictions.json")

if __name__ == "__main__":
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in answers().items())
    FILE.write_text("{\n" + rows + "\n}\n", encoding="utf-8")
