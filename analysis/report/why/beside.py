"""The profiles that lie beside a trial: those that are its own, and what is wrong with the others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ...data.trial import read_trial
from ...errors import FairtrialError
from ...record.profiles import PROFILE, StoredProfile, profiles_of, read_profile
from ...why.explain import explain_by
from ...why.folded import stacks_of

if TYPE_CHECKING:
    from ...data.trial import Trial
    from ...record.profiles import Profile
    from ...record.trial_files import Manifest
    from ...why.folded import Stacks
    from ...why.result import Why

__all__ = ["Beside", "Explained", "Recorded", "beside"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What a profile says of one benchmark; `stacks` is None where it has no callers, or nothing may be named."""

    told: Why
    stacks: Stacks | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A profile of the trial's own, with an answer for each benchmark that is shown."""

    stored: StoredProfile
    explained: tuple[Explained, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What lies beside a trial; `faults` are sentences on what is not shown."""

    recorded: tuple[Recorded, ...]
    faults: tuple[str, ...]


def beside(
    path: Path,
    manifest: Manifest,
    variants: frozenset[str],
    benchmarks: tuple[str, ...],
    confidence: float,
) -> Beside | None:
    """Read the profiles of a trial; None where it has none.

    Parameters
    ----------
    path, manifest
        The trial.
    variants, benchmarks
        Of which something is shown; those of others are left alone.
    confidence : float
        Of each interval.
    """
    place = profiles_of(path)
    try:
        inside = sorted(one for one in place.iterdir() if not one.name.startswith("."))
    except FileNotFoundError:
        return None
    except OSError as error:
        return Beside(recorded=(), faults=(f"{place.name} cannot be read: {error.strerror}",))
    folders = [one for one in inside if one.is_dir()]
    known = [one for one in folders if one.name in manifest.variants]
    known.sort(key=lambda one: manifest.variants.index(one.name))
    recorded: list[Recorded] = []
    faults = [
        f"{place.name}/{one.name} is not shown: the trial has no variant of this name"
        for one in folders
        if one not in known
    ]
    if not folders:
        faults.append(f"{place.name} holds no finished profile")
    for folder in known:
        if folder.name not in variants:
            continue
        where = f"{place.name}/{folder.name}"
        try:
            stored = read_profile(folder)
            fault = _foreign(stored.profile, manifest, folder.name)
            timed = None if fault is not None else read_trial(stored.timed)
        except FairtrialError as error:
            fault = error.what
        if fault is not None:
            faults.append(f"{where} is not shown: {fault}")
        elif timed is not None:
            explained = []
            for name in stored.profile.benchmarks:
                if name in benchmarks:
                    try:
                        explained.append(_explained(stored, timed, name, confidence))
                    except FairtrialError as error:
                        faults.append(f"{where} is not shown on {name}: {error.what}")
            recorded += [Recorded(stored=stored, explained=tuple(explained))] if explained else []
    return Beside(recorded=tuple(recorded), faults=tuple(faults)) if recorded or faults else None


def _explained(stored: StoredProfile, timed: Trial, name: str, confidence: float) -> Explained:
    told = explain_by(stored, timed, benchmark=name, confidence=confidence)
    called = told.rows and stored.profile.chains is not None
    return Explained(told=told, stacks=stacks_of(stored, told, timed) if called else None)


def _foreign(profile: Profile, manifest: Manifest, name: str) -> str | None:
    """Say why a profile is not one of this trial's; None where it is."""
    if profile.trial != manifest.trial:
        return f"it is of the trial {profile.trial}, and not of {manifest.trial}"
    if profile.campaign_sha256 != manifest.campaign_sha256:
        return "it is of another campaign than the trial"
    if profile.host_id != manifest.host_id:
        return "it was recorded on another host than the trial"
    if (profile.variant, profile.baseline) != (name, manifest.baseline):
        return f"it compares {profile.variant} with {profile.baseline}"
    try:
        early = datetime.fromisoformat(profile.started) < datetime.fromisoformat(manifest.started)
    except (ValueError, TypeError):
        return f"{PROFILE} does not say when it was recorded"
    return "it was recorded before the trial began" if early else None
