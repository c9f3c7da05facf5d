"""Figures for papers: each kind as SVG, PDF and PNG, together with its data.

A kind takes a `Subject` and gives a `Drawing`: the picture, its result in words, and the numbers that
it shows. They stem from the same verdict as the page's.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..announcing import doing
from ..data.matrix import PerformanceMatrix
from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..methods.biplot import Biplot
from ..methods.multilevel.result import Line, Multilevel
from ..plots.axes import Axes, Picture, Sheet
from ..plots.chart import ENDINGS, POINT, arranged, write_picture
from ..plots.marks import COLOURS, style_of, wide
from ..record.printer import write_file
from ..registry import FIGURES, FigureKind, function
from ..stats.classical import normal_positions
from ..stats.ranks import Shift, shift_of
from ..words import shortened
from .subject import Subject

_OPEN = 8  # benchmarks whose own figures are drawn; of more, those that a caution names
_NOTED = 3


def kind_of(name: str) -> FigureKind:
    """Look a kind up; raises a `UsageError` that lists all if there is none of that name."""
    if name not in FIGURES:
        raise UsageError(
            f"there is no kind of figure {name!r}", fix=f"take one of {', '.join(FIGURES)}"
        )
    return FIGURES[name]


def draw(name: str, subject: Subject, sheet: Sheet, *, benchmark: str | None = None) -> Drawing:
    """Draw one figure.

    Parameters
    ----------
    name : str
        The kind.
    subject : Subject
        What was judged.
    sheet : Sheet
        Its width and letters.
    benchmark : str, optional
        Of a kind that shows one; not needed where there is only one.

    Raises
    ------
    UsageError
        If the kind or the benchmark is unknown, or a benchmark is to be named.
    AnalysisError
        If these sources have nothing that the kind shows.
    """
    kind = kind_of(name)
    named: tuple[str, ...] = (_benchmark(name, subject, benchmark),) if kind.each else ()
    drawing: Drawing = function(kind.draw)(subject, sheet, *named)
    title = ": ".join((*named, kind.shows))
    return replace(drawing, name=subject.anchor(name, *named), title=title)


def draw_table(found: Biplot, sheet: Sheet, kind: str = "biplot") -> Drawing:
    """Draw a biplot, or its shares, of systems that were read without a verdict, such as a table of medians."""
    drawing: Drawing = function(f"analysis.report.suite_figures:{kind}_of")(found, sheet)
    return replace(drawing, name=kind, title=FIGURES[kind].shows)


def _benchmark(kind: str, subject: Subject, benchmark: str | None) -> str:
    known = ", ".join(subject.order)
    if benchmark is None:
        if len(subject.order) == 1:
            return subject.order[0]
        raise UsageError(
            f"a figure of kind {kind} shows one benchmark, and there are {len(subject.order)}",
            fix=f"add --benchmark with one of {known}",
        )
    if benchmark not in subject.order:
        raise UsageError(f"there is no benchmark {benchmark!r}", fix=f"known here: {known}")
    return benchmark


# --- Their files.


def write_drawing(drawing: Drawing, *paths: Path, data: Path | None = None) -> None:
    """Write one figure, and its data as CSV: next to it, or where `data` says."""
    for path in paths:
        write_picture(drawing.picture, path, title=drawing.title, alt=drawing.alt)
    write_file(paths[0].with_suffix(".csv") if data is None else data, _table(drawing))


def write_all(
    subject: Subject, folder: Path, sheet: Sheet, *, tell: Callable[[str], None] = lambda _: None
) -> tuple[Path, ...]:
    """Write each kind that applies as SVG, PDF and PNG, with its data as CSV.

    Of more than eight benchmarks the first three that a caution names, or the first three of the page, have their own figures.

    Parameters
    ----------
    subject : Subject
        What was judged.
    folder : Path
        Made where it is missing; files of the same names are replaced.
    sheet : Sheet
        Its width and letters.
    tell : callable, optional
        Called with a sentence for each kind that does not apply.

    Returns
    -------
    tuple of Path
        The files, in the order of the kinds.

    Raises
    ------
    UsageError
        If a file cannot be written.
    """
    sheet.check()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"the folder cannot be made: {error.strerror}"
        raise UsageError(what, str(folder), "name another") from None
    found = []
    wanted = tuple(_wanted(subject))
    for number, (name, benchmark) in enumerate(wanted, 1):
        doing("figure", number, len(wanted))
        try:
            drawing = draw(name, subject, sheet, benchmark=benchmark)
        except AnalysisError as error:
            tell(f"no {name}{'' if benchmark is None else f' of {benchmark}'}: {error.what}")
            continue
        *pictures, data = (folder / f"{drawing.name}{ending}" for ending in (*ENDINGS, ".csv"))
        write_drawing(drawing, *pictures, data=data)
        found += [*pictures, data]
    return tuple(found)


def _wanted(subject: Subject) -> Iterator[tuple[str, str | None]]:
    chosen = subject.order
    if len(chosen) > _OPEN:
        named = {name for caution in subject.verdict.cautions for name in caution.about}
        chosen = (tuple(b for b in subject.order if b in named) or subject.order)[:_NOTED]
    for name, kind in FIGURES.items():
        for benchmark in chosen if kind.each else (None,):
            yield name, benchmark


def _table(drawing: Drawing) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(drawing.columns)
    for row in drawing.rows:
        # of numpy's own floats too
        writer.writerow([repr(float(cell)) if isinstance(cell, float) else cell for cell in row])
    return file.getvalue().encode("utf-8", "backslashreplace")


# --- What all figures have in common: the runs and the roles that they are drawn in, names that fit, rows of panels.

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


def line_of(subject: Subject, variant: str, benchmark: str) -> Line | None:
    """Give what the verdict says of a candidate on a benchmark."""
    results = (one for one in subject.results if one.candidate == variant)
    lines = (line for one in results for line in one.benchmarks if line.name == benchmark)
    return next(lines, None)


def cells_and_styles(
    subject: Subject, benchmark: str
) -> tuple[Mapping[str, Cell], Mapping[str, str]]:
    """Give each variant's runs, the baseline's first, and the roles that they are drawn in.

    These are the baseline's or the word's; of several candidates each has a colour and dashes of its own.

    Raises
    ------
    InsufficientDataError
        If no run counts.
    """
    cells = cells_of(subject, benchmark)
    if not cells:
        raise InsufficientDataError(f"no run of {benchmark!r} counts", n=0, needed=1)
    candidates = [name for name in subject.matrices if name != subject.baseline]
    styles: dict[str, str] = {}
    for name in subject.matrices:
        line = line_of(subject, name, benchmark)
        word = "undecided" if line is None else line.outcome
        styles[name] = style_of(None if name == subject.baseline else word)
    if len(candidates) > 1:
        places = (k % len(COLOURS) for k in range(len(candidates)))
        styles |= {name: f"c{k} d{k}" for name, k in zip(candidates, places, strict=True)}
    return cells, styles


def rows_high(sheet: Sheet, rows: float, each: float, around: float = 4.5) -> float:
    """Give the height in mm of `rows` rows, each in lines of letters, with an axis below."""
    return min(_TALLEST, (rows * each + around) * sheet.font_size * POINT)


def columns_of(sheet: Sheet, count: int, each: float) -> int:
    """Say how many panels stand in a row, where each needs `each` mm per point of letters."""
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
    """Shorten names that stand in a row, until they take a share of the sheet's width at most."""
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


# --- The runs of one benchmark, by variant and session.


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_LEAST = 3  # runs that are held against a normal law
_ROUNDING = 1e-12  # runs whose logs differ by less are equal


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """One variant's runs of a benchmark, in the order in which they were measured."""

    values: Floats
    labels: tuple[str, ...]  # the sessions; one, "", where they are not known
    session: Integers  # the place of each run's session in `labels`

    def of(self, place: int) -> Floats:
        """Give the runs of one session."""
        found: Floats = self.values[self.session == place]
        return found

    @property
    def by_session(self) -> tuple[Floats, ...]:
        """The runs of each session."""
        return tuple(self.of(k) for k in range(len(self.labels)))

    @property
    def positive(self) -> bool:
        """Whether every run has a logarithm."""
        return bool(self.values.min() > 0)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest run."""
        return float(self.values.min()), float(self.values.max())


def mean_of(runs: Floats) -> float:
    """Give the geometric mean."""
    return float(np.exp(np.log(runs).mean()))


def cells_of(subject: Subject, benchmark: str) -> dict[str, Cell]:
    """Give each variant's runs of a benchmark, the baseline's first; of runs of 0 too."""
    return {
        name: _cell(one, one.benchmarks.index(benchmark))
        for name, matrix in subject.matrices.items()
        for one in (matrix, matrix.with_zeros)
        if one is not None and benchmark in one.benchmarks
    }


def _cell(matrix: PerformanceMatrix, k: int) -> Cell:
    values = matrix.samples[k]
    unknown = np.full(values.size, "")
    labels, session = _numbered(unknown if matrix.sessions is None else matrix.sessions[k])
    return Cell(values=values, labels=labels, session=session)


def _numbered(given: NDArray[Any]) -> tuple[tuple[str, ...], Integers]:
    """Give sessions their numbers: whole ones in their order, names as they are first met."""
    names = given.tolist()
    every = dict.fromkeys(sorted(names) if given.dtype.kind in "iu" else names)
    places = {name: k for k, name in enumerate(every)}
    return tuple(map(str, places)), np.array([places[name] for name in names], dtype=np.int64)


def distribution(cell: Cell) -> Floats:
    """Give the runs from the least on, each with the share of runs up to it."""
    count = cell.values.size
    return np.column_stack((np.sort(cell.values), np.arange(1, count + 1) / count))


def normal_quantiles(cell: Cell) -> Floats:
    """Give what a normal law expects, and the runs less their session's mean: of logs where possible.

    Both in standard deviations; none of too few or equal runs.
    """
    values = np.log(cell.values) if cell.positive else cell.values
    counts = np.bincount(cell.session, minlength=len(cell.labels))
    means = np.bincount(cell.session, weights=values) / np.maximum(counts, 1)
    rest = np.sort((values - means[cell.session])[counts[cell.session] > 1])
    if rest.size < _LEAST:
        return np.empty((0, 2))
    sd = float(np.sqrt((rest**2).sum() / max(1, rest.size - int((counts > 1).sum()))))
    if not sd > _ROUNDING:
        return np.empty((0, 2))
    return np.column_stack((normal_positions(rest.size), rest / sd))


def shift_between(result: Multilevel, ours: Cell, theirs: Cell) -> Shift | None:
    """Give the log speedups at quantiles; of sessions that both sides have where these are paired."""
    paired = result.design in ("paired", "hosts")
    sides = [ours.by_session, theirs.by_session]
    if paired:
        common = [label for label in ours.labels if label in theirs.labels]
        sides = [
            tuple(side.of(side.labels.index(label)) for label in common) for side in (ours, theirs)
        ]
    if result.better == "lower":
        sides.reverse()
    return shift_of(*sides, paired=paired, confidence=1 - result.look.alpha)
