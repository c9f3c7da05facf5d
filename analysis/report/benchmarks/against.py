"""A candidate beside the baseline: session by session, shares of runs, quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...pages import number_format as figures
from ...pages.model import Value
from ...plots.scale import quantity_scale, quantity_ticks, ratio_ticks
from ...stats.quantiles import Shift, shift_of
from .axes import bounded_ratios, labels_of, upright_labels
from .drawings import EcdfPlot, Label, Place, SessionPlot, ShiftPlot
from .naming import across, placed_names
from .result import Against, Quantile, SessionRatio

if TYPE_CHECKING:
    from ...methods.multilevel.result import BenchmarkLine, Multilevel
    from ..written import Written
    from .cells import Cell

__all__ = ["against"]

Floats = NDArray[np.float64]
_WIDEST = 700.0  # logs whose exponential is a number
_PLAIN = (0.0995, 9999.5)  # ratios that are written with the line's decimals
_ROWS = 240.0  # pixels of all sessions together, at most
_ROW, _LEAST_ROW = 20.0, 2.0
_LABEL = 15.0  # pixels of a label
_ROOM, _INDENTED = 268.0, 215.0  # pixels of the narrowest pictures: print has three in a row
_UP_APART = 0.16
_NEAR = 0.14  # of the width: a curve that would go through "50 %"


def against(
    line: BenchmarkLine,
    result: Multilevel,
    ours: Cell,
    theirs: Cell,
    *,
    told: Written,
    word: str,
    style: str,
    names: tuple[str, str],
) -> Against:
    """Gather one candidate's pictures and values.

    Parameters
    ----------
    line, result : BenchmarkLine, Multilevel
        The verdict's line of this benchmark, and all it stands in.
    ours, theirs : Cell
        The runs of the candidate and of the baseline.
    told : Written
        How the line's numbers are written.
    word, style : str
        What the candidate is, and the role of its colour.
    names : (str, str)
        Both sides, as short as a label has to be.
    """
    shift = _shift(result, ours, theirs)
    ratios = _session_ratios(line, told)
    timed = result.timed
    return Against(
        variant=result.candidate,
        word=word,
        style=style,
        unit={
            "paired": result.outermost,
            "hosts": result.outermost,
            "one session, blocks": "block",
        }.get(result.design, ""),
        by_session=ratios,
        shift=_quantiles(shift, result, told),
        shift_note=_shift_note(shift, ours, theirs),
        sessions_plot=_sessions_plot(line, result, ratios, told, word),
        ecdf_plot=_ecdf_plot(ours, theirs, result, names, style, timed=timed),
        shift_plot=None if shift is None else _shift_plot(shift, result, told, timed=timed),
    )


# ---- session by session


def _session_ratios(line: BenchmarkLine, told: Written) -> tuple[SessionRatio, ...]:
    """Give the session values, with the decimals of their mean."""
    digits = _digits(told)
    return tuple(
        SessionRatio(session=label, speedup=_ratio(log, digits))
        for label, log in zip(line.session_ids, line.differences, strict=False)
    )


def _digits(told: Written) -> int:
    """Give the decimals of a line, at least two: single sessions have no interval that is rough."""
    return max(2, len(told.speedup.text.partition(".")[2]))


def _ratio(log: float, digits: int) -> Value:
    """Write a ratio with so many decimals, or three significant digits far from 1."""
    if not math.isfinite(log):
        return Value("", None)
    ratio = math.exp(min(max(log, -_WIDEST), _WIDEST))
    plain = _PLAIN[0] <= ratio < _PLAIN[1]
    return Value(f"{ratio:.{digits}f}" if plain else figures.significant(ratio), ratio)


def _sessions_plot(
    line: BenchmarkLine,
    result: Multilevel,
    ratios: Sequence[SessionRatio],
    told: Written,
    word: str,
) -> SessionPlot | None:
    if line.speedup is None:
        return None
    values = [one.speedup.value or 1.0 for one in ratios]
    ends = [end for end in (line.low, line.high) if end is not None]
    scale = bounded_ratios([*values, line.speedup], ends, result.margin)
    height = max(_LEAST_ROW, min(_ROW, _ROWS / max(1, len(values))))
    every = max(1, math.ceil(_LABEL / height))
    interval = None
    leaves = (False, False)
    if line.low is not None and line.high is not None:
        interval = (scale.clipped(line.low), scale.clipped(line.high))
        leaves = (line.low < scale.low, line.high > scale.high)
    margin = result.margin
    return SessionPlot(
        alt=_sessions_alt(result, values, told, word),
        rows=tuple(
            (one.session if k % every == 0 else "", scale.clipped(value))
            for k, (one, value) in enumerate(zip(ratios, values, strict=True))
        ),
        height=height,
        one=scale.at(1.0),
        margin=(scale.clipped(1 / (1 + margin)), scale.clipped(1 + margin)),
        ticks=labels_of(ratio_ticks(scale, 5), scale, _INDENTED),
        mean=scale.clipped(line.speedup),
        interval=interval,
        leaves=leaves,
        decided=line.outcome != "undecided",
    )


def _sessions_alt(result: Multilevel, values: Sequence[float], told: Written, word: str) -> str:
    text = f"{result.candidate}: {told.speedup.text} times"
    if told.low.text:
        text += f", {100 * result.confidence:g} % interval {told.low.text} to {told.high.text}"
    text += f", {word}"
    if len(values) > 1:
        ahead = sum(value > 1 for value in values)
        noun = "blocks" if result.design == "one session, blocks" else f"{result.outermost}s"
        text += (
            f"; above 1 in {ahead} of {len(values)} {noun}, "
            f"from {min(values):.3g} to {max(values):.3g}"
        )
    return text


# ---- shares of runs


def _ecdf_plot(
    ours: Cell,
    theirs: Cell,
    result: Multilevel,
    names: tuple[str, str],
    style: str,
    *,
    timed: bool,
) -> EcdfPlot:
    del timed
    both = np.concatenate((ours.values, theirs.values))
    scale = quantity_scale((float(both.min()), float(both.max())), log=bool((both > 0).all()))
    mine, other = _steps(ours.values, scale.at), _steps(theirs.values, scale.at)
    time = figures.is_time(result.unit)
    title = "share of runs done by a time" if time else "share of runs with at most a value"
    halves = [
        figures.quantity(float(np.median(cell.values)), result.unit) for cell in (ours, theirs)
    ]
    alt = (
        f"Distribution functions: half of the runs of {result.candidate} are at most {halves[0]}, "
        f"of {result.baseline} {halves[1]}"
    )
    return EcdfPlot(
        title=title,
        alt=alt,
        ours=mine,
        theirs=other,
        half=1.0 if min(across(curve, 0.55) for curve in (mine, other)) < _NEAR else 0.0,
        names=placed_names(mine, other, names, style),
        ticks=labels_of(quantity_ticks(scale, result.unit, 5), scale, _ROOM),
    )


def _steps(values: Floats, at: object) -> tuple[Place, ...]:
    """Give the corners of a distribution function from the left edge to the right one.

    Values that fall on the same thousandth of the width are one corner: no eye sees more.
    """
    assert callable(at)
    ordered = np.sort(values).tolist()
    found: list[Place] = [(0.0, 0.0)]
    for k, value in enumerate(ordered, start=1):
        x, share = round(at(value), 3), k / len(ordered)
        if found[-1][0] == x:
            found[-1] = (x, share)
        else:
            found.append((x, share))
    return (*found, (1.0, 1.0))


# ---- quantiles


def _shift(result: Multilevel, ours: Cell, theirs: Cell) -> Shift | None:
    paired = result.design in ("paired", "hosts", "one session, blocks", "one session, runs")
    confidence = 1 - result.look_alpha
    if paired:
        common = [label for label in ours.labels if label in theirs.labels]
        sides = [[cell.of(cell.labels.index(label)) for label in common] for cell in (ours, theirs)]
        if not common and len(ours.labels) == len(theirs.labels) == 1:
            sides = [list(ours.by_session), list(theirs.by_session)]
    else:
        sides = [list(ours.by_session), list(theirs.by_session)]
    return shift_of(sides[0], sides[1], paired=paired, confidence=confidence)


def _quantiles(shift: Shift | None, result: Multilevel, told: Written) -> tuple[Quantile, ...]:
    """Give the speedup at each quantile, with the decimals of the line; above 1 is better."""
    if shift is None:
        return ()
    digits = _digits(told)
    sign = -1.0 if result.better == "lower" else 1.0

    return tuple(
        Quantile(
            share=share,
            speedup=_ratio(sign * log, digits),
            low=_ratio(sign * log - half, digits),
            high=_ratio(sign * log + half, digits),
        )
        for share, log, half in zip(
            shift.shares, shift.logs.tolist(), shift.half.tolist(), strict=True
        )
    )


def _shift_note(shift: Shift | None, ours: Cell, theirs: Cell) -> str:
    if shift is None:
        if min(ours.values.min(), theirs.values.min()) <= 0:
            return "Runs are 0: quantiles have no ratio."
        return "Fewer than 3 runs of a side in each session: quantiles would say nothing."
    if shift.left_out:
        n = shift.left_out
        return f"{n} session{'s' * (n > 1)} with fewer than 3 runs of a side left out."
    return ""


def _shift_plot(shift: Shift, result: Multilevel, told: Written, *, timed: bool) -> ShiftPlot:
    quantiles = _quantiles(shift, result, told)
    values = [one.speedup.value or 1.0 for one in quantiles]
    ends = [e.value for one in quantiles for e in (one.low, one.high) if e.value is not None]
    scale = bounded_ratios(values, ends, result.margin)
    across = shift.shares
    deciles = len(across) == 9
    intervals, arrows = [], []
    for share, one in zip(across, quantiles, strict=True):
        if one.low.value is None or one.high.value is None:
            continue
        intervals.append((share, scale.clipped(one.low.value), scale.clipped(one.high.value)))
        arrows += [(share, False)] * (one.low.value < scale.low)
        arrows += [(share, True)] * (one.high.value > scale.high)
    margin = result.margin
    what = "speedup" if timed else "ratio"
    return ShiftPlot(
        title=f"{what} at each {'decile' if deciles else 'quartile'}",
        alt=_shift_alt(result.candidate, quantiles, what),
        points=tuple(zip(across, (scale.clipped(value) for value in values), strict=True)),
        intervals=tuple(intervals),
        arrows=tuple(arrows),
        one=scale.at(1.0),
        margin=(scale.clipped(1 / (1 + margin)), scale.clipped(1 + margin)),
        ticks=upright_labels(ratio_ticks(scale, 4), scale, _UP_APART),
        shares=tuple(
            Label(text=f"{100 * share:g}\u00a0%", at=share)
            for k, share in enumerate(across)
            if not deciles or k % 2 == 0
        ),
    )


def _shift_alt(candidate: str, quantiles: Sequence[Quantile], what: str) -> str:
    first, last = quantiles[0], quantiles[-1]
    text = (
        f"{what} of {candidate} by quantile: {first.speedup.text} at {100 * first.share:g} %, "
        f"{last.speedup.text} at {100 * last.share:g} %"
    )
    known = [one for one in quantiles if one.low.value is not None and one.high.value is not None]
    if not known:
        return f"{text}; no intervals, because there is one session"
    clear = [
        f"{100 * one.share:g} %"
        for one in known
        if not (one.low.value or 0) <= 1 <= (one.high.value or 0)
    ]
    if not clear:
        return f"{text}; every interval holds 1"
    if len(clear) == len(known):
        return f"{text}; no interval holds 1"
    return f"{text}; the interval does not hold 1 at {', '.join(clear)}"
