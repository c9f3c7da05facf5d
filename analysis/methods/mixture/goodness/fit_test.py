"""Does a mixture of Gaussians fit? The Kolmogorov-Smirnov distance, calibrated by bootstrap.

The distance between the values and a mixture fitted to them is smaller than to the law that they
come from, so the usual table never rejects. Here samples are drawn from the fitted mixture, and each
goes through the whole procedure again: number of components and variances are chosen anew, and its
distance taken ([1]_, section 5.1).

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 5.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import UsageError
from ....report import as_text, figures
from ..fitting.fit import MOST_COMPONENTS, Sample, checked_count, fit_mixture, prepared
from ..model.mixture import Mixture
from .clock import jittered

__all__ = [
    "RISKS",
    "FitTest",
    "Progress",
    "TiesHandling",
    "available_cores",
    "ks_fit",
]

Array = NDArray[np.float64]
TiesHandling = Literal["as-measured", "jitter"]
Progress = Callable[[int, int], object]

RISKS = (0.1, 0.05, 0.01)
REFERENCES = (
    "J. Worms, S. Touati, Modelling program's performance with Gaussian mixtures for parametric "
    "statistics, IEEE TMSCS 2018, section 5",
)
_FAILED = 1.0  # the distance of a replicate that no candidate fits: the largest there is
PUBLISHED_LEAST = 200
_BORNE = 0.5  # of the critical distance at 5 %: what ties may make by themselves
_ROUNDING = 1e-9
_CHUNK = 8000  # values drawn in one go; between two goes a run can be interrupted
_MOST_WORKERS = 1024


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FitTest:
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
    cautions: tuple[str, ...]
    references: tuple[str, ...] = REFERENCES

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

    def to_dict(self) -> dict[str, Any]:
        """Give the result as JSON types, without the replicates' distances."""
        left_out = ("mixture", "distances", "critical", "cautions", "references")
        data = {name: getattr(self, name) for name in self.__slots__ if name not in left_out}
        data["critical"] = {
            str(risk): None if math.isnan(d) else d for risk, d in self.critical.items()
        }
        data["rejected"] = self.rejected()
        data["components"] = self.mixture.components
        data["cautions"] = list(self.cautions)
        data["references"] = list(self.references)
        return data

    def __str__(self) -> str:
        if self.rejected():
            head = f"no mixture of Gaussians fits these {self.n} values"
        else:
            head = f"these {self.n} values show no departure from a mixture of Gaussians"
        k = self.mixture.components
        said = (
            f"the distance from the fitted {k} Gaussian{'s' * (k > 1)} is {self.statistic:.4f}; of "
            f"{self.resamples} samples drawn from the fit and fitted anew, "
            f"{round(self.pvalue * (self.resamples + 1)) - 1} are as far or further"
        )
        lines = as_text.wrapped(f"{head} (p {figures.pvalue(self.pvalue)})")
        lines += as_text.wrapped(said)
        if not self.rejected():
            lines += as_text.wrapped(
                "this is weak evidence for the fit: of samples of 35 lognormal values the test tells "
                "about one in ten from a mixture"
            )
        rows = [["risk", *(f"{risk:g}" for risk in self.critical)]]
        rows.append(["critical distance", *(_cell(d) for d in self.critical.values())])
        lines += ["", *as_text.grid(rows, "<" + ">" * len(self.critical))]
        lines.append(f"p as published, k/N: {self.pvalue_published:.4g}")
        return "\n".join(lines + as_text.numbered(self.cautions))


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
        Threads; as many as there are processors for this process unless given.
    ties : {"as-measured", "jitter"}
        The test is one for continuous values, and rejects too often when many tie. "jitter" moves
        every value by a uniform share of the clock's step (half a step at most), fits the moved
        values anew, and tests that fit.
    resolution : float, optional
        The clock's step for "jitter", in the values' unit; unless given, the greatest step of which
        all differences are multiples.
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
    from .kernel import ks_distance

    count = checked_count(resamples, "resamples", 10_000_000)
    most = checked_count(max_components, "max_components", MOST_COMPONENTS)
    further = checked_count(starts, "starts", 10_000)
    threads = (
        available_cores() if workers is None else checked_count(workers, "workers", _MOST_WORKERS)
    )
    if ties not in ("as-measured", "jitter"):
        raise UsageError(f"ties must be 'as-measured' or 'jitter', not {ties!r}")
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
    found = _distances(
        tested,
        sample,
        seeds,
        starts=further,
        most=most,
        threads=threads,
        progress=progress,
    )
    failed = int(np.isnan(found).sum())
    found = np.sort(np.where(np.isnan(found), _FAILED, found))
    found.flags.writeable = False
    statistic = float(ks_distance(sample.values, tested.weights, tested.means, tested.sds))
    result = FitTest(
        statistic=statistic,
        pvalue=(count - int(np.searchsorted(found, statistic)) + 1) / (count + 1),
        pvalue_published=(count - int(np.searchsorted(found, statistic, "right"))) / count,
        critical={risk: _ordered(found, risk) for risk in RISKS},
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
        cautions=(),
    )
    return replace(result, cautions=(*_tie_cautions(result), *_other_cautions(result, mixture)))


def available_cores() -> int:
    """Give the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _distances(
    mixture: Mixture,
    sample: Sample,
    seeds: NDArray[np.uint64],
    *,
    starts: int,
    most: int,
    threads: int,
    progress: Progress | None,
) -> Array:
    """Give the replicates' distances in the order of their seeds."""
    from .kernel import replicate_distances

    n, total = sample.values.size, seeds.size
    found = np.empty(total)
    rows = max(1, min(math.ceil(total / (4 * threads)), _CHUNK // n))
    parameters = (mixture.weights, mixture.means, mixture.sds)

    def run(low: int) -> None:
        part = slice(low, low + rows)
        replicate_distances(seeds[part], *parameters, n, sample.floor, starts, most, found[part])

    def say(low: int) -> None:
        if progress is not None:
            progress(min(low + rows, total), total)

    if threads == 1:
        for low in range(0, total, rows):
            run(low)
            say(low)
        return found
    pool = ThreadPoolExecutor(threads)
    try:
        futures = {low: pool.submit(run, low) for low in range(0, total, rows)}
        for low, future in futures.items():
            future.result()
            say(low)
    finally:
        # after Ctrl-C only what already runs is waited for
        pool.shutdown(cancel_futures=True)
    return found


def _ordered(distances: Array, risk: float) -> float:
    """Give the [N (1 - risk)]-th of the ordered distances, counted from 1."""
    place = math.floor(distances.size * (1 - risk) + _ROUNDING)
    return float(distances[place - 1]) if place > 0 else math.nan


def _tie_cautions(test: FitTest) -> Iterator[str]:
    """Say when ties decide, and what jitter did."""
    if test.ties == "jitter":
        if test.resolution is None:
            yield "the values have neither ties nor a common step: nothing was moved"
        else:
            yield (
                f"every value was moved at random within the clock's step of {test.resolution:.6g}: "
                "another seed gives another p"
            )
        return
    # a continuous function must miss one end of a step by half its height
    least = test.largest_tie / (2 * test.n)
    critical = test.critical[0.05]
    if test.largest_tie > 1 and not least < _BORNE * critical:
        yield (
            f"{test.largest_tie} of {test.n} values are equal, which alone makes a distance of "
            f"{least:.4f} (critical at 5 %: {critical:.4f}): the test rejects clocks, not mixtures; "
            'take ties="jitter", or measure with a finer clock'
        )


def _other_cautions(test: FitTest, given: Mixture) -> Iterator[str]:
    if given.n is not None and given.n != test.n:
        yield (
            f"the mixture was fitted to {given.n} values and these are {test.n}: the test is "
            "calibrated for the values of the fit"
        )
    tried = 0 if given.bic_table is None else len(given.bic_table["V"])
    if given.bic_table is not None and tried != test.max_components:
        yield (
            f"the mixture was chosen from up to {tried} components, the replicates' from up to "
            f"{test.max_components}"
        )
    if test.resamples < PUBLISHED_LEAST:
        yield (
            f"few samples were drawn ({test.resamples}): p cannot be less than "
            f"1/{test.resamples + 1}, and the authors ask for {PUBLISHED_LEAST} at least"
        )
    if test.failed_fits:
        yield (
            f"no candidate fits {test.failed_fits} of {test.resamples} replicates; they count as "
            "further away than the values"
        )


def _cell(distance: float) -> str:
    return "-" if math.isnan(distance) else f"{distance:.4f}"
