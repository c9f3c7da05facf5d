"""A matrix file: benchmarks x runs of one variant, as `PerformanceMatrix.read` takes it."""

from __future__ import annotations

from pathlib import Path

from ..data import Layout, Table, read_table

__all__ = ["knows", "read"]

_ENDINGS = (".csv", ".txt", ".json")


def knows(path: Path, start: bytes) -> bool:  # noqa: ARG001 - the ending says it
    """Tell by the ending."""
    return path.suffix.lower() in _ENDINGS


def read(path: Path, layout: Layout) -> Table:
    """Read it; see `analysis.data.read_table`."""
    return read_table(path, layout)
