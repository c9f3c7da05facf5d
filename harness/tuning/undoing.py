"""Puts back what a journal tells, the last change first; what somebody else changed is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .applying import remove_partition
from .journal import Desk, Story
from .knobs import Knobs
from .settings import PARTITION, plain_value, setting_of

Fate = Literal["restored", "as before", "left alone", "gone", "refused", "not believed"]
_UNSETTLED = {"refused", "not believed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What became of one setting; `text` says it in words."""

    path: str
    fate: Fate
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {"path": self.path, "fate": self.fate, "text": self.text}


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
        return not self.damaged and not any(one.fate in _UNSETTLED for one in self.settings)

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "undone": [one.to_dict() for one in self.settings],
            "rebooted": self.rebooted,
            "damaged": self.damaged,
            "settled": self.settled,
        }


def undo(story: Story, knobs: Knobs, desk: Desk) -> Undone:
    """Put everything back, and remove the journal when nothing is left to do.

    Parameters
    ----------
    story : Story
        What the journal tells.
    knobs : Knobs
        The settings.
    desk : Desk
        The journal's folder, held by this process.
    """
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
        return Restored(
            path=f"{path}", fate="not believed", text="the journal's line is none of ours"
        )
    if setting_of(path) is None:
        text = f"{path} is no setting that tuning changes: it is left alone"
        return Restored(path=path, fate="not believed", text=text)
    if plain_value(path, before) != before:
        text = f"{path} takes no value such as {before[:40]!r}: it is left alone"
        return Restored(path=path, fate="not believed", text=text)
    now = knobs.shown(path)
    if now is None and not knobs.tree.exists(path):
        return Restored(
            path=path, fate="gone", text=f"{path} is gone: there is nothing to put back"
        )
    if now == before:
        return Restored(path=path, fate="as before", text=f"{path} is {before}, as before")
    if now not in (after, shown):
        text = f"{path} was changed by someone else to {now or 'what cannot be read'}: left alone"
        return Restored(path=path, fate="left alone", text=text)
    why = "it shows another value afterwards"
    try:
        knobs.write(path, before)
    except OSError as error:
        why = error.strerror or "the kernel refused"
    shows = knobs.shown(path)
    if shows == before:
        return Restored(path=path, fate="restored", text=f"{path}: {now} -> {before}")
    text = f"{path} is still {shows}, and should be {before}: {why}"
    return Restored(path=path, fate="refused", text=text)


def _partition(line: Mapping[str, Any], knobs: Knobs) -> Restored:
    home = line.get("home")
    there = knobs.tree.exists(PARTITION)
    problem = remove_partition(
        knobs, home if isinstance(home, str) else "/", branch=line.get("branch") is True
    )
    if problem is not None:
        return Restored(path=PARTITION, fate="refused", text=problem)
    if not there:
        return Restored(
            path=PARTITION, fate="as before", text=f"there is no {PARTITION}, as before"
        )
    text = f"{PARTITION}: its CPUs are given back"
    return Restored(path=PARTITION, fate="restored", text=text)
