"""The sizes of samples that a study looks at."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UsageError
from ..stats import counted

__all__ = ["checked_sizes"]


def checked_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Give the sizes of samples in rising order, each once.

    Raises
    ------
    UsageError
        If there is none, or one is no whole number or below 2.
    """
    chosen = tuple(sorted(set(sizes)))
    if not chosen:
        raise UsageError("sizes must be whole numbers from 2 on, and there is none")
    return tuple(counted("each of the sizes", size, least=2) for size in chosen)
