"""The empirical distribution of section 5, against its exact law and its edges."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import gaussian_kde

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.resampling.distribution import compare_distributions, empirical_distribution

SAMPLES = {"x": [1.0, 1.53, 1.17], "y": [4.0, 3.1], "z": [10.0, 13.07, 11.31, 10.57]}
MEANS = {
    "geometric": lambda row: math.exp(np.log(row).mean()),
    "harmonic": lambda row: 1 / np.mean(1 / np.array(row)),
    "arithmetic": np.mean,
}


def matrix(samples=None, *, name="A", better="lower", **more):
    return PerformanceMatrix.from_samples(name, samples or SAMPLES, better=better, **more)


def rng(seed=1):
    return np.random.default_rng(seed)


def largest_deviation(values, mean):
    """Give the largest deviation of the shares from the exact law, in standard errors."""
    law = sorted(MEANS[mean](row) for row in itertools.product(*SAMPLES.values()))
    levels = np.arange(1, len(law)) / len(law)
    between = (np.array(law[1:]) + law[:-1]) / 2  # the law has no ties here
    shares = (values[:, None] < between).mean(axis=0)
    return np.abs((shares - levels) / np.sqrt(levels * (1 - levels) / len(values))).max()


@pytest.mark.parametrize("mean", MEANS)
def test_exact_law(mean):
    found = empirical_distribution(matrix(), mean=mean, resamples=20_000, rng=rng())
    assert largest_deviation(found.values, mean) < 5
    every = [MEANS[mean](row) for row in itertools.product(*SAMPLES.values())]
    distance = np.abs(found.values[:, None] / np.array(every) - 1).min(axis=1)
    assert distance.max() < 1e-14  # each value is the mean of one run of each benchmark
    assert found.combinations == len(every) == 24
    assert (found.lowest, found.highest) == pytest.approx((min(every), max(every)))


def test_the_exact_law_is_not_that_of_resampled_means():
    # the negative control: means of all runs, drawn again, lie closer together
    generator = rng()
    logs = (np.log(runs) for runs in SAMPLES.values())
    wrong = np.exp(sum(generator.choice(x, (20_000, x.size)).mean(axis=1) for x in logs) / 3)
    assert largest_deviation(wrong, "geometric") > 30


def test_five_numbers_are_quartiles_of_type_7():
    found = empirical_distribution(matrix(), resamples=1001, rng=rng())
    ordered = np.sort(found.values)
    assert found.five == (ordered[0], ordered[250], ordered[500], ordered[750], ordered[1000])
    assert found.observed == pytest.approx(
        math.exp(np.mean([np.log(runs).mean() for runs in SAMPLES.values()]))
    )


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        # two digits of the middle half, 0.004, 40 and 4e-5
        ([1.5, 1.502, 1.504, 1.506, 1.508], ("1.5040", "1.5020", "1.5060")),
        ([1200.0, 1220.0, 1240.0, 1260.0, 1280.0], ("1240", "1220", "1260")),
        ([2.0, 2.00002, 2.00004, 2.00006, 2.00008], ("2.000040", "2.000020", "2.000060")),
    ],
)
def test_the_conclusion_shows_how_far_apart_the_quartiles_are(runs, said):
    found = empirical_distribution(matrix({"x": runs}), resamples=1001, rng=rng())
    median, q1, q3 = said
    assert f"has the median {median}" in found.conclusion
    assert f"lies between {q1} and {q3}" in found.conclusion


def test_one_benchmark_gives_the_runs_themselves():
    found = empirical_distribution(matrix({"x": [0.1, 0.3, 0.7]}), rng=rng())
    assert set(found.values.tolist()) == {0.1, 0.3, 0.7}


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("size", [1e-300, 1e-9, 1e9, 1e300])
def test_any_size(mean, size):
    plain = empirical_distribution(matrix(), mean=mean, resamples=999, rng=rng())
    scaled = {bench: np.array(runs) * size for bench, runs in SAMPLES.items()}
    found = empirical_distribution(matrix(scaled), mean=mean, resamples=999, rng=rng())
    assert found.values / size == pytest.approx(plain.values, rel=1e-12)
    density = found.density()
    assert np.isfinite(density.density).all()
    assert max(map(len, str(found).splitlines())) <= 96


@pytest.mark.parametrize("mean", MEANS)
def test_constant_values(mean):
    found = empirical_distribution(matrix({"x": [0.1] * 3, "y": [0.7]}), mean=mean, rng=rng())
    assert found.minimum == found.maximum == found.observed
    assert found.density() is None
    assert found.to_dict()["density"] is None
    assert found.boxplot().whisker_low == found.minimum
    assert any("the runs of each are all equal" in text for text in found.cautions)


def test_another_benchmark_changes_no_other_draw():
    # logarithms of sums come apart: x and y drawn alone, and beside z
    two = {bench: SAMPLES[bench] for bench in ("x", "y")}
    alone = empirical_distribution(matrix(two), rng=rng()).values
    constant = empirical_distribution(matrix(two | {"z": [1.0]}), rng=rng()).values
    assert np.log(constant) * 3 == pytest.approx(np.log(alone) * 2, abs=1e-12)


def test_density_is_that_of_scipy():
    generator = rng(3)
    samples = {f"b{k}": generator.lognormal(k, 0.05, 20) for k in range(8)}
    found = empirical_distribution(matrix(samples), rng=rng())
    curve = found.density()
    exact = gaussian_kde(found.values, curve.bandwidth / found.values.std(ddof=1))(curve.grid)
    assert np.abs(curve.density - exact).max() < 2e-3 * exact.max()
    assert trapezoid(curve.density, curve.grid) == pytest.approx(1, abs=1e-6)
    spread = min(found.values.std(ddof=1), (found.q3 - found.q1) / 1.34)
    assert curve.bandwidth == pytest.approx(0.9 * spread * 10_000**-0.2)


def test_boxplot():
    values = [1.0] * 4 + [1.1] * 3 + [1.2] * 4 + [9.0]
    found = empirical_distribution(matrix({"x": values}), rng=rng())
    box = found.boxplot()
    assert (box.q1, box.median, box.q3) == (1.0, 1.1, 1.2)
    assert (box.minimum, box.maximum) == (1.0, 9.0)
    assert (box.whisker_low, box.whisker_high) == (1.0, 1.2)
    assert box.outliers_low == 0
    assert box.outliers_high == (found.values == 9.0).sum()


def test_correlated_rounds_are_told():
    generator = rng(4)
    common = generator.normal(0, 0.1, 40)
    samples = {f"b{k}": np.exp(common + generator.normal(0, 0.01, 40)) for k in range(10)}
    ids = {bench: list(range(40)) for bench in samples}
    told = empirical_distribution(matrix(samples, blocks=ids), rng=rng()).cautions
    assert any("whole rounds as they were measured vary 3." in text for text in told)
    shuffled = {bench: generator.permutation(40).tolist() for bench in samples}
    for quiet in (matrix(samples), matrix(samples, blocks=shuffled)):
        cautions = empirical_distribution(quiet, rng=rng()).cautions
        assert not any("rounds" in text for text in cautions)


@pytest.mark.parametrize("resamples", [0, -1, 10**9])
def test_resamples_out_of_range(resamples):
    with pytest.raises(UsageError, match="resamples must lie between 1 and 10,000,000"):
        empirical_distribution(matrix(), resamples=resamples, rng=rng())


def test_an_unknown_mean():
    with pytest.raises(UsageError, match="mean must be"):
        empirical_distribution(matrix(), mean="median", rng=rng())


def test_what_is_no_matrix():
    with pytest.raises(UsageError, match="matrices must be a list, each a PerformanceMatrix, not"):
        compare_distributions(3, rng=rng())


def test_one_resample():
    found = empirical_distribution(matrix(), resamples=1, rng=rng())
    assert found.minimum == found.q1 == found.maximum
    assert str(found)


# ---- side by side


def test_comparison():
    faster = matrix({bench: np.array(runs) / 2 for bench, runs in SAMPLES.items()}, name="B")
    found = compare_distributions([matrix(), faster, matrix(name="C")], rng=rng())
    assert found.wins[0][1] == 0
    assert found.wins[1][0] == 1
    assert found.wins[0][2] == pytest.approx(0.5, abs=0.05)
    assert found.wins[0][2] + found.wins[2][0] == pytest.approx(1)
    assert [found.wins[k][k] for k in range(3)] == [0.5] * 3
    text = str(found)
    assert "share of pairs of passes" in text
    assert json.dumps(found.to_dict(), allow_nan=False)
    # systems have streams of their own, whatever their names
    assert (found.systems[0].values != found.systems[2].values).any()


def test_the_direction_decides_who_wins():
    low, high = {"x": [1.0, 1.1]}, {"x": [2.0, 2.1]}
    for better, share in (("lower", 1.0), ("higher", 0.0)):
        pair = [matrix(low, better=better), matrix(high, name="B", better=better)]
        assert compare_distributions(pair, rng=rng()).wins[0][1] == share


def test_equal_constant_systems_tie():
    same = [matrix({"x": [0.1] * 2, "y": [0.2]}, name=name) for name in "AB"]
    assert compare_distributions(same, rng=rng()).wins[0][1] == 0.5


def test_benchmarks_that_are_not_common_are_named():
    other = matrix({"z": [10.0], "x": [1.0], "w": [1.0]}, name="B")
    found = compare_distributions([matrix(), other, matrix(name="C")], rng=rng())
    assert {system.benchmarks for system in found.systems} == {("x", "z")}
    assert any("only 'B' has it: w" in text for text in found.cautions)


def test_what_cannot_be_compared():
    with pytest.raises(InsufficientDataError):
        compare_distributions([], rng=rng())
    with pytest.raises(AnalysisError, match="differ in 'unit': no unit and 'ms'"):
        compare_distributions([matrix(unit=""), matrix(unit="ms")], rng=rng())


def test_memory_is_bounded():
    import tracemalloc

    generator = rng(6)
    large = matrix({f"b{k}": generator.lognormal(0, 0.1, 200) for k in range(40)})
    tracemalloc.start()
    empirical_distribution(large, rng=rng()).density()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5e6
