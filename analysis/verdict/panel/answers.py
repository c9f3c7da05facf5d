"""The published methods' own results on one comparison."""

from __future__ import annotations

from dataclasses import dataclass

from ...methods.hpt import HptResult
from ...methods.resampling import BootstrapInterval, RandomizationTest
from ...methods.speedup_test import SpeedupSuite

__all__ = ["Answers"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """The methods' own results, None where one could not answer."""

    hpt: HptResult | None = None
    at_estimate: float | None = None
    suite: SpeedupSuite | None = None
    randomized: RandomizationTest | None = None
    bootstrap: BootstrapInterval | None = None
    chances: tuple[float, ...] = ()
    friedman: float | None = None
