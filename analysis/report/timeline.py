"""The trial as it happened: all runs against time, session by session, and what was found of the host."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ..data.trial import Trial
from ..diagnose.examine import diagnose_trial
from ..diagnose.result import Diagnosis
from ..errors import AnalysisError, UsageError
from ..pages import number_format as figures
from ..pages.model import Block, Figure, Section, Value, section, table_of, value_of
from ..plots.axes import Scale, ratio_ticks, read_out
from ..plots.marks import Area, Cross, Dots, Line, Mark, Rect, Text, plot as drawn
from ..words import shortened
from .assembling import Chapter, chapter_of
from .subject import Subject, abridging, hosts_of, level_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Values = Mapping[str, Any]

# --- When each run began, and how it lies against the median of its own cell.


_SHOWN = 0.01  # share of runs at either end that need not lie on the scale
_LEAST = math.log(1.03)  # of the scale, on both sides
_ROOM = 1.2


class Clock(NamedTuple):
    """Times of a trial's runs, counted within their sessions."""

    sessions: Integers  # their numbers
    place: Integers  # of each run: its session's place among them
    seconds: Floats  # of each run: from the start of its session's first run to its own
    lengths: Floats  # of each session: to the end of its last run; never 0


class Runs(NamedTuple):
    """The runs of a trial that have a value."""

    trial: Trial
    clock: Clock  # of all its runs
    rows: Integers  # their places in the trial
    logs: Floats  # logarithms of their values against the medians of their cells


def clock_of(trial: Trial) -> Clock | None:
    """Give the times of all runs, warm-ups and failed ones included; None where none is known.

    The monotonic clock orders the runs of one boot. Where a session went on after it was broken
    off, where the clock goes back, and where a start is not known, a run is taken to begin
    when the one before it ended.
    """
    start = trial.start_ns
    if not (start >= 0).any():
        return None
    wall = np.nan_to_num(trial.numbers["wall_ns"], nan=0.0) / 1e9
    sessions, place = np.unique(trial.session, return_inverse=True)
    place = place.reshape(-1).astype(np.int64)
    seconds, lengths = np.zeros(start.size), np.zeros(sessions.size)
    for k in range(sessions.size):
        rows = np.flatnonzero(place == k)
        began = start[rows]
        step = np.diff(began) / 1e9
        known = (began[1:] >= 0) & (began[:-1] >= 0) & (step >= 0)
        known &= np.diff(trial.segment[rows]) == 0
        seconds[rows[1:]] = np.cumsum(np.where(known, step, wall[rows[:-1]]))
        lengths[k] = max(float((seconds[rows] + wall[rows]).max()), 1e-9)
    return Clock(sessions, place, seconds, lengths)


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
    for mine in np.split(order, np.flatnonzero(np.diff(cell[order])) + 1):
        logs[mine] -= np.median(logs[mine])
    return Runs(trial, clock, rows, logs)


def change_scale(logs: Floats) -> Scale:
    """Give the scale of ratios that holds nearly all of these logarithms, and 1."""
    low, high = np.quantile(logs, [_SHOWN, 1 - _SHOWN]) if logs.size else (0.0, 0.0)
    ends = min(float(low) * _ROOM, -_LEAST), max(float(high) * _ROOM, _LEAST)
    return Scale(math.exp(ends[0]), math.exp(ends[1]), log=True)


# --- The chapter.


_NAME = 24  # letters
_SESSIONS = 200  # rows of the table


class _Timeline(NamedTuple):
    """The runs of a trial, with what is known of them."""

    runs: Runs
    diagnosis: Diagnosis | None  # of these runs; None where nothing can be tested, and of a fleet
    label: str  # "A" or "B" where two trials are shown; else ""
    scale: Scale  # of ratios to the medians; two trials share one
    opened: str | None  # the benchmark whose runs stand out
    names: Sequence[str]  # of the sessions, or hosts

    @property
    def heights(self) -> Floats:
        """The runs' places on the scale, the nearer edge of those outside."""
        low, high = math.log(self.scale.low), math.log(self.scale.high)
        return np.clip((self.runs.logs - low) / (high - low), 0.0, 1.0)

    @property
    def beyond(self) -> int:
        """How many runs lie outside of the scale."""
        return int(((self.heights == 0) | (self.heights == 1)).sum())

    @property
    def failed(self) -> list[int]:
        """The rows of failed runs without warm-ups."""
        trial = self.runs.trial
        positions = [one.position for one in trial.failed if not one.warmup]
        return np.flatnonzero(np.isin(trial.position, positions)).tolist()

    @property
    def lanes(self) -> list[tuple[str, list[int]]]:
        """What was found of some sessions: its words, and their places."""
        named: dict[str, set[int | str]] = {}
        for one in () if self.diagnosis is None else self.diagnosis.findings:
            if one.benchmark is None and one.code in _WORDS:
                named.setdefault(one.code, set()).update(one.sessions)
        sessions = self.runs.clock.sessions.tolist()
        found = (
            (_WORDS[code], [k for k, number in enumerate(sessions) if number in numbers])
            for code, numbers in named.items()
        )
        return [(words, places) for words, places in found if places][:_LANES]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where nothing tells when runs were executed."""
    looked = [one for trial in subject.trials if (one := _looked(subject, trial)) is not None]
    if not looked:
        return None
    level = level_of(subject.verdict)
    hosts = {} if level is None else hosts_of(subject.verdict)
    noun = "session" if level is None else "host"
    scale = change_scale(np.concatenate([runs.logs for runs, _ in looked]))
    # the first benchmark that a caution names, else the first, stands out
    named = (name for caution in subject.verdict.cautions for name in caution.about)
    opened = next((name for name in (*named, *subject.order) if name in subject.order), None)
    timelines = []
    for runs, diagnosis in looked:
        label = "AB"[subject.trials.index(runs.trial)] if len(subject.trials) > 1 else ""
        numbers = map(str, runs.clock.sessions.tolist())
        names = [hosts.get(number, number) for number in numbers]
        timelines.append(_Timeline(runs, diagnosis, label, scale, opened, names))
    values: dict[str, Any] = {
        "deck": list(_deck(timelines, noun)),
        "timelines": [_values(one, noun) for one in timelines],
        "failed": sum(len(one.failed) for one in timelines),
        # failed runs are the trial's, and are listed once: with the first metric
        "failed_anchor": subject.anchor("failed").removeprefix(subject.prefix),
    }
    title = "The trial as it happened" if level is None else "The runs, host by host"
    found = partial(_sections, subject, values, timelines, noun)
    lead = f"all runs, {noun} by {noun}"
    return chapter_of(subject, "happened", title, found, lead=lead, values=values)


def _sections(
    subject: Subject, values: Values, timelines: Sequence[_Timeline], noun: str
) -> Iterator[Section]:
    blocks: list[Block | str] = list(values["deck"])
    for text, one in zip(values["timelines"], timelines, strict=True):
        blocks += [f"{text['label']}: {text['trial']}"] if text["label"] else []
        draw = partial(_picture, one, noun, text["alt"])
        blocks.append(Figure(name=subject.anchor("happened"), alt=text["alt"], draw=draw))
    if values["failed"]:
        blocks.append("Crosses: failed runs, which are listed with the conditions.")
    yield section(*blocks)
    tables = (
        table_of(
            "-".join(filter(None, ("happened", text["label"].lower()))),
            text["sessions"],
            (f"<{noun}", itemgetter("session")),
            *((name, itemgetter(name)) for name in ("seconds", "runs")),
            ("median, against their cells'", itemgetter("level")),
        )
        for text in values["timelines"]
    )
    yield section(*tables, title=f"{noun.capitalize()} by {noun}", folded=True)


def _looked(subject: Subject, trial: Trial) -> tuple[Runs, Diagnosis | None] | None:
    verdict, clock = subject.verdict, clock_of(trial)
    if clock is None:
        return None
    of_hosts = level_of(verdict) is not None  # several hosts are no host that changed
    judged = verdict.diagnosis if len(subject.trials) == 1 and not of_hosts else None
    variants = trial.manifest.variants if judged is None else judged.variants
    runs = None
    with suppress(UsageError):  # this trial has no such metric
        runs = runs_of(trial, clock, verdict.data.metric, variants)
    if runs is not None and judged is None and not of_hosts:
        with suppress(AnalysisError):  # else nothing of it can be tested
            judged = diagnose_trial(trial, metric=verdict.data.metric)
    return None if runs is None else (runs, judged)


def _deck(timelines: Sequence[_Timeline], noun: str) -> Iterator[str]:
    first = timelines[0]
    count = sum(one.runs.rows.size for one in timelines)
    dark = f"; dark: {shortened([first.opened], _NAME)[first.opened]}" if first.opened else ""
    yield (
        f"All {count:,} runs against the median of their own benchmark and variant, in panels of one "
        f"{noun} each, from its first run to its last{dark}."
    )
    for one in timelines:
        if (found := one.diagnosis) is not None:
            manifest = one.runs.trial.manifest
            brief = abridging((*manifest.benchmarks, *manifest.variants), _NAME)
            texts = [brief(one.text) for one in found.findings if one.code[:5] == "host-"]
            none = "whether the host changed cannot be tested: too few runs, or they do not vary"
            if any(test.pvalue is not None for test in found.host):
                none = "no test of the whole host found that it changed"
            text = "; ".join(texts) or none
            yield f"{one.label}: {text}." if one.label else f"{text[:1].upper()}{text[1:]}."


def _values(plot: _Timeline, noun: str) -> Values:
    runs, clock = plot.runs, plot.runs.clock
    alt = [f"{runs.rows.size:,} runs in {figures.counted(len(plot.names), noun)} against time"]
    alt += [f"{words} in {figures.counted(len(places), noun)}" for words, places in plot.lanes]
    alt += [f"{plot.beyond:,} beyond the edges"] if plot.beyond else []
    alt += [figures.counted(len(plot.failed), "failed run")] if plot.failed else []
    sessions = []
    for k, name in enumerate(plot.names[:_SESSIONS]):
        mine = clock.place[runs.rows] == k
        count, seconds = int(mine.sum()), float(clock.lengths[k])
        level = math.exp(float(np.median(runs.logs[mine]))) if count else None
        row: Values = {
            "session": name,
            "seconds": Value(figures.significant(seconds), seconds),
            "runs": Value(f"{count:,}", count),
            "level": value_of(level, "{:.3f}".format, ""),
        }
        sessions.append(row)
    trial = runs.trial.manifest.trial
    return {"label": plot.label, "trial": trial, "alt": "; ".join(alt), "sessions": sessions}


# --- The picture: a panel for each session, findings above, failed runs below.


_HEIGHT = 190.0  # CSS pixels of a panel
_NUMBERS, _LANE, _BAR = 15.0, 22.0, 3.0
_BELOW = 14.0  # pixels for the crosses of failed runs
_GAP = 0.12  # of the width, between all panels together
_LABELS = 8  # panels that are named
_LETTERS = 36  # of all names in a row
_LANES = 3  # findings that are drawn
_MOST_DOTS = 6000  # above, they are thinned
_COLUMNS = 1000  # of a thinned picture
_WORDS = {  # findings that are drawn, and what they are called
    "load": "other work",
    "gaps": "CPU lost",
    "steal": "time stolen",
    "throttle": "throttled",
    "temperature": "temperature",
    "swap": "swapping",
    "kernel_log": "kernel alarms",
    "clock": "clock set",
    "other-trials": "other trials",
    "drift": "changed",
    "environment": "environment changed",
    "input": "input changed",
    "host-change": "level changed",
}


def _picture(plot: _Timeline, noun: str, alt: str) -> Markup:
    clock, count = plot.runs.clock, len(plot.names)
    gap = 0.0 if count < 2 else min(0.006, _GAP / count)
    width = (1 - gap * (count - 1)) / count
    lefts = [k * (width + gap) for k in range(count)]
    lanes = plot.lanes
    top = _NUMBERS + len(lanes) * _LANE + 4.0
    bottom = top + _HEIGHT
    marks: list[Mark] = [Rect(left, left + width, top, bottom, "panel") for left in lefts]
    for tick in ratio_ticks(plot.scale):
        y = top + (1 - plot.scale.at(tick.value)) * _HEIGHT
        if top + 5 < y < bottom - 5:
            marks.append(Line(0, y, 1, y, "one" if tick.value == 1 else "grid"))
            marks.append(Text(0, y + 4, tick.text, "", anchor="end", dx=-6))
    for k, left in enumerate(lefts):
        area = Area(top, _HEIGHT, left, width, read_out(plot.scale, "×"))
        for css, points in _clouds(plot, k):
            marks.append(Dots(points, css, area))
    marks.append(Text(0, 11, noun, "", anchor="end", dx=-6))
    names = shortened(list(plot.names), max(4, _LETTERS // min(count, _LABELS)))
    for left, name in list(zip(lefts, plot.names, strict=True))[:: -(-count // _LABELS)]:
        marks.append(Text(left, 11, names[name], "", anchor="start"))
    for k, (words, places) in enumerate(lanes, 1):
        y = _NUMBERS + k * _LANE - _BAR
        marks += [Rect(lefts[p], lefts[p] + width, y, y + _BAR, "ink") for p in places]
        marks.append(Text(0, y - 4, words, "happened-strong", anchor="start"))
    for row in plot.failed:
        k = int(clock.place[row])
        x = lefts[k] + width * min(1.0, clock.seconds[row] / clock.lengths[k])
        marks.append(Cross(x, bottom + _BELOW / 2, "happened-cross"))
    return drawn(bottom + _BELOW, marks, alt, css="happened-plot")


def _clouds(plot: _Timeline, panel: int) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Give the runs of a panel that are drawn, the benchmark that stands out apart; of many not all."""
    runs, y, benchmarks = plot.runs, plot.heights, plot.runs.trial.manifest.benchmarks
    clock = runs.clock
    x = clock.seconds[runs.rows] / clock.lengths[clock.place[runs.rows]]
    inside = clock.place[runs.rows] == panel
    code = benchmarks.index(plot.opened) if plot.opened in benchmarks else -1
    dark = runs.trial.benchmark[runs.rows] == code
    for chosen, css in ((inside & ~dark, "happened-run"), (inside & dark, "happened-opened")):
        rows = np.flatnonzero(chosen)
        if runs.rows.size > _MOST_DOTS and rows.size:
            rows = _ends_and_middle(rows, x, y, max(1, _COLUMNS // len(plot.names)))
        if rows.size:
            points = zip(x[rows].round(4).tolist(), y[rows].round(4).tolist(), strict=True)
            yield css, list(points)


def _ends_and_middle(rows: Integers, x: Floats, y: Floats, columns: int) -> Integers:
    """Keep the lowest, the middle one and the highest of the runs that fall on one place in time."""
    column = np.minimum((x[rows] * columns).astype(np.int64), columns - 1)
    order = np.lexsort((y[rows], column))
    first = np.flatnonzero(np.diff(column[order], prepend=-1))
    last = np.append(first[1:], order.size) - 1
    return np.sort(rows[order[np.unique(np.concatenate((first, (first + last) // 2, last)))]])
