"""How a fleet stands, host by host, and the end of its jobs."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from analysis.errors import UsageError
from analysis.record.fleet import Fleet, HostProgress, HostState, read_fleet, read_hosts
from analysis.words import WIDTH, next_lines, quoted

from ..errors import HostError, counted, moment, wrapped
from ..launch.matching import Interrupts
from ..trial.writer import new_trial_name
from .slurm import Job, Node, Scheduler
from .submission import (
    CANCELLED,
    Submission,
    at_home,
    comment_of,
    limit_of,
    listed,
    partition_of,
    require_time,
    script_of,
    slurm_of,
    user_name,
    with_slurm,
)

_UNSAID = {"in_queue", "queue_known"}  # fields that JSON does not have
_REMARKS = 40  # columns that the remarks on a host need to stand next to its runs


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStanding:
    """One host of a fleet. None is unknown, or that there is none.

    `state` follows what is measured, whatever the queue says: `done` of `planned` positions have a row,
    warm-ups among both; `why` says what is wrong with the trial, or how it ended. `job` is the id of the
    newest job, `queue` its state in Slurm's words with the `reason`, `node` where it runs or ran.
    `node_state` is that of the host, with the reason where it can take no job. `in_queue` says whether
    the job waits, runs or ends, `queue_known` whether the queue was asked, and answered.
    """

    host: str
    state: HostState
    done: int
    planned: int | None
    why: str | None
    job: str | None
    queue: str | None
    reason: str | None
    node: str | None
    node_state: str | None
    in_queue: bool
    queue_known: bool

    @property
    def remarks(self) -> str:
        """What there is to say of it, next to its runs."""
        parts, rests = [], self.state not in {"complete", "running"}
        if self.node_state is not None and self.state != "complete":
            parts.append(f"the host is {self.node_state}")
        if self.queue is not None and (self.in_queue or self.state != "complete"):
            job = f"job {self.job} {self.queue}"
            parts.append(job + (f" ({self.reason})" if self.reason else ""))
        elif rests and self.queue_known and self.job is not None:
            parts.append(f"job {self.job} is no longer in the queue")
        if rests and self.why:
            parts.append(self.why)
        return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetStanding:
    """A fleet as it stands. `problem` says why the queue is unknown."""

    path: Path
    fleet: Fleet
    hosts: tuple[HostStanding, ...]
    problem: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "fleet": self.path.name,
            "path": str(self.path),
            "campaign": self.fleet.campaign,
            "identity": self.fleet.identity,
            "submitted_at": self.fleet.submitted_at,
            "hosts": [
                {key: value for key, value in asdict(one).items() if key not in _UNSAID}
                for one in self.hosts
            ],
            "problem": self.problem,
        }

    def __str__(self) -> str:
        """Write it for a person: a line for each host, and more where what is said of it has no room."""
        counts = Counter(one.state for one in self.hosts)
        order: tuple[HostState, ...] = ("complete", "running", "partial", "failed", "missing")
        states = ", ".join(f"{counts[state]} {state}" for state in order if counts[state])
        done = sum(one.done for one in self.hosts)
        known = [one.planned for one in self.hosts if one.planned is not None]
        planned = f"{sum(known)}" if len(known) == len(self.hosts) else "an unknown number of"
        since = self.fleet.submitted_at
        submitted = "" if since is None else f", submitted {moment(since)}"
        lines = [
            f"{self.path.name} · {counted(len(self.hosts), 'host')}: {states}",
            f"  {done} of {planned} runs{submitted}",
        ]
        wide = max(len(one.host) for one in self.hosts)
        for one in self.hosts:
            runs = f"{one.done} of {'?' if one.planned is None else one.planned}"
            head = f"  {one.host:<{wide}}  {one.state:<8}  {runs:<12}  "
            if len(head) + _REMARKS <= WIDTH:
                lines += _wrapped(head, one.remarks, len(head))
            else:
                lines += [head.rstrip(), *_wrapped(" " * 6, one.remarks, 8)]
        if self.problem is not None:
            lines += _wrapped("  the queue is unknown: ", self.problem, 4)
        idle = any(one.state != "complete" and not one.in_queue for one in self.hosts)
        if idle and self.problem is None and comment_of(self.fleet):
            lines += next_lines(("fairtrial", "submit", str(self.path), "--resume"))
        return "\n".join(lines)


def read_standing(
    folder: Path,
    scheduler: Scheduler | None,
    *,
    fleet: Fleet | None = None,
    jobs: Mapping[str, Job] | None = None,
) -> FleetStanding:
    """Read how a fleet stands."""
    fleet = fleet or read_fleet(folder)
    problem = None
    nodes: Mapping[str, Node] = {}
    if scheduler is not None and comment_of(fleet) is not None:
        try:
            if jobs is None:
                jobs = scheduler.jobs(str(slurm_of(fleet).get("user")))
            nodes = scheduler.nodes()
        except HostError as error:
            problem = error.what
    found = []
    for progress in read_hosts(folder, fleet):
        job = newest(progress.host, folder, fleet, jobs or {})
        node, asked = nodes.get(progress.host), jobs is not None
        found.append(_standing(progress, fleet, job, node, asked=asked))
    return FleetStanding(path=folder, fleet=fleet, hosts=tuple(found), problem=problem)


def newest(host: str, folder: Path, fleet: Fleet, jobs: Mapping[str, Job]) -> Job | None:
    """Give the newest of a host's jobs that Slurm knows and that is this fleet's; a live one first.

    An id that came again stands at two hosts: then it is of the one that the job is for.
    """
    ids = {one.host: one.jobs for one in fleet.hosts}
    known = [
        job
        for each in ids[host]
        if (job := jobs.get(each)) is not None
        and agrees(job, folder, fleet)
        and (job.wanted == host or each not in ids.get(job.wanted or "", ()))
    ]
    return next(reversed([job for job in known if job.live] or known), None)


def agrees(job: Job, folder: Path, fleet: Fleet) -> bool:
    """Tell whether a job is one of a fleet: its comment, its user and its cluster are the fleet's.

    An id alone says nothing: another cluster, or this one later, gives the same number to others. And
    a copy of a fleet's folder has no jobs: they measure into the folder that was submitted.
    """
    slurm = slurm_of(fleet)
    same = (job.comment, job.user, job.cluster)
    ours = same == (comment_of(fleet), slurm.get("user"), slurm.get("cluster"))
    return ours and bool(slurm) and at_home(folder, fleet)


def _standing(
    progress: HostProgress, fleet: Fleet, job: Job | None, node: Node | None, *, asked: bool
) -> HostStanding:
    ids = next(one.jobs for one in fleet.hosts if one.host == progress.host)
    submitted = slurm_of(fleet).get("planned")  # what holds as long as no trial says it
    state, planned = progress.state, progress.planned
    running = progress.manifest is not None and progress.manifest.status == "running"
    if state == "partial" and running and job is not None and job.state == "RUNNING":
        state = "running"  # measured where its lock is not seen from here
    down = None
    if node is not None and not node.usable:
        down = f"{node.state}: {node.reason}" if node.reason else node.state
    return HostStanding(
        host=progress.host,
        state=state,
        done=progress.done,
        planned=submitted if planned is None and type(submitted) is int else planned,
        why=progress.why,
        job=job.id if job is not None else (ids[-1] if ids else None),
        queue=None if job is None else job.state,
        reason=None if job is None else job.reason,
        node=None if job is None else job.nodes,
        node_state=down,
        in_queue=job is not None and job.live,
        queue_known=asked,
    )


def _wrapped(head: str, text: str, indent: int) -> list[str]:
    if not text:
        return [head.rstrip()] if head.strip() else []
    return wrapped(" ".join(text.split()), head, " " * indent, WIDTH)


_PATIENCE_S = 120.0  # Slurm kills what has not ended KillWait seconds (30 by default) after TERM
_LOOK_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """What became of a fleet's jobs.

    `cancelled` were in the queue and have left it, `ending` had not within two minutes, `others` stand
    in ``fleet.json`` and are somebody else's: they were left alone. `whose` says of a fleet of another
    user or cluster which, and that nothing was looked for.
    """

    path: Path
    cancelled: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    whose: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        jobs = {name: list(getattr(self, name)) for name in ("cancelled", "ending", "others")}
        return {"fleet": self.path.name, "path": str(self.path), **jobs}

    def __str__(self) -> str:
        verb = "is" if len(self.cancelled) == 1 else "are"
        texts = {
            f"{self.path.name}: {counted(len(self.cancelled), 'job')} {verb} cancelled "
            f"({listed(self.cancelled)}); what was measured is kept": self.cancelled,
            f"still ending: {listed(self.ending)}; 'squeue' shows them until their nodes answer": self.ending,
            f"left alone: {listed(self.others)}, whose comment, user or cluster is not this fleet's, or which "
            "measure into another folder": self.others,
            f"{self.path.name}: {self.whose}": self.whose,
        }
        lines = [text for text, there in texts.items() if there]
        return "\n".join(lines or [f"{self.path.name}: none of its jobs is in the queue"])


def cancel(
    folder: Path,
    say: Callable[[str], object],
    scheduler: Scheduler | None = None,
    patience_s: float = _PATIENCE_S,
) -> Cancelled:
    """Cancel the jobs of a fleet that wait or run, and wait until they have ended."""
    fleet = read_fleet(folder)
    if comment_of(fleet) is None:  # put together by hand: it never had a job
        return Cancelled(path=folder)
    scheduler = scheduler or Scheduler()
    jobs = scheduler.jobs(user_name())
    ids = dict.fromkeys(job for host in fleet.hosts for job in host.jobs)
    others = [job for job in ids if job in jobs and not agrees(jobs[job], folder, fleet)]
    left = _in_queue(folder, fleet, jobs)
    seen = dict.fromkeys(left)
    whose = None if left else _whose(fleet, scheduler)
    if left:
        with contextlib.suppress(OSError):  # the queue tells the script too
            (folder / CANCELLED).touch()
        say(f"waiting until {counted(len(left), 'job')} ended: {listed(left)}")
    end = time.monotonic() + patience_s
    with Interrupts() as interrupts:
        while left:
            scheduler.end(left)  # again: one that was just requeued is cancelled once more
            if time.monotonic() > end:
                break
            interrupts.sleep(_LOOK_S)
            left = _in_queue(folder, fleet, scheduler.jobs(user_name()))
            seen |= dict.fromkeys(left)  # somebody may go on with the fleet meanwhile
    return Cancelled(
        path=folder,
        cancelled=tuple(job for job in seen if job not in left),
        ending=tuple(left),
        others=tuple(others),
        whose=whose,
    )


def _in_queue(folder: Path, fleet: Fleet, jobs: dict[str, Job]) -> list[str]:
    return [job.id for job in jobs.values() if job.live and agrees(job, folder, fleet)]


def _whose(fleet: Fleet, scheduler: Scheduler) -> str | None:
    """Say whose jobs a fleet has, if they cannot be ours: in our queue they are not found."""
    slurm = slurm_of(fleet)
    user, cluster, here = slurm.get("user"), slurm.get("cluster"), scheduler.cluster()
    if user != user_name():
        return f"it was submitted by {user}, and you are {user_name()}: only {user} can cancel its jobs"
    if cluster != here:
        return f"it was submitted on cluster '{cluster}', and this is '{here}': cancel it there"
    return None


# --- A fleet that is gone on with: jobs only for the hosts that need one.


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
    require_time(slurm["time"], partition_of(slurm["partition"], scheduler))
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
    places = {host.host: folder / host.trial for host in fleet.hosts}
    notes += [
        f"{one.host} has failed, and nothing is left to measure there: {one.why}; to measure it again, "
        f"remove {places[one.host]}"
        for one in standing.hosts
        if _measured(one)
    ]
    # of before 0.3.0
    options = [one for one in slurm["options"] if not one.startswith("--scratch=")]
    script = script_of(folder, Path(slurm["campaign"]), fleet.campaign, options, scheduler)
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
        words = f"fairtrial bisect --resume={quoted(str(folder / fleet.hosts[0].trial))}"
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
    known = {(host.host, job) for host in fleet.hosts for job in host.jobs}
    for job in jobs.values():
        mine = job.live and (job.wanted, job.id) not in known and agrees(job, folder, fleet)
        if mine and job.wanted in fleet.names:
            fleet = fleet.with_job(job.wanted, job.id)
    return fleet


def _measured(host: HostStanding) -> bool:
    """Tell whether a host that has failed has nothing left to measure: a job would change nothing."""
    return host.state == "failed" and host.done == host.planned
