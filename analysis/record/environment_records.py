"""What one environment record tells of: which sessions, and of each cell which executable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def places_of(record: Mapping[str, Any], most: int) -> Iterator[tuple[int, int]]:
    """Give session and segment of all that an environment record tells of, in a trial of `most` sessions.

    It is one of each, or where a sitting has one record all its sessions: from the first, of which it
    may be a further segment, to the last, which is not known of one that was killed.
    """
    session, segment = record["session"], record.get("segment", 0)
    yield session, segment
    match record.get("sessions"):
        case [int(), None]:
            last = most
        case [int(), int(last)]:
            last = min(last, most)
        case _:
            last = session
    yield from ((one, 0) for one in range(session + 1, last + 1))


SAME = "same_as"


def packed_targets(
    paths: Mapping[str, Any], described: Mapping[Any, Mapping[str, Any]]
) -> dict[str, Any]:
    """Give the section ``targets``: each executable is described once, whatever uses it."""
    first: dict[Any, str] = {}
    found: dict[str, Any] = {}
    for name, path in sorted(paths.items()):
        same = first.setdefault(path, name)
        found[name] = described[path] if same == name else {SAME: same}
    return found


def whole_targets(targets: object) -> dict[str, Any]:
    """Give the description of each cell's executable, as far as the record has it.

    What is no section of targets has none; a cell that refers to no other one has what stands there.
    """
    if not isinstance(targets, dict):
        return {}
    found = {}
    for name, about in targets.items():
        same = about.get(SAME) if isinstance(about, dict) else None
        found[name] = targets.get(same, about) if isinstance(same, str) else about
    return found
