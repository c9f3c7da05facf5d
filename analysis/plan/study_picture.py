"""Studies as pictures: power over the shifted benchmarks or the runs, and the intervals of draws.

Curves of power are figure 6 of [1]_ (over the number of shifted benchmarks) and figure 12 a (over the
runs, with one number of shifted benchmarks).

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 6.1 and 8.
"""

from __future__ import annotations

import numpy as np

from ..plots.axes import Axes, Key
from ..plots.layout import arranged
from ..plots.paper import Picture
from ..plots.scale import Scale, quantity_scale, quantity_ticks
from ..plots.sheet import Sheet
from ..words import shorten, shown
from .study import Rejections, RejectionStudy
from .study_page import NAMES, shift_words

__all__ = ["power_picture"]

_SHEET = Sheet(width=178.0)
_ABREAST = 3  # panels in a row
_HIGH = 62.0  # mm of a row of panels
_SHAPES = ("circle", "square", "up", "diamond")


def power_picture(study: RejectionStudy) -> Picture:
    """Draw how often each test rejects: a panel for each number of runs, or one over the runs."""
    tests = list(dict.fromkeys(cell.test for cell in study.cells))
    shifted = sorted({cell.shifted for cell in study.cells})
    each = sorted({cell.runs for cell in study.cells})
    if len(shifted) == 1 and len(each) > 1:
        said = f"{shifted[0]} of {study.benchmarks} benchmarks shifted"
        panels = [_panel(study, list(study.cells), tests, over="runs", title=said)]
    else:
        panels = [
            _panel(
                study,
                [cell for cell in study.cells if cell.runs == runs],
                tests,
                over="shifted",
                title=f"{runs} runs",
            )
            for runs in each
        ]
    panels[0].keys = [
        Key(NAMES[test], f"c{k}", _SHAPES[k % len(_SHAPES)]) for k, test in enumerate(tests)
    ]
    abreast = min(_ABREAST, len(panels))
    for first in panels[::abreast]:
        first.y_label = "share of comparisons rejected"
    rows: list[list[Axes | None]] = [
        [*panels[k : k + abreast], *[None] * (abreast - len(panels[k : k + abreast]))]
        for k in range(0, len(panels), abreast)
    ]
    name = shorten(shown(study.population), 60)
    what = f"power to tell {shift_words(study)}" if study.kind == "power" else "type-I error"
    trials = study.cells[0].simulations
    return arranged(
        _SHEET,
        rows,
        _HIGH * len(rows) + 6,
        widths=[1.0] * abreast,
        title=f"{name}: {what}, {study.alternative} at {study.alpha:g}",
        notes=[
            f"strokes: one Monte Carlo error of {trials:,} comparisons to either side; "
            f"dashed: the level {study.alpha:g}"
        ],
    )


def _panel(
    study: RejectionStudy, cells: list[Rejections], tests: list[str], *, over: str, title: str
) -> Axes:
    places = [float(getattr(cell, over)) for cell in cells]
    logs = over == "runs" and max(places) > 4 * min(places)
    axes = Axes(x=quantity_scale(places, log=logs), y=Scale(-0.03, 1.06), title=title)
    axes.level(study.alpha, "one thin dashed")
    for k, test in enumerate(tests):
        here = [cell for cell in cells if cell.test == test]
        x = np.array([float(getattr(cell, over)) for cell in here])
        rates, errors = (np.array([getattr(c, name) for c in here]) for name in ("rate", "error"))
        axes.segments(x, np.maximum(rates - errors, 0), x, np.minimum(rates + errors, 1), f"c{k} thin")  # fmt: skip
        axes.curve(x, rates, f"c{k} d{k} curve")
        axes.spots(x, rates, f"c{k}", r=1.8, shape=_SHAPES[k % len(_SHAPES)])
    axes.x_label = "shifted benchmarks" if over == "shifted" else "runs of each benchmark and side"
    axes.x_ticks = quantity_ticks(axes.x, "1", 5)
    axes.y_ticks = quantity_ticks(Scale(0.0, 1.0), "1", 6)
    return axes
