"""XML from strangers: defusedxml without document types, within limits of size, depth and number of elements."""

import io
from xml.etree.ElementTree import Element, ParseError

from vmodel.errors import DatasetError
from vmodel.ingest.given import words
from vmodel.ingest.result import refusal
from vmodel.units import BYTES_PER_MIB

MOST_BYTES = 8 * BYTES_PER_MIB
MOST_DEPTH = 200
MOST_ELEMENTS = 200_000


def parsed(data: bytes) -> Element:
    """The root element; raises DatasetError for HTML, document types, damage, and more than a domain can need."""
    from defusedxml.common import DefusedXmlException  # only XML pays for loading it
    from defusedxml.ElementTree import iterparse

    data = data.strip()
    if len(data) > MOST_BYTES:
        raise refusal(f"XML of {len(data)} bytes, expected at most {MOST_BYTES}")
    head = data[:400].lower()
    if b"<html" in head or b"<!doctype html" in head:
        raise refusal("this is HTML, not a libvirt domain")
    open_tags: list[str] = []
    elements = 0
    root: Element | None = None
    try:
        for event, element in iterparse(io.BytesIO(data), events=("start", "end"), forbid_dtd=True):
            if event == "end":
                open_tags.pop()
                continue
            root = element if root is None else root
            open_tags.append(str(element.tag))
            elements += 1
            if len(open_tags) > MOST_DEPTH:
                raise refusal(f"XML nested more than {MOST_DEPTH} deep: no libvirt domain is")
            if elements > MOST_ELEMENTS:
                raise refusal(f"XML with more than {MOST_ELEMENTS} elements: no libvirt domain has so many")
    except DefusedXmlException:
        raise refusal("XML with a DOCTYPE or entity declaration is refused") from None
    except ParseError as error:
        raise refusal(_damage(data, open_tags, error)) from None
    except DatasetError:
        raise
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        raise refusal(f"XML that cannot be decoded ({words(str(error), 80)})") from None
    if root is None:
        raise refusal("expected XML with a root element")
    return root


def _damage(data: bytes, open_tags: list[str], error: ParseError) -> str:
    """What is wrong with a text that is not well-formed."""
    line = error.position[0] if hasattr(error, "position") else 0
    if "junk after document element" in str(error):
        return f"more than one root element (line {line}), as of two virsh dumpxml outputs in one file: split them"
    if data[-1:] != b">" or "no element found" in str(error) or "unclosed token" in str(error):
        inside = f"ends inside <{words(open_tags[-1], 40)}>" if open_tags else "ends early"
        return f"not well-formed XML ({inside}): the file was cut off"
    return f"not well-formed XML (line {line}: {words(str(error), 80)})"
