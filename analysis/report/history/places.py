"""Where nights stand beside each other: one place for each, and empty ones for nights without a trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...history.nights.model import missing_before, moment_of

__all__ = ["Begun", "Places", "places_of"]

Begun = tuple[str, str]  # when a trial began, "" where nobody knows, and its name

_MOST = 30  # empty places in a row that are drawn


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a page's axis, which all strips share.

    Attributes
    ----------
    of : mapping
        The place of each trial, from 0, by when it began and its name.
    names : tuple of str
        What each place is called: its day, such as ``2026-11-03``; with the time where a day has several
        nights (``11-03 14:05``), the trial's name where neither tells it; "" of a night without a trial.
    months : tuple of str
        The month of each place, such as ``2026-11``; "" where it is not known.
    missing : tuple of int
        The places of nights without a trial.
    cut : int
        Nights without a trial that are not drawn, since there are too many in a row.
    """

    of: Mapping[Begun, int]
    names: tuple[str, ...]
    months: tuple[str, ...]
    missing: tuple[int, ...]
    cut: int = 0

    def __len__(self) -> int:
        return len(self.names)

    def name(self, started: str | None, trial: str) -> str:
        """Give what a night is called."""
        return self.names[self.of[started or "", trial]]

    def at(self, place: float) -> float:
        """Give the middle of a place as a share of the axis."""
        return (place + 0.5) / max(1, len(self.names))


def places_of(trials: Iterable[Begun]) -> Places:
    """Set trials beside each other by when they began, and by their names.

    Where they follow in a rhythm, as nights do, each one that is missing has an empty place.
    """
    ordered = sorted({*trials}, key=_when)
    gaps = missing_before([started or None for started, _ in ordered])
    called = _called(ordered)
    of: dict[Begun, int] = {}
    names: list[str] = []
    months: list[str] = []
    missing: list[int] = []
    for one, gap, name in zip(ordered, gaps, called, strict=True):
        empty = min(gap, _MOST)
        missing += range(len(names), len(names) + empty)
        of[one] = len(names) + empty
        names += [*[""] * empty, name]
        moment = moment_of(one[0])
        months += [*[""] * empty, "" if moment is None else moment.date().isoformat()[:7]]
    return Places(of, tuple(names), tuple(months), tuple(missing), sum(gaps) - len(missing))


def _called(ordered: Sequence[Begun]) -> list[str]:
    """Name nights by their days, else with the time of day, else by their trials: so that all differ."""
    moments = [moment_of(started) for started, _ in ordered]
    for form in ("%Y-%m-%d", "%m-%d %H:%M"):
        names = [
            trial if moment is None else f"{moment:{form}}"
            for moment, (_, trial) in zip(moments, ordered, strict=True)
        ]
        if len(set(names)) == len(names):
            return names
    return [trial for _, trial in ordered]


def _when(one: Begun) -> tuple[bool, float, str]:
    moment = moment_of(one[0])
    return moment is None, 0.0 if moment is None else moment.timestamp(), one[1]
