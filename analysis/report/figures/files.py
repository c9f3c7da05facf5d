"""Writes figures: one as the kind that its file's ending says, or all that apply, each with its data."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...announcing import doing
from ...errors import AnalysisError, UsageError
from ...plots.chart import ENDINGS, Sheet, write_file, write_picture
from .kinds import KINDS, draw

if TYPE_CHECKING:
    from ..subject import Subject
    from .panels import Drawing

_OPEN = 8  # benchmarks whose own figures are drawn; of more, those that a caution names
_NOTED = 3


def write_drawing(drawing: Drawing, path: Path, *, data: Path | None = None) -> None:
    """Write one figure, and its data as CSV: beside it, or where `data` says.

    Raises
    ------
    UsageError
        If a file cannot be written.
    """
    write_picture(drawing.picture, path, title=drawing.title, alt=drawing.alt)
    write_file(path.with_suffix(".csv") if data is None else data, _table(drawing))


def write_all(
    subject: Subject,
    folder: Path,
    sheet: Sheet | None = None,
    *,
    benchmarks: tuple[str, ...] | None = None,
    told: Callable[[str], None] | None = None,
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
        raise UsageError(
            f"the folder cannot be made: {error.strerror}", str(folder), "name another"
        ) from None
    found = []
    wanted = tuple(_wanted(subject, benchmarks))
    for number, (name, benchmark) in enumerate(wanted, 1):
        doing("figure", number, len(wanted))
        try:
            drawing = draw(name, subject, sheet, benchmark=benchmark)
        except AnalysisError as error:
            if told is not None:
                where = "" if benchmark is None else f" of {benchmark}"
                told(f"no {name}{where}: {error.what}")
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
    for name, kind in KINDS.items():
        for benchmark in chosen if kind.each else (None,):
            yield name, benchmark


def _table(drawing: Drawing) -> bytes:
    """Set the numbers as CSV, each as it is; what is unknown is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(drawing.columns)
    for row in drawing.rows:
        writer.writerow(["" if cell is None else _cell(cell) for cell in row])
    return text.getvalue().encode("utf-8", "backslashreplace")


def _cell(cell: str | float) -> str:
    return repr(float(cell)) if isinstance(cell, float) else str(cell)
