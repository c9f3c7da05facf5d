"""Studies of error rates and of coverage in words and as pictures.

Curves of power are figure 6 of [1]_ (over the number of shifted benchmarks) and figure 12 a (over the
runs, with one number of shifted benchmarks); intervals of draws are figures 8 and 14.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 6, 8 and 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from ..errors import UsageError
from ..pages import number_format as figures
from ..pages.model import Page, Section, Sentence, Table, Value, page_of, table_of, value_of
from ..pages.result import Result
from ..plots.axes import Axes, Key, Scale, quantity_scale, quantity_ticks
from ..plots.chart import Sheet, arranged
from ..plots.paper import Picture
from ..words import shorten, shown
from .draw import DrawStudy
from .study import CoverageStudy, Covered, Rejections, RejectionStudy

NAMES = {
    "hpt": "HPT",
    "t": "t",
    "welch": "t on logs",
    "randomization": "randomization",
    "t-scores": "t on scores",
    "interval": "interval technique",
    "bootstrap": "bootstrap",
}
INTERVAL_NAMES = {"paired-t": "paired t", "hpt": "HPT speedup"}
_SHEET = Sheet(width=178.0)
_ABREAST = 3  # panels in a row
_HIGH = 62.0  # mm of a row of panels
_SHAPES = ("circle", "square", "up", "diamond")


@page_of.register(RejectionStudy)
def _rejection_study_page(study: RejectionStudy) -> Page:
    what = f"type-I error on {study.benchmarks} benchmarks: both sides are the same"
    if study.kind == "power":
        each = ", ".join(dict.fromkeys(str(cell.runs) for cell in study.cells))
        some = f"some of {study.benchmarks} benchmarks, {each} runs each"
        what = f"power to tell {shift_words(study)} on {some}"
    said = (
        f"{study.population}: {what}; {study.alternative} at {study.alpha:g}, "
        f"{study.cells[0].simulations:,} simulated comparisons a line"
    )
    points = dict.fromkeys((cell.shifted, cell.runs) for cell in study.cells)
    found = {(cell.test, cell.shifted, cell.runs): cell for cell in study.cells}
    several = len({runs for _, runs in points}) > 1

    def rate(test: str, point: tuple[int, int]) -> Value:
        cell = found[test, *point]
        return Value(f"{cell.rate:.3f} ± {cell.error:.3f}", cell.rate)

    rates = table_of(
        "rates",
        points,
        ("runs", lambda point: point[1]) if study.kind == "type1" or several else None,
        ("shifted", lambda point: point[0]) if study.kind == "power" else None,
        *(
            (NAMES[test], partial(rate, test))
            for test in dict.fromkeys(c.test for c in study.cells)
        ),
    )
    return Page(
        title=f"{'Power' if study.kind == 'power' else 'Type-I error'} on {study.population}",
        sections=(Section((Sentence(said),)), Section((rates,))),
        cautions=study.cautions,
    )


@page_of.register(CoverageStudy)
def _coverage_study_page(study: CoverageStudy) -> Page:
    over = figures.counted(study.benchmarks, "benchmark")
    said = (
        f"{study.population}: how often {100 * study.confidence:g} % intervals of the ratio of "
        f"{study.mean} means over {over} hold the true {study.ratio:g}; "
        f"{study.every[0].simulations:,} simulated comparisons a line"
    )
    table = _covered("coverage", study.every, ("runs", "runs"))
    return Page(
        title=f"Coverage on {study.population}",
        sections=(Section((Sentence(said),)), Section((table,))),
        cautions=study.cautions,
    )


@page_of.register(DrawStudy)
def _draw_study_page(study: DrawStudy) -> Page:
    names = " against ".join(shorten(shown(name), 40) for name in (study.candidate, study.baseline))
    trials = study.tests[0].simulations
    unit = "blocks" if study.draws == "block" else "runs"
    said = (
        f"{names}: {trials:,} draws of {study.runs} {unit} of each of "
        f"{figures.counted(study.benchmarks, 'benchmark')}, {'with' if study.replace else 'without'} "
        f"replacement; the ratio of geometric means of all runs is {study.ratio:.4g}"
    )
    claim = "the two differ"
    if study.alternative == "candidate":
        claim = f"the candidate is more than {study.speedup:g} times better"
    elif study.speedup != 1:
        claim = f"the candidate is not {study.speedup:g} times as good as the baseline"

    tests = table_of(
        "tests",
        study.tests,
        ("<test", lambda one: NAMES[one.test]),
        *(
            (f"rejects at {level:g}", lambda one, k=k: one.rejected[k], f"{{}} of {trials}".format)
            for k, level in enumerate(study.alphas)
        ),
        ("mean confidence", "confidence", "{:.3f}".format),
    )
    beside = (
        f"how often {100 * study.confidence:g} % intervals of a draw hold the ratio of all runs; HPT's "
        "speedup is a lower bound"
    )
    return Page(
        title=f"Draws from {names}",
        sections=(
            Section((Sentence(said),)),
            Section((Sentence(f"how often each test says that {claim}"), tests)),
            Section((Sentence(beside), _covered("intervals", study.intervals))),
        ),
        cautions=study.cautions,
    )


def shift_words(study: RejectionStudy) -> str:
    """Say by how much a benchmark is shifted: ``1.01x``, or ``1 s more``."""
    if study.shift_by is None:
        return f"{study.shift:g}x"
    return f"{f'{study.shift_by:g} {figures.unit_text(study.unit)}'.strip()} more"


def _covered(name: str, cells: Iterable[Covered], *first: tuple[str, str]) -> Table:
    def interval(cell: Covered) -> str:
        refused = f" ({cell.refused} do not exist)" if cell.refused else ""
        return f"{INTERVAL_NAMES.get(cell.interval, cell.interval)}{refused}"

    def rate(cell: Covered) -> Value:
        return value_of(cell.rate, lambda rate: f"{rate:.3f} ± {cell.error:.3f}")

    def share(count: str) -> Callable[[Covered], Value]:
        def of(cell: Covered) -> Value:
            there = cell.simulations - cell.refused
            return value_of(getattr(cell, count) / there if there else None, "{:.3f}".format)

        return of

    return table_of(
        name,
        cells,
        *first,
        ("<interval", interval),
        ("coverage", rate),
        ("too low", share("below")),
        ("too high", share("above")),
        ("width", "width", figures.significant),
        ("mean low end", "low", partial(figures.significant, digits=4)),
    )


def study_picture(study: Result) -> Picture:
    """Draw how often tests reject, or the intervals of draws."""
    if isinstance(study, RejectionStudy):
        return _power_picture(study)
    if isinstance(study, DrawStudy):
        return _draws_picture(study)
    raise UsageError("only rates of tests, and draws from two systems, are drawn")


def _power_picture(study: RejectionStudy) -> Picture:
    """Draw how often each test rejects: a panel for each number of runs, or one over the runs."""
    cells, tests = study.cells, list(dict.fromkeys(cell.test for cell in study.cells))
    shifted = sorted({cell.shifted for cell in cells})
    each = sorted({cell.runs for cell in cells})
    if len(shifted) == 1 and len(each) > 1:
        said = f"{shifted[0]} of {study.benchmarks} benchmarks shifted"
        panels = [_panel(study, cells, tests, over="runs", title=said)]
    else:
        panels = [
            _panel(
                study, [c for c in cells if c.runs == n], tests, over="shifted", title=f"{n} runs"
            )
            for n in each
        ]
    marks = enumerate(tests)
    panels[0].keys = [Key(NAMES[test], f"c{k}", _SHAPES[k % len(_SHAPES)]) for k, test in marks]
    abreast = min(_ABREAST, len(panels))
    for first in panels[::abreast]:
        first.y_label = "share of comparisons rejected"
    padded: list[Axes | None] = [*panels, *[None] * (-len(panels) % abreast)]
    rows = [padded[k : k + abreast] for k in range(0, len(padded), abreast)]
    what = f"power to tell {shift_words(study)}" if study.kind == "power" else "type-I error"
    note = (
        f"strokes: one Monte Carlo error of {cells[0].simulations:,} comparisons to either side; "
        f"dashed: the level {study.alpha:g}"
    )
    title = (
        f"{shorten(shown(study.population), 60)}: {what}, {study.alternative} at {study.alpha:g}"
    )
    high, widths = _HIGH * len(rows) + 6, [1.0] * abreast
    return arranged(_SHEET, rows, high, widths=widths, title=title, notes=[note])


def _panel(
    study: RejectionStudy, cells: Iterable[Rejections], tests: list[str], *, over: str, title: str
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
