"""What mixtures say: metrics, fit tests, evidence for modes, and the report of all variants."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages.result import Result, plain
from ...stats.samples import Array
from .modality import (
    BANDWIDTH_REFERENCES,
    DIP_REFERENCES,
    STABLE,
    BandwidthTest,
    DipTest,
    FamilyFit,
    calls_multimodal,
    rejects_one_mode,
)

if TYPE_CHECKING:
    from ...pages.number_format import Word
    from ...record.run_numbers import Better
    from .model import Mixture
    from .refits import FittedSample
    from .report import MixtureOptions

# --- Many samples together: how many components and modes they have, and how often the test rejects.
#
# References
# ----------
# .. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
#        statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, sections 7.3, 7.4 and 7.6.


@dataclass(frozen=True, slots=True)
class ComponentCounts:
    """The number of components over samples (section 7.3); quartile of type 7."""

    median: float
    upper_quartile: float
    largest: int


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """What the fits of many samples have in common.

    `samples` have a mixture. `modes` counts them by the number of modes of their curve, the level of
    variability I4 (section 7.6); `rejected` are those of the `tested` whose fit test rejects at 5 %
    (section 7.4).
    """

    samples: int
    components: ComponentCounts
    modes: Mapping[int, int]
    tested: int
    rejected: int


def corpus_summary(fits: Iterable[tuple[Mixture | None, FitTest | None]]) -> CorpusSummary:
    """Sum up the fits of samples: pairs of a mixture and its fit test, None where there is none.

    Raises
    ------
    InsufficientDataError
        If no sample has a mixture.
    """
    pairs = list(fits)
    mixtures = [mixture for mixture, _ in pairs if mixture is not None]
    if not mixtures:
        raise InsufficientDataError("no sample has a mixture", n=0, needed=1)
    tests = [test for _, test in pairs if test is not None]
    k = np.array([mixture.components for mixture in mixtures])
    modes = Counter(int(mixture.modes().size) for mixture in mixtures)
    return CorpusSummary(
        samples=len(mixtures),
        components=ComponentCounts(float(np.median(k)), float(np.quantile(k, 0.75)), int(k.max())),
        modes=dict(sorted(modes.items())),
        tested=len(tests),
        rejected=sum(test.rejected() for test in tests),
    )


_HALVES = (
    "J. Shao, C. F. J. Wu, A general theory for jackknife variance estimation, Annals of "
    "Statistics 17, 1989 (deleting half of the values)",
)
_RANKS = (
    "H. B. Mann, D. R. Whitney, Annals of Mathematical Statistics 18, 1947",
    "R. G. Newcombe, Statistics in Medicine 25, 2006, method 5",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInterval(Result):
    """A metric of fitted mixtures with its percentile interval over resamples.

    `confidence` is nominal: with few values the interval covers less often (a caution says so).
    `replicates` resamples went into it, `failed` could not be fitted. Without replicates the ends
    are nan: nothing was resampled.
    """

    method: ClassVar[str] = "metric-interval"

    metric: str
    estimate: float
    low: float
    high: float
    confidence: float
    replicates: int
    failed: int
    references: tuple[str, ...] = _HALVES


@dataclass(frozen=True, slots=True, kw_only=True)
class RankShare(Result):
    """U / (n m): the share of pairs of runs in which X is faster, ties counted half."""

    method: ClassVar[str] = "rank-share"

    estimate: float
    low: float
    high: float
    confidence: float
    pairs: int
    ties: int
    references: tuple[str, ...] = _RANKS


@dataclass(frozen=True, slots=True, kw_only=True)
class FasterEstimate(Result):
    """P[X < Y + shift] twice: from the mixtures (I2) and from the ranks, without any model."""

    method: ClassVar[str] = "faster-estimate"

    shift: float
    mixture: MetricInterval
    ranks: RankShare
    references: tuple[str, ...] = (*_HALVES, *_RANKS)


TiesHandling = Literal["as-measured", "jitter"]

FIT_TEST_REFERENCES = (
    "J. Worms, S. Touati, Modelling program's performance with Gaussian mixtures for parametric "
    "statistics, IEEE TMSCS 2018, section 5",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FitTest(Result):
    """What the fit test says. Hypothesis: the values come from a mixture of Gaussians.

    `statistic` is the distance between the values and `mixture`, `distances` those of the
    replicates in ascending order. `pvalue` is (k + 1) / (N + 1), k replicates at least as far;
    `pvalue_published` the paper's k / N with k further ones, which can be 0. `critical` holds for
    each risk the [N (1 - risk)]-th ordered distance (nan when that is the 0th). `failed_fits`
    counts replicates that no candidate fits; their distance is taken as 1, the largest there is,
    so that they never make p smaller. With `ties` "jitter" the values were moved within the clock's
    step, `resolution`, and `mixture` is the one fitted to the moved values. `distinct` and
    `largest_tie` describe the values as measured: how many differ, and how many are equal at most.
    """

    method: ClassVar[str] = "ks-fit"
    unlisted: ClassVar[frozenset[str]] = frozenset({"mixture", "distances"})

    statistic: float
    pvalue: float
    pvalue_published: float
    critical: dict[float, float]
    failed_fits: int
    resamples: int
    max_components: int
    n: int
    mixture: Mixture
    distances: Array
    ties: TiesHandling
    resolution: float | None
    distinct: int
    largest_tie: int
    references: tuple[str, ...] = FIT_TEST_REFERENCES

    def rejected(self, risk: float = 0.05) -> bool:
        """Tell whether mixtures of Gaussians are rejected at a risk.

        Raises
        ------
        UsageError
            If the risk does not lie between 0 and 1.
        """
        if not 0 < risk < 1:
            raise UsageError(f"risk must lie between 0 and 1, not {risk!r}")
        return self.pvalue <= risk

    @property
    def further(self) -> int:
        """How many replicates are as far from their fit as the values, or further."""
        return round(self.pvalue * (self.resamples + 1)) - 1

    def body(self) -> dict[str, Any]:
        """Add whether mixtures are rejected at 5 %, and the components of the tested one."""
        return {
            "rejected": self.rejected(),
            "components": self.mixture.components,
            **Result.body(self),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorpusFit(Result):
    """One sample of a corpus: its fit and fit test, or `why` it has none."""

    method: ClassVar[str] = "fit-corpus"

    label: str
    mixture: Mixture | None
    test: FitTest | None
    why: str | None


MODALITY_REFERENCES = (
    "J. Worms, S. Touati, IEEE TMSCS 2018, section 6.4",
    *DIP_REFERENCES,
    *BANDWIDTH_REFERENCES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How far the choice of the fit returns in refitted resamples.

    `modes` and `components` give the share of the fitted resamples with each number of modes, and
    of components; `same_modes` and `same_components` the shares that agree with the fit itself;
    `several` the share with more than one mode.
    """

    resamples: int
    failed: int
    modes: dict[int, float]
    components: dict[int, float]
    same_modes: float
    same_components: float
    several: float


class FittedLaw(NamedTuple):
    """A law of the values as given: a single-peaked one, or the mixture."""

    name: str
    bic: float
    log_likelihood: float
    parameters: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModeEvidence(Result):
    """Whether the values have several modes, and what speaks for it.

    `modes` are those of the fitted density. `families` are the single-peaked laws, best BIC first;
    their BIC and `mixture_bic` belong to the values as given and can be compared.
    """

    method: ClassVar[str] = "mode-evidence"
    unlisted: ClassVar[frozenset[str]] = frozenset({"mixture"})

    n: int
    mixture: Mixture
    modes: tuple[float, ...]
    mixture_bic: float | None
    dip: DipTest
    bandwidth: BandwidthTest
    stability: Stability
    families: tuple[FamilyFit, ...]
    risk: float
    seed: int
    references: tuple[str, ...] = MODALITY_REFERENCES

    @property
    def rejected(self) -> bool:
        """Whether a test rejects a single mode, at half the risk each."""
        return rejects_one_mode(
            dip=self.dip.pvalue, bandwidth=self.bandwidth.pvalue, risk=self.risk
        )

    @property
    def multimodal(self) -> bool:
        """The outcome of the rule."""
        return calls_multimodal(
            len(self.modes),
            dip=self.dip.pvalue,
            bandwidth=self.bandwidth.pvalue,
            several=self.stability.several,
            risk=self.risk,
        )

    @property
    def laws(self) -> tuple[FittedLaw, ...]:
        """The mixture among the single-peaked laws, best BIC first."""
        laws = [
            FittedLaw(one.name, one.bic, one.log_likelihood, one.parameters)
            for one in self.families
        ]
        if self.mixture_bic is not None:
            k = self.mixture.components
            count = 2 * k if self.mixture.equal_variance else 3 * k - 1
            likelihood = (self.mixture_bic + count * math.log(self.n)) / 2
            laws.append(FittedLaw(f"mixture of {k}", self.mixture_bic, likelihood, count))
        return tuple(sorted(laws, key=lambda law: (law.bic, law.name), reverse=True))

    @property
    def conclusion(self) -> str:
        """The answer in one sentence."""
        count = len(self.modes)
        places = ", ".join(f"{mode:.6g}" for mode in self.modes)
        if self.multimodal:
            return (
                f"multimodal: the values have {count} modes by the fitted mixture, at {places}; "
                "that there are several is supported by a test and by resampling, their exact "
                "number only as far as the shares below say"
            )
        if count == 1:
            return f"one mode, at {places}: the fitted mixture has no second one"
        missing = [] if self.rejected else ["no test rejects a single mode"]
        several = self.stability.several
        if several < STABLE:
            missing.append(f"only {100 * several:.0f} % of the resamples have several")
        return (
            f"not shown to be multimodal: the fitted mixture has {count} modes, at {places}, but "
            f"{' and '.join(missing)}"
        )

    def body(self) -> dict[str, Any]:
        """Add the outcome, and the size of the mixture."""
        return {
            "multimodal": self.multimodal,
            "conclusion": self.conclusion,
            "mixture_components": self.mixture.components,
            **Result.body(self),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixtureCell(Result):
    """What a mixture says about the values of one variant on one benchmark.

    `mixture` is None where no fit exists, and `problem` says why. `fit_test`, `evidence` and
    `refits` are None when no resamples were asked for, or there are too few values. `clusters` holds
    the values of each component as they were measured, where that was asked for (appendix 1).
    """

    method: ClassVar[str] = "mixture-cell"
    unlisted: ClassVar[frozenset[str]] = frozenset({"benchmark", "values", "refits", "clusters"})

    benchmark: str
    variant: str
    values: Array
    problem: str | None = None
    mixture: Mixture | None = None
    fit_test: FitTest | None = None
    evidence: ModeEvidence | None = None
    refits: FittedSample | None = None
    quantiles: tuple[MetricInterval, ...] = ()
    below: tuple[MetricInterval, ...] = ()
    clusters: tuple[Array, ...] | None = None

    @property
    def fitted(self) -> Mixture:
        """The mixture, where there must be one."""
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
        listed = {} if self.clusters is None else {"clusters": plain(self.clusters)}
        return {
            "n": int(self.values.size),
            "classification": plain(of),
            **listed,
            **Result.body(self),
        }


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

    @property
    def corpus(self) -> CorpusSummary:
        """All samples together."""
        return corpus_summary((cell.mixture, cell.fit_test) for cell in self.cells)

    def body(self) -> dict[str, Any]:
        """Add the benchmarks, and the options that shape the numbers: threads and lists do not."""
        options = plain(self.options)
        del options["workers"], options["clusters"]
        return {
            "detailed": self.detailed,
            "corpus": None if self.detailed else plain(self.corpus),
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
