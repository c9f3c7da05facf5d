"""A job of the queue, from what ``squeue`` writes: JSON of every version that has it, or lines.

Slurm 22.05 writes a state as a text; since 23.02 it is a list, of the state and its flags, and
numbers may be objects (``{"set": ..., "infinite": ..., "number": ...}``). The text forms ``%T`` and
``%r`` are the same in all versions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# A job in one of these is over; in any other it is in the queue, or about to be.
_ENDED = frozenset(
    {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL"}
    | {"DEADLINE", "OUT_OF_MEMORY", "REVOKED"}
)
# What the list of a newer version says beside the state, the one that counts for us first.
_FLAGS = ("COMPLETING", "REQUEUE_HOLD", "SPECIAL_EXIT", "REQUEUED", "CONFIGURING", "STAGE_OUT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that the controller still knows. What it does not say is None.

    `nodes` is where it runs or ran, `wanted` the nodes that it was submitted for.
    """

    id: str
    state: str
    reason: str | None
    nodes: str | None
    wanted: str | None
    user: str | None
    comment: str | None
    cluster: str | None

    @property
    def live(self) -> bool:
        """Whether it is in the queue: waiting, running, or ending."""
        return self.state not in _ENDED

    @property
    def held(self) -> bool:
        """Whether it waits for its user to release it: one that an administrator holds does not."""
        return self.state == "PENDING" and self.reason == "JobHeldUser"


def jobs_of_json(text: str) -> tuple[Job, ...] | None:
    """Read what ``squeue --json`` wrote; None if that is no list of jobs, or only of errors.

    Parameters
    ----------
    text : str
        Of any version since 21.08.
    """
    try:
        data = json.loads(text)
    except ValueError:
        return None
    if not isinstance(data, dict) or not isinstance(data.get("jobs"), list):
        return None
    if data.get("errors") and not data["jobs"]:
        return None
    cluster = _said_cluster(data)
    return tuple(job for entry in data["jobs"] if (job := _job_of(entry, cluster)) is not None)


def jobs_of_lines(text: str, cluster: str) -> tuple[Job, ...]:
    """Read lines of ``squeue`` in the form ``id|state|nodes|wanted|user|comment|reason``."""
    found = []
    for line in text.splitlines():
        parts = line.split("|")
        if len(parts) < 7:
            continue
        job, state, nodes, wanted, user = parts[:5]
        found.append(
            Job(
                id=job,
                state=state,
                reason=_text(parts[-1]),
                nodes=_text(nodes),
                wanted=_text(wanted),
                user=_text(user),
                comment=_text("|".join(parts[5:-1])),
                cluster=cluster,
            )
        )
    return tuple(found)


def _said_cluster(data: Mapping[str, Any]) -> str | None:
    """Give the cluster of the whole answer, which newer versions name."""
    meta = data.get("meta")
    slurm = meta.get("slurm") if isinstance(meta, dict) else None
    return _text(slurm.get("cluster")) if isinstance(slurm, dict) else None


def _job_of(entry: Any, cluster: str | None) -> Job | None:  # noqa: ANN401 - JSON types
    if not isinstance(entry, dict):
        return None
    number = _number(entry.get("job_id"))
    state = _state(entry.get("job_state"))
    if number is None or state is None:
        return None
    return Job(
        id=str(number),
        state=state,
        reason=_text(entry.get("state_description")) or _text(entry.get("state_reason")),
        nodes=_text(entry.get("nodes")) or _text(entry.get("batch_host")),
        wanted=_text(entry.get("required_nodes")),
        user=_text(entry.get("user_name")),
        comment=_text(entry.get("comment")),
        cluster=_text(entry.get("cluster")) or cluster,
    )


def _state(value: Any) -> str | None:  # noqa: ANN401 - JSON types
    if isinstance(value, str):
        return value or None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    flags = [item for item in _FLAGS if item in value]
    return flags[0] if flags else next(iter(value), None)


def _number(value: Any) -> int | None:  # noqa: ANN401 - JSON types
    if isinstance(value, dict):
        value = value.get("number") if value.get("set", True) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:  # noqa: ANN401 - JSON types
    """Give a text that says something: Slurm has several ways to say nothing."""
    if isinstance(value, dict):  # a comment is one of three in some versions
        value = value.get("job")
    if not isinstance(value, str):
        return None
    return None if value in {"", "None", "(null)", "n/a", "N/A"} else value
