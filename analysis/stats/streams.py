"""Random streams: derived from a seed and labels, so that no number depends on its neighbours."""

from __future__ import annotations

import zlib

import numpy as np

from ..errors import UsageError

__all__ = ["checked_seed", "stream"]


def checked_seed(seed: int) -> int:
    """Give the seed back.

    Raises
    ------
    UsageError
        If it is negative.
    """
    if seed < 0:
        raise UsageError(f"the seed must not be negative, and is {seed}")
    return seed


def stream(seed: int, *labels: str) -> np.random.Generator:
    """Give the stream of a seed and labels, such as a method's and a benchmark's name.

    Another label gives an independent stream, so adding a benchmark changes no other one's numbers.
    A function that takes `rng` draws one root from it, ``int(rng.integers(2**63))``, and derives a
    stream for each benchmark from that root: their order and number then do not matter.

    Raises
    ------
    UsageError
        If the seed is negative.
    """
    return np.random.default_rng(
        [checked_seed(seed), *(zlib.crc32(label.encode()) for label in labels)]
    )
