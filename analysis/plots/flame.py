"""A flame graph of two sides as a picture: the whole on top, below each box what it calls.

A box is tinted by its difference, and a bar in it is as long as the difference on the scale of the widths: at the
bottom where the candidate takes more, at the top where it takes less. So colour never stands alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..words import shown
from .axes import Axes, Key
from .flame_layout import LEAST, Flame, FlameBox
from .labels import text_width
from .layout import POINT, arranged
from .letters import wide
from .marks import Mark, Rect, Text, band, label
from .palette import Style
from .paper import SMALL
from .scale import Scale
from .svg import plot

if TYPE_CHECKING:
    from markupsafe import Markup

    from .labels import Box
    from .paper import Picture
    from .sheet import Sheet

__all__ = ["FlameWords", "flame_picture", "flame_plot", "role_of", "tint_of"]

ROW = 18.0  # CSS pixels from row to row
_GAP, _BAR, _BESIDE, _BASE = 1.0, 2.5, 4.0, 12.0
_AWAY = {"faster": 1.0, "slower": -1.0}  # from the bar to the text
_TINTS = (
    0.0,
    0.02,
    0.1,
)  # shares of the whole: differences from here on are paler, pale, less pale
_ON_PAPER = ("veil", "pale", "faint")
_SHORTEST = 4  # signs of a name that is cut
_BETWEEN = "  "


class _Width(NamedTuple):
    """A set of labels, of which the style sheet shows one: for the least width, in CSS pixels."""

    css: str
    width: float


_SETS = (
    _Width("flame-narrow", 280.0),
    _Width("flame-broad", 640.0),
    _Width("flame-widest", 1040.0),
)


class FlameWords(NamedTuple):
    """What is said of a box: what it is called, its difference in brief, and all of it in one line."""

    name: Callable[[FlameBox], str]
    difference: Callable[[FlameBox], str]
    whole: Callable[[FlameBox], str]


def role_of(box: FlameBox, total: float) -> Style:
    """Say how a box is tinted: in no colour where its difference is too small for a bar."""
    if abs(box.difference) < LEAST * total:
        return "neither"
    return "slower" if box.difference > 0 else "faster"


def tint_of(box: FlameBox, total: float) -> int:
    """Say how strongly, from 1 to 3."""
    return sum(abs(box.difference) >= share * total for share in _TINTS)


def flame_plot(flame: Flame, words: FlameWords, alt: str) -> Markup:
    """Draw a flame graph as wide as its place on the page."""
    marks: list[Mark] = []
    deepest = 0
    for box in flame.boxes:
        deepest = max(deepest, box.depth)
        top, right = box.depth * ROW, box.left + box.width
        role = role_of(box, flame.total)
        look = f"flame-box flame-{role} flame-tint-{tint_of(box, flame.total)}"
        title = shown(words.whole(box))
        marks.append(Rect(box.left, right, top, top + ROW - _GAP, look, title))
        if role != "neither":
            edge = top if role == "faster" else top + ROW - _GAP - _BAR
            end = box.left + abs(box.difference) / flame.total
            marks.append(band(box.left, end, edge, edge + _BAR, f"flame-bar {role}"))
    marks += _labels(flame, words)
    return plot((deepest + 1) * ROW, marks, alt, css="flame")


def _labels(flame: Flame, words: FlameWords) -> Iterator[Mark]:
    for each in _SETS:
        for box in flame.boxes:
            text = _fitting(box, words, box.width * each.width - 2 * _BESIDE, text_width)
            if text:
                y = box.depth * ROW + _BASE + _AWAY.get(role_of(box, flame.total), 0.0)
                yield label(box.left, y, text, f"flame-name {each.css}", "start", _BESIDE)


def _fitting(box: FlameBox, words: FlameWords, room: float, measure: Callable[[str], float]) -> str:
    """Give as much as has room: name and difference, the name, its beginning; else nothing."""
    name, difference = shown(words.name(box)), words.difference(box)
    for text in (f"{name}{_BETWEEN}{difference}" if difference else name, name):
        if measure(text) <= room:
            return text
    cut = len(name) - 1
    while cut >= _SHORTEST and measure(f"{name[:cut]}…") > room:
        cut -= 1
    return f"{name[:cut]}…" if cut >= _SHORTEST else ""


# --- as a file


def flame_picture(
    flame: Flame,
    words: FlameWords,
    sheet: Sheet,
    *,
    title: str,
    keys: tuple[str, str],
    notes: Sequence[str],
) -> Picture:
    """Draw a flame graph on a sheet.

    Parameters
    ----------
    keys : (str, str)
        What the colour of slower stands for, and that of faster.
    title, notes
        Above and below it.
    """
    deepest = max(box.depth for box in flame.boxes)
    slower, faster = keys
    axes = Axes(
        x=Scale(0.0, 1.0),
        y=Scale(float(deepest + 1), 0.0),
        sides="",
        keys=[Key(slower, "slower", "square"), Key(faster, "faster", "square")],
        then=lambda axes, place: _set(axes, place, flame, words, sheet),
    )
    small = SMALL * sheet.font_size
    heads = 1.5 * sheet.font_size + 2.5 * small
    height = (deepest + 1) * _row(sheet) + heads
    return arranged(sheet, [[axes]], height * POINT, title=title, notes=notes)


def _row(sheet: Sheet) -> float:
    return 1.75 * SMALL * sheet.font_size


def _set(axes: Axes, place: Box, flame: Flame, words: FlameWords, sheet: Sheet) -> None:
    """Set all marks: only now is it known how long the area is."""
    length, row = place.right - place.left, (place.bottom - place.top) / axes.y.low
    small = SMALL * sheet.font_size
    beside, gap, bar = 0.3 * small, 0.4 / length, 0.16
    marks: list[Mark] = []
    for box in flame.boxes:
        top, bottom = box.depth + 0.03, box.depth + 0.97
        role = role_of(box, flame.total)
        css = "grid" if role == "neither" else f"{role} {_ON_PAPER[tint_of(box, flame.total) - 1]}"
        right = max(box.left, box.left + box.width - gap)
        marks.append(Rect(box.left, right, top, bottom, css, words.whole(box)))
        if role != "neither":
            ends = (top, top + bar) if role == "faster" else (bottom - bar, bottom)
            end = min(right, box.left + abs(box.difference) / flame.total)
            marks.append(Rect(box.left, end, *ends, role))
        room = box.width * length - 2 * beside
        text = _fitting(box, words, room, lambda said: wide(said, small, sheet.font_family))
        if text:
            lift = {"faster": 0.07, "slower": -0.07}.get(role, 0.0) * row  # away from the bar
            marks.append(
                Text(box.left, box.depth + 0.5, text, "ink small", "start", beside, dy=lift)
            )
    axes.marks = marks
