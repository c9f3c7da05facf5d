"""What is counted during runs: the events with their names, and what they cannot stand beside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from analysis.record import ENERGY_METRICS
from analysis.run_numbers import METRIC_NUMBERS

from ...errors import Problem
from ...meters.counters import EVENTS, RawEventError, parse_raw
from ..model import CounterEvent, Counting, Protocol
from ..schema.defaults import Table, completed, fields_of
from ..schema.sections import COUNTERS
from ..source.excerpt import quote
from ..source.yaml_marks import Document, Location
from .matrix import Entry

_KEY = "counters"


class CountingMaker:
    """Makes the counting of a campaign; `problems` collects what is wrong with it.

    Parameters
    ----------
    document : Document
        The file's values and marks.
    defaults : Table
        What holds for keys that are left out.
    entries : iterable of Entry
        The variants and benchmarks: a metric of theirs cannot have an event's name.
    """

    def __init__(self, document: Document, defaults: Table, entries: Iterable[Entry]) -> None:
        self.document = document
        self.defaults = defaults
        self.entries = tuple(entries)
        self.problems: list[Problem] = []

    def counting(self, given: Any, protocol: Protocol) -> Counting | None:  # noqa: ANN401 - a list or a mapping
        """Make the counting of what the campaign holds; None without it.

        Parameters
        ----------
        given : list, dict or None
            The value of the key.
        protocol : Protocol
            The blocks among which it counts.
        """
        if given is None:
            return None
        at: Location = (_KEY,) if isinstance(given, list) else (_KEY, "events")
        values = {"events": given} if isinstance(given, list) else given
        fields = fields_of(COUNTERS, completed(f"{_KEY}.", values, self.defaults))
        known = {name: value for name, value in fields.items() if value is not None}
        events = tuple(self._events(known.pop("events"), at))
        counting = Counting(events=events, **known)
        self._metrics({event.name for event in events})
        self._blocks(counting, protocol)
        return counting

    def _events(self, given: Iterable[Any], at: Location) -> Iterator[CounterEvent]:
        names: set[str] = set()
        for index, one in enumerate(given):
            place: Location = (*at, index)
            event = CounterEvent(name=one) if isinstance(one, str) else CounterEvent(**one)
            if event.raw is not None:
                self._raw(event, place)
                place = (*place, "name")
            if event.name in names:
                self._problem(
                    place, f"the event {quote(event.name)} stands here twice", "delete one"
                )
            names.add(event.name)
            yield event

    def _raw(self, event: CounterEvent, place: Location) -> None:
        try:
            parse_raw(event.raw or "")
        except RawEventError as error:
            what = f"the event {quote(event.raw or '')} {error.what}"
            self._problem((*place, "raw"), what, error.fix)
        if event.name in EVENTS:
            what = f"{quote(event.name)} is an event that is known by this name"
            fix = f"write '- {event.name}' in place of the mapping, or choose another name"
            self._problem((*place, "name"), what, fix)
        elif event.name in METRIC_NUMBERS:
            what = f"{quote(event.name)} is a metric that is always measured"
            self._problem((*place, "name"), what, "choose another name")
        elif event.name in ENERGY_METRICS:
            what = f"{quote(event.name)} is what 'energy: on' measures"
            self._problem((*place, "name"), what, "choose another name")

    def _metrics(self, names: set[str]) -> None:
        """Refuse metrics that are parsed from output and called like an event that is counted."""
        told: set[Location] = set()
        for entry in self.entries:
            for name in entry.given.get("metrics", ()):
                place: Location = (*entry.path, "metrics", name)
                if name in names and place not in told:
                    told.add(place)
                    what = f"the metric {quote(name)} is counted in this campaign (key 'counters')"
                    fix = "choose another name, or leave the event out there"
                    self._problem(place, what, fix, key=True)

    def _blocks(self, counting: Counting, protocol: Protocol) -> None:
        """Refuse what would count nothing, or leave a stopping rule too little to look at."""
        place: Location = (_KEY, "every")
        rule = protocol.stop
        if counting.every > protocol.runs:
            what = f"a session has {protocol.runs} blocks: with every: {counting.every} none is counted"
            self._problem(place, what, "lower it, or give more runs")
        elif rule is not None and counting.uncounted(rule.max_runs) < rule.min_runs:
            left = counting.uncounted(rule.max_runs)
            what = (
                f"of {rule.max_runs} blocks at most, {left} are not counted, and 'stop' looks at"
                f" {rule.min_runs} of those at least"
            )
            self._problem(place, what, "raise 'every' or stop.max_runs")

    def _problem(self, path: Location, what: str, fix: str, *, key: bool = False) -> None:
        self.problems.append(self.document.problem(path, what, fix, key=key))
