"""Pages as LaTeX, Markdown and HTML: nothing in their texts is a command."""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape

from ..words import shown
from .model import (
    Block,
    Caution,
    Cell,
    Column,
    CommandLine,
    Figure,
    Next,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    text_of,
)

# --- The tables of a page as CSV: one long table, or one file for each.


_HEADINGS = ("table", "row", "column", "text", "value")


_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet may take for one begins so
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE | re.ASCII)


def guarded(text: str) -> str:
    """Put an apostrophe before what a spreadsheet may take for a formula; plain numbers stay."""
    if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def tables_of(page: Page) -> tuple[Table, ...]:
    """List the tables of a page in its order, each with a name of its own; cautions are the last.

    A table whose name is taken, as those of a second metric are, has a number behind it.
    """
    found = [table for section in (*page.sections, *page.following) for table in _tables(section)]
    if page.cautions:
        found.append(_cautions(page.cautions))
    names = (re.sub("[^A-Za-z0-9]+", "-", table.name).strip("-") or "table" for table in found)
    named = zip(found, _apart(names, "{}-{}"), strict=True)
    return tuple(replace(table, name=name) for table, name in named)


def render(page: Page, *, guard: bool = False) -> str:
    """Set all tables as one: a line for each cell, with what is shown and the number itself.

    The columns are table, row, column, text and value. A row is known by its first cell's text, with
    a number behind it where that stands there before; a column by its heading, with its place where
    that is empty or taken. `value` is empty where a cell stands for no number. With `guard` no text
    is a formula to a spreadsheet (`guarded`).
    """
    lines = [_HEADINGS]
    for table in tables_of(page):
        columns = _columns(table)
        rows = _apart(text_of(row[0]) for row in table.rows)
        for name, row in zip(rows, table.rows, strict=True):
            lines += [
                (table.name, name, column, text_of(cell), _number(cell))
                for column, cell in zip(columns, row, strict=True)
            ]
    return _csv(lines, guard=guard)


def separate(page: Page, *, guard: bool = False) -> Mapping[str, str]:
    """Set each table as a file of its own, under its name: numbers as computed, else texts.

    A column with a number in some cell gives the numbers, empty where there is none; a second one
    gives the texts if any number is written otherwise there.
    """
    return {table.name: _csv(_wide(table), guard=guard) for table in tables_of(page)}


def _tables(block: Block) -> Iterator[Table]:
    if isinstance(block, Table):
        yield block
    elif isinstance(block, Section):
        for inner in block.blocks:
            yield from _tables(inner)


def _cautions(cautions: Iterable[Caution]) -> Table:
    headings = ("number", "code", "about", "caution")
    return Table(
        name="cautions",
        columns=tuple(Column(heading, "left") for heading in headings),
        rows=tuple(
            (Value(f"{k}", k), caution.code, ", ".join(caution.about), caution.text)
            for k, caution in enumerate(cautions, 1)
        ),
    )


def _wide(table: Table) -> Iterator[Sequence[str]]:
    numbered = [
        any(isinstance(row[k], Value) for row in table.rows) for k in range(len(table.columns))
    ]
    columns = _columns(table)
    yield [
        heading
        for column, has in zip(columns, numbered, strict=True)
        for heading in ([column, f"{column} (text)"] if has else [column])
    ]
    for row in table.rows:
        yield [
            text
            for cell, has in zip(row, numbered, strict=True)
            for text in ([_number(cell), text_of(cell)] if has else [text_of(cell)])
        ]


def _columns(table: Table) -> list[str]:
    return _apart(
        shown(column.heading) or ("name" if k == 1 else f"column {k}")
        for k, column in enumerate(table.columns, 1)
    )


def _apart(names: Iterable[str], numbered: str = "{} ({})") -> list[str]:
    """Put a number behind a name that was there before: ``a``, ``a (2)``, ``a (3)``."""
    taken: set[str] = set()
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        text = name
        while text in taken:
            seen[name] += 1
            text = numbered.format(name, seen[name] + 1)
        taken.add(text)
        found.append(text)
    return found


def _number(cell: Cell) -> str:
    """Write a number with all its digits; reading it back gives the same number."""
    return "" if isinstance(cell, str) or cell.value is None else repr(cell.value)


def _csv(lines: Iterable[Sequence[str]], *, guard: bool) -> str:
    file = io.StringIO()
    texts = (map(guarded, line) for line in lines) if guard else lines
    csv.writer(file, lineterminator="\n").writerows(texts)
    return file.getvalue()


_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # a command of babel's in some languages
    "'": r"{'}",  # two of them would be a quotation mark
    "`": r"{`}",
    "-": r"{-}",  # two of them would be a dash
    ",": r"{,}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "×": r"\ensuremath{\times}",
    "±": r"\ensuremath{\pm}",
    "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "≈": r"\ensuremath{\approx}",
    "µ": r"\ensuremath{\mu}",
    "μ": r"\ensuremath{\mu}",
    "·": r"\ensuremath{\cdot}",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "→": r"\ensuremath{\to}",
    "∞": r"\ensuremath{\infty}",
    "²": r"\textsuperscript{2}",
    "’": "'",
    "‘": r"`{}",
    "“": r"``",
    "”": "''",
}
# letters of LaTeX's oldest encoding of fonts, which a paper need not change for us: with one of these
# accents, or whole
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c")
_WHOLE = frozenset("ßæÆœŒøØåÅłŁçÇ§©")
_UNITS = {
    "s": r"\second",
    "ms": r"\milli\second",
    "µs": r"\micro\second",
    "ns": r"\nano\second",
    "%": r"\percent",
    "B": "B",
    "KiB": "KiB",
    "MiB": "MiB",
    "GiB": "GiB",
}
_QUANTITY = re.compile(r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?:\s(\S+))?")


def escaped(text: str) -> str:
    """Escape a text; what pdfLaTeX has no letter for is printed as its number there.

    Each such letter stands as ``ftUnicode{letter}{number}``, a command that the fragment defines.
    """
    joined = re.sub(r"(?<!-)-(?!-)", "\0", shown(text))
    joined = re.sub(r"(?<!,),(?!,)", "\1", joined)  # alone, neither is a ligature
    return "".join(map(_sign, joined))


def _sign(sign: str) -> str:
    if sign in "\0\1":
        return "-" if sign == "\0" else ","
    if sign in _SIGNS:
        return _SIGNS[sign]
    if sign.isascii() or _known(sign):
        return sign
    return rf"\ftUnicode{{{sign}}}{{{ord(sign):04X}}}"


def _known(sign: str) -> bool:
    parts = unicodedata.normalize("NFD", sign)
    accented = len(parts) == 2 and parts[0].isascii() and parts[0].isalpha()
    return sign in _WHOLE or (accented and parts[1] in _ACCENTS)


def numeral(text: str) -> str:
    """Give a number, with or without a unit, to siunitx; what is none is escaped."""
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return f"{{{escaped(text)}}}"
    number, unit = found[1], found[2]
    if unit is None:
        return rf"\num{{{number}}}"
    if unit not in _UNITS:
        return rf"\num{{{number}}}~{escaped(unit)}"
    return rf"\SI{{{number}}}{{{_UNITS[unit]}}}"


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


def render_latex(page: Page) -> str:
    """Set a page as a fragment that a paper reads with its command ``input``.

    A column of plain numbers is aligned at their points; quantities stand as ``SI``, so that the
    paper's own settings of siunitx hold. No name in it is a command. Pictures are left out.
    """
    parts = [_HEAD, rf"\section*{{{escaped(page.title)}}}"]
    parts += [part for section in page.sections for part in _latex_section(section, 0, "")]
    parts += _latex_cautions(page.cautions)
    parts += [part for section in page.following for part in _latex_section(section, 0, "")]
    return "\n\n".join(parts) + "\n"


def _latex_section(section: Section, depth: int, above: str) -> Iterator[str]:
    if section.title:
        level = ("subsection*", "subsubsection*", "paragraph")[min(depth, 2)]
        yield rf"\{level}{{{escaped(section.title)}}}"
    title = section.title or above
    for block in section.blocks:
        yield from _latex_block(block, depth + bool(section.title), title)


def _latex_block(block: Block, depth: int, title: str) -> Iterator[str]:
    match block:
        case Sentence(text=text):
            yield f"{{}}{escaped(text)}" if text.startswith("[") else escaped(text)
        case CommandLine(line=line):
            yield rf"\noindent\texttt{{{escaped(line)}}}\par"
        case Note(text=text):
            yield rf"\emph{{Note:}} {escaped(text)}"
        case Next(line=line, why=why):
            yield rf"\noindent\emph{{Next:}} {escaped(why)} \texttt{{{escaped(line)}}}\par"
        case Table():
            yield _latex_table(block, title)
        case Section():
            yield from _latex_section(block, depth, title)
        case Figure():
            return


def _latex_table(table: Table, title: str) -> str:
    kinds = [_kind(table, k) for k in range(len(table.columns))]
    caption = rf"\caption{{{escaped(title or table.name)}}}"
    label = rf"\label{{tab:ft-{re.sub('[^A-Za-z0-9]+', '-', table.name).strip('-')}}}"
    head = []
    if table.headed:
        headings = (f"{{{escaped(column.heading)}}}" for column in table.columns)
        head = [_latex_row(headings), r"\midrule"]
    body = []
    for k, row in enumerate(table.rows):
        body.append(_latex_row(_cell(cell, kind) for cell, kind in zip(row, kinds, strict=True)))
        if table.notes and table.notes[k]:
            width = len(table.columns)
            body.append(_latex_row([rf"\multicolumn{{{width}}}{{l}}{{{escaped(table.notes[k])}}}"]))
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


def _latex_row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _latex_cautions(cautions: Iterable[Caution]) -> list[str]:
    rows = [rf"\item {{}}{escaped(caution.text)}" for caution in cautions]
    if not rows:
        return []
    return ["\n".join([r"\subsection*{Cautions}", r"\begin{enumerate}", *rows, r"\end{enumerate}"])]


_REST = 400  # characters kept for the line that names what is left out
_RULES = {"left": ":---", "right": "---:"}
# A mark inside a word is a letter: names such as max_rss stay readable. Entities stand for what a
# backslash does not take from every reader: tags, formulas between dollar signs.
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "@": "@<!-- -->"}
_MARKS = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_OPENING = re.compile(r"^(#{1,6}|[-+=]+|\d+[.)])(?=\s|$)|^[-+=_]{2,}")


def render_markdown(page: Page, *, most: int | None = None) -> str:
    """Set a page as GitHub's Markdown.

    The first section and the cautions are seen at once; each further one is folded below its title.
    No name in it makes a table, a tag, a formula or a mention. Pictures are left out.
    """
    first = [f"### {_markdown_text(page.title)}"]
    first += [part for section in page.sections[:1] for part in _markdown_section(section, 4)]
    first += _markdown_cautions(page.cautions)
    last = [part for section in page.following for part in _markdown_section(section, 4)]
    folded: list[str] = []
    left_out: list[str] = []
    room = math.inf if most is None else most - len(_joined([*first, *last])) - _REST
    for section in page.sections[1:]:
        found = _joined(_folded(section))
        if len(found) + 1 > room:
            left_out.append(_markdown_text(section.title) or "a part without a title")
            continue
        room -= len(found) + 1
        folded.append(found.rstrip("\n"))
    if left_out:
        last.append(f"<sub>Left out, because there is no room here: {', '.join(left_out)}</sub>")
    return _joined([*first, *(found for found in folded if found), *last])


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _folded(section: Section) -> Iterator[str]:
    inner = [part for block in section.blocks for part in _markdown_block(block, 4)]
    if not section.title or not inner:
        yield from inner
        return
    yield f"<details><summary>{_html_text(section.title)}</summary>"
    yield from inner
    yield "</details>"


def _markdown_section(section: Section, level: int) -> Iterator[str]:
    if section.title:
        yield f"{'#' * min(level, 6)} {_markdown_text(section.title)}"
    for block in section.blocks:
        yield from _markdown_block(block, level + bool(section.title))


def _markdown_block(block: Block, level: int) -> Iterator[str]:
    match block:
        case Sentence(text=text):
            yield markdown_line(text)
        case CommandLine(line=line):
            yield _fenced(shown(line))
        case Note(text=text):
            yield f"**Note:** {_markdown_text(text)}"
        case Next(line=line, why=why):
            yield f"**Next:** {_markdown_text(why)}".rstrip()
            yield _fenced(line)
        case Table():
            yield _markdown_table(block)
        case Section():
            yield from _markdown_section(block, level)
        case Figure():
            return


def _markdown_table(table: Table) -> str:
    """Set a table; a row's note stands in its first cell, so that every row keeps its columns."""
    heads = [_markdown_text(column.heading) if table.headed else "" for column in table.columns]
    lines = [_markdown_row(heads), _markdown_row(_RULES[column.align] for column in table.columns)]
    for k, row in enumerate(table.rows):
        cells = [_markdown_text(text_of(cell)) for cell in row]
        if table.notes and table.notes[k]:
            cells[0] = f"{cells[0]}<br><sub>{_markdown_text(table.notes[k])}</sub>"
        lines.append(_markdown_row(cells))
    return "\n".join(lines)


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_text(text: str) -> str:
    """Escape a text that stands on one line."""
    marked = _MARKS.sub(lambda found: f"\\{found.group()}", shown(text).strip())
    return re.sub("[&<>$@]", lambda found: _ENTITIES[found.group()], marked)


def markdown_line(text: str) -> str:
    """Clean and escape a text that may begin a line, where some marks would begin a list or a heading."""
    return _OPENING.sub(_opened, _markdown_text(text))


def _opened(found: re.Match[str]) -> str:
    mark = found.group()
    return f"{mark[:-1]}\\{mark[-1]}" if mark[0].isdigit() else f"\\{mark}"


def _fenced(line: str) -> str:
    longest = max((len(ticks) for ticks in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{line}\n{fence}"


def _markdown_cautions(cautions: Iterable[Caution]) -> list[str]:
    texts = [
        f"{number}. {markdown_line(caution.text)}" for number, caution in enumerate(cautions, 1)
    ]
    return ["**Cautions**", "\n".join(texts)] if texts else []


def render_html(page: Page) -> str:
    """Set a page as one ``section`` without scripts, styles of its own or outside requests.

    Headings of columns and rows are marked as such, for those who hear the page. Pictures are left
    out.
    """
    parts = [line for section in page.sections for line in _html_section(section)]
    then = [line for section in page.following for line in _html_section(section)]
    texts = [f"<li>{_html_text(caution.text)}</li>" for caution in page.cautions]
    return "\n".join(
        [
            f'<section aria-label="{_html_text(page.title)}">',
            *parts,
            *(["<p><strong>cautions</strong></p>", "<ol>", *texts, "</ol>"] if texts else []),
            *then,
            "</section>",
        ]
    )


def _html_section(section: Section) -> Iterator[str]:
    if section.title:
        yield f"<p><strong>{_html_text(section.title)}</strong></p>"
    for block in section.blocks:
        yield from _html_block(block)


def _html_block(block: Block) -> Iterator[str]:
    match block:
        case Sentence(text=text):
            yield f"<p>{_html_text(text)}</p>"
        case CommandLine(line=line):
            yield f"<pre><code>{_html_text(line)}</code></pre>"
        case Note(text=text):
            yield f"<p><strong>note</strong> {_html_text(text)}</p>"
        case Next(line=line, why=why):
            yield f"<p><strong>next</strong> {_html_text(why)}</p>"
            yield f"<pre><code>{_html_text(line)}</code></pre>"
        case Table():
            yield from _html_table(block)
        case Section():
            yield from _html_section(block)
        case Figure():
            return


def _html_table(table: Table) -> Iterator[str]:
    sides = [column.align for column in table.columns]
    yield f'<table aria-label="{_html_text(table.name)}">'
    if table.headed:
        heads = zip((column.heading for column in table.columns), sides, strict=True)
        cells = "".join(
            f'<th scope="col" style="text-align: {side}">{_html_text(text)}</th>'
            if text
            else "<td></td>"
            for text, side in heads
        )
        yield f"<thead><tr>{cells}</tr></thead>"
    yield "<tbody>"
    for k, row in enumerate(table.rows):
        first, *others = zip((text_of(cell) for cell in row), sides, strict=True)
        yield (
            f'<tr><th scope="row" style="text-align: {first[1]}">{_html_text(first[0])}</th>'
            + "".join(f'<td style="text-align: {side}">{_html_text(t)}</td>' for t, side in others)
            + "</tr>"
        )
        if table.notes and table.notes[k]:
            yield f'<tr><td colspan="{len(row)}">{_html_text(table.notes[k])}</td></tr>'
    yield "</tbody></table>"


def _html_text(text: str) -> str:
    return escape(shown(text))
