"""Normal or not, to the eye: densities of runs and of means, with the normal laws beside them.

They are figures 2 and 4 of T. Chen et al., "Statistical performance comparisons of computers", HPCA 2012: the
kernel density (Kernel Parzen Window) against the fitted normal law (Naive Normality Fitting), and
the densities of the means of ever larger samples.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...diagnose.normality import (
    from_on,
    grown_bandwidth,
    lilliefors,
    normal_curves,
    runs_of,
    sample_means,
    sizes_enough,
)
from ...errors import AnalysisError, InsufficientDataError
from ...pages.number_format import pvalue
from ...plots.axes import Axes, Key, Scale, Tick, quantity_axis, quantity_scale
from ...plots.chart import POINT, arranged
from ...plots.marks import COLOURS
from ...stats.arguments import stream
from ...stats.samples import kernel_density
from .panels import Drawing, Number, cells_and_styles, in_columns, name_of, names_of, rows_high

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...plots.chart import Sheet
    from ..subject import Subject

__all__ = ["draw_density", "draw_means"]

_LAW = "ink dashed thin"  # how the normal law is drawn
_SEED = 0
_MOST = len(COLOURS)  # variants
_ACROSS, _ACROSS_NARROW, _BROAD = 5, 3, 120.0  # panels in a row of a broad sheet, and mm of such
_HIGH = 17.0  # mm of a panel without its title
_REACH = 3.5  # standard deviations to each side
_POINTS = 64


def draw_density(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row for each variant: the kernel density of its runs, the normal law fitted to them."""
    cells, styles = cells_and_styles(subject, benchmark)
    found, why = {}, ""
    for name, cell in list(cells.items())[:_MOST]:
        try:
            found[name] = normal_curves(cell.values)
        except AnalysisError as error:
            why = error.what
    if not found:
        raise InsufficientDataError(why, benchmark, n=0, needed=3)
    unit = subject.verdict.unit
    names = names_of(list(found), sheet)
    panels, told, rows = [], [], []
    for name, one in found.items():
        top = float(max(one.normal.max(), one.kernel.max()))
        axes = Axes(y=Scale(0, 1.05 * top), title=f"{names[name]}: {one.ordered.size} runs")
        # of its own and not of logs: areas are shares of runs
        quantity_axis(axes, "x", quantity_scale(one.grid[[0, -1]].tolist(), log=False), unit)
        axes.curve([one.grid[0], *one.grid, one.grid[-1]], [0, *one.kernel, 0], "bars", closed=True)
        axes.curve(one.grid, one.kernel, f"{styles[name]} curve")
        axes.curve(one.grid, one.normal, _LAW)
        panels.append(axes)
        # half of the area between two densities is the share of runs that the law has elsewhere
        apart = np.trapezoid(np.abs(one.kernel - one.normal), one.grid) / 2
        told.append(
            f"{name}: {100 * apart:.0f} % of the area of {one.ordered.size} runs lies outside of the law"
        )
        rows += [
            (name, *each)
            for each in zip(
                one.grid.tolist(), one.kernel.tolist(), one.normal.tolist(), strict=True
            )
        ]
    panels[0].keys = [
        Key("kernel density", f"{styles[next(iter(found))]} curve"),
        Key("normal law", _LAW),
    ]
    panels[-1].x_label = name_of(subject.verdict.metric, sheet)
    return Drawing(
        name=subject.anchor("density", benchmark),
        title=f"densities of the runs of {benchmark}",
        alt=f"Kernel densities of the runs of {benchmark}, and the normal laws with their mean and standard "
        f"deviation. {'. '.join(told)}.",
        picture=arranged(
            sheet,
            [[axes] for axes in panels],
            rows_high(sheet, len(found), 11.5, 5.5),
            y_label="density",
        ),
        columns=("variant", f"{subject.verdict.metric}_{unit}", "kernel_density", "normal_law"),
        rows=tuple(rows),
    )


def draw_means(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a panel for each size of samples: the density of their means, a curve for each variant.

    Samples are drawn from all runs of a variant, each divided by its benchmark's median. The window of
    a density is the smallest that leaves it one peak.
    """
    found: dict[str, dict[int, NDArray[np.float64]]] = {}
    why, told = "there is no variant", list[str]()
    for name, matrix in list(subject.matrices.items())[:_MOST]:
        try:
            runs = runs_of(matrix)
            drawn = sample_means(runs, rng=stream(_SEED, "mean sample size", name))
            found[name] = {size: (x - x.mean()) / x.std(ddof=1) for size, x in drawn}
            _, least = sizes_enough(runs, risk=0.05, rng=stream(_SEED, "mean sample size", name))
            told.append(f"{name}: means {from_on(*least)}")
        except AnalysisError as error:
            why = error.what
    if not found:
        raise InsufficientDataError(why, fix="measure more runs", n=0, needed=5)
    grid = np.linspace(-_REACH, _REACH, _POINTS)
    law = np.exp(-0.5 * grid**2) / math.sqrt(2 * math.pi)
    curves = {
        name: {size: kernel_density(x, grid, grown_bandwidth(x)) for size, x in means.items()}
        for name, means in found.items()
    }
    top = max(float(curve.max()) for each in curves.values() for curve in (law, *each.values()))
    names = names_of(list(found), sheet)
    several = len(found) > 1
    panels: list[Axes] = []
    rows: list[tuple[Number, ...]] = []
    sizes = list(next(iter(found.values())))
    across = _ACROSS if sheet.width > _BROAD else _ACROSS_NARROW
    for size in sizes:
        axes = Axes(
            x=Scale(-_REACH, _REACH), y=Scale(0, 1.05 * top), title=f"n = {size}",
            x_ticks=[Tick(at, f"{at}".replace("-", "\N{MINUS SIGN}")) for at in (-2, 0, 2)],
            x_texts=size in sizes[-across:],
        )  # fmt: skip
        axes.curve(grid, law, _LAW)
        for k, (name, means) in enumerate(found.items()):
            p = lilliefors(means[size]).pvalue
            style = f"c{k} d{k} curve" if several else "baseline curve"
            axes.curve(grid, curves[name][size], style)
            if several and size == sizes[0]:
                axes.keys.append(Key(names[name], style))
            elif not several:
                axes.title += f", p {pvalue(p)}"
            rows.append((name, size, means[size].size, p))
        panels.append(axes)
    panels[len(sizes) - across // 2 - 1].x_label = "mean of n runs, in standard deviations"
    high = -(-len(panels) // across) * (_HIGH + 3 * sheet.font_size * POINT)
    return Drawing(
        name=subject.anchor("means", ""),
        title="densities of the means of ever larger samples",
        alt=f"Densities of {rows[0][2]} means of n runs each, n from {sizes[0]} to "
        f"{sizes[-1]}, against the normal law, at risk 0.05, seed {_SEED}. {'. '.join(told)}.",
        picture=in_columns(sheet, panels, across, min(230.0, high)),
        columns=("variant", "n", "means", "p_lilliefors"),
        rows=tuple(rows),
    )
