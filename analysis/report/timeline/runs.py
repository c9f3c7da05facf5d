"""When each run began, and how its value lies against the median of its own benchmark and variant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...plots.scale import Scale
from ...words import shown

if TYPE_CHECKING:
    from ...data.trial import Trial
    from ...diagnose.host_speeds import HostSpeeds
    from ...diagnose.result import Diagnosis

__all__ = [
    "Clock",
    "Finding",
    "Runs",
    "Timeline",
    "change_scale",
    "clock_of",
    "runs_of",
    "speeds_of",
]

Floats = NDArray[np.float64]
_SHOWN = 0.01  # share of runs at either end that need not lie on the scale
_LEAST = math.log(1.03)  # of the scale, on both sides
_ROOM = 1.2


class Clock(NamedTuple):
    """Times of a trial's runs, counted within their sessions: the pauses between these are closed."""

    sessions: NDArray[np.int64]  # their numbers
    place: NDArray[np.int64]  # of each run: its session's place among them
    seconds: Floats  # of each run: from the start of its session's first run to its own
    lengths: Floats  # of each session: to the end of its last run; never 0
    pauses: float  # left out between sessions; nan where clocks of several boots cannot tell


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
    def heights(self) -> Floats:
        """The runs' places on the scale: 0 at its lower end, 1 at its upper end."""
        low, high = math.log(self.scale.low), math.log(self.scale.high)
        return (self.runs.logs - low) / (high - low)

    @property
    def levels(self) -> HostSpeeds | None:
        """The two levels of the whole host: those of some programs are none of all runs."""
        speeds = speeds_of(self.diagnosis)
        return speeds if speeds is not None and speeds.two else None


def speeds_of(diagnosis: Diagnosis | None) -> HostSpeeds | None:
    """Give what moved the whole host; None where it kept its level, or some programs alone moved."""
    return None if diagnosis is None or diagnosis.movers is not None else diagnosis.speeds


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
    first = np.full(sessions.size, -1, dtype=np.int64)
    for k in range(sessions.size):
        rows = np.flatnonzero(place == k)
        began = start[rows]
        step = np.diff(began) / 1e9
        told = (began[1:] >= 0) & (began[:-1] >= 0) & (step >= 0)
        told &= np.diff(trial.segment[rows]) == 0
        seconds[rows[1:]] = np.cumsum(np.where(told, step, wall[rows[:-1]]))
        lengths[k] = max(float((seconds[rows] + wall[rows]).max()), 1e-9)
        first[k] = began[0]
    pauses = float("nan")
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
