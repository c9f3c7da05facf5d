"""The whole answer by resampling: ratio and interval, p-value, and both empirical distributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import InsufficientDataError
from ...pages.model import Caution, merged
from ...pages.result import Result, cautions_to_dict
from ...stats.arguments import stream
from .bootstrap import bootstrap_speedup
from .distribution import compare_distributions
from .randomization import randomization_test
from .result import DISTRIBUTION_REFERENCES

if TYPE_CHECKING:
    import numpy as np

    from ...data.matrix import PerformanceMatrix
    from ...data.pair import Centre, Mean
    from .result import (
        Alternative,
        BootstrapInterval,
        DistributionComparison,
        Interval,
        RandomizationTest,
        Sides,
    )
    from .units import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class ResamplingReport(Result):
    """All that resampling says about a candidate against a baseline.

    `interval` is None where there are too few runs for one; `no_interval` then says why.
    """

    method: ClassVar[str] = "resample"

    test: RandomizationTest
    interval: BootstrapInterval | None
    no_interval: str | None
    distributions: DistributionComparison
    seed: int | None

    @property
    def conclusions(self) -> tuple[str, ...]:
        """The test's, the interval's and the distributions' conclusion."""
        interval = (
            f"no interval: {self.no_interval}"
            if self.interval is None
            else self.interval.conclusion
        )
        return (self.test.conclusion, interval, self.distributions.conclusion)

    def body(self) -> dict[str, Any]:
        """Give the test, and beside it the interval and the distributions."""
        return {
            **self.test.body(),
            "word": "undecided" if self.interval is None else self.interval.word,
            "seed": self.seed,
            "conclusions": list(self.conclusions),
            **cautions_to_dict(self.cautions),
            "references": list(self.references),
            "interval": None if self.interval is None else self.interval.body(),
            "no_interval": self.no_interval,
            "distributions": self.distributions.body(),
        }


def resampling_report(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    others: Sequence[PerformanceMatrix] = (),
    mean: Mean = "geometric",
    centre: Centre = "runs",
    alternative: Alternative = "two-sided",
    unit: Unit | None = None,
    interval: Interval = "percentile",
    sides: Sides = "two",
    confidence: float = 0.95,
    resamples: int = 10_000,
    rng: np.random.Generator,
    seed: int | None = None,
) -> ResamplingReport:
    """Test the ratio, give its interval, and describe both systems."""
    root = int(rng.integers(2**63))
    test = randomization_test(
        candidate,
        baseline,
        mean=mean,
        centre=centre,
        alternative=alternative,
        unit=unit,
        resamples=resamples,
        rng=stream(root, "test"),
    )
    found, missing = None, None
    try:
        found = bootstrap_speedup(
            candidate,
            baseline,
            mean=mean,
            centre=centre,
            interval=interval,
            confidence=confidence,
            sides=sides,
            resamples=resamples,
            rng=stream(root, "interval"),
            unit=unit,
        )
    except InsufficientDataError as error:
        missing = f"{error.what}" + (f"; {error.fix}" if error.fix else "")
    distributions = compare_distributions(
        (candidate, baseline, *others),
        mean=mean,
        resamples=resamples,
        rng=stream(root, "passes"),
    )
    parts = [part for part in (test, found, distributions) if part is not None]
    return ResamplingReport(
        test=test,
        interval=found,
        no_interval=missing,
        distributions=distributions,
        seed=seed,
        cautions=tuple(_joined(*(part.cautions for part in parts))),
        references=tuple(dict.fromkeys(text for part in parts for text in part.references)),
    )


def _joined(test: Sequence[Caution], *others: Sequence[Caution]) -> Iterator[Caution]:
    """Give each caution once, but all of the test's: two sides may bear one name and one caution."""
    yield from test
    yield from (caution for caution in merged(*others) if caution not in test)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassesReport(Result):
    """What one pass over the suite gives on one system, or on several."""

    method: ClassVar[str] = "resample"

    distributions: DistributionComparison
    seed: int
    references: tuple[str, ...] = DISTRIBUTION_REFERENCES
