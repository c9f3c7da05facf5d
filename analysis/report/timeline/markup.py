"""The chapter as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from ...plots.label_row import InRow, RowLabel, in_rows
from ...plots.labels import text_width
from ...plots.marks import Mark, band, cross, dots, label, line, stroke
from ...plots.svg import plot
from ..chapter import html_of
from ..names import shortened
from ..shell import template
from .page import found_table, more_text, sessions_table
from .result import Cross, Happened, Lane, Timeline
from .timeline import HEIGHT

__all__: list[str] = []

# two sets of labels, of which the style sheet shows one: name, least width, rows of crosses' words,
# free room at the left and at the right, in CSS pixels
_SETS = (("wide", 515.0, 2, 52.0, 74.0), ("narrow", 200.0, 2, 46.0, 66.0))
_NUMBERS, _LANE, _BAR = 15.0, 20.0, 3.0
_TIMES, _WORDS, _CROSS = 18.0, 18.0, 4.0
_DOWN = 27.0  # from the panels to the crosses
_LINES = 12  # failed runs above which no lines are drawn through the panels
_LETTER, _HOST = 7.0, 8  # pixels of a letter of a name, and letters that it is not cut below
_LEGIBLE = 15.0  # CSS pixels between two lines of text


@html_of.register(Happened)
def _happened_html(chapter: Happened) -> Markup:
    return Markup(  # noqa: S704 - the template escapes
        template("timeline")
        .get_template("chapter.html.jinja")
        .render(
            chapter=chapter,
            pictures=[Markup(_picture(one)) for one in chapter.timelines],  # noqa: S704 - escaped there
            noun=next((one.noun for one in chapter.timelines), "session"),
            sessions=sessions_table(chapter),
            found=found_table(chapter),
            more=more_text(chapter.more_found) if chapter.more_found else "",
        )
    )


def _picture(timeline: Timeline) -> str:
    lanes = len(timeline.lanes)
    top = _NUMBERS + lanes * _LANE + (4.0 if lanes else 2.0)
    bottom = top + HEIGHT
    rows = max((row.row for _, row in _cross_words(timeline)), default=-1) + 1
    crosses = _DOWN + 8.0 + max(0, rows - 1) * _WORDS if timeline.crosses else _TIMES
    height = bottom + crosses
    marks = [
        *_backs(timeline, top, bottom),
        *_clouds(timeline, top),
        *_heads(timeline),
        *(mark for k, lane in enumerate(timeline.lanes) for mark in _lane(lane, k)),
        *_scale(timeline, top),
        *_times(timeline, bottom),
        *_failed(timeline, top, bottom),
    ]
    return plot(height, marks, timeline.alt, css="happened-plot")


def _backs(timeline: Timeline, top: float, bottom: float) -> Iterator[Mark]:
    for panel in timeline.panels:
        yield band(panel.left, panel.left + panel.width, top, bottom, "panel")
    for mark in timeline.levels:
        y = bottom - mark.at * HEIGHT
        yield line(0, y, 1, y, "one" if mark.text == "median" else "grid")


def _clouds(timeline: Timeline, top: float) -> Iterator[Mark]:
    for panel in timeline.panels:
        area = {"top": top, "height": HEIGHT, "left": panel.left, "width": panel.width}
        for places, css in ((panel.dots, "happened-run"), (panel.opened, "happened-opened")):
            if places:
                yield dots(places, css, axis=timeline.axis, **area)
        for shares, y in ((panel.above, top), (panel.below, top + HEIGHT)):
            out = -5.0 if y == top else 5.0
            for share in shares:
                yield stroke(panel.left + share * panel.width, y, y + out, "happened-beyond")


def _heads(timeline: Timeline) -> Iterator[Mark]:
    """Give the sessions' numbers, or the hosts' names; the word stands once, at the left."""
    yield label(0, 11, timeline.noun, "", anchor="end", dx=-6)
    for name, width, _, _, right in _SETS:
        room = int(width / len(timeline.panels) / _LETTER) - 1
        cut = shortened([panel.session for panel in timeline.panels], max(_HOST, room))
        labels = [RowLabel(panel.left, cut[panel.session]) for panel in timeline.panels]
        if timeline.noun == "host":  # before its place a name would be another host's
            labels = [one for one in labels if one.at * width + text_width(one.text) <= width]
        for one in in_rows(labels, width, right=right):
            yield _text(one, 11, f"happened-{name}")


def _lane(lane: Lane, k: int) -> Iterator[Mark]:
    y = _NUMBERS + (k + 1) * _LANE - _BAR
    for left, right, _ in lane.spans:
        yield band(left, right, y, y + _BAR, "ink")
    first, *others = lane.spans
    for name, width, _, free, right in _SETS:
        labels = [
            RowLabel(first[0], f"{lane.words} {first[2]}".rstrip(), bold=True),
            *(RowLabel(left, figure, bold=True) for left, _, figure in others if figure),
        ]
        for one in in_rows(labels, width, left=free, right=right):
            yield _text(one, y - 4, f"happened-{name} happened-strong")


def _scale(timeline: Timeline, top: float) -> Iterator[Mark]:
    for mark in timeline.levels:
        y = top + (1 - mark.at) * HEIGHT
        yield label(0, y + 4, mark.text, "", anchor="end", dx=-6)
    heights = [top + (1 - state.at) * HEIGHT for state in timeline.states]
    if len(heights) == 2 and heights[0] - heights[1] < _LEGIBLE:  # the lower level is the first
        middle = sum(heights) / 2
        heights = [middle + _LEGIBLE / 2, middle - _LEGIBLE / 2]
    for state, y in zip(timeline.states, heights, strict=True):
        yield label(1, y + 4, state.text, "happened-strong", anchor="start", dx=5)


def _times(timeline: Timeline, bottom: float) -> Iterator[Mark]:
    for name, width, *_ in _SETS:
        # the last one bears the unit
        labels = [RowLabel(mark.at, mark.text) for mark in reversed(timeline.times)]
        for one in in_rows(labels, width):
            yield _text(one, bottom + 14, f"happened-{name}")


def _failed(timeline: Timeline, top: float, bottom: float) -> Iterator[Mark]:
    y = bottom + _DOWN
    for one in timeline.crosses:
        if len(timeline.crosses) <= _LINES:
            yield line(one.at, top, one.at, bottom, "happened-line")
        yield line(one.at, bottom + _TIMES, one.at, y - 6, "happened-line")
        yield cross(one.at, y, "happened-cross", r=_CROSS)
    for name, word in _cross_words(timeline):
        css = f"happened-{name}"
        yield _text(word, y + 4 + word.row * _WORDS, f"{css} happened-strong")
        if word.row:
            end = y + word.row * _WORDS
            yield line(word.label.at, y, word.label.at, end, f"happened-line {css}")


def _cross_words(timeline: Timeline) -> Iterator[tuple[str, InRow]]:
    """Give the words beside the crosses, clear of the crosses themselves."""
    for name, width, rows, free, right in _SETS:
        labels = [_words_of(one, name) for one in timeline.crosses]
        free_rows = in_rows(labels, width, rows=rows, left=free, right=right)
        for word in free_rows:
            if word.row or _clear(word, timeline.crosses, width):
                yield name, word


def _words_of(run: Cross, name: str) -> RowLabel:
    return RowLabel(run.at, run.text if name == "wide" else run.brief, dx=8.0, bold=True)


def _clear(word: InRow, crosses: Sequence[Cross], width: float) -> bool:
    """Whether no other cross stands where the word does."""
    size = text_width(word.label.text, bold=True)
    x = word.label.at * width
    begin, end = (x + 6, x + 10 + size) if word.anchor == "start" else (x - 10 - size, x - 6)
    return not any(begin <= one.at * width <= end for one in crosses)


def _text(one: InRow, y: float, css: str) -> Mark:
    dx = -one.label.dx if one.anchor == "end" else one.label.dx
    return label(one.label.at, y, one.label.text, css, anchor=one.anchor, dx=dx)
