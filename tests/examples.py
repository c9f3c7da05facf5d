"""How many examples a property test draws: a few in `make test`, always the same; all in `make search`."""

from __future__ import annotations

from hypothesis import settings

MOST = 100  # of a test that asks for no number of its own
SHARE = 4
FEWEST = 10


def examples(most: int) -> int:
    """Give `most` where examples are drawn anew, else a fourth of them: the profile in force tells."""
    same = settings.default is not None and settings.default.derandomize
    return min(most, max(most // SHARE, FEWEST)) if same else most
