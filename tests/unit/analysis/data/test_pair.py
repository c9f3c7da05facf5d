from __future__ import annotations

import math
import statistics
from dataclasses import fields

import numpy as np
import pytest

from analysis.data.columns import FailedRun, MetricColumn
from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import CENTRES, MEANS, Match, check_means, match, speedup_of, suite_mean
from analysis.data.trial import Trial
from analysis.errors import AnalysisError, UsageError
from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.methods.resampling.bootstrap import bootstrap_speedup
from analysis.methods.resampling.distribution import compare_distributions
from analysis.methods.resampling.randomization import randomization_test
from analysis.methods.speedup_test.compare import speedup_test_suite
from analysis.plan.runs import plan_runs

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


# --- One variant twice, and two trials, are said by every comparison
#
# Authority: first use of the first version, A8 and B: `hpt` and `speedup-test` across two trials gave
# no caution, and a variant was "1.000 times as fast" as itself.


BOTH = {"one-variant-twice", "two-trials"}


def rng():
    return np.random.default_rng(1)


COMPARISONS = {
    "hpt": hpt,
    "hpt_speedup": hpt_speedup,
    "speedup_test_suite": lambda a, b: speedup_test_suite(candidate=a, baseline=b),
    "randomization_test": lambda a, b: randomization_test(a, b, resamples=50, rng=rng()),
    "bootstrap_speedup": lambda a, b: bootstrap_speedup(a, b, resamples=50, rng=rng()),
    "plan_runs": lambda a, b: plan_runs(a, b, simulations=100, grid=(3,), rng=rng()),
}


def origin_matrix(name="new", *, factor=1.0, trial=None, benchmarks=("x", "y")):
    runs = factor * np.array([1.0, 1.1, 1.2, 1.3, 1.15, 1.05])
    ids = {bench: [1, 1, 1, 2, 2, 2] for bench in benchmarks}
    return PerformanceMatrix.from_samples(
        name,
        {bench: runs + k for k, bench in enumerate(benchmarks)},
        better="lower",
        sessions=ids,
        blocks={bench: [1, 2, 3, 4, 5, 6] for bench in benchmarks},
        trial=trial,
    )


def codes(result):
    return BOTH & {caution.code for caution in result.cautions}


@pytest.mark.parametrize("compare", COMPARISONS.values(), ids=COMPARISONS)
def test_every_comparison_says_it(compare):
    mine = origin_matrix(trial="/runs/a")
    assert codes(compare(mine, mine)) == {"one-variant-twice"}
    assert codes(compare(mine, origin_matrix("old", factor=1.2, trial="/runs/b"))) == {"two-trials"}
    assert codes(compare(mine, origin_matrix("old", factor=1.2, trial="/runs/a"))) == set()
    assert codes(compare(origin_matrix(), origin_matrix("old", factor=1.2))) == set()


def test_only_a_variant_against_itself_is_one_variant_twice():
    (said,) = match(origin_matrix(), origin_matrix()).cautions
    assert "'new' is compared with itself" in said
    # two variants of one trial may measure the same, such as sizes
    assert not match(origin_matrix(trial="/runs/a"), origin_matrix("old", trial="/runs/a")).cautions
    assert not match(origin_matrix(), origin_matrix(factor=1 + 1e-12)).cautions


def test_ids_of_two_trials_are_kept_apart():
    both = match(origin_matrix(trial="/runs/a"), origin_matrix("old", factor=1.2, trial="/runs/b"))
    for kind in ("sessions", "blocks"):
        ours, theirs = (
            {label for row in getattr(side, kind) for label in row.tolist()}
            for side in (both.candidate, both.baseline)
        )
        assert not ours & theirs
    (said,) = both.cautions
    assert said.about == ("a", "b")
    pooled = [c for c in hpt(both.candidate, both.baseline).cautions if c.code == "sessions-pooled"]
    assert "all 4 sessions" in pooled[0]  # first use: "the runs of all 3 sessions" of two trials
    alike = match(
        origin_matrix(trial="/r/a/x"), origin_matrix("old", factor=2, trial="/r/b/x")
    ).cautions
    assert alike[0].about == ("/r/a/x", "/r/b/x")


def test_distributions_may_show_one_system_twice_but_say_two_trials():
    mine, other = origin_matrix(trial="/runs/a"), origin_matrix("old", factor=1.2, trial="/runs/b")
    assert codes(compare_distributions((mine, mine), resamples=50, rng=rng())) == set()
    assert codes(compare_distributions((mine, other), resamples=50, rng=rng())) == {"two-trials"}


def test_the_trial_goes_with_a_selection():
    assert origin_matrix(trial="/runs/a").select(["y"]).trial == "/runs/a"


def test_a_long_name_is_said_to_its_fortieth_sign():
    def told(name):
        (said,) = match(origin_matrix(name), origin_matrix(name)).cautions
        return str(said)

    assert f"'{'v' * 40}' is compared" in told("v" * 40)
    assert "v" * 40 not in told("v" * 41)


# --- What is read is handed on as values: nobody changes it, or compares it by chance


WITH_ARRAYS = (Trial, PerformanceMatrix, Match, MetricColumn)


@pytest.mark.parametrize("kind", [*WITH_ARRAYS, FailedRun])
def test_it_is_frozen_and_has_no_place_for_more(kind: type) -> None:
    assert kind.__dataclass_params__.frozen
    assert "__slots__" in vars(kind)
    assert all(field.kw_only for field in fields(kind))


@pytest.mark.parametrize("kind", WITH_ARRAYS)
def test_what_holds_arrays_is_equal_to_itself_only(kind: type) -> None:
    # arrays have no one answer to ==
    assert kind.__eq__ is object.__eq__


def test_two_columns_are_two() -> None:
    one, two = (MetricColumn(values=np.ones(2), offsets=np.arange(3)) for _ in range(2))
    assert one == one
    assert one != two
