"""What ``run --resume`` says first: where a trial goes on, or what is added to it."""

from __future__ import annotations

import dataclasses
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
