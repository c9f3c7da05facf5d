"""The sizes of samples that a study looks at."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UsageError

__all__ = ["checked_sizes"]


def checked_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Give the sizes of samples in rising order, each once.

    Raises
    ------
    UsageError
        If there is none, or one is no whole number or below 2.
    """
    chosen = tuple(sorted(set(sizes)))
    if not chosen or chosen[0] < 2 or any(size != int(size) for size in chosen):
        raise UsageError(f"sizes must be whole numbers from 2 on, not {list(sizes)}")
    return tuple(int(size) for size in chosen)
