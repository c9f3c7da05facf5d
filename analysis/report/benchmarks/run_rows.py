"""The run plot: every run of a benchmark, a row for each variant and a panel for each session."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...pages import number_format as figures
from ...plots.labels import text_width
from ...plots.scale import Scale, quantity_ticks, read_out
from ...words import shorten, shown
from ..names import shortened
from .axes import row_scales, upright_labels
from .curves import Modes, densities, peak
from .drawings import Panel, RunPlot, RunRow

if TYPE_CHECKING:
    from ...diagnose.result import FarRun
    from .cells import Cell
    from .frame import Frame
    from .result import Mark, VariantRuns

__all__ = ["run_plot"]

Floats = NDArray[np.float64]
_RINGS = 40  # in a row; the farthest of them
_LABELLED = 12  # panels that have a label each
_NAME = 24  # letters
_HOST, _BESIDE = 8, 8.0  # letters that a host's name is not cut below; pixels beside it
_PIXELS = 530.0, 220.0  # of all panels, on a wide and on a narrow page
_FINDINGS = 2  # of a session, that are named
_WIDE, _NARROW = 80, 34  # letters above all panels, at 900 and at 360 pixels
_TICKS_APART = 0.17  # of a row's height


def run_plot(
    cells: Mapping[str, Cell],
    frame: Frame,
    told: Mapping[str, VariantRuns],
    *,
    unit: str,
    baseline: str,
    marks: Sequence[Mark],
    far: Mapping[str, Sequence[FarRun]],
    modes: Mapping[str, Modes],
    hosts: Mapping[str, str] | None = None,
) -> RunPlot:
    """Place all runs.

    Parameters
    ----------
    cells, frame : mapping, Frame
        The runs of each variant, and their places across.
    told : mapping of str to VariantRuns
        What is said of each variant.
    unit, baseline : str
        Of the values; whose means and density are repeated.
    marks : sequence of Mark
        What was found in some sessions.
    far : mapping of str to sequence of FarRun
        Runs far from the others of their session, by variant.
    modes : mapping of str to Modes
        Of the variants of which they were looked at.
    hosts : mapping of str to str, optional
        The host that each session is, where sessions are those of a fleet.
    """
    noun = "host" if hosts else "session"
    scales = row_scales(cells, {name: told[name].mean.value or 0.0 for name in cells})
    heights, parts = densities(cells, scales, modes)
    means = {name: _means(cells[name], frame, name, scales[name]) for name in cells}
    rows = []
    for name, cell in cells.items():
        scale = scales[name]
        same = name != baseline and baseline in cells and scales[baseline] == scale
        rows.append(
            RunRow(
                variant=name,
                style=told[name].style,
                alt=_alt(name, cell, told[name], unit, noun),
                density_alt=_density_alt(name, cell, unit),
                axis=read_out(scale, unit),
                ticks=upright_labels(quantity_ticks(scale, unit, 4), scale, _TICKS_APART),
                dots=tuple(zip(frame.across[name].tolist(), _up(cell.values, scale), strict=True)),
                rings=_rings(cell, frame, name, scale, far.get(name, ())),
                crosses=frame.failed.get(name, ()),
                means=means[name],
                baseline_means=means[baseline] if same and frame.together else (),
                density=heights[name],
                baseline_density=heights[baseline] if same else (),
                components=parts[name],
            )
        )
    return RunPlot(
        noun=noun,
        panels=_panels(frame, marks, hosts or {}),
        rows=tuple(rows),
        caption=_caption(rows, baseline, noun),
        special=_special(rows, noun),
    )


def _panels(frame: Frame, marks: Sequence[Mark], hosts: Mapping[str, str]) -> tuple[Panel, ...]:
    """Give the panels; what was found in some sessions stands above them, as far as there is room."""
    count = len(frame.labels)
    wide, narrow = (_headings(frame.labels, hosts, wide / count) for wide in _PIXELS)
    found = []
    before: list[str] = []
    for k, (label, (left, right)) in enumerate(zip(frame.labels, frame.spans, strict=True)):
        here = [one for one in marks if label in one.sessions and not one.everywhere]
        told = [(one.word, one.figures[one.sessions.index(label)]) for one in here[:_FINDINGS]]
        words = [  # what stood above the panel before is known: its figure is enough
            figure if word in before and figure else f"{word} {figure}".strip()
            for word, figure in told
        ]
        figures_only = [figure for _, figure in told if figure]
        found.append(
            Panel(
                label=wide[k],
                brief=narrow[k],
                left=left,
                right=right,
                found=bool(here),
                long=_fitting([", ".join(words), *words[:1], *figures_only[:1]], _WIDE / count),
                short=_fitting(figures_only[:1], _NARROW / count),
            )
        )
        before = [word for word, _ in told]
    return tuple(found)


def _headings(labels: Sequence[str], hosts: Mapping[str, str], room: float) -> Sequence[str]:
    """Name each panel, or every few of them; a host's name is cut to the room, in pixels, of a panel."""
    count = len(labels)
    if not hosts:
        every = -(-count // _LABELLED)
        return [label if k % every == 0 else "" for k, label in enumerate(labels)]
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


def _up(values: Floats, scale: Scale) -> list[float]:
    return [scale.clipped(value) for value in values.tolist()]


def _means(
    cell: Cell, frame: Frame, name: str, scale: Scale
) -> tuple[tuple[float, float, float], ...]:
    found = []
    for k, runs in enumerate(cell.by_session):
        left, right = frame.spans[int(frame.panel[name][k])]
        found.append((left, right, scale.clipped(mean_of(runs, log=scale.log))))
    return tuple(found)


def mean_of(runs: Floats, *, log: bool) -> float:
    """Give the geometric mean, or the arithmetic one where the axis is linear."""
    return float(np.exp(np.log(runs).mean())) if log else float(runs.mean())


def _rings(
    cell: Cell, frame: Frame, name: str, scale: Scale, far: Sequence[FarRun]
) -> tuple[tuple[float, float], ...]:
    found = []
    for one in far[:_RINGS]:
        if str(one.session) not in cell.labels:
            continue
        mine = np.flatnonzero(cell.session == cell.labels.index(str(one.session)))
        if one.run <= mine.size:
            run = int(mine[one.run - 1])
            found.append((float(frame.across[name][run]), scale.clipped(float(cell.values[run]))))
    return tuple(found)


def _alt(name: str, cell: Cell, told: VariantRuns, unit: str, noun: str) -> str:
    there = "on" if noun == "host" else "in"
    where = f" {there} {told.sessions} {noun}s" if told.sessions > 1 else ""
    text = f"{name}: {told.runs} run{'s' * (told.runs != 1)}{where}, mean {told.mean.text}"
    log = bool((cell.values > 0).all())
    levels = [mean_of(runs, log=log) for runs in cell.by_session]
    if len(levels) > 1:
        low, high = (figures.quantity(level, unit) for level in (min(levels), max(levels)))
        text += f", {noun}s from {low} to {high}"
    if told.speedup.text:
        text += f"; {told.speedup.text} times {told.word}"
    if told.far:
        text += f"; {told.far} far from the others of their {noun}"
    if told.failed:
        text += f"; {told.failed} failed"
    return text


def _density_alt(name: str, cell: Cell, unit: str) -> str:
    found = peak(cell.values)
    if found is None:
        return f"density of {name}: too few different runs"
    return f"density of {name}: most runs lie near {figures.quantity(found, unit)}"


def _caption(rows: Sequence[RunRow], baseline: str, noun: str) -> str:
    """Say what dots and strokes are."""
    sessions = any(len(row.means) > 1 for row in rows)
    text = "Each dot is a run, left to right in the order of its blocks"
    text += f", a panel for each {noun}." if sessions else "."
    text += f" Stroke: mean of the {noun}" if sessions else " Stroke: mean of the runs"
    if any(row.baseline_means for row in rows):
        text += f"; grey: {shorten(shown(baseline), _NAME)}, repeated in each row"
    return f"{text}."


def _special(rows: Sequence[RunRow], noun: str) -> str:
    """Say what the other marks are, of those that are there."""
    found = []
    if len({row.axis for row in rows}) > 1:
        found.append(
            "The variants lie far apart: each row has an axis of its own, of the same ratio."
        )
    if any(row.rings for row in rows):
        far, runs = sum(len(row.rings) for row in rows), sum(len(row.dots) for row in rows)
        found.append(f"Ring: a run far from the others of its {noun} ({far:,} of {runs:,}).")
    if any(row.crosses for row in rows):
        found.append("Cross: a failed run.")
    if any(row.components for row in rows):
        found.append(
            "Thin lines beside the density: the components of a Gaussian mixture that fits."
        )
    return " ".join(found)
