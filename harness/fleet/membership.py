"""A trial that is one host's of a fleet: what its execution is held against."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.record import Fleet, is_fleet, read_fleet, trial_place

from ..campaign import Campaign, identity_of
from ..errors import HostError, UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """The fleet that a trial belongs to, and the node whose trial it is."""

    folder: Path
    fleet: Fleet
    node: str

    def require(self, campaign: Campaign, environment: Mapping[str, str] = os.environ) -> str:
        """Refuse what would make the fleet's trials no samples of one campaign; give the node.

        Raises
        ------
        UsageError
            If the campaign is no longer the one that was submitted.
        HostError
            If this is another node than the trial's.
        """
        if identity_of(campaign) != self.fleet.identity:
            raise UsageError(
                "the campaign is not the one that the fleet was submitted with: the file, or your "
                "own defaults, have changed since, and its hosts must measure the same",
                str(campaign.source),
                f"put it back as it was, or submit a new fleet (this one: {self.folder})",
            )
        here = environment.get("SLURMD_NODENAME")
        if here is not None and here != self.node:
            raise HostError(
                f"this is node {here}, and the trial is that of {self.node}",
                str(self.folder / self.node),
                "submit a job for the node: fairtrial submit FLEET --resume",
            )
        return self.node


def membership_of(trial: Path) -> Membership | None:
    """Tell to which fleet a trial's folder belongs, which need not be there yet.

    Raises
    ------
    StoreError
        If it lies in a fleet that cannot be read.
    UsageError
        If it lies in a fleet that does not know it, or is a fleet itself.
    """
    if is_fleet(trial):
        raise UsageError(
            "this is a fleet, and no trial",
            str(trial),
            f"submit jobs for what is missing: fairtrial submit {shlex.quote(str(trial))} --resume; or "
            "name the trial of one host, below it",
        )
    folder = trial.absolute().parent
    if not is_fleet(folder):
        return None
    fleet = read_fleet(folder)
    for host in fleet.hosts:
        if trial_place(folder, host).resolve() == trial.resolve():
            return Membership(folder=folder, fleet=fleet, node=host.host)
    raise UsageError(
        f"the fleet has no host whose trial is '{trial.name}'",
        str(folder),
        f"its hosts are: {', '.join(fleet.names)}",
    )
