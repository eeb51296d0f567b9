"""Settings from the outputs of configuration tools (`--from`), below what flags and a configuration file say."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vmodel.errors import ConfigError
from vmodel.ingest.scenario import Part, combine, read_files, shown

if TYPE_CHECKING:
    from vmodel.cli.options import Question


def read_into(question: "Question", files: Sequence[str], pick: Sequence[str]) -> tuple[Part, ...]:
    """Put the settings of the files into a question; what is set already stays.  Returns what was read."""
    try:
        parts = read_files(files, tuple(pick))
    except ConfigError as error:
        question.faults.extend(error.faults)
        question.unread = True
        return ()
    found = combine(parts)
    question.outputs = True
    question.notes.extend(found.notes)
    for name, origin in found.origins.items():
        if name in question.settings:
            place = ": ".join(part for part in question.places[name] if part)
            question.notes.append(f"{name}: {place} goes before {origin.place}, which says {shown(origin.value)}")
        else:
            question.put(name, origin.value, origin.file, origin.key)
            question.files[name] = (origin.place, shown(origin.value))
    return parts
