"""The axes of the picture: relative changes upwards, sessions beside each other, time below them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...pages.number_format import significant
from ...plots.scale import Scale
from .result import Mark

__all__ = [
    "apart",
    "change",
    "change_marks",
    "change_scale",
    "duration",
    "panel_places",
    "time_marks",
]

Floats = NDArray[np.float64]
_SHOWN = 0.01  # share of runs at either end that need not lie on the scale
_LEAST = math.log(1.03)  # of the scale, on both sides
_ROOM = 1.2
_APART = 26.0  # CSS pixels between two ticks
_UP = (1.01, 1.02, 1.05, 1.1, 1.25, 1.6, 2.5, 4.0, 10.0, 100.0, 1000.0)
_DOWN = (0.99, 0.98, 0.95, 0.9, 0.8, 0.6, 0.4, 0.25, 0.1, 0.01, 0.001)
_CLOCK = {"s": {15.0, 30.0}, "min": {15.0, 30.0}, "h": {3.0, 6.0, 12.0}}  # round on a clock
_UNITS = ((86400.0, "d", 2), (3600.0, "h", 2), (60.0, "min", 3), (1.0, "s", 0), (1e-3, "ms", 0))
_MOST = 5  # ticks of time
_NARROWEST = 0.25  # of the width that an equal share would give


def change_scale(logs: Floats) -> Scale:
    """Give the scale of ratios that holds nearly all runs, and 1.

    Parameters
    ----------
    logs : array of float, shape (runs,)
        Logarithms of runs against the medians of their cells.
    """
    low, high = np.quantile(logs, [_SHOWN, 1 - _SHOWN]) if logs.size else (0.0, 0.0)
    return Scale(
        math.exp(min(float(low) * _ROOM, -_LEAST)),
        math.exp(max(float(high) * _ROOM, _LEAST)),
        log=True,
    )


def change(ratio: float) -> str:
    """Write a ratio as a change: ``+25 %``, ``−20 %``; 1 is the median."""
    if ratio == 1:
        return "median"
    percent = 100 * (ratio - 1)
    return f"{'+' if percent > 0 else '−'}{abs(percent):,.4g}\u00a0%"


def apart(ratio: float) -> str:
    """Write how far apart two levels are: ``1.6 %``, ``75 %``."""
    return f"{significant(100 * abs(ratio - 1), 2)}\u00a0%"


def change_marks(scale: Scale, height: float) -> tuple[Mark, ...]:
    """Give the ticks that have room on `height` CSS pixels: the median, then the farthest first."""
    found = [scale.at(1.0)]
    told = [Mark(at=scale.at(1.0), text=change(1.0))]
    for ratios in (_UP, _DOWN):
        for ratio in reversed(ratios):
            at = scale.at(ratio)
            if 0.03 <= at <= 0.97 and all(abs(at - other) * height >= _APART for other in found):
                found.append(at)
                told.append(Mark(at=at, text=change(ratio)))
    return tuple(sorted(told, key=lambda mark: mark.at))


def panel_places(lengths: Floats) -> tuple[tuple[float, float], ...]:
    """Give the left edge and the width of each session's panel, as shares of the picture.

    Widths go by duration, but none is narrower than a quarter of an equal share.
    """
    count = lengths.size
    gap = 0.0 if count < 2 else min(0.006, 0.12 / count)
    room = 1 - gap * (count - 1)
    least = _NARROWEST * room / count
    width = lengths / lengths.sum() * room
    fixed = np.zeros(count, dtype=np.bool_)
    while ((width < least) & ~fixed).any():
        fixed |= width < least
        free = room - least * fixed.sum()
        width = np.where(fixed, least, lengths / lengths[~fixed].sum() * free)
    left = np.concatenate(([0.0], np.cumsum(width + gap)[:-1]))
    return tuple(zip(left.tolist(), width.tolist(), strict=True))


def time_marks(lengths: Floats, places: Sequence[tuple[float, float]]) -> tuple[Mark, ...]:
    """Give ticks of the measuring time; the unit stands at the last one."""
    total = float(lengths.sum())
    factor, unit = next(
        ((f, name) for f, name, least in _UNITS if total >= max(least, 1) * f), _UNITS[-1][:2]
    )
    step = _step(total / factor, unit) * factor
    found = list(_ticks(lengths, places, step))
    texts = [f"{at / factor:g}" for _, at in found]
    texts[-1] = f"{texts[-1]}\u00a0{unit}"
    return tuple(Mark(at=x, text=text) for (x, _), text in zip(found, texts, strict=True))


def duration(seconds: float) -> str:
    """Write a duration in a sensible unit: ``72 s``, ``12 min``, ``5.2 h``, ``3.1 days``."""
    for size, unit, least in ((86400.0, "days", 2), (3600.0, "h", 2), (60.0, "min", 3)):
        if seconds >= least * size:
            return f"{significant(seconds / size, 2)}\u00a0{unit}"
    return f"{significant(seconds, 2)}\u00a0s"


def _step(total: float, unit: str) -> float:
    """Give the smallest round step of which at most four fit."""
    steps = {digit * 10.0**power for power in range(-3, 7) for digit in (1, 2, 5)}
    steps |= _CLOCK.get(unit, set())
    return min((step for step in steps if total / step < _MOST), default=total)


def _ticks(
    lengths: Floats, places: Sequence[tuple[float, float]], step: float
) -> Iterator[tuple[float, float]]:
    """Give each tick's place and seconds."""
    begins = np.concatenate(([0.0], np.cumsum(lengths)))
    for k in range(math.floor(float(begins[-1]) / step * (1 + 1e-9)) + 1):
        at = k * step
        panel = min(int(np.searchsorted(begins, at, side="right")) - 1, len(places) - 1)
        left, width = places[panel]
        share = (at - float(begins[panel])) / float(lengths[panel])
        yield left + width * min(1.0, share), at
