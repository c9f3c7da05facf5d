import re

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.hpt.compare import hpt, signed_rank_stage


def pair(
    ours: dict[str, list[float]], theirs: dict[str, list[float]], better: str = "lower"
) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    return (
        PerformanceMatrix.from_samples("new", ours, better=better),
        PerformanceMatrix.from_samples("old", theirs, better=better),
    )


def suite(n: int, runs: int, factor: float = 0.5, seed: int = 4711) -> tuple:
    rng = np.random.default_rng(seed)
    theirs = {f"b{k}": (1 + rng.uniform(0, 0.01, runs)).tolist() for k in range(n)}
    ours = {f"b{k}": (factor * (1 + rng.uniform(0, 0.01, runs))).tolist() for k in range(n)}
    return pair(ours, theirs)


def test_times_become_scores_of_the_baseline_median() -> None:
    result = hpt(*pair({"a": [1.0, 2.0, 4.0]}, {"a": [8.0, 6.0, 10.0]}))
    row = result.benchmarks[0]
    assert result.scores == "ratio"
    # run by run, then the median: 8/1, 8/2, 8/4 and 8/8, 8/6, 8/10
    assert (row.median_candidate, row.median_baseline) == (4.0, 1.0)
    assert row.difference == 3.0


def test_every_kind_of_score_at_a_speedup() -> None:
    sides = pair({"a": [1.0, 2.0, 4.0]}, {"a": [8.0, 6.0, 10.0]})
    medians = {
        kind: (row.median_candidate, row.median_baseline)
        for kind in ("raw", "ratio", "log-ratio")
        for row in hpt(*sides, speedup=2, scores=kind).benchmarks
    }
    assert medians["raw"] == (-4.0, -8.0)
    assert medians["ratio"] == (2.0, 1.0)
    assert medians["log-ratio"] == (pytest.approx(np.log(2)), 0.0)
    higher = pair({"a": [1.0, 2.0, 4.0]}, {"a": [8.0, 6.0, 10.0]}, "higher")
    auto = hpt(*higher, speedup=2)
    assert auto.scores == "raw"
    assert auto.benchmarks[0].median_candidate == 1.0
    assert hpt(*higher, scores="ratio").benchmarks[0].median_candidate == 0.25


def test_log_ratios_take_the_median_of_the_logarithms() -> None:
    sides = pair({"a": [1.0, 4.0]}, {"a": [2.0, 2.0]}, "higher")
    row = hpt(*sides, scores="log-ratio").benchmarks[0]
    assert row.median_candidate == pytest.approx(0.5 * np.log(0.5) + 0.5 * np.log(2), abs=1e-15)


def test_a_clear_winner() -> None:
    result = hpt(*suite(6, 5))
    assert result.outcome == "candidate"
    assert (result.rank_sum_candidate, result.rank_sum_baseline) == (21, 0)
    assert result.pvalue == 1 / 64
    assert result.confidence == result.most == 1 - 1 / 64
    assert all(row.winner == "candidate" for row in result.benchmarks)
    assert "new is faster than old over these 6 benchmarks" in result.conclusion


def test_a_clear_loser_keeps_the_p_of_the_candidate() -> None:
    result = hpt(*suite(6, 5, factor=2.0))
    assert result.outcome == "baseline"
    assert result.pvalue == 1.0
    assert result.confidence == 0.0
    assert result.pvalue_baseline == 1 / 64
    assert "new is slower than old" in result.conclusion


def test_identical_sides_are_undecided() -> None:
    ours, _ = suite(6, 5)
    result = hpt(ours, ours)
    assert result.outcome == "undecided"
    assert [row.winner for row in result.benchmarks] == ["tie"] * 6
    assert [row.rank for row in result.benchmarks] == [3.5] * 6
    assert result.confidence == result.pvalue == 0.5


@pytest.mark.parametrize(("n", "most"), [(1, 0.5), (3, 0.875), (4, 0.9375)])
def test_few_benchmarks_cannot_reach_095_and_it_is_said(n: int, most: float) -> None:
    result = hpt(*suite(n, 5))
    assert result.confidence == result.most == most
    assert result.outcome == "undecided"
    assert any(f"no reliability above {most:g} is possible" in c for c in result.cautions)
    assert not any("no reliability above" in c for c in hpt(*suite(5, 5)).cautions)


def test_alpha_follows_the_smaller_run_count() -> None:
    ours = {"a": [1.0] * 5, "b": [1.0] * 5, "c": [1.0] * 3}
    theirs = {"a": [2.0] * 5, "b": [2.0] * 4, "c": [2.0] * 9}
    rows = hpt(*pair(ours, theirs)).benchmarks
    assert [row.alpha for row in rows] == [0.05, 0.10, 0.10]
    assert {row.alpha for row in hpt(*pair(ours, theirs), alpha=0.2).benchmarks} == {0.2}


def test_alpha_is_accepted_at_equality() -> None:
    # 3 + 3 runs, complete separation but for one swap: W = 14, p = 2/20 = 0.10 exactly
    rows = hpt(*pair({"a": [1.0, 2.0, 4.0]}, {"a": [3.0, 5.0, 6.0]})).benchmarks
    assert rows[0].pvalue_candidate == 0.1
    assert rows[0].winner == "candidate"
    rows = hpt(*pair({"a": [1.0, 2.0, 4.0]}, {"a": [3.0, 5.0, 6.0]}), alpha=0.0999).benchmarks
    assert rows[0].winner == "tie"
    assert rows[0].difference == 0.0


def test_two_runs_a_side_can_win_nothing() -> None:
    result = hpt(*suite(6, 2))
    assert {row.winner for row in result.benchmarks} == {"tie"}
    assert any("too few runs for any winner" in text for text in result.cautions)


@pytest.mark.parametrize(("runs", "told"), [(3, True), (4, True), (5, False)])
def test_three_or_four_runs_are_said(runs: int, told: bool) -> None:
    cautions = hpt(*suite(6, runs)).cautions
    assert any("with 3 or 4 runs" in text for text in cautions) == told
    assert any(f"up to {0.2 if told else 0.1:g}" in text for text in cautions)


def test_one_run_each_skips_stage_one() -> None:
    result = hpt(*suite(6, 1))
    assert result.pvalue == 1 / 64
    assert all(row.pvalue_candidate is None and row.alpha is None for row in result.benchmarks)
    assert any("stage one was skipped" in text for text in result.cautions)
    # with one run on one side only it is not skipped, and cannot win: p = 1/6
    mixed = hpt(*pair({"a": [1.0]}, {"a": [2.0] * 5}))
    assert mixed.benchmarks[0].pvalue_candidate == pytest.approx(1 / 6)


def test_normal_form_from_12_runs() -> None:
    table = hpt(*suite(6, 11)).benchmarks[0].pvalue_candidate
    assert table == pytest.approx(1 / 705432, rel=1e-12)  # 1 / C(22, 11)
    normal = hpt(*suite(6, 12)).benchmarks[0].pvalue_candidate
    z = (222 - 12 * 25 / 2) / np.sqrt(12 * 12 * 25 / 12)  # 222 = 13 + ... + 24, no correction
    assert normal == pytest.approx(norm.sf(z), rel=1e-12)
    ours, theirs = suite(1, 13)
    short = PerformanceMatrix.from_samples("new", {"b0": ours.values("b0")[:3]}, better="lower")
    z = (45 - 3 * 17 / 2) / np.sqrt(3 * 13 * 17 / 12)  # one side from 12 on is enough
    assert hpt(short, theirs).benchmarks[0].pvalue_candidate == pytest.approx(norm.sf(z), rel=1e-12)


def test_rounding_does_not_pick_a_winner_among_equal_medians() -> None:
    # 0.3 / 3 is not 0.1 in floating point
    ours, theirs = pair({"a": [0.3]}, {"a": [0.1]}, "higher")
    row = hpt(ours, theirs, speedup=3).benchmarks[0]
    assert row.median_candidate != row.median_baseline
    assert (row.winner, row.difference) == ("tie", 0.0)


def test_equal_differences_tie_across_benchmarks() -> None:
    result = hpt(*pair({"a": [0.3], "b": [0.5]}, {"a": [0.1], "b": [0.3]}, "higher"))
    assert [row.rank for row in result.benchmarks] == [1.5, 1.5]


def test_ranks_and_medians_that_disagree_are_said() -> None:
    ours = {"a": [1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 9, 9.1, 9.2, 9.3, 9.4]}
    theirs = {"a": [0.5, 0.6, 0.7, 0.8, 0.9, 1.11, 1.12, 1.13, 1.14, 1.15, 1.16]}
    result = hpt(*pair(ours, theirs, "higher"), alpha=0.2)
    assert result.benchmarks[0].winner == "candidate"
    assert result.benchmarks[0].difference == pytest.approx(-0.05)
    assert "ranks and medians disagree about the winner: a" in map(str, result.cautions)


def test_what_was_left_out_is_said() -> None:
    ours, theirs = suite(6, 5)
    result = hpt(ours.select(["b0", "b1", "b2"]), theirs.select(["b2", "b1", "b5"]))
    assert [row.name for row in result.benchmarks] == ["b1", "b2"]
    assert "left out, because only 'new' has it: b0" in map(str, result.cautions)
    assert "left out, because only 'old' has it: b5" in map(str, result.cautions)


def test_exact_ties_over_many_runs_take_the_normal_form() -> None:
    rng = np.random.default_rng(6)
    ours = {"a": rng.integers(1, 5, 60).astype(float).tolist()}
    theirs = {"a": rng.integers(1, 6, 60).astype(float).tolist()}
    row = hpt(*pair(ours, theirs), ties="exact").benchmarks[0]
    p = mannwhitneyu(ours["a"], theirs["a"], alternative="less", method="asymptotic").pvalue
    assert row.pvalue_candidate == pytest.approx(p, rel=1e-9)


def test_zeros_share_their_ranks() -> None:
    stage = signed_rank_stage([0.0, 0.0, 3.0, -1.0])
    assert stage.ranks.tolist() == [1.5, 1.5, 4.0, 3.0]
    assert (stage.rank_sum_candidate, stage.rank_sum_baseline) == (5.5, 4.5)
    assert stage.pvalue_candidate == 7 / 16  # P(V <= 4.5) is read as P(V <= 4)
    exact = signed_rank_stage([0.0, 0.0, 3.0, -1.0], ties="exact")
    assert exact.pvalue_candidate == 0.5  # of 0, 3, 4, 7 two are at most 3
    with pytest.raises(InsufficientDataError):
        signed_rank_stage([])


def test_normal_form_from_25_benchmarks() -> None:
    assert hpt(*suite(24, 5)).stage_two == "table"
    assert hpt(*suite(25, 5)).stage_two == "normal"
    assert hpt(*suite(25, 5), ties="exact").stage_two == "exact"


@pytest.mark.parametrize(
    "wrong",
    [
        {"speedup": 0.0},
        {"speedup": float("nan")},
        {"confidence": 0.5},
        {"confidence": 1.0},
        {"alpha": 0.5},
        {"alpha": 0.0},
        {"ties": "none"},
        {"scores": "time"},
    ],
)
def test_arguments_out_of_range(wrong: dict) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        hpt(*suite(3, 3), **wrong)


def test_scores_that_leave_the_range_of_numbers() -> None:
    with pytest.raises(AnalysisError, match="range of numbers") as error:
        hpt(*pair({"a": [1e308]}, {"a": [1.0]}, "higher"), speedup=1e-10)
    assert error.value.where == "benchmark 'a'"
    with pytest.raises(AnalysisError, match="range of numbers"):
        hpt(*pair({"a": [1e300]}, {"a": [1e-300]}))


def test_a_tiny_p_is_never_printed_as_zero_nor_its_reliability_as_one() -> None:
    text = " ".join(str(hpt(*suite(40, 5))).split())
    assert re.search(r"p = \d\.\d\de-\d\d for 'faster', p = 1 for 'slower'( |$)", text)
    assert "reliability > 0.999" in text
    assert "1.000 (" not in text


def test_sessions_are_a_caution_where_they_are_known() -> None:
    ours, theirs = suite(6, 4)

    def told(ids: list[int] | None) -> str:
        sides = [
            PerformanceMatrix.from_samples(
                m.name,
                dict(zip(m.benchmarks, m.samples, strict=True)),
                better="lower",
                sessions=None if ids is None else dict.fromkeys(m.benchmarks, ids),
            )
            for m in (ours, theirs)
        ]
        return " ".join(map(str, hpt(*sides).cautions))

    assert "session" not in told(None)
    assert "all runs stem from one session" in told([1, 1, 1, 1])
    assert "the runs of all 2 sessions as if they were" in told([1, 1, 2, 2])
