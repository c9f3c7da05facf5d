"""Modes: mixtures of normal laws over the histogram of the runs, and what separates the modes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...diagnose.modes import explained_modes
from ...errors import AnalysisError, InsufficientDataError
from ...methods.mixture.picture import draw_density, window_of
from ...methods.mixture.report import MixtureOptions, mixture_report
from ...methods.variance_sources.covariates import spoken
from ...pages.number_format import quantity
from ...plots.axes import Axes, quantity_axis
from ...plots.layout import arranged
from ...plots.scale import Scale, Tick, quantity_scale
from ...stats.arguments import stream
from .cells import cells_and_styles
from .layout import Drawing, Number, name_of, names_of, rows_high

if TYPE_CHECKING:
    from ...methods.variance_sources.covariates import Covariate
    from ...methods.variance_sources.modes import Explained
    from ...plots.sheet import Sheet
    from ..subject import Subject

__all__ = ["draw_causes", "draw_modes"]

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
    said = [f"{names[one.runs.variant]}: {_told(one)}" for one in found]
    picture = arranged(
        sheet, rows, rows_high(sheet, len(found), 12.5, 2.0), notes=["; ".join(marks), *said],
        widths=(1, 1) if any(len(row) > 1 for row in rows) else (1,),
    )  # fmt: skip
    metric = subject.verdict.metric
    return Drawing(
        name=subject.anchor("causes", benchmark),
        title=f"modes of {benchmark} and what separates them",
        alt=f"{metric} of {benchmark} by mode. "
        + " ".join(f"{one.runs.variant}, {_counts(one, unit)}: {_told(one)}." for one in found),
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


def _told(one: Explained) -> str:
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
