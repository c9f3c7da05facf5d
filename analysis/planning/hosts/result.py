"""A plan of hosts: numbers, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...report import Result
from ..sessions import TrialCosts

__all__ = ["HostLine", "HostPlan", "PlannedHosts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLine:
    """What varies in the pilot: standard deviations of the log difference, so shares of the value.

    `host_sd` lies between hosts, `session_sd` between the sessions of a host, `run_sd` between the
    blocks of a session; None where no session has two blocks, and then `session_sd` holds both.
    """

    name: str
    mean: float
    host_sd: float
    session_sd: float
    run_sd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedHosts:
    """The cheapest sessions and runs with so many hosts; None where none of those looked at will do.

    `seconds` is the time of all hosts together, `elapsed_s` that of one: hosts measure at one time.
    """

    hosts: int
    sessions: int | None
    runs: int | None
    seconds: float | None
    elapsed_s: float | None
    width: float | None
    detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostPlan(Result):
    """How many hosts x sessions x runs a claim on hosts like these needs.

    Attributes
    ----------
    candidate, baseline : str
        The two sides.
    on : {"suite", "benchmarks"}
        What has to reach the goal.
    confidence, power, width, effect : float
        The goal; `width` or `effect` is None where it is not asked for.
    speedup : float
        Of the pilot.
    pilot_hosts, pilot_sessions : int
        What the pilot has; sessions of all hosts.
    hosts, sessions, runs : int or None
        The plan: runs of a cell in a session, sessions of a host.
    seconds, elapsed_s : float or None
        As in `PlannedHosts`; None where costs are unknown.
    hosts_low, hosts_high : int or None
        Hosts needed, of so many sessions and runs, with the pilot's variance between hosts at its
        quartiles; None beyond `max_hosts`.
    max_hosts, max_sessions, max_runs : int
        The most that were looked at.
    costs : TrialCosts or None
        Of a host's trial.
    table : tuple of PlannedHosts
        Other numbers of hosts.
    lines : tuple of HostLine
        What varies in the pilot: the benchmarks, and last their mean, ``these``.
    """

    method: ClassVar[str] = "plan-hosts"

    candidate: str
    baseline: str
    on: str
    confidence: float
    power: float
    width: float | None
    effect: float | None
    speedup: float
    pilot_hosts: int
    pilot_sessions: int
    hosts: int | None
    sessions: int | None
    runs: int | None
    seconds: float | None
    elapsed_s: float | None
    hosts_low: int | None
    hosts_high: int | None
    max_hosts: int
    max_sessions: int
    max_runs: int
    costs: TrialCosts | None
    table: tuple[PlannedHosts, ...]
    lines: tuple[HostLine, ...]
