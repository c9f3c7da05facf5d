"""Studies of error rates and of coverage in words."""

from __future__ import annotations

import numpy as np

from ..errors import UsageError
from ..pages import number_format as figures
from ..pages.model import (
    Cell,
    Column,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    page_of,
    value_of,
)
from ..pages.result import Result
from ..plots.axes import Axes, Key, Scale, quantity_scale, quantity_ticks
from ..plots.chart import Sheet, arranged
from ..plots.paper import Picture
from ..words import shorten, shown
from .draw import DrawStudy
from .study import CoverageStudy, Covered, Rejections, RejectionStudy

__all__ = ["study_picture"]

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


@page_of.register(RejectionStudy)
def _rejection_study_page(study: RejectionStudy) -> Page:
    return Page(
        title=f"{'Power' if study.kind == 'power' else 'Type-I error'} on {study.population}",
        sections=(Section((Sentence(_drawn(study)),)), Section((_rates(study),))),
        cautions=study.cautions,
    )


@page_of.register(CoverageStudy)
def _coverage_study_page(study: CoverageStudy) -> Page:
    headings = ("runs", "interval", "coverage", "too low", "too high", "width", "mean low end")
    table = Table(
        name="coverage",
        columns=tuple(Column(h, "left" if h == "interval" else "right") for h in headings),
        rows=tuple(_covered(cell) for cell in study.every),
    )
    said = (
        f"{study.population}: how often {100 * study.confidence:g} % intervals of the ratio of "
        f"{study.mean} means over {figures.counted(study.benchmarks, 'benchmark')} hold the true {study.ratio:g}; "
        f"{study.every[0].simulations:,} simulated comparisons a line"
    )
    return Page(
        title=f"Coverage on {study.population}",
        sections=(Section((Sentence(said),)), Section((table,))),
        cautions=study.cautions,
    )


@page_of.register(DrawStudy)
def _draw_study_page(study: DrawStudy) -> Page:
    names = " against ".join(shorten(shown(name), 40) for name in (study.candidate, study.baseline))
    trials = study.tests[0].simulations
    how = "with" if study.replace else "without"
    unit = "blocks" if study.draws == "block" else "runs"
    said = (
        f"{names}: {trials:,} draws of {study.runs} {unit} of each of "
        f"{figures.counted(study.benchmarks, 'benchmark')}, {how} replacement; the ratio of geometric "
        f"means of all runs is {study.ratio:.4g}"
    )
    claim = (
        f"the candidate is more than {study.speedup:g} times better"
        if study.alternative == "candidate"
        else f"the candidate is not {study.speedup:g} times as good as the baseline"
        if study.speedup != 1
        else "the two differ"
    )
    levels = [f"{alpha:g}" for alpha in study.alphas]
    tests = Table(
        name="tests",
        columns=(
            Column("test", "left"),
            *(Column(f"rejects at {level}") for level in levels),
            Column("mean confidence"),
        ),
        rows=tuple(
            (
                NAMES[one.test],
                *(Value(f"{count} of {trials}", count) for count in one.rejected),
                value_of(one.confidence, "{:.3f}".format),
            )
            for one in study.tests
        ),
    )
    intervals = Table(
        name="intervals",
        columns=tuple(
            Column(h, "left" if h == "interval" else "right")
            for h in ("interval", "coverage", "too low", "too high", "width", "mean low end")
        ),
        rows=tuple(_covered(cell)[1:] for cell in study.intervals),
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
            Section((Sentence(beside), intervals)),
        ),
        cautions=study.cautions,
    )


def _drawn(study: RejectionStudy) -> str:
    if study.kind == "power":
        each = dict.fromkeys(str(cell.runs) for cell in study.cells)
        what = (
            f"power to tell {shift_words(study)} on some of {study.benchmarks} benchmarks, "
            f"{', '.join(each)} runs each"
        )
    else:
        what = f"type-I error on {study.benchmarks} benchmarks: both sides are the same"
    return (
        f"{study.population}: {what}; {study.alternative} at {study.alpha:g}, "
        f"{study.cells[0].simulations:,} simulated comparisons a line"
    )


def shift_words(study: RejectionStudy) -> str:
    """Say by how much a benchmark is shifted: ``1.01x``, or ``1 s more``."""
    if study.shift_by is None:
        return f"{study.shift:g}x"
    return f"{f'{study.shift_by:g} {figures.unit_text(study.unit)}'.strip()} more"


def _rates(study: RejectionStudy) -> Table:
    """Set a line for each point, and a column for each test."""
    tests = list(dict.fromkeys(cell.test for cell in study.cells))
    points = list(dict.fromkeys((cell.shifted, cell.runs) for cell in study.cells))
    found = {(cell.test, cell.shifted, cell.runs): cell for cell in study.cells}
    several = len({runs for _, runs in points}) > 1
    heads = {"runs": study.kind == "type1" or several, "shifted": study.kind == "power"}
    rows: list[tuple[Cell, ...]] = []
    for shifted, runs in points:
        here = {"runs": runs, "shifted": shifted}
        cells = (found[test, shifted, runs] for test in tests)
        rates = (Value(f"{cell.rate:.3f} ± {cell.error:.3f}", cell.rate) for cell in cells)
        rows.append((*(value_of(here[name]) for name, said in heads.items() if said), *rates))
    headings = (*(name for name, said in heads.items() if said), *(NAMES[test] for test in tests))
    return Table(name="rates", columns=columns_of(*headings), rows=tuple(rows))


def _covered(cell: Covered) -> tuple[Cell, ...]:
    there = cell.simulations - cell.refused

    def share(count: int) -> Value:
        return value_of(count / there if there else None, "{:.3f}".format)

    return (
        value_of(cell.runs),
        INTERVAL_NAMES.get(cell.interval, cell.interval)
        + (f" ({cell.refused} do not exist)" if cell.refused else ""),
        value_of(cell.rate, lambda rate: f"{rate:.3f} ± {cell.error:.3f}"),
        share(cell.below),
        share(cell.above),
        value_of(cell.width, figures.significant),
        value_of(cell.low, lambda low: figures.significant(low, 4)),
    )


# --- Studies as pictures: power over the shifted benchmarks or the runs, and the intervals of draws.
#
# Curves of power are figure 6 of [1]_ (over the number of shifted benchmarks) and figure 12 a (over the
# runs, with one number of shifted benchmarks); intervals of draws are figures 8 and 14.
#
# References
# ----------
# .. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
#    of performance variation", Frontiers of Computer Science, 2018, sections 6, 8 and 10.


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
