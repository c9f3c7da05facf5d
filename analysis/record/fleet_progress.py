"""How far each host of a fleet is, by the trial that it has: no scheduler is asked.

The trial's own files are the truth: what a queue says of a host's job neither makes a row nor undoes
one. Standard library only.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import StoreError
from .bisections import is_bisection
from .fleet import Fleet, FleetHost, trial_place
from .manifest import read_manifest
from .shapes import ShapeError, check, checksum_holds, opened, parse
from .trial_files import MANIFEST, MEASUREMENTS, Manifest, RowShape

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
    return with_plans([read_host(folder, fleet, one) for one in fleet.hosts])


def with_plans(found: Sequence[HostProgress]) -> tuple[HostProgress, ...]:
    """Give hosts without a plan that of the others: they execute one campaign."""
    plans = Counter(one.planned for one in found if one.planned is not None)
    if not plans:
        return tuple(found)
    usual = plans.most_common(1)[0][0]
    return tuple(one if one.planned is not None else replace(one, planned=usual) for one in found)


def host_state(
    status: str | None,
    *,
    rows: bool,
    tried: bool,
    counting: int,
    held: bool | None,
    in_vain: bool = False,
    damaged: bool = False,
) -> HostState:
    """Tell the state of a host from what its trial shows; `in_vain`: its campaign forbids to go on."""
    if not rows:
        return "missing"
    if damaged or status is None:
        return "failed"
    if status == "running" and held is not False:
        return "running"
    if not counting and status != "running" and (tried or in_vain or status == "complete"):
        return "failed"
    return "complete" if status == "complete" else "partial"


def is_held(trial: Path) -> bool | None:
    """Tell whether a process holds the trial's lock, as its runner does; None if it cannot be told."""
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
        done, tried, counting, wrong = _count(trial / MEASUREMENTS)
        why, damaged = why or wrong, damaged or wrong is not None
    status = None if manifest is None else manifest.status
    held = is_held(trial) if status == "running" else None
    state = host_state(
        status,
        rows=bool(done or wrong),
        tried=tried > 0,
        counting=counting,
        held=held,
        in_vain=manifest is not None and manifest.must_raise is not None,
        damaged=damaged,
    )
    if why is None:
        why = why_so(state, manifest)
    return HostProgress(
        host=host.host,
        state=state,
        done=done,
        planned=None if manifest is None or damaged else manifest.needed,
        counting=counting,
        why=why,
        trial=trial,
        manifest=manifest,
    )


def _barred(path: Path) -> str | None:
    """Say why nobody can tell whether a file is there; None where that can be told."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
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


def why_so(state: HostState, manifest: Manifest | None) -> str | None:
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


def _count(path: Path) -> tuple[int, int, int, str | None]:
    """Count positions with a row, rows that are no warm-up, and rows that count, up to what is damaged, and say what that is."""
    positions: set[int] = set()
    tried = counting = 0
    wrong = None
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
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
    except (OSError, StoreError, ShapeError) as error:
        reason = getattr(error, "what", None) or getattr(error, "strerror", None) or str(error)
        wrong = f"{path.name} cannot be read: {reason}"
    return len(positions), tried, counting, wrong
