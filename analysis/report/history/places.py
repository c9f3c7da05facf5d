"""Where nights stand beside each other: one place for each, and empty ones for nights without a trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...history.nights.model import missing_before, moment_of

__all__ = ["Begun", "Places", "day_of", "places_of"]

Begun = tuple[str, str]  # when a trial began, "" where nobody knows, and its name

_MOST = 30  # empty places in a row that are drawn


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a page's axis, which all strips share.

    Attributes
    ----------
    of : mapping
        The place of each trial, from 0, by when it began and its name.
    dates : tuple of str
        The day of each place, such as ``2026-11-03``; a trial's name where its day is not known, and
        "" of a night without a trial.
    missing : tuple of int
        The places of nights without a trial.
    cut : int
        Nights without a trial that are not drawn, since there are too many in a row.
    """

    of: Mapping[Begun, int]
    dates: tuple[str, ...]
    missing: tuple[int, ...]
    cut: int = 0

    def __len__(self) -> int:
        return len(self.dates)

    def at(self, place: float) -> float:
        """Give the middle of a place as a share of the axis."""
        return (place + 0.5) / max(1, len(self.dates))


def places_of(trials: Iterable[Begun]) -> Places:
    """Set trials beside each other by when they began, and by their names.

    Where they follow in a rhythm, as nights do, each one that is missing has an empty place.
    """
    ordered = sorted({*trials}, key=_when)
    gaps = missing_before([started or None for started, _ in ordered])
    of: dict[Begun, int] = {}
    dates: list[str] = []
    missing: list[int] = []
    for one, gap in zip(ordered, gaps, strict=True):
        empty = min(gap, _MOST)
        missing += range(len(dates), len(dates) + empty)
        dates += [""] * empty
        of[one] = len(dates)
        dates.append(day_of(*one))
    return Places(of, tuple(dates), tuple(missing), sum(gaps) - len(missing))


def day_of(started: str, trial: str) -> str:
    """Give the day on which a trial began, such as ``2026-11-03``; its name where nobody knows."""
    moment = moment_of(started)
    return trial if moment is None else moment.date().isoformat()


def _when(one: Begun) -> tuple[bool, float, str]:
    moment = moment_of(one[0])
    return moment is None, 0.0 if moment is None else moment.timestamp(), one[1]
