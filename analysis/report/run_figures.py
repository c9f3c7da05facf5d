"""Figures of one benchmark's runs: dots, distributions, deciles, and how far they follow a normal law."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..data.iterations import judged_counts, values_of_run
from ..data.matrix import PerformanceMatrix
from ..diagnose.normality import normal_curves
from ..errors import AnalysisError, InsufficientDataError
from ..methods.mixture.cell import MixtureOptions
from ..methods.mixture.pictures import draw_density as draw_mixture, window_of
from ..methods.mixture.report import mixture_report
from ..pages.number_format import counted, quantity, span
from ..plots.axes import (
    Axes,
    Key,
    Scale,
    Sheet,
    Tick,
    quantity_axis,
    quantity_scale,
    ratio_axis,
    ratio_scale,
    rows_down,
)
from ..plots.chart import POINT, arranged
from ..plots.marks import COLOURS
from ..record.shapes import MOST_IN_ROW
from ..stats.arguments import stream
from ..stats.ranks import Shift
from ..stats.samples import Array, bandwidth_of, kernel_density
from .figures import (
    Cell,
    Drawing,
    Number,
    cells_and_styles,
    distribution,
    in_columns,
    line_of,
    mean_of,
    name_of,
    names_of,
    normal_quantiles,
    rows_high,
    shift_between,
)
from .subject import Subject

# --- Every run as a dot, a line for each session, and the density above.


_LINES = 12  # sessions that have a line of their own; more share theirs
_FEW = 8  # runs below which a density is not drawn
_PLACES = 160


def draw_strip(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row for each variant: a line of dots for each session, and the density above them."""
    cells, styles = cells_and_styles(subject, benchmark)
    metric, unit, better = subject.data.metric, subject.data.unit, subject.data.better
    scale = quantity_scale(end for cell in cells.values() for end in cell.ends)
    names = names_of(list(cells), sheet)
    labels = [f"{names[name]}\n{cell.values.size} runs" for name, cell in cells.items()]
    axes = rows_down(labels, (0.6, 0.55))
    quantity_axis(axes, "x", scale, unit)
    axes.x_label = f"{name_of(metric, sheet)} of a run ({better} is better)"
    if scale.log and subject.baseline in cells:
        axes.upright(mean_of(cells[subject.baseline].values), "one thin")
    text, rows = [], list[tuple[Number, ...]]()
    for row, (name, cell) in enumerate(cells.items()):
        _strip(axes, cell, styles[name], row, scale)
        sessions = "" if cell.labels == ("",) else f" in {len(cell.labels)} sessions"
        median, low, high = (quantity(v, unit) for v in (float(np.median(cell.values)), *cell.ends))
        text.append(f"{name}: {cell.values.size} runs{sessions}, median {median}, {low} to {high}")
        named = [cell.labels[session] or None for session in cell.session.tolist()]
        rows += [(name, *run) for run in zip(named, cell.values.tolist(), strict=True)]
    lines = max(min(len(cell.labels), _LINES) for cell in cells.values())
    height = rows_high(sheet, len(cells), 2.4 + 0.55 * lines, 3.5)
    return Drawing(
        alt=f"{metric} of {benchmark}, {better} is better. {'. '.join(text)}.",
        picture=arranged(sheet, [[axes]], height),
        columns=("variant", "session", f"{metric}_{unit}"),
        rows=tuple(rows),
    )


def _strip(axes: Axes, cell: Cell, css: str, row: int, scale: Scale) -> None:
    x = np.log(cell.values) if scale.log else cell.values
    width = bandwidth_of(x) if cell.values.size >= _FEW else 0.0
    if width > 0:
        places = np.linspace(x.min() - 3 * width, x.max() + 3 * width, _PLACES)
        height = kernel_density(x, places, width)
        grid = np.exp(places) if scale.log else places
        top = row - 0.08
        up = top - 0.36 * height / height.max()
        axes.curve([grid[0], *grid, grid[-1]], [top, *up, top], f"{css} pale", closed=True)
    sessions = cell.by_session
    shared = len(sessions) > _LINES
    step = 0.0 if len(sessions) == 1 else 0.4 / (1 if shared else len(sessions) - 1)
    for k, values in enumerate(sessions):
        y = row + (0.15 if shared or len(sessions) == 1 else k * step)
        axes.spots(values, y, f"{css} faint")
        if scale.log and not shared:
            mean = mean_of(values)
            half = min(0.5 * step, 0.08) or 0.08
            axes.line(mean, y - half, mean, y + half, "ink curve")


# --- The distribution, and the speedup at each decile.


def draw_ecdf(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw the share of runs done by a time, a step curve for each variant."""
    cells, styles = cells_and_styles(subject, benchmark)
    metric, unit = subject.data.metric, subject.data.unit
    scale = quantity_scale(end for cell in cells.values() for end in cell.ends)
    names = names_of(list(cells), sheet)
    axes = Axes(
        y=Scale(0, 1.02),
        y_ticks=[Tick(0, "0"), Tick(0.5, "half"), Tick(1, "all")],
        y_label="share of runs",
        x_label=f"{name_of(metric, sheet, 0.3)} of at most",
    )
    quantity_axis(axes, "x", scale, unit)
    text, rows = [], list[tuple[Number, ...]]()
    for name, cell in cells.items():
        count, css = cell.values.size, f"{styles[name]} curve"
        steps = distribution(cell)
        x, y = np.vstack(((scale.low, 0), steps, (scale.high, 1))).T
        axes.keys.append(Key(f"{names[name]}, {count} runs", css))
        axes.curve(x, y, css, steps=True)
        half, most = (quantity(float(q), unit) for q in np.quantile(cell.values, [0.5, 0.9]))
        text.append(f"half of {name}'s {count} runs need at most {half}, nine tenths {most}")
        rows += [(name, *step) for step in steps.tolist()]
    return Drawing(
        alt=f"Empirical distribution functions of {metric} on {benchmark}: {'; '.join(text)}.",
        picture=arranged(sheet, [[axes]], min(sheet.width * 0.62, 90.0)),
        columns=("variant", f"{metric}_{unit}", "share"),
        rows=tuple(rows),
    )


def draw_shift(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw each candidate's speedup at the deciles of the runs, with intervals over sessions."""
    cells, styles = cells_and_styles(subject, benchmark)
    found = _shifts(subject, cells, benchmark)
    verdict = subject.verdict
    lower = verdict.data.better == "lower"
    names = names_of(list(found), sheet)
    ends = {
        name: np.exp(np.array(shift.logs) + np.outer((-1, 0, 1), np.nan_to_num(shift.half)))
        for name, shift in found.items()
    }
    margin = verdict.question.margin
    scale = ratio_scale(np.concatenate([*ends.values()], axis=None).tolist(), margin)
    words = ("fast", "median run", "slow") if lower else ("low", "median run", "high")
    places = zip((0.1, 0.25, 0.5, 0.75, 0.9), (words[0], "", words[1], "", words[2]), strict=True)
    axes = Axes(
        x=Scale(0.03, 0.97),
        y=scale,
        x_ticks=[Tick(at, text) for at, text in places if text or lower],
        y_label=f"speedup over\n{name_of(subject.baseline, sheet, 0.3)}",
        x_label=f"runs of each side, from {words[0]} on",
        keys=[Key(names[name], f"{styles[name]} curve") for name in found if len(found) > 1],
    )
    axes.margin(margin, "y")
    ratio_axis(axes, "y", scale)
    phrase, notes, rows = [], list[str](), list[tuple[Number, ...]]()
    for k, (name, shift) in enumerate(found.items()):
        x = np.array(shift.shares) + (k - (len(found) - 1) / 2) * 0.016
        low, middle, high = ends[name]
        axes.segments(x, low, x, high, f"{styles[name]} d0 curve")
        axes.curve(x, middle, f"{styles[name]} line")
        axes.spots(x, middle, styles[name], r=2.1)
        points = (0, len(shift.shares) // 2, -1)
        at = [f"{middle[p]:.2f}× at the {100 * shift.shares[p]:.0f} % point" for p in points]
        few = len(shift.shares) == 3
        limits = ["quartiles, for lack of runs"] * few
        limits += ["one session, so no interval"] * bool(np.isnan(shift.half).all())
        notes += [f"{names[name]}: {limit}" for limit in limits]
        phrase.append(f"{name}: {', '.join([*at, *limits])}, over {shift.sessions} sessions")
        known = np.isfinite(shift.half).tolist()
        each = zip(shift.shares, known, *ends[name].tolist(), strict=True)
        rows += [
            (name, share, mid, lo if is_known else None, hi if is_known else None, shift.sessions)
            for share, is_known, lo, mid, hi in each
        ]
    return Drawing(
        alt=f"Speedups over {subject.baseline} by quantile of the runs of {benchmark} "
        f"(shift function). {'. '.join(phrase)}.",
        picture=arranged(sheet, [[axes]], min(sheet.width * 0.62, 90.0), notes=notes),
        columns=("candidate", "share", "speedup", "low", "high", "sessions"),
        rows=tuple(rows),
    )


def _shifts(subject: Subject, cells: Mapping[str, Cell], benchmark: str) -> dict[str, Shift]:
    base = cells.get(subject.baseline)
    found = {}
    for one in subject.candidates:
        ours, result = cells.get(one.variant), one.multilevel
        if base is None or ours is None or result is None:
            continue
        shift = shift_between(result, ours, base)
        if shift is not None and line_of(subject, one.variant, benchmark) is not None:
            found[one.variant] = shift
    if not found:
        what = "a shift function needs two sides with three positive runs in a session"
        fix = "measure more runs, or draw an ecdf"
        raise InsufficientDataError(what, benchmark, fix, n=0, needed=3)
    return found


# --- Against a normal law: figures 2 and 3 of T. Chen et al., "Statistical performance comparisons of
# computers", HPCA 2012, and mixtures of such laws.


_LAW = "ink dashed thin"
_MOST = len(COLOURS)  # variants
_NARROW = 38.0  # mm: a panel
_FEWEST = 4  # runs of a variant


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
    unit = subject.data.unit
    names = names_of(list(found), sheet)
    panels, text, rows = [], [], list[tuple[Number, ...]]()
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
        apart = 50 * np.trapezoid(np.abs(one.kernel - one.normal), one.grid)
        runs = one.ordered.size
        text.append(f"{name}: {apart:.0f} % of the area of {runs} runs lies outside of the law")
        curves = np.column_stack((one.grid, one.kernel, one.normal))
        rows += [(name, *each) for each in curves.tolist()]
    kernel = Key("kernel density", f"{styles[next(iter(found))]} curve")
    panels[0].keys = [kernel, Key("normal law", _LAW)]
    panels[-1].x_label = name_of(subject.data.metric, sheet)
    height = rows_high(sheet, len(found), 11.5, 5.5)
    return Drawing(
        alt=f"Kernel densities of the runs of {benchmark}, and the normal laws with their mean and "
        f"standard deviation. {'. '.join(text)}.",
        picture=arranged(sheet, [[axes] for axes in panels], height, y_label="density"),
        columns=("variant", f"{subject.data.metric}_{unit}", "kernel_density", "normal_law"),
        rows=tuple(rows),
    )


def draw_qq(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a square for each variant: its runs less their session's mean, against a normal law.

    Of logs where all runs are positive, in standard deviations within sessions; on the line they
    would be normal (lognormal).
    """
    cells, styles = cells_and_styles(subject, benchmark)
    every = ((name, normal_quantiles(cell)) for name, cell in cells.items())
    found = {name: dots for name, dots in every if len(dots) >= _FEWEST}
    if not found:
        what = "a normal Q-Q plot needs four runs of a variant that vary within sessions"
        raise InsufficientDataError(what, benchmark, n=0, needed=_FEWEST)
    across = max(1, min(len(found), int(sheet.width / _NARROW)))
    names = names_of(list(found), sheet, 0.7 * _NARROW / sheet.width)
    panels, text, rows = [], [], list[tuple[Number, ...]]()
    for k, (name, dots) in enumerate(found.items()):
        reach = 1.06 * float(np.abs(dots).max())
        step = max(1, math.ceil(reach / 2))
        ticks = [Tick(at, f"{at}".replace("-", "\N{MINUS SIGN}")) for at in (-step, 0, step)]
        axes = Axes(x=Scale(-reach, reach), y=Scale(-reach, reach), x_ticks=ticks, y_ticks=ticks)
        axes.square, axes.title = True, f"{names[name]}\nn = {len(dots)}"
        axes.x_label, axes.y_label = "normal quantile", "" if k % across else "run, in sd"
        axes.line(-reach, -reach, reach, reach, "one thin")
        axes.spots(dots[:, 0], dots[:, 1], f"{styles[name]} dense")
        panels.append(axes)
        apart = float(np.abs(dots[:, 1] - dots[:, 0]).max())
        law = f"the farthest lies {apart:.1f} standard deviations from the law"
        text.append(f"{name}: {len(dots)} runs, {law}")
        rows += [(name, *dot) for dot in dots.tolist()]
    logs = "logs of the " if all(cells[name].positive for name in found) else ""
    high = min(sheet.width / across * 0.92, 62.0) + 3 * sheet.font_size * POINT
    height = min(230.0, high * -(-len(panels) // across))
    return Drawing(
        alt=f"Q-Q plot of the {logs}runs of {benchmark}, less their session's mean, against a normal "
        f"law. {'. '.join(text)}.",
        picture=in_columns(sheet, panels, across, height),
        columns=("variant", "normal_quantile", "residual_in_sd"),
        rows=tuple(rows),
    )


def draw_modes(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row for each variant: a mixture of normal laws over the histogram of its runs."""
    cells, styles = cells_and_styles(subject, benchmark)
    unit, better = subject.data.unit, subject.matrices[next(iter(cells))].better
    matrices = [
        PerformanceMatrix.from_samples(name, {benchmark: cell.values}, better=better, unit=unit)
        for name, cell in list(cells.items())[:_MOST]
        if cell.positive
    ]
    options = MixtureOptions(resamples=0)
    fitted, rng = [], stream(0, "mixture")
    if matrices:
        report = mixture_report(matrices, benchmark=benchmark, options=options, rng=rng)
        fitted = [one for one in report.benchmarks[0].cells if one.mixture is not None]
    if not fitted:
        raise InsufficientDataError("no variant has a mixture", benchmark, n=0, needed=3)
    window = window_of(fitted)
    names = names_of([one.variant for one in fitted], sheet)
    panels, phrase, notes, beyond = [], [], [], False
    rows: list[tuple[Number, ...]] = []
    for one in fitted:
        found, count = one.fitted, f"{one.values.size} runs"
        parts = counted(found.components, "component"), counted(found.modes().size, "mode")
        words = ", ".join((count, *parts))
        axes = Axes(title=f"{names[one.variant]}: {words}", x_texts=one is fitted[-1])
        quantity_axis(axes, "x", window, unit)
        beyond |= draw_mixture(axes, one, styles[one.variant], unit=unit)
        label, axes.y_label, axes.keys = axes.y_label, "", []
        panels.append(axes)
        phrase += [f"{one.variant}: {text}" for text in (words, *(c.text for c in one.cautions))]
        notes += [f"{names[one.variant]}: {caution.text}" for caution in one.cautions]
        laws = np.column_stack((found.weights, found.means, found.sds)).tolist()
        rows += [(one.variant, k, *law, unit) for k, law in enumerate(laws, 1)]
    if beyond:
        notes.insert(0, "a triangle: there the density goes on above the picture")
    panels[-1].x_label = f"{name_of(subject.data.metric, sheet)} of a run ({better} is better)"
    height = rows_high(sheet, len(fitted), 9.5, 3.5)
    return Drawing(
        alt=f"Gaussian mixtures by BIC of the runs of {benchmark}. {'. '.join(phrase)}.",
        picture=arranged(sheet, [[axes] for axes in panels], height, y_label=label, notes=notes),
        columns=("variant", "component", "weight", "mean", "sd", "unit"),
        rows=tuple(rows),
    )


# --- The iterations of each run in their order, all of them, and from which on they are judged.

_POINTS = 250  # points of a run: of more iterations the median of neighbours is drawn
_DRAWN = 40  # runs of a variant that are drawn


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


def thinned(run: RunIterations) -> tuple[Array, Array]:
    """Give medians of neighbours, 250 at most, and the middles of their places, counted from 1."""
    each = max(1, -(-run.values.size // _POINTS))
    parts = range(0, run.values.size, each)
    middles = np.array([np.median(run.values[k : k + each]) for k in parts])
    return middles, np.array([run.places[k : k + each].mean() for k in parts])


def printed_metric(subject: Subject) -> str:
    """Give the metric whose iterations are drawn: that which is judged, or whose quantile it is."""
    basis = subject.verdict.quantile
    return subject.data.metric if basis is None else basis.metric


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
        rows = np.flatnonzero(mine & trial.of_variant(name))
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
    shown = {name: [run for _, run in found[:_DRAWN]] for name, found in runs.items() if found}
    drawn = [thinned(run)[0] for some in shown.values() for run in some]
    scale = quantity_scale(end for one in drawn for end in (one.min(), one.max()))
    names = names_of(list(shown), sheet)
    panels = []
    for name, some in shown.items():
        axes = panel_of(some, styles[name], scale, subject.data.unit)
        axes.title = f"{names[name]}: {len(some)} of {len(runs[name])} runs"
        panels.append(axes)
    panels[-1].x_label = f"iteration; {name_of(metric, sheet)} ({subject.data.better} is better)"
    text, rows = [], list[tuple[Number, ...]]()
    for name, found in runs.items():
        if found:
            left = span(run.left_out for _, run in found)
            text.append(f"{name}: {len(found)} runs, {left} iterations not judged")
        for number, (session, run) in enumerate(found, 1):
            for place, value in zip(run.places.tolist(), run.values.tolist(), strict=True):
                iteration = int(place) if place == int(place) else place
                rows.append((name, session, number, iteration, int(place > run.left_out), value))
    headings = f"variant session run iteration judged {metric}_{subject.data.unit}"
    height = rows_high(sheet, len(panels), 7.0, 4.0)
    notes = ["dot: the first iteration that is judged"]
    return Drawing(
        alt=f"{metric} of {benchmark}, iteration by iteration. {'; '.join(text)}.",
        picture=arranged(sheet, [[axes] for axes in panels], height, notes=notes),
        columns=tuple(headings.split()),
        rows=tuple(rows),
    )
