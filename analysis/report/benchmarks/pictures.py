"""Pictures of a benchmark's runs: a row for each variant, densities, strips, neighbours, a normal law."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from markupsafe import Markup

from ... import plots
from ...pages.number_format import quantity
from ...plots.axes import quantity_scale, quantity_ticks, read_out
from ...plots.labels import text_width
from ...words import shortened, shown
from ..runs import (
    Area,
    Grounds,
    Place,
    densities,
    far_places,
    mean_of,
    normal_quantiles,
    numbers_within,
    pairs_in_order,
    peak,
    session_means,
    shares,
    up_labels,
    upright_labels,
)

if TYPE_CHECKING:
    from ..runs import Cell, Floats
    from .benchmarks import Benchmark, Mark

__all__ = [
    "Panel",
    "RunRows",
    "panels_of",
    "run_rows",
    "squares",
    "strip",
    "strip_dots",
    "strip_each",
]

_ROW = 96.0  # pixels of a variant's runs
_HEAD = 36.0
_SMALL = 400  # dots of a row, from which on they are smaller
_RINGS = 40  # in a row; the farthest of them
_LABELLED = 12  # panels that have a label each
_NAME = 24  # letters
_HOST, _BESIDE = 8, 8.0  # letters that a host's name is not cut below; pixels beside it
_PIXELS = 530.0, 220.0  # of all panels, on a wide and on a narrow page
_FINDINGS = 2  # of a session, that are named
_WIDE, _NARROW = 80, 34  # letters above all panels, at 900 and at 360 pixels
_TICKS_APART = 0.17  # of a row's height
_DOTS = 60  # in a strip, at most: more are no dots any longer
_STRIP = 24.0
_SQUARE = 130.0
_LEAST = 3  # dots of a square
_GRAIN = 90  # dots of a square that lie in one of so many cells each way are one to the eye


class Panel(NamedTuple):
    """What stands above one session, or one host: "" where there is no room."""

    label: str  # its name, on a wide page
    brief: str  # and on a narrow one
    found: bool  # whether it has findings
    long: str  # which, on a wide page
    short: str  # and on a narrow one


class RunRows(NamedTuple):
    """All runs of a benchmark."""

    head: Markup  # the panels' names
    rows: dict[str, tuple[Markup, Markup]]  # each variant's runs, and their density
    several: bool  # whether there are means of several sessions
    repeated: bool  # whether the baseline's means stand in each row
    apart: bool  # whether rows have axes of their own
    rings: int
    mixtures: bool  # whether components of some are drawn


def run_rows(one: Benchmark, grounds: Grounds) -> RunRows:
    """Draw every run of a benchmark."""
    known, cells, frame, scales = one.known, one.cells, one.frame, one.scales
    base = known.subject.baseline
    heights, parts = densities(cells, scales, one.modes)
    means = {name: list(_means(one, name)) for name in cells}
    rings = {name: list(_rings(one, name)) for name in cells}
    alike = {n for n in cells if n != base and base in cells and scales[base] == scales[n]}
    area = Area(top=0.0, height=_ROW)
    rows = {}
    for name, cell in cells.items():
        scale, style = scales[name], one.styles[name]
        ticks = upright_labels(quantity_ticks(scale, known.unit, 4), scale, _TICKS_APART)
        before = means[base] if name in alike and frame.together else []
        up = shares(cell.values, scale)
        dots = list(zip(frame.across[name].tolist(), up.tolist(), strict=True))
        small = " parts-small" if len(dots) > _SMALL else ""
        marks = [
            grounds.of(plots.boxes(frame.spans, "panel", **area)),
            grounds.of(
                plots.segments([(0.0, t.at, 1.0, t.at) for t in ticks], "grid", **area),
                *up_labels(ticks, _ROW),
            ),
            plots.segments([(a, y, b, y) for a, b, y in before], "baseline line", **area),
            plots.segments(
                [(a, y, b, y) for a, b, y in means[name]], f"{style} parts-mean", **area
            ),
            plots.dots(dots, style + small, axis=read_out(scale, known.unit), **area),
            *(plots.dot(x, _ROW * (1 - y), "parts-ring", r=4.8) for x, y in rings[name]),
            *(plots.cross(x, 4, "ink line") for x in frame.failed.get(name, ())),
        ]
        runs = plots.plot(_ROW, marks, shown(_runs_alt(one, name)))
        curve, density = heights[name], Markup("")
        if curve:
            outline = [(0.0, curve[0][1]), *curve, (0.0, curve[-1][1])]
            theirs = heights[base] if name in alike else []
            marks = [
                plots.curve(outline, f"{style} parts-area", closed=True, **area),
                plots.curve(theirs, "baseline line", **area),
                *(plots.curve(part, "ink parts-component", **area) for part in parts[name]),
                plots.segments([(0.0, 0.0, 0.0, 1.0)], "ink line", **area),
            ]
            density = plots.plot(_ROW, marks, shown(_density_alt(name, cell, known.unit)))
        rows[name] = runs, density

    return RunRows(
        head=_head(one),
        rows=rows,
        several=any(len(level) > 1 for level in means.values()),
        repeated=bool(alike) and frame.together,
        apart=len({read_out(scale, known.unit) for scale in scales.values()}) > 1,
        rings=sum(map(len, rings.values())),
        mixtures=any(parts.values()),
    )


def _means(one: Benchmark, name: str) -> Iterator[tuple[float, float, float]]:
    """Give each session's mean: from where to where, and how high."""
    scale = one.scales[name]
    for left, right, mean in session_means(one.cells[name], one.frame, name, log=scale.log):
        yield left, right, scale.clipped(mean)


def _rings(one: Benchmark, name: str) -> Iterator[Place]:
    """Give the places of runs that are far from the others of their session."""
    cell, far = one.cells[name], one.known.far.get((one.name, name), ())
    for run in far_places(cell, far[:_RINGS]):
        yield float(one.frame.across[name][run]), one.scales[name].clipped(float(cell.values[run]))


def _runs_alt(one: Benchmark, name: str) -> str:
    told, cell, noun = one.variants[name], one.cells[name], one.noun
    there = "on" if noun == "host" else "in"
    where = f" {there} {told['sessions']} {noun}s" if told["sessions"] > 1 else ""
    what = "value" if one.merged else "run"
    text = (
        f"{name}: {told['runs']} {what}{'s' * (told['runs'] != 1)}{where}, mean {told['mean'].text}"
    )
    log = cell.positive
    levels = [mean_of(runs, log=log) for runs in cell.by_session]
    if len(levels) > 1:
        low, high = (quantity(level, one.known.unit) for level in (min(levels), max(levels)))
        text += f", {noun}s from {low} to {high}"
    if told["speedup"].text:
        text += f"; {told['speedup'].text} times {told['word']}"
    if told["far"]:
        text += f"; {told['far']} far from the others of their {noun}"
    return text + (f"; {told['failed']} failed" if told["failed"] else "")


def _density_alt(name: str, cell: Cell, unit: str) -> str:
    at = peak(cell.values)
    if at is None:
        return f"density of {name}: too few different runs"
    return f"density of {name}: most runs lie near {quantity(at, unit)}"


def _head(one: Benchmark) -> Markup:
    """Draw what stands above the panels: their names, and what was found in some sessions."""
    panels = panels_of(one.frame.labels, one.marks, one.known.hosts)
    lead = "session " if len(panels) <= 6 and not one.known.hosts else ""
    marks: list[plots.Mark] = []
    ruled = []
    for panel, (left, right) in zip(panels, one.frame.spans, strict=True):
        texts = [(25, shown(panel.long), "parts-long"), (25, shown(panel.short), "parts-short")]
        if panel.label != panel.brief:  # hosts' names, longer where there is room
            texts += [(12, panel.label, "parts-word"), (12, panel.brief, "parts-brief")]
        elif panel.label:
            marks.append(
                plots.label(
                    left, 12, panel.label, "", anchor="start", lead=lead, lead_css="parts-word"
                )
            )
        elif len(panels) == 1:
            texts += [(12, "all runs", "")]
        marks += [plots.label(left, y, text, css, anchor="start") for y, text, css in texts if text]
        ruled += [(left, 0.5, right, 0.5)] * panel.found
    marks.append(plots.segments(ruled, "ink parts-bar", top=30, height=4))
    return plots.plot(_HEAD, marks, "")


def panels_of(
    labels: Sequence[str], marks: Sequence[Mark], hosts: Mapping[str, str]
) -> list[Panel]:
    """Give the panels' texts; what was found in some sessions stands there, as far as there is room."""
    count = len(labels)
    names = (_headings(labels, hosts, wide / count) for wide in _PIXELS)
    found = []
    before: list[str] = []
    for label, wide, narrow in zip(labels, *names, strict=True):
        here = [one for one in marks if label in one.sessions and not one.everywhere]
        told = [(one.word, one.figures[one.sessions.index(label)]) for one in here[:_FINDINGS]]
        words = [  # what stood above the panel before is known: its figure is enough
            figure if word in before and figure else f"{word} {figure}".strip()
            for word, figure in told
        ]
        figures = [figure for _, figure in told if figure][:1]
        long = _fitting([", ".join(words), *words[:1], *figures], _WIDE / count)
        found.append(Panel(wide, narrow, bool(here), long, _fitting(figures, _NARROW / count)))
        before = [word for word, _ in told]
    return found


def _headings(labels: Sequence[str], hosts: Mapping[str, str], room: float) -> Sequence[str]:
    """Name each panel, or every few of them; a host's name is cut to the room, in pixels, of a panel."""
    count = len(labels)
    if not hosts:
        every = -(-count // _LABELLED)
        return [shown(label) if k % every == 0 else "" for k, label in enumerate(labels)]
    names = [hosts.get(label, label) for label in labels]
    for letters in range(_NAME, _HOST - 1, -1):
        cut = shortened(names, letters)
        needed = max(map(text_width, cut.values())) + _BESIDE
        if needed <= room:
            break
    each = math.ceil(needed / room)
    last = max(0, count - each)  # behind the last panel stands the density's heading
    return [cut[name] if k % each == 0 and k <= last else "" for k, name in enumerate(names)]


def _fitting(texts: Sequence[str], room: float) -> str:
    """Give the first text that has room, in letters."""
    return next((text for text in texts if len(text) <= room), "")


# ---- small ones


def strip_each(cell: Cell) -> int:
    """Count the runs that make one dot of a strip."""
    return -(-cell.values.size // _DOTS)


def strip(one: Benchmark, variant: str) -> Markup:
    """Draw all runs in one line of text; hidden from those who hear the numbers beside it."""
    css, dots = f"{one.styles[variant]} parts-tiny", strip_dots(one, variant).tolist()
    return plots.plot(_STRIP, [plots.dots(dots, css, top=3, height=_STRIP - 6)], "")


def strip_dots(one: Benchmark, variant: str) -> Floats:
    """Place runs in their order, on an axis of their own; of many, medians of neighbours in a session."""
    cell = one.cells[variant]
    values, size = cell.values, cell.values.size
    neighbours = cell.session * size + numbers_within(cell.session) // strip_each(cell)
    _, group, counts = np.unique(neighbours, return_inverse=True, return_counts=True)
    ordered, first = values[np.lexsort((values, group))], np.cumsum(counts) - counts
    medians = (ordered[first + (counts - 1) // 2] + ordered[first + counts // 2]) / 2
    places = np.bincount(group, weights=one.frame.across[variant]) / counts
    scale = quantity_scale(cell.ends, log=cell.positive)
    return np.column_stack((places, shares(medians, scale)))


def squares(one: Benchmark, grounds: Grounds) -> list[tuple[str, list[tuple[str, Markup]]]]:
    """Draw what a reviewer asks for: a caption and each variant's square; no kind without squares."""
    scales, unit = list(one.scales.values()), one.known.unit
    ends = ""
    if all(other == scales[0] for other in scales):
        low, high = (quantity(end, unit) for end in (scales[0].low, scales[0].high))
        ends = f", both axes from {low} to {high}"
    kinds = (
        (f"Lag plot: each run against the run before in its session{ends}.", _lag),
        ("Normal Q-Q plot: runs less their session's mean, against a normal law.", _normal),
    )
    drawn = (
        (said, [(name, draw(one, name, grounds)) for name in one.cells]) for said, draw in kinds
    )
    kept = ((said, [(name, square) for name, square in some if square]) for said, some in drawn)
    return [(said, some) for said, some in kept if some]


def _lag(one: Benchmark, variant: str, grounds: Grounds) -> Markup:
    """Draw each run against the one before it in its session; nothing of few runs."""
    dots = shares(pairs_in_order(one.cells[variant]), one.scales[variant])
    found = one.known.found.get((one.name, variant))
    known = None if found is None else found.lag_1
    said = f"{len(dots)} pairs" if known is None else f"autocorrelation {known:.2f}"
    return _square(one, variant, dots, grounds, f"each run against the run before, {said}")


def _normal(one: Benchmark, variant: str, grounds: Grounds) -> Markup:
    """Draw runs less their session's mean against a normal law; nothing of few or equal runs."""
    dots = normal_quantiles(one.cells[variant])
    if len(dots) < _LEAST:
        return Markup("")
    apart = float(np.abs(dots[:, 1] - dots[:, 0]).max())
    reach = 2.12 * float(np.abs(dots).max())
    said = f"the farthest lies {apart:.1f} standard deviations from it"
    return _square(
        one, variant, dots / reach + 0.5, grounds, f"{len(dots)} runs against a normal law; {said}"
    )


def _square(one: Benchmark, variant: str, dots: Floats, grounds: Grounds, said: str) -> Markup:
    """Draw a square of dots and its diagonal."""
    if len(dots) < _LEAST:
        return Markup("")
    _, first = np.unique((dots * _GRAIN).astype(int), axis=0, return_index=True)
    area = Area(top=0.0, height=_SQUARE)
    marks = [
        grounds.of(
            plots.boxes(((0, 1),), "panel", **area),
            plots.segments([(0, 0, 1, 1)], "one", **area),
        ),
        plots.dots(dots[first].tolist(), f"{one.styles[variant]} parts-small", **area),
    ]
    return plots.plot(_SQUARE, marks, shown(f"{variant}: {said}"))
