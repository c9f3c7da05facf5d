"""From a look at the host to settings that are changed, and back: what the command `tune` does."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from analysis.record.manifest import utc_now

from ..errors import HostError
from ..host.checks import check_before, check_between
from ..host.placement import choose_cpus
from ..host.reader import Host
from ..host.state import Situation
from ..trial.locks import cpus_in_use
from .changes import (
    Applied,
    Knobs,
    Undone,
    apply_change,
    apply_partition,
    move,
    undo,
)
from .executing import Caller, Guardian, Signals, spawn
from .journal import FOLDER, Desk
from .proposal import PARTITION, CpusetPartition, Proposal, Scene, Wish, propose

LOOK_S = 0.5
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What was done. `code` is how the command ended, `undone` what was put back at the end.

    Both are None where there was none; `stopped` is the signal that ended it before its time.
    """

    applied: tuple[Applied, ...] = ()
    undone: Undone | None = None
    code: int | None = None
    stopped: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "applied": [one.to_dict() for one in self.applied],
            "undone": None if self.undone is None else self.undone.to_dict(),
            "command_exit": self.code,
            "stopped": self.stopped,
        }


def survey(wish: Wish, root: Path = Path("/"), *, look_s: float | None = None) -> Proposal:
    """Look at the host, as the doctor does, and say what would be changed."""
    look_s = LOOK_S if look_s is None else look_s
    with Host(root) as host:
        first = host.read()
        plan = choose_cpus(
            wish.setting, first.topology, usable=first.usable, isolated=first.isolated
        )
        measured = plan.targets or first.usable
        before = host.counters(measured)
        time.sleep(look_s)
        state, after = host.read(measured), host.counters(measured)
        situation = Situation(state=state, counters=after, cpus=measured)
        findings = {finding.check: finding for finding in check_before(situation)}
        if look_s:
            for moving in check_between(before, after, look_s, cpus=measured):
                if moving.status in {"warn", "fail"}:
                    findings[moving.check] = moving
    return propose(
        Scene(
            state=state,
            tree=Knobs(root).tree,
            findings=findings,
            plan=plan,
            wish=wish,
            busy=cpus_in_use(),
        )
    )


def tune(
    proposal: Proposal,
    root: Path = Path("/"),
    *,
    argv: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    caller: Caller | None = None,
    tell: Tell = lambda _line: None,
    knobs: Knobs | None = None,
) -> Tuned:
    """Change what was proposed; with a command, execute it and put everything back."""
    given = os.environ if environment is None else environment

    def say(line: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # its terminal may be gone
            tell(line)

    if not proposal.count:
        with Signals() as signals:
            return Tuned(code=signals.wait(spawn(argv, given, caller)) if argv else None)
    if root == Path("/"):
        refuse_to_spoil(cpus_in_use())  # once more: somebody may have thought about it for long
    knobs = knobs or Knobs(root)
    with contextlib.closing(Desk(root)) as desk, Signals() as signals:
        desk.begin(
            {
                "boot": knobs.tree.text("/proc/sys/kernel/random/boot_id"),
                "pid": os.getpid(),
                "started": utc_now(),
                "kept": not argv,
            }
        )
        try:
            guardian = Guardian(lambda: _after_death(desk, knobs, say))
        except OSError as error:
            desk.clear()
            what = f"the guardian cannot be started, so nothing is changed: {error.strerror}"
            raise HostError(what) from error
        code = None
        keeps = False
        try:
            applied = tuple(_applied(proposal, knobs, desk, signals, say))
            if signals.number is None:
                desk.add({"finished": len(applied)})
                if argv:
                    made = [one.item for one in applied if one.result == "changed"]
                    inside = proposal.partition if "partition" in made else None
                    code = signals.wait(
                        spawn(argv, given, caller)
                        if inside is None
                        else _spawned_inside(argv, given, caller, knobs, inside)
                    )
            keeps = not argv and signals.number is None
        finally:
            undone = None if keeps else _put_back(desk, knobs, say)
            guardian.dismiss()
    stopped = signals.number if code is None else None
    return Tuned(applied=applied, undone=undone, code=code, stopped=stopped)


def refuse_to_spoil(busy: tuple[int, ...] | None) -> None:
    """Refuse to change anything while trials measure."""
    if busy:
        raise HostError(
            f"a trial measures on CPU {', '.join(map(str, busy))} of this host: a change of "
            "settings in the middle would spoil it",
            "/proc/net/unix",
            "wait until it ends: fairtrial status",
        )


def _applied(
    proposal: Proposal, knobs: Knobs, desk: Desk, signals: Signals, tell: Tell
) -> Iterator[Applied]:
    steps = [partial(apply_change, one, k) for k, one in enumerate(proposal.changes)]
    if proposal.partition is not None:
        steps.append(partial(apply_partition, proposal.partition))
    for step in steps:
        if signals.number is None:
            one = step(knobs, desk)
            tell(str(one))
            yield one


def _spawned_inside(
    argv: Sequence[str],
    environment: Mapping[str, str],
    caller: Caller | None,
    knobs: Knobs,
    partition: CpusetPartition,
) -> subprocess.Popen[bytes]:
    procs, us = f"{PARTITION}/cgroup.procs", str(os.getpid())
    try:
        knobs.write(procs, us)
    except OSError as error:
        what = f"nothing may be moved into the isolated partition: {error.strerror}"
        raise HostError(what, procs) from error
    try:
        return spawn(argv, environment, caller)
    finally:
        move(knobs, us, partition.home)


def _put_back(desk: Desk, knobs: Knobs, tell: Tell) -> Undone | None:
    story = desk.read()
    if story is None:
        return None
    undone = undo(story, knobs, desk)
    for line in lines_of(undone):
        tell(line)
    return undone


def _after_death(desk: Desk, knobs: Knobs, tell: Tell) -> None:
    tell("tune died: its guardian puts the settings back")
    _put_back(desk, knobs, tell)
    desk.close()


def lines_of(undone: Undone) -> list[str]:
    """Say what was put back, and what not."""
    if undone.rebooted:
        return ["the host was restarted since then: all its settings are back"]
    lines = [f"{one.fate:<11} {one.text}" for one in undone.settings]
    if undone.damaged:
        lines.append("some lines of the journal cannot be read: what they name is not put back")
    return lines


def undo_tuning(root: Path = Path("/"), *, knobs: Knobs | None = None) -> Undone | None:
    """Put back what a tune changed that is kept, or that died; None where there is nothing."""
    if not os.path.lexists(root / FOLDER.lstrip("/")):
        return None
    with contextlib.closing(Desk(root, make=False)) as desk:
        story = desk.read()
        return None if story is None else undo(story, knobs or Knobs(root), desk)
