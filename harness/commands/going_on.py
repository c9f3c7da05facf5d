"""What ``run --resume`` says first: where a trial goes on, or what is added to it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import about_exactly, counted
from ..trial.plan import planned_runs
from ..trial.progress import read_progress, time_left

if TYPE_CHECKING:
    from ..trial.resume import Begun


def said_of_going_on(begun: Begun) -> str | None:
    """Say where a trial goes on and how long that takes; None of one that is complete and stays so."""
    manifest, campaign = begun.manifest, begun.campaign
    more = begun.sessions - manifest.sessions
    progress = read_progress(begun.path)
    whole = manifest.status == "complete" or progress.done >= manifest.needed
    if manifest.status == "complete" and not more:
        return None
    planned = planned_runs(campaign, begun.sessions)
    then = dataclasses.replace(manifest, planned=planned, sessions=begun.sessions)
    left = time_left(begun.path, then)
    most = "at most " if campaign.protocol.stop is not None else ""
    time = "" if left is None else f", {most}{about_exactly(left)}"
    added = _sessions(manifest.sessions + 1, begun.sessions)
    if whole and more:
        runs = counted(planned - manifest.planned, "run")
        return (
            f"adding {added}: {most}{runs}{time}; look {len(manifest.appended) + 2} at this trial"
        )
    at = f"run {min(progress.done + 1, then.needed):,} of {most}{then.needed:,}"
    session = _session(begun, progress.done)
    text = f"going on at {at} (session {session} of {begun.sessions}){time}"
    return f"{text}; {added} {'is' if more == 1 else 'are'} added" if more else text


def _sessions(first: int, last: int) -> str:
    return f"session {first}" if first == last else f"sessions {first} to {last}"


def _session(begun: Begun, done: int) -> int:
    """Give the session in which the next run stands, where sessions have all their runs."""
    protocol, cells = begun.campaign.protocol, len(begun.campaign.cells)
    for session in range(1, begun.sessions):
        if done < protocol.passes(session) * cells:
            return session
    return begun.sessions


# --- What a mistyped name was meant to be: a command, an option, a trial.
#
# Imported when something was not found: whoever types well pays nothing for it.


_CUTOFF = 0.6  # of difflib: 'verdct' has 0.92 with 'verdict', 'frobnicate' 0.47 with the nearest
_MARKS = ("manifest.json", "fleet.json")  # what makes a folder a trial, or a fleet


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Give the known name that is most like a word; None where none is like it."""
    near = get_close_matches(word, list(known), n=1, cutoff=_CUTOFF)
    return near[0] if near else None


def nearest_trial(text: str) -> str | None:
    """Give the trial that was meant by a path, or by PATH:VARIANT, that is not there.

    None where the path is there, or where no trial or fleet in its folder has such a name.
    """
    folder, slash, name = text.rstrip("/").rpartition("/")
    name, colon, variant = name.partition(":")
    place = Path(f"{folder}{slash}" or ".")
    try:
        if not name or os.path.lexists(text) or os.path.lexists(place / name):
            return None
        known = [one.name for one in place.iterdir() if any((one / m).exists() for m in _MARKS)]
    except (OSError, ValueError):  # no such folder, or no name that a path can have
        return None
    near = nearest(name, sorted(known))
    return None if near is None else f"{folder}{slash}{near}{colon}{variant}"
