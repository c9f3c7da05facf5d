"""From how many runs on do means and medians look normal? Appendix C of the Speedup-Test.

The protocol calls a sample large above 30 runs, and its authors looked at where the central limit
theorem shows in measured programs. This is their study on any matrix: samples of growing size n, the
mean and the median of each, and Shapiro's test on the N means and on the N medians.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report, 2010, appendix C.
.. [2] S. S. Shapiro, M. B. Wilk, "An analysis of variance test for normality", Biometrika 52, 1965.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...data import PerformanceMatrix
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...report import Caution
from ...stats import door, stream
from ..normality import NormalityTest, shapiro
from ..sizes import checked_sizes
from .result import (
    DRAWS,
    CentralLimitCell,
    CentralLimitCount,
    CentralLimitRow,
    CentralLimitStudy,
    Draws,
)

__all__ = ["central_limit_study"]

Array = NDArray[np.float64]
SIZES = tuple(range(5, 101, 5))  # [1] appendix C, as the numbers below
SAMPLES_LEAST, SAMPLES_MOST = 10, 500
PUBLISHED_RUNS = 1000  # n N there; here it sets N for draws with replacement
RUNS_LEAST = 5


@door
def central_limit_study(
    matrix: PerformanceMatrix,
    *,
    sizes: Sequence[int] = SIZES,
    risk: float = 0.05,
    rng: np.random.Generator,
) -> CentralLimitStudy:
    """Test whether means and medians of n runs look normal, for growing n ([1]_, appendix C).

    Where a benchmark has 10 n runs or more, N = min(500, runs // n) disjoint samples of n consecutive
    runs are taken, in the order in which the matrix holds them. With fewer, samples of n runs are drawn
    with replacement, as many as the published limit n N = 1000 allows; they are marked and counted
    apart, because they show how means of these very runs behave, not means of new ones.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one variant.
    sizes : sequence of int
        The sample sizes n; by default 5, 10, 15 ... 100.
    risk : float
        At or below which p a test rejects.
    rng : numpy.random.Generator
        Where the draws with replacement come from. Each benchmark and size has a stream of its own.

    Raises
    ------
    UsageError
        If the sizes are not whole numbers from 2 on, or the risk does not lie between 0 and 1.
    InsufficientDataError
        If no benchmark has 5 runs.
    """
    if not 0 < risk < 1:
        raise UsageError(f"risk must lie between 0 and 1, not {risk!r}")
    chosen = checked_sizes(sizes)
    if max(matrix.runs) < RUNS_LEAST:
        raise InsufficientDataError(
            f"no benchmark has the {RUNS_LEAST} runs that a study of means needs",
            matrix.name,
            f"measure {RUNS_LEAST} runs or more; {SAMPLES_LEAST * chosen[0]} allow disjoint samples",
            n=max(matrix.runs),
            needed=RUNS_LEAST,
        )
    root = int(rng.integers(2**53))  # so that JSON holds it exactly
    rows = tuple(
        CentralLimitRow(
            name=name,
            runs=values.size,
            cells=tuple(_cell(values, size, stream(root, name, str(size))) for size in chosen)
            if values.size >= RUNS_LEAST
            else (),
        )
        for name, values in zip(matrix.benchmarks, matrix.samples, strict=True)
    )
    counts = tuple(
        count
        for size in chosen
        for draws in DRAWS
        if (count := _count([cell for row in rows for cell in row.cells], size, draws, risk))
    )
    return CentralLimitStudy(
        name=matrix.name,
        risk=risk,
        benchmarks=rows,
        counts=counts,
        seed=root,
        cautions=(*matrix.cautions, *_cautions(rows, counts, chosen)),
    )


def _cell(values: Array, size: int, rng: np.random.Generator) -> CentralLimitCell:
    draws: Draws
    values = values / values.max()  # so that no sum overflows
    samples = min(SAMPLES_MOST, values.size // size)
    if samples >= SAMPLES_LEAST:
        draws = "disjoint"
        drawn = values[: samples * size].reshape(samples, size)
    else:
        draws = "with replacement"
        samples = min(SAMPLES_MOST, max(SAMPLES_LEAST, PUBLISHED_RUNS // size))
        drawn = values[rng.integers(0, values.size, (samples, size))]
    why = None
    tests: dict[str, NormalityTest | None] = {}
    for key, estimates in (("mean", drawn.mean(axis=1)), ("median", np.median(drawn, axis=1))):
        try:
            tests[key] = shapiro(estimates)
        except AnalysisError as error:
            tests[key] = None
            why = why or f"{key}s: {error.what}"
    return CentralLimitCell(
        size=size,
        samples=samples,
        draws=draws,
        mean=tests["mean"],
        median=tests["median"],
        why=why,
    )


def _count(
    cells: Sequence[CentralLimitCell], size: int, draws: Draws, risk: float
) -> CentralLimitCount | None:
    here = [cell for cell in cells if cell.size == size and cell.draws == draws]
    if not here:
        return None
    means = [cell.mean.pvalue for cell in here if cell.mean is not None]
    medians = [cell.median.pvalue for cell in here if cell.median is not None]
    return CentralLimitCount(
        size=size,
        draws=draws,
        benchmarks=len(here),
        samples_least=min(cell.samples for cell in here),
        samples_most=max(cell.samples for cell in here),
        means_tested=len(means),
        means_not_normal=sum(p <= risk for p in means),
        means_by_chance=_by_chance(len(means), risk),
        medians_tested=len(medians),
        medians_not_normal=sum(p <= risk for p in medians),
        medians_by_chance=_by_chance(len(medians), risk),
    )


def _by_chance(tested: int, risk: float) -> int:
    from scipy.stats import binom

    # The allowance keeps one benchmark at 0.05, where P(0) is 0.95 itself, at 0.
    return int(binom.ppf(0.95 - 1e-9, tested, risk)) if tested else 0


def _cautions(
    rows: Sequence[CentralLimitRow], counts: Sequence[CentralLimitCount], sizes: Sequence[int]
) -> Iterator[Caution]:
    left = tuple(row.name for row in rows if not row.cells)
    if left:
        yield Caution(
            "few-runs-left-out",
            f"left out with fewer than {RUNS_LEAST} runs: {len(left)} of {len(rows)}",
            left,
        )
    again = [count for count in counts if count.draws == "with replacement"]
    disjoint = [count for count in counts if count.draws == "disjoint"]
    if again:
        yield Caution(
            "drawn-with-replacement",
            f"too few runs for {SAMPLES_LEAST} disjoint samples of n from n = {again[0].size} on "
            f"({SAMPLES_LEAST * sizes[-1]} runs allow all sizes): drawn with replacement there. Such "
            "samples share the same few runs, and many medians are the same run: they show how means "
            "of these runs behave, not means of new ones",
        )
    if len(disjoint) > 1 and disjoint[0].samples_most > disjoint[-1].samples_least:
        yield Caution(
            "power-falls",
            f"N falls from {disjoint[0].samples_most} to {disjoint[-1].samples_least} as n grows, and "
            "fewer means show less: part of the fall of the counts is lost power, not normality",
        )
    if disjoint:
        yield Caution(
            "consecutive-runs",
            "disjoint samples are consecutive runs: drift and sessions count as departures too",
        )
    untested = sum(cell.why is not None for row in rows for cell in row.cells)
    if untested:
        yield Caution(
            "equal-estimates",
            f"{untested} times a test could not be done, as means or medians are equal; these do not "
            "count",
        )
