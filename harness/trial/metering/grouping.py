"""The cgroups of a trial's runs: had where they can be, required where a limit needs them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from analysis.record import Finding

from ...campaign import Isolation
from ...errors import HostError
from ...host import Host
from ...meters.cgroups import DELEGATED, NoGroupsError, RunGroups, missing_for

_WITH_VERSION_1 = (
    "; on a host whose controllers are cgroups of version 1, start the kernel with "
    "systemd.unified_cgroup_hierarchy=1"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Whether each run has a cgroup of its own; `problem` says why it has none, or no controller."""

    groups: RunGroups | None = None
    spawned: bool = False
    problem: str | None = None

    @property
    def controllers(self) -> tuple[str, ...] | None:
        """Those that the runs' groups have; None without groups."""
        return None if self.groups is None else self.groups.controllers

    def entered(self, *, spawned: bool) -> Grouping:
        """Add how a run comes into its group: `spawned` there, or else with the launcher."""
        return dataclasses.replace(self, spawned=spawned)

    def findings(self) -> tuple[Finding, ...]:
        """Say what was tried and could not be had."""
        if self.problem is None:
            return ()
        return (
            Finding(
                check="containment",
                status="unknown",
                what=f"{self.problem}; what all processes of a run use together is not known",
                where="isolation.containment = auto",
                fix=DELEGATED,
                reason="memory and processor time are told of the program and the children that it "
                "waited for alone",
            ),
        )

    def to_dict(self) -> dict[str, Any] | None:
        """Give what the environment record says of it; None without groups."""
        if self.groups is None:
            return None
        return {
            "controllers": " ".join(self.groups.controllers) or "none",
            "entry": "spawned" if self.spawned else "moved",
        }

    def close(self) -> None:
        """Remove the groups."""
        if self.groups is not None:
            self.groups.close()

    def __enter__(self) -> Grouping:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def group_runs(host: Host, isolation: Isolation) -> Grouping:
    """Make the place of the runs' cgroups, and move this process into a group beside them.

    With ``containment: none`` only limits of all processes together ask for it.

    Raises
    ------
    HostError
        If the campaign has such a limit and nothing here can hold it.
    """
    asked = missing_for(isolation.limits, ())
    if isolation.containment == "none" and asked is None:
        return Grouping()
    own = host.own_group()
    try:
        groups = RunGroups(own, host.root)
    except NoGroupsError as refused:
        if asked is not None:
            raise _cannot_hold(asked, str(refused)) from None
        # the check `cgroup` tells of what can be seen from outside
        return Grouping(problem=str(refused) if own is not None and own.writable else None)
    missing = missing_for(isolation.limits, groups.controllers)
    if missing is not None:
        groups.close()
        if groups.withheld:
            raise _cannot_hold(missing, groups.withheld)
        why = f"the kernel offers no controller '{missing}' here"
        raise _cannot_hold(missing, why, _WITH_VERSION_1)
    return Grouping(groups=groups, problem=groups.withheld)


def _cannot_hold(limit: str, why: str, or_else: str = "") -> HostError:
    return HostError(
        f"the limit '{limit}' cannot be held: {why}",
        f"isolation.limits.{limit}",
        f"{DELEGATED}{or_else}; or drop the limit",
    )
