"""Components of variance of crossed benchmarks and sessions, by average-information REML.

The model of a logarithm is mean + benchmark + session + benchmark:session + block + rest, all but the
mean random and independent. An effect that the data cannot tell from the rest is left out of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...stats import RandomEffects, random_effects
from .observations import Observations

__all__ = ["crossed"]

Codes = NDArray[np.int64]


def crossed(seen: Observations) -> RandomEffects | None:
    """Fit the model to logarithms; None where it cannot be told, or nothing is left over.

    Parameters
    ----------
    seen : Observations
        Of two benchmarks and two sessions at least.
    """
    effects = _effects(seen)
    if {"benchmark", "session"} - effects.keys():
        return None
    return random_effects(seen.values, effects)


def _effects(seen: Observations) -> dict[str, Codes]:
    """Give the codes of each effect that the observations can tell from the others."""
    cells = seen.benchmark * (int(seen.session.max()) + 1) + seen.session
    codes = {
        "benchmark": seen.benchmark,
        "session": seen.session,
        "benchmark:session": np.unique(cells, return_inverse=True)[1].astype(np.int64),
        "block": seen.block,
    }
    levels = {name: np.unique(code).size for name, code in codes.items()}
    kept = {
        "benchmark": levels["benchmark"] > 1,
        "session": levels["session"] > 1,
        "benchmark:session": levels["benchmark:session"] < seen.values.size,
        "block": levels["session"] < levels["block"] < seen.values.size,
    }
    return {name: code for name, code in codes.items() if kept[name]}
