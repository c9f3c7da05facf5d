"""Changes settings and puts them back: each is in the journal before it is written, and read back after."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..host.tree import Tree, format_cpus
from ..meters.cgroups import remove_left
from .proposal import (
    BRANCHES,
    CGROUPS,
    PARTITION,
    CpusetPartition,
    SettingChange,
    plain_value,
    setting_of,
)

if TYPE_CHECKING:
    from .journal import Desk, Story


class Knobs:
    """The settings of the host below `root`: the real one, or a planted tree."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self.tree = Tree(root)

    def shown(self, path: str) -> str | None:
        """Give what a setting of the list shows, in its one spelling; None when it shows none."""
        return plain_value(path, self.tree.text(path))

    def write(self, path: str, value: str) -> None:
        """Write a value as one piece, as the kernel wants it."""
        fd = os.open(self.tree.path(path), os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.write(fd, f"{value}\n".encode())
        finally:
            os.close(fd)

    def make_folder(self, path: str) -> None:
        """Make a cgroup."""
        self.tree.path(path).mkdir(mode=0o755)

    def remove_folder(self, path: str) -> None:
        """Remove a cgroup: the kernel takes its files with it."""
        self.tree.path(path).rmdir()


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
        return asdict(self)

    def __str__(self) -> str:
        """Write it for a person."""
        what = {
            "changed": f"{self.before} -> {self.after}",
            "already": f"is {self.after} by now",
            "gone": "is gone",
            "did not take": f"did not take {self.after}, shows {self.shows}",
            "refused": f"refused{f': {self.why}' if self.why else ''}",
        }
        return f"{self.item:<10} {self.path}: {what[self.result]}"


def apply_change(change: SettingChange, number: int, knobs: Knobs, desk: Desk) -> Applied:
    """Change one setting."""
    before = knobs.shown(change.path)
    made = partial(Applied, item=change.item, path=change.path, before=before, after=change.after)
    if before is None:
        return made(result="gone")
    if before == change.after:
        return made(result="already")
    journaled = {"item": change.item, "path": change.path, "before": before, "after": change.after}
    desk.add({"change": number, **journaled})
    why = None
    try:
        knobs.write(change.path, change.after)
    except OSError as error:
        why = error.strerror
    shows = knobs.shown(change.path)
    desk.add({"took": number, "shows": shows})
    if shows == change.after:  # whatever the write said
        return made(result="changed", shows=shows, why=why)
    return made(result="refused" if why else "did not take", shows=shows, why=why)


def apply_partition(partition: CpusetPartition, knobs: Knobs, desk: Desk) -> Applied:
    """Make the isolated partition; what of it was made and is of no use is taken back at once."""
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
        for pid in (knobs.tree.text(f"{PARTITION}/cgroup.procs") or "").split():
            move(knobs, pid, home)
        remove_left(knobs.tree.path(PARTITION))  # of a fairtrial that was killed inside
        try:
            knobs.remove_folder(PARTITION)
        except OSError as error:
            problem = f"{PARTITION} cannot be removed: {error.strerror}"
    # a cgroup that has come to have CPUs of its own would lose them: then it stays, and does no harm
    names = knobs.tree.names(CGROUPS) or ()
    needed = any(knobs.tree.text(f"{CGROUPS}/{name}/cpuset.cpus") for name in names)
    if branch and problem is None and not needed:
        with contextlib.suppress(OSError):
            knobs.write(BRANCHES, "-cpuset")
    return problem


def move(knobs: Knobs, pid: str, home: str) -> None:
    """Move a process back home or, where that is gone, to the root."""
    steps = home.split("/")
    places = ["/sys/fs/cgroup/cgroup.procs"]
    if home.startswith("/") and ".." not in steps:
        places.insert(0, f"/sys/fs/cgroup{home.rstrip('/')}/cgroup.procs")
    for procs in places:
        with contextlib.suppress(OSError):
            knobs.write(procs, pid)
            return


Fate = Literal["restored", "as before", "left alone", "gone", "refused", "not believed"]


class Restored(NamedTuple):
    """What became of one setting; `text` says it in words."""

    path: str
    fate: Fate
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What became of all of them.

    `rebooted`: the host was restarted since, which reset them all. `damaged` lines of the journal could
    not be read.
    """

    settings: tuple[Restored, ...] = ()
    rebooted: bool = False
    damaged: int = 0

    @property
    def settled(self) -> bool:
        """Whether nothing is left to be put back, so that the journal may go."""
        return not self.damaged and not any(
            one.fate in {"refused", "not believed"} for one in self.settings
        )

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "undone": [one._asdict() for one in self.settings],
            "rebooted": self.rebooted,
            "damaged": self.damaged,
            "settled": self.settled,
        }


def undo(story: Story, knobs: Knobs, desk: Desk) -> Undone:
    """Put everything back, and remove the journal when nothing is left to do."""
    boot = knobs.tree.text("/proc/sys/kernel/random/boot_id")
    then = story.head.get("boot")
    if boot is not None and then is not None and boot != then:
        desk.clear()
        return Undone(rebooted=True)
    shown = {f"{line['took']}": line.get("shows") for line in story.lines if "took" in line}
    done = []
    for line in reversed(story.lines):
        if "change" in line:
            done.append(_put_back(line, shown.get(f"{line['change']}"), knobs))
        elif "partition" in line:
            done.append(_partition(line, knobs))
    undone = Undone(settings=tuple(done), damaged=story.damaged + (not story.head))
    if undone.settled:
        desk.clear()
    elif story.kept:  # the doctor would take it for settings that are meant to stay
        desk.go_on()
        desk.add({"undo_failed": True})
    return undone


def _put_back(line: Mapping[str, Any], shown: object, knobs: Knobs) -> Restored:
    path, before, after = (line.get(key) for key in ("path", "before", "after"))
    if not (isinstance(path, str) and isinstance(before, str) and isinstance(after, str)):
        return Restored(f"{path}", "not believed", "the journal's line is none of ours")
    if setting_of(path) is None:
        text = f"{path} is not a setting that tune changes: it is left alone"
        return Restored(path, "not believed", text)
    if plain_value(path, before) != before:
        text = f"{path} does not take a value such as {before[:40]!r}: it is left alone"
        return Restored(path, "not believed", text)
    now = knobs.shown(path)
    if now is None and not knobs.tree.exists(path):
        return Restored(path, "gone", f"{path} is gone: there is nothing to put back")
    if now == before:
        return Restored(path, "as before", f"{path} is {before}, as before")
    if now not in (after, shown):
        text = f"{path} was changed by someone else to {now or 'what cannot be read'}: left alone"
        return Restored(path, "left alone", text)
    why = "it shows another value afterwards"
    try:
        knobs.write(path, before)
    except OSError as error:
        why = error.strerror or "the kernel refused"
    shows = knobs.shown(path)
    if shows == before:
        return Restored(path, "restored", f"{path}: {now} -> {before}")
    return Restored(path, "refused", f"{path} is still {shows}, and should be {before}: {why}")


def _partition(line: Mapping[str, Any], knobs: Knobs) -> Restored:
    home = line.get("home")
    there = knobs.tree.exists(PARTITION)
    problem = remove_partition(
        knobs, home if isinstance(home, str) else "/", branch=line.get("branch") is True
    )
    if problem is not None:
        return Restored(PARTITION, "refused", problem)
    if not there:
        return Restored(PARTITION, "as before", f"there is no {PARTITION}, as before")
    return Restored(PARTITION, "restored", f"{PARTITION}: its CPUs are given back")
