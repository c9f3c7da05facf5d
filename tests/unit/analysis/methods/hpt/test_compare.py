from __future__ import annotations

import math
import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from scipy.stats import mannwhitneyu, norm

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.hpt import winners, winners as looking
from analysis.methods.hpt.compare import hpt, signed_rank_stage
from analysis.methods.hpt.page import hpt_report
from analysis.methods.hpt.speedup import hpt_speedup, paired_t_confidence, paired_t_speedup
from analysis.methods.hpt.winners import Lines, Ratios
from analysis.pages.result import plain
from tests.examples import examples


def pair(
    ours: dict[str, list[float]], theirs: dict[str, list[float]], better: str = "lower", **more: Any
) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    return (
        PerformanceMatrix.from_samples("new", ours, better=better, **more),
        PerformanceMatrix.from_samples("old", theirs, better=better, **more),
    )


def suite(n: int, runs: int, factor: float = 0.5, seed: int = 4711, **more: Any) -> tuple:
    rng = np.random.default_rng(seed)
    theirs = {f"b{k}": (1 + rng.uniform(0, 0.01, runs)).tolist() for k in range(n)}
    ours = {f"b{k}": (factor * (1 + rng.uniform(0, 0.01, runs))).tolist() for k in range(n)}
    return pair(ours, theirs, **more)


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
    assert " over this benchmark" in hpt(*suite(1, 5)).conclusion


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
        {"alternative": "greater"},
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
    def told(ids: list[int] | None) -> str:
        sessions = None if ids is None else {f"b{k}": ids for k in range(6)}
        return " ".join(map(str, hpt(*suite(6, 4, sessions=sessions)).cautions))

    assert "session" not in told(None)
    assert "all runs stem from one session" in told([1, 1, 1, 1])
    assert "the runs of all 2 sessions as if they were" in told([1, 1, 2, 2])


# --- Searched ratios against all of them, made and sorted: the same numbers, to the last bit


Pair = tuple[PerformanceMatrix, PerformanceMatrix]


@st.composite
def samples(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["coarse", "smooth", "neighbours", "far apart"]))
    sides = []
    for _ in range(2):
        size = draw(st.integers(1, 40))
        if kind == "coarse":
            x = rng.integers(1, 9, size) / 7
        elif kind == "smooth":
            x = rng.lognormal(0, 0.1, size)
        elif kind == "neighbours":  # a few units in the last place: dividing twice goes wrong here
            x = 1 + rng.integers(0, 6, size) * np.finfo(float).eps
        else:
            x = 10 ** rng.uniform(-140, 140, size)
        sides.append(x)
    return sides[0], sides[1]


@settings(deadline=None, max_examples=examples(300))
@given(samples(), st.booleans(), st.integers(1, 50))
def test_counts_places_and_windows_are_those_of_all_sorted_ratios(
    pair: tuple[np.ndarray, np.ndarray], negative: bool, few: int
) -> None:
    u, v = pair
    every = np.sort((u[:, None] / v[None, :]).ravel())
    ratios = Ratios.of(-u, -v) if negative else Ratios.of(u, v)
    for g in (*every[:: max(1, every.size // 9)], every[0] / 2, every[-1] * 2, float(every.mean())):
        assert ratios.upto(g) == np.count_nonzero(every <= g)
        assert ratios.below(g) == np.count_nonzero(every < g)
    for k in {0, every.size // 3, every.size // 2, every.size - 1}:
        # also where halving goes down to a handful of pairs
        one = ratios.window(lambda _, upto, k=k: upto > k, few=few)
        inside = every[one.before : one.before + int(one.counts.sum())]
        values, counts = np.unique(inside, return_counts=True)
        assert one.values.tolist() == values.tolist()
        assert one.counts.tolist() == counts.tolist()
        assert one.before <= k < one.before + inside.size
        assert ratios.smallest(k) == every[k]
        smaller, larger = every[every < values[0]], every[every > values[-1]]
        assert one.under == smaller.max(initial=0)
        assert one.over == larger.min(initial=np.inf)


def ratios_suite(seed: int, better: str, kind: str, *, runs: tuple[int, int] = (2, 30)) -> Pair:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(*runs, (4, 2))
    sides = []
    for k, name in enumerate("xy"):
        rows = {}
        for i, size in enumerate(sizes[:, k].tolist()):
            if kind == "coarse":
                rows[f"b{i}"] = rng.integers(90, 110 + k, size) / 7
            elif kind == "bimodal":
                rows[f"b{i}"] = rng.choice([1.0, 1.5], size) * rng.lognormal(0.05 * k, 0.02, size)
            else:
                rows[f"b{i}"] = rng.lognormal(0.1 * k, 0.2, size)
        sides.append(PerformanceMatrix.from_samples(name, rows, better=better))
    return sides[0], sides[1]


@pytest.mark.parametrize("kind", ["coarse", "smooth", "bimodal"])
@pytest.mark.parametrize("better", ["lower", "higher"])
@pytest.mark.parametrize("scores", ["raw", "auto", "log-ratio"])
def test_curve_of_searched_ratios_is_that_of_made_ones(
    kind: str, better: str, scores: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [ratios_suite(seed, better, kind) for seed in range(2)]
    made = [plain(hpt_speedup(*pair, scores=scores).curve) for pair in pairs]
    monkeypatch.setattr(winners, "MADE", 0)
    monkeypatch.delattr(winners.Scores, "ratios")  # nothing is made any more
    assert [plain(hpt_speedup(*pair, scores=scores).curve) for pair in pairs] == made


@pytest.mark.parametrize("kind", ["coarse", "smooth", "bimodal"])
@pytest.mark.parametrize("better", ["lower", "higher"])
@pytest.mark.parametrize("scores", ["raw", "auto"])
def test_given_ties_searched_ratios_give_the_curve_of_made_ones(
    kind: str, better: str, scores: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = ratios_suite(0, better, kind, runs=(41, 60))
    want = hpt_speedup(*pair, ties="exact", scores=scores).curve
    monkeypatch.setattr(looking, "MADE", 0)
    curve = hpt_speedup(*pair, ties="exact", scores=scores).curve
    # of ratios that are one but for rounding another one may be named
    np.testing.assert_allclose(curve.speedups, want.speedups, rtol=1e-10)
    assert curve.at.tolist() == want.at.tolist()
    assert curve.between.tolist() == want.between.tolist()


@pytest.mark.parametrize("ties", ["table", "exact"])
def test_curve_of_many_runs_is_that_of_hpt(ties: str) -> None:
    x, y = ratios_suite(4, "lower", "smooth", runs=(700, 900))
    curve = hpt_speedup(x, y, ties=ties).curve
    for k, g in enumerate(curve.speedups.tolist()):
        for near, want in ((-1e-9, curve.between[k]), (0, curve.at[k])):
            found = hpt(x, y, speedup=g * (1 + near), ties=ties).confidence
            assert found == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("ties", ["table", "exact"])
@pytest.mark.parametrize("clock", [None, 1e-4])
def test_memory_grows_with_the_runs_not_with_their_product(ties: str, clock: float | None) -> None:
    # Their 49 million ratios would take 390 MB.
    rng = np.random.default_rng(3)
    sides = []
    for name in "xy":
        values = rng.lognormal(0.0, 0.03, 7_000)
        if clock is not None:
            values = np.ceil(values / clock) * clock
        sides.append(PerformanceMatrix.from_samples(name, {"b": values}, better="lower"))
    tracemalloc.start()
    try:
        hpt_report(*sides, ties=ties)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 11e6


# ---


def test_medians_that_differ_by_rounding_are_equal_whatever_their_size() -> None:
    g = 1.3
    slope = np.array([1e-15, 1.0, 1e15, 1e15])
    lines = Lines(slope=slope, level=slope / g, kind="raw", negated=False)
    assert (slope * (1 / g) - lines.level)[2] != 0  # rounding, as large as a second
    assert not lines.differences(np.array([g])).any()
    # and what differs by more is told, however small it is
    at_2 = lines.differences(np.array([2.0]))[0]
    np.testing.assert_allclose(at_2 / slope, 1 / 2 - 1 / g)


def test_logarithms_that_differ_by_rounding_are_equal_in_absolute_terms() -> None:
    # relative to logarithms near 0, no rounding would be small
    level = np.array([1e-13, -1e-13, 1e-3])
    lines = Lines(slope=np.ones(3), level=level, kind="log-ratio", negated=False)
    assert lines.differences(np.array([1.0]))[0].tolist() == [0.0, 0.0, -1e-3]


# --- The paired t and the interval technique as functions of a speedup: scipy is the oracle


@pytest.mark.parametrize("seed", range(40))
def test_the_largest_speedup_is_where_the_test_just_accepts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(2, 30)), float(rng.choice([0.6, 0.9, 0.95, 0.99]))
    v = rng.lognormal(0, rng.choice([0.05, 0.5, 2.0]), n)
    u = v ** rng.choice([0, 0.5, 1]) * rng.lognormal(0.2, rng.choice([0.05, 0.5, 1.5]), n)

    def accepted(*speedups: float) -> np.ndarray:
        done = stats.ttest_rel(u[:, None], np.outer(v, speedups), alternative="greater")
        return done.pvalue <= 1 - r

    found = paired_t_speedup(u, v, r)
    grid = np.geomspace(1e-4, 1e4, 4001)
    if found is None:
        assert not accepted(*grid).any()
        return
    assert accepted(found * (1 - 1e-7)).all()
    beyond = found * (1 + 1e-7)
    assert not accepted(beyond, *grid[grid > beyond]).any()
    # the lower end of the two-sided interval of the differences is 0 there
    done = stats.ttest_rel(u, found * v).confidence_interval(2 * r - 1)
    assert done.low == pytest.approx(0, abs=1e-6 * float(np.mean(u)))


def test_what_has_no_answer() -> None:
    one, two = np.array([2.0]), np.array([1.0])
    assert paired_t_confidence(one, two) is None
    assert paired_t_speedup(one, two) is None
    equal = np.full(4, 2.0), np.full(4, 1.0)
    assert paired_t_speedup(*equal) is None  # no spread at any speedup
    assert paired_t_confidence(*equal) is None
    v = np.array([1.0, 1.1, 0.9, 1.05])
    assert paired_t_speedup(2 * v, v) == pytest.approx(2, rel=1e-6)  # proportional: up to the ratio


@pytest.mark.parametrize("scores", ["raw", "ratio", "log-ratio"])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_rules_agree_with_their_own_tests_at_the_speedup(better: str, scores: str) -> None:
    rng = np.random.default_rng(5)
    shift = 0.3 if better == "higher" else -0.3
    ours = {f"b{k}": rng.lognormal(shift, 0.1, 5) for k in range(8)}
    theirs = {f"b{k}": rng.lognormal(0, 0.1, 5) for k in range(8)}
    sides = pair(ours, theirs, better)
    _, t, interval = hpt_report(*sides, scores=scores, others=True).others
    for rule, level in ((t, 0.95), (interval, 0.975)):
        assert rule.speedup is not None
        there = hpt_report(*sides, scores=scores, speedup=rule.speedup, others=True)
        assert there.context.paired_t[0].confidence == pytest.approx(level, abs=1e-9)
    assert interval.speedup < t.speedup
    for g in (1.2, 3.0):  # the interval's confidence is 0 where the mean is below 0
        tested = hpt_report(*sides, scores=scores, speedup=g, others=True)
        p = tested.context.paired_t[0].pvalue_two_sided or 0
        found = tested.others[2].confidence
        assert found == pytest.approx(1 - p if g < 2 else 0, abs=1e-12)
    tested = hpt_report(*sides, scores=scores, speedup=1.2, others=True)
    assert tested.others[1].confidence == pytest.approx(tested.context.paired_t[0].confidence)


def test_two_sided_levels() -> None:
    # Under equal programs each direction alone is claimed too often together, both at once are not.
    rng = np.random.default_rng(11)
    n, r, said = 9, 0.9, {None: 0, "two-sided": 0}
    names = [f"b{k}" for k in range(n)]
    for _ in range(300):
        rows = {k: [math.exp(x)] for k, x in zip(names, rng.normal(0, 1, n), strict=True)}
        a, b = pair(rows, {key: [1.0] for key in names}, "higher")
        for name in said:
            found = hpt(a, b, confidence=r, scores="log-ratio", alternative=name)
            said[name] += found.outcome != "undecided"
    assert said["two-sided"] <= 300 * 0.1 + 3 * math.sqrt(300 * 0.09)
    assert said[None] > 300 * 0.14  # the negative control: each direction by its own p


def test_level_of_both_rules() -> None:
    # Equal means: a speedup above 1 is claimed in 1 - r of suites by t, (1 - r) / 2 by the interval.
    rng = np.random.default_rng(7)
    draws = 500
    t = interval = wrong = 0
    for _ in range(draws):
        v, u = rng.normal(10, 1, (2, 12))
        t += (paired_t_speedup(u, v, 0.9) or 0) > 1
        interval += (paired_t_speedup(u, v, 0.95) or 0) > 1
        wrong += (paired_t_speedup(u * 1.05, v, 0.9) or 0) > 1
    error = 4 * math.sqrt(draws * 0.1 * 0.9)
    assert abs(t - 0.1 * draws) < error
    assert abs(interval - 0.05 * draws) < error
    assert wrong > 0.1 * draws + error  # the negative control: a difference is found
