"""Which sessions two sides of a command have in common: none by accident."""

from __future__ import annotations

from ..data import own_session, set_apart
from .sources import Sides

__all__ = ["sessions_apart"]


def sessions_apart(sides: Sides) -> Sides:
    """Give each side without session ids a session of its own, and tell a trial's from a file's.

    A file without ids was measured on an occasion of its own, whatever the other side is: two such
    files cannot tell the variants from their sessions. A trial numbers its sessions from 1 on, and
    the ids of a file may be the same numbers by accident; two trials are told apart by `match`.

    Parameters
    ----------
    sides : Sides
        A candidate and a baseline as `read_sides` gives them; they are not changed.

    Returns
    -------
    Sides
        The same runs; two sides whose ids are known, both of trials or both of files, as they were.
    """
    ours, theirs = sides.candidate, sides.baseline
    if None not in (ours.sessions, theirs.sessions) and (
        (ours.trial is None) != (theirs.trial is None)
    ):
        ours, theirs = set_apart(ours, "candidate"), set_apart(theirs, "baseline")
    return Sides(candidate=own_session(ours, "candidate"), baseline=own_session(theirs, "baseline"))
