"""When each run began, counted within its session: the pauses between sessions are closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ...data.trial import Trial

__all__ = ["Clock", "clock_of"]

Floats = NDArray[np.float64]


class Clock:
    """Times of a trial's runs.

    Attributes
    ----------
    sessions : array of int, shape (sessions,)
        The sessions' numbers.
    place : array of int, shape (runs,)
        The place of each run's session in `sessions`.
    seconds : array of float, shape (runs,)
        From the start of its session's first run to its own.
    lengths : array of float, shape (sessions,)
        Seconds from the start of a session's first run to the end of its last; never 0.
    pauses : float
        Seconds that are left out between sessions; nan where clocks of several boots cannot tell.
    """

    __slots__ = ("lengths", "pauses", "place", "seconds", "sessions")

    def __init__(
        self,
        sessions: NDArray[np.int64],
        place: NDArray[np.int64],
        seconds: Floats,
        lengths: Floats,
        pauses: float,
    ) -> None:
        self.sessions, self.place = sessions, place
        self.seconds, self.lengths, self.pauses = seconds, lengths, pauses


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
    seconds = np.zeros(start.size)
    lengths = np.zeros(sessions.size)
    first, last = np.full((2, sessions.size), -1, dtype=np.int64)
    for k in range(sessions.size):
        rows = np.flatnonzero(place == k)
        began = start[rows]
        step = np.diff(began) / 1e9
        told = (began[1:] >= 0) & (began[:-1] >= 0) & (step >= 0)
        told &= np.diff(trial.segment[rows]) == 0
        seconds[rows[1:]] = np.cumsum(np.where(told, step, wall[rows[:-1]]))
        lengths[k] = max(float((seconds[rows] + wall[rows]).max()), 1e-9)
        first[k], last[k] = began[0], began[-1]
    pauses = float("nan")
    if (first >= 0).all() and (np.diff(first) >= 0).all():
        pauses = max(0.0, float((first[-1] - first[0]) / 1e9 - lengths[:-1].sum()))
    return Clock(sessions, place, seconds, lengths, pauses)
