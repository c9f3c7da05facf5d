"""``fleet.json``: which trials of one campaign belong together, one for each host.

A folder with this file is a fleet; below it lies one ordinary trial a host. It is written whole before
the first job can start, and replaced whole when jobs are added. Standard library only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal

from ..errors import StoreError
from ..words import name_fields
from .manifest import is_bisection, read_manifest, sync_place
from .shapes import (
    ShapeError,
    check,
    checksum_holds,
    document_of,
    is_writable,
    opened,
    parse,
    shaped,
)
from .trial_files import CHANGED, MANIFEST, MEASUREMENTS, Manifest, RowShape, Stored

FLEET = "fleet.json"
FLEET_SCHEMA = 1
_RESTORE = "restore the file from a copy, or put the trials together again: fairtrial merge TRIAL... -o FOLDER"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetHost(Stored):
    """One host of a fleet.

    `host` is the node's name, by which hosts are separated; `jobs` are the scheduler's ids as texts,
    oldest first, none where the trial was copied by hand; `trial` is the trial's folder, relative to
    the fleet's, with slashes. `further` holds the keys of a later version.
    """

    host: str
    jobs: tuple[str, ...]
    trial: str
    further: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name_fields(self, "host")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet(Stored):
    """``fleet.json``: the trials of one campaign on several hosts.

    `campaign` is its name, `identity` the SHA-256 of its parsed content, as in each trial's manifest
    (``campaign_sha256``). `submitted_at` is a time (RFC 3339, UTC) and `script` the batch script;
    both are None where nothing was submitted, because the trials were put together by hand. Those may
    differ in what no comparison minds, such as the seed: then `identities` names the further ones.
    `further` holds the keys of a later version, which are kept when the file is written again.
    """

    newer: ClassVar[tuple[str, ...]] = ("identities",)

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
        what = "this is not a fleet: it has no fleet.json"
        fix = "name a folder that 'fairtrial submit' or 'fairtrial merge' wrote, such as runs/NAME"
        raise StoreError(what, str(folder), fix)
    data = document_of(path, "fleet", _RESTORE)
    if data["schema"] > FLEET_SCHEMA:
        what = f"the fleet has a newer schema than {FLEET_SCHEMA}, the newest known here"
        fix = "use the fairtrial version that wrote it, or a newer one"
        raise StoreError(what, str(path), fix)
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
        sync_place(folder)
    except OSError as error:
        if fresh is not None:
            with contextlib.suppress(OSError):
                Path(fresh).unlink()
        what = f"the fleet cannot be written: {error.strerror or error}"
        fix = "free some space, or see that you may write there"
        raise StoreError(what, str(path), fix) from error


def trial_place(folder: Path, host: FleetHost) -> Path:
    """Give the folder of a host's trial, which need not be there yet."""
    path = folder / host.trial
    try:
        place = path.resolve()
        inside = not _leaves(host.trial) and place.is_relative_to(folder.resolve())
        inside = inside and not place.is_symlink()  # a circle: Python 3.13 gives its begin
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


def _check(fleet: Fleet) -> None:
    """Hold the parts of a fleet against each other: readers go by its names and paths."""
    hosts = fleet.hosts
    named = (fleet.campaign, *fleet.names, *(one.trial for one in hosts))
    places = [PurePosixPath(one.trial) for one in hosts if not _leaves(one.trial)]
    outside = [one for one in hosts if _leaves(one.trial)]
    lies = [f"the trial of host {o.host!r} lies outside of the fleet: {o.trial!r}" for o in outside]
    controls = any(ord(sign) < 32 or ord(sign) == 127 for name in named for sign in name)
    for what, right in (
        (f"schema is {fleet.schema}", fleet.schema >= 1),
        ("it names no host", bool(hosts)),
        ("a host has no name", all(fleet.names)),
        ("a host is there twice", len(set(fleet.names)) == len(hosts)),
        ("a name is not text that can be written", is_writable(*named) and not controls),
        ("a job has no id", all(job for one in hosts for job in one.jobs)),
        ("".join(lies[:1]), not outside),
        ("two hosts have one trial", len(set(places)) == len(places)),
    ):
        if not right:
            raise ShapeError(what)


# --- How far each host of a fleet is, by the trial that it has: no scheduler is asked.
#
# The trial's own files are the truth: what a queue says of a host's job neither makes a row nor undoes
# one. Standard library only.


HostState = Literal["complete", "running", "partial", "failed", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProgress:
    """How far one host of a fleet is.

    `host`: The node's name. `state`: ``complete``: its trial is; ``running``: a process writes it
    now; ``partial``: it ended, or was killed, before that; ``failed``: nothing that is there can be
    judged (every measured run failed, the trial is damaged, or of another campaign); ``missing``:
    no row is measured. `done`: Planned positions that have a row, warm-ups among them. `planned`:
    Positions that its plan comes to, warm-ups among them; None while nobody knows. `counting`: Rows
    that are no warm-up and ended ``ok``: what can be judged. `why`: What is wrong with it, or how
    it ended. `trial`: The trial's folder, there or not. `manifest`: None where there is none, or it
    cannot be read.
    """

    host: str
    state: HostState
    done: int
    planned: int | None
    counting: int
    why: str | None
    trial: Path
    manifest: Manifest | None

    def to_dict(self) -> dict[str, Any]:
        """Give what a fleet's readers print of each host, as JSON types."""
        return {name: getattr(self, name) for name in ("host", "state", "done", "planned", "why")}


def read_hosts(folder: Path, fleet: Fleet) -> tuple[HostProgress, ...]:
    """Read how far the hosts of a fleet are, one trial at a time.

    A host whose trial cannot be read hides no other: it is ``failed``, and `why` says it. Where a host has no plan yet the others' tells how many runs there will be:
    they execute one campaign.
    """
    known: dict[object, str] = {}
    return with_plans([once(read_host(folder, fleet, one), known) for one in fleet.hosts])


def once(found: HostProgress, known: dict[object, str]) -> HostProgress:
    """Let a host fail whose trial is that of one before it; `known` has the host of each trial so far."""
    one = found.manifest
    key = found.host if one is None or not found.done else (one.trial, one.host_id, one.started)
    if (first := known.setdefault(key, found.host)) == found.host:
        return found
    return replace(found, state="failed", counting=0, why=f"its trial is a copy of that of {first}")


def with_plans(found: Sequence[HostProgress]) -> tuple[HostProgress, ...]:
    """Give hosts without a plan that of the others: they execute one campaign."""
    plans = Counter(one.planned for one in found if one.planned is not None)
    if not plans:
        return tuple(found)
    usual = plans.most_common(1)[0][0]
    return tuple(one if one.planned is not None else replace(one, planned=usual) for one in found)


def progress_of(
    host: FleetHost,
    trial: Path,
    manifest: Manifest | None,
    *,
    rows: bool,
    tried: bool,
    done: int,
    counting: int,
    why: str | None = None,
    damaged: bool = False,
) -> HostProgress:
    """Tell how far a host is from what its trial shows.

    `rows`, `tried`: Whether a row is there, and one that is no warm-up. `done`, `counting`: As of a `HostProgress`. `why`: What is
    wrong, where that is known; `damaged`: whether nothing can be judged for it.
    """
    status = None if manifest is None else manifest.status
    in_vain = manifest is not None and manifest.must_raise is not None
    state: HostState = "complete" if status == "complete" else "partial"
    if not rows:
        state = "missing"
    elif damaged or status is None:
        state = "failed"
    elif status == "running" and is_held(trial) is not False:
        state = "running"
    elif not counting and status != "running" and (tried or in_vain or status == "complete"):
        state = "failed"
    return HostProgress(
        host=host.host,
        state=state,
        done=done,
        planned=None if manifest is None or damaged else manifest.needed,
        counting=counting,
        why=_why(state, manifest) if why is None else why,
        trial=trial,
        manifest=manifest,
    )


def is_held(trial: Path) -> bool | None:
    """Tell whether a process holds the trial's lock, as its runner does; None if that cannot be seen."""
    try:
        import fcntl

        fd = os.open(trial / MEASUREMENTS, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except (OSError, ImportError):  # a system without such locks
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a network file system that knows no locks
        return None
    finally:
        os.close(fd)
    return False


def read_host(folder: Path, fleet: Fleet, host: FleetHost) -> HostProgress:
    """Read how far one host is; `planned` is None where its trial has no manifest that can be read."""
    trial, manifest, why, damaged = folder / host.trial, None, None, False
    inside, done, tried, counting, wrong = False, 0, 0, 0, None
    try:
        trial = trial_place(folder, host)
        inside = True
        wrong = _barred(trial / MANIFEST)
        if wrong is None and (os.path.lexists(trial / MANIFEST) or is_bisection(trial)):
            manifest = read_manifest(trial)
            require_campaign(fleet, manifest, trial)
    except StoreError as error:
        why, damaged = error.what, True
    if wrong is not None:  # nobody knows whether rows are there
        why, damaged = wrong, True
    elif inside and os.path.lexists(trial / MEASUREMENTS):
        rows, files = trial / MEASUREMENTS, {} if manifest is None else manifest.files
        done, tried, counting, wrong = _count(rows, files)
        why, damaged = why or wrong, damaged or wrong is not None
    about = {"rows": bool(done or wrong), "tried": tried > 0, "damaged": damaged}
    return progress_of(host, trial, manifest, done=done, counting=counting, why=why, **about)


def _barred(path: Path) -> str | None:
    """Say why nobody can see whether a file is there; None where that can be seen."""
    try:
        os.lstat(path)
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            return f"its trial cannot be read: {error.strerror}"
    return None


def require_campaign(fleet: Fleet, manifest: Manifest, trial: Path) -> None:
    """Refuse a trial that was put into the folder of another campaign's fleet."""
    if manifest.campaign_sha256 not in (fleet.identity, *fleet.identities):
        raise StoreError(
            f"its trial is of another campaign than the fleet's ({fleet.campaign}): their identities "
            "differ",
            str(trial / MANIFEST),
        )


def _why(state: HostState, manifest: Manifest | None) -> str | None:
    """Say what is wrong with a host, or how its trial ended; None where there is nothing to say."""
    if manifest is None:
        return "it has rows and no manifest" if state == "failed" else "its trial has not begun"
    if state == "missing":
        return manifest.reason or manifest.stage or "it began, and measured no run yet"
    if state == "failed":
        return manifest.reason or "every measured run failed"
    if state == "partial":
        killed = "its runner was killed" if manifest.status == "running" else manifest.status
        return manifest.reason or killed
    return None


def _count(path: Path, files: Mapping[str, str]) -> tuple[int, int, int, str | None]:
    """Count positions with a row, rows that are no warm-up, and rows that count, up to what is damaged, and say what that is.

    `files` are the SHA-256 of those that the trial had at its end.
    """
    positions: set[int] = set()
    tried = counting = 0
    wrong, digest = None, hashlib.sha256()
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
                digest.update(line)
                if not (line.endswith(b"\n") and checksum_holds(line[:-1])):
                    if file.read(1):
                        wrong = f"the checksum of line {number} of {path.name} is wrong"
                    break
                row = parse(line[:-1])
                check(RowShape, row)
                # a disturbed run that is repeated has one place in the plan
                place = row["position"] if row.get("repeats") is None else row["repeats"]
                if place >= 0:
                    positions.add(place)
                tried += not row["warmup"]
                counting += not row["warmup"] and row["outcome"] == "ok"
        if wrong is None and files.get(path.name) not in {None, digest.hexdigest()}:
            wrong = CHANGED
    except (OSError, StoreError, ShapeError) as error:
        reason = getattr(error, "what", None) or getattr(error, "strerror", None) or str(error)
        wrong = f"{path.name} cannot be read: {reason}"
    return len(positions), tried, counting, wrong
