"""Modes and what separates them: the runs in their order, and against the separating factor."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...diagnose.modes import explained_modes
from ...errors import AnalysisError, InsufficientDataError
from ...methods.variance_sources.covariates import spoken
from ...pages.number_format import quantity
from ...plots.palette import COLOURS, PRINT
from ...plots.paper import clear, quantity_axis
from ...plots.scale import Scale, quantity_scale
from ...stats.arguments import stream
from .layout import fresh, name_of, names_of, note, rows_high
from .result import Drawing, Number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...methods.variance_sources.covariates import Covariate
    from ...methods.variance_sources.modes import Explained
    from ...plots.drawing import Sheet
    from ..subject import Subject

__all__ = ["draw_causes"]

_SEED = 0
_MOST = 4  # variants
_DOT = 2.8
_MARKS = ("o", "^", "s", "D", "v", "P")
_WORDS = ("circle", "triangle", "square", "diamond", "triangle on its point", "plus")
_APART = 0.07  # between runs of one level
_ROWS = 5
_LEVELS = 12  # that are named below the axis


def draw_causes(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row for each variant that has modes; what is shaded are the values of the sentence.

    Raises
    ------
    AnalysisError
        If these sources are not one trial.
    InsufficientDataError
        If the runs of no variant have several modes.
    """
    found = [one for one in _explained(subject) if one.runs.benchmark == benchmark][:_MOST]
    if not found:
        raise InsufficientDataError(
            "the runs of no variant have several modes", benchmark, n=1, needed=2
        )
    unit = subject.verdict.unit
    scale = quantity_scale(value for one in found for value in one.runs.values.tolist())
    figure = fresh(sheet, rows_high(sheet, len(found), 12.5, 2.0))
    drawn = figure.subplots(len(found), 2, squeeze=False, sharey=True, width_ratios=(1.0, 1.0))
    names = names_of([one.runs.variant for one in found], sheet)
    for (order, against), one in zip(drawn, found, strict=True):
        _in_order(order, one)
        quantity_axis(order, "y", scale, unit, most=4)
        modes = len(one.mode.classes)
        order.set_title(f"{names[one.runs.variant]}: {modes} modes", color=PRINT.ink)
        if one.covariate is None:
            against.remove()
        else:
            _against(against, one, one.covariate)
            lines = spoken(one.covariate.name).replace(" modulo ", "\nmodulo ").split("\n")
            against.set_xlabel("\n".join(name_of(line, sheet, 0.45) for line in lines))
    drawn[-1][0].set_xlabel("runs in their order")
    most = max(len(one.mode.classes) for one in found)
    aside = any(one.mode.aside for one in found)
    marks = [f"{_WORDS[k % len(_WORDS)]}: mode {k + 1}" for k in range(most)]
    marks += ["cross: of none"] * aside
    marks += ["grey: the values below"] * any(_is_shaded(one) for one in found)
    said = [f"{names[one.runs.variant]}: {_told(one)}" for one in found]
    note(figure, sheet, ["; ".join(marks), *said])
    metric = subject.verdict.metric
    return Drawing(
        name=subject.anchor("causes", benchmark),
        title=f"modes of {benchmark} and what separates them",
        alt=f"{metric} of {benchmark} by mode. "
        + " ".join(f"{one.runs.variant}, {_counts(one, unit)}: {_told(one)}." for one in found),
        figure=figure,
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


def _dots(axes: Axes, one: Explained, x: np.ndarray) -> None:
    runs = one.runs
    for mode in range(-1, len(one.mode.classes)):
        mine = (runs.labels == mode) & np.isfinite(x)
        colour = PRINT.second if mode < 0 else COLOURS[mode % len(COLOURS)]
        axes.plot(
            x[mine], runs.values[mine], linestyle="none", zorder=2,
            marker="x" if mode < 0 else _MARKS[mode % len(_MARKS)], markersize=_DOT,
            markerfacecolor=colour, markeredgecolor=colour, markeredgewidth=0.6 if mode < 0 else 0,
        )  # fmt: skip


def _in_order(axes: Axes, one: Explained) -> None:
    sessions = one.runs.sessions
    changes = np.flatnonzero(np.diff(sessions)) + 1
    _dots(axes, one, np.arange(sessions.size) + 1.0)
    for place in changes.tolist():
        axes.axvline(place + 0.5, color=PRINT.grid, linewidth=0.7, zorder=0.5)
    axes.set_xlim(0, sessions.size + 1)
    axes.set_xticks([])
    clear(axes, "bottom")


def _against(axes: Axes, one: Explained, covariate: Covariate) -> None:
    from matplotlib.ticker import FixedFormatter, FixedLocator

    values = covariate.values[one.runs.rows]
    if covariate.scale == "levels":
        seen = np.unique(values[np.isfinite(values)])
        place = np.full(values.size, np.nan)
        known = np.isfinite(values)
        place[known] = np.searchsorted(seen, values[known])
        apart = (np.arange(values.size) % _ROWS - _ROWS // 2) * _APART
        _dots(axes, one, place + apart)
        for level in one.rule.levels if one.rule is not None and _is_shaded(one) else ():
            at = float(np.searchsorted(seen, level))
            axes.axvspan(at - 0.45, at + 0.45, color=PRINT.margin, linewidth=0, zorder=0)
        axes.set_xlim(-0.6, seen.size - 0.4)
        step = max(1, -(-seen.size // _LEVELS))
        shown = range(0, seen.size, step)
        axes.xaxis.set_major_locator(FixedLocator(list(shown)))
        axes.xaxis.set_major_formatter(
            FixedFormatter([covariate.labels[int(seen[k])][:_LEVELS] for k in shown])
        )
        return
    if covariate.period is not None:
        whole = Scale(0.0, covariate.period)
        axes.set_xlim(whole.low, whole.high)
        ticks = [covariate.period * k / 4 for k in range(5)]
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
    else:
        whole = quantity_scale(values[np.isfinite(values)].tolist())
        quantity_axis(axes, "x", whole, covariate.unit, most=4)
    _dots(axes, one, values)
    for left, right in _shaded(one, whole):
        axes.axvspan(left, right, color=PRINT.margin, linewidth=0, zorder=0)


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
