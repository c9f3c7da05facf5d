"""Writes the fleet that trials of several hosts were put together to: each is copied whole."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..data import read_trial, verify_files
from ..errors import StoreError, UsageError
from ..record import (
    FLEET,
    MANIFEST,
    Fleet,
    FleetHost,
    Manifest,
    appearing,
    is_fleet,
    is_held,
    read_fleet,
    read_manifest,
    trial_place,
    write_fleet,
)
from ..report import figures
from .assembly import merge_trials
from .parts import Part, read_part, require_one_campaign
from .programs import other_programs

__all__ = ["MergedFleet", "MergedHost", "Named", "Way", "merge_hosts", "named_trials", "way_of"]

Way = Literal["sessions", "fleet"]
_CELLS, _ODD = 3, 8  # of what is told of other programs
_UNKNOWN = "unknown"  # the id of a host whose machine id could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A trial that is put together with others; `host` is its node's name."""

    path: Path
    host: str
    host_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedHost:
    """A host of a fleet that was put together; several `trials` became sessions of one."""

    host: str
    host_id: str
    trial: Path
    trials: tuple[str, ...]
    sessions: int
    runs: int

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "host": self.host,
            "host_id": self.host_id,
            "trial": str(self.trial),
            "trials": list(self.trials),
            "sessions": self.sessions,
            "runs": self.runs,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedFleet:
    """A fleet that was put together.

    `other_programs` names the hosts that did not execute what most of them did, with the benchmarks and
    variants.
    """

    fleet: Path
    hosts: tuple[MergedHost, ...]
    other_programs: Mapping[str, tuple[str, ...]]

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return {
            "fleet": str(self.fleet),
            "hosts": [one.to_dict() for one in self.hosts],
            "other_programs": {host: list(cells) for host, cells in self.other_programs.items()},
        }

    def __str__(self) -> str:
        """Write it for a person."""
        count = len(self.hosts)
        lines = [f"{self.fleet}: a fleet of {count} host{'s' * (count != 1)}"]
        for one in self.hosts:
            made = "" if len(one.trials) == 1 else f", of {len(one.trials)} trials"
            lines.append(
                f"  {one.host:<18} {one.sessions} session{'s' * (one.sessions != 1)}, "
                f"{one.runs} runs{made}"
            )
        if self.other_programs:
            lines.append(
                "not the same programs on all hosts, by their SHA-256; otherwise than most:"
            )
            for host, cells in [*self.other_programs.items()][:_ODD]:
                lines.append(f"  {host:<18} {figures.listed(cells, _CELLS)}")
            more = len(self.other_programs) - _ODD
            if more > 0:
                lines.append(f"  and {more} more host{'s' * (more > 1)} (--json)")
        return "\n".join([*lines, f"next: fairtrial verdict {self.fleet}"])


def named_trials(paths: Sequence[Path]) -> tuple[Named, ...]:
    """Name the trials that are meant: a fleet stands for those of its hosts that have one.

    Raises
    ------
    UsageError
        If a fleet has no trial.
    StoreError
        If one is no trial and no fleet, or cannot be trusted.
    """
    found: list[Named] = []
    for path in paths:
        if not is_fleet(path):
            manifest = read_manifest(path)
            found.append(Named(path=path, host=_own_name(manifest), host_id=manifest.host_id))
            continue
        own = list(_of_fleet(path))
        if not own:
            raise UsageError("no host of this fleet has a trial", str(path), "leave it out")
        found += own
    return tuple(found)


def _of_fleet(path: Path) -> Iterator[Named]:
    for host in read_fleet(path).hosts:
        trial = trial_place(path, host)
        if os.path.lexists(trial / MANIFEST):
            manifest = read_manifest(trial)
            own = _own_name(manifest)
            # as a merge called it: further trials of the host are then found to be of the same one
            labels = {_folder_name(name) for name in (own, _with_id(own, manifest.host_id))}
            label = host.host if own in labels else re.sub(r"(-2)+$", "", host.host)
            name = own if label in labels else host.host
            yield Named(path=trial, host=name, host_id=manifest.host_id)


def _own_name(manifest: Manifest) -> str:
    """Name a trial's host: nodes of one machine, or of cloned images, as the scheduler calls them."""
    return manifest.node or manifest.host


def _with_id(host: str, host_id: str) -> str:
    return f"{host}-{host_id[:8]}"


def way_of(trials: Sequence[Named], *, asked: Way | None, fleets: bool) -> Way:
    """Decide whether trials become the sessions of one, or the hosts of a fleet.

    On one host id they become sessions, on several a fleet. Where one id has several names both would
    do: cloned images share an id, and a host may have been renamed.

    Parameters
    ----------
    trials : sequence of Named
        All of them.
    asked : {"sessions", "fleet"} or None
        What ``--as`` says.
    fleets : bool
        Whether a fleet is among the sources.

    Raises
    ------
    UsageError
        If both would do, and nobody has said which.
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
    trials: Sequence[Named], folder: Path, *, accept_drift: bool = False
) -> MergedFleet:
    """Put trials of one campaign together as the hosts of a fleet.

    Hosts are told apart by name and id. Trials are copied as they are, finished or not; several of one
    host become the sessions of one, as `merge_trials` does it.

    Parameters
    ----------
    trials : sequence of Named
        As `named_trials` gives them; they are only read.
    folder : Path
        The fleet's folder, which must not be there. It appears whole or not at all.
    accept_drift : bool, optional
        For hosts with several trials, as in `merge_trials`.

    Raises
    ------
    UsageError
        If the folder is there, or a trial stands there twice.
    StoreError
        If a trial is damaged, being written or imported, if they are not of one campaign, if trials of
        one name cannot be told apart, or if the folder cannot be written.
    """
    folder = Path(folder)
    if os.path.lexists(folder):
        raise UsageError("something is there already", str(folder), "name a folder that is not")
    parts = [_readable(one) for one in trials]
    for other in parts[1:]:
        require_one_campaign(parts[0], other)
    _require_distinct(parts)
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
                    trial=folder / label,
                    trials=tuple(str(one.path) for one in those),
                    sessions=sessions,
                    runs=rows,
                )
            )
        write_fleet(fresh, _record(parts, [one.host for one in hosts]))
    return MergedFleet(
        fleet=folder,
        hosts=tuple(hosts),
        other_programs=other_programs(
            {label: [by_path[one.path] for one in those] for label, those in groups.items()}
        ),
    )


def _readable(one: Named) -> Part:
    part = read_part(one.path)
    if part.manifest.status == "running" and is_held(one.path):
        raise StoreError(
            "this trial is being written",
            str(one.path),
            "wait until it is done, or stop it: what is there is kept",
        )
    return part


def _require_distinct(parts: Sequence[Part]) -> None:
    seen: dict[str, Part] = {}
    for part in parts:
        for name in part.names:
            if name in seen:
                what = f"the runs of trial {name} are in {seen[name].path} and in {part.path}"
                raise UsageError(what, None, "name each trial once")
            seen[name] = part


def _groups(trials: Sequence[Named]) -> dict[str, list[Named]]:
    """Give the trials of each host by the name of its folder."""
    hosts: dict[tuple[str, str], list[Named]] = {}
    for one in trials:
        hosts.setdefault((one.host, one.host_id), []).append(one)
    names = [host for host, _ in hosts]
    found: dict[str, list[Named]] = {}
    for (host, host_id), those in hosts.items():
        several = names.count(host) > 1
        if host_id == _UNKNOWN and (several or len(those) > 1):
            raise StoreError(
                f"whether these trials of {host} are of one host is unknown: its machine id could "
                "not be read",
                " and ".join(str(one.path) for one in trials if one.host == host),
                "leave out all but one of them",
            )
        label = _folder_name(_with_id(host, host_id) if several else host)
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


def _held(place: Path, parts: Sequence[Part]) -> tuple[int, int]:
    """Count sessions and runs of a host's trial, whatever was written into its sources meanwhile."""
    manifest = read_manifest(place)
    if len(parts) == 1 and manifest == parts[0].manifest and manifest.files:
        for _ in verify_files(place, manifest):  # the same bytes hold the same runs
            pass
        return parts[0].sessions, parts[0].rows
    trial = read_trial(place)
    return trial.sessions, len(trial)


def _record(parts: Sequence[Part], hosts: Sequence[str]) -> Fleet:
    found: Mapping[str, None] = dict.fromkeys(part.manifest.campaign_sha256 for part in parts)
    first, *more = found
    return Fleet(
        campaign=parts[0].manifest.campaign_name,
        identity=first,
        submitted_at=None,
        script=None,
        hosts=tuple(FleetHost(host=host, jobs=(), trial=host) for host in hosts),
        identities=tuple(more),
    )
