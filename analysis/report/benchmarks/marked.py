"""The pictures of a part as inline SVG; places come from the gathered values, nothing is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypedDict

from markupsafe import Markup

from ... import plots
from ...words import shorten, shown

if TYPE_CHECKING:
    from .drawings import (
        Cloud,
        EcdfPlot,
        FoldedPlots,
        Label,
        RunPlot,
        SessionPlot,
        ShiftPlot,
        Strip,
    )

__all__ = [
    "ecdf_svg",
    "folded_svgs",
    "row_svgs",
    "run_svgs",
    "sessions_svg",
    "shift_svg",
    "strip_svg",
]

_ROW = 96.0  # pixels of a variant's runs
_HEAD = 36.0
_TALL = 150.0
_AXIS = 20.0
_SMALL = 400  # dots of a row, from which on they are smaller
_SQUARE = 130.0
_STRIP = 24.0
_SESSION = 6  # letters of a session's name


class _Area(TypedDict):
    """Where a drawing lies in its picture, in pixels."""

    top: float
    height: float


def run_svgs(plot: RunPlot) -> Markup:
    """Give the head with sessions and findings, and for each row its runs and its density."""
    return _markup(_head(plot)) if plot.panels else Markup("")


def _head(plot: RunPlot) -> str:
    marks: list[plots.Mark] = []
    wide = len(plot.panels) <= 6
    for panel in plot.panels:
        if panel.label != panel.brief:  # hosts' names, longer where there is room
            for text, css in ((panel.label, "parts-word"), (panel.brief, "parts-brief")):
                if text:
                    marks.append(plots.label(panel.left, 12, text, css, anchor="start"))
        elif panel.label:
            lead = "session " if wide and plot.noun == "session" else ""
            said = plots.label(
                panel.left, 12, panel.label, "", anchor="start", lead=lead, lead_css="parts-word"
            )
            marks.append(said)
        elif len(plot.panels) == 1:
            marks.append(plots.label(panel.left, 12, "all runs", "", anchor="start"))
        for text, css in ((panel.long, "parts-long"), (panel.short, "parts-short")):
            if text:
                marks.append(plots.label(panel.left, 25, shown(text), css, anchor="start"))
    ruled = [(p.left, 0.5, p.right, 0.5) for p in plot.panels if p.found]
    marks.append(plots.segments(ruled, "ink parts-bar", top=30, height=4))
    return plots.plot(_HEAD, marks, "")


def row_svgs(plot: RunPlot, place: int) -> tuple[Markup, Markup]:
    """Give one row's runs, and its density."""
    row = plot.rows[place]
    area = _Area(top=0.0, height=_ROW)
    small = " parts-small" if len(row.dots) > _SMALL else ""
    marks = [
        plots.boxes([(p.left, p.right) for p in plot.panels], "panel", **area),
        plots.segments([(0.0, t.at, 1.0, t.at) for t in row.ticks], "grid", **area),
        plots.segments([(a, y, b, y) for a, b, y in row.baseline_means], "baseline line", **area),
        plots.segments([(a, y, b, y) for a, b, y in row.means], f"{row.style} parts-mean", **area),
        plots.dots(row.dots, row.style + small, axis=row.axis, **area),
        *(plots.dot(x, _ROW * (1 - y), "parts-ring", r=4.8) for x, y in row.rings),
        *(plots.cross(x, 4, "ink line") for x in row.crosses),
        *_up_labels(row.ticks, _ROW),
    ]
    runs = plots.plot(_ROW, marks, shown(row.alt))
    if not row.density:
        return _markup(runs), Markup("")
    outline = [(0.0, row.density[0][1]), *row.density, (0.0, row.density[-1][1])]
    curves = [
        plots.curve(outline, f"{row.style} parts-area", closed=True, **area),
        plots.curve(row.baseline_density, "baseline line", **area),
        *(plots.curve(part, "ink parts-component", **area) for part in row.components),
        plots.segments([(0.0, 0.0, 0.0, 1.0)], "ink line", **area),
    ]
    return _markup(runs), _markup(plots.plot(_ROW, curves, shown(row.density_alt)))


def sessions_svg(plot: SessionPlot | None, style: str) -> Markup:
    """Give a candidate's sessions, and below a hairline their mean."""
    if plot is None:
        return Markup("")
    rows = len(plot.rows)
    high = max(rows * plot.height, 0.0) + 12
    total = high + 36
    area = _Area(top=0.0, height=high)
    ups = [1 - (6 + (k + 0.5) * plot.height) / high for k in range(rows)]
    values = [x for _, x in plot.rows]
    places = list(zip(values, ups, strict=True))
    hollow = "" if plot.decided else " hollow"
    marks = [
        plots.band(plot.margin[0], plot.margin[1], 0, total, "margin"),
        *(plots.stroke(t.at, 0, total, "grid") for t in plot.ticks if t.at != plot.one),
        plots.stroke(plot.one, 0, total, "one"),
        plots.segments([(plot.one, y, x, y) for x, y in places], f"{style} parts-lead", **area),
        plots.dots(places, f"{style} parts-value", **area),
        plots.line(0, high, 1, high, "grid") if rows else "",
    ]
    middle = high + 18
    if plot.interval is not None:
        low, up = plot.interval
        marks.append(plots.line(low, middle, up, middle, f"{style} interval"))
        if plot.leaves[0]:
            marks.append(plots.arrow(low, middle, "left", f"{style} line"))
        if plot.leaves[1]:
            marks.append(plots.arrow(up, middle, "right", f"{style} line"))
    if plot.mean is not None:
        marks.append(plots.dot(plot.mean, middle, f"{style}{hollow}", r=5))
    for (text, _), up in zip(plot.rows, ups, strict=True):
        if text:
            marks.append(_beside(text, high * (1 - up) + 4))
    marks.append(_beside("mean", middle + 4))
    marks += [_below(t, total + 15) for t in plot.ticks]
    return _markup(plots.plot(total + _AXIS, marks, shown(plot.alt)))


def ecdf_svg(plot: EcdfPlot, style: str) -> Markup:
    """Give the share of runs up to each value."""
    area = _Area(top=0.0, height=_TALL)
    marks = [
        plots.segments([(0, y, 1, y) for y in (0.25, 0.5, 0.75)], "grid", **area),
        plots.segments([(0, 0, 1, 0)], "one", **area),
        plots.curve(plot.theirs, "baseline line", steps=True, **area),
        plots.curve(plot.ours, f"{style} line", steps=True, **area),
        plots.label(
            plot.half, _TALL / 2 - 4, "50\u00a0%", "", anchor="end" if plot.half else "start"
        ),
    ]
    for name in plot.names:
        css = f"{name.style} parts-name"
        dx = -7 if name.anchor == "end" else 7
        y = _TALL * (1 - name.up) + 4
        marks.append(plots.label(name.at, y, shown(name.text), css, anchor=name.anchor, dx=dx))
    marks += [plots.stroke(t.at, _TALL, _TALL + 4, "one") for t in plot.ticks]
    marks += [_below(t, _TALL + 16) for t in plot.ticks]
    return _markup(plots.plot(_TALL + _AXIS, marks, shown(plot.alt)))


def shift_svg(plot: ShiftPlot | None, style: str, word: str) -> Markup:
    """Give the speedup at each quantile."""
    if plot is None:
        return Markup("")
    area = _Area(top=0.0, height=_TALL)
    low, high = plot.margin
    marks = [
        plots.band(0, 1, _TALL * (1 - high), _TALL * (1 - low), "margin"),
        plots.segments(
            [(0, t.at, 1, t.at) for t in plot.ticks if t.at != plot.one], "grid", **area
        ),
        plots.segments([(0, plot.one, 1, plot.one)], "one", **area),
        plots.segments([(x, a, x, b) for x, a, b in plot.intervals], f"{style} line", **area),
        plots.dots(plot.points, f"{style} parts-quantile", **area),
    ]
    if word == "undecided":
        marks.append(plots.dots(plot.points, "parts-hole", **area))
    marks += [
        plots.arrow(x, 0 if up else _TALL, "up" if up else "down", f"{style} line")
        for x, up in plot.arrows
    ]
    marks += _up_labels(plot.ticks, _TALL)
    marks += [plots.label(t.at, _TALL + 17, t.text, "") for t in plot.shares]
    return _markup(plots.plot(_TALL + _AXIS, marks, shown(plot.alt)))


def folded_svgs(folded: FoldedPlots) -> list[tuple[str, list[tuple[str, Markup]]]]:
    """Give lag plots and Q-Q plots, each with its caption."""
    found = []
    if folded.lags:
        low, high = folded.ranges
        ends = f", both axes from {low} to {high}" if low else ""
        found.append(
            (
                f"Lag plot: each run against the run before in its session{ends}.",
                [(one.variant, _cloud(one)) for one in folded.lags],
            )
        )
    if folded.qqs:
        found.append(
            (
                "Normal Q-Q plot: runs less their session's mean, against a normal law.",
                [(one.variant, _cloud(one)) for one in folded.qqs],
            )
        )
    return found


def strip_svg(strip: Strip) -> Markup:
    """Give all runs in a line."""
    marks = [plots.dots(strip.dots, f"{strip.style} parts-tiny", top=3, height=_STRIP - 6)]
    return _markup(plots.plot(_STRIP, marks, shown(strip.alt)))


def _cloud(cloud: Cloud) -> Markup:
    area = _Area(top=0.0, height=_SQUARE)
    marks = [
        plots.boxes([(0, 1)], "panel", **area),
        plots.segments([(0, 0, 1, 1)], "one", **area),
        plots.dots(cloud.dots, f"{cloud.style} parts-small", **area),
    ]
    return _markup(plots.plot(_SQUARE, marks, shown(cloud.alt)))


def _up_labels(ticks: Sequence[Label], height: float) -> Iterator[plots.Mark]:
    for tick in ticks:
        y = max(10.0, height * (1 - tick.at) + 4)  # below what stands above the row
        yield plots.label(0, y, tick.text, "", anchor="end", dx=-8)


def _beside(text: str, y: float) -> plots.Mark:
    return plots.label(0, y, shorten(shown(text), _SESSION), "", anchor="end", dx=-8)


def _below(tick: Label, y: float) -> plots.Mark:
    return plots.label(tick.at, y, tick.text, "", anchor=tick.anchor)


def _markup(text: str) -> Markup:
    return Markup(text)  # noqa: S704 - analysis.plots escapes
