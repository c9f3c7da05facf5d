"""What is planned for: the pair, the goal, and what a session costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..data.pair import match
from ..data.trial import Trial
from ..errors import InsufficientDataError, UsageError
from ..pages.model import Caution
from ..stats.arguments import door

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..data.matrix import PerformanceMatrix


def matched(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix
) -> tuple[PerformanceMatrix, PerformanceMatrix, tuple[Caution, ...]]:
    """Give the two with the benchmarks that both have, and what to know about their values."""
    pair = match(candidate, baseline)
    own = (caution.of(m.name) for m in (candidate, baseline) for caution in m.cautions)
    return pair.candidate, pair.baseline, (*own, *pair.cautions)


def sign_of(matrix: PerformanceMatrix) -> int:
    """Orient the log ratio of candidate to baseline: above 0 when the candidate is better."""
    return 1 if matrix.better == "higher" else -1


def check_runs(ours: PerformanceMatrix, theirs: PerformanceMatrix, needed: int) -> None:
    """Raise InsufficientDataError where a benchmark has fewer runs than needed."""
    for matrix in (ours, theirs):
        for bench, runs in zip(matrix.benchmarks, matrix.runs, strict=True):
            if runs < needed:
                raise InsufficientDataError(
                    f"the benchmark has {runs} run{'s' * (runs != 1)}, and {needed} are needed",
                    f"{matrix.name}, benchmark {bench!r}",
                    "measure more runs of it, or leave it out",
                    n=runs,
                    needed=needed,
                )


def check_share(name: str, value: float) -> None:
    """Raise UsageError unless the value lies between 0 and 1."""
    if not 0 < value < 1:
        raise UsageError(f"{name} must lie between 0 and 1, and is {value!r}")


def check_positive(name: str, value: float) -> None:
    """Raise UsageError unless the value is a finite number above 0."""
    if not (math.isfinite(value) and value > 0):
        raise UsageError(f"{name} must be a number above 0, and is {value!r}")


WIDTH = 0.02  # that is asked for where nothing is: an interval of about 1 % to either side


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is to be reached; None where it is not asked for."""

    half: float | None
    effect: float | None
    power: float
    alpha: float


def goal_of(width: float | None, effect: float | None, power: float, confidence: float) -> Goal:
    """Give the goal of an interval's relative width, and of a speedup to be told with a power."""
    check_share("confidence", confidence)
    check_share("power", power)
    if power <= 1 - confidence:
        raise UsageError(
            f"power must lie above the risk, {1 - confidence:.4g}, and is {power!r}",
            fix="ask for 0.8, or for another confidence",
        )
    check_wanted(width, effect)
    return Goal(
        half=None if width is None else math.asinh(width / 2),
        effect=None if effect is None else abs(math.log(effect)),
        power=power,
        alpha=1 - confidence,
    )


def check_wanted(width: float | None, effect: float | None) -> None:
    """Raise UsageError unless what is asked for are a width, and a speedup other than 1."""
    if width is not None:
        check_positive("width", width)
    if effect is not None:
        check_positive("effect", effect)
        if effect == 1:
            raise UsageError("an effect of 1 is none", fix="give a speedup, such as 1.02")


def check_on(on: str) -> None:
    """Raise UsageError unless it names what has to reach the goal."""
    if on not in ("suite", "benchmarks"):
        raise UsageError(f"on must be 'suite' or 'benchmarks', not {on!r}")


COSTS_UNKNOWN = Caution(
    "costs-unknown",
    "what a session costs before its first run is not known, and counts as nothing: such a plan has "
    "more sessions than one from a trial directory",
)
_BILLION = 1e9
_APART_S = 3600.0  # no trial spends that between two sessions that it executes in one go


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCosts:
    """Seconds of a trial's parts."""

    block_s: float
    warmup_s: float
    between_s: float | None
    sessions: int
    blocks: int

    def seconds(self, sessions: int, runs: int) -> float:
        """Give the time of so many sessions with so many runs of each cell."""
        between = (sessions - 1) * (self.between_s or 0.0)
        return sessions * (self.warmup_s + runs * self.block_s) + between


@door
def trial_costs(trial: Trial) -> TrialCosts:
    """Measure what a trial's sessions and runs cost, from the starts of its runs.

    A run costs the time until the next one of its session starts; the last one of a session, and
    one before an interruption, the time that it took and what others needed besides.

    Parameters
    ----------
    trial : Trial
        With one measured run at least.

    Raises
    ------
    InsufficientDataError
        If the trial has no run with a known time.
    """
    wall = trial.numbers["wall_ns"] / _BILLION
    known = np.isfinite(wall)
    if not (known & ~trial.warmup).any():
        raise InsufficientDataError(
            "the trial has no run whose time is known", str(trial.path), n=0, needed=1
        )
    spent = _spent(trial, np.where(known, wall, 0.0))
    measured = ~trial.warmup
    blocks = np.unique(np.stack([trial.session[measured], trial.block[measured]]), axis=1).shape[1]
    sessions = int(np.unique(trial.session[measured]).size)
    return TrialCosts(
        block_s=float(spent[measured].sum()) / blocks,
        warmup_s=float(spent[trial.warmup & (trial.position >= 0)].sum()) / sessions,
        between_s=_between(trial, wall),
        sessions=sessions,
        blocks=blocks,
    )


def _spent(trial: Trial, wall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the seconds of each run with what followed it."""
    start = trial.start_ns / _BILLION
    together = (np.diff(trial.session) == 0) & (np.diff(trial.segment) == 0)
    together &= (trial.start_ns[1:] >= 0) & (trial.start_ns[:-1] >= 0)
    until = np.append(np.diff(start), np.nan)
    until[:-1][~together] = np.nan
    besides = until - wall
    usual = float(np.median(besides[np.isfinite(besides)])) if np.isfinite(besides).any() else 0.0
    return np.maximum(np.where(np.isfinite(until), until, wall + max(usual, 0.0)), wall)


def _between(trial: Trial, wall: NDArray[np.float64]) -> float | None:
    """Give the time between two sessions; a resumed one, or another boot, says nothing."""
    step = np.flatnonzero((np.diff(trial.session) == 1) & (trial.segment[1:] == 0))
    known = (trial.start_ns[step] >= 0) & (trial.start_ns[step + 1] >= 0)
    step = step[known & np.isfinite(wall[step])]
    gaps = (trial.start_ns[step + 1] - trial.start_ns[step]) / _BILLION - wall[step]
    gaps = gaps[(gaps >= 0) & (gaps <= _APART_S)]
    return float(gaps.min()) if gaps.size else None
