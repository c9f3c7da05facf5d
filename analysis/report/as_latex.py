"""Pages as LaTeX for a paper: tables of booktabs, numbers of siunitx, no preamble."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .caution import Caution
from .model import Block, Cell, Command, Figure, Page, Section, Sentence, Table
from .tex import escaped, numeral

__all__ = ["render"]

_LONGEST = 45  # rows that fit on a page; longer tables go on over pages
_MANY = 7  # columns of a table that leave little room for sentences
_BROKEN = 24  # characters of a cell from which on it is broken into lines
_HEAD = r"""% Needs in the preamble:  \usepackage{array,booktabs,graphicx,longtable,siunitx}
% Read by:                \input{report}   (letters beyond Latin need XeLaTeX or LuaLaTeX)
\providecommand{\ftUnicode}[2]{\ifdefined\XeTeXversion#1\else\ifdefined\directlua#1\else[U+#2]\fi\fi}"""
_PLAIN = re.compile(r"([-+]?)(\d+)(?:\.(\d+))?")
# a table that is wider than the line is made as wide as that
_NARROWED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_ALIGN = {"left": "l", "right": "r"}


def render(page: Page) -> str:
    """Set a page as a fragment that a paper reads with its command ``input``.

    A column of plain numbers is aligned at their points; quantities stand as ``SI``, so that the
    paper's own settings of siunitx hold. No name in it is a command. Pictures are left out.
    """
    parts = [_HEAD, rf"\section*{{{escaped(page.title)}}}"]
    parts += [part for section in page.sections for part in _section(section, 0, "")]
    parts += _cautions(page.cautions)
    parts += [part for section in page.following for part in _section(section, 0, "")]
    return "\n\n".join(parts) + "\n"


def _section(section: Section, depth: int, above: str) -> Iterator[str]:
    if section.title:
        level = ("subsection*", "subsubsection*", "paragraph")[min(depth, 2)]
        yield rf"\{level}{{{escaped(section.title)}}}"
    title = section.title or above
    for block in section.blocks:
        yield from _block(block, depth + bool(section.title), title)


def _block(block: Block, depth: int, title: str) -> Iterator[str]:
    match block:
        case Sentence(text=text):
            yield f"{{}}{escaped(text)}" if text.startswith("[") else escaped(text)
        case Command(line=line):
            yield rf"\noindent\texttt{{{escaped(line)}}}\par"
        case Table():
            yield _table(block, title)
        case Section():
            yield from _section(block, depth, title)
        case Figure():
            return


def _table(table: Table, title: str) -> str:
    kinds = [_kind(table, k) for k in range(len(table.columns))]
    caption = rf"\caption{{{escaped(title or table.name)}}}"
    label = rf"\label{{tab:ft-{re.sub('[^A-Za-z0-9]+', '-', table.name).strip('-')}}}"
    head = []
    if table.headed:
        headings = (f"{{{escaped(column.heading)}}}" for column in table.columns)
        head = [_row(headings), r"\midrule"]
    body = []
    for k, row in enumerate(table.rows):
        body.append(_row(_cell(cell, kind) for cell, kind in zip(row, kinds, strict=True)))
        if table.notes and table.notes[k]:
            width = len(table.columns)
            body.append(_row([rf"\multicolumn{{{width}}}{{l}}{{{escaped(table.notes[k])}}}"]))
    columns = "".join(kinds)
    small = r"\footnotesize\setlength{\tabcolsep}{3pt}"
    if len(body) > _LONGEST:
        lines = [
            f"{{{small}",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"{caption}{label}\\",
            r"\toprule",
            *head,
            r"\endhead",
            *body,
            r"\bottomrule",
            r"\end{longtable}}",
        ]
    else:
        lines = [
            r"\begin{table}[htbp]",
            rf"\centering{small}",
            f"{caption}{label}",
            _NARROWED,
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *head,
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
    return "\n".join(lines)


def _kind(table: Table, k: int) -> str:
    """Give a column's type: numbers are aligned at their points if all are plain, sentences broken."""
    texts = [cell for row in table.rows if isinstance(cell := row[k], str)]
    if max(map(len, texts), default=0) > _BROKEN:
        share = 0.2 if len(table.columns) > _MANY else 0.3
        return rf">{{\raggedright\arraybackslash}}p{{{share}\linewidth}}"
    numbers = [row[k].text for row in table.rows if not isinstance(row[k], str)]  # type: ignore[union-attr]
    found = [match for text in numbers if (match := _PLAIN.fullmatch(text))]
    if not found or any(text and not _PLAIN.fullmatch(text) for text in numbers):
        return _ALIGN[table.columns[k].align]
    whole = max(len(match[2]) for match in found)
    parts = max(len(match[3] or "") for match in found)
    sign = "-" if any(match[1] == "-" for match in found) else ""
    return f"S[table-format={sign}{whole}.{parts}]"


def _cell(cell: Cell, kind: str) -> str:
    if isinstance(cell, str):
        # braces keep a text out of siunitx, and "[" from being an option of the line's end
        return f"{{{escaped(cell)}}}"
    if kind.startswith("S"):
        return cell.text or "{}"
    return numeral(cell.text)


def _row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cautions(cautions: Iterable[Caution]) -> list[str]:
    said = [rf"\item {{}}{escaped(caution.text)}" for caution in cautions]
    if not said:
        return []
    return ["\n".join([r"\subsection*{Cautions}", r"\begin{enumerate}", *said, r"\end{enumerate}"])]
