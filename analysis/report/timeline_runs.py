"""When each run began, how it lies against the median of its own cell, and what is said of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..diagnose.result import movers_text
from ..pages.number_format import counted, significant
from ..plots.axes import Scale
from ..words import shortened, shown
from .subject import abridging

if TYPE_CHECKING:
    from ..data.columns import FailedRun
    from ..data.host_record import HostRecord
    from ..data.trial import Trial
    from ..diagnose.host_tests import HostSpeeds
    from ..diagnose.result import Diagnosis

__all__ = [
    "Runs",
    "Timeline",
    "alt_of",
    "apart",
    "change",
    "change_scale",
    "clock_of",
    "deck_of",
    "duration",
    "findings_of",
    "notes_of",
    "runs_of",
    "title_of",
]

Floats = NDArray[np.float64]
_SHOWN = 0.01  # share of runs at either end that need not lie on the scale
_LEAST = math.log(1.03)  # of the scale, on both sides
_ROOM = 1.2
_LONG = 3.0  # blocks in a state of the host: most pairs share it
_NAME = 24  # characters
_CHANGES = ("host-change", "host-trend", "host-warm-up")
# findings that are drawn, and what they are called
_WORDS = {
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


class Clock(NamedTuple):
    """Times of a trial's runs, counted within their sessions: the pauses between these are closed."""

    sessions: NDArray[np.int64]  # their numbers
    place: NDArray[np.int64]  # of each run: its session's place among them
    seconds: Floats  # of each run: from the start of its session's first run to its own
    lengths: Floats  # of each session: to the end of its last run; never 0
    pauses: float  # left out between sessions; nan where clocks of several boots cannot tell

    @property
    def shares(self) -> Floats:
        """Of each run: its start as a share of its session's length."""
        return self.seconds / self.lengths[self.place]


class Runs(NamedTuple):
    """The runs of a trial that have a value."""

    trial: Trial
    clock: Clock  # of all its runs
    rows: NDArray[np.int64]  # their places in the trial
    logs: Floats  # logarithms of their values against the medians of their cells
    variants: Sequence[str]  # whose runs they are


class Finding(NamedTuple):
    """What was found of some sessions: its words, and the places of these with a figure or ""."""

    words: str
    sessions: Mapping[int, str]


class Timeline(NamedTuple):
    """The runs of a trial, with what is known of them."""

    runs: Runs
    diagnosis: Diagnosis | None  # of these runs; None where nothing can be tested, and of a fleet
    label: str  # "A" or "B" where two trials are shown; else ""
    scale: Scale  # of ratios to the medians; two trials share one
    opened: str | None  # the benchmark whose runs stand out
    states: tuple[str, str]  # what the lower and the higher level of a host with two are called
    hosts: Mapping[str, str]  # of a fleet: the host that each session is
    findings: Sequence[Finding]  # what belongs to sessions

    @property
    def noun(self) -> str:
        """What a panel is."""
        return "host" if self.hosts else "session"

    @property
    def names(self) -> list[str]:
        """The sessions' numbers, or the hosts' names."""
        numbers = map(str, self.runs.clock.sessions.tolist())
        return [shown(self.hosts.get(number, number)) for number in numbers]

    @property
    def failed(self) -> list[FailedRun]:
        """The failed runs without warm-ups."""
        return [one for one in self.runs.trial.failed if not one.warmup]

    @property
    def heights(self) -> Floats:
        """The runs' places on the scale: 0 at its lower end, 1 at its upper end."""
        low, high = math.log(self.scale.low), math.log(self.scale.high)
        return (self.runs.logs - low) / (high - low)

    @property
    def speeds(self) -> HostSpeeds | None:
        """What moved the whole host; None where it kept its level, or some programs alone moved."""
        found = self.diagnosis
        return None if found is None or found.movers is not None else found.speeds

    @property
    def levels(self) -> HostSpeeds | None:
        """The two levels of the whole host: those of some programs are none of all runs."""
        return self.speeds if self.speeds is not None and self.speeds.two else None


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
    sessions, begin, place = np.unique(trial.session, return_index=True, return_inverse=True)
    place = place.reshape(-1).astype(np.int64)
    seconds, lengths = np.zeros(start.size), np.zeros(sessions.size)
    for k in range(sessions.size):
        rows = np.flatnonzero(place == k)
        began = start[rows]
        step = np.diff(began) / 1e9
        told = (began[1:] >= 0) & (began[:-1] >= 0) & (step >= 0)
        told &= np.diff(trial.segment[rows]) == 0
        seconds[rows[1:]] = np.cumsum(np.where(told, step, wall[rows[:-1]]))
        lengths[k] = max(float((seconds[rows] + wall[rows]).max()), 1e-9)
    first, pauses = start[begin], math.nan
    if (first >= 0).all() and (np.diff(first) >= 0).all():
        pauses = max(0.0, float((first[-1] - first[0]) / 1e9 - lengths[:-1].sum()))
    return Clock(sessions, place, seconds, lengths, pauses)


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
    return Runs(trial, clock, rows, logs, variants)


def change_scale(logs: Floats) -> Scale:
    """Give the scale of ratios that holds nearly all of these logarithms, and 1."""
    low, high = np.quantile(logs, [_SHOWN, 1 - _SHOWN]) if logs.size else (0.0, 0.0)
    return Scale(
        math.exp(min(float(low) * _ROOM, -_LEAST)),
        math.exp(max(float(high) * _ROOM, _LEAST)),
        log=True,
    )


def findings_of(runs: Runs, diagnosis: Diagnosis | None, record: HostRecord) -> list[Finding]:
    """Give the findings that belong to sessions; those of several things under one word together."""
    named: dict[str, set[int | str]] = {code: set() for code in _WORDS}
    for one in () if diagnosis is None else diagnosis.findings:
        if one.benchmark is None and one.code in named:
            named[one.code].update(one.sessions)
    loads = {
        note.session: f"{note.value:.2f}"
        for note in record.notes
        if (note.check, note.when) == ("load", "after") and note.value is not None
    }
    found = []
    for code, numbers in named.items():
        figures = loads if code == "load" else {}
        sessions = enumerate(runs.clock.sessions.tolist())
        places = {k: figures.get(number, "") for k, number in sessions if number in numbers}
        if places:
            found.append(Finding(_WORDS[code], places))
    return found


# --- in sentences


def title_of(timelines: Sequence[Timeline], *, timed: bool) -> str:
    """Give the chapter's heading: it says what is to be seen only where that was found."""
    title = "The trial as it happened" if len(timelines) == 1 else "The trials as they happened"
    if any(one.levels is not None for one in timelines):
        return f"{title}: a host with two {'speeds' if timed else 'levels'}"
    if any(one.speeds is not None for one in timelines):
        return f"{title}: a host that did not keep its {'speed' if timed else 'level'}"
    return title


def deck_of(timelines: Sequence[Timeline], sessions: int) -> Iterator[str]:
    """Give the paragraphs above the picture; of two trials each has one of its own."""
    count, opened = sum(one.runs.rows.size for one in timelines), timelines[0].opened
    named = "" if opened is None else f"; those of {shortened([opened], _NAME)[opened]} stand out"
    first = f"All {count:,} runs against the median of their own benchmark and variant{named}."
    texts = [" ".join(map(_abridged(one), _of_trial(one, sessions))) for one in timelines]
    if len(texts) == 1:
        yield f"{first} {texts[0]}".rstrip()
        return
    yield first
    for label, text in zip("AB", texts, strict=True):
        if text:
            yield f"{label}: {text[0].lower()}{text[1:]}"


def _abridged(told: Timeline) -> Callable[[str], str]:
    manifest = told.runs.trial.manifest
    return abridging((*manifest.benchmarks, *manifest.variants), _NAME)


def _of_trial(told: Timeline, sessions: int) -> Iterator[str]:
    if (found := told.diagnosis) is None:
        return
    if found.speeds is not None:
        yield from _of_states(told, found, found.speeds)
    if near := [one for one in found.findings if one.code == "host-neighbours"]:
        size = "" if near[0].size is None else f" (correlation {near[0].size:.2f})"
        why = ", which is why the intervals rest on sessions" if sessions > 1 else ""
        yield f"Neighbouring runs of different programs are alike{size}: they are not independent{why}."
    if changes := [one for one in found.findings if one.code in _CHANGES]:
        largest = max(changes, key=lambda one: (one.code == "host-change", abs(one.size or 0.0)))
        yield f"{_begun(largest.text)}.".replace(" %", "\u00a0%")
    if any(one.code.startswith("host-") for one in found.findings):
        return
    if any(one.pvalue is not None for one in found.host):
        yield "No test of the whole host found that it changed."
    else:
        yield "Whether the host changed cannot be tested: there are too few runs, or they do not vary."


def _of_states(told: Timeline, found: Diagnosis, speeds: HostSpeeds) -> Iterator[str]:
    gap, total = apart(speeds.ratio), float(told.runs.clock.lengths.sum())
    named = None if found.movers is None else movers_text(found.movers)
    alone = found.movers is not None and found.movers.cell is not None
    if not speeds.two:
        together = "" if alone else " together"
        yield f"The values of {named or 'all programs'} rose and fell{together}, by about {gap}."
        return
    when = "only from one session to another"
    if speeds.switches:
        times = "once" if speeds.switches == 1 else f"{speeds.switches} times"
        when = f"{times} in {duration(total)}"
    whose = "its" if alone else "their" if named else "the"
    yield (
        f"{_begun(named or 'the host')} had two states, {gap} apart, and changed between them {when}; "
        f"{100 * speeds.share:.0f}\u00a0% of {whose} runs were in the {told.states[1]}."
    )
    yield from _blocks(told.runs, total / (speeds.switches + len(speeds.sessions)))


def _blocks(runs: Runs, state_s: float) -> Iterator[str]:
    """Say whether the runs of a block mostly met the same state of the host."""
    trial, clock = runs.trial, runs.clock
    if len(runs.variants) < 2:
        return
    key = clock.place * (int(trial.block.max()) + 1) + trial.block
    measured = np.flatnonzero(trial.candidates)
    order = measured[np.argsort(key[measured], kind="stable")]
    _, first, counts = np.unique(key[order], return_index=True, return_counts=True)
    whole = counts > 1
    if not whole.any():
        return
    begin, end = order[first[whole]], order[first[whole] + counts[whole] - 1]
    block_s = float(np.median(clock.seconds[end] - clock.seconds[begin]))
    if state_s >= _LONG * block_s:
        yield "A block is short beside a state, so both sides of a pair mostly share it."
    elif block_s > state_s:
        yield "A block is longer than a state, so the sides of a pair may have met different ones."


def notes_of(told: Timeline, *, drawn: int | None, beyond: int) -> Iterator[str]:
    """Say what is to be known of the picture: thinning (`drawn` is None without it), clipping, gaps."""
    runs, scale = told.runs, told.scale
    if drawn is not None:
        yield (
            f"{drawn:,} of {runs.rows.size:,} runs are drawn: of those that fall on one place in "
            "time the lowest, the middle one and the highest."
        )
    if beyond:
        low, high = change(round(scale.low, 2)), change(round(scale.high, 2))
        verb = "run lies" if beyond == 1 else "runs lie"
        yield f"{beyond:,} {verb} beyond {low} or {high}: open ticks at the edge."
    axis, pauses = "The axis is the time of measuring:", runs.clock.pauses
    if told.hosts:  # they have no time in common
        return
    if math.isnan(pauses):
        yield f"{axis} the sessions are of several boots of the host."
    elif pauses > 0.05 * float(runs.clock.lengths.sum()):
        yield f"{axis} pauses between sessions, {duration(pauses)} in all, are closed."


def alt_of(told: Timeline) -> str:
    """Say what the picture shows."""
    runs, (low, high), speeds = told.runs, told.states, told.speeds
    where = f"{'on' if told.hosts else 'in'} {counted(len(runs.clock.sessions), told.noun)}"
    said = [
        f"{runs.rows.size:,} runs {where} against time, each against the median of its own benchmark "
        "and variant"
    ]
    if speeds is None:
        said += [] if told.hosts else ["no change of the whole host was found"]
    elif speeds.two:
        above = f"the {high} lies {apart(speeds.ratio)} above the {low}"
        said.append(f"{above}, with {speeds.switches} changes between them")
    else:
        said.append("all programs rise and fall together, without two clear levels")
    for one in told.findings:
        figures = ", ".join(filter(None, one.sessions.values()))
        found = f"{one.words} in {counted(len(one.sessions), 'session')}"
        said.append(f"{found} ({figures})" if figures else found)
    if told.failed:
        said.append(f"{counted(len(told.failed), 'run')} failed")
    return "; ".join(said) + "."


def change(ratio: float) -> str:
    """Write a ratio as a change: ``+25 %``, ``−20 %``; 1 is the median."""
    if ratio == 1:
        return "median"
    percent = 100 * (ratio - 1)
    return f"{'+' if percent > 0 else '−'}{abs(percent):,.4g}\u00a0%"


def apart(ratio: float) -> str:
    """Write how far apart two levels are: ``1.6 %``, ``75 %``."""
    return f"{significant(100 * abs(ratio - 1), 2)}\u00a0%"


def duration(seconds: float) -> str:
    """Write a duration in a sensible unit: ``72 s``, ``12 min``, ``5.2 h``, ``3.1 days``."""
    for size, unit, least in ((86400.0, "days", 2), (3600.0, "h", 2), (60.0, "min", 3)):
        if seconds >= least * size:
            return f"{significant(seconds / size, 2)}\u00a0{unit}"
    return f"{significant(seconds, 2)}\u00a0s"


def _begun(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
