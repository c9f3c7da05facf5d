"""How often somebody may have looked at what is judged: read off the manifests, in one place."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from ..methods.multilevel import Looks
from ..record import Appended, Manifest

__all__ = ["looks_at", "looks_at_hosts"]

_EARLIEST = datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)
_LATEST = datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC)


def looks_at(manifests: Sequence[Manifest], looks: int | None, *, always_valid: bool) -> Looks:
    """Give the look that a comparison of one trial's variants, or of two trials, is.

    Two trials can be compared since the later one began: what was appended to the other before is no
    look. After that each append to either is one, at as many sessions as the shorter then had.

    Parameters
    ----------
    manifests : sequence of Manifest
        Of the trials that the runs stem from; none for files.
    looks : int or None
        How many are planned; None for a rule that the trials' own growth decides.
    always_valid : bool
        Whether bounds hold at every look.

    Raises
    ------
    UsageError
        If both are asked for, or the number is out of its range.
    """
    if looks is not None or always_valid or not manifests:
        return Looks.of(1 if looks is None else looks, always_valid=always_valid)
    begun = max(_time(one.started, _EARLIEST) for one in manifests)
    counts: list[list[Appended]] = [
        [one for one in manifest.appended if len(manifests) == 1 or _time(one.at, _LATEST) >= begun]
        for manifest in manifests
    ]
    have = [
        those[0].first - 1 if those else manifest.sessions
        for those, manifest in zip(counts, manifests, strict=True)
    ]
    seen = [min(have)]
    events = [
        (_time(one.at, _LATEST), k, one.last) for k, those in enumerate(counts) for one in those
    ]
    if len(manifests) > 1:  # of one trial they stand in their order, whatever its clock said
        events.sort(key=lambda event: event[0])
    for _, k, last in events:
        have[k] = last
        seen.append(min(have))
    return Looks.growing(seen)


def looks_at_hosts(manifests: Sequence[Manifest], looks: int | None) -> Looks:
    """Give the look that a verdict on the hosts of a fleet is.

    A fleet grows in rounds, in which each host is appended to once at most: the host that was appended
    to most often tells how many rounds there were. Its hosts can be judged from the first round on,
    however few sessions each has.

    Parameters
    ----------
    manifests : sequence of Manifest
        Of the hosts that are judged, two at least.
    looks : int or None
        How many are planned.

    Raises
    ------
    UsageError
        If the number is out of its range.
    """
    if looks is not None:
        return Looks.planned(looks)
    rounds = 1 + max(len(one.appended) for one in manifests)
    return Looks.growing([len(manifests)] * rounds)


def _time(text: str, unknown: datetime.datetime) -> datetime.datetime:
    """Read a time of a manifest; one that nobody can read is taken so that an append is a look."""
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        return unknown
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
