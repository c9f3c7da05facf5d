"""When a sample is called multimodal.

The number of modes of a fitted mixture (I4) exceeds 1 for most samples of a single skewed peak.
So a sample is called multimodal only when

1. the density of its mixture has several modes,
2. the dip test or the bandwidth test rejects a single mode at half the risk each, so that both
   together keep it, and
3. at least three in four refitted resamples have several modes too.
"""

from __future__ import annotations

__all__ = ["STABLE", "calls_multimodal", "rejects_one_mode"]

STABLE = 0.75


def rejects_one_mode(*, dip: float, bandwidth: float, risk: float = 0.05) -> bool:
    """Tell whether a test rejects a single mode, from the p-values of both."""
    return min(dip, bandwidth) <= risk / 2


def calls_multimodal(
    modes: int, *, dip: float, bandwidth: float, several: float, risk: float = 0.05
) -> bool:
    """Tell whether a sample is called multimodal.

    Parameters
    ----------
    modes : int
        Of the density of the fitted mixture.
    dip, bandwidth : float
        The p-values of `dip_test` and `bandwidth_test`.
    several : float
        The share of refitted resamples with more than one mode.
    risk : float
        Of both tests together.
    """
    return (
        modes > 1
        and rejects_one_mode(dip=dip, bandwidth=bandwidth, risk=risk)
        and several >= STABLE
    )
