"""Corrections of p-values for their number.

References
----------
.. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
   Statistics 6, 1979.
.. [2] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
   Statistical Society B 57, 1995.
"""

from __future__ import annotations

import bisect
import math
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
    for "none" and where there is no p-value. Equal ones have one step, at which all are decided.
    """
    check_correction(correction)
    given = np.array(pvalues, dtype=np.float64)
    factors = np.ones(given.shape)
    member = np.flatnonzero(~np.isnan(given))
    known, m = given[member], len(member)
    if correction == "holm":
        factors[member] = m - np.searchsorted(np.sort(known), known)
    elif correction == "bh":
        factors[member] = m / np.searchsorted(np.sort(known), known, side="right")
    return factors


# --- Looks at sessions while they are measured: when one looks, and what each look may risk.
#
# The interval of a look is that of t at a nominal risk, the same at every look, so small that all
# looks together are wrong with no more than the risk that was asked for ([3]_, [4]_). For session
# differences of one normal law that is exact: t at the looks is free of their scale, so its law was
# simulated once. Nothing is spent at numbers of sessions that are no looks.
#
# References
# ----------
# .. [3] S. J. Pocock, "Group sequential methods in the design and analysis of clinical trials",
#    Biometrika 64, 1977.
# .. [4] C. Jennison, B. W. Turnbull, "Interim analyses: the repeated confidence interval approach",
#    Journal of the Royal Statistical Society B 51, 1989.


_LOOKS, _OPEN_LOOKS = 15, 23  # how many there are in the lists

# risk of all looks together, nominal risk of each of the list and of the open one; made by tests/calibration/make_looks_table.py
_NOMINAL = (
    (0.0001, 7.749e-06, 5.238e-06),
    (0.0002, 1.579e-05, 1.074e-05),
    (0.0005, 4.142e-05, 2.764e-05),
    (0.001, 8.506e-05, 5.719e-05),
    (0.0025, 0.0002215, 0.0001482),
    (0.005, 0.0004604, 0.0003086),
    (0.01, 0.0009694, 0.0006494),
    (0.0125, 0.001235, 0.0008266),
    (0.05 / 3, 0.001699, 0.00113),
    (0.025, 0.002659, 0.001772),
    (0.05, 0.00581, 0.003857),
    (0.1, 0.01303, 0.008614),
    (0.2, 0.03037, 0.02007),
    (0.3, 0.05127, 0.03397),
    (0.4, 0.07598, 0.05065),
    (0.5, 0.105, 0.07067),
    (0.6, 0.1396, 0.09502),
    (0.7, 0.182, 0.1257),
    (0.8, 0.2367, 0.1669),
    (0.85, 0.272, 0.1944),
    (0.9, 0.3171, 0.2308),
    (0.93, 0.353, 0.2606),
    (0.96, 0.403, 0.3033),
    (0.98, 0.4558, 0.3503),
    (0.99, 0.5009, 0.3919),
)


def nominal_risk(risk: float, *, open: bool = False) -> float:
    """Give the two-sided risk of each look, so that all looks together have `risk`.

    Parameters
    ----------
    risk : float
        That an interval misses the truth at any look, between 0 and 1.
    open : bool
        Whether the list goes on to 1,024 sessions (`OPEN_LOOKS`), or ends at 108 (`LOOKS` of
        `analysis/record/trial_files.py`).

    Returns
    -------
    float
        Between the simulated risks by interpolation of logarithms; below them the risk divided by the
        number of looks, which holds by Bonferroni's inequality.

    Raises
    ------
    UsageError
        If the risk does not lie between 0 and 1.
    """
    if not 0 < risk < 1:
        raise UsageError(f"the risk of all looks must lie between 0 and 1, not {risk!r}")
    if risk < _NOMINAL[0][0]:
        return risk / (_OPEN_LOOKS if open else _LOOKS)
    place = min(bisect.bisect_right(_NOMINAL, (risk, 1.0)), len(_NOMINAL) - 1)
    (low, *left), (high, *right) = _NOMINAL[place - 1], _NOMINAL[place]
    a, b = left[open], right[open]
    share = min((math.log(risk) - math.log(low)) / (math.log(high) - math.log(low)), 1.0)
    return math.exp(math.log(a) + share * (math.log(b) - math.log(a)))
