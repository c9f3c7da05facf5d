"""The pictures: one axis of what each method says, and histograms of resampled ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import plots
from ...words import shown

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...plots import Mark, Scale, Tick
    from .answers import MethodAnswer, Ratio

__all__ = ["axis_of", "histogram_plot"]

_MIDDLE = 22.0  # of the marks, CSS pixels from the row's top
_FAR = 400.0  # grid lines are longer than any row, whose cell cuts them
_REACH = 1.0  # an interval may be drawn so many times farther than all else lies apart
_CLOSE = 0.02  # in logs: what lies apart less counts as this
_TOP, _HEIGHT, _BELOW = 20.0, 90.0, 22.0  # of a histogram, CSS pixels


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
