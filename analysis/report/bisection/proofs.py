"""The pairs that a bisection compared, as rows of a forest: both ends, each proof, what is left beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...history.bisection.sentence import difference_of, name_of, parent_of, word_of
from ...pages.number_format import counted, significant
from ...plots.labels import kept_in_row
from ...plots.marks import Mark, again, arrow, dot, field, line, shared, upright
from ...plots.palette import style_of
from ...plots.scale import Scale, quantity_ticks, ratio_scale, ratio_ticks
from ...plots.svg import cell, ticks_below

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...history.bisection.result import Bisection, ProvenStep
    from ...history.search_result import PairWord

__all__ = ["Axis", "Pair", "axis_of", "axis_picture", "pair_picture", "pairs_of"]

_MIDDLE = 12.0  # y of a line in its cell
_WIDE = 2.0  # ends of a scale so far apart are told as multiples
_BEYOND = 3.0  # times the widest difference that an interval may reach beyond it
_NARROWEST = 190.0  # CSS pixels of a row's picture, as in the style sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two commits held against each other: `ratio` of the metric, the later over the earlier."""

    what: str
    than: str
    ratio: float | None
    low: float | None
    high: float | None
    text: str
    word: str
    style: str
    sessions: int
    risk: str
    lead: bool  # whether it is a claim, and not what stands beside one


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What all rows share."""

    scale: Scale
    ticks: tuple[tuple[float, str], ...]
    margin: tuple[float, float]


def pairs_of(told: Bisection) -> tuple[Pair, ...]:
    """Give all pairs in the order of the bisection."""
    return tuple(_pairs(told))


def _pairs(told: Bisection) -> Iterator[Pair]:
    good, bad = name_of(told.good), name_of(told.bad)
    if told.first.sessions:
        yield _pair(told, told.first, bad, good, lead=True)
    for one in told.culprits:
        yield _pair(told, one, one.upto[:7], parent_of(one), lead=True)
        if one.after != told.good.commit:
            yield _pair(told, one.before, f"before it: {one.after[:7]}", good, lead=False)
        if one.upto != told.bad.commit:
            yield _pair(told, one.behind, f"behind it: {bad}", one.upto[:7], lead=False)
    for one in told.refuted:
        yield _pair(told, one, f"not proven: {one.upto[:7]}", parent_of(one), lead=True)


def _pair(
    told: Bisection, line: PairWord | ProvenStep, what: str, than: str, *, lead: bool
) -> Pair:
    found = difference_of(told, line)
    known = found.low is not None and found.high is not None
    ends = f" ({found.cell_interval()})" if known else ""
    low, high = (found.low, found.high) if known else (None, None)
    if low is not None and high is not None and low > high:
        low, high = high, low
    return Pair(
        what=what,
        than=than,
        ratio=found.ratio,
        low=low,
        high=high,
        text="unknown"
        if found.ratio is None
        else f"{found.cell()}{ends}".replace("-", "\N{MINUS SIGN}"),
        word=word_of(told, line.word),
        style=style_of(line.word),
        sessions=line.sessions,
        risk=f"{significant(100 * line.risk, 2)} %",
        lead=lead,
    )


def axis_of(pairs: Sequence[Pair], margin: float) -> Axis:
    """Give the axis that holds all estimates and the margin; an interval much wider leaves it."""
    ratios = [one.ratio for one in pairs if one.ratio is not None and one.ratio > 0]
    far = max([abs(math.log(ratio)) for ratio in ratios] + [math.log1p(max(margin, 0.005))])
    ends = [
        min(max(end, math.exp(-_BEYOND * far)), math.exp(_BEYOND * far))
        for one in pairs
        for end in (one.low, one.high)
        if end is not None and end > 0
    ]
    scale = ratio_scale([*ratios, *ends], margin)
    if scale.high > _WIDE * scale.low:
        found = [(tick.value, tick.text) for tick in ratio_ticks(scale)]
    else:
        percents = quantity_ticks(Scale(100 * (scale.low - 1), 100 * (scale.high - 1)), "1", 5)
        found = [(1 + one.value / 100, _percent(one.value)) for one in percents]
    if scale.holds(1.0) and all(value != 1 for value, _ in found):
        found.append((1.0, "same"))
    kept = kept_in_row(
        [scale.at(value) for value, _ in found],
        [text for _, text in found],
        _NARROWEST,
        importance=[math.inf if value == 1 else abs(math.log(value)) for value, _ in found],
    )
    ticks = [tick for tick, stays in zip(found, kept, strict=True) if stays]
    return Axis(scale=scale, ticks=tuple(sorted(ticks)), margin=(1 / (1 + margin), 1 + margin))


def _percent(value: float) -> str:
    return f"{value:+g}\u00a0%".replace("-", "\u2212") if value else "same"


def pair_picture(axis: Axis, pair: Pair, number: int) -> Markup:
    """Draw a row; the first holds the background of all."""
    ground = shared("proof-ground", _ground(axis)) if not number else again("proof-ground")
    words = f"{pair.what} against {pair.than}: {pair.text}, {pair.word}"
    return cell([ground, *_marks(axis, pair)], f"{words}, {counted(pair.sessions, 'session')}")


def axis_picture(axis: Axis) -> Markup:
    """Draw the axis below the rows."""
    return ticks_below(axis.scale, axis.ticks)


def _ground(axis: Axis) -> Iterator[Mark]:
    low, high = map(axis.scale.at, axis.margin)
    yield field(low, high, "margin")
    for value, _ in axis.ticks:
        yield upright(axis.scale.at(value), "one" if value == 1 else "grid")


def _marks(axis: Axis, pair: Pair) -> Iterator[Mark]:
    scale, css = axis.scale, pair.style
    if pair.low is not None and pair.high is not None:
        low, high = scale.at(pair.low), scale.at(pair.high)
        yield line(max(0.0, low), _MIDDLE, min(1.0, high), _MIDDLE, f"interval {css}")
        if low < 0:
            yield arrow(0.0, _MIDDLE, "left", f"bisection-beyond interval {css}", r=5)
        if high > 1:
            yield arrow(1.0, _MIDDLE, "right", f"bisection-beyond interval {css}", r=5)
    if pair.ratio is not None and pair.ratio > 0:
        hollow = " hollow" if pair.word == "undecided" else ""
        yield dot(scale.clipped(pair.ratio), _MIDDLE, f"{css}{hollow}", r=4.0)
