"""The cheapest hosts, sessions and runs, by looking at all of them.

With H hosts of S sessions of R runs, an estimate of a host has the variance h + (s + r / R) / S, where
h, s and r are the variances between hosts, sessions and runs. The half-width on hosts like these is
that of the verdict (docs/fleet.md, equation 2): the hosts' spread with t(H - 1), and beside it the
error on these hosts with that of all sessions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ...stats import least_shift

__all__ = ["Grid", "HostSpread", "half_widths"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSpread:
    """Variances of the log difference: between hosts, sessions of one, and blocks of a session."""

    host: float
    session: float
    run: float

    def with_hosts(self, factor: float) -> HostSpread:
        """Give the spread with that between hosts so many times as large."""
        return replace(self, host=self.host * factor)


def half_widths(spread: HostSpread, hosts: int, alpha: float, shape: tuple[int, int]) -> Floats:
    """Give the expected half-widths for 1 to S sessions (rows) and 1 to R runs (columns).

    Within one session per host the error on these hosts is that of its runs; a single run has none.
    """
    sessions = np.arange(1, shape[0] + 1)[:, None].astype(np.float64)
    runs = np.arange(1, shape[1] + 1)[None, :].astype(np.float64)
    own = (spread.session + spread.run / runs) / sessions
    outer = -stdtrit(hosts - 1, alpha / 2) * np.sqrt((spread.host + own) / hosts)
    inside = np.where(sessions > 1, own, spread.run / runs)
    freedom = np.where(sessions > 1, hosts * (sessions - 1), hosts * (runs - 1))
    quantile = np.where(freedom > 0, -stdtrit(np.maximum(freedom, 1), alpha / 2), 0.0)
    return np.asarray(np.hypot(outer, quantile * np.sqrt(inside / hosts)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What is looked at, and when it is enough: `half` and `effect` are on the log scale."""

    spreads: tuple[HostSpread, ...]
    half: float | None
    effect: float | None
    power: float
    alpha: float
    sessions: int
    runs: int

    def widest(self, hosts: int, factor: float = 1.0) -> Floats:
        """Give the largest half-width of the spreads."""
        shape = (self.sessions, self.runs)
        each = [half_widths(s.with_hosts(factor), hosts, self.alpha, shape) for s in self.spreads]
        return np.asarray(np.max(each, axis=0))

    def detectable(self, half: Floats, hosts: int) -> Floats:
        """Give the log effects that are told with the power: the half-width is taken for t(H - 1)'s."""
        freedom = float(hosts - 1)
        quantile = -float(stdtrit(freedom, self.alpha / 2))
        shift = float(least_shift(self.power, freedom, self.alpha))
        return np.asarray(half * (shift / quantile))

    def enough(self, hosts: int, factor: float = 1.0) -> NDArray[np.bool_]:
        """Tell which sessions and runs reach the goal with so many hosts."""
        half = self.widest(hosts, factor)
        good = np.ones(half.shape, dtype=np.bool_)
        if self.half is not None:
            good &= half <= self.half
        if self.effect is not None:
            good &= self.detectable(half, hosts) <= self.effect
        return good
