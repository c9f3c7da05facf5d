"""A fleet that is gone on with: jobs only for the hosts that need one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from analysis.errors import UsageError
from analysis.record.fleet import Fleet, read_fleet

from ..trial.writer import new_trial_name
from .hosts import limit_of, require_place
from .sbatch import script_of
from .slurm import Job, Scheduler
from .status import HostStanding, agrees, read_standing
from .submission import Submission, at_home, slurm_of, user_name, with_slurm


def resubmission_of(
    folder: Path, time: str | None = None, scheduler: Scheduler | None = None
) -> Submission:
    """Plan jobs for the hosts whose trial is not complete and which have none in the queue.

    Jobs of a submission that was killed half-way are found by their comment and taken in.
    """
    scheduler = scheduler or Scheduler()
    folder = folder.absolute()
    fleet = read_fleet(folder)
    slurm = _submitted(folder, fleet)
    _require_ours(folder, slurm, scheduler)
    if not at_home(folder, fleet):  # moved, or a copy: from now on a fleet with jobs of its own
        fleet = with_slurm(fleet, {"fleet": new_trial_name(fleet.campaign)})
    if time is not None:
        fleet = with_slurm(fleet, {"time": limit_of(time, None, None)})
    slurm = slurm_of(fleet)
    require_place(slurm["partition"], slurm["time"], scheduler)
    jobs = scheduler.jobs(user_name())
    fleet = _taken_in(folder, fleet, jobs)
    standing = read_standing(folder, scheduler, fleet=fleet, jobs=jobs)
    hosts = tuple(
        one.host
        for one in standing.hosts
        if one.state != "complete" and not one.in_queue and not _measured(one)
    )
    notes = []
    for one in standing.hosts:
        if one.in_queue:
            reason = f": {one.reason}" if one.reason else ""
            notes.append(f"{one.host} still has job {one.job} in the queue ({one.queue}{reason})")
    places = {host.host: host.trial for host in fleet.hosts}
    notes += [
        f"{one.host} has failed, and nothing is left to measure there: {one.why}; to measure it again, "
        f"remove {folder / places[one.host]}"
        for one in standing.hosts
        if _measured(one)
    ]
    script = script_of(
        folder,
        Path(slurm["campaign"]),
        fleet.campaign,
        [one for one in slurm["options"] if not one.startswith("--scratch=")],  # of before 0.3.0
        scheduler,
    )
    return Submission(
        folder=folder,
        fleet=fleet,
        hosts=hosts,
        script=script,
        fresh=False,
        scheduler=scheduler,
        notes=tuple(notes),
        again=lambda: resubmission_of(folder, time, scheduler),
    )


def _submitted(folder: Path, fleet: Fleet) -> dict[str, Any]:
    slurm = slurm_of(fleet)
    if "bisect" in slurm:  # of a version between 0.2.0 and 0.3.0
        words = f"fairtrial bisect --resume={shlex.quote(str(folder / fleet.hosts[0].trial))}"
        what = "this is a bisection, and bisections are no jobs of a fleet any more"
        raise UsageError(what, str(folder), f"go on with it on its host: {words}")
    texts = ("fleet", "user", "cluster", "partition", "time", "campaign")
    lists = ("options", "arguments", "exported")
    known = [slurm.get(key) for key in texts]
    for values in (slurm.get(key) for key in lists):
        known += values if isinstance(values, list) else [None]
    if not all(isinstance(text, str) for text in known):
        what = "this fleet was not submitted by fairtrial: its trials were put together by hand"
        fix = "submit the campaign: fairtrial submit CAMPAIGN --hosts ..."
        raise UsageError(what, str(folder), fix)
    return slurm


def _require_ours(folder: Path, slurm: dict[str, Any], scheduler: Scheduler) -> None:
    here = scheduler.cluster()
    if slurm["cluster"] != here:
        what = f"the fleet was submitted on cluster '{slurm['cluster']}', and this is '{here}'"
        raise UsageError(what, str(folder), f"go on with it on '{slurm['cluster']}'")
    if slurm["user"] != user_name():
        campaign = shlex.quote(slurm["campaign"])
        what = f"the fleet was submitted by {slurm['user']}, and you are {user_name()}"
        fix = f"submit one of your own: fairtrial submit {campaign} --hosts ..."
        raise UsageError(what, str(folder), fix)


def _taken_in(folder: Path, fleet: Fleet, jobs: dict[str, Job]) -> Fleet:
    """Add jobs of the fleet that its file does not know."""
    known = {(host.host, job) for host in fleet.hosts for job in host.jobs}
    for job in jobs.values():
        mine = job.live and (job.wanted, job.id) not in known and agrees(job, folder, fleet)
        if mine and job.wanted in fleet.names:
            fleet = fleet.with_job(job.wanted, job.id)
    return fleet


def _measured(host: HostStanding) -> bool:
    """Tell whether a host that has failed has nothing left to measure: a job would change nothing."""
    return host.state == "failed" and host.done == host.planned
