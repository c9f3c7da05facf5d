import math
import statistics

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import CENTRES, MEANS, check_means, speedup_of, suite_mean
from analysis.errors import AnalysisError, UsageError

RAGGED = {"a": [1.0, 4.0], "b": [2.0, 2.0, 16.0, 9.0], "c": [5.0]}
OVER = {
    "geometric": statistics.geometric_mean,
    "harmonic": statistics.harmonic_mean,
    "arithmetic": statistics.fmean,
}


def matrix(samples: dict) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples("m", samples, better="higher")


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("centre", CENTRES)
def test_against_the_standard_library(mean: str, centre: str) -> None:
    inner = {"runs": OVER[mean], "mean": statistics.fmean, "median": statistics.median}[centre]
    expected = OVER[mean]([inner(values) for values in RAGGED.values()])
    assert suite_mean(matrix(RAGGED), mean=mean, centre=centre) == pytest.approx(
        expected, rel=1e-14
    )


def test_benchmarks_weigh_equally_when_ragged() -> None:
    # over all runs alike the mean would be 3; each benchmark on its own gives 2 and 4
    assert suite_mean(
        matrix({"a": [2.0], "b": [4.0] * 9}), mean="arithmetic", centre="runs"
    ) == pytest.approx(3.0)


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("value", [5e-324, 1e-300, 0.1, 1e300, 1.7976931348623157e308])
def test_equal_values_are_their_own_mean(mean: str, centre: str, value: float) -> None:
    assert suite_mean(matrix({"a": [value] * 3, "b": [value]}), mean=mean, centre=centre) == value


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_huge_and_tiny_values_keep_their_digits(mean: str, centre: str, scale: float) -> None:
    scaled = {bench: [value * scale for value in values] for bench, values in RAGGED.items()}
    plain = suite_mean(matrix(RAGGED), mean=mean, centre=centre)
    assert suite_mean(matrix(scaled), mean=mean, centre=centre) / scale == pytest.approx(
        plain, rel=1e-12
    )


def test_values_at_both_ends_of_the_range() -> None:
    ends = matrix({"a": [1e-300, 1e300]})
    assert suite_mean(ends, mean="geometric", centre="runs") == pytest.approx(1.0, rel=1e-12)
    assert suite_mean(ends, mean="harmonic", centre="runs") == pytest.approx(2e-300)
    assert suite_mean(ends, mean="arithmetic", centre="runs") == pytest.approx(5e299)
    assert math.isfinite(
        suite_mean(matrix({"a": [1.7e308, 1.6e308]}), mean="geometric", centre="median")
    )


def test_a_mean_lies_between_its_values() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        values = rng.choice([0.1, 0.1 + 1e-17, 0.3], 3)
        for mean in MEANS:
            found = suite_mean(matrix({"a": values}), mean=mean, centre="runs")
            assert values.min() <= found <= values.max()


def test_speedup_is_above_1_when_the_candidate_is_better() -> None:
    assert speedup_of(2.0, 3.0, "lower") == 1.5
    assert speedup_of(3.0, 2.0, "higher") == 1.5


def test_refusals() -> None:
    with pytest.raises(UsageError, match="mean must be"):
        suite_mean(matrix(RAGGED), mean="quadratic", centre="runs")
    with pytest.raises(UsageError, match="centre must be"):
        check_means("geometric", "mode")
    with pytest.raises(AnalysisError, match="range of numbers"):
        speedup_of(1e-300, 1e300, "lower")
    with pytest.raises(AnalysisError, match="range of numbers"):
        speedup_of(1e-300, 1e300, "higher")
