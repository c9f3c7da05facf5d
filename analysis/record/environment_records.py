"""What one environment record tells of: which sessions, and of each cell which executable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..words import PLACEHOLDER


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


def segments_of(records: Iterable[Mapping[str, Any]], most: int) -> dict[int, int]:
    """Give the last segment of each session that environment records tell of, in a trial of `most` sessions."""
    return dict(place for record in records for place in places_of(record, most))


SAME = "same_as"
COMMIT = "commit"
BUILT = "built"
SESSION = "session"
_OF_COMMIT = (COMMIT, "commit_unknown")


def packed_targets(
    paths: Mapping[str, Any],
    described: Mapping[Any, Mapping[str, Any]],
    commits: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Give the section ``targets``: each executable is described once, whatever uses it.

    `commits` are keys about a cell's commit, by its name; one that shares an executable has its own
    where they are not those of the cell at which it is described.
    """
    told = commits or {}
    first: dict[Any, str] = {}
    found: dict[str, Any] = {}
    for name, path in sorted(paths.items()):
        same, own = first.setdefault(path, name), told.get(name, {})
        if same == name:
            found[name] = {**described[path], **own}
        else:
            found[name] = {SAME: same, **({} if own == told.get(same, {}) else own)}
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
        shared = targets.get(same, about) if isinstance(same, str) else about
        if shared is not about and isinstance(shared, dict) and COMMIT in about:
            own = {key: about[key] for key in _OF_COMMIT if key in about}
            shared = {key: value for key, value in shared.items() if key not in _OF_COMMIT} | own
        found[name] = shared
    return found


def of_one_session(about: object) -> bool:
    """Tell whether the build of a session made an executable, or a library: another session has other bytes.

    Its hash says nothing beyond its session; what is executed is known by its commit, or its build steps.
    """
    return isinstance(about, Mapping) and about.get(BUILT) == SESSION


def commit_of(about: object) -> str | None:
    """Give the commit that the description of an executable names; None where it is not known."""
    commit = about.get(COMMIT) if isinstance(about, Mapping) else None
    return commit if isinstance(commit, str) and PLACEHOLDER.fullmatch(commit) is None else None


def commits_of(record: Mapping[str, Any]) -> dict[str, str | None]:
    """Give the commit of each variant that an environment record names; None for one that is not known.

    It is not known of trials before version 0.3.0, nor where names were taken out of a bundle.
    """
    found: dict[str, set[str | None]] = {}
    for name, about in whole_targets(record.get("targets")).items():
        found.setdefault(name.rpartition("/")[2], set()).add(commit_of(about))
    return {
        variant: next(iter(commits)) if len(commits) == 1 else None
        for variant, commits in found.items()
    }


def commits_of_all(records: Iterable[Mapping[str, Any]]) -> dict[str, str | None]:
    """Give the commit of each variant of a trial from its environment records.

    Records that do not know it say nothing of it; where others name several it is not known.
    """
    found: dict[str, set[str]] = {}
    for record in records:
        for variant, commit in commits_of(record).items():
            found.setdefault(variant, set()).update(() if commit is None else (commit,))
    return {
        variant: next(iter(commits)) if len(commits) == 1 else None
        for variant, commits in found.items()
    }
