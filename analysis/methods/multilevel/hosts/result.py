"""What several hosts say of one candidate, beside what it says of hosts like these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....report import Word
from ..differences import Shift
from ..result import BenchmarkLine, Line

__all__ = ["Disagreement", "HostEffect", "HostLevel", "MoreHosts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEffect:
    """What one host says by itself.

    Attributes
    ----------
    host : str
        Its name.
    benchmark : str or None
        None for the mean over the benchmarks that all hosts have.
    speedup : float
        Ratio of geometric means, the host's sessions weighing equally.
    low, high : float or None
        Its interval by the host's own sessions; None where they give none.
    error, freedom : float or None
        Standard error of its logarithm, and degrees of freedom.
    sessions : int
        Sessions behind it; 1 within one session.
    """

    host: str
    benchmark: str | None
    speedup: float
    low: float | None
    high: float | None
    error: float | None
    freedom: float | None
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A host whose speedup is another than that of the rest, after Holm over hosts and benchmarks.

    Attributes
    ----------
    host : str
        Its name.
    benchmark : str
        On which benchmark.
    speedup, rest : float
        On this host, and the geometric mean over the other hosts.
    ratio, low, high : float
        The first over the second, with its interval (not adjusted).
    pvalue, pvalue_adjusted : float or None
        Two-sided, of "both are one", and after Holm; None without spread.
    difference : {"larger", "smaller"}
        What the host's speedup is.
    """

    host: str
    benchmark: str
    speedup: float
    rest: float
    ratio: float
    low: float
    high: float
    pvalue: float | None
    pvalue_adjusted: float | None
    difference: Shift


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreHosts:
    """How many more hosts would probably decide, over all that the data leave possible.

    `hosts` is the least number with a chance of 80 %, `low` and `high` the same for a spread at the
    quartiles of what it may be; each None beyond 100. `chance` is that of `hosts`, `target` the
    likeliest word, `benchmark` None for the suite.
    """

    benchmark: str | None
    hosts: int | None
    low: int | None
    high: int | None
    chance: float | None
    target: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLevel:
    """What was found on these hosts: they stay as they are, their sessions vary.

    Attributes
    ----------
    hosts : tuple of str
        Those that are judged, in the fleet's order.
    sessions : int
        Sessions of all of them.
    benchmarks : tuple of BenchmarkLine
        On these hosts, each host weighing the same; `sessions` counts those of all hosts.
    these, similar : Line or None
        The suite on these hosts; None with fewer than two benchmarks that all hosts have.
    left_out : tuple of str
        Benchmarks that a judged host lacks: they are in no line of the suite.
    spread.<benchmark> : float or None
        Relative standard deviation of the hosts' speedups: exp(sd of logs) - 1.
    effects : tuple of HostEffect
        Each host by itself.
    tests : int
        How many comparisons of a host with the rest are one family.
    disagreements : tuple of Disagreement
        Those that hold after the correction, the surest first.
    more_hosts : tuple of MoreHosts
        For lines on hosts like these that are undecided.
    """

    hosts: tuple[str, ...]
    sessions: int
    benchmarks: tuple[BenchmarkLine, ...]
    these: Line | None
    similar: Line | None
    left_out: tuple[str, ...]
    spread: Mapping[str, float | None]
    effects: tuple[HostEffect, ...]
    tests: int
    disagreements: tuple[Disagreement, ...]
    more_hosts: tuple[MoreHosts, ...]

    @property
    def sessions_each(self) -> tuple[int, int]:
        """The fewest and the most sessions that a host has."""
        each: dict[str, int] = {}
        for one in self.effects:
            each[one.host] = max(one.sessions, each.get(one.host, 0))
        return min(each.values(), default=0), max(each.values(), default=0)
