"""What differs between the hosts of two nights, from their environment records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..record.environment import Change, diff
from .night_values import Night


def host_changes(earlier: Night, later: Night) -> tuple[Change, ...]:
    """Compare the hosts of two nights of a series, and the baseline's own programs on them.

    Of a fleet each change names its host. Where one of both has no record nothing is said.
    """
    return tuple(_changes(earlier.host_facts, later.host_facts))


def _changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Change]:
    if not a or not b:
        return
    if "hosts" not in a or "hosts" not in b:
        yield from diff(a, b)
        return
    for host, record in a["hosts"].items():
        for change in _changes(record, b["hosts"].get(host, {})):
            yield replace(change, what=f"on {host}: {change.what}")
