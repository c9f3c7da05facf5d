"""What all figures have in common: the runs and the roles that they are drawn in, names that fit, rows of panels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import InsufficientDataError
from ...plots.axes import Axes
from ...plots.chart import POINT, arranged
from ...plots.marks import COLOURS, style_of
from ...plots.svg import wide
from ...words import shortened
from ..runs import Cell, cells_of

if TYPE_CHECKING:
    from ...methods.multilevel.result import BenchmarkLine
    from ...plots.chart import Sheet
    from ...plots.paper import Picture
    from ..subject import Subject

_TALLEST = 230.0  # mm: a page with its caption
_LONGEST, _SHORTEST = 24, 6  # characters of a name
_MOST_ROWS, _ENDS = 40, 15  # rows; of more the first and the last, and those that a caution names

Number = str | float | int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """One picture.

    `alt`: Its result in words, with its numbers of runs and its cautions: also a caption to begin
    with. `columns`, `rows`: The numbers in it, unrounded, in the units that the headings name; None
    is unknown. `name`: What its files are called, without an ending. `title`: What it is; never
    drawn, but found by search and readers of screens.
    """

    alt: str
    picture: Picture
    columns: tuple[str, ...]
    rows: tuple[tuple[Number, ...], ...]
    name: str = ""
    title: str = ""


def line_of(subject: Subject, variant: str, benchmark: str) -> BenchmarkLine | None:
    """Give what the verdict says of a candidate on a benchmark."""
    for one in subject.candidates:
        if one.variant == variant and one.multilevel is not None:
            lines = (line for line in one.multilevel.benchmarks if line.name == benchmark)
            return next(lines, None)
    return None


def word_styles(subject: Subject, benchmark: str) -> dict[str, str]:
    """Give the role that each variant is drawn in on a page: the baseline's, or its word's."""
    styles: dict[str, str] = {}
    for name in subject.matrices:
        line = line_of(subject, name, benchmark)
        word = "undecided" if line is None else line.outcome
        styles[name] = style_of(None if name == subject.baseline else word)
    return styles


def cells_and_styles(
    subject: Subject, benchmark: str
) -> tuple[Mapping[str, Cell], Mapping[str, str]]:
    """Give each variant's runs, the baseline's first, and the roles that they are drawn in.

    These are as in `word_styles`; of several candidates each has a colour and dashes of its own.

    Raises
    ------
    InsufficientDataError
        If no run counts.
    """
    cells = cells_of(subject, benchmark)
    if not cells:
        raise InsufficientDataError(f"no run of {benchmark!r} counts", n=0, needed=1)
    candidates = [name for name in subject.matrices if name != subject.baseline]
    styles = word_styles(subject, benchmark)
    if len(candidates) > 1:
        places = (k % len(COLOURS) for k in range(len(candidates)))
        styles |= {name: f"c{k} d{k}" for name, k in zip(candidates, places, strict=True)}
    return cells, styles


def rows_high(sheet: Sheet, rows: float, each: float, around: float = 4.5) -> float:
    """Give the height in mm of so many rows, each in lines of letters, with an axis below."""
    return min(_TALLEST, (rows * each + around) * sheet.font_size * POINT)


def columns_of(sheet: Sheet, count: int, each: float) -> int:
    """Say how many panels stand beside each other, of which each needs `each` mm per point of letters."""
    return max(1, min(count, int(sheet.width / (each * sheet.font_size))))


def in_columns(
    sheet: Sheet, panels: Sequence[Axes], across: int, height: float, notes: Iterable[str] = ()
) -> Picture:
    """Set panels in rows, `across` in each."""
    rows = [list(panels[k : k + across]) for k in range(0, len(panels), across)]
    return arranged(sheet, rows, height, notes=notes)


def names_of(
    names: Sequence[str], sheet: Sheet, share: float = 0.25, *, bold: bool = False
) -> dict[str, str]:
    """Shorten names that stand beside each other, until they take a share of the sheet's width at most."""
    room = share * sheet.width / POINT
    found: dict[str, str] = {}
    for letters in range(_LONGEST, _SHORTEST - 1, -2):
        found = dict(shortened(list(names), letters))
        if all(
            wide(text, sheet.font_size, sheet.font_family, bold=bold) <= room
            for text in found.values()
        ):
            break
    return found


def name_of(name: str, sheet: Sheet, share: float = 0.25) -> str:
    """Shorten one name, such as the baseline's in an axis's label."""
    return names_of([name], sheet, share)[name]


def few_of(
    every: Sequence[str], named: Iterable[str] = (), last: int = 0
) -> tuple[list[str], list[str]]:
    """Give the rows that are drawn, `last` more at the end, and a note of those that are not."""
    if len(every) <= _MOST_ROWS:
        return list(every), []
    wanted = set(named)
    kept = {*every[:_ENDS], *every[-_ENDS - last :], *(wanted if len(wanted) <= _ENDS else ())}
    few = [name for name in every if name in kept]
    out = len(every) - len(few)
    return few, [f"{out} benchmarks between the first and the last are not drawn"]
