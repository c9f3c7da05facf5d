"""Corrections of p-values for their number.

References
----------
.. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
   Statistics 6, 1979.
.. [2] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
   Statistical Society B 57, 1995.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UsageError
from .samples import Array

Correction = Literal["holm", "bh", "none"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


def check_correction(correction: str) -> None:
    """Refuse an unknown correction."""
    if correction not in CORRECTIONS:
        raise UsageError(
            f"correction must be 'holm', 'bh' or 'none', not {correction!r}",
            fix="holm bounds the chance of any false word, bh the share of false ones",
        )


def adjusted(pvalues: ArrayLike, correction: Correction = "holm") -> Array:
    """Adjust p-values, so that each can be held against the level of the whole family.

    `pvalues` (shape (m,)): Between 0 and 1; nan where there is none, which is no member of the
    family. `correction` ({"holm", "bh", "none"}): Holm's steps down [1]_ (family-wise error rate
    under any dependence), Benjamini's and Hochberg's steps up [2]_ (false discovery rate under
    independence), or as they are. Gives array, shape (m,): In the order of the arguments; nan where
    there is no p-value.
    """
    check_correction(correction)
    given = np.array(pvalues, dtype=np.float64)
    if correction == "none":
        return given
    member = np.flatnonzero(~np.isnan(given))
    order = member[np.argsort(given[member], kind="stable")]
    raised = given[order] * holm_steps(given, correction)[order]
    if correction == "holm":
        stepped = np.maximum.accumulate(raised)
    else:
        stepped = np.minimum.accumulate(raised[::-1])[::-1]
    given[order] = np.minimum(stepped, 1.0)
    return given


def holm_steps(pvalues: ArrayLike, correction: Correction = "holm") -> Array:
    """Give the factor by which the level is divided at each p-value's own step.

    `pvalues` (shape (m,)): As in `adjusted`. `correction` ({"holm", "bh", "none"}): The correction.
    Gives array, shape (m,): m for Holm's smallest p-value, 1 for the largest; m / rank for "bh"; 1
    for "none" and where there is no p-value.
    """
    check_correction(correction)
    given = np.array(pvalues, dtype=np.float64)
    factors = np.ones(given.shape)
    member = np.flatnonzero(~np.isnan(given))
    order, m = member[np.argsort(given[member], kind="stable")], len(member)
    if correction == "holm":
        factors[order] = np.arange(m, 0, -1)
    elif correction == "bh":
        factors[order] = m / np.arange(1, m + 1)
    return factors
