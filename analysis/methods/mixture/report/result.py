"""What mixtures say about variants: of one on one benchmark, of all in a single run, of everything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ....errors import AnalysisError
from ....record import Better
from ....report import Result, Word, plain
from ..goodness.result import FitTest
from ..metrics.result import FasterEstimate, MetricInterval
from ..modality.result import ModeEvidence
from ..model.mixture import Mixture
from ..refits import FittedSample
from .options import MixtureOptions

__all__ = ["BenchmarkMixtures", "MixtureCell", "MixtureContest", "MixturePair", "MixtureReport"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixtureCell(Result):
    """What a mixture says about the values of one variant on one benchmark.

    `mixture` is None where no fit exists, and `problem` says why. `fit_test`, `evidence` and
    `refits` are None when no resamples were asked for, or there are too few values.
    """

    method: ClassVar[str] = "mixture-cell"
    unlisted: ClassVar[frozenset[str]] = frozenset({"benchmark", "values", "refits"})

    benchmark: str
    variant: str
    values: NDArray[np.float64]
    problem: str | None = None
    mixture: Mixture | None = None
    fit_test: FitTest | None = None
    evidence: ModeEvidence | None = None
    refits: FittedSample | None = None
    quantiles: tuple[MetricInterval, ...] = ()
    below: tuple[MetricInterval, ...] = ()

    @property
    def fitted(self) -> Mixture:
        """The mixture, where there must be one.

        Raises
        ------
        AnalysisError
            If there is none.
        """
        if self.mixture is None:
            raise AnalysisError(f"{self.variant!r} has no mixture", self.benchmark)
        return self.mixture

    @property
    def runner_up(self) -> tuple[str, float] | None:
        """The second best candidate of the fit and its BIC, such as ("V4", -76.1)."""
        if self.mixture is None or self.mixture.bic_table is None:
            return None
        chosen = ("E" if self.mixture.equal_variance else "V", self.mixture.components)
        rest = [
            (bic, f"{model}{k}")
            for model, row in self.mixture.bic_table.items()
            for k, bic in enumerate(row, 1)
            # one component is the same candidate twice
            if math.isfinite(bic) and (model, k) != chosen and not (model == "V" and k == 1)
        ]
        if not rest:
            return None
        bic, name = max(rest)
        return name, bic

    def body(self) -> dict[str, Any]:
        """Add the number of values, and the component of each."""
        of = None if self.mixture is None else self.mixture.classify(self.values)
        return {"n": int(self.values.size), "classification": plain(of), **Result.body(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MixturePair:
    """Two variants: both chances to win (I2), and how far single runs lie apart (I1).

    `forward` is the chance that a run of `first` beats one of `second`, `backward` the other way.
    `word` says what `first` is in a single run, by the counted chance: undecided where its interval
    holds one half.
    """

    derived: ClassVar[tuple[str, ...]] = ("word",)

    first: str
    second: str
    forward: FasterEstimate
    backward: FasterEstimate
    mean_difference: MetricInterval

    @property
    def word(self) -> Word:
        """What the first is."""
        ranks = self.forward.ranks
        if ranks.low <= 0.5 <= ranks.high:
            return "undecided"
        return "faster" if ranks.low > 0.5 else "slower"


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureContest(Result):
    """One run of each variant: `chances` (I3) that it is the best of all, which sum to 1.

    `variants` and `chances` stand in the same order, that of the sources. `left_out` could not be
    fitted. With more than eight variants `pairs` holds those with the likeliest winner only.
    """

    method: ClassVar[str] = "mixture-contest"
    unlisted: ClassVar[frozenset[str]] = frozenset({"variants", "chances", "unit"})

    variants: tuple[str, ...]
    better: Better
    unit: str
    chances: tuple[MetricInterval, ...]
    pairs: tuple[MixturePair, ...]
    left_out: tuple[str, ...]

    @property
    def best(self) -> int:
        """The place of the likeliest winner in `variants`."""
        return max(range(len(self.variants)), key=lambda k: self.chances[k].estimate)

    def body(self) -> dict[str, Any]:
        """Name the winner, and give each variant's chance by its name."""
        return {
            "best": self.variants[self.best],
            "best_in_a_single_run": plain(dict(zip(self.variants, self.chances, strict=True))),
            **Result.body(self),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BenchmarkMixtures:
    """One benchmark: a cell for each variant that has it, and their contest if there are several."""

    benchmark: str
    cells: tuple[MixtureCell, ...]
    contest: MixtureContest | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixtureReport(Result):
    """All that mixtures say about the runs of one or more variants.

    With one benchmark (`detailed`) each cell holds the evidence for its modes and all metrics have
    intervals; with several there are fits, fit tests and chances only.
    """

    method: ClassVar[str] = "mixture"
    unlisted: ClassVar[frozenset[str]] = frozenset({"benchmarks", "options"})

    benchmarks: tuple[BenchmarkMixtures, ...]
    variants: tuple[str, ...]
    better: Better
    unit: str
    options: MixtureOptions
    seed: int | None

    @property
    def detailed(self) -> bool:
        """Whether there is one benchmark only."""
        return len(self.benchmarks) == 1

    @property
    def cells(self) -> tuple[MixtureCell, ...]:
        """The cells of all benchmarks."""
        return tuple(cell for one in self.benchmarks for cell in one.cells)

    def body(self) -> dict[str, Any]:
        """Add the benchmarks, and the options that shape the numbers: the threads do not."""
        options = plain(self.options)
        del options["workers"]
        return {
            "detailed": self.detailed,
            "options": options,
            "benchmarks": [
                {
                    "benchmark": one.benchmark,
                    "variants": plain(one.cells),
                    "contest": plain(one.contest),
                }
                for one in self.benchmarks
            ],
            **Result.body(self),
        }
