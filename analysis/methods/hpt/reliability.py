"""HPT's reliability by speedup, as it is drawn: the steps that the eye can tell apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...plots import Scale, band, curve, dot, label, line, plot, ratio_scale, spaced_ticks, stroke
from ...report import Value, figures
from .curve import HptCurve
from .speedup import HptSpeedup

__all__ = ["ReliabilitySteps", "reliability_plot", "reliability_steps"]

_FLAT = 5e-4  # reliabilities nearer to 0 or 1 are flat to the eye
_COLUMNS = 400  # places in x that are told apart
_LEVELS = ((0.0, "0"), (0.5, "0.5"), (1.0, "1"))
_TOP, _BELOW = 16.0, 20.0  # CSS pixels above and below the drawing's area


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilitySteps:
    """A step function over the speedups where it changes.

    Attributes
    ----------
    points : tuple of (float, float)
        Speedup, ascending, and the reliability from there to the next; the first speedup is the
        axis's lower end, the last its upper one.
    required : float
        The reliability asked for.
    tested : float
        The speedup under test, and `at_tested` the reliability there.
    largest : Value or None
        The largest speedup that has `required`; None where none has.
    alt : str
        What the picture shows: its result.
    """

    points: tuple[tuple[float, float], ...]
    required: float
    tested: float
    at_tested: Value
    largest: Value | None
    alt: str


def reliability_steps(
    best: HptSpeedup, *, tested: float = 1.0, largest: str = ""
) -> ReliabilitySteps:
    """Take what is drawn of the whole curve.

    Parameters
    ----------
    best : HptSpeedup
        With its curve.
    tested : float
        The speedup under test, which is marked.
    largest : str
        How the largest speedup is written; by default rounded down to thousandths.
    """
    shown = largest or best.printed
    most = None if best.value is None or shown is None else Value(shown, best.value)
    points = tuple(_points(best.curve, [tested, *([] if most is None else [best.value or 1.0])]))
    at = best.curve.confidence(tested)
    reached = Value(figures.reliability(at, best.required), at)
    end = (
        f"no speedup has {best.required:g}"
        if most is None
        else f"{most.text} is the largest speedup with {best.required:g}"
    )
    return ReliabilitySteps(
        points=points,
        required=best.required,
        tested=tested,
        at_tested=reached,
        largest=most,
        alt=f"HPT's reliability by the speedup under test: {reached.text} at {tested:g}; {end}",
    )


def _points(found: HptCurve, marks: list[float]) -> Iterator[tuple[float, float]]:
    """Give the steps inside the axis; of those that share a place the last."""
    least = np.minimum(found.between[:-1], found.between[1:])
    most = np.maximum(found.between[:-1], found.between[1:])
    inside = found.speedups[(least < 1 - _FLAT) & (most > _FLAT)]
    scale = ratio_scale([*inside.tolist(), *marks], room=0.04)
    yield scale.low, found.confidence(scale.low)
    kept: dict[int, tuple[float, float]] = {}
    for speedup, after in zip(found.speedups.tolist(), found.between[1:].tolist(), strict=True):
        if scale.low < speedup < scale.high:
            kept[round(scale.at(speedup) * _COLUMNS)] = (speedup, after)
    yield from kept.values()
    yield scale.high, found.confidence(scale.high)


def reliability_plot(steps: ReliabilitySteps, height: float = 150.0) -> str:
    """Draw the steps as inline SVG, with the speedup under test and the largest one marked."""
    scale = Scale(steps.points[0][0], steps.points[-1][0], log=True)
    return plot(height + _TOP + _BELOW, _marks(steps, scale, height), steps.alt, css="reliability")


def _marks(steps: ReliabilitySteps, scale: Scale, height: float) -> Iterator[str]:
    def y(reliability: float) -> float:
        return _TOP + (1 - reliability) * height

    for level, text in _LEVELS:
        yield line(0, y(level), 1, y(level), "grid")
        yield label(0, y(level) - 3, text, "level", anchor="start")
    for tick in spaced_ticks(scale, 0.15):
        yield stroke(scale.at(tick.value), y(0), y(0) + 4, "one")
        css = "tick minor" if tick.minor else "tick"
        yield label(scale.at(tick.value), y(0) + 17, tick.text, css)
    yield line(0, y(steps.required), 1, y(steps.required), "one dashed")
    yield label(1, y(steps.required) + 13, f"reliability {steps.required:g}", "level", anchor="end")
    if steps.tested != 1:
        yield stroke(scale.at(steps.tested), y(1), y(0), "one")
    if scale.holds(1.0):
        yield band(scale.at(1.0) - 0.0008, scale.at(1.0) + 0.0008, y(1), y(0), "one")
    places = [(scale.at(g), c) for g, c in steps.points]
    yield curve(places, "line neither", top=_TOP, height=height, steps=True)
    yield dot(scale.at(steps.tested), y(steps.at_tested.value or 0.0), "ink", r=3.5)
    if steps.largest is not None and steps.largest.value is not None:
        place = scale.at(steps.largest.value)
        yield stroke(place, y(steps.required), y(0), "ink")
        anchor, dx = ("end", -5.0) if place > 0.5 else ("start", 5.0)
        yield label(place, y(0) - 6, f"{steps.largest.text}×", "said", anchor=anchor, dx=dx)
