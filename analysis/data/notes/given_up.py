"""Cells that sessions of a trial went on without."""

from __future__ import annotations

from collections.abc import Iterator

from ...record import Manifest
from ...report import Caution

__all__ = ["given_up_cautions"]

_SHOWN = 3


def given_up_cautions(manifest: Manifest) -> Iterator[Caution]:
    """Say which cells were given up after failures, and in how many sessions."""
    sessions: dict[tuple[str, str], list[int]] = {}
    for one in manifest.given_up:
        sessions.setdefault((one.benchmark, one.variant), []).append(one.session)
    if not sessions:
        return
    told = [
        f"{benchmark} / {variant} in {len(found)} of {manifest.sessions} sessions"
        for (benchmark, variant), found in sessions.items()
    ]
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    yield Caution(
        "given-up",
        f"given up after failures in a row: {', '.join(told[:_SHOWN])}{more}",
        tuple(dict.fromkeys(benchmark for benchmark, _ in sessions)),
    )
