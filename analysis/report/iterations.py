"""Which iterations of runs are judged, what the runs are called, and all iterations of some as a picture."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from .. import plots
from ..errors import AnalysisError
from ..pages.model import CommandLine, Section, Sentence, Value
from ..plots.axes import quantity_scale, quantity_ticks, read_out
from ..record.manifest import asked_words
from ..words import shortened, shown
from .figures.iterations import RunIterations, runs_of_variants, thinned
from .figures.panels import cells_and_styles, word_styles
from .page import Chapter, table_of
from .runs import Area, shares, up_labels, upright_labels

if TYPE_CHECKING:
    from ..data.iterations import IterationsOfCell
    from ..pages.model import Block, Table
    from ..plots.marks import Mark
    from .subject import Subject

__all__ = ["chapter"]

_DRAWN = 6  # benchmarks
_RUNS = 12  # of a variant, that are drawn
_POINTS = 150  # of a run
_ROWS = 60  # of the table
_NAME = 40  # letters
_HIGH, _BELOW, _APART = (
    110.0,
    18.0,
    0.2,
)  # pixels of a picture and of its axis, and of its height between labels
_AREA = Area(top=0.0, height=_HIGH)

Values = Mapping[str, Any]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where every iteration is judged, and nobody asked otherwise."""
    cells = sorted(
        subject.verdict.iterations, key=lambda one: (not one.unsteady, _place(subject, one))
    )
    if not cells:
        return None
    drawn = list(dict.fromkeys(one.benchmark for one in cells))[:_DRAWN]
    metric = [] if subject.verdict.usual else ["--metric", subject.verdict.metric]
    words = ["fairtrial", "plot", "iterations", *subject.sources, *metric, *asked_words()]
    values: dict[str, Any] = {
        "lead": _lead(cells),
        "cells": [_row(one) for one in cells],
        "command": shlex.join([*words, "--benchmark", drawn[0], "-o", "iterations.svg"]),
    }
    anchor = subject.anchor("iterations")
    return Chapter(
        name="iterations",
        folder="iterations",
        anchor=anchor,
        title="Iterations of the runs",
        values=values,
        sections=lambda: (Section(tuple(_blocks(values, anchor)), title="Iterations of the runs"),),
        drawn=lambda: {
            "brief": shortened([*drawn, *subject.matrices], _NAME),
            "table_of_cells": _table(values, anchor),
            "pictures_of": [(bench, list(_pictures(subject, bench))) for bench in drawn],
        },
    )


def _place(subject: Subject, one: IterationsOfCell) -> int:
    return (
        subject.order.index(one.benchmark) if one.benchmark in subject.order else len(subject.order)
    )


def _lead(cells: list[IterationsOfCell]) -> str:
    lost, setting = sum(one.unsteady for one in cells), cells[0].setting
    how = (
        "those before a run becomes steady"
        if setting == "auto"
        else f"the first {setting} of a run"
    )
    told = f"Iterations that are not judged: {how}."
    if not lost:
        return told
    return f"{told} No word on {lost} of {len(cells)} cells: too many of their runs reach no steady state."


def _row(one: IterationsOfCell) -> Values:
    """Give a cell's line as texts and numbers."""
    least, median, most = one.left_out
    span = f"{least}" if least == most else f"{least} to {most}"
    named = {state: count for state, count in (one.states or {}).items() if count}
    return {
        "host": one.host,
        "benchmark": one.benchmark,
        "variant": one.variant,
        "runs": Value(f"{one.runs}", one.runs),
        "left_out": Value(span, median),
        "states": ", ".join(f"{count} {state}" for state, count in named.items()),
        "unsteady": one.unsteady,
    }


# --- as sentences and tables


def _blocks(values: Values, anchor: str) -> Iterator[Block]:
    yield Sentence(values["lead"])
    yield _table(values, anchor)
    more = len(values["cells"]) - _ROWS
    if more > 0:
        yield Sentence(f"{more} more stand in --format json.")
    yield CommandLine(values["command"])


def _table(values: Values, anchor: str) -> Table:
    cells = values["cells"][:_ROWS]
    hosts = any(one["host"] is not None for one in cells)
    first = "<host; " if hosts else ""
    return table_of(
        f"{anchor}-cells",
        f"{first}<benchmark; <variant; runs; not judged; <called",
        (
            (
                *([shown(one["host"])] if hosts else []),
                shown(one["benchmark"]),
                shown(one["variant"]),
                one["runs"],
                one["left_out"],
                one["states"],
            )
            for one in cells
        ),
    )


# --- as pictures


def _pictures(subject: Subject, benchmark: str) -> Iterator[tuple[str, str, Markup]]:
    """Give each variant of a benchmark with how many of its runs are drawn, and their picture."""
    try:
        cells, _ = cells_and_styles(subject, benchmark)
        styles = word_styles(subject, benchmark)
        runs = runs_of_variants(subject, benchmark, cells)
    except AnalysisError:  # sides that are no trial
        return
    some = {name: [run for _, run in found[:_RUNS]] for name, found in runs.items() if found}
    scale = quantity_scale(
        end
        for found in some.values()
        for run in found
        for middles in (thinned(run, _POINTS)[0],)
        for end in (middles.min(), middles.max())
    )
    unit = subject.verdict.unit
    ticks = upright_labels(quantity_ticks(scale, unit, 4), scale, _APART)
    longest = max((run.printed for found in some.values() for run in found), default=1)
    for name, found in some.items():
        marks = [
            plots.segments([(0.0, t.at, 1.0, t.at) for t in ticks], "grid", **_AREA),
            *up_labels(ticks, _HIGH),
            *(mark for run in found for mark in _run(run, scale, styles[name], longest)),
            plots.label(0.0, _HIGH + _BELOW - 4, "1", "", anchor="start"),
            plots.label(1.0, _HIGH + _BELOW - 4, f"iteration {longest:,}", "", anchor="end"),
        ]
        counted = f"{len(found)} of {len(runs[name])} runs"
        left = sorted(run.left_out for run in found)
        alt = (
            f"{benchmark}, {name}: {counted}, iteration by iteration, {read_out(scale, unit)}; "
            f"{left[0]} to {left[-1]} are not judged"
        )
        yield name, counted, plots.plot(_HIGH + _BELOW, marks, shown(alt))


def _run(run: RunIterations, scale: Any, css: str, longest: int) -> Iterator[Mark]:  # noqa: ANN401 - an axis
    """Draw a run: a thin line before it is judged, and a ring where that begins."""
    middles, places = thinned(run, _POINTS)
    up, along = shares(middles, scale), places / (longest + 1)
    points = list(zip(along.tolist(), up.tolist(), strict=True))
    split = int((places <= run.left_out).sum())
    if split:
        yield plots.curve(points[: split + 1], "iterations-early", **_AREA)
    yield plots.curve(points[split:], f"{css} iterations-run", **_AREA)
    if 0 < split < len(points):
        x, y = points[split]
        yield plots.dot(x, _HIGH * (1 - y), "iterations-ring", r=2.6)
