"""Figures for papers: each kind as SVG, PDF and PNG, with its data beside it.

A kind takes a `Subject` and gives a `Drawing`: the picture, its result in words, and the numbers that
it shows. They stem from the same verdict as the page's.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from ..announcing import doing
from ..errors import AnalysisError, UsageError
from ..methods.resampling.biplot import Biplot
from ..plots.chart import ENDINGS, Sheet, write_file, write_picture
from ..registry import FIGURES, FigureKind, function
from ..words import shown
from .panels import Drawing
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
    return replace(
        drawing, name=subject.anchor(name, *named), title=shown(title), alt=shown(drawing.alt)
    )


def draw_table(found: Biplot, sheet: Sheet, kind: str = "biplot") -> Drawing:
    """Draw a biplot, or its shares, of systems that were read without a verdict, such as a table of medians."""
    drawing: Drawing = function(f"analysis.report.suite_figures:{kind}_of")(found, sheet)
    return replace(drawing, name=kind, title=FIGURES[kind].shows, alt=shown(drawing.alt))


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


def write_drawing(drawing: Drawing, path: Path, *, data: Path | None = None) -> None:
    """Write one figure, and its data as CSV: beside it, or where `data` says."""
    write_picture(drawing.picture, path, title=drawing.title, alt=drawing.alt)
    write_file(path.with_suffix(".csv") if data is None else data, _table(drawing))


def write_all(
    subject: Subject,
    folder: Path,
    sheet: Sheet | None = None,
    *,
    benchmarks: tuple[str, ...] | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> tuple[Path, ...]:
    """Write each kind that applies as SVG, PDF and PNG, with its data as CSV beside it.

    Parameters
    ----------
    subject : Subject
        What was judged.
    folder : Path
        Made where it is missing; files of the same names are replaced.
    sheet : Sheet, optional
        Two columns wide by default.
    benchmarks : tuple of str, optional
        Whose own figures are drawn: by default all of up to eight; of more, the first three that a
        caution names, or the first three of the page.
    told : callable, optional
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
    sheet = Sheet() if sheet is None else sheet
    sheet.check()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"the folder cannot be made: {error.strerror}"
        raise UsageError(what, str(folder), "name another") from None
    found = []
    wanted = tuple(_wanted(subject, benchmarks))
    for number, (name, benchmark) in enumerate(wanted, 1):
        doing("figure", number, len(wanted))
        try:
            drawing = draw(name, subject, sheet, benchmark=benchmark)
        except AnalysisError as error:
            told(f"no {name}{'' if benchmark is None else f' of {benchmark}'}: {error.what}")
            continue
        paths = [folder / f"{drawing.name}{ending}" for ending in ENDINGS]
        for path in paths:
            write_picture(drawing.picture, path, title=drawing.title, alt=drawing.alt)
        paths.append(folder / f"{drawing.name}.csv")
        write_file(paths[-1], _table(drawing))
        found += paths
    return tuple(found)


def _wanted(
    subject: Subject, benchmarks: tuple[str, ...] | None
) -> Iterator[tuple[str, str | None]]:
    chosen = subject.order if benchmarks is None else benchmarks
    if benchmarks is None and len(chosen) > _OPEN:
        named = {name for caution in subject.verdict.cautions for name in caution.about}
        chosen = (tuple(b for b in subject.order if b in named) or subject.order)[:_NOTED]
    for name, kind in FIGURES.items():
        for benchmark in chosen if kind.each else (None,):
            yield name, benchmark


def _table(drawing: Drawing) -> bytes:
    """Set the numbers as CSV, each as it is; what is unknown is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(drawing.columns)
    for row in drawing.rows:
        # of numpy's own floats too
        writer.writerow([repr(float(cell)) if isinstance(cell, float) else cell for cell in row])
    return text.getvalue().encode("utf-8", "backslashreplace")
