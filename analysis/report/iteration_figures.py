"""The iterations of each run in their order, all of them, and from which on they are judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..data.iterations import judged_counts, values_of_run
from ..errors import AnalysisError
from ..pages.number_format import span
from ..plots.axes import Axes, Scale, Tick, quantity_axis, quantity_scale
from ..plots.chart import Sheet, arranged
from ..record.shapes import MOST_IN_ROW
from ..stats.samples import Array
from .panels import Drawing, Number, cells_and_styles, name_of, names_of, rows_high
from .subject import Subject

_PLACES = 250  # points of a run: of more iterations the median of neighbours is drawn
_MOST = 40  # runs of a variant that are drawn


class RunIterations(NamedTuple):
    """What is drawn of a run's iterations, at which of them, and how many of the first ones are not judged.

    Of a run with up to 1,000 iterations `values` has each; of one with more medians of neighbours stand there.
    """

    values: Array
    places: Array
    printed: int
    left_out: int


def panel_of(runs: Sequence[RunIterations], css: str, scale: Scale, unit: str) -> Axes:
    """Draw a line for each run; what is not judged is grey, as a baseline is, and a dot is where the rest begins."""
    longest = max(run.printed for run in runs)
    axes = Axes(x=Scale(0.0, longest + 1.0), y=scale)
    quantity_axis(axes, "y", scale, unit, most=4)
    axes.x_ticks = [Tick(at, str(at)) for at in (1, longest)]
    for run in runs:
        left = run.left_out
        middle, places = thinned(run)
        early = places <= left
        if early.any():
            axes.curve(places[early], middle[early], "second thin faint")
        axes.curve(places[~early], middle[~early], f"{css} thin")
        if 0 < left < run.printed:
            first = int(np.searchsorted(run.places, left, side="right"))
            axes.spots(left + 1.0, float(np.median(run.values[first : first + 5])), "ink", r=1.6)
    return axes


def thinned(run: RunIterations, most: int = _PLACES) -> tuple[Array, Array]:
    """Give medians of neighbours, so many at most, and the middles of their places, counted from 1."""
    each = max(1, -(-run.values.size // most))
    parts = range(0, run.values.size, each)
    middles = np.array([np.median(run.values[k : k + each]) for k in parts])
    return middles, np.array([run.places[k : k + each].mean() for k in parts])


def printed_metric(subject: Subject) -> str:
    """Give the metric whose iterations are drawn: that which is judged, or whose quantile it is."""
    basis = subject.verdict.quantile
    return subject.verdict.metric if basis is None else basis.metric


def runs_of_variants(
    subject: Subject, benchmark: str, variants: Iterable[str]
) -> dict[str, list[tuple[int, RunIterations]]]:
    """Give the session and the iterations of each judged run of a benchmark, by variant; none are left out.

    Raises
    ------
    AnalysisError
        If there is no trial, or no run has several iterations of the metric.
    """
    metric, trial = printed_metric(subject), subject.trial
    judged = None if trial is None else trial.judged_iterations(metric)
    left_out = None if judged is None else judged.left_out
    if trial is None or left_out is None or (judged_counts(trial, metric) + left_out).max() < 2:
        fix = "give a trial, and a metric that its programs print"
        raise AnalysisError("no run has several iterations", benchmark, fix)
    mine = trial.judged(metric) & (trial.benchmark == trial.manifest.benchmarks.index(benchmark))
    mine &= np.diff(trial.metrics[metric].offsets) > 0
    runs: dict[str, list[tuple[int, RunIterations]]] = {}
    for name in variants:
        rows = np.flatnonzero(mine & (trial.variant == trial.manifest.variants.index(name)))
        runs[name] = []
        for row in rows.tolist():
            values = values_of_run(trial, metric, row)
            places = np.arange(1.0, values.size + 1)
            run = RunIterations(values, places, values.size, int(left_out[row]))
            if values.size > MOST_IN_ROW:
                values, places = thinned(run)
            found = run._replace(values=values, places=places)
            runs[name].append((int(trial.session[row]), found))
    return runs


def draw_iterations(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a panel for each variant: a line for each of its runs, iteration by iteration."""
    cells, styles = cells_and_styles(subject, benchmark)
    metric, runs = printed_metric(subject), runs_of_variants(subject, benchmark, cells)
    shown = {name: [run for _, run in found[:_MOST]] for name, found in runs.items() if found}
    drawn = [thinned(run)[0] for some in shown.values() for run in some]
    scale = quantity_scale(end for one in drawn for end in (one.min(), one.max()))
    names = names_of(list(shown), sheet)
    panels = []
    for name, some in shown.items():
        axes = panel_of(some, styles[name], scale, subject.verdict.unit)
        axes.title = f"{names[name]}: {len(some)} of {len(runs[name])} runs"
        panels.append(axes)
    panels[-1].x_label = f"iteration; {name_of(metric, sheet)} ({subject.verdict.better} is better)"
    told, rows = [], list[tuple[Number, ...]]()
    for name, found in runs.items():
        if found:
            left = span(run.left_out for _, run in found)
            told.append(f"{name}: {len(found)} runs, {left} iterations not judged")
        for number, (session, run) in enumerate(found, 1):
            for place, value in zip(run.places.tolist(), run.values.tolist(), strict=True):
                iteration = int(place) if place == int(place) else place
                rows.append((name, session, number, iteration, int(place > run.left_out), value))
    headings = f"variant session run iteration judged {metric}_{subject.verdict.unit}"
    height = rows_high(sheet, len(panels), 7.0, 4.0)
    notes = ["dot: the first iteration that is judged"]
    return Drawing(
        alt=f"{metric} of {benchmark}, iteration by iteration. {'; '.join(told)}.",
        picture=arranged(sheet, [[axes] for axes in panels], height, notes=notes),
        columns=tuple(headings.split()),
        rows=tuple(rows),
    )
