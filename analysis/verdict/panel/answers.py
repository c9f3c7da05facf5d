"""The published methods' own results on one comparison."""

from __future__ import annotations

from dataclasses import dataclass

from ...methods.hpt import HptResult, HptSpeedup
from ...methods.mixture import Mixture
from ...methods.resampling import BootstrapInterval, RandomizationTest
from ...methods.speedup_test import SpeedupSuite

__all__ = ["Answers", "MixturePair"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixturePair:
    """The mixtures of both sides on one benchmark."""

    benchmark: str
    candidate: Mixture
    baseline: Mixture


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """The methods' own results, None where one could not answer.

    Attributes
    ----------
    hpt, suite, randomized, bootstrap
        What each method gives.
    at_estimate : float or None
        HPT's reliability at the session intervals' speedup.
    best : HptSpeedup or None
        The largest speedup that HPT claims, with its whole curve.
    mixtures : tuple of MixturePair
        Of the benchmarks that can be fitted on both sides.
    chances : tuple of float
        I2 of each of them, in the same order.
    friedman : float or None
        Its p.
    """

    hpt: HptResult | None = None
    at_estimate: float | None = None
    best: HptSpeedup | None = None
    suite: SpeedupSuite | None = None
    randomized: RandomizationTest | None = None
    bootstrap: BootstrapInterval | None = None
    mixtures: tuple[MixturePair, ...] = ()
    chances: tuple[float, ...] = ()
    friedman: float | None = None
