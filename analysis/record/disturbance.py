"""Which run is disturbed, and which row of a run that was repeated is judged: rules fixed before the data.

Neither looks at how long a run took compared with others: what is chosen by its value is biased.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .trial_files import Stored

SHARE = 0.005  # of its wall time; a run that waited for longer than that and than
LEAST_NS = 50_000  # this, in nanoseconds, is disturbed
MOST_REPEATS = 2  # of a run


def waited_ns(
    run_delay_ns: int | None, launcher_delay_ns: int | None, launcher_on_cpu_ns: int | None
) -> int | None:
    """Give how long a run waited for a CPU that somebody else had, in nanoseconds."""
    if run_delay_ns is None or launcher_delay_ns is None or launcher_on_cpu_ns is None:
        return None
    return run_delay_ns + launcher_delay_ns - launcher_on_cpu_ns


def is_disturbed(wall_ns: int | None, waited_ns: int | None) -> bool | None:
    """Tell whether a run waited for more than max(0.5 %, 50 us) of its wall time."""
    if wall_ns is None or waited_ns is None:
        return None
    return waited_ns > max(SHARE * wall_ns, LEAST_NS)


def service_disturbed(
    wall_ns: int | None, wait_ns: int | None, others_ns: int | None
) -> bool | None:
    """Tell whether a service waited for longer than that during a run.

    `wait_ns` is how long all its threads waited, also for each other; `others_ns` the least that one of them
    waited for somebody else. Between the two nobody knows.
    """
    if wait_ns is None or others_ns is None:
        return None
    if is_disturbed(wall_ns, others_ns):
        return True
    return None if is_disturbed(wall_ns, wait_ns) is not False else False


def together(parts: Iterable[bool | None]) -> bool | None:
    """Tell whether a run or one of its services was disturbed; None where none was, and one of them is unknown."""
    found = tuple(parts)
    return True if True in found else None if None in found else False


def judged_row(disturbed: Iterable[bool | None]) -> int:
    """Choose among the rows of one run: the first that is known to be undisturbed, else the first."""
    return next((place for place, one in enumerate(disturbed) if one is False), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbances(Stored):
    """How many measured runs were disturbed. Warm-ups and runs that failed are not counted.

    `known` is of how many runs it is known, `disturbed` how many of those were, `repeats` how many
    rows repeat one, and `mended` how many disturbed runs have an undisturbed row after all.
    """

    known: int
    disturbed: int
    repeats: int
    mended: int


class DisturbanceTally:
    """Counts disturbed runs, row by row in the order of execution."""

    def __init__(self) -> None:
        self._known = self._disturbed = self._repeats = 0
        self._mended: set[int] = set()

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row as it is stored; its shape was checked."""
        disturbed, repeats = row.get("disturbed"), row.get("repeats")
        if repeats is not None:
            self._repeats += 1
            if disturbed is False:
                self._mended.add(repeats)
            return
        measured = row["position"] >= 0 and not row["warmup"] and row["outcome"] == "ok"
        if measured and disturbed is not None:
            self._known += 1
            self._disturbed += disturbed

    @property
    def counts(self) -> Disturbances:
        """What was counted so far."""
        return Disturbances(
            known=self._known,
            disturbed=self._disturbed,
            repeats=self._repeats,
            mended=len(self._mended),
        )
