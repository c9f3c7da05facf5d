"""Which hosts a campaign goes to, and whether their partition and its time limit let it measure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.errors import UsageError

if TYPE_CHECKING:
    from .slurm import Node, Scheduler, SlurmPartition
    from .submission import Wishes

SHORTEST_S = 600.0
WARNING_S = 120.0  # how long before its end Slurm tells a job, at least
_FACTOR = 2.0
_ROOM = 3.0
# minutes | minutes:seconds | hours:minutes:seconds | days-hours[:minutes[:seconds]]
_NOTATION = re.compile(
    r"(?:(\d+)-(\d+)(?::(\d+))?(?::(\d+))?|(\d+)(?::(\d+))?(?::(\d+))?)", re.ASCII
)


def seconds_of_limit(text: str) -> float | None:
    """Read a time in Slurm's notation, such as ``90``, ``90:00`` or ``1-12:00:00``, in seconds."""
    if text.upper() in {"INFINITE", "UNLIMITED", "NONE", "-1"}:
        return math.inf
    match = _NOTATION.fullmatch(text)
    if match is None:
        return None
    days, hours, minutes, seconds, one, two, three = (int(part or 0) for part in match.groups())
    if match[1] is not None:
        return 86400.0 * days + 3600.0 * hours + 60.0 * minutes + seconds
    return 60.0 * one + two if match[7] is None else 3600.0 * one + 60.0 * two + three


def limit_of_seconds(seconds: float) -> str:
    """Write a time as ``[days-]hours:minutes:00``, rounded up to a minute."""
    minutes = math.ceil(seconds / 60)
    days, rest = divmod(minutes, 24 * 60)
    clock = f"{rest // 60:02d}:{rest % 60:02d}:00"
    return f"{days}-{clock}" if days else clock


def least_limit_s(longest_run_s: float | None) -> float:
    """Give the shortest sensible limit of a job, in seconds.

    Between the warning and the end a run may have to be finished or thrown away, and some runs must
    fit before it, or each start would end with less than it began with.
    """
    return max(SHORTEST_S, _ROOM * (WARNING_S + (longest_run_s or 0.0)))


def limit_of(wanted: str | None, expected_s: float | None, longest_run_s: float | None) -> str:
    """Choose the time limit of a host's job, in Slurm's notation."""
    if wanted is not None:
        if not seconds_of_limit(wanted):
            fix = "write minutes (90), hours:minutes:seconds (1:30:00) or days-hours (1-12)"
            raise UsageError(f"this is not a time in Slurm's notation: {wanted!r}", "--time", fix)
        return wanted
    if expected_s is None:
        what = "it is unknown how long a host needs, because this campaign was never measured here; a job needs a time limit"
        fix = "add --time, such as --time 2:00:00; a job that reaches its limit continues in a new job"
        raise UsageError(what, "--time", fix)
    return limit_of_seconds(max(_FACTOR * expected_s, least_limit_s(longest_run_s)))


_SHOWN = 8


def places_for(
    wishes: Wishes, scheduler: Scheduler
) -> tuple[tuple[str, ...], SlurmPartition, tuple[str, ...]]:
    """Choose the hosts, in their order, and look whether Slurm knows them all; with what is to be said of them."""
    partition = partition_of(wishes.partition, scheduler)
    nodes = scheduler.nodes(partition.name)
    if wishes.hosts is not None:
        hosts = scheduler.names(wishes.hosts)
        strangers = [host for host in hosts if host not in nodes]
        wrong = (
            sorted({*strangers} - scheduler.nodes().keys(), key=hosts.index) if strangers else []
        )
        if wrong:
            what = f"this cluster has no host {listed(wrong)}; nothing was submitted"
            raise UsageError(what, "--hosts", "'sinfo -N' lists the hosts")
        if strangers:
            what = f"partition '{partition.name}' has no host {listed(strangers)}; nothing was submitted"
            fix = "name the hosts' partition with --partition; 'sinfo -N' lists both"
            raise UsageError(what, "--hosts", fix)
        waiting = [nodes[host] for host in hosts if not nodes[host].usable]
        notes = _noted(waiting, "", "; jobs for such a host wait until it is back")
        return hosts, partition, notes
    good = [name for name, node in nodes.items() if node.usable]
    left_out = [node for node in nodes.values() if not node.usable]
    count = len(good) if wishes.count is None else wishes.count
    if not good or count > len(good):
        others = "; ".join(f"{node.name} is {node.state}" for node in left_out[:_SHOWN])
        wanted = f"{count or 'at least one'} {'are' if count > 1 else 'is'} asked for"
        what = f"partition '{partition.name}' has {len(good)} hosts that can be used, and {wanted}"
        raise UsageError(
            f"{what} ({others})" if others else what,
            "--count" if wishes.count is not None else "--partition",
            "ask for fewer, or name the hosts with --hosts: their jobs then wait for them",
        )
    # those that are free now first; the choice is told, and stands in fleet.json
    chosen = sorted(good, key=lambda name: nodes[name].state != "idle")[:count]
    hosts = tuple(name for name in good if name in set(chosen))
    return hosts, partition, _noted(left_out, "left out: ", "")


def require_time(limit: str, partition: SlurmPartition) -> None:
    """Refuse a time limit that the partition does not allow."""
    wanted, most = seconds_of_limit(limit), seconds_of_limit(partition.max_time)
    if wanted is not None and most is not None and wanted > most:
        most_text = partition.max_time
        what = (
            f"a job would need {limit}, and partition '{partition.name}' allows at most {most_text}"
        )
        fix = (
            f"name a shorter time with --time (at most {most_text}): a job that reaches its limit continues in a new "
            "job; or choose another partition"
        )
        raise UsageError(what, "--time", fix)


def partition_of(name: str | None, scheduler: Scheduler) -> SlurmPartition:
    """Give a partition, or the default one; refuse one whose jobs share their CPUs."""
    partitions = scheduler.partitions()
    default = next((each for each in partitions.values() if each.default), None)
    partition = default if name is None else partitions.get(name)
    if partition is None:
        what = (
            f"this cluster has no {'default partition' if name is None else f'partition {name!r}'}"
        )
        fix = f"{'name one' if name is None else 'there are'}: {', '.join(partitions)}"
        raise UsageError(what, "--partition", fix)
    if _is_shared(partition):
        alone = ", ".join(each.name for each in partitions.values() if not _is_shared(each))
        what = (
            f"jobs of partition '{partition.name}' share their CPUs with others (OverSubscribe="
            f"{partition.oversubscribe}), whatever they ask for: measuring next to another job is not measuring"
        )
        fix = "ask the administrator for a partition without OverSubscribe=FORCE"
        raise UsageError(
            what, "--partition", f"choose another partition: {alone}" if alone else fix
        )
    return partition


def _is_shared(partition: SlurmPartition) -> bool:
    return partition.oversubscribe.upper().startswith("FORCE")


def listed(names: Sequence[str]) -> str:
    """Write the first names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _noted(nodes: Sequence[Node], before: str, behind: str) -> tuple[str, ...]:
    """Say which hosts cannot be used now, the first ones where there are many."""
    notes = []
    for node in nodes[:_SHOWN]:
        reason = f" ({node.reason})" if node.reason else ""
        notes.append(f"{before}{node.name} is {node.state.rstrip('*')}{reason}{behind}")
    if len(nodes) > _SHOWN:
        notes.append(f"and {len(nodes) - _SHOWN} more that are not up ('sinfo -R' says why)")
    return tuple(notes)
