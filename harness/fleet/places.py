"""Which hosts a campaign goes to, and whether their partition lets it measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UsageError
from .scheduler import Node, Partition, Scheduler
from .time_limit import seconds_of_limit
from .wishes import Wishes

_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The hosts of a fleet in their order, their partition, and what is to be said of them."""

    hosts: tuple[str, ...]
    partition: Partition
    notes: tuple[str, ...]


def places_for(wishes: Wishes, scheduler: Scheduler) -> Places:
    """Choose the hosts, and look whether Slurm knows them all.

    Raises
    ------
    UsageError
        If a host or the partition is unknown, if there are too few, or if jobs would share CPUs.
    """
    partitions = scheduler.partitions()
    partition = _partition(wishes.partition, partitions)
    _require_alone(partition, partitions)
    nodes = scheduler.nodes(partition.name)
    if wishes.hosts is not None:
        hosts = scheduler.names(wishes.hosts)
        _require(hosts, nodes, partition, scheduler)
        waiting = [nodes[host] for host in hosts if not nodes[host].usable]
        notes = _noted(waiting, "", "; jobs for such a host wait until it is back")
        return Places(hosts=hosts, partition=partition, notes=notes)
    good = [name for name, node in nodes.items() if node.usable]
    left_out = [node for node in nodes.values() if not node.usable]
    count = len(good) if wishes.count is None else wishes.count
    if not good or count > len(good):
        others = "; ".join(f"{node.name} is {node.state}" for node in left_out[:_SHOWN])
        raise UsageError(
            f"partition '{partition.name}' has {len(good)} hosts that can be used, and "
            f"{count or 'at least one'} {'are' if count > 1 else 'is'} asked for"
            + (f" ({others})" if others else ""),
            "--count" if wishes.count is not None else "--partition",
            "ask for fewer, or name the hosts with --hosts: their jobs then wait for them",
        )
    # those that are free now first; the choice is told, and stands in fleet.json
    chosen = sorted(good, key=lambda name: nodes[name].state != "idle")[:count]
    hosts = tuple(name for name in good if name in set(chosen))
    return Places(hosts=hosts, partition=partition, notes=_noted(left_out, "left out: ", ""))


def require_time(limit: str, partition: Partition) -> None:
    """Refuse a time limit that the partition does not allow.

    Raises
    ------
    UsageError
        If jobs there may not last so long.
    """
    wanted, most = seconds_of_limit(limit), seconds_of_limit(partition.max_time)
    if wanted is not None and most is not None and wanted > most:
        raise UsageError(
            f"a job would need {limit}, and partition '{partition.name}' allows at most "
            f"{partition.max_time}",
            "--time",
            f"name a shorter time with --time (at most {partition.max_time}): a job that meets its "
            "limit goes on in a new one; or choose another partition",
        )


def require_place(name: str, limit: str, scheduler: Scheduler) -> None:
    """Refuse to go on where a new fleet would be refused: a partition may have been changed since.

    Raises
    ------
    UsageError
        If the partition is gone, lets jobs share CPUs, or does not allow the time.
    """
    partitions = scheduler.partitions()
    partition = _partition(name, partitions)
    _require_alone(partition, partitions)
    require_time(limit, partition)


def _require_alone(partition: Partition, partitions: dict[str, Partition]) -> None:
    if partition.oversubscribe.upper().startswith("FORCE"):
        raise UsageError(
            f"jobs of partition '{partition.name}' share their CPUs with others "
            f"(OverSubscribe={partition.oversubscribe}), whatever they ask for: what is measured "
            "beside another job is no measurement",
            "--partition",
            _others(partitions, partition),
        )


def _partition(name: str | None, partitions: dict[str, Partition]) -> Partition:
    if name is None:
        default = next((each for each in partitions.values() if each.default), None)
        if default is None:
            what = "this cluster has no default partition"
            raise UsageError(what, "--partition", f"name one: {', '.join(partitions)}")
        return default
    if name not in partitions:
        what = f"this cluster has no partition '{name}'"
        raise UsageError(what, "--partition", f"there are: {', '.join(partitions)}")
    return partitions[name]


def _others(partitions: dict[str, Partition], bad: Partition) -> str:
    good = [
        each.name
        for each in partitions.values()
        if each.name != bad.name and not each.oversubscribe.upper().startswith("FORCE")
    ]
    if good:
        return f"choose another partition: {', '.join(good)}"
    return "ask the administrator for a partition without OverSubscribe=FORCE"


def _require(
    hosts: Sequence[str], nodes: dict[str, Node], partition: Partition, scheduler: Scheduler
) -> None:
    strangers = [host for host in hosts if host not in nodes]
    if not strangers:
        return
    known = scheduler.nodes()
    elsewhere = [host for host in strangers if host in known]
    wrong = [host for host in strangers if host not in known]
    if wrong:
        what = f"this cluster has no host {_listed(wrong)}"
        fix = "'sinfo -N' lists the hosts"
    else:
        what = f"partition '{partition.name}' has no host {_listed(elsewhere)}"
        fix = "name the hosts' partition with --partition; 'sinfo -N' lists both"
    raise UsageError(f"{what}; nothing was submitted", "--hosts", fix)


def _listed(hosts: Sequence[str]) -> str:
    more = f" and {len(hosts) - _SHOWN} more" if len(hosts) > _SHOWN else ""
    return ", ".join(hosts[:_SHOWN]) + more


def _noted(nodes: Sequence[Node], before: str, behind: str) -> tuple[str, ...]:
    """Say which hosts cannot be used now, the first ones where there are many."""
    notes = [f"{before}{node.name} is {_said(node)}{behind}" for node in nodes[:_SHOWN]]
    if len(nodes) > _SHOWN:
        notes.append(f"and {len(nodes) - _SHOWN} more that are not up ('sinfo -R' says why)")
    return tuple(notes)


def _said(node: Node) -> str:
    return node.state.rstrip("*") + (f" ({node.reason})" if node.reason else "")
