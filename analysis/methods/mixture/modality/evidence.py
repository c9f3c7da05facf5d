"""Weigh the evidence for several modes: tests, refitted resamples, and skew as rival.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 6.4.
.. [2] J. A. Hartigan, P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13, 1985.
.. [3] B. W. Silverman, "Using kernel density estimates to investigate multimodality", Journal of
       the Royal Statistical Society B 43, 1981.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ....errors import UsageError
from ....stats import door, stream
from ..model.mixture import Mixture
from ..refits import Fit, FittedSample, fitted_sample
from ..values import checked
from .cautions import mode_cautions
from .dip_and_bandwidth import bandwidth_test, dip_test
from .families import LEAST as FAMILIES_LEAST, skewed_families
from .result import ModeEvidence, Stability

__all__ = ["mode_evidence", "stability"]


def stability(sample: FittedSample) -> Stability:
    """Count modes and components in the refitted resamples."""
    total = len(sample.replicates)
    modes = [mixture.modes().size for mixture in sample.replicates]
    components = [mixture.components for mixture in sample.replicates]
    return Stability(
        resamples=total,
        failed=sample.failed,
        modes=_shares(modes),
        components=_shares(components),
        same_modes=modes.count(sample.mixture.modes().size) / total,
        same_components=components.count(sample.mixture.components) / total,
        several=sum(count > 1 for count in modes) / total,
    )


def _shares(counts: list[int]) -> dict[int, float]:
    return {key: count / len(counts) for key, count in sorted(Counter(counts).items())}


@door
def mode_evidence(
    values: ArrayLike,
    mixture: Mixture,
    *,
    sample: FittedSample | None = None,
    fit: Fit | None = None,
    risk: float = 0.05,
    resamples: int = 200,
    rng: np.random.Generator,
) -> ModeEvidence:
    """Weigh the evidence for several modes.

    Hypothesis: one mode. The rule is `calls_multimodal`. Ties are spread over the
    clock's tick before the tests.

    Parameters
    ----------
    values : array_like
        At least 4 values, not all equal: those that `mixture` was fitted to.
    mixture : Mixture
        Their fit.
    sample : FittedSample, optional
        Refitted resamples, where they exist already; then `fit` and `resamples` are not used.
    fit, resamples
        As in `fitted_sample`.
    risk : float
        Of both tests together.
    rng : numpy.random.Generator
        One number of it seeds the streams of the tests and resamples.

    Raises
    ------
    UsageError
        If the risk is out of range, or `resamples` is less than 1.
    InsufficientDataError, AnalysisError
        If there are too few values, one is not finite, or all are equal.
    """
    if not 0 < risk < 1:
        raise UsageError(f"the risk must lie between 0 and 1, and is {risk}")
    x = checked(values)
    seed = int(rng.integers(2**63))
    if sample is None:
        sample = fitted_sample(
            x, mixture, fit=fit, resamples=resamples, rng=stream(seed, "mixture-resamples")
        )
    bic = mixture.bic
    if bic is not None and mixture.scale == "log":
        bic -= 2 * float(np.log(x).sum())  # the density of x, not of ln x
    found = ModeEvidence(
        n=x.size,
        mixture=mixture,
        modes=tuple(mixture.modes().tolist()),
        mixture_bic=bic,
        dip=dip_test(x, rng=stream(seed, "dip")),
        bandwidth=bandwidth_test(x, rng=stream(seed, "bandwidth")),
        stability=stability(sample),
        families=skewed_families(x) if x.size >= FAMILIES_LEAST else (),
        risk=risk,
        seed=seed,
    )
    return replace(found, cautions=tuple(mode_cautions(found)))
