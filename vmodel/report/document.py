"""A document of headings, paragraphs, tables, figures and code, written as one HTML file or as Markdown.

Every text is escaped by the writer: what comes from a file never becomes markup. Figures stand inside the file. The
same document gives the same bytes.
"""

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from vmodel.report.tables import markdown


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading; level 1 is the title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Running text."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under heads; `right` has an `r` at the place of each column of numbers."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A figure, in words too for who does not see it. drawn: the bytes of a file of a kind, `svg` or `png`."""

    drawn: Callable[[str], bytes]
    words: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Text that is kept as it is."""

    text: str


Block = Heading | Paragraph | Items | Table | Picture | Code
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!&~$])")
STYLE = """
:root { color-scheme: light; --ink: #1b2430; --soft: #55606e; --line: #d9dee5; --warn: #8a4b00; }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1.25rem; color: var(--ink); background: #fff;
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; letter-spacing: -0.01em; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 0.75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.75rem 0 0.5rem; }
p, li { overflow-wrap: anywhere; }
.warning { border-left: 4px solid var(--warn); background: #fdf3e1; padding: 0.35rem 0.75rem; }
.warning::before { content: "Mind: "; font-weight: 600; color: var(--warn); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin: 0.25rem 0 1rem; }
caption { text-align: left; color: var(--soft); padding-bottom: 0.3rem; }
th, td { text-align: left; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
tbody th { white-space: nowrap; }
thead th { color: var(--soft); font-weight: 500; font-size: 0.87rem; }
td.r, th.r { text-align: right; white-space: nowrap; }
figure { margin: 0.5rem 0 1rem; }
figure img { max-width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: 0.9rem; }
pre { background: #f6f7f9; border: 1px solid var(--line); border-radius: 6px; padding: 0.6rem 0.75rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font: 0.86rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
@media print { body { margin: 0; max-width: none; } h2, figure, tr { break-inside: avoid; } }
"""
MEDIA = {"svg": "image/svg+xml", "png": "image/png"}  # Markdown shows no SVG that stands inside it
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
MOST_HTML_LEVEL = 6


def _source(p: Picture, kind: str) -> str:
    return f"data:{MEDIA[kind]};base64," + base64.b64encode(p.drawn(kind)).decode("ascii")


def _kind(right: str, column: int) -> str:
    return ' class="r"' if column < len(right) and right[column] == "r" else ""


def _html_table(t: Table) -> str:
    heads = "".join(f'<th scope="col"{_kind(t.right, i)}>{escape(head)}</th>' for i, head in enumerate(t.heads))
    body = ""
    for row in t.rows:
        first = f'<th scope="row"{_kind(t.right, 0)}>{escape(row[0])}</th>'
        rest = "".join(f"<td{_kind(t.right, i)}>{escape(cell)}</td>" for i, cell in enumerate(row) if i)
        body += f"<tr>{first}{rest}</tr>\n"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(t.caption)}"><table>'
        f"<caption>{escape(t.caption)}</caption><thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"
    )


def _html_block(block: Block) -> str:
    if isinstance(block, Heading):
        level = min(block.level, MOST_HTML_LEVEL)
        return f"<h{level}>{escape(block.text)}</h{level}>"
    if isinstance(block, Paragraph):
        return f'<p class="warning">{escape(block.text)}</p>' if block.warning else f"<p>{escape(block.text)}</p>"
    if isinstance(block, Items):
        return "<ul>\n" + "".join(f"<li>{escape(text)}</li>\n" for text in block.texts) + "</ul>"
    if isinstance(block, Table):
        return _html_table(block)
    if isinstance(block, Picture):
        image = f'<img src="{_source(block, "svg")}" alt="{escape(block.words)}">'
        return f"<figure>{image}<figcaption>{escape(block.caption)}</figcaption></figure>"
    return f"<pre>{escape(block.text)}</pre>"


def html(blocks: Sequence[Block], version: str) -> str:
    """The document as one HTML file, without scripts and without anything outside itself."""
    title = next((b.text for b in blocks if isinstance(b, Heading)), "vmodel")
    body = "\n".join(_html_block(block) for block in blocks)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="generator" content="vmodel {escape(version)}">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def plain_markdown(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _markdown_block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {plain_markdown(block.text)}"
    if isinstance(block, Paragraph):
        return f"**Mind:** {plain_markdown(block.text)}" if block.warning else plain_markdown(block.text)
    if isinstance(block, Items):
        return "\n".join(f"- {plain_markdown(text)}" for text in block.texts)
    if isinstance(block, Table):
        cells = [[plain_markdown(cell).replace("\\|", "&#124;") for cell in row] for row in block.rows]
        heads = [plain_markdown(head) or "." for head in block.heads]
        return "\n".join([plain_markdown(block.caption) + ":", "", *markdown(cells, heads, block.right)])
    if isinstance(block, Picture):
        return f"![{plain_markdown(block.words)}]({_source(block, 'png')})\n\n{plain_markdown(block.caption)}"
    return _fenced(block.text)


def as_markdown(blocks: Sequence[Block]) -> str:
    """The document as Markdown, figures inside."""
    return "\n\n".join(_markdown_block(block) for block in blocks) + "\n"
