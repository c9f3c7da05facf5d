"""Whether a program or its host changed in an interval, by the records of neighbouring trials and by the baseline."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..changes import ChangeInterval
from ..nights.host_changes import host_changes
from ..nights.model import Night, NightSeries
from .result import Cause, HostChange

_Pair = tuple[str, str, str, str]


class HostRecords:
    """How the records of the host differ between neighbouring trials; each pair is compared once."""

    def __init__(self) -> None:
        self._known: dict[_Pair, tuple[str, ...]] = {}

    def between(self, old: Night, new: Night) -> tuple[str, ...]:
        """Say how two nights differ, a sentence each; nothing where one of them has no record."""
        pair = (old.trial, old.path, new.trial, new.path)
        if pair not in self._known:
            same = old.host_facts == new.host_facts
            self._known[pair] = () if same else tuple(one.what for one in host_changes(old, new))
        return self._known[pair]

    def inside(self, series: NightSeries, first: int, last: int) -> tuple[str, ...]:
        """Say what differs between neighbours from value `first` to value `last`, each sentence once."""
        nights = series.nights[first : last + 1]
        said = (what for old, new in itertools.pairwise(nights) for what in self.between(old, new))
        return tuple(dict.fromkeys(said))

    def along(self, series: Sequence[NightSeries]) -> tuple[HostChange, ...]:
        """Give all changes of the host, in the order of time."""
        found: dict[str, tuple[Night, dict[str, None]]] = {}
        for one in series:
            for old, new in itertools.pairwise(one.nights):
                if what := self.between(old, new):
                    found.setdefault(new.trial, (new, {}))[1].update(dict.fromkeys(what))
        ordered = sorted(found.values(), key=lambda pair: (pair[0].started_at or "", pair[0].trial))
        return tuple(
            HostChange(trial=night.trial, started_at=night.started_at, what=tuple(what))
            for night, what in ordered
        )


def overlaps(one: ChangeInterval, other: ChangeInterval) -> bool:
    """Tell whether two intervals share a place."""
    return one.first <= other.last and other.first <= one.last


def cause_of(*, paired: bool, environment: Sequence[str], baseline_changed: bool) -> Cause:
    """Name what changed in an interval of a series."""
    if not paired:
        return "host-or-program"
    return "both" if environment or baseline_changed else "program"
