"""``fleet.json``: which trials of one campaign belong together, one for each host.

A folder with this file is a fleet; below it lies one ordinary trial a host. It is written whole before
the first job can start, and replaced whole when jobs are added. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import StoreError
from .shapes import ShapeError, document_of, is_writable, shaped
from .trial_files import Stored

FLEET = "fleet.json"
FLEET_SCHEMA = 1
_RESTORE = "restore the file from a copy, or put the trials together again: fairtrial merge TRIAL... -o FOLDER"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetHost(Stored):
    """One host of a fleet.

    `host` is the node's name, by which hosts are told apart; `jobs` are the scheduler's ids as texts,
    oldest first, none where the trial was copied by hand; `trial` is the trial's folder, relative to
    the fleet's, with slashes. `further` holds the keys of a later version.
    """

    host: str
    jobs: tuple[str, ...]
    trial: str
    further: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet(Stored):
    """``fleet.json``: the trials of one campaign on several hosts.

    `campaign` is its name, `identity` the SHA-256 of its parsed content, as in each trial's manifest
    (``campaign_sha256``). `submitted_at` is a time (RFC 3339, UTC) and `script` the batch script;
    both are None where nothing was submitted, because the trials were put together by hand. Those may
    differ in what no comparison minds, such as the seed: then `identities` names the further ones.
    `further` holds the keys of a later version, which are kept when the file is written again.
    """

    schema: int = FLEET_SCHEMA
    campaign: str
    identity: str
    submitted_at: str | None
    script: str | None
    hosts: tuple[FleetHost, ...]
    identities: tuple[str, ...] = ()
    further: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its hosts, in their order."""
        return tuple(one.host for one in self.hosts)

    def with_job(self, host: str, job: str) -> Fleet:
        """Give the fleet with one more job for a host; jobs stand there oldest first."""
        if host not in self.names:
            raise KeyError(host)
        return replace(
            self,
            hosts=tuple(
                replace(one, jobs=(*one.jobs, job)) if one.host == host else one
                for one in self.hosts
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the fleet as JSON types."""
        data = Stored.to_dict(self)
        if not self.identities:
            del data["identities"]
        return data


def is_fleet(path: str | Path) -> bool:
    """Tell whether a folder holds ``fleet.json``; what cannot be looked at is none."""
    try:
        return os.path.isdir(path) and os.path.lexists(os.path.join(path, FLEET))  # noqa: PTH112, PTH118 - Path raises on a name that is too long
    except ValueError:  # a zero byte
        return False


def fleet_text(fleet: Fleet) -> bytes:
    """Give the bytes of ``fleet.json``."""
    return json.dumps(fleet.to_dict(), indent=2, allow_nan=False).encode() + b"\n"


def read_fleet(folder: Path) -> Fleet:
    """Read ``fleet.json`` of a folder."""
    path = folder / FLEET
    if not os.path.lexists(path):
        raise StoreError(
            "this is not a fleet: it has no fleet.json",
            str(folder),
            "name a folder that 'fairtrial submit' or 'fairtrial merge' wrote, such as runs/NAME",
        )
    data = document_of(path, "fleet", _RESTORE)
    if data["schema"] > FLEET_SCHEMA:
        raise StoreError(
            f"the fleet has a newer schema than {FLEET_SCHEMA}, the newest known here",
            str(path),
            "use the fairtrial version that wrote it, or a newer one",
        )
    try:
        fleet = shaped(Fleet, data)
        _check(fleet)
    except ShapeError as error:
        raise StoreError(f"the fleet is damaged: {error}", str(path), _RESTORE) from None
    return fleet


def write_fleet(folder: Path, fleet: Fleet) -> None:
    """Write ``fleet.json`` whole: a reader sees the old file or the new one, also after a power cut."""
    path = folder / FLEET
    try:
        _check(fleet)
    except ShapeError as error:
        raise StoreError(f"this fleet cannot be written: {error}", str(path)) from None
    fresh = None
    try:
        fd, fresh = tempfile.mkstemp(prefix=f".{FLEET}.", dir=folder)
        with os.fdopen(fd, "wb") as file:
            # whoever may read the folder may read it, as in a trial
            os.fchmod(fd, os.stat(folder).st_mode & 0o666)  # noqa: PTH116 - as the rest
            file.write(fleet_text(fleet))
            file.flush()
            os.fsync(file.fileno())
        Path(fresh).replace(path)
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(place)
        finally:
            os.close(place)
    except OSError as error:
        if fresh is not None:
            with contextlib.suppress(OSError):
                Path(fresh).unlink()
        raise StoreError(
            f"the fleet cannot be written: {error.strerror or error}",
            str(path),
            "free some space, or see that you may write there",
        ) from error


def trial_place(folder: Path, host: FleetHost) -> Path:
    """Give the folder of a host's trial, which need not be there yet."""
    path = folder / host.trial
    try:
        place = path.resolve()
        inside = not _leaves(host.trial) and place.is_relative_to(folder.resolve())
        inside = inside and not place.is_symlink()  # a circle, of which Python 3.13 gives the begin
    except (OSError, RuntimeError, ValueError):  # a circle
        inside = False
    if not inside:
        raise StoreError(
            f"the trial of host {host.host!r} lies outside of the fleet: {host.trial!r}",
            str(folder / FLEET),
            "a fleet holds its trials: copy the trial into it, or put the trials together again "
            "with "
            "'fairtrial merge TRIAL... -o FOLDER'",
        )
    return path


def _leaves(trial: str) -> bool:
    parts = PurePosixPath(trial).parts
    return not parts or parts[0] == "/" or ".." in parts or "\0" in trial


def _obeyed(name: str) -> bool:
    """Tell whether a name holds what ends a line, or another control."""
    return any(ord(char) < 32 or ord(char) == 127 for char in name)


def _check(fleet: Fleet) -> None:
    """Hold the parts of a fleet against each other: readers go by its names and paths."""
    hosts = fleet.hosts
    named = (fleet.campaign, *fleet.names, *(one.trial for one in hosts))
    places = [PurePosixPath(one.trial) for one in hosts if not _leaves(one.trial)]
    outside = [one for one in hosts if _leaves(one.trial)]
    lies = [
        f"the trial of host {one.host!r} lies outside of the fleet: {one.trial!r}"
        for one in outside
    ]
    for what, right in (
        (f"schema is {fleet.schema}", fleet.schema >= 1),
        ("it names no host", bool(hosts)),
        ("a host has no name", all(fleet.names)),
        ("a host is there twice", len(set(fleet.names)) == len(hosts)),
        (
            "a name is not text that can be written",
            is_writable(*named) and not any(map(_obeyed, named)),
        ),
        ("a job has no id", all(job for one in hosts for job in one.jobs)),
        ("".join(lies[:1]), not outside),
        ("two hosts have one trial", len(set(places)) == len(places)),
    ):
        if not right:
            raise ShapeError(what)
