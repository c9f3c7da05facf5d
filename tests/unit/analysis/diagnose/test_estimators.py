from itertools import combinations

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.diagnose.estimators import (
    ESTIMATORS,
    estimator_spread,
    normal_spread,
    subsample_spread,
)
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.pages.number_format import significant


def matrix(rows: dict, **given) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples("new", rows, **({"better": "lower"} | given))


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


NORMAL = np.clip(rng(3).normal(10, 1, 400), 1, None)
SKEWED = rng(4).exponential(1, 1000) + 10


def all_disjoint_pairs(values: np.ndarray, size: int) -> dict[str, tuple[float, float]]:
    """Give sd and mean of each estimator over every pair of disjoint subsamples."""
    places = range(len(values))
    found: dict[str, tuple[float, float]] = {}
    for name, estimate in (("minimum", np.min), ("median", np.median), ("mean", np.mean)):
        squares, at = [], []
        for one in combinations(places, size):
            at.append(estimate(values[list(one)]))
            rest = [k for k in places if k not in one]
            squares += [
                (at[-1] - estimate(values[list(two)])) ** 2 / 2 for two in combinations(rest, size)
            ]
        found[name] = (float(np.sqrt(np.mean(squares))), float(np.mean(at)))
    return found


@pytest.mark.parametrize("size", [2, 3, 4])
def test_subsamples_agree_with_all_disjoint_pairs(size: int) -> None:
    values = np.array([3.0, 3.1, 3.1, 3.4, 4.0, 4.2, 7.0, 3.3])
    (found,) = subsample_spread(values, [size], subsamples=40_000, rng=rng())
    for name, (sd, mean) in all_disjoint_pairs(values, size).items():
        ours = getattr(found, name)
        assert ours.sd == pytest.approx(sd, rel=0.02)
        whole = {"minimum": np.min, "median": np.median, "mean": np.mean}[name](values)
        assert ours.bias == pytest.approx(mean - whole, abs=0.02)
        assert ours.relative_sd == pytest.approx(ours.sd / whole)
        assert ours.relative_bias == pytest.approx(ours.bias / whole)


def test_the_variance_has_no_bias_over_samples() -> None:
    # over many samples of 40 normal runs, the squared sd has the exact variance as its mean
    draws = rng(5)
    found = [
        subsample_spread(draws.normal(50, 1, 40), [5, 20], subsamples=200, rng=draws)
        for _ in range(300)
    ]
    for k, size in enumerate((5, 20)):
        exact = normal_spread(size)
        for name in ESTIMATORS:
            squares = np.array([getattr(one[k], name).sd ** 2 for one in found])
            error = squares.std(ddof=1) / np.sqrt(len(squares))
            assert abs(squares.mean() - getattr(exact, name) ** 2) < 4 * error
    # the negative control: draws with replacement understate the minimum's variance by far
    again = []
    for _ in range(300):
        runs = draws.normal(50, 1, 40)
        again.append(runs[draws.integers(0, 40, (200, 20))].min(axis=1).var(ddof=1))
    error = np.std(again, ddof=1) / np.sqrt(len(again))
    assert np.mean(again) < normal_spread(20).minimum ** 2 - 4 * error


def test_the_mean_is_the_steadiest_on_normal_runs_and_the_minimum_on_shifted_exponential() -> None:
    # the two cases of figure 3 of the report
    study = estimator_spread(matrix({"normal": NORMAL, "shifted": SKEWED}), rng=rng())
    normal, shifted = study.benchmarks
    assert (normal.steadiest, shifted.steadiest) == ("mean", "minimum")
    assert study.counts == {"minimum": 1, "median": 0, "mean": 1}
    assert study.steadiest is None
    at = next(size for size in shifted.sizes if size.size == shifted.judged)
    assert at.minimum.sd == pytest.approx(1 / at.size, rel=0.3)  # exponential with rate n
    assert "the minimum on 1, the mean on 1" in " ".join(str(study).split())
    assert "a steady minimum says" in str(study)


def test_the_median_is_the_steadiest_with_spikes() -> None:
    spiked = rng(6).normal(10, 0.1, 200)
    spiked[::20] = 30.0
    spiked[1::20] = rng(7).uniform(1, 9, 10)
    study = estimator_spread(matrix({"spiked": spiked}), rng=rng())
    assert study.steadiest == "median"
    assert str(study).startswith("the median is the steadiest estimator on new: the median on 1")
    assert "a steady minimum" not in str(study)


def test_one_benchmark_of_three_makes_no_answer() -> None:
    flat = rng(8).normal(10, 1, 8)  # n = 2: mean and median are the same
    study = estimator_spread(matrix({"a": SKEWED, "b": flat, "c": [3.0] * 8}), rng=rng())
    assert study.counts == {"minimum": 1, "median": 0, "mean": 0}
    assert study.steadiest is None
    assert str(study).startswith("no one estimator is the steadiest on new: the")


def test_runs_too_far_apart_are_refused() -> None:
    with pytest.raises(AnalysisError, match="too far apart"):
        estimator_spread(matrix({"a": [1e308, 1e-300, 1.0, 2.0]}), rng=rng())


def test_the_mean_follows_the_square_root_law_exactly() -> None:
    (row,) = estimator_spread(matrix({"a": NORMAL}), rng=rng()).benchmarks
    assert row.run_sd == pytest.approx(NORMAL.std(ddof=1), rel=1e-12)
    for size in row.sizes:
        assert size.subsamples >= 4000
        assert size.mean.sd == pytest.approx(row.run_sd / np.sqrt(size.size), rel=0.06)
        assert abs(size.mean.bias) < 0.1 * row.run_sd
        assert size.minimum.bias >= 0
    assert [size.size for size in row.sizes] == [2, 5, 10, 20, 50, 100, 200]
    assert row.judged == 100


def test_sizes_fit_twice_and_the_quarter_is_judged() -> None:
    rows = {"many": NORMAL[:50], "few": NORMAL[:7], "one": NORMAL[:1]}
    many, few, one = estimator_spread(matrix(rows), rng=rng()).benchmarks
    assert [size.size for size in many.sizes] == [2, 5, 10, 12, 20]
    assert many.judged == 12
    assert [size.size for size in few.sizes] == [2]
    assert (few.judged, few.why) == (2, None)
    assert (one.sizes, one.judged, one.why, one.run_sd) == ((), None, "needs 4 runs", None)
    chosen = estimator_spread(matrix(rows), sizes=[3, 20, 3], rng=rng())
    assert [size.size for size in chosen.benchmarks[0].sizes] == [3, 20]
    assert [row.judged for row in chosen.benchmarks] == [3, 3, None]
    # nothing up to the quarter: the smallest that fits is judged
    assert estimator_spread(matrix(rows), sizes=[20, 25], rng=rng()).benchmarks[0].judged == 20


def test_equal_runs_have_no_spread_and_no_steadiest() -> None:
    study = estimator_spread(matrix({"a": [0.1] * 9, "b": [0.3] * 9}), rng=rng())
    assert {size.mean.sd for row in study.benchmarks for size in row.sizes} == {0.0}
    assert [row.steadiest for row in study.benchmarks] == [None, None]
    assert study.benchmarks[0].why == "all runs are equal"
    assert "all equal" in str(study)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_units_do_not_matter(scale: float) -> None:
    runs = np.round(NORMAL[:60] * 2**20) / 2**20
    plain, scaled = (
        estimator_spread(matrix({"a": runs * k}), rng=rng()).benchmarks[0] for k in (1.0, scale)
    )
    assert plain.steadiest == scaled.steadiest
    for one, two in zip(plain.sizes, scaled.sizes, strict=True):
        for name in ESTIMATORS:
            ours, theirs = getattr(one, name), getattr(two, name)
            assert theirs.sd == pytest.approx(ours.sd * scale, rel=1e-9)
            assert theirs.relative_sd == pytest.approx(ours.relative_sd, rel=1e-9)


def test_a_tiny_spread_on_a_large_value_is_seen() -> None:
    runs = 1e9 + np.round(NORMAL[:200] * 1024) / 1024
    (far,) = estimator_spread(matrix({"a": runs}), rng=rng()).benchmarks
    (near,) = estimator_spread(matrix({"a": runs - 1e9}), rng=rng()).benchmarks
    for one, two in zip(far.sizes, near.sizes, strict=True):
        assert one.minimum.sd == pytest.approx(two.minimum.sd, rel=1e-9)
        assert one.median.sd == pytest.approx(two.median.sd, rel=1e-9)


def test_a_benchmark_does_not_depend_on_its_neighbours() -> None:
    rows = {"a": NORMAL[:50], "b": SKEWED[:90]}
    both = estimator_spread(matrix(rows), rng=rng(9))
    alone = estimator_spread(matrix({"b": rows["b"]}), rng=rng(9))
    assert both.benchmarks[1] == alone.benchmarks[0]
    assert both.to_dict() == estimator_spread(matrix(rows), rng=rng(9)).to_dict()
    assert both.benchmarks[1] != estimator_spread(matrix(rows), rng=rng(8)).benchmarks[1]


def test_wrong_arguments_and_too_few_runs_are_refused() -> None:
    for sizes in ([], [1, 2], [0], [2.5, 5]):
        with pytest.raises(UsageError, match=r"sizes must|whole number"):
            estimator_spread(matrix({"a": NORMAL}), sizes=sizes, rng=rng())
    with pytest.raises(UsageError, match="subsamples must lie between 2"):
        estimator_spread(matrix({"a": NORMAL}), subsamples=1, rng=rng())
    with pytest.raises(InsufficientDataError, match="has the 4 runs") as error:
        estimator_spread(matrix({"a": [1.0, 2.0, 3.0]}), rng=rng())
    assert (error.value.n, error.value.needed) == (3, 4)
    with pytest.raises(UsageError, match="size must lie between 1"):
        normal_spread(0)


def test_cautions_say_what_the_data_lack() -> None:
    study = estimator_spread(
        matrix(
            {"a": NORMAL[:10]}, better="higher", unit="score", sessions={"a": [1] * 5 + [2] * 5}
        ),
        rng=rng(),
    )
    text = str(study)
    assert "1 of 1 benchmarks have fewer than 20 runs" in text
    assert "the minimum is the worst run" in text
    assert "mix the runs of all sessions" in text
    assert estimator_spread(matrix({"a": NORMAL}), rng=rng()).cautions == ()


def test_the_words_stand_on_the_numbers_of_the_result() -> None:
    rows = {"a": SKEWED, "b": NORMAL, "c": NORMAL[:12], "flat": [2.0] * 40}
    study = estimator_spread(matrix(rows), rng=rng())
    assert [row.name for row, _ in study.varying] == ["a", "b", "c"]
    ratio = np.median([at.minimum.relative_sd / at.mean.relative_sd for _, at in study.varying])
    assert f"the minimum varies {significant(ratio)} times as much" in " ".join(str(study).split())
    page = study.screen()
    _, benchmarks, growth = page.sections
    by_name = {row[0]: row for row in benchmarks.blocks[0].rows}
    at = next(size for size in study.benchmarks[0].sizes if size.size == 250)
    assert [cell.value for cell in by_name["a"][2:8]] == [
        250,
        at.minimum.relative_sd,
        at.median.relative_sd,
        at.mean.relative_sd,
        at.minimum.relative_bias,
        at.median.relative_bias,
    ]
    by_size = {row[0].value: row for row in growth.blocks[0].rows}
    assert 250 in by_size  # a third of the three that vary
    assert by_size[10_000][1].text == "-"
    assert by_size[10_000][4].text == "- (0.010)"
    one, two = (next(s for s in study.benchmarks[k].sizes if s.size == 100) for k in (0, 1))
    sds = [s.median.sd / study.benchmarks[k].run_sd for k, s in enumerate((one, two))]
    assert by_size[100][1].value == 2
    assert by_size[100][3].value == pytest.approx(np.mean(sds), rel=1e-12)
    flat = estimator_spread(matrix({"flat": [2.0] * 40}), rng=rng())
    assert "compared with the mean" not in str(flat)
