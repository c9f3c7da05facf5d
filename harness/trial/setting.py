"""What stays the same over the runs of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..campaign import Campaign, Cell
from ..host import Host
from ..launch import Interrupts, SideCommands
from ..meters.counters import CounterTally
from .launchers import SessionLauncher
from .metering.energy import SessionEnergy


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Everything that stays the same over the runs of a session.

    `environment` is what targets and hooks start from; `outputs` the trial's folder for output;
    `on_threads` hears of a multithreaded target pinned to one CPU; `on_tick` is called while a
    run lasts, a few times a second. `tally` takes what counters gave, `energy` is read before and
    after each run. `deadline` is the monotonic time that no run may pass.
    """

    campaign: Campaign
    seed: int
    segment: int
    launcher: SessionLauncher
    commands: SideCommands
    interrupts: Interrupts
    host: Host
    cpus: tuple[int, ...] | None
    environment: Mapping[str, str]
    executables: Mapping[tuple[str, str], Path]
    outputs: Path
    deadline: float | None
    on_threads: Callable[[Cell, int], None]
    on_tick: Callable[[], None]
    tally: CounterTally | None = None
    energy: SessionEnergy | None = None
