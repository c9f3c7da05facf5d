"""Puts the picture of one trial together: where each run lies, and what is written beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...pages import number_format as figures
from ...pages.model import Value
from ...plots.scale import Scale, read_out
from ...words import shown
from ..names import shortened
from ..outcome import brief_outcome
from .axis import apart, change, change_marks, duration, panel_places, time_marks
from .result import Cross, Lane, Level, Panel, Places, Timeline

if TYPE_CHECKING:
    from ...data.host_record import HostRecord
    from ...data.trial import Trial
    from ...diagnose.host_speeds import HostSpeeds
    from ...diagnose.result import Diagnosis
    from .clock import Clock

__all__ = ["HEIGHT", "Runs", "drawn", "runs_of"]

Floats = NDArray[np.float64]
HEIGHT = 190.0  # CSS pixels of a panel
_MOST_DOTS = 6000  # above, they are thinned
_COLUMNS = 1000  # of a thinned picture
_LANES = 3
_NAME = 14  # characters of a name beside a cross
# findings of the runner that are drawn, what they are called, and when their number is known
_WORDS = {
    "load": ("other work", ("after",)),
    "gaps": ("CPU lost", ()),
    "steal": ("time stolen", ()),
    "throttle": ("throttled", ()),
    "temperature": ("temperature", ()),
    "swap": ("swapping", ()),
    "kernel_log": ("kernel alarms", ()),
    "clock": ("clock set", ()),
    "other-trials": ("other trials", ()),
    "drift": ("changed", ()),
    "environment": ("environment changed", ()),
    "input": ("input changed", ()),
    "host-change": ("level changed", ()),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runs:
    """The runs of a trial that have a value: N of them.

    Attributes
    ----------
    trial : Trial
        The trial.
    clock : Clock
        Of all its runs.
    rows : array of int, shape (N,)
        Their places in the trial.
    logs : array of float, shape (N,)
        Logarithms of their values against the medians of their cells.
    variants : tuple of str
        Whose runs they are.
    """

    trial: Trial
    clock: Clock
    rows: NDArray[np.int64]
    logs: Floats
    variants: tuple[str, ...]


def runs_of(trial: Trial, clock: Clock, metric: str, variants: Sequence[str]) -> Runs | None:
    """Take the measured runs of these variants that ended ok, with a positive value; None without any."""
    values = trial.values(metric)
    used = trial.measured & np.isfinite(values) & (values > 0)
    used &= np.isin(trial.variant, [trial.manifest.variants.index(name) for name in variants])
    rows = np.flatnonzero(used)
    if not rows.size:
        return None
    cell = trial.benchmark[rows] * len(trial.manifest.variants) + trial.variant[rows]
    order = np.argsort(cell, kind="stable")
    logs = np.log(values[rows])
    bounds = np.flatnonzero(np.diff(cell[order])) + 1
    for mine in np.split(order, bounds):
        logs[mine] -= np.median(logs[mine])
    return Runs(trial=trial, clock=clock, rows=rows, logs=logs, variants=tuple(variants))


def drawn(
    runs: Runs,
    scale: Scale,
    *,
    label: str,
    opened: str | None,
    states: tuple[str, str],
    diagnosis: Diagnosis | None,
    record: HostRecord,
) -> Timeline:
    """Give the picture of a trial.

    Parameters
    ----------
    runs : Runs
        Of the trial.
    scale : Scale
        Of ratios to the medians; two trials share one.
    label : str
        "A" or "B" of two trials.
    opened : str or None
        The benchmark whose runs stand out.
    states : (str, str)
        What the lower and the higher level of a host with two are called.
    diagnosis : Diagnosis or None
        Of the same runs.
    record : HostRecord
        What the runner found on the host.
    """
    places = panel_places(runs.clock.lengths)
    panels = tuple(_panels(runs, scale, places, opened, diagnosis))
    lanes = tuple(_lanes(runs.clock, places, diagnosis, record))
    crosses = tuple(_crosses(runs, places))
    return Timeline(
        label=label,
        trial=shown(runs.trial.manifest.trial),
        alt=_alt(runs, diagnosis, lanes, crosses, states),
        axis=read_out(scale, "×"),
        panels=panels,
        levels=change_marks(scale, HEIGHT),
        times=time_marks(runs.clock.lengths, places),
        states=tuple(_levels(scale, diagnosis, states)),
        lanes=lanes[:_LANES],
        crosses=crosses,
        notes=tuple(_notes(runs, scale, panels)),
    )


def _panels(
    runs: Runs,
    scale: Scale,
    places: Sequence[tuple[float, float]],
    opened: str | None,
    diagnosis: Diagnosis | None,
) -> Iterator[Panel]:
    trial, clock, rows = runs.trial, runs.clock, runs.rows
    names = trial.manifest.benchmarks
    ink = trial.benchmark[rows] == (names.index(opened) if opened in names else -1)
    thin = rows.size > _MOST_DOTS
    low, high = math.log(scale.low), math.log(scale.high)
    y = (runs.logs - low) / (high - low)
    x = clock.seconds[rows] / clock.lengths[clock.place[rows]]
    speeds = _of_host(diagnosis)
    shares = (
        {} if speeds is None or not speeds.two else {s.session: s.share for s in speeds.sessions}
    )
    for k, (session, (left, width)) in enumerate(zip(clock.sessions.tolist(), places, strict=True)):
        mine = clock.place[rows] == k
        inside = mine & (y >= 0) & (y <= 1)
        columns = max(1, round(_COLUMNS * width)) if thin else 0
        level = math.exp(float(np.median(runs.logs[mine]))) if mine.any() else None
        share = shares.get(session)
        yield Panel(
            session=str(session),
            left=left,
            width=width,
            seconds=Value(figures.significant(clock.lengths[k]), float(clock.lengths[k])),
            runs=Value(f"{int(mine.sum()):,}", int(mine.sum())),
            level=Value("" if level is None else f"{level:.3f}", level),
            higher=Value("" if share is None else f"{100 * share:.0f}\u00a0%", share),
            dots=_dots(x, y, inside & ~ink, columns),
            opened=_dots(x, y, inside & ink, columns),
            above=tuple(np.unique(x[mine & (y > 1)].round(3)).tolist()),
            below=tuple(np.unique(x[mine & (y < 0)].round(3)).tolist()),
            beyond=int((mine & ~inside).sum()),
        )


def _of_host(diagnosis: Diagnosis | None) -> HostSpeeds | None:
    """Give the levels of the whole host: those of some programs are none of all runs."""
    return None if diagnosis is None or diagnosis.movers is not None else diagnosis.speeds


def _dots(x: Floats, y: Floats, chosen: NDArray[np.bool_], columns: int) -> Places:
    """Give the chosen places, rounded; of each of so many columns the lowest, middle and highest."""
    rows = np.flatnonzero(chosen)
    if columns and rows.size:
        column = np.minimum((x[rows] * columns).astype(np.int64), columns - 1)
        order = np.lexsort((y[rows], column))
        first = np.flatnonzero(np.diff(column[order], prepend=-1))
        last = np.append(first[1:], order.size) - 1
        rows = rows[order[np.unique(np.concatenate((first, (first + last) // 2, last)))]]
        rows.sort()
    return tuple(zip(x[rows].round(4).tolist(), y[rows].round(4).tolist(), strict=True))


def _levels(scale: Scale, diagnosis: Diagnosis | None, states: tuple[str, str]) -> Iterator[Level]:
    speeds = _of_host(diagnosis)
    if speeds is None or not speeds.two:
        return
    for ratio, words in zip((speeds.lower, speeds.lower * speeds.ratio), states, strict=True):
        yield Level(at=scale.clipped(ratio), text=words)


def _lanes(
    clock: Clock,
    places: Sequence[tuple[float, float]],
    diagnosis: Diagnosis | None,
    record: HostRecord,
) -> Iterator[Lane]:
    """Give the findings that belong to sessions; those of several things under one word together."""
    sessions: dict[str, set[int | str]] = {}
    for one in () if diagnosis is None else diagnosis.findings:
        if one.benchmark is None and one.sessions and one.code in _WORDS:
            sessions.setdefault(one.code, set()).update(one.sessions)
    order = list(_WORDS)
    for code in sorted(sessions, key=order.index):
        words, when = _WORDS[code]
        values = {
            note.session: note.value
            for note in record.notes
            if note.check == code and note.when in when and note.value is not None
        }
        spans = []
        for number, (left, width) in zip(clock.sessions.tolist(), places, strict=True):
            if number in sessions[code]:
                value = values.get(number)
                figure = "" if value is None else f"{value:.2f}"
                spans.append((left, left + width, figure))
        if spans:
            yield Lane(words=words, spans=tuple(spans))


def _crosses(runs: Runs, places: Sequence[tuple[float, float]]) -> Iterator[Cross]:
    trial, clock = runs.trial, runs.clock
    row_of = {int(p): k for k, p in enumerate(trial.position.tolist())}
    failed = [one for one in trial.failed if not one.warmup]
    names = shortened([*trial.manifest.benchmarks, *trial.manifest.variants], _NAME)
    for one in failed:
        row = row_of[one.position]
        panel = int(clock.place[row])
        left, width = places[panel]
        brief = brief_outcome(one)
        yield Cross(
            at=left + width * min(1.0, float(clock.seconds[row] / clock.lengths[panel])),
            text=f"{names[one.benchmark]} / {names[one.variant]} {brief}",
            brief=brief,
        )


def _notes(runs: Runs, scale: Scale, panels: Sequence[Panel]) -> Iterator[str]:
    shown_dots = sum(len(panel.dots) + len(panel.opened) for panel in panels)
    if runs.rows.size > _MOST_DOTS:
        yield (
            f"{shown_dots:,} of {runs.rows.size:,} runs are drawn: of those that fall on one place in "
            "time the lowest, the middle one and the highest."
        )
    beyond = sum(panel.beyond for panel in panels)
    if beyond:
        low, high = change(_rounded(scale.low)), change(_rounded(scale.high))
        verb = "run lies" if beyond == 1 else "runs lie"
        yield f"{beyond:,} {verb} beyond {low} or {high}: open ticks at the edge."
    pauses, total = runs.clock.pauses, float(runs.clock.lengths.sum())
    if math.isnan(pauses):
        yield "The axis is the time of measuring: the sessions are of several boots of the host."
    elif pauses > 0.05 * total:
        yield (
            "The axis is the time of measuring: pauses between sessions, "
            f"{duration(pauses)} in all, are closed."
        )


def _rounded(ratio: float) -> float:
    return round(ratio, 2)


def _alt(
    runs: Runs,
    diagnosis: Diagnosis | None,
    lanes: Sequence[Lane],
    crosses: Sequence[Cross],
    states: tuple[str, str],
) -> str:
    """Say what the picture shows."""
    count = len(runs.clock.sessions)
    said = [
        f"{runs.rows.size:,} runs in {count} session{'s' * (count > 1)} against time, each against the "
        "median of its own benchmark and variant"
    ]
    speeds = _of_host(diagnosis)
    if speeds is None:
        said.append("no change of the whole host was found")
    elif speeds.two:
        said.append(
            f"the {states[1]} lies {apart(speeds.ratio)} above the {states[0]}, with "
            f"{speeds.switches} changes between them"
        )
    else:
        said.append("all programs rise and fall together, without two clear levels")
    for lane in lanes:
        figures_of = ", ".join(figure for _, _, figure in lane.spans if figure)
        count = len(lane.spans)
        told = f"{lane.words} in {count} session{'s' * (count > 1)}"
        said.append(f"{told} ({figures_of})" if figures_of else told)
    if crosses:
        count = len(crosses)
        said.append(f"{count} run{'s' * (count > 1)} failed")
    return "; ".join(said) + "."
