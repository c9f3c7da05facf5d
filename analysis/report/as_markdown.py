"""Pages as Markdown for a pull request: the answer and the cautions first, the rest folded."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from html import escape

from ..words import shown
from .caution import Caution
from .model import Block, Cell, Command, Figure, Page, Section, Sentence, Table

__all__ = ["render"]

_REST = 400  # characters kept for the line that names what is left out
_RULES = {"left": ":---", "right": "---:"}
# A mark inside a word is a letter: names such as max_rss stay readable. Entities stand for what a
# backslash does not take from every reader: tags, formulas between dollar signs.
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&#36;", "@": "@<!-- -->"}
_MARKS = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_OPENING = re.compile(r"^(#{1,6}|[-+=]+|\d+[.)])(?=\s|$)|^[-+=_]{2,}")


def render(page: Page, *, most: int | None = None) -> str:
    """Set a page as GitHub's Markdown.

    The first section and the cautions are seen at once; each further one is folded below its title.
    No name in it makes a table, a tag, a formula or a mention. Pictures are left out.

    Parameters
    ----------
    page : Page
        What is said.
    most : int, optional
        Characters that there is room for, such as in a comment: folded sections that do not fit are
        left out, and the last line names them. What is seen at once is always there.
    """
    first = [f"### {_text(page.title)}"]
    first += [part for section in page.sections[:1] for part in _section(section, 4)]
    first += _cautions(page.cautions)
    last = [part for section in page.following for part in _section(section, 4)]
    folded: list[str] = []
    left_out: list[str] = []
    room = math.inf if most is None else most - len(_joined([*first, *last])) - _REST
    for section in page.sections[1:]:
        told = _joined(_folded(section))
        if len(told) + 1 > room:
            left_out.append(_text(section.title) or "a part without a title")
            continue
        room -= len(told) + 1
        folded.append(told.rstrip("\n"))
    if left_out:
        last.append(f"<sub>Left out, because there is no room here: {', '.join(left_out)}</sub>")
    return _joined([*first, *(told for told in folded if told), *last])


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _folded(section: Section) -> Iterator[str]:
    inner = [part for block in section.blocks for part in _block(block, 4)]
    if not section.title or not inner:
        yield from inner
        return
    yield f"<details><summary>{escape(shown(section.title))}</summary>"
    yield from inner
    yield "</details>"


def _section(section: Section, level: int) -> Iterator[str]:
    if section.title:
        yield f"{'#' * min(level, 6)} {_text(section.title)}"
    for block in section.blocks:
        yield from _block(block, level + bool(section.title))


def _block(block: Block, level: int) -> Iterator[str]:
    match block:
        case Sentence(text=text):
            yield _paragraph(text)
        case Command(line=line):
            yield _fenced(shown(line))
        case Table():
            yield _table(block)
        case Section():
            yield from _section(block, level)
        case Figure():
            return


def _table(table: Table) -> str:
    """Set a table; a row's note stands in its first cell, so that every row keeps its columns."""
    heads = [_text(column.heading) if table.headed else "" for column in table.columns]
    lines = [_row(heads), _row(_RULES[column.align] for column in table.columns)]
    for k, row in enumerate(table.rows):
        cells = [_text(_written(cell)) for cell in row]
        if table.notes and table.notes[k]:
            cells[0] = f"{cells[0]}<br><sub>{_text(table.notes[k])}</sub>"
        lines.append(_row(cells))
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _written(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _text(text: str) -> str:
    """Escape a text that stands on one line."""
    marked = _MARKS.sub(lambda found: f"\\{found.group()}", shown(text).strip())
    return re.sub("[&<>$@]", lambda found: _ENTITIES[found.group()], marked)


def _paragraph(text: str) -> str:
    """Escape a text that begins a line, where some marks would begin a list or a heading."""
    return _OPENING.sub(_opened, _text(text))


def _opened(found: re.Match[str]) -> str:
    mark = found.group()
    return f"{mark[:-1]}\\{mark[-1]}" if mark[0].isdigit() else f"\\{mark}"


def _fenced(line: str) -> str:
    longest = max((len(ticks) for ticks in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{line}\n{fence}"


def _cautions(cautions: Iterable[Caution]) -> list[str]:
    said = [f"{number}. {_paragraph(caution.text)}" for number, caution in enumerate(cautions, 1)]
    return ["**Cautions**", "\n".join(said)] if said else []
