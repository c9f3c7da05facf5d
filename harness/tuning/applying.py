"""Changes settings: each is in the journal, on the disk, before it is written, and read back after."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import Any, Literal

from ..host import format_cpus
from ..meters.cgroups import remove_left
from .journal import Desk
from .knobs import Knobs
from .settings import BRANCHES, CGROUPS, PARTITION, Change, Partition

Result = Literal["changed", "already", "did not take", "refused", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What became of one change; `shows` is what the kernel showed after it, None when nothing."""

    item: str
    path: str
    result: Result
    before: str | None = None
    after: str | None = None
    shows: str | None = None
    why: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "item": self.item,
            "path": self.path,
            "result": self.result,
            "before": self.before,
            "after": self.after,
            "shows": self.shows,
            "why": self.why,
        }

    def __str__(self) -> str:
        """Write it for a person."""
        head = f"{self.item:<10} {self.path}: "
        if self.result == "changed":
            return f"{head}{self.before} -> {self.after}"
        if self.result == "already":
            return f"{head}is {self.after} by now"
        if self.result == "gone":
            return f"{head}is gone"
        if self.result == "did not take":
            return f"{head}did not take {self.after}, shows {self.shows}"
        return f"{head}refused{f': {self.why}' if self.why else ''}"


def apply_change(change: Change, number: int, knobs: Knobs, desk: Desk) -> Applied:
    """Change one setting.

    Raises
    ------
    HostError
        If the journal cannot be written; then nothing was changed.
    """
    before = knobs.shown(change.path)
    told = {"item": change.item, "path": change.path, "before": before, "after": change.after}
    if before is None:
        return Applied(result="gone", **told)  # type: ignore[arg-type]  # all are texts
    if before == change.after:
        return Applied(result="already", **told)  # type: ignore[arg-type]  # all are texts
    desk.add({"change": number, **told})
    why = None
    try:
        knobs.write(change.path, change.after)
    except OSError as error:
        why = error.strerror
    shows = knobs.shown(change.path)
    desk.add({"took": number, "shows": shows})
    took = shows == change.after  # whatever the write said
    result: Result = "changed" if took else "refused" if why else "did not take"
    return Applied(result=result, shows=shows, why=why, **told)  # type: ignore[arg-type]  # all are texts


def apply_partition(partition: Partition, knobs: Knobs, desk: Desk) -> Applied:
    """Make the isolated partition; what of it was made and is of no use is taken back at once.

    Raises
    ------
    HostError
        If the journal cannot be written; then nothing was changed.
    """
    cpus = format_cpus(partition.cpus)
    desk.add({"partition": cpus, "home": partition.home, "branch": partition.branch})
    shows, why = None, None
    try:
        if partition.branch:
            knobs.write(BRANCHES, "+cpuset")
        knobs.make_folder(PARTITION)
        knobs.write(f"{PARTITION}/cpuset.cpus", cpus)
        knobs.write(f"{PARTITION}/cpuset.cpus.partition", "isolated")
    except OSError as error:
        why = error.strerror
    else:
        shows = knobs.tree.text(f"{PARTITION}/cpuset.cpus.partition")
    if shows == "isolated":
        result: Result = "changed"
    else:  # "isolated invalid (reason)": the kernel says why
        result = "refused" if why else "did not take"
        remove_partition(knobs, partition.home, branch=partition.branch)
    return Applied(
        item="partition",
        path=PARTITION,
        result=result,
        before="none",
        after=f"isolated, cpus {cpus}",
        shows=shows,
        why=why,
    )


def remove_partition(knobs: Knobs, home: str, *, branch: bool) -> str | None:
    """Give the CPUs back and remove the cgroup; say what is left of it, None when nothing is."""
    problem = None
    if knobs.tree.exists(PARTITION):
        with contextlib.suppress(OSError):
            knobs.write(f"{PARTITION}/cpuset.cpus.partition", "member")
        _move_out(knobs, home)
        remove_left(knobs.tree.path(PARTITION))  # of a fairtrial that was killed inside
        try:
            knobs.remove_folder(PARTITION)
        except OSError as error:
            problem = f"{PARTITION} cannot be removed: {error.strerror}"
    # somebody else may have come to need the controller meanwhile: then it stays, and does no harm
    if branch and problem is None and not _needed(knobs):
        with contextlib.suppress(OSError):
            knobs.write(BRANCHES, "-cpuset")
    return problem


def _needed(knobs: Knobs) -> bool:
    """Tell whether a cgroup below the root has CPUs of its own: without the controller it would lose them."""
    names = knobs.tree.names(CGROUPS) or ()
    return any(knobs.tree.text(f"{CGROUPS}/{name}/cpuset.cpus") for name in names)


def enter_partition(knobs: Knobs) -> None:
    """Move this process into the partition, and so whatever it starts.

    Raises
    ------
    OSError
        If the kernel refuses.
    """
    knobs.write(f"{PARTITION}/cgroup.procs", str(os.getpid()))


def leave_partition(knobs: Knobs, home: str) -> None:
    """Move this process back."""
    for procs in _procs_of(home):
        with contextlib.suppress(OSError):
            knobs.write(procs, str(os.getpid()))
            return


def _move_out(knobs: Knobs, home: str) -> None:
    for pid in (knobs.tree.text(f"{PARTITION}/cgroup.procs") or "").split():
        for procs in _procs_of(home):
            with contextlib.suppress(OSError):
                knobs.write(procs, pid)
                break


def _procs_of(home: str) -> tuple[str, ...]:
    """Give where processes may go: back home, or, where that is gone, to the root."""
    root = "/sys/fs/cgroup/cgroup.procs"
    steps = home.split("/")
    if ".." in steps or not home.startswith("/"):
        return (root,)
    return (f"/sys/fs/cgroup{home.rstrip('/')}/cgroup.procs", root)
