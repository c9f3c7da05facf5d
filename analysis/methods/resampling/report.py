"""The whole answer by resampling: ratio and interval, p-value, and both empirical distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data import Centre, Mean, PerformanceMatrix
from ...errors import InsufficientDataError
from ...report import as_text
from ...stats import stream
from .distribution.compare import DistributionComparison, compare_distributions
from .interval.compare import BootstrapInterval, bootstrap_speedup
from .interval.result import Interval, Sides
from .randomization.compare import Alternative, RandomizationTest, randomization_test
from .units import Unit

__all__ = ["ResamplingReport", "resampling_report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResamplingReport:
    """All that resampling says about a candidate against a baseline.

    `interval` is None where there are too few runs for one; `no_interval` then says why.
    """

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

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader should know, each once."""
        known = dict.fromkeys(self.test.cautions)
        if self.interval is not None:
            known.update(dict.fromkeys(self.interval.cautions))
        known.update(dict.fromkeys(self.distributions.cautions))
        return tuple(known)

    @property
    def references(self) -> tuple[str, ...]:
        """Where the methods come from."""
        interval = () if self.interval is None else self.interval.references
        systems = self.distributions.systems[0].references
        return tuple(dict.fromkeys([*self.test.references, *interval, *systems]))

    def to_dict(self) -> dict[str, Any]:
        """Give the test as JSON types, and beside it the interval and the distributions."""
        return {
            **self.test.to_dict(),
            "seed": self.seed,
            "conclusions": list(self.conclusions),
            "cautions": list(self.cautions),
            "references": list(self.references),
            "interval": None if self.interval is None else self.interval.to_dict(),
            "no_interval": self.no_interval,
            "distributions": self.distributions.to_dict(),
        }

    def __str__(self) -> str:
        lines = []
        for conclusion in self.conclusions:
            lines += as_text.wrapped(conclusion)
        parts: list[tuple[str, RandomizationTest | BootstrapInterval]] = [("test", self.test)]
        if self.interval is not None:
            parts.append(("interval", self.interval))
        for name, part in parts:
            lines += ["", name, *(f"  {line}" for line in _details(str(part)))]
        lines += ["", *self.distributions.table()]
        if self.seed is not None:
            lines += ["", f"seed {self.seed}"]
        return "\n".join([*lines, *as_text.numbered(self.cautions)])


def _details(text: str) -> list[str]:
    """Give what stands between a result's conclusion and its cautions."""
    _, _, rest = text.partition("\n\n")
    body, _, _ = rest.partition("\ncautions\n")
    return body.splitlines()


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
    """Test the ratio, give its interval, and describe both systems.

    Parameters
    ----------
    candidate, baseline, mean, centre, unit
        As for `randomization_test` and `bootstrap_speedup`.
    others : sequence of PerformanceMatrix
        Further systems, whose distributions are set beside those of the two.
    alternative
        As for `randomization_test`.
    interval, sides, confidence
        As for `bootstrap_speedup`.
    resamples : int
        For each of the three, 2 to 10,000,000.
    rng : numpy.random.Generator
        The source of randomness; one number is drawn from it.
    seed : int, optional
        The seed that `rng` was made from, for the record.

    Raises
    ------
    UsageError
        If an argument is out of its range.
    AnalysisError
        If the matrices do not go together, or an answer leaves the range of numbers. Too few runs
        for an interval are no error: the report says so.
    """
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
    return ResamplingReport(
        test=test,
        interval=found,
        no_interval=missing,
        distributions=compare_distributions(
            (candidate, baseline, *others),
            mean=mean,
            resamples=resamples,
            rng=stream(root, "passes"),
        ),
        seed=seed,
    )
