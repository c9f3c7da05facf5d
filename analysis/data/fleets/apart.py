"""The trials of a fleet by themselves, each under the name of its host, for methods that know hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...report import Caution
from ..trial import Trial
from .joined import nothing_to_judge
from .notes import host_cautions
from .opened import OpenedFleet

__all__ = ["trials_apart"]


def trials_apart(fleet: OpenedFleet) -> tuple[Sequence[Trial], Sequence[Caution]]:
    """Read the trials of a fleet that have runs that count, and say which hosts are not there.

    Hosts of one image share an id: each trial's host is its node's name, and its id begins with it.

    Raises
    ------
    InsufficientDataError
        If no host has a run that counts.
    """
    hosts, trials = [], []
    for one in fleet.hosts():
        hosts.append(one.progress)
        if one.judgeable and one.trial is not None:
            manifest = replace(
                one.trial.manifest,
                host=one.progress.host,
                host_id=f"{one.progress.host} {one.trial.manifest.host_id}",
            )
            trials.append(replace(one.trial, manifest=manifest))
    if not trials:
        raise nothing_to_judge(fleet.path, hosts)
    return trials, list(host_cautions(hosts))
