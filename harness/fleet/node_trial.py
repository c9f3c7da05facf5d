"""One host's trial of a fleet: what it is held against."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analysis.errors import UsageError
from analysis.record.fleet import Fleet, is_fleet, read_fleet, trial_place

from ..campaign.defaults import identity_of
from ..errors import HostError

if TYPE_CHECKING:
    from ..campaign.model import Campaign


class Membership(NamedTuple):
    """The fleet that a trial belongs to, and the node whose trial it is."""

    folder: Path
    fleet: Fleet
    node: str

    def require(self, campaign: Campaign, environment: Mapping[str, str] = os.environ) -> str:
        """Refuse what would make the fleet's trials no samples of one campaign; give the node."""
        if identity_of(campaign) != self.fleet.identity:
            raise UsageError(
                "the campaign is not the one that the fleet was submitted with: the file has changed "
                "since, and its hosts must measure the same",
                str(campaign.source),
                f"put it back as it was, or submit a new fleet (this one: {self.folder})",
            )
        here = environment.get("SLURMD_NODENAME")
        if here is not None and here != self.node:
            what = f"this is node {here}, and the trial is that of {self.node}"
            fix = "submit a job for the node: fairtrial submit FLEET --resume"
            raise HostError(what, str(self.folder / self.node), fix)
        return self.node


def membership_of(trial: Path) -> Membership | None:
    """Tell to which fleet a trial's folder belongs, which need not be there yet."""
    if is_fleet(trial):
        raise UsageError(
            "this is a fleet, not a trial",
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
    what = f"the fleet has no host whose trial is '{trial.name}'"
    raise UsageError(what, str(folder), f"its hosts are: {', '.join(fleet.names)}")
