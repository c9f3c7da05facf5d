"""What a person watches while a bisection runs: a line a probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from analysis.record.printer import printer_on

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.history.posterior import Posterior
    from analysis.history.search_events import Phase
    from analysis.history.search_result import PairWord

    from ..bisect.bisecting import Question
    from ..bisect.commits import Commit
    from ..bisect.workshop import Built, NotBuilt


class BisectView:
    """Writes to `err`; `quiet` leaves only what must be said."""

    def __init__(self, err: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
        self._err = printer_on(err)
        self._quiet, self._verbose = quiet, verbose
        self.folder: Path | None = None
        self.sessions = 0

    def say(self, text: str) -> None:
        """Write a line, unless quiet."""
        if not self._quiet:
            self.insist(text)

    def insist(self, text: str) -> None:
        """Write a line."""
        self._err.write(f"{text}\n")
        self._err.flush()

    def begins(self, question: Question, folder: Path) -> None:
        """Say what is asked, and where it is stored."""
        self.folder = folder
        asked = question.asked
        self.say(f"bisect {asked.good}..{asked.bad}: {question.commits.last} commits, {folder}")
        self.say("builds execute what the commits contain, with your rights")
        for note in question.notes:
            self.say(f"note    {note}")

    def building(self, commit: Commit) -> None:
        """Say nothing: what is built is said by the workshop."""

    def built(self, found: Built | NotBuilt) -> None:
        """Say what does not build."""
        why = getattr(found, "why", None)
        if why is not None:
            self.say(f"  {found.commit.name}  skipped: {why}")

    def phase(self, phase: Phase) -> None:
        """Say what begins."""
        self.say(f"{phase.kind} {phase.lower}..{phase.upper}")

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        """Say what a session gave."""
        self.sessions += 1
        if posterior is not None:
            self.say(f"  session {self.sessions}: {places}, {posterior.likeliest}")

    def word(self, phase: Phase, word: PairWord) -> None:
        """Say what a look says."""
        self.say(f"  {phase.kind}: {word.word} after {word.sessions} sessions")

    def skipped(self, place: int) -> None:
        """Say nothing: `built` has."""

    def close(self) -> None:
        """End what moves."""
