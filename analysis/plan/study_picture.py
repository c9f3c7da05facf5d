"""Studies as pictures: power over the shifted benchmarks or the runs, and the intervals of draws.

Curves of power are figure 6 of [1]_ (over the number of shifted benchmarks) and figure 12 a (over the
runs, with one number of shifted benchmarks); intervals of draws are figures 8 and 14.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 6, 8 and 10.
"""

from __future__ import annotations

import numpy as np

from ..errors import UsageError
from ..pages.result import Result
from ..plots.axes import Axes, Key
from ..plots.layout import arranged
from ..plots.paper import Picture
from ..plots.scale import Scale, quantity_scale, quantity_ticks
from ..plots.sheet import Sheet
from ..words import shorten, shown
from .draw import DrawStudy
from .study import Rejections, RejectionStudy
from .study_page import NAMES, shift_words

__all__ = ["study_picture"]

_SHEET = Sheet(width=178.0)
_ABREAST = 3  # panels in a row
_HIGH = 62.0  # mm of a row of panels
_SHAPES = ("circle", "square", "up", "diamond")


def study_picture(study: Result) -> Picture:
    """Draw how often tests reject, or the intervals of draws."""
    if isinstance(study, RejectionStudy):
        return _power_picture(study)
    if isinstance(study, DrawStudy):
        return _draws_picture(study)
    raise UsageError("only rates of tests, and draws from two systems, are drawn")


def _power_picture(study: RejectionStudy) -> Picture:
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


def _draws_picture(study: DrawStudy) -> Picture:
    """Draw HPT's speedup and both intervals of each draw, around the measured ratios."""
    n = len(study.each)
    at = np.arange(1, n + 1)
    boot = np.array([draw.bootstrap for draw in study.each])
    ratios = np.array([draw.ratio for draw in study.each])
    paired = np.array([draw.paired_t or (np.nan, np.nan) for draw in study.each])
    claims = np.array([np.nan if draw.hpt is None else draw.hpt for draw in study.each])
    known = np.concatenate([boot.ravel(), ratios, paired.ravel(), claims, [study.ratio]])
    if study.speedup != 1:
        known = np.append(known, study.speedup)
    scale = quantity_scale(known[np.isfinite(known)].tolist(), log=False, room=0.04)
    axes = Axes(x=Scale(0.5, n + 0.5), y=scale)
    axes.curve([*at, *at[::-1]], [*boot[:, 0], *boot[::-1, 1]], "c0 pale", closed=True)
    for side in (0, 1):
        axes.curve(at, boot[:, side], "c0 line")
        if np.isfinite(paired).all():
            axes.curve(at, paired[:, side], "c2 d2 curve")
    axes.curve(at, ratios, "ink curve")
    there = np.isfinite(claims)
    if there.all():
        axes.curve(at, claims, "c1 d1 curve")
    else:
        axes.spots(at[there], claims[there], "c1", r=1.4)
    axes.level(study.ratio, "one line dashed")
    if study.speedup != 1:
        axes.level(study.speedup, "one thin")
        axes.beside.append((study.speedup, f"{study.speedup:g}×", "second"))
    share = f"{100 * study.confidence:g} %"
    axes.keys = [
        Key(f"bootstrap {share}", "c0 line"),
        Key("measured ratio", "ink curve"),
        Key(f"paired t {share}", "c2 d2 curve"),
        Key(f"HPT {study.confidence:g}-speedup", "c1 d1 curve"),
    ]
    axes.x_label, axes.y_label = "draw", "candidate over baseline, above 1: better"
    axes.x_ticks = quantity_ticks(Scale(0.0, float(n)), "1", 6)[1:]
    axes.y_ticks = quantity_ticks(scale, "1", 6)
    names = " against ".join(shorten(shown(x), 30) for x in (study.candidate, study.baseline))
    told = f"dashed: the ratio of all runs, {study.ratio:.4g}"
    missing = int((~there).sum())
    if missing:
        told += f"; HPT claims no speedup in {missing} of {n} draws"
    return arranged(
        _SHEET, [[axes]], 90.0, title=f"{names}: {n} draws of {study.runs} runs", notes=[told]
    )
