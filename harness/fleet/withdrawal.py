"""Jobs of a submission that failed: taken back, also those of which it never heard."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..errors import HostError
from .jobs import Job
from .scheduler import Scheduler


def withdraw(
    scheduler: Scheduler,
    slurm: Mapping[str, Any],
    comment: str | None,
    submitted: Sequence[str],
    kept: Collection[str],
) -> tuple[str, ...] | None:
    """Cancel the jobs of a submission; give those that are still in the queue.

    A job may be in the queue although sbatch was interrupted, or did not answer in time: then its
    comment tells whose it is.

    Parameters
    ----------
    scheduler : Scheduler
        Slurm on this host.
    slurm : mapping
        What the jobs were submitted with.
    comment : str or None
        What the fleet's jobs carry.
    submitted : sequence of str
        The ids that are known.
    kept : collection of str
        The fleet's jobs of before.

    Returns
    -------
    tuple of str or None
        None if Slurm does not say what is left.
    """

    def left() -> tuple[str, ...]:
        return tuple(job.id for job in scheduler.jobs(slurm["user"]).values() if mine(job))

    def mine(job: Job) -> bool:
        whose = (job.comment, job.user, job.cluster)
        ours = whose == (comment, slurm["user"], slurm["cluster"])
        return ours and job.live and job.state != "COMPLETING" and job.id not in kept

    try:
        scheduler.end(submitted)
        lost = left()
        if not lost:
            return ()
        scheduler.end(lost)
        return left()
    except HostError:
        return None
