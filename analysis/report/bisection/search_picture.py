"""The picture of a search: how likely the step is each commit's, what was measured, what cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...pages.number_format import counted
from ...plots.labels import RowLabel, in_rows
from ...plots.marks import Mark, band, cross, label, line, stroke
from ...plots.svg import plot

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...history.bisection.result import Bisection

__all__ = ["HEIGHT", "most_of", "picture", "place_at"]

HEIGHT = 110.0  # CSS pixels of the panel of probabilities
_HEAD, _FOOT = 18.0, 20.0
_SESSIONS = 44.0  # of the panel of sessions
_BETWEEN = 10.0
_SKIPPED = 14.0  # of the lane of what cannot be measured
_TOPS = (0.02, 0.1, 0.4, 1.0)  # probabilities at which the panel may end
_LIKELY = 0.05  # a probability that is written
_MOST = 8  # of them
_FEW = 40  # probes that bear their number of sessions


class _Width(NamedTuple):
    """A set of labels, of which the style sheet shows one: for the least width, in CSS pixels."""

    css: str
    width: float


_SETS = (_Width("bisection-broad", 590.0), _Width("bisection-narrow", 218.0))


def place_at(place: int, commits: int) -> float:
    """Give where a commit stands: good (0) at the left, bad at the right."""
    return (place + 0.5) / (commits + 1)


def picture(told: Bisection, names: tuple[str, str]) -> Markup:
    """Draw a search as wide as its place.

    Parameters
    ----------
    told : Bisection
        What was found.
    names : (str, str)
        What the good and the bad commit are called on the page.
    """
    top, bottom = _HEAD, _HEAD + HEIGHT
    middle, low = bottom + _BETWEEN, bottom + _BETWEEN + _SESSIONS
    lane = _SKIPPED if told.skipped else 0.0
    marks: list[Mark] = [band(0, 1, top, bottom, "panel"), band(0, 1, middle, low, "panel")]
    marks += _open(told, top, bottom)
    most = most_of(told)
    for share in (0.0, 0.5, 1.0):
        y = bottom - share * HEIGHT
        text = f"{100 * share * most:g}\u00a0%" if share else "0"
        marks += [line(0, y, 1, y, "grid"), label(0, y + 4, text, "", anchor="end", dx=-6)]
    marks += _probabilities(told, bottom, HEIGHT / most)
    marks += _sessions(told, middle, low)
    marks += _skipped(told, low + 8)
    marks += _ends(told, names, low + lane + 15)
    return plot(low + lane + _FOOT, marks, alt_of(told, names), css="bisection-plot")


def alt_of(told: Bisection, names: tuple[str, str]) -> str:
    """Say in words what the picture shows."""
    likely = sorted(told.posterior, key=lambda one: -one.probability)[:3]
    parts = [f"{one.short} {_percent(one.probability)}" for one in likely]
    found = f"{counted(told.commits, 'commit')} from {names[0]} to {names[1]}"
    if parts:
        found += f"; the step is that of {', '.join(parts)}"
    return f"{found}; {counted(len(told.probes), 'commit')} probed, {len(told.skipped)} skipped"


def most_of(told: Bisection) -> float:
    """Give the probability at the upper end of the panel, so that the highest can be seen."""
    highest = max((one.probability for one in told.posterior), default=1.0)
    return min(top for top in _TOPS if top >= highest or top == 1.0)


def _culprits(told: Bisection) -> dict[str, str]:
    return {one.upto: one.word for one in told.culprits}


def _probabilities(told: Bisection, bottom: float, each: float) -> Iterator[Mark]:
    culprits = _culprits(told)
    words = []
    for one in told.posterior:
        x = place_at(one.place, told.commits)
        css = culprits.get(one.commit, "neither")
        yield stroke(x, bottom, bottom - one.probability * each, f"bisection-likely {css}")
        if one.probability >= _LIKELY:
            text = f"{one.short} {_percent(one.probability)}"
            words.append(
                (one.probability, RowLabel(x, text, dx=4.0, bold=one.commit in culprits), css)
            )
    words.sort(key=lambda one: -one[0])
    yield from _row([(row, css) for _, row, css in words[:_MOST]], 12)


def _sessions(told: Bisection, top: float, bottom: float) -> Iterator[Mark]:
    """Give a stroke for each commit that was probed, as high as it has sessions, and their number."""
    most = max((one.sessions for one in told.probes), default=1)
    yield label(0, (top + bottom) / 2 + 4, "sessions", "", anchor="end", dx=-6)
    numbers = []
    for one in told.probes:
        x = place_at(one.place, told.commits)
        high = (bottom - top - 14) * one.sessions / most
        yield stroke(x, bottom, bottom - high, "bisection-sessions")
        numbers.append((one.sessions, RowLabel(x, f"{one.sessions}"), bottom - high - 3))
    if len(numbers) > _FEW:
        return
    heights = {id(row): y for _, row, y in numbers}
    ranked = [row for _, row, _ in sorted(numbers, key=lambda one: -one[0])]
    for width in _SETS:
        for each in in_rows(ranked, width.width, centred=True, left=8.0, right=8.0):
            y = heights[id(each.label)]
            yield label(each.label.at, y, each.label.text, width.css, anchor=each.anchor)


def _skipped(told: Bisection, y: float) -> Iterator[Mark]:
    if told.skipped:
        yield label(0, y + 4, "skipped", "", anchor="end", dx=-6)
    for one in told.skipped:
        yield cross(place_at(one.place, told.commits), y, "bisection-skipped", r=3.0)


def _open(told: Bisection, top: float, bottom: float) -> Iterator[Mark]:
    """Shade the commits that hold a step which is not proven."""
    half = 0.5 / (told.commits + 1)
    for one in told.open:
        left = place_at(one.first, told.commits) - half
        right = place_at(one.last, told.commits) + half
        yield band(left, right, top, bottom, "bisection-open")


def _ends(told: Bisection, names: tuple[str, str], y: float) -> Iterator[Mark]:
    ends = [
        (RowLabel(place_at(told.commits, told.commits), names[1]), ""),
        (RowLabel(place_at(0, told.commits), names[0]), ""),
    ]
    yield from _row(ends, y)


def _row(labels: Sequence[tuple[RowLabel, str]], y: float) -> Iterator[Mark]:
    """Give the labels that have room, for each width; the first matter most."""
    css = {id(row): look for row, look in labels}
    for width in _SETS:
        for each in in_rows([row for row, _ in labels], width.width, left=50.0, right=8.0):
            dx = -each.label.dx if each.anchor == "end" else each.label.dx
            look = f"{width.css} {'bisection-said ' if css[id(each.label)] else ''}{css[id(each.label)]}"
            yield label(each.label.at, y, each.label.text, look.strip(), anchor=each.anchor, dx=dx)


def _percent(probability: float) -> str:
    text = f"{100 * probability:.0f}"
    if text == "100" and probability < 1:
        text = "> 99"
    return f"{text}\u00a0%"
