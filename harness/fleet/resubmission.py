"""A fleet that is gone on with: jobs only for the hosts that need one."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.record import Fleet, read_fleet

from ..errors import UsageError
from ..store import new_trial_name
from .jobs import Job
from .places import require_place
from .scheduler import Scheduler
from .script import script_of
from .standing import FleetStanding, HostStanding, agrees, read_standing
from .submission import SLURM, Submission, at_home, user_name
from .time_limit import limit_of


def resubmission_of(
    folder: Path, time: str | None = None, scheduler: Scheduler | None = None
) -> Submission:
    """Plan jobs for the hosts whose trial is not complete and which have none in the queue.

    Jobs of a submission that was killed half-way are found by their comment and taken in.

    Parameters
    ----------
    folder : Path
        The fleet's folder.
    time : str, optional
        Another time limit, in Slurm's notation.
    scheduler : Scheduler, optional
        Slurm on this host.

    Raises
    ------
    UsageError
        If it was not submitted, or by somebody else, or on another cluster; if its partition does
        not allow the time (any more).
    StoreError
        If the fleet cannot be read.
    """
    scheduler = scheduler or Scheduler()
    folder = folder.absolute()
    fleet = read_fleet(folder)
    slurm = _submitted(folder, fleet)
    _require_ours(folder, slurm, scheduler)
    if not at_home(folder, fleet):  # moved, or a copy: from now on a fleet with jobs of its own
        slurm = slurm | {"fleet": new_trial_name(fleet.campaign)}
        fleet = replace(fleet, further={**fleet.further, SLURM: slurm})
    if time is not None:
        slurm = slurm | {"time": limit_of(time, None, None)}
        fleet = replace(fleet, further={**fleet.further, SLURM: slurm})
    require_place(slurm["partition"], slurm["time"], scheduler)
    jobs = scheduler.jobs(user_name())
    fleet, held = _taken_in(folder, fleet, jobs)
    standing = read_standing(folder, scheduler, fleet=fleet, jobs=jobs)
    hosts = _needing(standing)
    notes = [
        f"{one.host} has its job {one.job} in the queue ({_said(one)})"
        for one in standing.hosts
        if one.in_queue
    ]
    places = {host.host: host.trial for host in fleet.hosts}
    notes += [
        f"{one.host} has failed, and nothing is left to measure there: {one.why}; to measure it again, "
        f"remove {folder / places[one.host]}"
        for one in standing.hosts
        if _measured(one)
    ]
    script = script_of(folder, Path(slurm["campaign"]), fleet.campaign, slurm["options"], scheduler)
    return Submission(
        folder=folder,
        fleet=fleet,
        hosts=hosts,
        script=script,
        fresh=False,
        scheduler=scheduler,
        notes=tuple(notes),
        held=held,
        again=lambda: resubmission_of(folder, time, scheduler),
    )


def _submitted(folder: Path, fleet: Fleet) -> dict[str, Any]:
    """Give what the fleet was submitted with."""
    slurm = fleet.further.get(SLURM)
    texts = ("fleet", "user", "cluster", "partition", "time", "campaign")
    lists = ("options", "arguments", "exported")
    whole = (
        isinstance(slurm, dict)
        and all(isinstance(slurm.get(key), str) for key in texts)
        and all(
            isinstance(slurm.get(key), list) and all(isinstance(item, str) for item in slurm[key])
            for key in lists
        )
    )
    if not whole or not isinstance(slurm, dict):
        raise UsageError(
            "this fleet was not submitted by fairtrial: its trials were put together by hand",
            str(folder),
            "submit the campaign: fairtrial submit CAMPAIGN --hosts ...",
        )
    return slurm


def _require_ours(folder: Path, slurm: dict[str, Any], scheduler: Scheduler) -> None:
    here = scheduler.cluster()
    if slurm["cluster"] != here:
        raise UsageError(
            f"the fleet was submitted on cluster '{slurm['cluster']}', and this is '{here}'",
            str(folder),
            f"go on with it on '{slurm['cluster']}'",
        )
    if slurm["user"] != user_name():
        campaign = shlex.quote(slurm["campaign"])
        raise UsageError(
            f"the fleet was submitted by {slurm['user']}, and you are {user_name()}",
            str(folder),
            f"submit one of your own: fairtrial submit {campaign} --hosts ...",
        )


def _taken_in(folder: Path, fleet: Fleet, jobs: dict[str, Job]) -> tuple[Fleet, tuple[str, ...]]:
    """Add jobs of the fleet that its file does not know; give those that may still be held."""
    known = {(host.host, job) for host in fleet.hosts for job in host.jobs}
    found = []
    for job in jobs.values():
        mine = job.live and (job.wanted, job.id) not in known and agrees(job, folder, fleet)
        if mine and job.wanted in fleet.names:
            fleet = fleet.with_job(job.wanted, job.id)
            found.append(job.id)
    waiting = [
        job
        for host in fleet.hosts
        for job in host.jobs
        if job in jobs and jobs[job].held and agrees(jobs[job], folder, fleet)
    ]
    return fleet, tuple(dict.fromkeys([*found, *waiting]))


def _needing(standing: FleetStanding) -> tuple[str, ...]:
    return tuple(
        one.host
        for one in standing.hosts
        if one.state != "complete" and not one.in_queue and not _measured(one)
    )


def _measured(host: HostStanding) -> bool:
    """Tell whether a host that has failed has nothing left to measure: a job would change nothing."""
    return host.state == "failed" and host.done == host.planned


def _said(host: HostStanding) -> str:
    return f"{host.queue}: {host.reason}" if host.reason else f"{host.queue}"
