"""Random streams: derived from a seed and labels, so that no number depends on its neighbours."""

from __future__ import annotations

import zlib

import numpy as np

from ..errors import UsageError
from .doors import door

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


@door
def stream(source: int | np.random.Generator, *labels: str) -> np.random.Generator:
    """Give the stream of a seed and labels, such as a method's and a benchmark's name.

    Another label gives an independent stream, so adding a benchmark changes no other one's numbers.
    A function that takes `rng` draws one root from it, ``int(rng.integers(2**63))``, and derives a
    stream for each benchmark from that root: their order and number then do not matter.

    What a command printed with ``--seed`` comes from such streams; ``docs/json.md`` names them, so
    that a function of `analysis` gives the same numbers.

    Parameters
    ----------
    source : int or numpy.random.Generator
        The seed, not negative; or a stream, of which one number is drawn for the seed.
    labels : str
        What the numbers are for.

    Raises
    ------
    UsageError
        If the seed is negative.
    """
    seed = source if isinstance(source, int) else int(source.integers(2**63))
    return np.random.default_rng(
        [checked_seed(seed), *(zlib.crc32(label.encode()) for label in labels)]
    )
