"""The end of a fleet's jobs: only of those that are its own, and none of them comes back."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.record import Fleet, read_fleet

from ..launch import Interrupts
from ..wording import counted
from .jobs import Job
from .scheduler import Scheduler
from .script import CANCELLED
from .standing import agrees
from .submission import SLURM, comment_of, user_name

_PATIENCE_S = 120.0  # Slurm kills what has not ended KillWait seconds (30 by default) after TERM
_LOOK_S = 0.5
_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """What became of a fleet's jobs.

    `cancelled` were in the queue and have left it, `ending` had not within two minutes, `others` stand
    in ``fleet.json`` and are somebody else's: they were left alone. `whose` says of a fleet of another
    user or cluster which, and that nothing was looked for.
    """

    path: Path
    cancelled: tuple[str, ...]
    ending: tuple[str, ...]
    others: tuple[str, ...]
    whose: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "fleet": self.path.name,
            "path": str(self.path),
            "cancelled": list(self.cancelled),
            "ending": list(self.ending),
            "others": list(self.others),
        }

    def __str__(self) -> str:
        """Say it in a few lines."""
        lines = []
        if self.cancelled:
            verb = "is" if len(self.cancelled) == 1 else "are"
            lines.append(
                f"{self.path.name}: {counted(len(self.cancelled), 'job')} {verb} cancelled "
                f"({_some(self.cancelled)}); what was measured is kept"
            )
        if self.ending:
            lines.append(
                f"still ending: {_some(self.ending)}; 'squeue' shows them until their nodes answer"
            )
        if self.others:
            lines.append(
                f"left alone: {_some(self.others)}, whose comment, user or cluster is not this "
                "fleet's, or which measure into another folder"
            )
        if self.whose is not None:
            lines.append(f"{self.path.name}: {self.whose}")
        if not lines:
            lines.append(f"{self.path.name}: no job of it is in the queue")
        return "\n".join(lines)


def _some(jobs: Sequence[str]) -> str:
    more = f" and {len(jobs) - _SHOWN} more" if len(jobs) > _SHOWN else ""
    return ", ".join(jobs[:_SHOWN]) + more


def cancel(
    folder: Path,
    say: Callable[[str], object],
    scheduler: Scheduler | None = None,
    patience_s: float = _PATIENCE_S,
) -> Cancelled:
    """Cancel the jobs of a fleet that wait or run, and wait until they have ended.

    Parameters
    ----------
    folder : Path
        The fleet's folder.
    say : callable
        Hears what is waited for.
    scheduler : Scheduler, optional
        Slurm on this host.
    patience_s : float
        For how long is waited at most, in seconds.

    Raises
    ------
    StoreError
        If it is no fleet.
    HostError
        If there is no Slurm, or it does not answer.
    """
    fleet = read_fleet(folder)
    if comment_of(fleet) is None:  # put together by hand: it never had a job
        return Cancelled(path=folder, cancelled=(), ending=(), others=())
    scheduler = scheduler or Scheduler()
    jobs = scheduler.jobs(user_name())
    ids = dict.fromkeys(job for host in fleet.hosts for job in host.jobs)
    others = [job for job in ids if job in jobs and not agrees(jobs[job], folder, fleet)]
    left = _ours(folder, fleet, jobs)
    seen = dict.fromkeys(left)
    whose = None if left else _whose(fleet, scheduler)
    if left:
        with contextlib.suppress(OSError):  # the queue tells the script too
            (folder / CANCELLED).touch()
        say(f"waiting until {counted(len(left), 'job')} ended: {_some(left)}")
    end = time.monotonic() + patience_s
    with Interrupts() as interrupts:
        while left:
            scheduler.end(left)  # again: one that was just requeued is cancelled once more
            if time.monotonic() > end:
                break
            interrupts.sleep(_LOOK_S)
            left = _ours(folder, fleet, scheduler.jobs(user_name()))
            seen |= dict.fromkeys(left)  # somebody may go on with the fleet meanwhile
    return Cancelled(
        path=folder,
        cancelled=tuple(job for job in seen if job not in left),
        ending=tuple(left),
        others=tuple(others),
        whose=whose,
    )


def _ours(folder: Path, fleet: Fleet, jobs: dict[str, Job]) -> list[str]:
    """List the jobs of a fleet that are in the queue, also those that its file does not know yet."""
    return [job.id for job in jobs.values() if job.live and agrees(job, folder, fleet)]


def _whose(fleet: Fleet, scheduler: Scheduler) -> str | None:
    """Say whose jobs a fleet has, if they cannot be ours: in our queue they are not found."""
    slurm = fleet.further[SLURM]
    user, cluster, here = slurm.get("user"), slurm.get("cluster"), scheduler.cluster()
    if user != user_name():
        return (
            f"it was submitted by {user}, and you are {user_name()}: only {user} can end its jobs"
        )
    if cluster != here:
        return f"it was submitted on cluster '{cluster}', and this is '{here}': cancel it there"
    return None
