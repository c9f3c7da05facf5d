"""A bisection as the one job of a fleet: what it is asked, and how far it is.

Its folder is where the trial of a host would lie. What it has measured is the truth, whatever a queue says.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import StoreError, UsageError
from analysis.record.fleet import Fleet, FleetHost, trial_place
from analysis.record.fleet_progress import HostProgress, HostState, lock_is_held

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .sbatch import Wishes

BISECT = "bisect"  # the key of what fleet.json keeps for the scheduler
_STATE, _SESSIONS, _LOCK = "bisect.json", "sessions.jsonl", ".lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectionJob:
    """What one job is to search: from commit `good` to `bad`, with further words of ``fairtrial bisect``.

    `expected_s` is how long it may take in all, in seconds; None where nobody knows.
    """

    good: str
    bad: str
    words: tuple[str, ...] = ()
    expected_s: float | None = None

    def to_dict(self) -> dict[str, str]:
        """Give what is kept for a later submission, as JSON types."""
        return {"good": self.good, "bad": self.bad}

    def require_one(self, hosts: tuple[str, ...], wishes: Wishes) -> None:
        """Refuse what a search on one host has no use for.

        Raises
        ------
        UsageError
            If there are several hosts, or programs are to be built or measured elsewhere.
        """
        for option, there, why in (
            ("--build once", wishes.build == "once", "each commit is built where it is measured"),
            ("--scratch", wishes.scratch is not None, "it keeps its trials in the fleet's folder"),
            ("--seed", wishes.seed is not None, "its campaign says the seed"),
        ):
            if there:
                raise UsageError(
                    f"{option} does not go with --bisect: {why}", option, "leave it out"
                )
        if len(hosts) != 1:
            what = f"a bisection is one job on one host, and these are {len(hosts)}"
            raise UsageError(what, "--hosts", "name one, such as --hosts lab3, or --count 1")


def bisection_of(slurm: Mapping[str, Any]) -> bool:
    """Tell whether what ``fleet.json`` keeps for the scheduler is that of a bisection."""
    return isinstance(slurm.get(BISECT), dict)


def read_bisection(folder: Path, host: FleetHost) -> HostProgress:
    """Read how far the bisection on a host is; `done` are its sessions, and `why` its answer once it has one."""
    place, state, done, why = folder / host.trial, None, 0, None
    try:
        place = trial_place(folder, host)
        state, why = _told(place / _STATE)
        done = _sessions(place / _SESSIONS)
    except (OSError, ValueError, StoreError) as error:
        why = getattr(error, "what", None) or getattr(error, "strerror", None) or str(error)
        return _progress(host, place, "failed", done, f"its bisection cannot be read: {why}")
    if state is None:
        return _progress(host, place, "missing", done, "its bisection has not begun")
    if state == "ended":
        return _progress(host, place, "complete", done, why)
    if lock_is_held(place / _LOCK):
        return _progress(host, place, "running", done, None)
    return _progress(host, place, "partial", done, "it was interrupted, or killed")


def _progress(
    host: FleetHost, place: Path, state: HostState, done: int, why: str | None
) -> HostProgress:
    return HostProgress(
        host=host.host,
        state=state,
        done=done,
        planned=None,
        counting=done,
        why=why,
        trial=place,
        manifest=None,
    )


def _told(path: Path) -> tuple[str | None, str | None]:
    """Give state and answer of ``bisect.json``; None where there is none yet."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None, None
    if not isinstance(found, dict):
        raise ValueError(f"{_STATE} is no mapping")  # noqa: TRY004 - as a text that is no JSON
    sentence = found.get("sentence")
    return str(found.get("state")), sentence if isinstance(sentence, str) else None


def _sessions(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def read_bisections(folder: Path, fleet: Fleet) -> tuple[HostProgress, ...]:
    """Read how far the hosts of a bisection's fleet are."""
    return tuple(read_bisection(folder, host) for host in fleet.hosts)
