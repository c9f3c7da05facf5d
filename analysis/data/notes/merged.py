"""Trials that were put together from others."""

from __future__ import annotations

from collections.abc import Iterator

from ...record import Manifest
from ...report import Caution, figures

__all__ = ["merged_cautions"]


def merged_cautions(manifest: Manifest) -> Iterator[Caution]:
    """Say which trials the sessions of a merged one were measured in."""
    names = tuple(part.trial for part in manifest.merged_from)
    if not names:
        return
    yield Caution(
        "merged",
        f"put together from {len(names)} trials ({figures.listed(names)}): what differed between "
        "their environments stands in its findings.jsonl",
        names,
    )
