"""Whether the runs of a cell go on writing the same output, where they did so before."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from analysis.record import MEASUREMENTS, Finding, Outcome

_AGREED = 3  # runs in a row, before another output is news


@dataclass(slots=True)
class _Cell:
    digest: str
    runs: int = 1
    told: bool = False


class Agreement:
    """Follows the hashes of what the runs of each cell write, in the order of the runs.

    Outputs that always differ, such as times, are nothing to tell of. Once runs in a row agreed and
    one does not, something else is measured than before: its input changed, or it fails silently.
    """

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str], _Cell] = {}

    @classmethod
    def of_trial(cls, trial: Path) -> Agreement:
        """Follow a trial from its stored runs on; the store has checked the lines."""
        made = cls()
        with (trial / MEASUREMENTS).open("rb") as file:
            for line in file:
                row = json.loads(line)
                made.add(row["benchmark"], row["variant"], row["outcome"], row.get("stdout_sha256"))
        return made

    def add(
        self, benchmark: str, variant: str, outcome: Outcome, digest: str | None
    ) -> Finding | None:
        """Count a run in; say so if it is the first of its cell that breaks an agreement.

        Parameters
        ----------
        benchmark, variant : str
            The cell.
        outcome : Outcome
            How the run ended; one that failed says nothing here.
        digest : str or None
            The SHA-256 of its standard output.
        """
        if outcome != "ok" or digest is None:
            return None
        cell = self._cells.get((benchmark, variant))
        if cell is None:
            self._cells[benchmark, variant] = _Cell(digest)
            return None
        if digest == cell.digest:
            cell.runs += 1
            return None
        agreed, cell.digest, cell.runs = cell.runs, digest, 1
        if agreed < _AGREED or cell.told:
            return None
        cell.told = True
        return Finding(
            check="output",
            status="warn",
            what=f"{benchmark} / {variant} wrote another output than in its {agreed} runs before",
            where="stdout_sha256",
            fix="look whether its input or its program changed; 'stdout: keep' keeps what it writes",
            reason="runs that give other results are not samples of the same thing",
        )
