"""The whole suite: five numbers of each benchmark and variant, and the biplot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import InsufficientDataError
from ...methods.biplot.fit import Biplot, biplot
from ...methods.biplot.page import biplot_figure
from ...pages.number_format import said
from ...plots.palette import PRINT, style_of
from ...plots.paper import clear, ratio_axis, tone
from ...plots.scale import ratio_scale
from .cells import line_of
from .layout import fresh, name_of, names_of, note, panels, rows_high
from .result import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...plots.drawing import Sheet
    from ..subject import Subject

__all__ = ["draw_biplot", "draw_box", "drawing_of"]

_MOST, _ENDS = 40, 15  # rows
_BESIDE = 5.0  # mm of width for each point of a letter's size
_SYSTEMS = 3

Five = NDArray[np.float64]


def draw_box(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a panel for each variant: a box for each benchmark, relative to the baseline's median.

    Raises
    ------
    InsufficientDataError
        If the baseline has no runs that count.
    """
    base = subject.matrices.get(subject.baseline)
    if base is None:
        raise InsufficientDataError("the baseline has no runs that count", n=0, needed=1)
    middle = dict(zip(base.benchmarks, base.medians().tolist(), strict=True))
    every = [bench for bench in subject.order if bench in middle]
    few = every if len(every) <= _MOST else [*every[:_ENDS], *every[-_ENDS:]]
    numbers = {
        (name, bench): np.quantile(matrix.values(bench), [0, 0.25, 0.5, 0.75, 1])
        for name, matrix in subject.matrices.items()
        for bench in every
        if bench in matrix.benchmarks
    }
    variants = list(subject.matrices)
    across = max(1, min(len(variants), int(sheet.width / (_BESIDE * sheet.font_size))))
    down = -(-len(variants) // across)
    figure = fresh(sheet, rows_high(sheet, down * max(len(few) + 1.0, 5.0), 1.5, 1.0 + 3.2 * down))
    shown = names_of(few, sheet, 0.22)
    titles = names_of(variants, sheet, 0.7 / across, bold=True)
    scale = ratio_scale(
        float(v) / middle[bench] for (_, bench), five in numbers.items() for v in five
    )
    for k, (axes, name) in enumerate(
        zip(panels(figure, len(variants), across), variants, strict=True)
    ):
        ratio_axis(axes, "x", scale, most=4)
        axes.set_ylim(len(few) - 0.4, -0.6)
        for y, bench in enumerate(few):
            if (name, bench) in numbers:
                line = line_of(subject, name, bench)
                word = None if name == subject.baseline else "undecided"
                colour = tone(style_of(word if line is None else line.outcome))
                _box(axes, y, numbers[name, bench] / middle[bench], colour)
        labels = [shown[bench] for bench in few] if k % across == 0 else [""] * len(few)
        axes.set_yticks(range(len(few)), labels)
        axes.tick_params(axis="y", labelcolor=PRINT.ink)
        clear(axes, "left")
        axes.set_title(titles[name], weight="bold")
    one = name_of(subject.baseline, sheet, 0.7 / across)
    figure.axes[-1].set_xlabel(
        f"{name_of(subject.verdict.metric, sheet, 0.2)}; 1× is the median of\n{one}"
    )
    if len(few) < len(every):
        note(
            figure,
            sheet,
            [f"{len(every) - len(few)} benchmarks between the first and the last are not drawn"],
        )
    return Drawing(
        name=subject.anchor("box"),
        title="five numbers of each benchmark and variant",
        alt=_alt(subject, variants, len(every)),
        figure=figure,
        columns=(
            "variant", "benchmark", "unit", "minimum", "quartile_1", "median", "quartile_3",
            "maximum", "runs",
        ),
        rows=tuple(
            (name, bench, subject.verdict.unit, *five.tolist(), len(subject.matrices[name].values(bench)))
            for (name, bench), five in numbers.items()
        ),
    )  # fmt: skip


def _box(axes: Axes, y: int, five: Five, colour: str) -> None:
    low, q1, middle, q3, high = five.tolist()
    axes.plot([low, high], [y, y], color=colour, linewidth=0.9, zorder=1)
    axes.plot(
        [q1, q3], [y, y], color=colour, linewidth=4.5, alpha=0.4, solid_capstyle="butt", zorder=2
    )
    axes.plot(
        [middle], [y], marker="|", markersize=6.5, markeredgewidth=1.3, color=colour,
        linestyle="none", zorder=3,
    )  # fmt: skip


def _alt(subject: Subject, variants: Sequence[str], benchmarks: int) -> str:
    told = []
    for one in subject.candidates:
        if one.multilevel is not None and one.variant in variants:
            words = [line.outcome for line in one.multilevel.benchmarks]
            counted = ", ".join(
                f"{words.count(word)} {said(word, timed=one.multilevel.timed)}"
                for word in ("faster", "slower", "equivalent", "undecided")
                if word in words
            )
            told.append(f"{one.variant}: {counted}")
    what = (
        f"Minimum, quartiles and maximum of the runs of {benchmarks} benchmarks, relative to the "
        f"median of {subject.baseline}"
    )
    return f"{'. '.join([what, *told])}."


def draw_biplot(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw the biplot of the variants' medians.

    Raises
    ------
    InsufficientDataError
        Below three variants.
    AnalysisError
        If they share no benchmark, or nothing differs.
    """
    matrices = list(subject.matrices.values())
    if len(matrices) < _SYSTEMS:
        raise InsufficientDataError(
            f"a biplot needs three systems or more, and here {'are' if len(matrices) > 1 else 'is'} "
            f"{len(matrices)}",
            fix="draw a forest: of two variants it shows which is better",
            n=len(matrices),
            needed=_SYSTEMS,
        )
    common = [b for b in subject.order if all(b in m.benchmarks for m in matrices)]
    if not common:
        raise InsufficientDataError("no benchmark is common to all variants", n=0, needed=1)
    values = np.array([matrix.select(common).medians() for matrix in matrices])
    found = biplot(values, list(subject.matrices), common)
    return drawing_of(found, sheet, subject.anchor("biplot"))


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
        figure=biplot_figure(found, sheet),
        columns=("kind", "name", "pc1", "pc2"),
        rows=tuple(planar),
    )
