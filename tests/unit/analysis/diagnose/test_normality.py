"""None"""

import json
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import trapezoid

from analysis.data.matrix import PerformanceMatrix
from analysis.diagnose.normality import (
    MEAN_SIZES,
    central_limit_study,
    lilliefors,
    mean_sample_size,
    normal_curves,
    normality,
    shapiro,
)
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.stats.arguments import stream


def matrix(rows: dict) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples("new", rows, better="lower")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_lilliefors_distance_is_the_ks_distance_of_the_fitted_normal() -> None:
    x = np.random.default_rng(2).gamma(2.0, size=30)
    plain = stats.kstest(x, stats.norm(x.mean(), x.std(ddof=1)).cdf)
    assert lilliefors(x).statistic == pytest.approx(plain.statistic, rel=1e-12)
    assert lilliefors(x).pvalue < plain.pvalue  # the naive p ignores the fit


def test_lilliefors_p_is_uniform_on_normal_values_and_small_on_others() -> None:
    rng = np.random.default_rng(20261121)
    ps = np.array([lilliefors(rng.normal(3, 0.1, 25)).pvalue for _ in range(1500)])
    # binomial bounds, 4 standard errors
    for level in (0.01, 0.05, 0.1, 0.2, 0.5):
        assert abs((ps <= level).mean() - level) < 4 * np.sqrt(level * (1 - level) / 1500) + 0.01
    skewed = [lilliefors(rng.lognormal(0, 1, 25)).pvalue for _ in range(200)]
    assert np.mean(np.array(skewed) <= 0.05) > 0.8  # the negative control


@pytest.mark.parametrize("n", [5, 20, 99, 101, 400])
def test_lilliefors_p_falls_with_the_distance(n: int) -> None:
    from analysis.diagnose.normality import _lilliefors_pvalue

    ps = [_lilliefors_pvalue(d, n) for d in np.linspace(0.01, 0.9, 300)]
    assert ps[0] == 1.0
    assert ps[-1] < 0.01
    # the published polynomials meet with small steps only
    assert all(later <= earlier + 0.02 for earlier, later in pairwise(ps))


def test_too_few_or_equal_values_are_refused() -> None:
    with pytest.raises(InsufficientDataError, match="needs 5 values, not 4") as error:
        lilliefors([1.0, 2.0, 3.0, 4.0])
    assert (error.value.n, error.value.needed) == (4, 5)
    with pytest.raises(InsufficientDataError, match="needs 3 values"):
        shapiro([1.0, 2.0])
    for study in (lilliefors, shapiro, normal_curves):
        with pytest.raises(AnalysisError, match="values that differ"):
            study([2.0] * 6)
        with pytest.raises(AnalysisError, match="finite"):
            study([2.0, 1.0, np.nan, 3.0, 4.0])
    with pytest.raises(AnalysisError, match="not known for 5001"):
        shapiro(np.arange(5001.0))


def test_curves_are_densities_and_a_straight_line() -> None:
    x = stats.norm(10, 2).ppf((np.arange(1, 201) - 0.5) / 200)
    curves = normal_curves(x)
    for density in (curves.normal, curves.kernel):
        assert trapezoid(density, curves.grid) == pytest.approx(1, abs=0.01)
    assert np.abs(curves.normal - curves.kernel).max() < 0.1 * curves.normal.max()
    assert curves.straightness > 0.999
    two = normal_curves(np.concatenate([x, x + 40]))
    assert np.abs(two.normal - two.kernel).max() > 0.5 * two.normal.max()
    assert two.straightness < 0.95
    assert two.kernel == pytest.approx(
        stats.gaussian_kde(two.ordered, two.bandwidth / two.sd)(two.grid), abs=1e-9
    )


def test_means_of_skewed_values_need_large_samples() -> None:
    def last_rejected(values: np.ndarray) -> int:
        trials = mean_sample_size(values, rng=np.random.default_rng(4))
        return max((t.size for t in trials if t.pvalue <= 0.05), default=0)

    rng = np.random.default_rng(1)
    trials = mean_sample_size(rng.normal(size=2000), rng=np.random.default_rng(4))
    assert tuple(t.size for t in trials) == MEAN_SIZES
    assert len(MEAN_SIZES) == 15
    assert sum(t.pvalue <= 0.05 for t in trials) <= 3
    assert last_rejected(rng.lognormal(0, 2.5, 2000)) >= 160


def test_study_of_a_matrix() -> None:
    draws = rng(9)
    rows = {
        "normal": draws.normal(10, 1, 60),
        "skewed": draws.lognormal(0, 1, 60),
        "constant": [2.0] * 60,
        "four": [1.0, 2.0, 3.0, 4.5],
    }
    study = normality(matrix(rows), rng=rng(5), seed=5)
    by = {row.name: row for row in study.benchmarks}
    assert by["normal"].lilliefors.pvalue > 0.05 > by["skewed"].lilliefors.pvalue
    assert by["constant"].shapiro is None
    assert by["constant"].why == "a density needs values that differ"
    assert by["four"].lilliefors is None
    assert by["four"].shapiro is not None
    assert study.suite.n == 4
    text = str(study)
    assert "1 of 2 benchmarks of new do not look normal" in text
    assert "1 of 4 benchmarks have fewer than 20 runs" in text
    assert "150 means a trial, seed 5)" in text
    assert json.loads(json.dumps(study.to_dict(), allow_nan=False))["seed"] == 5
    again = normality(matrix(rows), rng=rng(5))
    assert again.mean_trials == study.mean_trials
    assert again.seed is None
    assert "150 means a trial)" in str(again)
    other = normality(matrix(rows), rng=rng(6))
    assert other.mean_trials != study.mean_trials


def test_the_commands_numbers_are_those_of_its_seed() -> None:
    # as the first version drew them: the stream of the seed, and nothing drawn before
    rows = {"b": np.random.default_rng(1).lognormal(0, 1.2, 300)}
    values = rows["b"] / np.median(rows["b"])
    expected = mean_sample_size(values, rng=stream(3, "mean sample size"))
    study = normality(matrix(rows), rng=stream(3, "mean sample size"), seed=3)
    assert study.mean_trials == expected


def test_enough_is_the_median_of_the_sizes_after_the_last_rejection() -> None:
    # authority: rules-2, 11: eleven draws, each at risk / 15
    rows = {"b": np.random.default_rng(1).lognormal(0, 0.8, 300)}
    study = normality(matrix(rows), rng=rng(1))
    values, draws, found = rows["b"] / np.median(rows["b"]), rng(1), []
    for _ in range(11):
        trials = mean_sample_size(values, rng=draws)
        rejected = [k for k, trial in enumerate(trials) if trial.pvalue <= 0.05 / 15]
        found.append([*MEAN_SIZES, 999][max(rejected, default=-1) + 1])
    told = (study.enough_low, study.enough, study.enough_high)
    assert told == (min(found), np.median(found), max(found))
    assert told[0] < told[1] < told[2]
    said = f"from samples of {told[1]} on ({told[0]} to {told[2]} in nine of ten draws)"
    assert said in str(study)


def test_runs_do_not_look_normal_by_lilliefors_alone() -> None:
    # authority: rules-2, 11: a union of two tests at 5 % calls 8 % of normal samples not normal
    values = 10 + np.sort(rng(3).normal(size=50))
    values[-1] += 0.4 * (values[-1] - values[0])
    row = normality(matrix({"b": values}), rng=rng()).benchmarks[0]
    assert row.shapiro.pvalue < 0.05 < row.lilliefors.pvalue
    assert row.departs(0.05) is False


def test_constant_suite_says_what_is_missing() -> None:
    study = normality(matrix({"b": [1.0] * 8}), rng=rng())
    assert study.mean_trials == ()
    assert study.enough is None
    assert [caution.code for caution in study.cautions] == ["no-study-of-means", "few-runs"]
    assert study.cautions[1].about == ("b",)
    assert "no study of means" in str(study)
    assert "means of runs" not in str(study)
    with pytest.raises(UsageError, match="risk must lie"):
        normality(matrix({"b": [1.0] * 8}), risk=2, rng=rng())


def test_values_of_unusual_size_raise_no_bare_warning() -> None:
    draws = rng(3)
    usual = draws.lognormal(0, 0.3, 12)
    known = lilliefors(usual).pvalue
    for unit in (2.0**1020, 2.0**-1000):
        assert lilliefors(usual * unit).pvalue == known
    rows = {"huge": (usual * 1e306).tolist(), "tiny": (usual * 1e-306).tolist()}
    study = normality(matrix(rows), rng=draws)
    for row in study.benchmarks:
        assert row.curves is None
        assert str(row.why).startswith("a density needs values of a usual size")
        assert row.lilliefors.pvalue == pytest.approx(known)
    str(study)


def matrix_central(rows: dict, **given) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples("new", rows, **({"better": "lower"} | given))


def rng_central(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


NORMAL = np.clip(rng_central(3).normal(10, 1, 400), 1, None)
SKEWED = rng_central(4).exponential(1, 1000) + 10


def test_disjoint_samples_are_consecutive_runs_and_as_many_as_fit() -> None:
    (row,) = central_limit_study(
        matrix_central({"a": SKEWED}), sizes=[5, 7, 100], rng=rng_central()
    ).benchmarks
    assert [(cell.size, cell.samples) for cell in row.cells] == [(5, 200), (7, 142), (100, 10)]
    # scipy's own p-value has single precision before 1.12; other samples give quite others
    want = stats.shapiro(SKEWED[: 7 * 142].reshape(142, 7).mean(axis=1)).pvalue
    assert row.cells[1].mean.pvalue == pytest.approx(want, rel=2e-4)
    want = stats.shapiro(np.median(SKEWED.reshape(10, 100), axis=1)).pvalue
    assert row.cells[2].median.pvalue == pytest.approx(want, rel=2e-4)


def test_no_more_than_500_samples() -> None:
    runs = rng_central(2).gamma(4, 1, 4000)
    (row,) = central_limit_study(
        matrix_central({"a": runs}), sizes=[5, 8, 10], rng=rng_central()
    ).benchmarks
    assert [cell.samples for cell in row.cells] == [500, 500, 400]


def test_skewed_runs_are_not_normal_at_first_and_normal_ones_are_by_chance_only() -> None:
    draws = rng_central(8)
    skewed = {f"b{k}": draws.exponential(1, 1000) + 1 for k in range(20)}
    study = central_limit_study(matrix_central(skewed), rng=rng_central())
    first, last = study.counts[0], study.counts[-1]
    assert (first.size, first.means_not_normal, first.medians_not_normal) == (5, 20, 20)
    assert last.means_not_normal <= last.means_by_chance == 3
    assert 10 < study.enough("disjoint", "means") <= 60
    normal = {f"b{k}": draws.normal(10, 1, 1000) for k in range(20)}
    counts = central_limit_study(matrix_central(normal), rng=rng_central()).counts
    rejected = sum(count.means_not_normal for count in counts)
    # 400 tests at 0.05; those of one benchmark share its runs, so no tight bound
    assert 5 <= rejected <= 45


def test_too_few_runs_are_drawn_with_replacement_and_counted_apart() -> None:
    rows = {"many": NORMAL, "few": NORMAL[:60], "none": NORMAL[:4]}
    study = central_limit_study(matrix_central(rows), sizes=[5, 30, 50], rng=rng_central())
    many, few, none = study.benchmarks
    assert [cell.draws for cell in many.cells] == ["disjoint"] * 2 + ["with replacement"]
    assert [cell.draws for cell in few.cells] == ["disjoint"] + ["with replacement"] * 2
    assert [cell.samples for cell in few.cells] == [12, 33, 20]
    assert none.cells == ()
    assert [(count.size, count.draws, count.benchmarks) for count in study.counts] == [
        (5, "disjoint", 2),
        (30, "disjoint", 1),
        (30, "with replacement", 1),
        (50, "with replacement", 2),
    ]
    text = str(study)
    assert "drawn WITH REPLACEMENT, for want of runs" in text
    told = " ".join(text.split())
    assert "10 disjoint samples of n from n = 30 on (500 runs allow all sizes)" in told
    assert "left out with fewer than 5 runs: 1 of 3" in text
    assert set(study.to_dict()["enough"]) == {"disjoint", "with replacement"}
    assert "REPLACEMENT" not in str(
        central_limit_study(matrix_central({"a": SKEWED}), rng=rng_central())
    )


def test_nothing_is_drawn_where_all_samples_are_disjoint() -> None:
    one, two = (
        central_limit_study(matrix_central({"a": SKEWED}), rng=rng_central(k)) for k in (1, 2)
    )
    assert one.benchmarks == two.benchmarks
    few = matrix_central({"a": SKEWED[:40]})
    one, two = (central_limit_study(few, rng=rng_central(k)) for k in (1, 2))
    assert one.benchmarks != two.benchmarks
    assert one.to_dict() == central_limit_study(few, rng=rng_central(1)).to_dict()


def test_a_cell_does_not_depend_on_the_other_sizes_or_benchmarks() -> None:
    both = central_limit_study(
        matrix_central({"a": SKEWED[:40], "b": NORMAL[:40]}), rng=rng_central()
    )
    alone = central_limit_study(matrix_central({"b": NORMAL[:40]}), sizes=[60], rng=rng_central())
    assert alone.benchmarks[0].cells[0] in both.benchmarks[1].cells


def test_equal_means_and_medians_do_not_count() -> None:
    clock = np.where(rng_central(5).random(1000) < 0.02, 1.01, 1.0)  # medians are all 1.0
    study = central_limit_study(
        matrix_central({"clock": clock, "const": [2.0] * 1000}), rng=rng_central()
    )
    first = study.counts[0]
    assert (first.benchmarks, first.means_tested, first.medians_tested) == (2, 1, 0)
    assert study.enough("disjoint", "medians") is None
    assert study.benchmarks[1].cells[0].why == "means: Shapiro's test needs values that differ"
    assert study.benchmarks[0].cells[0].why == "medians: Shapiro's test needs values that differ"
    assert "40 times a test could not be done" in str(study)


def test_one_benchmark_is_not_judged_by_chance() -> None:
    (count,) = central_limit_study(
        matrix_central({"a": NORMAL}), sizes=[5], rng=rng_central()
    ).counts
    assert count.means_by_chance == 0
    wide = central_limit_study(
        matrix_central({"a": NORMAL}), sizes=[5], risk=0.2, rng=rng_central()
    ).counts[0]
    assert wide.means_by_chance == 1


def test_wrong_arguments_of_the_central_limit_study() -> None:
    for risk in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(UsageError, match="risk must lie between"):
            central_limit_study(matrix_central({"a": NORMAL}), risk=risk, rng=rng_central())
    for sizes in ([], [1], [5, 7.5]):
        with pytest.raises(UsageError, match=r"sizes must|whole number"):
            central_limit_study(matrix_central({"a": NORMAL}), sizes=sizes, rng=rng_central())
    with pytest.raises(InsufficientDataError, match="has the 5 runs") as error:
        central_limit_study(matrix_central({"a": NORMAL[:4]}), rng=rng_central())
    assert (error.value.n, error.value.needed) == (4, 5)
