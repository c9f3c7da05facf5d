"""The empirical distribution of the suite mean, and its five-number summary.

[1]_, section 5: draw one run of each benchmark at random, take the mean over the benchmarks, and
repeat. The result describes what a single pass over the suite gives on this system: not how well
its mean is known (that is the bootstrap's question), but how consistent it is.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 5 and 6.5.
.. [2] R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", The American Statistician
   50(4), 1996.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...data.pair import Mean, check_means, match, suite_mean
from ...errors import AnalysisError, InsufficientDataError
from ...pages.model import Caution, merged
from ...stats.arguments import checks_arguments, counted, stream
from ...stats.samples import Array, read_only
from .cautions import pass_cautions, system_cautions
from .result import DistributionComparison, EmpiricalDistribution

_SMALLEST, _LARGEST = 1e-300, 1e305
_COUNTABLE = 2**53  # larger numbers of combinations are not told


@checks_arguments
def empirical_distribution(
    matrix: PerformanceMatrix,
    *,
    mean: Mean = "geometric",
    resamples: int = 10_000,
    rng: np.random.Generator,
) -> EmpiricalDistribution:
    """Draw the distribution of the suite mean of one pass: one run of each benchmark.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one system, ragged or not.
    mean : {"geometric", "harmonic", "arithmetic"}
        The mean over the benchmarks, of the values as stored.
    resamples : int
        How many passes to draw, 1 to 10,000,000.
    rng : numpy.random.Generator
        The source of randomness; one number is drawn from it, from which every benchmark's stream
        is derived.

    Returns
    -------
    EmpiricalDistribution
        ``.values`` holds the means in the order drawn; the summary's quartiles interpolate linearly
        between order statistics (type 7 of [2]_).

    Raises
    ------
    UsageError
        If an argument is unknown or out of range.
    AnalysisError
        If a value lies beyond 1e-300 to 1e305, or two lie more than a factor of 1e305 apart.

    Notes
    -----
    The benchmarks are drawn independently of each other, as published. A state of the machine that
    slows all benchmarks of a round is lost by that; where rounds are known and whole rounds vary
    more than the draws, a caution says by how much.
    """
    check_means(mean, "runs")
    counted("resamples", resamples)
    _check_range(matrix)
    values = _draws(matrix, mean, resamples, int(rng.integers(2**63)))
    lowest, highest = _reach(matrix, mean)
    np.clip(values, lowest, highest, out=values)  # rounding in the last digit only
    five = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    combinations = math.prod(np.unique(runs).size for runs in matrix.samples)
    return EmpiricalDistribution(
        name=matrix.name,
        unit=matrix.unit,
        better=matrix.better,
        mean=mean,
        observed=suite_mean(matrix, mean=mean, centre="runs"),
        values=read_only(values),
        minimum=five[0],
        q1=five[1],
        median=five[2],
        q3=five[3],
        maximum=five[4],
        lowest=lowest,
        highest=highest,
        combinations=combinations if combinations <= _COUNTABLE else None,
        resamples=resamples,
        benchmarks=matrix.benchmarks,
        runs=matrix.runs,
        cautions=(
            *matrix.cautions,
            *pass_cautions(matrix.runs, combinations, _round_spread(matrix, mean, values)),
        ),
    )


@checks_arguments
def compare_distributions(
    matrices: Sequence[PerformanceMatrix],
    *,
    mean: Mean = "geometric",
    resamples: int = 10_000,
    rng: np.random.Generator,
) -> DistributionComparison:
    """Set the empirical distributions of several systems side by side.

    Parameters
    ----------
    matrices : sequence of PerformanceMatrix
        One for each system. Benchmarks that one of them lacks are left out and named.
    mean, resamples, rng
        As for `empirical_distribution`; each system has a stream of its own.

    Returns
    -------
    DistributionComparison
        The distributions, and for each pair the share of passes in which one beats the other.

    Raises
    ------
    UsageError
        If an argument is unknown or out of range.
    InsufficientDataError
        If there is no matrix.
    AnalysisError
        If they differ in unit or direction, or share no benchmark; as `empirical_distribution`.
    """
    if not matrices:
        raise InsufficientDataError("there is no system to describe", n=0, needed=1)
    first = matrices[0]
    left_out: list[Caution] = []
    for other in matrices[1:]:
        pair = match(first, other)
        first = pair.candidate
        # systems are described side by side here: one may well stand there twice
        left_out += (said for said in pair.cautions if said.code != "one-variant-twice")
    root = int(rng.integers(2**63))
    systems = tuple(
        empirical_distribution(
            matrix if matrix.benchmarks == first.benchmarks else matrix.select(first.benchmarks),
            mean=mean,
            resamples=resamples,
            rng=stream(root, "distribution", str(k)),
        )
        for k, matrix in enumerate(matrices)
    )
    ordered = [np.sort(system.values) for system in systems]
    return DistributionComparison(
        systems=systems,
        wins=tuple(
            tuple(
                0.5 if i == j else _share_better(one, other, lower=first.better == "lower")
                for j, other in enumerate(ordered)
            )
            for i, one in enumerate(ordered)
        ),
        cautions=merged(system_cautions(systems, left_out)),
    )


def _check_range(matrix: PerformanceMatrix) -> None:
    """Refuse values of which means, densities or their logarithms are no numbers."""
    low, high = (pick(float(pick(runs)) for runs in matrix.samples) for pick in (min, max))
    if low < high / _LARGEST:
        raise AnalysisError(
            f"the values lie too far apart for a mean: {low:.3g} and {high:.3g}",
            matrix.name,
            "look for a wrong value",
        )
    for bench, runs in zip(matrix.benchmarks, matrix.samples, strict=True):
        if not (runs.min() >= _SMALLEST and runs.max() <= _LARGEST):
            raise AnalysisError(
                f"values beyond {_SMALLEST:g} to {_LARGEST:g} leave the range of numbers",
                f"{matrix.name}, benchmark {bench!r}",
                "give the values in another unit",
            )


def _share_better(one: Array, other: Array, *, lower: bool) -> float:
    """Give the share of pairs of passes in which `one` is better, ties half; both sorted."""
    below = np.searchsorted(other, one, side="left")
    upto = np.searchsorted(other, one, side="right")
    smaller = float((below / 2 + upto / 2).mean()) / other.size  # others below this one
    return 1 - smaller if lower else smaller


def _draws(matrix: PerformanceMatrix, mean: Mean, resamples: int, root: int) -> Array:
    """Give the means of the passes; memory is that of a few arrays of `resamples` numbers."""
    total = np.zeros(resamples)
    forms, scale = _forms(matrix, mean)
    for bench, form in zip(matrix.benchmarks, forms, strict=True):
        drawn = stream(root, "pass", bench).integers(form.size, size=resamples)
        if len(forms) == 1:
            # the runs themselves: no way there and back through logarithms
            return np.asarray(matrix.samples[0][drawn])
        total += form[drawn]
    return _mean_of(total / len(forms), mean, scale)


def _forms(matrix: PerformanceMatrix, mean: Mean) -> tuple[list[Array], float]:
    """Give the runs as they are averaged, and the scale on which no sum can overflow."""
    if mean == "geometric":
        return [np.log(runs) for runs in matrix.samples], 1.0
    if mean == "harmonic":
        scale = min(float(runs.min()) for runs in matrix.samples)
        return [scale / runs for runs in matrix.samples], scale
    scale = max(float(runs.max()) for runs in matrix.samples)
    return [runs / scale for runs in matrix.samples], scale


def _mean_of(averaged: Array, mean: Mean, scale: float) -> Array:
    if mean == "geometric":
        return np.asarray(np.exp(averaged))
    return np.asarray(scale / averaged if mean == "harmonic" else scale * averaged)


def _reach(matrix: PerformanceMatrix, mean: Mean) -> tuple[float, float]:
    """Give the smallest and the largest mean that any pass can have."""
    low, high = (
        suite_mean(
            PerformanceMatrix.from_samples(
                matrix.name,
                {
                    bench: [float(pick(runs))]
                    for bench, runs in zip(matrix.benchmarks, matrix.samples, strict=True)
                },
                better=matrix.better,
            ),
            mean=mean,
            centre="runs",
        )
        for pick in (np.min, np.max)
    )
    return low, high


def _round_spread(matrix: PerformanceMatrix, mean: Mean, values: Array) -> float | None:
    """Give the spread of whole rounds over that of the draws; None where it cannot be told."""
    if matrix.blocks is None or len(matrix.benchmarks) == 1:
        return None
    sessions = matrix.sessions or [np.zeros(len(row), dtype=np.int64) for row in matrix.blocks]
    forms, scale = _forms(matrix, mean)
    rounds = [
        dict(zip(zip(session.tolist(), row.tolist(), strict=True), form.tolist(), strict=True))
        for session, row, form in zip(sessions, matrix.blocks, forms, strict=True)
    ]
    whole = [key for key in rounds[0] if all(key in row for row in rounds[1:])]
    if len(whole) < 5:  # the fewest whole rounds whose spread is compared with that of the draws
        return None
    averaged = np.array([[row[key] for key in whole] for row in rounds]).mean(axis=0)
    drawn = float(np.log(values).std())
    if drawn == 0:
        return None
    return float(np.log(_mean_of(averaged, mean, scale)).std(ddof=1)) / drawn
