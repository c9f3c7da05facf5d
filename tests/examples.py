"""How many examples a property test draws: a few in `make test`, always the same; all in `make search`."""

from __future__ import annotations

import random

from hypothesis import settings

MOST = 100  # of a test that asks for no number of its own
SHARE = 4
FEWEST = 10


def examples(most: int) -> int:
    """Give `most` where examples are drawn anew, else a fourth of them: the profile in force tells."""
    return min(most, max(most // SHARE, FEWEST)) if _same() else most


def drawn_seed() -> int:
    """Give 1 in `make test`; where all is drawn anew, what comes of the seed of the tests' order."""
    return 1 if _same() else random.randrange(2**32)


def _same() -> bool:
    return settings.default is not None and settings.default.derandomize
