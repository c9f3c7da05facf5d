"""How many examples a property test draws: a few in `make test`, always the same; all in `make search`."""

from __future__ import annotations

import random

from hypothesis import settings
from hypothesis.internal.conjecture import providers

MOST = 100  # of a test that asks for no number of its own
SHARE = 4
FEWEST = 10


def examples(most: int) -> int:
    """Give `most` where examples are drawn anew, else a fourth of them: the profile in force tells."""
    return min(most, max(most // SHARE, FEWEST)) if _same() else most


def draw_of_no_module() -> None:
    """Let what is always the same be drawn without constants of the modules that a worker happens to have."""
    of_modules, none = providers._get_local_constants, providers.Constants()
    providers._get_local_constants = lambda: none if _same() else of_modules()


def drawn_seed() -> int:
    """Give 1 in `make test`; where all is drawn anew, what comes of the seed of the tests' order."""
    return 1 if _same() else random.randrange(2**32)


def _same() -> bool:
    return settings.default is not None and settings.default.derandomize
