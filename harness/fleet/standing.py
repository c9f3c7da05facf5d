"""How a fleet stands: what each host has measured, what the queue says of its job, and why."""

from __future__ import annotations

import shlex
import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analysis.record import Fleet, HostProgress, HostState, is_fleet, read_fleet, read_hosts

from ..errors import HostError, StoreError
from ..wording import counted, moment
from .jobs import Job
from .scheduler import Node, Scheduler
from .submission import SLURM, at_home, comment_of

_WIDTH = 96  # columns
_BESIDE = 40  # columns that what is said of a host needs to stand beside its runs
_STATES: tuple[HostState, ...] = ("complete", "running", "partial", "failed", "missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStanding:
    """One host of a fleet. None is unknown, or that there is none.

    Attributes
    ----------
    host : str
        The node's name.
    state : {"complete", "running", "partial", "failed", "missing"}
        By what is measured, whatever the queue says.
    done, planned : int, int or None
        Positions with a row, and those of the plan, warm-ups among both.
    why : str or None
        What is wrong with the trial, or how it ended.
    job : str or None
        The id of its newest job.
    queue : str or None
        The state of that job in Slurm's words; None where Slurm does not know it (any more).
    reason : str or None
        Slurm's reason for it.
    node : str or None
        Where the job runs, or ran.
    node_state : str or None
        The state of the host in Slurm's words, with the reason where it can take no job.
    in_queue : bool
        Whether the job waits, runs or ends.
    asked : bool
        Whether the queue was asked, and answered.
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
    asked: bool

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        names = ("host", "state", "done", "planned", "why", "job", "queue", "reason", "node")
        return {name: getattr(self, name) for name in (*names, "node_state")}

    @property
    def told(self) -> str:
        """What is to be said of it beside its runs."""
        parts = []
        if self.node_state is not None and self.state != "complete":
            parts.append(f"the host is {self.node_state}")
        if self.queue is not None and (self.in_queue or self.state != "complete"):
            job = f"job {self.job} {self.queue}"
            parts.append(job + (f" ({self.reason})" if self.reason else ""))
        elif self.asked and self.job is not None and self.state not in {"complete", "running"}:
            parts.append(f"job {self.job} is no longer in the queue")
        if self.why and self.state not in {"complete", "running"}:
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
            "hosts": [one.to_dict() for one in self.hosts],
            "problem": self.problem,
        }

    def __str__(self) -> str:
        """Write it for a person: a line for each host, and more where what is said of it has no room."""
        counts = Counter(one.state for one in self.hosts)
        states = ", ".join(f"{counts[state]} {state}" for state in _STATES if counts[state])
        done = sum(one.done for one in self.hosts)
        known = [one.planned for one in self.hosts if one.planned is not None]
        planned = f"{sum(known)}" if len(known) == len(self.hosts) else "an unknown number of"
        since = self.fleet.submitted_at
        lines = [
            f"{self.path.name} · {counted(len(self.hosts), 'host')}: {states}",
            f"  {done} of {planned} runs"
            + (f", submitted {moment(since)}" if since is not None else ""),
        ]
        wide = max(len(one.host) for one in self.hosts)
        for one in self.hosts:
            runs = f"{one.done} of {'?' if one.planned is None else one.planned}"
            head = f"  {one.host:<{wide}}  {one.state:<8}  {runs:<12}  "
            if len(head) + _BESIDE <= _WIDTH:
                lines += _wrapped(head, one.told, len(head))
            else:
                lines += [head.rstrip(), *_wrapped(" " * 6, one.told, 8)]
        if self.problem is not None:
            lines += _wrapped("  the queue is unknown: ", self.problem, 4)
        open_hosts = [one for one in self.hosts if one.state != "complete"]
        if open_hosts and not all(one.in_queue for one in open_hosts) and comment_of(self.fleet):
            lines.append(f"  continue: fairtrial submit {shlex.quote(str(self.path))} --resume")
        return "\n".join(lines)


def read_standing(
    folder: Path,
    scheduler: Scheduler | None,
    *,
    fleet: Fleet | None = None,
    jobs: Mapping[str, Job] | None = None,
) -> FleetStanding:
    """Read how a fleet stands.

    Parameters
    ----------
    folder : Path
        The fleet's folder.
    scheduler : Scheduler or None
        Asked for the fleet's jobs; None: nobody is asked.
    fleet : Fleet, optional
        As it is known already.
    jobs : mapping of str to Job, optional
        The queue as it is known already.

    Raises
    ------
    StoreError
        If it is no fleet, or ``fleet.json`` is damaged. A scheduler that does not answer is told in
        the result.
    """
    fleet = fleet or read_fleet(folder)
    problem = None
    nodes: Mapping[str, Node] = {}
    if scheduler is not None and comment_of(fleet) is not None:
        try:
            if jobs is None:
                jobs = scheduler.jobs(str(fleet.further[SLURM].get("user")))
            nodes = scheduler.nodes()
        except HostError as error:
            problem = error.what
    found = []
    for progress in read_hosts(folder, fleet):
        ids = next(one.jobs for one in fleet.hosts if one.host == progress.host)
        job = newest(progress.host, folder, fleet, jobs or {})
        planned = _planned(fleet) if progress.planned is None else progress.planned
        known = replace(progress, planned=planned)
        node = nodes.get(progress.host)
        found.append(_standing(known, ids, job, node, asked=jobs is not None))
    return FleetStanding(path=folder, fleet=fleet, hosts=tuple(found), problem=problem)


def trials_standing(runs: Path) -> tuple[tuple[FleetStanding, ...], tuple[StoreError, ...]]:
    """Read the fleets of a folder of trials, and why others cannot be read; no queue is asked."""
    found, unreadable = [], []
    try:
        folders = sorted(path for path in runs.iterdir() if is_fleet(path))
    except OSError:  # whoever lists the trials says why
        return (), ()
    for path in folders:
        try:
            found.append(read_standing(path, None))
        except StoreError as error:
            unreadable.append(error)
    return tuple(found), tuple(unreadable)


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
    live = [job for job in known if job.live]
    best = live or known
    return best[-1] if best else None


def agrees(job: Job, folder: Path, fleet: Fleet) -> bool:
    """Tell whether a job is one of a fleet: its comment, its user and its cluster are the fleet's.

    An id alone says nothing: another cluster, or this one later, gives the same number to others. And
    a copy of a fleet's folder has no jobs: they measure into the folder that was submitted.
    """
    slurm = fleet.further.get(SLURM)
    if not isinstance(slurm, dict) or not at_home(folder, fleet):
        return False
    same = (job.comment, job.user, job.cluster)
    return same == (comment_of(fleet), slurm.get("user"), slurm.get("cluster"))


def _planned(fleet: Fleet) -> int | None:
    """Give how many runs each host was submitted for, as long as no trial says it."""
    slurm = fleet.further.get(SLURM)
    planned = slurm.get("planned") if isinstance(slurm, dict) else None
    return planned if type(planned) is int else None


def _standing(
    progress: HostProgress, ids: tuple[str, ...], job: Job | None, node: Node | None, *, asked: bool
) -> HostStanding:
    state = progress.state
    running = progress.manifest is not None and progress.manifest.status == "running"
    if state == "partial" and running and job is not None and job.state == "RUNNING":
        state = "running"  # measured where its lock is not seen from here
    down = None if node is None or node.usable else node.state
    if down is not None and node is not None and node.reason:
        down += f": {node.reason}"
    return HostStanding(
        host=progress.host,
        state=state,
        done=progress.done,
        planned=progress.planned,
        why=progress.why,
        job=job.id if job is not None else (ids[-1] if ids else None),
        queue=None if job is None else job.state,
        reason=None if job is None else job.reason,
        node=None if job is None else job.nodes,
        node_state=down,
        in_queue=job is not None and job.live,
        asked=asked,
    )


def _wrapped(head: str, text: str, indent: int) -> list[str]:
    """Write a text behind its head, in lines that a screen holds."""
    if not text:
        return [head.rstrip()] if head.strip() else []
    return textwrap.wrap(
        " ".join(text.split()),
        _WIDTH,
        initial_indent=head,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
