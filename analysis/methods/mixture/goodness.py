"""Does a mixture fit? The Kolmogorov-Smirnov distance of a sample or a corpus, by bootstrap.

The distance between the values and a mixture fitted to them is smaller than to the law that they
come from, so the usual table never rejects. Here samples are drawn from the fitted mixture, and each
goes through the whole procedure again: number of components and variances are chosen anew, and its
distance taken (section 5.1).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages import number_format as figures
from ...pages.model import Caution, Page, cautions_of, page, section, table_of
from ...pages.result import Result, plain
from ...stats.arguments import between, checks_arguments, chosen, counted, stream
from ...stats.samples import Array, clock_step, read_only
from ...stats.workers import MOST_WORKERS, Progress, at_once, in_order
from ...words import Name
from .fit import MOST_COMPONENTS, MOST_STARTS, check_floor_and_scale, fit_mixture, prepared
from .model import Mixture, Scale

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
        return self.pvalue <= between("risk", risk)

    @property
    def further(self) -> int:
        """How many replicates are as far from their fit as the values, or further."""
        return round(self.pvalue * (self.resamples + 1)) - 1

    def body(self) -> dict[str, Any]:
        """Add whether mixtures are rejected at 5 %, and the components of the tested one."""
        head = {"rejected": self.rejected(), "components": self.mixture.components}
        return {**head, **Result.body(self)}

    def screen(self) -> Page:
        """Set the outcome, and the distances that decide."""
        critical = table_of(
            "critical-distances",
            ["critical distance"],
            ("<risk", str),
            *(
                (f"{risk:g}", lambda _, distance=distance: plain(distance), "{:.4f}".format)
                for risk, distance in self.critical.items()
            ),
        )
        head = f"these {self.n} values show no departure from a mixture of Gaussians"
        if self.rejected():
            head = f"no mixture of Gaussians fits these {self.n} values"
        fitted = figures.counted(self.mixture.components, "Gaussian")
        texts = [
            f"{head} (p {figures.pvalue(self.pvalue)})",
            f"the distance from the fitted {fitted} is {self.statistic:.4f}; {self.further} of "
            f"{self.resamples} samples drawn from the fit and fitted again are as far or further",
        ]
        if not self.rejected():
            texts.append(
                "this is weak evidence for the fit: the test separates about one in ten samples of 35 "
                "lognormal values from a mixture"
            )
        published = f"p as published, k/N: {self.pvalue_published:.4g}"
        return page(
            self, "Fit of a Gaussian mixture", section(*texts), section(critical, published)
        )


def ks_cautions(test: FitTest, given: Mixture) -> tuple[Caution, ...]:
    """Say what limits a test of the values to which the mixture `given` was fitted."""
    n, count, moved = test.n, test.resamples, test.ties == "jitter"
    # a continuous function must miss one end of a step by half its height
    least, critical = test.largest_tie / (2 * n), test.critical[0.05]
    steep = test.largest_tie > 1 and not least < 0.5 * critical
    tried = given.bic_table and len(given.bic_table["V"])
    return cautions_of(
        {
            "nothing-moved": moved
            and test.resolution is None
            and "the values have neither ties nor a common step: nothing was moved",
            "moved-at-random": moved
            and test.resolution is not None
            and f"every value was moved at random within the clock's step of {test.resolution:.6g}: "
            "another seed gives another p",
            "ties-make-distance": steep
            and not moved
            and f"{test.largest_tie} of {n} values are equal, which alone makes a distance of "
            f"{least:.4f} (critical at 5 %: {critical:.4f}): the test rejects clocks, not mixtures; "
            'take ties="jitter", or measure with a finer clock',
            "fitted-to-others": given.n not in (None, n)
            and f"the mixture was fitted to {given.n} values and these are {n}: the test is "
            "calibrated for the values of the fit",
            "components-differ": tried not in (None, test.max_components)
            and f"the mixture was chosen from up to {tried} components, the replicates' from up to "
            f"{test.max_components}",
            "few-replicates": count < 200
            and f"few samples were drawn ({count}): p cannot be less than 1/{count + 1}, and the "
            "authors ask for 200 at least",
            "replicates-without-fit": test.failed_fits > 0
            and f"no candidate fits {test.failed_fits} of {count} replicates; they count as further "
            "away than the values",
        }
    )


def jittered(
    values: Array, step: float | None, rng: np.random.Generator
) -> tuple[Array, float | None]:
    """Move every value by a uniform share of the clock's step, at most half a step either way."""
    check_floor_and_scale(0.0, step, "linear")
    width = clock_step(values) if step is None else step
    if width is None:
        if np.unique(values).size < values.size:
            raise AnalysisError(
                "values tie, but their differences have no common step",
                fix="give the clock's step as resolution",
            )
        return values, None
    return values + width * (rng.random(values.size) - 0.5), width


MOST_RESAMPLES = 10_000_000
_FAILED = 1.0  # the distance of a replicate that no candidate fits: the largest there is
_CHUNK = 8000  # values drawn in one go; between two goes a run can be interrupted


@checks_arguments
def ks_fit(
    values: ArrayLike,
    mixture: Mixture,
    *,
    resamples: int = 500,
    max_components: int = 9,
    rng: np.random.Generator,
    workers: int | None = None,
    ties: TiesHandling = "as-measured",
    resolution: float | None = None,
    starts: int = 1,
    variance_floor: float = 0.0,
    progress: Progress | None = None,
) -> FitTest:
    """Test whether values come from a mixture of Gaussians (section 5.1).

    Hypothesis: the values are a sample of some mixture of at most `max_components` Gaussians,
    against everything else. N samples of the same size are drawn from `mixture`, fitted by
    `fit_mixture` with K and variances chosen anew, and their distances taken.

    Parameters
    ----------
    values : array_like, shape (n,)
        At least 2 finite values, those to which the mixture was fitted, in the same unit.
    mixture : Mixture
        The fit. One of logarithms is tested on logarithms.
    resamples : int
        N, the number of samples drawn. The paper asks for 200 at least.
    max_components, starts, variance_floor : int, int, float
        As in the fit: each drawn sample must be fitted as the values were.
    rng : numpy.random.Generator
        Where the samples come from. The result depends on it alone, not on `workers`.
    workers : int, optional
        Portions of the samples at the same time, as in `fit_corpus`: threads unless a
        ``joblib.parallel_config`` around the call says otherwise.
    ties : {"as-measured", "jitter"}
        The test is one for continuous values, and rejects too often when many tie. "jitter" moves
        every value by a uniform share of the clock's step (half a step at most), fits the moved
        values anew, and tests that fit.
    resolution : float, optional
        The clock's step for "jitter", in the values' unit; unless given, the greatest step that divides
        all differences.
    progress : callable, optional
        Called now and then, in the caller's thread, with the replicates done and N. What it raises
        ends the test.

    Raises
    ------
    UsageError
        If an argument is out of its range.
    InsufficientDataError, AnalysisError
        As `fit_mixture`; also if values tie without a common step and none is given.
    """
    from .fit_kernel import distance

    count = counted("resamples", resamples, most=MOST_RESAMPLES)
    most = counted("max_components", max_components, most=MOST_COMPONENTS)
    further = counted("starts", starts, most=MOST_STARTS)
    if workers is not None:
        counted("workers", workers, most=MOST_WORKERS)
    chosen("ties", ties, ("as-measured", "jitter"))
    if resolution is not None and ties != "jitter":
        raise UsageError("resolution is the step of jitter", fix='take ties="jitter"')
    # any floor: whether equal values are an error is decided after the jitter
    measured = prepared(values, variance_floor=1.0).values
    repeats = np.unique(measured, return_counts=True)[1]
    moved, tested, step = measured, mixture, None
    options: dict[str, Any] = {"variance_floor": variance_floor, "scale": mixture.scale}
    if ties == "jitter":
        moved, step = jittered(measured, resolution, rng)
        tested = fit_mixture(moved, max_components=most, starts=further, rng=rng, **options)
    sample = prepared(moved, **options)
    seeds = rng.integers(0, 2**64, size=count, dtype=np.uint64)
    limits = sample.values.size, sample.floor, further, most
    rows = np.stack([tested.weights, tested.means, tested.sds])
    portion = partial(_portion, rows=rows, limits=limits)
    found = _distances(portion, seeds, sample.values.size, workers=workers, progress=progress)
    failed = int(np.isnan(found).sum())
    found = read_only(np.sort(np.where(np.isnan(found), _FAILED, found)))
    statistic = distance(sample.values, rows)
    result = FitTest(
        statistic=statistic,
        pvalue=(count - int(np.searchsorted(found, statistic)) + 1) / (count + 1),
        pvalue_published=(count - int(np.searchsorted(found, statistic, "right"))) / count,
        critical={risk: _ordered(found, risk) for risk in (0.1, 0.05, 0.01)},
        failed_fits=failed,
        resamples=count,
        max_components=most,
        n=measured.size,
        mixture=tested,
        distances=found,
        ties=ties,
        resolution=step,
        distinct=repeats.size,
        largest_tie=int(repeats.max()),
    )
    return replace(result, cautions=ks_cautions(result, mixture))


def _distances(
    portion: Callable[[NDArray[np.uint64], Progress], Array],
    seeds: NDArray[np.uint64],
    n: int,
    *,
    workers: int | None,
    progress: Progress | None,
) -> Array:
    """Give the distances of replicates of n values in the order of their seeds."""
    total = seeds.size
    rows = max(1, min(math.ceil(total / (4 * at_once(workers, "threads"))), _CHUNK // n))
    portions = in_order(
        portion,
        (seeds[low : low + rows] for low in range(0, total, rows)),
        workers=workers,
        prefer="threads",
        ready=compile_kernels,
    )
    found, done = np.empty(total), 0
    with closing(portions):  # what stops the progress stops the workers at once
        for some in portions:
            found[done : done + some.size] = some
            done += some.size
            if progress is not None:
                progress(done, total)
    return found


def _portion(
    seeds: NDArray[np.uint64],
    _going_on: Progress,
    *,
    rows: Array,
    limits: tuple[int, float, int, int],
) -> Array:
    from .fit_kernel import fit_sorted, room_for

    found = np.empty(seeds.size)
    n, floor, starts, most = limits
    fit_sorted(seeds, rows, float(floor), room_for(n, most, starts), found)
    return found


def compile_kernels() -> None:
    """Compile what fits and their tests need, or load it where that is done."""
    values = np.array([1.0, 1.1, 1.2, 1.4, 2.0, 2.1])
    mixture = fit_mixture(values, max_components=2)
    rng = np.random.default_rng(0)
    ks_fit(values, mixture, resamples=1, max_components=2, rng=rng, workers=1)


def _ordered(distances: Array, risk: float) -> float:
    """Give the [N (1 - risk)]-th of the ordered distances, counted from 1."""
    place = math.floor(distances.size * (1 - risk) + 1e-9)
    return float(distances[place - 1]) if place > 0 else math.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorpusFit(Result):
    """One sample of a corpus: its fit and fit test, or `why` it has none."""

    method: ClassVar[str] = "fit-corpus"

    label: str
    mixture: Mixture | None
    test: FitTest | None
    why: str | None

    def screen(self) -> Page:
        """Set the fit in one line."""
        found = self.why
        if self.mixture is not None and self.test is not None:
            of = figures.counted(self.mixture.components, "Gaussian")
            p = figures.pvalue(self.test.pvalue)
            found = f"{of}, distance {self.test.statistic:.4f}, p {p}"
        text = section(f"{Name(self.label):.40}: {found}")
        return Page(title="Gaussian mixture of a sample", sections=(text,))


@checks_arguments
def fit_corpus(
    samples: Mapping[str, ArrayLike],
    *,
    resamples: int = 200,
    max_components: int = 9,
    rng: np.random.Generator,
    workers: int | None = None,
    scale: Scale = "linear",
    ties: TiesHandling = "as-measured",
    resolution: float | None = None,
    progress: Progress | None = None,
) -> Iterator[CorpusFit]:
    """Fit a mixture to each sample and test the fit; give the results in the samples' order.

    A sample's numbers depend on the generator, its label and its values only: not on the other
    samples, their order, or the number of threads. A sample that cannot be fitted says why and does
    not stop the others. Work starts with the first result that is asked for; ending the iteration
    early (or Ctrl-C) drops what has not begun.

    Parameters
    ----------
    samples : mapping of str to array_like
        The values of each sample by its label.
    resamples, max_components, ties, resolution : int, int, str, float
        As in `ks_fit`.
    rng : numpy.random.Generator
        One number is drawn from it; each label's stream derives from that.
    workers : int, optional
        Samples at the same time. Without it a ``joblib.parallel_config`` around the call decides,
        and says whether on threads, processes or a cluster; without either there are as many threads
        as processors for this process.
    scale : {"linear", "log"}
        As in `fit_mixture`.
    progress : callable, optional
        Called with the number of samples done and of all, from the caller's thread.

    Raises
    ------
    UsageError
        If an argument is out of its range; for some when the first result is asked for.
    """
    count = None if workers is None else counted("workers", workers, most=MOST_WORKERS)
    counted("resamples", resamples, most=MOST_RESAMPLES)
    test: dict[str, Any] = {"resamples": resamples, "max_components": max_components}
    test |= {"ties": ties, "resolution": resolution}
    asked = partial(_fitted, root=int(rng.integers(2**63)), scale=scale, test=test)
    tell = progress if progress is not None else lambda _done, _total: None
    return in_order(
        asked,
        samples.items(),
        workers=count,
        prefer="threads",
        look=lambda done: tell(done, len(samples)),
        ready=compile_kernels,
    )


def _fitted(
    one: tuple[str, ArrayLike],
    going_on: Progress,
    *,
    root: int,
    scale: Scale,
    test: Mapping[str, Any],
) -> CorpusFit:
    label, values = one
    mixture, tested, why = None, None, None
    try:
        mixture = fit_mixture(values, scale=scale, max_components=test["max_components"])
        rng = stream(root, label)
        tested = ks_fit(values, mixture, rng=rng, workers=1, progress=going_on, **test)
    except AnalysisError as error:
        why = error.what
    return CorpusFit(label=label, mixture=mixture, test=tested, why=why)


@dataclass(frozen=True, slots=True)
class ComponentCounts:
    """The number of components over samples (section 7.3); quartile of type 7."""

    median: float
    upper_quartile: float
    largest: int

    @property
    def text(self) -> str:
        """The counts in words."""
        return f"median {self.median:g}, upper quartile {self.upper_quartile:g}, at most {self.largest}"


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
