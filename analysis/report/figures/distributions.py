"""Distributions of runs: up to a time, decile by decile, against the run before and a normal law."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...diagnose.modes import explained_modes
from ...errors import AnalysisError, InsufficientDataError
from ...methods.mixture.pictures import draw_density, window_of
from ...methods.mixture.report import MixtureOptions, mixture_report
from ...methods.variance_sources.covariates import spoken
from ...pages.number_format import quantity
from ...plots.axes import (
    Axes,
    Key,
    Scale,
    Tick,
    quantity_axis,
    quantity_scale,
    ratio_axis,
    ratio_scale,
)
from ...plots.chart import POINT, arranged
from ...stats.arguments import stream
from ...stats.ranks import midranks
from ..runs import distribution, normal_quantiles, pairs_in_order, shift_between
from .panels import (
    Drawing,
    Number,
    cells_and_styles,
    check_order,
    in_columns,
    line_of,
    name_of,
    names_of,
    rows_high,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...methods.variance_sources.covariates import Covariate
    from ...methods.variance_sources.modes import Explained
    from ...plots.chart import Sheet
    from ...plots.paper import Picture
    from ...stats.quantiles import Shift
    from ..subject import Subject

__all__ = ["draw_causes", "draw_ecdf", "draw_lag", "draw_modes", "draw_qq", "draw_shift"]

_QUARTILES = 3  # of them there are
_NARROW = 38.0  # mm: a panel
_FEWEST = 4  # runs of a variant


def draw_ecdf(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw the share of runs done by a time, a step curve for each variant."""
    cells, styles = cells_and_styles(subject, benchmark)
    metric, unit = subject.verdict.metric, subject.verdict.unit
    scale = quantity_scale(end for cell in cells.values() for end in cell.ends)
    names = names_of(list(cells), sheet)
    axes = Axes(
        y=Scale(0, 1.02),
        y_ticks=[Tick(0, "0"), Tick(0.5, "half"), Tick(1, "all")],
        y_label="share of runs",
        x_label=f"{name_of(metric, sheet, 0.3)} of at most",
    )
    quantity_axis(axes, "x", scale, unit)
    told, rows = [], []
    for name, cell in cells.items():
        count, css = cell.values.size, f"{styles[name]} curve"
        steps = distribution(cell)
        x, y = np.vstack(((scale.low, 0), steps, (scale.high, 1))).T
        axes.keys.append(Key(f"{names[name]}, {count} runs", css))
        axes.curve(x, y, css, steps=True)
        half, most = (quantity(float(q), unit) for q in np.quantile(cell.values, [0.5, 0.9]))
        told.append(f"half of {name}'s {count} runs need at most {half}, nine tenths {most}")
        rows += [(name, *step) for step in steps.tolist()]
    return Drawing(
        name=subject.anchor("ecdf", benchmark),
        title=f"distribution of the runs of {benchmark}",
        alt=f"Empirical distribution functions of {metric} on {benchmark}: {'; '.join(told)}.",
        picture=arranged(sheet, [[axes]], min(sheet.width * 0.62, 90.0)),
        columns=("variant", f"{metric}_{unit}", "share"),
        rows=tuple(rows),
    )


def draw_shift(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw each candidate's speedup at the deciles of the runs, with intervals over sessions."""
    cells, styles = cells_and_styles(subject, benchmark)
    base = cells.get(subject.baseline)
    results = {one.variant: one.multilevel for one in subject.candidates}
    found = [
        (name, shift)
        for name, cell in cells.items()
        if base is not None
        and (result := results.get(name)) is not None
        and line_of(subject, name, benchmark) is not None
        and (shift := shift_between(result, cell, base)) is not None
    ]
    if not found:
        raise InsufficientDataError(
            "a shift function needs two sides with three positive runs in a session",
            benchmark,
            "measure more runs, or draw an ecdf",
            n=0,
            needed=3,
        )
    verdict = subject.verdict
    lower = verdict.better == "lower"
    names = names_of([name for name, _ in found], sheet)
    ends = [
        math.exp(end)
        for _, shift in found
        for log, half in zip(shift.logs, np.nan_to_num(shift.half), strict=True)
        for end in (log - half, log, log + half)
    ]
    scale = ratio_scale(ends, verdict.margin)
    words = ("fast", "median run", "slow") if lower else ("low", "median run", "high")
    places = zip((0.1, 0.25, 0.5, 0.75, 0.9), (words[0], "", words[1], "", words[2]), strict=True)
    axes = Axes(
        x=Scale(0.03, 0.97),
        y=scale,
        x_ticks=[Tick(at, text) for at, text in places if text or lower],
        y_label=f"speedup over\n{name_of(subject.baseline, sheet, 0.3)}",
        x_label=f"runs of each side, from {words[0]} on",
        keys=[Key(names[name], f"{styles[name]} curve") for name, _ in found if len(found) > 1],
    )
    axes.margin(verdict.margin, "y")
    ratio_axis(axes, "y", scale)
    for k, (name, shift) in enumerate(found):
        x = np.array(shift.shares) + (k - (len(found) - 1) / 2) * 0.016
        logs, half = np.asarray(shift.logs), np.nan_to_num(shift.half)
        axes.segments(x, np.exp(logs - half), x, np.exp(logs + half), f"{styles[name]} d0 curve")
        axes.curve(x, np.exp(logs), f"{styles[name]} line")
        axes.spots(x, np.exp(logs), styles[name], r=2.1)
    limits = _limits(found)
    notes = [f"{names[name]}: {said}" for name, said in limits]
    picture = arranged(sheet, [[axes]], min(sheet.width * 0.62, 90.0), notes=notes)
    told = [*_told(found), *(f"{name}: {said}" for name, said in limits)]
    return Drawing(
        name=subject.anchor("shift", benchmark),
        title=f"speedup at each decile of {benchmark}",
        alt=f"Speedups over {subject.baseline} by quantile of the runs of {benchmark} "
        f"(shift function). {'. '.join(told)}.",
        picture=picture,
        columns=("candidate", "share", "speedup", "low", "high", "sessions"),
        rows=tuple(_row(name, shift, k) for name, shift in found for k in range(len(shift.shares))),
    )


def _limits(found: Sequence[tuple[str, Shift]]) -> list[tuple[str, str]]:
    """Say of each candidate what its runs do not allow."""
    return [
        (name, said)
        for name, shift in found
        for said, holds in (
            ("quartiles, for lack of runs", len(shift.shares) == _QUARTILES),
            ("one session, so no interval", bool(np.isnan(shift.half).all())),
        )
        if holds
    ]


def _told(found: Sequence[tuple[str, Shift]]) -> list[str]:
    """Say what the picture shows of each candidate."""
    return [
        f"{name}: {math.exp(shift.logs[0]):.2f}× at the {shift.shares[0]:.0%} point, "
        f"{math.exp(shift.logs[len(shift.logs) // 2]):.2f}× at the median, "
        f"{math.exp(shift.logs[-1]):.2f}× at the {shift.shares[-1]:.0%} point, over "
        f"{shift.sessions} sessions".replace("%", " %")
        for name, shift in found
    ]


def _row(name: str, shift: Shift, k: int) -> tuple[Any, ...]:
    log, half = float(shift.logs[k]), float(shift.half[k])
    ends = (None, None) if math.isnan(half) else (math.exp(log - half), math.exp(log + half))
    return (name, shift.shares[k], math.exp(log), *ends, shift.sessions)


def draw_lag(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a square for each variant: the run before across, the run upwards."""
    cells, styles = cells_and_styles(subject, benchmark)
    check_order(subject, cells, benchmark)
    pairs = {name: pairs_in_order(cell) for name, cell in cells.items()}
    shown = [name for name in cells if len(pairs[name]) >= _FEWEST]
    if not shown:
        raise InsufficientDataError(
            "a lag plot needs runs that follow each other", benchmark, n=0, needed=_FEWEST
        )
    names = names_of(shown, sheet, 0.7 * _NARROW / sheet.width)
    panels, told, rows = [], [], []
    for name in shown:
        before, after = pairs[name].T
        scale = quantity_scale(cells[name].ends)
        r = _correlation(subject, benchmark, name, pairs[name])
        said = "" if r is None else f"r\xa0=\xa0{r:.2f}, "
        axes = Axes(
            title=f"{names[name]}\n{said}n\xa0=\xa0{before.size}",
            square=True, x_label="the run before", y_label="the run",
        )  # fmt: skip
        quantity_axis(axes, "x", scale, subject.verdict.unit, most=3)
        quantity_axis(axes, "y", scale, subject.verdict.unit, most=3)
        axes.line(scale.low, scale.low, scale.high, scale.high, "grid thin")
        axes.spots(before, after, f"{styles[name]} faint", r=1.4)
        panels.append(axes)
        told.append(
            f"{name}: " + ("" if r is None else f"autocorrelation {r:.2f} of ")
            + f"{before.size} pairs"
        )  # fmt: skip
        rows += [(name, *pair) for pair in pairs[name].tolist()]
    metric = f"{subject.verdict.metric}_{subject.verdict.unit}"
    return Drawing(
        name=subject.anchor("lag", benchmark),
        title=f"each run of {benchmark} against the run before",
        alt=f"Runs of {benchmark} against the run before in the same session. {'. '.join(told)}.",
        picture=_squares(sheet, panels),
        columns=("variant", f"{metric}_before", metric),
        rows=tuple(rows),
    )


def _correlation(
    subject: Subject, benchmark: str, variant: str, pairs: NDArray[np.float64]
) -> float | None:
    """Give the diagnosis' autocorrelation of ranks, else Spearman's of the pairs; None if unknown."""
    diagnosis = subject.verdict.diagnosis
    for one in () if diagnosis is None else diagnosis.cells:
        if (one.benchmark, one.variant) == (benchmark, variant) and one.lag_1 is not None:
            return one.lag_1
    before, after = pairs.T
    if np.ptp(before) == 0 or np.ptp(after) == 0:
        return None
    return float(np.corrcoef(midranks(before), midranks(after))[0, 1])


def draw_qq(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a square for each variant: its runs less their session's mean, against a normal law.

    Of logs where all runs are positive, in standard deviations within sessions; on the line they
    would be normal (lognormal).
    """
    cells, styles = cells_and_styles(subject, benchmark)
    every = ((name, normal_quantiles(cell)) for name, cell in cells.items())
    found = {name: dots for name, dots in every if len(dots) >= _FEWEST}
    if not found:
        raise InsufficientDataError(
            "a normal Q-Q plot needs four runs of a variant that vary within sessions",
            benchmark,
            n=0,
            needed=_FEWEST,
        )
    names = names_of(list(found), sheet, 0.7 * _NARROW / sheet.width)
    panels, told, rows = [], [], []
    for name, dots in found.items():
        across, rest = dots.T
        reach = 1.06 * float(np.abs(dots).max())
        scale = Scale(-reach, reach)
        step = max(1, math.ceil(reach / 2))
        ticks = [
            Tick(value, f"{value}".replace("-", "\N{MINUS SIGN}")) for value in (-step, 0, step)
        ]
        axes = Axes(
            x=scale, y=scale, x_ticks=ticks, y_ticks=ticks, square=True,
            title=f"{names[name]}\nn = {rest.size}",
            x_label="normal quantile", y_label="run, in sd",
        )  # fmt: skip
        axes.line(-reach, -reach, reach, reach, "one thin")
        axes.spots(across, rest, f"{styles[name]} dense")
        panels.append(axes)
        apart = float(np.abs(rest - across).max())
        told.append(
            f"{name}: {rest.size} runs, the farthest lies {apart:.1f} standard deviations "
            "from the law"
        )
        rows += [(name, *dot) for dot in dots.tolist()]
    logs = "logs of the " if all(cells[name].positive for name in found) else ""
    return Drawing(
        name=subject.anchor("qq", benchmark),
        title=f"runs of {benchmark} against a normal law",
        alt=f"Q-Q plot of the {logs}runs of {benchmark}, less their session's mean, against a normal "
        f"law. {'. '.join(told)}.",
        picture=_squares(sheet, panels),
        columns=("variant", "normal_quantile", "residual_in_sd"),
        rows=tuple(rows),
    )


def _squares(sheet: Sheet, panels: Sequence[Axes]) -> Picture:
    """Set squares beside and below each other; only the first of a row says what is upwards."""
    across = max(1, min(len(panels), int(sheet.width / _NARROW)))
    for k, axes in enumerate(panels):
        axes.y_label = axes.y_label if k % across == 0 else ""
    high = min(sheet.width / across * 0.92, 62.0) + 3 * sheet.font_size * POINT
    return in_columns(sheet, panels, across, min(230.0, high * -(-len(panels) // across)))


# --- Modes: mixtures of normal laws over the histogram of the runs, and what separates the modes.


_SEED = 0
_MOST, _EXPLAINED = 6, 4  # variants
_MARKS = ("circle", "up", "square", "diamond", "down", "fat-plus")
_WORDS = ("circle", "triangle", "square", "diamond", "triangle on its point", "plus")
_APART = 0.07  # between runs of one level
_ROWS = 5
_LEVELS = 12  # that are named below the axis


def draw_modes(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row for each variant."""
    cells, styles = cells_and_styles(subject, benchmark)
    matrices = [
        PerformanceMatrix.from_samples(
            name,
            {benchmark: cell.values},
            better=subject.matrices[name].better,
            unit=subject.verdict.unit,
        )
        for name, cell in list(cells.items())[:_MOST]
        if cell.positive
    ]
    fitted = []
    if matrices:
        report = mixture_report(
            matrices,
            benchmark=benchmark,
            options=MixtureOptions(resamples=0),
            rng=stream(_SEED, "mixture"),
        )
        fitted = [one for one in report.benchmarks[0].cells if one.mixture is not None]
    if not fitted:
        raise InsufficientDataError("no variant has a mixture", benchmark, n=0, needed=3)
    unit, window = subject.verdict.unit, window_of(fitted)
    names = names_of([one.variant for one in fitted], sheet)
    panels, told, cautions, beyond = [], [], [], False
    for one in fitted:
        k, modes = one.fitted.components, one.fitted.modes().size
        said = (
            f"{one.values.size} runs, {k} component{'s' * (k > 1)}, {modes} mode{'s' * (modes > 1)}"
        )
        axes = Axes(title=f"{names[one.variant]}: {said}", x_texts=one is fitted[-1])
        quantity_axis(axes, "x", window, unit)
        beyond |= draw_density(axes, one, styles[one.variant], unit=unit)
        label, axes.y_label, axes.keys = axes.y_label, "", []
        panels.append(axes)
        told.append(f"{one.variant}: {said}")
        cautions += [(one.variant, caution.text) for caution in one.cautions]
    metric = name_of(subject.verdict.metric, sheet)
    panels[-1].x_label = f"{metric} of a run ({subject.verdict.better} is better)"
    notes = ["a triangle: there the density goes on above the picture"] if beyond else []
    picture = arranged(
        sheet,
        [[axes] for axes in panels],
        rows_high(sheet, len(fitted), 9.5, 3.5),
        y_label=label,
        notes=[*notes, *(f"{names[name]}: {text}" for name, text in cautions)],
    )
    return Drawing(
        name=subject.anchor("modes", benchmark),
        title=f"mixtures of the runs of {benchmark}",
        alt=f"Gaussian mixtures by BIC of the runs of {benchmark}. {'. '.join([*told, *(f'{name}: {text}' for name, text in cautions)])}.",
        picture=picture,
        columns=("variant", "component", "weight", "mean", "sd", "unit"),
        rows=tuple(
            (one.variant, k, weight, mean, sd, unit)
            for one in fitted
            for k, (weight, mean, sd) in enumerate(
                zip(
                    one.fitted.weights.tolist(), one.fitted.means.tolist(), one.fitted.sds.tolist(),
                    strict=True,
                ),
                1,
            )
        ),
    )  # fmt: skip


def draw_causes(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row for each variant that has modes; what is shaded are the values of the sentence."""
    found = [one for one in _explained(subject) if one.runs.benchmark == benchmark][:_EXPLAINED]
    if not found:
        raise InsufficientDataError(
            "the runs of no variant have several modes", benchmark, n=1, needed=2
        )
    unit = subject.verdict.unit
    scale = quantity_scale(value for one in found for value in one.runs.values.tolist())
    names = names_of([one.runs.variant for one in found], sheet)
    rows: list[list[Axes | None]] = []
    for one in found:
        order = _in_order(one, scale)
        quantity_axis(order, "y", scale, unit, most=4)
        order.title = f"{names[one.runs.variant]}: {len(one.mode.classes)} modes"
        order.x_label = "runs in their order" if one is found[-1] else ""
        rows.append([order])
        if one.covariate is not None:
            against = _against(one, one.covariate, order)
            lines = spoken(one.covariate.name).replace(" modulo ", "\nmodulo ").split("\n")
            against.x_label = "\n".join(name_of(line, sheet, 0.45) for line in lines)
            rows[-1].append(against)
    most = max(len(one.mode.classes) for one in found)
    aside = any(one.mode.aside for one in found)
    marks = [f"{_WORDS[k % len(_WORDS)]}: mode {k + 1}" for k in range(most)]
    marks += ["cross: of none"] * aside
    marks += ["grey: the values below"] * any(_is_shaded(one) for one in found)
    said = [f"{names[one.runs.variant]}: {_modes_in_words(one)}" for one in found]
    picture = arranged(
        sheet, rows, rows_high(sheet, len(found), 12.5, 2.0), notes=["; ".join(marks), *said],
        widths=(1, 1) if any(len(row) > 1 for row in rows) else (1,),
    )  # fmt: skip
    metric = subject.verdict.metric
    return Drawing(
        name=subject.anchor("causes", benchmark),
        title=f"modes of {benchmark} and what separates them",
        alt=f"{metric} of {benchmark} by mode. "
        + " ".join(
            f"{one.runs.variant}, {_counts(one, unit)}: {_modes_in_words(one)}." for one in found
        ),
        picture=picture,
        columns=("variant", "session", "run", f"{metric}_{unit}", "mode", "factor", "factor_value"),
        rows=_numbers(found),
    )


@functools.lru_cache(maxsize=1)
def _explained(subject: Subject) -> tuple[Explained, ...]:
    """Explain the modes of the whole trial once: all cells are one family, whichever is drawn."""
    if subject.trial is None:
        raise AnalysisError(
            "what separates modes is looked for within one trial",
            fix="draw the kind modes instead, or name one trial",
        )
    return explained_modes(
        [subject.trial],
        subject.verdict.metric,
        rng=stream(stream(_SEED, "sources"), "modes"),
    )


def _modes_in_words(one: Explained) -> str:
    return one.mode.sentence or "nothing that was recorded separates them"


def _counts(one: Explained, unit: str) -> str:
    told = [f"{quantity(c.mean, unit)} ({100 * c.share:.0f} %)" for c in one.mode.classes]
    return f"{one.runs.values.size} runs, modes at {', '.join(told)}"


def _spots(axes: Axes, one: Explained, x: np.ndarray) -> None:
    runs = one.runs
    for mode in range(-1, len(one.mode.classes)):
        mine = (runs.labels == mode) & np.isfinite(x)
        css, shape = ("second hair", "cross") if mode < 0 else (f"c{mode % 6}", _MARKS[mode % 6])
        axes.spots(x[mine], runs.values[mine], css, shape=shape)


def _in_order(one: Explained, scale: Scale) -> Axes:
    sessions = one.runs.sessions
    axes = Axes(x=Scale(0, sessions.size + 1), y=scale, sides="l")
    for place in (np.flatnonzero(np.diff(sessions)) + 1).tolist():
        axes.segments(place + 0.5, scale.low, place + 0.5, scale.high, "grid thin")
    _spots(axes, one, np.arange(sessions.size) + 1.0)
    return axes


def _against(one: Explained, covariate: Covariate, beside: Axes) -> Axes:
    values = covariate.values[one.runs.rows]
    axes = Axes(y=beside.y, y_ticks=beside.y_ticks, y_texts=False)
    if covariate.scale == "levels":
        seen = np.unique(values[np.isfinite(values)])
        place = np.full(values.size, np.nan)
        known = np.isfinite(values)
        place[known] = np.searchsorted(seen, values[known])
        apart = (np.arange(values.size) % _ROWS - _ROWS // 2) * _APART
        axes.x = Scale(-0.6, seen.size - 0.4)
        for level in one.rule.levels if one.rule is not None and _is_shaded(one) else ():
            at = float(np.searchsorted(seen, level))
            axes.band(at - 0.45, at + 0.45, None, None, "margin")
        _spots(axes, one, place + apart)
        axes.x_ticks = [
            Tick(float(k), covariate.labels[int(seen[k])][:_LEVELS])
            for k in range(0, seen.size, max(1, -(-seen.size // _LEVELS)))
        ]
        return axes
    if covariate.period is not None:
        axes.x = Scale(0.0, covariate.period)
        axes.x_ticks = [Tick(v, f"{v:g}") for v in (covariate.period * k / 4 for k in range(5))]
    else:
        whole = quantity_scale(values[np.isfinite(values)].tolist())
        quantity_axis(axes, "x", whole, covariate.unit, most=4)
    for left, right in _shaded(one, axes.x):
        axes.band(left, right, None, None, "margin")
    _spots(axes, one, values)
    return axes


def _is_shaded(one: Explained) -> bool:
    """Tell whether the sentence is about values; of what may follow it is about means."""
    return one.rule is not None and not one.mode.may_follow


def _shaded(one: Explained, scale: Scale) -> Sequence[tuple[float, float]]:
    """Give where the rule holds: an arc through 0 is two stretches."""
    rule = one.rule
    if rule is None or not _is_shaded(one):
        return ()
    low = scale.low if rule.low is None else rule.low
    high = scale.high if rule.high is None else rule.high
    return ((low, high),) if low <= high else ((scale.low, high), (low, scale.high))


def _numbers(found: Sequence[Explained]) -> tuple[tuple[Number, ...], ...]:
    """Give each run with its mode and its value of the factor; None where it is unknown."""
    rows: list[tuple[Number, ...]] = []
    for one in found:
        runs, covariate = one.runs, one.covariate
        places = np.zeros(runs.values.size, dtype=np.int64)
        for session in np.unique(runs.sessions):
            mine = runs.sessions == session
            places[mine] = np.arange(1, mine.sum() + 1)
        of = np.full(places.size, np.nan) if covariate is None else covariate.values[runs.rows]
        for k, value in enumerate(of.tolist()):
            label = int(runs.labels[k])
            factor: Number = None
            if covariate is not None and np.isfinite(value):
                factor = covariate.labels[int(value)] if covariate.labels else value
            rows.append(
                (
                    runs.variant,
                    int(runs.sessions[k]),
                    int(places[k]),
                    float(runs.values[k]),
                    None if label < 0 else label + 1,
                    None if covariate is None else covariate.name,
                    factor,
                )
            )
    return tuple(rows)
