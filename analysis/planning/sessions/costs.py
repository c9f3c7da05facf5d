"""What sessions and runs of a trial cost, as it was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...data import Trial
from ...errors import InsufficientDataError
from ...stats import door

__all__ = ["TrialCosts", "trial_costs"]

_BILLION = 1e9
_APART_S = 3600.0  # no trial spends that between two sessions that it executes in one go


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCosts:
    """Seconds of a trial's parts.

    Attributes
    ----------
    block_s : float
        One run of every cell, with what lies between two runs: hooks, cool-down, bookkeeping.
    warmup_s : float
        A session's warm-up runs, likewise.
    between_s : float or None
        From the last run of a session to the first of the next, the least that was seen; None where
        that is not known, or more than an hour: then the sessions were executed one by one.
    sessions, blocks : int
        What they were measured on.
    """

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
