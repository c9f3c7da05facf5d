"""How well a response could be predicted at best: its own noise is the ceiling.

A measured response is its true value plus noise. What predicts the true value exactly correlates
with the measured one by the root of its reliability [1]_, the share of the measured variance that
is not noise::

    ceiling = sqrt(1 - mean noise variance / variance of the response)

References
----------
.. [1] C. Spearman, "The proof and measurement of association between two things", American Journal
   of Psychology 15, 1904 (attenuation).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .result import Ceiling

__all__ = ["ceiling_of", "noise_of_log_sd", "noise_of_mean"]

Array = NDArray[np.float64]


def ceiling_of(values: Array, noise: Array) -> Ceiling:
    """Give the correlation that no prediction of these values can pass, but by chance.

    Parameters
    ----------
    values : array of float, shape (rows,)
        The measured response.
    noise : array of float, shape (rows,)
        The variance of its noise; nan where unknown, and the mean of the others stands for it.
    """
    known = noise[~np.isnan(noise)]
    share = min(1.0, float(known.mean()) / float(values.var(ddof=1)))
    return Ceiling(correlation=math.sqrt(1 - share), noise_share=share, rows=len(known))


def noise_of_mean(sds: Array, runs: Array) -> Array:
    """Give the variance of a mean of runs that have these standard deviations."""
    return np.asarray(sds**2 / runs)


def noise_of_log_sd(sds: Array, means: Array, runs: Array) -> Array:
    """Give the variance of log(sd / mean), of few runs.

    For normal runs (k - 1) s^2 / sigma^2 follows a chi-squared law, so that the variance of log s is
    a quarter of trigamma((k - 1) / 2), whatever sigma is: 0.41 for three runs. The mean adds its
    relative variance.
    """
    from scipy.special import polygamma

    return np.asarray(polygamma(1, (runs - 1) / 2) / 4 + (sds / means) ** 2 / runs)
