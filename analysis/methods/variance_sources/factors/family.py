"""All tests of one trial as a family: p-values of each, and for their number.

References
----------
.. [1] P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", 1993, section 2.6 (step-down
   by the largest statistic).
.. [2] B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", Statistical Applications in
   Genetics and Molecular Biology 9, 2010.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from .orders import Fits

__all__ = ["Family", "pvalue", "surprise"]

Floats = NDArray[np.float64]
_LEAST = 1e-300  # probability whose logarithm is taken
_SAME = 1e-9  # shares nearer to each other are one
_SAME_SURPRISE = 1e-4


def pvalue(fits: Fits) -> float:
    """Give the share of orders that fit as well as the one that was, itself among them [2]_."""
    as_well = int((fits.drawn >= fits.found * (1 - _SAME) - 1e-15).sum())
    return (as_well + 1) / (fits.drawn.size + 1)


def surprise(fits: Fits, law: Fits | None = None) -> tuple[float, Floats]:
    """Put shares of factors with different numbers of levels on one scale.

    Each share becomes minus the logarithm of its upper tail in the beta law with the mean and variance
    of all of them, the one found among them: how it is found, and how it is drawn. `law` are other
    shares whose mean and variance are taken.
    """
    base = fits if law is None else law
    every = np.append(base.drawn, base.found)
    mean, variance = float(every.mean()), float(every.var())
    if not 0 < mean < 1 or variance <= 0:
        return 0.0, np.zeros(fits.drawn.size)
    weight = max(mean * (1 - mean) / variance - 1, 1e-3)
    every = np.append(fits.drawn, fits.found)
    tail = betainc((1 - mean) * weight, mean * weight, np.clip(1 - every, 0.0, 1.0))
    scaled = -np.log(np.maximum(tail, _LEAST))
    return float(scaled[-1]), scaled[:-1]


class Family:
    """Tests that one answer makes together.

    The k-th order of every test is one order of the whole trial: the largest surprise of each says what
    chance makes of so many tests, and steps down from the most surprising one [1]_.
    """

    def __init__(self, orders: int) -> None:
        self._orders = orders
        self._found: list[float] = []
        self._drawn: list[NDArray[np.float32]] = []

    def add(self, found: float, drawn: Floats) -> None:
        """Add a test: its surprise, and those of the other orders."""
        self._found.append(found)
        self._drawn.append(drawn.astype(np.float32))

    def adjusted(self) -> list[float]:
        """Give the p-value of each test for the whole family, in the order in which they came."""
        found = np.array(self._found)
        order = np.argsort(found, kind="stable")  # the least surprising first
        largest = np.zeros(self._orders, dtype=np.float32)
        raised = np.empty(found.size)
        for place in order:
            np.maximum(largest, self._drawn[place], out=largest)
            as_much = int((largest >= found[place] - _SAME_SURPRISE).sum())
            raised[place] = (as_much + 1) / (self._orders + 1)
        down = np.maximum.accumulate(raised[order[::-1]])
        raised[order[::-1]] = down
        return [float(p) for p in raised]
