"""Who follows a trial: what it is told while the trial goes on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from analysis.record import Finding, Measurement, PlannedRun, SessionEnd

from ..campaign import Campaign
from .preparation import Prepared


class Watcher(Protocol):
    """Follows a trial; nothing that it does may disturb a run, or raise."""

    def say(self, text: str) -> None:
        """Hear of something in words, such as a build that begins."""

    def opened(self, trial: Path, campaign: Campaign, prepared: Prepared) -> None:
        """Hear where the trial is stored, what is executed and on which host."""

    def begin(self, total: int, done: int, sessions: int) -> None:
        """Hear that sessions begin: planned runs in all, those that are there already."""

    def findings(self, findings: Iterable[Finding]) -> None:
        """Hear what was found on the host, good or bad."""

    def run_started(self, run: PlannedRun) -> None:
        """Hear which run comes next."""

    def tick(self) -> None:
        """Take the time to look, a few times a second, while a run lasts."""

    def run_done(self, measurement: Measurement) -> None:
        """Hear what came out."""

    def session_ended(self, end: SessionEnd, total: int) -> None:
        """Hear why a session under a stopping rule ended; `total` runs are now the most."""

    def total_changed(self, total: int) -> None:
        """Hear that `total` runs are now the most, because a cell was given up."""

    def end(self) -> None:
        """Hear that no run follows."""
