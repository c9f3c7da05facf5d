"""Power and type-I error: what is counted, and what is told of it."""

import math

import pytest

from analysis.errors import UsageError
from analysis.plan.error_rates import power_study, type1_study
from analysis.plan.study import monte_carlo_error
from analysis.stats.arguments import stream


def test_power_rises_with_the_shifted_benchmarks_and_is_no_more_than_alpha_without(population, rng):
    found = power_study(
        population(), shift=1.05, shifted=(0, 2, 6), simulations=25, resamples=99, rng=rng
    )
    for test in ("hpt", "t", "welch", "randomization"):
        rates = [found.rate(test, shifted=k) for k in (0, 2, 6)]
        assert rates[0] <= 0.05 + 4 * monte_carlo_error(1, 25)
        assert rates[0] < rates[2]
        assert rates[2] > 0.9
    # two of six: the tests on all runs see it, the one over benchmarks takes it for scatter
    assert found.rate("welch", shifted=2) > found.rate("t", shifted=2) + 0.3


def test_the_shift_counts_in_either_direction_and_the_alternative_in_one(population, rng):
    options = {"shift": 1 / 1.1, "shifted": (6,), "tests": ("welch",), "simulations": 20}
    assert power_study(population(), rng=rng, **options).rate("welch", shifted=6) == 1.0
    one = power_study(population(), rng=rng, alternative="candidate", **options)
    assert one.rate("welch", shifted=6) == 0.0


def test_type1_study_has_a_line_for_each_number_of_runs(population, rng):
    found = type1_study(population(), runs=(3, 5), tests=("welch",), simulations=100, rng=rng)
    assert [(cell.runs, cell.shifted) for cell in found.cells] == [(3, 0), (5, 0)]
    assert found.rate("welch", runs=3) < 0.15
    assert "both sides are the same" in str(found)


def test_hpt_that_cannot_reject_is_told(population, rng):
    found = type1_study(population(5), runs=(5,), tests=("hpt",), simulations=2, rng=rng)
    assert any("HPT cannot reject at 0.05 with 5 benchmarks" in text for text in found.cautions)
    one = type1_study(
        population(5), runs=(5,), tests=("hpt",), simulations=2, alternative="candidate", rng=rng
    )
    assert not any("cannot reject" in text for text in one.cautions)


def test_one_benchmark_has_no_paired_t_and_that_is_said(population, rng):
    found = type1_study(population(1), runs=(5,), simulations=9, resamples=99, rng=rng)
    assert (found.rate("t"), found.rate("hpt")) == (0.0, 0.0)
    text = " ".join(map(str, found.cautions))
    assert "the paired t-test needs two benchmarks: here it never rejects" in text
    assert "HPT cannot reject at 0.05 with 1 benchmark:" in text


def test_a_power_study_has_lines_of_each_number_of_runs(population, rng):
    found = power_study(
        population(), runs=(3, 10), shifted=(0, 1), tests=("welch",), simulations=40, rng=rng
    )
    assert [(cell.runs, cell.shifted) for cell in found.cells] == [(3, 0), (3, 1), (10, 0), (10, 1)]
    assert found.rate("welch", shifted=1, runs=10) > found.rate("welch", shifted=1, runs=3)
    assert "3, 10 runs each" in str(found)
    # a number of runs more changes no other line
    alone = power_study(
        population(), runs=10, shifted=(1,), tests=("welch",), simulations=40, rng=stream(3, "test")
    )
    assert alone.rate("welch", shifted=1) == found.rate("welch", shifted=1, runs=10)


def test_an_added_amount_is_a_shift_of_its_own(population, rng):
    options = {"shifted": (6,), "tests": ("welch",), "simulations": 20, "rng": rng}
    found = power_study(population(), shift_by=0.1, **options)
    assert (found.shift, found.shift_by, found.rate("welch", shifted=6)) == (None, 0.1, 1.0)
    assert "power to tell 0.1 s more on some" in " ".join(str(found).split())
    nearly = power_study(population(), shift_by=1e-9, **options)  # the negative control
    assert nearly.rate("welch", shifted=6) < 0.3


def test_cautions(population, rng):
    small = population(values=10)
    found = type1_study(small, runs=(2,), tests=("t",), simulations=2, rng=rng)
    text = " ".join(map(str, found.cautions))
    assert "only 10 values" in text
    assert "drawn on their own" in text
    assert "drift and differences between sessions" in text


def test_seeds_repeat_and_progress_is_told(population):
    seen = []
    options = {"shifted": (1,), "tests": ("t", "randomization"), "simulations": 5, "resamples": 99}
    first = power_study(
        population(), rng=stream(1, "a"), progress=lambda d, t: seen.append((d, t)), **options
    )
    assert first.to_dict() == power_study(population(), rng=stream(1, "a"), **options).to_dict()
    assert seen == [(k, 5) for k in range(1, 6)]


def test_monte_carlo_errors():
    assert monte_carlo_error(50, 100) == pytest.approx(0.05, rel=0.02)
    assert 0 < monte_carlo_error(0, 100) < 0.011


@pytest.mark.parametrize(
    "wrong",
    [
        {"shifted": (7,)},
        {"shifted": ()},
        {"shifted": (-1,)},
        {"shift": 0.0},
        {"shift": math.nan},
        {"shift_by": 0.0},
        {"shift_by": -1.0},
        {"shift_by": math.inf},
        {"runs": ()},
        {"runs": (5, 1)},
        {"runs": 1},
        {"tests": ("wilcoxon",)},
        {"tests": ()},
        {"alternative": "less"},
        {"alpha": 0.0},
        {"alpha": 0.7},
        {"draws": "session"},
        {"simulations": 0},
    ],
)
def test_wrong_arguments(population, rng, wrong):
    with pytest.raises(UsageError):
        power_study(population(), rng=rng, **wrong)
