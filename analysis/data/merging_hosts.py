"""Writes the fleet that trials of several hosts were put together to: each is copied whole."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import StoreError, UsageError
from ..pages import number_format as figures
from ..record.fleet import (
    FLEET,
    Fleet,
    FleetHost,
    is_fleet,
    is_held,
    read_fleet,
    trial_place,
    write_fleet,
)
from ..record.manifest import appearing, read_manifest
from ..record.trial_files import MANIFEST, Manifest, Stored
from ..words import next_lines
from .columns import verify_files
from .merging import MergedPart, merge_trials, read_part, require_distinct, require_one_campaign
from .trial import read_trial

Way = Literal["sessions", "fleet"]
_UNKNOWN = "unknown"  # the id of a host whose machine id could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTrial:
    """A trial that is put together with others; `host` is its node's name."""

    path: Path
    host: str
    host_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedHost(Stored):
    """A host of a fleet that was put together; several `trials` became sessions of one."""

    host: str
    host_id: str
    trial: str
    trials: tuple[str, ...]
    sessions: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedFleet:
    """A fleet that was put together."""

    fleet: Path
    hosts: tuple[MergedHost, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {"fleet": str(self.fleet), "hosts": [one.to_dict() for one in self.hosts]}

    def __str__(self) -> str:
        """Write it for a person."""
        lines = [f"{self.fleet}: a fleet of {figures.counted(len(self.hosts), 'host')}"]
        for one in self.hosts:
            made = "" if len(one.trials) == 1 else f", of {len(one.trials)} trials"
            lines.append(
                f"  {one.host:<18} {figures.counted(one.sessions, 'session')}, "
                f"{one.runs} runs{made}"
            )
        return "\n".join([*lines, *next_lines(("fairtrial", "verdict", str(self.fleet)))])


def named_trials(paths: Sequence[Path]) -> tuple[NamedTrial, ...]:
    """Name the trials that are meant: a fleet stands for those of its hosts that have one."""
    found: list[NamedTrial] = []
    for path in paths:
        if not is_fleet(path):
            manifest = read_manifest(path)
            found.append(NamedTrial(path=path, host=_own_name(manifest), host_id=manifest.host_id))
            continue
        own = list(_of_fleet(path))
        if not own:
            raise UsageError("no host of this fleet has a trial", str(path), "leave it out")
        found += own
    return tuple(found)


def _of_fleet(path: Path) -> Iterator[NamedTrial]:
    for host in read_fleet(path).hosts:
        trial = trial_place(path, host)
        if os.path.lexists(trial / MANIFEST):
            manifest = read_manifest(trial)
            own = _own_name(manifest)
            # as a merge called it: further trials of the host are then found to be of the same one
            labels = {_folder_name(name) for name in (own, f"{own}-{manifest.host_id[:8]}")}
            label = host.host if own in labels else re.sub(r"(-2)+$", "", host.host)
            name = own if label in labels else host.host
            yield NamedTrial(path=trial, host=name, host_id=manifest.host_id)


def _own_name(manifest: Manifest) -> str:
    """Name a trial's host: nodes of one machine, or of cloned images, as the scheduler calls them."""
    return manifest.node or manifest.host


def way_of(trials: Sequence[NamedTrial], *, asked: Way | None, fleets: bool) -> Way:
    """Decide whether trials become the sessions of one, or the hosts of a fleet.

    On one host id they become sessions, on several a fleet. Where one id has several names both would
    do: cloned images share an id, and a host may have been renamed.
    """
    if asked is not None:
        return asked
    if fleets or len({one.host_id for one in trials}) > 1:
        return "fleet"
    names = sorted({one.host for one in trials})
    if len(names) > 1:
        raise UsageError(
            f"these trials have one host id and the names {', '.join(names[:4])}: it may be one host "
            "that was renamed, or several of one cloned image",
            " ".join(str(one.path) for one in trials[:4]),
            "say which: --as sessions (one host), or --as fleet (a host a name)",
        )
    return "sessions"


def merge_hosts(
    trials: Sequence[NamedTrial], folder: Path, *, accept_drift: bool = False
) -> MergedFleet:
    """Put trials of one campaign together as the hosts of a fleet.

    Hosts are told apart by name and id. Trials are copied as they are, finished or not; several of one
    host become the sessions of one, as `merge_trials` does it.
    """
    folder = Path(folder)
    if os.path.lexists(folder):
        raise UsageError("something is there already", str(folder), "name a folder that is not")
    parts = [_readable(one) for one in trials]
    for other in parts[1:]:
        require_one_campaign(parts[0], other)
    require_distinct(parts)
    groups = _groups(trials)
    by_path = {part.path: part for part in parts}
    hosts = []
    with appearing(folder) as fresh:
        for label, those in groups.items():
            place = fresh / label
            if len(those) == 1:
                _copy(those[0].path, place)
            else:
                merge_trials([one.path for one in those], place, accept_drift=accept_drift)
            sessions, rows = _held(place, [by_path[one.path] for one in those])
            hosts.append(
                MergedHost(
                    host=label,
                    host_id=those[0].host_id,
                    trial=str(folder / label),
                    trials=tuple(str(one.path) for one in those),
                    sessions=sessions,
                    runs=rows,
                )
            )
        identity, *others = dict.fromkeys(part.manifest.campaign_sha256 for part in parts)
        fleet = Fleet(
            campaign=parts[0].manifest.campaign_name,
            identity=identity,
            submitted_at=None,
            script=None,
            hosts=tuple(FleetHost(host=label, jobs=(), trial=label) for label in groups),
            identities=tuple(others),
        )
        write_fleet(fresh, fleet)
    return MergedFleet(fleet=folder, hosts=tuple(hosts))


def _readable(one: NamedTrial) -> MergedPart:
    part = read_part(one.path)
    if part.manifest.status == "running" and is_held(one.path):
        raise StoreError(
            "this trial is being written",
            str(one.path),
            "wait until it is done, or stop it: what is there is kept",
        )
    return part


def _groups(trials: Sequence[NamedTrial]) -> dict[str, list[NamedTrial]]:
    hosts: dict[tuple[str, str], list[NamedTrial]] = {}
    for one in trials:
        hosts.setdefault((one.host, one.host_id), []).append(one)
    names = [host for host, _ in hosts]
    found: dict[str, list[NamedTrial]] = {}
    for (host, host_id), those in hosts.items():
        several = names.count(host) > 1
        if host_id == _UNKNOWN and (several or len(those) > 1):
            raise StoreError(
                f"whether these trials of {host} are of one host is unknown: its machine id could "
                "not be read",
                " and ".join(str(one.path) for one in trials if one.host == host),
                "leave out all but one of them",
            )
        label = _folder_name(f"{host}-{host_id[:8]}" if several else host)
        while label in found:
            label += "-2"
        found[label] = those
    return found


def _folder_name(text: str) -> str:
    """Make a name that every file system takes, that is not hidden, and not the fleet's record's."""
    name = re.sub(r"[^A-Za-z0-9._+-]", "-", text).lstrip(".-")[:100] or "host"
    return f"host-{name}" if name.lower() == FLEET else name


def _copy(trial: Path, place: Path) -> None:
    """Copy a trial; links and what is no plain file were not made by the runner, and stay behind."""

    def others(folder: str, names: list[str]) -> list[str]:
        return [
            name
            for name in names
            if (path := Path(folder) / name).is_symlink() or not (path.is_file() or path.is_dir())
        ]

    shutil.copytree(trial, place, ignore=others)


def _held(place: Path, parts: Sequence[MergedPart]) -> tuple[int, int]:
    """Count sessions and runs of a host's trial, whatever was written into its sources meanwhile."""
    manifest = read_manifest(place)
    if len(parts) == 1 and manifest == parts[0].manifest and manifest.files:
        for _ in verify_files(place, manifest):  # the same bytes hold the same runs
            pass
        return parts[0].sessions, parts[0].rows
    trial = read_trial(place)
    return trial.sessions, len(trial)
