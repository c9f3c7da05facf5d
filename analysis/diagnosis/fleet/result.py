"""What was found on the hosts of a fleet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...record import HostState
from ...report import Result

__all__ = ["DiagnosedHost", "FleetDiagnosis", "SharedFinding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosedHost:
    """One host: how it stands, what was looked at, and the codes of what was found.

    `sessions`, `runs` and `tests` are 0 where nothing could be looked at; `codes` names the codes in
    the order of the host's own diagnosis, and `told` says them in words.
    """

    host: str
    state: HostState
    sessions: int
    runs: int
    tests: int
    codes: tuple[str, ...]
    told: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFinding:
    """A finding by its code: on which hosts, and how the first of them says it."""

    code: str
    hosts: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FleetDiagnosis(Result):
    """What the runs of a fleet look like.

    Attributes
    ----------
    name : str
        The fleet's folder.
    metric : str
        What was measured.
    confidence : float
        1 - this is the share of clean fleets that show any tested finding, at most: each host is
        looked at with the risk divided by the number of hosts.
    hosts : tuple of DiagnosedHost
        In the fleet's order.
    findings : tuple of SharedFinding
        What most hosts have first.
    """

    method: ClassVar[str] = "diagnose-fleet"

    name: str
    metric: str
    confidence: float
    hosts: tuple[DiagnosedHost, ...]
    findings: tuple[SharedFinding, ...]
