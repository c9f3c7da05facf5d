"""The pictures: one axis of what each method says, histograms of ratios, HPT's reliability."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plots
from ...pages import number_format as figures
from ...pages.model import Value
from ...words import shown

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...methods.hpt.speedup import HptCurve, HptSpeedup
    from ...plots import Mark, Scale, Tick
    from .answers import MethodAnswer, Ratio

__all__ = ["axis_of", "histogram_plot", "reliability_plot", "reliability_steps"]

_MIDDLE = 22.0  # of the marks, CSS pixels from the row's top
_FAR = 400.0  # grid lines are longer than any row, whose cell cuts them
_REACH = 1.0  # an interval may be drawn so many times farther than all else lies apart
_CLOSE = 0.02  # in logs: what lies apart less counts as this
_TOP, _HEIGHT, _BELOW = 20.0, 90.0, 22.0  # of a histogram, CSS pixels
_ABOVE, _TALL = 16.0, 150.0  # of a curve of reliability, CSS pixels
_FLAT = 5e-4  # reliabilities nearer to 0 or 1 are flat to the eye
_COLUMNS = 400  # places in x that are told apart


def axis_of(answers: Mapping[str, MethodAnswer]) -> tuple[Markup, Mapping[str, Markup]]:
    """Draw what each method says of one candidate on one axis: its head, and a row under each key."""
    logs, core = [0.0], [0.0]
    for key, answer in answers.items():
        logs += _logs(answer.value, answer.low, answer.high)
        near = _logs(answer.value, *(() if key == "similar" else (answer.low, answer.high)))
        core += filter(math.isfinite, near)
    reach = _REACH * max(max(core) - min(core), _CLOSE)
    scale = plots.ratio_scale(
        [math.exp(min(max(log, min(core) - reach), max(core) + reach)) for log in logs[1:]]
    )
    ticks = plots.spaced_ticks(scale, 0.22)
    texts = (plots.label(scale.at(one.value), 13, one.text, _tick(one)) for one in ticks)
    return plots.plot(18, texts, ""), {
        key: plots.plot(2 * _MIDDLE, _said(answer, scale, ticks), "")
        for key, answer in answers.items()
    }


def _logs(*numbers: Ratio | None) -> list[float]:
    known = [one.value for one in numbers if one is not None and one.value is not None]
    return [math.log(value) if value > 0 else -math.inf for value in known]


def _tick(tick: Tick) -> str:
    return "tick minor" if tick.minor else "tick"


def _said(answer: MethodAnswer, scale: Scale, ticks: Sequence[Tick]) -> Iterator[Mark]:
    """Draw an answer: dot and interval, or a lower bound that is dotted beyond it."""
    at, style = scale.clipped, answer.style
    for tick in ticks:
        yield plots.stroke(at(tick.value), 0, _FAR, "one" if tick.value == 1 else "grid")
    low, high = (None if end is None else end.value for end in (answer.low, answer.high))
    if answer.bound and low is not None:
        yield plots.line(at(low), _MIDDLE, 1, _MIDDLE, f"interval dotted {style}")
        yield plots.stroke(at(low), _MIDDLE - 7, _MIDDLE + 7, f"interval {style}")
    elif low is not None and high is not None:
        left, right = low or scale.low, high or scale.high
        yield plots.line(at(left), _MIDDLE, at(right), _MIDDLE, f"interval {style}")
        if left < scale.low:
            yield plots.arrow(0, _MIDDLE, "left", f"line {style}")
        if right > scale.high:
            yield plots.arrow(1, _MIDDLE, "right", f"line {style}")
    if answer.value is not None and answer.value.value is not None:
        hollow = " hollow" if answer.word == "undecided" else ""
        yield plots.dot(at(answer.value.value), _MIDDLE, f"{style}{hollow}", r=4.5)


def histogram_plot(found: Mapping[str, Any]) -> Markup:
    """Draw the counts as one area, with the observed ratio or the interval marked."""
    alt = shown(found["alt"])
    return plots.plot(_TOP + _HEIGHT + _BELOW, _histogram(found), alt, css="panel-drawn")


def _histogram(found: Mapping[str, Any]) -> Iterator[Mark]:
    scale = plots.Scale(found["low"], found["high"], log=True)
    ground = _TOP + _HEIGHT
    counts = found["counts"]
    most = max(*counts, 1)
    tops = [(k / len(counts), count / most) for k, count in enumerate(counts)]
    area = [(0.0, 0.0), *tops, (1.0, 0.0)]
    yield plots.curve(area, "area", top=_TOP, height=_HEIGHT, steps=True, closed=True)
    yield plots.line(0, ground, 1, ground, "grid")
    for tick in plots.spaced_ticks(scale, 0.15):
        yield plots.stroke(scale.at(tick.value), ground, ground + 4, "one")
        yield plots.label(scale.at(tick.value), ground + 17, tick.text, _tick(tick))
    if scale.holds(1.0):
        yield plots.stroke(scale.at(1.0), _TOP, ground, "one")
    observed = found["observed"]
    if observed.value is None:
        return
    here = scale.clipped(observed.value)
    yield plots.stroke(here, _TOP - 4, ground, "ink")
    anchor = "start" if here < 0.15 else "end" if here > 0.85 else "middle"
    yield plots.label(here, _TOP - 8, f"{observed.text}×", "said", anchor=anchor)
    if found["ends"] is not None and all(end.value is not None for end in found["ends"]):
        low, high = (scale.clipped(end.value or found["low"]) for end in found["ends"])
        yield plots.line(low, ground, high, ground, "interval ink")
        for end in (low, high):
            yield plots.stroke(end, ground - 6, ground + 1, "interval ink")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilitySteps:
    """A step function over the speedups where it changes.

    `points`: Speedup, ascending, and the reliability from there to the next; the first speedup is
    the axis's lower end, the last its upper one. `required`: The reliability asked for. `tested`:
    The speedup under test, and `at_tested` the reliability there. `largest`: The largest speedup
    that has `required`; None where none has. `alt`: What the picture shows: its result.
    """

    points: tuple[tuple[float, float], ...]
    required: float
    tested: float
    at_tested: Value
    largest: Value | None
    alt: str


def reliability_steps(best: HptSpeedup, largest: str) -> ReliabilitySteps:
    """Take what is drawn of HPT's whole curve; `largest` is its largest speedup as the page writes it."""
    marks, most, end = [1.0], None, f"no speedup has {best.required:g}"
    if best.value is not None:
        most = Value(largest, best.value)
        marks.append(best.value or 1.0)
        end = f"{largest} is the largest speedup with {best.required:g}"
    at = best.curve.confidence(1.0)
    reached = Value(figures.reliability(at, best.required), at)
    return ReliabilitySteps(
        points=tuple(_points(best.curve, marks)),
        required=best.required,
        tested=1.0,
        at_tested=reached,
        largest=most,
        alt=f"HPT's reliability by the speedup under test: {reached.text} at 1; {end}",
    )


def _points(found: HptCurve, marks: list[float]) -> Iterator[tuple[float, float]]:
    """Give the steps inside the axis; of those that share a place the last."""
    least = np.minimum(found.between[:-1], found.between[1:])
    most = np.maximum(found.between[:-1], found.between[1:])
    inside = found.speedups[(least < 1 - _FLAT) & (most > _FLAT)]
    scale = plots.ratio_scale([*inside.tolist(), *marks], room=0.04)
    yield scale.low, found.confidence(scale.low)
    kept: dict[int, tuple[float, float]] = {}
    for speedup, after in zip(found.speedups.tolist(), found.between[1:].tolist(), strict=True):
        if scale.low < speedup < scale.high:
            kept[round(scale.at(speedup) * _COLUMNS)] = (speedup, after)
    yield from kept.values()
    yield scale.high, found.confidence(scale.high)


def reliability_plot(steps: ReliabilitySteps) -> Markup:
    """Draw the steps as inline SVG, with the speedup under test and the largest one marked."""
    return plots.plot(_ABOVE + _TALL + _BELOW - 2, _curve(steps), steps.alt, css="reliability")


def _curve(steps: ReliabilitySteps) -> Iterator[Mark]:
    scale = plots.Scale(steps.points[0][0], steps.points[-1][0], log=True)

    def y(reliability: float) -> float:
        return _ABOVE + (1 - reliability) * _TALL

    for level in (0.0, 0.5, 1.0):
        yield plots.line(0, y(level), 1, y(level), "grid")
        yield plots.label(0, y(level) - 3, f"{level:g}", "level", anchor="start")
    for tick in plots.spaced_ticks(scale, 0.15):
        place = scale.at(tick.value)
        yield plots.stroke(place, y(0), y(0) + 4, "one")
        yield plots.label(place, y(0) + 17, tick.text, _tick(tick))
    required = f"reliability {steps.required:g}"
    yield plots.line(0, y(steps.required), 1, y(steps.required), "one dashed")
    yield plots.label(1, y(steps.required) + 13, required, "level", anchor="end")
    one = scale.at(1.0)
    yield plots.band(one - 0.0008, one + 0.0008, y(1), y(0), "one")
    places = [(scale.at(speedup), reached) for speedup, reached in steps.points]
    yield plots.curve(places, "line neither", top=_ABOVE, height=_TALL, steps=True)
    yield plots.dot(one, y(steps.at_tested.value or 0.0), "ink", r=3.5)
    if steps.largest is not None and steps.largest.value is not None:
        place = scale.at(steps.largest.value)
        yield plots.stroke(place, y(steps.required), y(0), "ink")
        anchor, dx = ("end", -5.0) if place > 0.5 else ("start", 5.0)
        text = f"{steps.largest.text}×"
        yield plots.label(place, y(0) - 6, text, "said", anchor=anchor, dx=dx)
