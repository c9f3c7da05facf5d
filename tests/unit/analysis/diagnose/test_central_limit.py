import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.diagnose.central_limit import central_limit_study
from analysis.errors import InsufficientDataError, UsageError


def matrix(rows: dict, **given) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples("new", rows, **({"better": "lower"} | given))


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


NORMAL = np.clip(rng(3).normal(10, 1, 400), 1, None)
SKEWED = rng(4).exponential(1, 1000) + 10


def test_disjoint_samples_are_consecutive_runs_and_as_many_as_fit() -> None:
    (row,) = central_limit_study(matrix({"a": SKEWED}), sizes=[5, 7, 100], rng=rng()).benchmarks
    assert [(cell.size, cell.samples) for cell in row.cells] == [(5, 200), (7, 142), (100, 10)]
    # scipy's own p-value has single precision before 1.12; other samples give quite others
    want = stats.shapiro(SKEWED[: 7 * 142].reshape(142, 7).mean(axis=1)).pvalue
    assert row.cells[1].mean.pvalue == pytest.approx(want, rel=2e-4)
    want = stats.shapiro(np.median(SKEWED.reshape(10, 100), axis=1)).pvalue
    assert row.cells[2].median.pvalue == pytest.approx(want, rel=2e-4)


def test_no_more_than_500_samples() -> None:
    runs = rng(2).gamma(4, 1, 4000)
    (row,) = central_limit_study(matrix({"a": runs}), sizes=[5, 8, 10], rng=rng()).benchmarks
    assert [cell.samples for cell in row.cells] == [500, 500, 400]


def test_skewed_runs_are_not_normal_at_first_and_normal_ones_are_by_chance_only() -> None:
    draws = rng(8)
    skewed = {f"b{k}": draws.exponential(1, 1000) + 1 for k in range(20)}
    study = central_limit_study(matrix(skewed), rng=rng())
    first, last = study.counts[0], study.counts[-1]
    assert (first.size, first.means_not_normal, first.medians_not_normal) == (5, 20, 20)
    assert last.means_not_normal <= last.means_by_chance == 3
    assert 10 < study.enough("disjoint", "means") <= 60
    normal = {f"b{k}": draws.normal(10, 1, 1000) for k in range(20)}
    counts = central_limit_study(matrix(normal), rng=rng()).counts
    rejected = sum(count.means_not_normal for count in counts)
    # 400 tests at 0.05; those of one benchmark share its runs, so no tight bound
    assert 5 <= rejected <= 45


def test_too_few_runs_are_drawn_with_replacement_and_counted_apart() -> None:
    rows = {"many": NORMAL, "few": NORMAL[:60], "none": NORMAL[:4]}
    study = central_limit_study(matrix(rows), sizes=[5, 30, 50], rng=rng())
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
    assert "REPLACEMENT" not in str(central_limit_study(matrix({"a": SKEWED}), rng=rng()))


def test_nothing_is_drawn_where_all_samples_are_disjoint() -> None:
    one, two = (central_limit_study(matrix({"a": SKEWED}), rng=rng(k)) for k in (1, 2))
    assert one.benchmarks == two.benchmarks
    few = matrix({"a": SKEWED[:40]})
    one, two = (central_limit_study(few, rng=rng(k)) for k in (1, 2))
    assert one.benchmarks != two.benchmarks
    assert one.to_dict() == central_limit_study(few, rng=rng(1)).to_dict()


def test_a_cell_does_not_depend_on_the_other_sizes_or_benchmarks() -> None:
    both = central_limit_study(matrix({"a": SKEWED[:40], "b": NORMAL[:40]}), rng=rng())
    alone = central_limit_study(matrix({"b": NORMAL[:40]}), sizes=[60], rng=rng())
    assert alone.benchmarks[0].cells[0] in both.benchmarks[1].cells


def test_equal_means_and_medians_do_not_count() -> None:
    clock = np.where(rng(5).random(1000) < 0.02, 1.01, 1.0)  # medians are all 1.0
    study = central_limit_study(matrix({"clock": clock, "const": [2.0] * 1000}), rng=rng())
    first = study.counts[0]
    assert (first.benchmarks, first.means_tested, first.medians_tested) == (2, 1, 0)
    assert study.enough("disjoint", "medians") is None
    assert study.benchmarks[1].cells[0].why == "means: Shapiro's test needs values that differ"
    assert study.benchmarks[0].cells[0].why == "medians: Shapiro's test needs values that differ"
    assert "40 times a test could not be done" in str(study)


def test_one_benchmark_is_not_judged_by_chance() -> None:
    (count,) = central_limit_study(matrix({"a": NORMAL}), sizes=[5], rng=rng()).counts
    assert count.means_by_chance == 0
    wide = central_limit_study(matrix({"a": NORMAL}), sizes=[5], risk=0.2, rng=rng()).counts[0]
    assert wide.means_by_chance == 1


def test_wrong_arguments_of_the_central_limit_study() -> None:
    for risk in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(UsageError, match="risk must lie between"):
            central_limit_study(matrix({"a": NORMAL}), risk=risk, rng=rng())
    for sizes in ([], [1], [5, 7.5]):
        with pytest.raises(UsageError, match=r"sizes must|whole number"):
            central_limit_study(matrix({"a": NORMAL}), sizes=sizes, rng=rng())
    with pytest.raises(InsufficientDataError, match="has the 5 runs") as error:
        central_limit_study(matrix({"a": NORMAL[:4]}), rng=rng())
    assert (error.value.n, error.value.needed) == (4, 5)
