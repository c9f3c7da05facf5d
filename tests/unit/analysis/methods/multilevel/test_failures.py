"""Fisher's exact test against scipy's, and the rule for runs that fail."""

from __future__ import annotations

import pytest
from scipy.stats import fisher_exact

from analysis import UsageError, multilevel
from analysis.methods.multilevel.failures import fails_more, fisher


@pytest.mark.parametrize(
    "table",
    [(5, 48, 0, 48), (1, 10, 0, 10), (8, 8, 0, 8), (3, 12, 9, 40), (0, 5, 0, 9), (30, 60, 12, 60)],
)
def test_fisher_is_scipys(table):
    a, n, b, m = table
    expected = fisher_exact([[a, n - a], [b, m - b]]).pvalue
    assert fisher(a, n, b, m) == pytest.approx(expected, rel=1e-9)


def test_only_a_larger_share_counts():
    assert fails_more(10, 38, 0, 48)
    assert not fails_more(0, 48, 10, 38)
    assert not fails_more(1, 47, 0, 48)
    assert not fails_more(10, 38, 10, 38)
    assert fails_more(3, 0, 0, 3)  # all of its runs, whatever p is
    assert not fails_more(3, 0, 3, 0)
    assert not fails_more(0, 3, 0, 3)


def test_a_candidate_that_fails_more_is_undecided_whatever_its_speed(noisy, matrix_of):
    a, b = noisy(1, shift=-1.0), noisy(2)
    result = multilevel(matrix_of("new", a, failed={"b1": 12, "b2": 1}), matrix_of("old", b))
    assert [line.outcome for line in result.benchmarks] == ["faster", "undecided", "faster"]
    line = result.benchmarks[1]
    assert (line.reason, line.failed_candidate, line.outcome_uncorrected) == (
        "fails-more",
        12,
        "faster",
    )
    assert line.low is not None
    assert line.more_sessions is None
    assert "candidate fails 12 of 32" in str(result)
    (caution,) = (c for c in result.cautions if c.code == "fails-more")
    assert caution.about == ("b1",)


def test_a_count_of_failures_is_no_negative_number(matrix_of):
    with pytest.raises(UsageError, match=r"failed\['b'\] must lie between"):
        matrix_of("new", [("b", 1, 1, 1.0)], failed={"b": -1})


def test_a_baseline_that_fails_more_is_no_reason(noisy, matrix_of):
    result = multilevel(
        matrix_of("new", noisy(1, shift=-1.0)), matrix_of("old", noisy(2), failed={"b1": 12})
    )
    assert [line.reason for line in result.benchmarks] == [None] * 3


def test_a_benchmark_of_which_all_runs_fail_keeps_a_line(noisy, matrix_of):
    a = [run for run in noisy(1) if run[0] != "b1"]
    result = multilevel(matrix_of("new", a, failed={"b1": 20}), matrix_of("old", noisy(2)))
    assert [line.name for line in result.benchmarks] == ["b0", "b2", "b1"]
    last = result.benchmarks[-1]
    assert (last.speedup, last.outcome, last.reason) == (None, "undecided", "fails-more")
    assert (last.runs_candidate, last.failed_candidate, last.runs_baseline) == (0, 20, 20)
    assert "candidate fails 20 of 20" in str(result)
    without = multilevel(matrix_of("new", a), matrix_of("old", noisy(2)))
    assert result.these == without.these


def test_the_block_of_a_failed_run_drops_out(noisy, matrix_of):
    a, b = noisy(1), noisy(2)
    lost = [run for run in a if run[:3] != ("b0", 2, "2.3")]
    beside = [run for run in b if run[:3] != ("b0", 2, "2.3")]
    one, both = (
        multilevel(matrix_of("new", lost), matrix_of("old", side)).benchmarks[0]
        for side in (b, beside)
    )
    assert one.differences == pytest.approx(both.differences, abs=1e-13)
