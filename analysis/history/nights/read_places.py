"""Reads the trials of nights, one after the other, from what is kept of them where that holds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...announcing import as_one, doing, note
from ...errors import FairtrialError
from ...record.fleet import read_fleet, trial_place
from ...record.fleet_progress import require_campaign
from ...record.manifest import read_manifest
from .kept_nights import KeptNights, Mark, cache_folder, kept_file
from .kept_trial import KeptTrial
from .places import NightPlace
from .trial_values import trial_values

_MANY = 20  # trials after which it matters that they must be read again


@dataclass(frozen=True, slots=True, kw_only=True)
class RawNight:
    """What one place holds: a trial, or those of a fleet by the names of its hosts.

    `commit`: Of a file of another tool, for all of its variants.
    """

    name: str
    path: str
    started_at: str | None
    parts: Mapping[str, KeptTrial]
    fleet: bool = False
    commit: str | None = None

    @property
    def first(self) -> KeptTrial:
        """The trial, or that of the first host."""
        return next(iter(self.parts.values()))

    @property
    def campaign(self) -> str:
        """The campaign's name."""
        return str(self.first.campaign.stated["campaign_name"])

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The hosts of a fleet, sorted; None of a single trial, whose host may change."""
        return tuple(sorted(self.parts)) if self.fleet else None


@dataclass(slots=True)
class NightReader:
    """Reads places, and keeps what it has read beside them."""

    _kept: dict[Path, KeptNights] = field(default_factory=dict)
    _fresh: dict[Path, int] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def told(self, places: Sequence[NightPlace]) -> Iterator[NightPlace]:
        """Give places in their order, and say how far it is."""
        for k, place in enumerate(places):
            doing("reading", k, len(places), "nights")
            yield place

    def night(self, place: NightPlace, metric: str | None = None) -> RawNight | None:
        """Read one place; None where it is left out. `metric` is by default its campaign's question."""
        if place.trouble is not None:
            self.left_out.append((place.name, place.trouble))
            return None
        try:
            with as_one():
                parts = dict(self._parts(place, metric))
        except FairtrialError as error:
            self.left_out.append((place.name, error.what))
            return None
        return RawNight(
            name=place.name,
            path=str(place.path),
            started_at=place.started_at,
            parts=parts,
            fleet=place.kind == "fleet",
        )

    def _parts(self, place: NightPlace, metric: str | None) -> Iterator[tuple[str, KeptTrial]]:
        if place.kind == "trial":
            found = self._trial(place.path, metric)
            yield found.host, found
            return
        fleet = read_fleet(place.path)
        for host in fleet.hosts:
            path = trial_place(place.path, host)
            try:
                require_campaign(fleet, read_manifest(path), path)
                found = self._trial(path, metric)
            except FairtrialError as error:
                error.what = f"its host {host.host} has no value: {error.what}"
                raise
            yield host.host, found

    def _trial(self, path: Path, metric: str | None) -> KeptTrial:
        folder = cache_folder(path)
        kept = self._kept.get(folder)
        if kept is None:
            kept = self._kept[folder] = KeptNights.of(folder)
        found = kept.look_up(path, metric)
        if found is None:
            mark = Mark.of(path)
            found = trial_values(path, metric)
            kept.keep(mark, metric, found)
            self._fresh[folder] = self._fresh.get(folder, 0) + 1
        return found

    def keep(self) -> None:
        """Write what was read to this user's cache; where that is not possible it is read again next time."""
        for folder, kept in self._kept.items():
            if not kept.write() and self._fresh.get(folder, 0) >= _MANY:
                note(f"{kept_file(folder)} cannot be written: the next reading takes as long")


@contextlib.contextmanager
def keeping(reader: NightReader) -> Iterator[NightReader]:
    """Keep what a reader has read, also where the rest of the work is interrupted."""
    try:
        yield reader
    finally:
        reader.keep()
