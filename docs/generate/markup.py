"""Markdown and MathML of the generated pages: tables, links from page to page, formulas. Knows nothing of the model."""

import posixpath
import re
from collections.abc import Iterable, Sequence

import sympy
from sympy.printing.mathml import MathMLPresentationPrinter


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; cells are Markdown already."""
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(cell or '–' for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def plain(text: object) -> str:
    """Text on one line in which Markdown sees nothing to act upon."""
    words = " ".join(str(text).split())
    return "".join(f"\\{c}" if c in "\\`*_[]<>#|" else c for c in words)


def code(text: object) -> str:
    """Text as it is typed."""
    words = " ".join(str(text).split()).replace("|", "&#124;")
    return f"<code>{words.replace('<', '&lt;')}</code>" if "&#124;" in words or "`" in words else f"`{words}`"


def codes(texts: Iterable[object]) -> str:
    """Several texts as they are typed."""
    return ", ".join(code(text) for text in texts)


def prose(text: str, arguments: Iterable[str] = ()) -> str:
    """A docstring as Markdown: code marks are kept, arguments become a list, returns and raises paragraphs."""
    name = "|".join(map(re.escape, arguments))
    argument = re.compile(rf"(?:^|\s)((?:{name})(?:(?: and | or |, )(?:{name}))*): ") if name else None
    paragraphs = []
    for paragraph in text.split("\n\n"):
        one = " ".join(paragraph.split())
        if argument:
            one = argument.sub(lambda m: f"\n- `{m[1]}`: ", one)
        one = re.sub(r"\s(?=(?:Returns|Raises) )", "\n\n", one)
        pieces = re.split(r"(`[^`]+`|\n- |\n\n)", one)
        paragraphs.append("".join(p if p[:1] in "`\n" else _inside(p) for p in pieces))
    return "\n\n".join(paragraphs) + "\n"


def _inside(text: str) -> str:
    """Plain text that keeps a space at either end."""
    return f"{' ' * text.startswith(' ')}{plain(text)}{' ' * (text.endswith(' ') and bool(text.strip()))}"


def block(text: str, language: str = "text") -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```\n"


def anchor(name: str) -> str:
    """The address of a name within a page: as it is, since names here are unique in their page."""
    return name.lower()


def marked(name: str) -> str:
    """A name as code that links may point to."""
    return f"`{name}`{{ #{anchor(name)} }}"


def link(here: str, text: str, page: str, name: str = "") -> str:
    """A link from one page to another, or to a name in it."""
    target = posixpath.relpath(page, posixpath.dirname(here) or ".")
    return f"[{text}]({target}{'#' + anchor(name) if name else ''})"


class _Paper(MathMLPresentationPrinter):
    """Formulas whose names stay whole: `cold_copy_bytes_s` is one word, not a letter with indices."""

    def _print_Symbol(self, sym, style="plain"):
        identifier = self.dom.createElement("mi")
        identifier.appendChild(self.dom.createTextNode(sym.name))
        return identifier

    def _print_Max(self, expr):
        return self._called("max", expr)

    def _print_Min(self, expr):
        return self._called("min", expr)

    def _called(self, name, expr):
        row = self.dom.createElement("mrow")
        word = self.dom.createElement("mi")
        word.appendChild(self.dom.createTextNode(name))
        row.appendChild(word)
        row.appendChild(self._operator("("))
        for place, argument in enumerate(expr.args):
            if place:
                row.appendChild(self._operator(","))
            row.appendChild(self._print(argument))
        row.appendChild(self._operator(")"))
        return row

    def _operator(self, text):
        operator = self.dom.createElement("mo")
        operator.appendChild(self.dom.createTextNode(text))
        return operator


def formula(expression: sympy.Expr) -> str:
    """An expression as MathML, which browsers draw without any script."""
    inner = _Paper({"mul_symbol": "dot"}).doprint(sympy.nsimplify(expression, rational=True))
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mstyle displaystyle="true">{inner}</mstyle></math>'
