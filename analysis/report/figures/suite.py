"""The whole suite: five numbers of each benchmark and variant, HPT's reliability, the biplot."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...announcing import doing
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...methods.hpt.speedup import HptSpeedup, hpt_speedup
from ...methods.resampling.biplot import Biplot, biplot
from ...methods.resampling.biplot_picture import biplot_picture, shares_picture
from ...plots.axes import Axes, Scale, Tick, ratio_axis, ratio_scale, rows_down
from ...plots.chart import ENDINGS, Sheet, write_file, write_picture
from ...plots.marks import style_of
from .kinds import KINDS, draw
from .panels import (
    Drawing,
    columns_of,
    counted,
    few_of,
    in_columns,
    line_of,
    name_of,
    names_of,
    rows_high,
)

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = [
    "draw_biplot",
    "draw_box",
    "draw_curve",
    "draw_shares",
    "drawing_of",
    "shares_of",
    "write_all",
    "write_drawing",
]

# --- Writes figures: one as the kind that its file's ending says, or all that apply, each with its data.


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


_BESIDE = 5.0  # mm of width for each point of a letter's size
_SYSTEMS = 3
_SURE = 1e-4  # of a reliability: what is nearer to 0 or 1 is not drawn


def draw_box(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a panel for each variant: a box for each benchmark, relative to the baseline's median."""
    base = subject.matrices.get(subject.baseline)
    if base is None:
        raise InsufficientDataError("the baseline has no runs that count", n=0, needed=1)
    middle = dict(zip(base.benchmarks, base.medians().tolist(), strict=True))
    every = [bench for bench in subject.order if bench in middle]
    few, notes = few_of(every)
    numbers = {
        (name, bench): np.quantile(matrix.values(bench), [0, 0.25, 0.5, 0.75, 1])
        for name, matrix in subject.matrices.items()
        for bench in every
        if bench in matrix.benchmarks
    }
    variants = list(subject.matrices)
    across = columns_of(sheet, len(variants), _BESIDE)
    down = -(-len(variants) // across)
    shown = names_of(few, sheet, 0.22)
    titles = names_of(variants, sheet, 0.7 / across, bold=True)
    scale = ratio_scale(
        float(v) / middle[bench] for (_, bench), five in numbers.items() for v in five
    )
    panels = []
    for k, name in enumerate(variants):
        axes = rows_down([shown[bench] for bench in few])
        ratio_axis(axes, "x", scale)
        for y, bench in enumerate(few):
            if (name, bench) in numbers:
                line = line_of(subject, name, bench)
                word = None if name == subject.baseline else "undecided"
                css = style_of(word if line is None else line.outcome)
                low, q1, mid, q3, high = (numbers[name, bench] / middle[bench]).tolist()
                axes.line(low, y, high, y, css)
                axes.line(q1, y, q3, y, f"{css} broad pale")
                axes.spots(mid, y, f"{css} curve", r=3.2, shape="upright")
        axes.y_texts = k % across == 0
        axes.title, axes.title_css = titles[name], "ink bold"
        panels.append(axes)
    one = name_of(subject.baseline, sheet, 0.7 / across)
    metric = name_of(subject.verdict.metric, sheet, 0.2)
    panels[-1].x_label = f"{metric}; 1× is the median of\n{one}"
    height = rows_high(sheet, down * max(len(few) + 1.0, 5.0), 1.5, 1.0 + 3.2 * down)
    return Drawing(
        name=subject.anchor("box"),
        title="five numbers of each benchmark and variant",
        alt=_alt(subject, variants, len(every)),
        picture=in_columns(sheet, panels, across, height, notes),
        columns=(
            "variant", "benchmark", "unit", "minimum", "quartile_1", "median", "quartile_3",
            "maximum", "runs",
        ),
        rows=tuple(
            (name, bench, subject.verdict.unit, *five.tolist(), len(subject.matrices[name].values(bench)))
            for (name, bench), five in numbers.items()
        ),
    )  # fmt: skip


def _alt(subject: Subject, variants: Sequence[str], benchmarks: int) -> str:
    told = []
    for one in subject.candidates:
        if one.multilevel is not None and one.variant in variants:
            told.append(f"{one.variant}: {counted(one.multilevel)}")
    what = (
        f"Minimum, quartiles and maximum of the runs of {benchmarks} benchmarks, relative to the "
        f"median of {subject.baseline}"
    )
    return f"{'. '.join([what, *told])}."


def draw_curve(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a step curve for each candidate, with the required level and the largest speedup."""
    found = [
        best
        for one in subject.candidates
        if one.multilevel is not None and (best := _best(subject, one.variant)) is not None
    ]
    if not found:
        raise InsufficientDataError(
            "HPT compares suites: it needs two benchmarks that both sides have",
            fix="draw a forest",
            n=1,
            needed=2,
        )
    across = columns_of(sheet, len(found), 7.2)
    height = rows_high(sheet, -(-len(found) // across), 13.0, 3.0)
    names = names_of([best.candidate for best in found], sheet, 0.6 / across)
    base = name_of(subject.baseline, sheet, 0.6 / across)
    panels = []
    for k, best in enumerate(found):
        word = next(
            c.multilevel.word
            for c in subject.candidates
            if c.variant == best.candidate and c.multilevel is not None
        )
        axes = _steps(best, style_of(word))
        printed = "none" if best.printed is None else f"{best.printed}×"
        axes.title = f"{names[best.candidate]}: {printed}" if len(found) > 1 else ""
        axes.y_texts = k % across == 0
        axes.y_label = "HPT reliability" if k % across == 0 else ""
        axes.x_label = f"speedup under test,\nover {base}"
        panels.append(axes)
    rows: list[tuple[str | float | int | None, ...]] = []
    for best in found:
        curve = best.curve
        rows += [
            (best.candidate, x, on, left, right)
            for x, on, left, right in zip(
                curve.speedups.tolist(), curve.at.tolist(), curve.between[:-1].tolist(),
                curve.between[1:].tolist(), strict=True,
            )
        ]  # fmt: skip
    told = ". ".join(f"{best.candidate}: {best.conclusion}" for best in found)
    return Drawing(
        name=subject.anchor("curve"),
        title="HPT's reliability for each speedup under test",
        alt=f"{told}.",
        picture=in_columns(sheet, panels, across, height),
        columns=(
            "candidate",
            "speedup",
            "reliability_at",
            "reliability_below",
            "reliability_above",
        ),
        rows=tuple(rows),
    )


def _best(subject: Subject, variant: str) -> HptSpeedup | None:
    ours, theirs = subject.matrices.get(variant), subject.matrices.get(subject.baseline)
    if ours is None or theirs is None:
        return None
    common = [bench for bench in ours.benchmarks if bench in theirs.benchmarks]
    confidence = subject.verdict.confidence
    if len(common) < 2 or not 0.5 < confidence < 1:
        return None
    try:
        return hpt_speedup(ours.select(common), theirs.select(common), confidence=confidence)
    except AnalysisError:  # values that HPT has no answer for
        return None


def _steps(best: HptSpeedup, css: str) -> Axes:
    curve = best.curve
    inside = curve.speedups[(curve.between[:-1] > _SURE) & (curve.between[1:] < 1 - _SURE)]
    shown = inside if inside.size else curve.speedups
    scale = ratio_scale([*shown.tolist(), *([] if best.value is None else [best.value])])
    required = Tick(best.required, f"{best.required:g}")
    axes = Axes(y=Scale(-0.02, 1.03), y_ticks=[Tick(0, "0"), Tick(0.5, "0.5"), required])
    ratio_axis(axes, "x", scale)
    axes.level(best.required, "one thin dashed")
    ends = min(scale.low, *curve.speedups), max(scale.high, *curve.speedups)
    x = [ends[0], *np.repeat(curve.speedups, 2), ends[1]]
    axes.curve(x, np.repeat(curve.between, 2), "ink curve")
    if best.value is not None:
        axes.spots(best.value, best.required, css, r=2.6)
    return axes


def draw_biplot(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw the biplot of the variants' medians."""
    return drawing_of(_components(subject, "biplot"), sheet, subject.anchor("biplot"))


def draw_shares(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw the shares of the variance of the variants' medians that the components explain."""
    return shares_of(_components(subject, "figure of shares"), sheet, subject.anchor("shares"))


def _components(subject: Subject, what: str) -> Biplot:
    """Find the principal components of the variants' medians."""
    matrices = list(subject.matrices.values())
    if len(matrices) < _SYSTEMS:
        raise InsufficientDataError(
            f"a {what} needs three systems or more, and here {'are' if len(matrices) > 1 else 'is'} "
            f"{len(matrices)}",
            fix="draw a forest: of two variants it shows which is better",
            n=len(matrices),
            needed=_SYSTEMS,
        )
    common = [b for b in subject.order if all(b in m.benchmarks for m in matrices)]
    if not common:
        raise InsufficientDataError("no benchmark is common to all variants", n=0, needed=1)
    values = np.array([matrix.select(common).medians() for matrix in matrices])
    return biplot(values, list(subject.matrices), common)


def shares_of(found: Biplot, sheet: Sheet, name: str) -> Drawing:
    """Set the shares of components that are computed already as a drawing."""
    together = np.minimum(np.cumsum(found.explained), 1.0).tolist()
    each = found.explained.tolist()
    return Drawing(
        name=name,
        title="shares of the variance",
        alt=f"{found.conclusion}.",
        picture=shares_picture(found, sheet),
        columns=("component", "share", "together"),
        rows=tuple((k + 1, each[k], together[k]) for k in range(found.rank)),
    )


def drawing_of(found: Biplot, sheet: Sheet, name: str) -> Drawing:
    """Set a biplot that is computed already as a drawing."""
    kinds = (
        ("system", found.systems, found.scores),
        ("benchmark", found.benchmarks, found.loadings),
    )
    planar = [
        (kind, one, float(row[0]), float(row[1]) if row.size > 1 else 0.0)
        for kind, names, table in kinds
        for one, row in zip(names, table, strict=True)
    ]
    return Drawing(
        name=name,
        title="biplot",
        alt=f"{found.conclusion}.",
        picture=biplot_picture(found, sheet),
        columns=("kind", "name", "pc1", "pc2"),
        rows=tuple(planar),
    )
