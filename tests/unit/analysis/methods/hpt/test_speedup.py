from itertools import product

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, UsageError
from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.page import hpt_report
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.stats.ranks import TIE_TOLERANCE

Pair = tuple[PerformanceMatrix, PerformanceMatrix]


def pair(ours: dict, theirs: dict, better: str = "higher") -> Pair:
    return (
        PerformanceMatrix.from_samples("new", ours, better=better),
        PerformanceMatrix.from_samples("old", theirs, better=better),
    )


def singles(ours: list[float], theirs: list[float]) -> Pair:
    return pair(
        {f"b{k}": [v] for k, v in enumerate(ours)}, {f"b{k}": [v] for k, v in enumerate(theirs)}
    )


def bimodal(seed: int, n: int = 12, m: int = 12) -> Pair:
    rng = np.random.default_rng(seed)
    sides = []
    for level in (1.1, 1.0):
        modes = rng.choice([1.0, 1.25], (n, m)) * rng.lognormal(0, 0.01, (n, m))
        sides.append({f"b{k}": level * modes[k] for k in range(n)})
    return pair(*sides)


def test_five_single_runs_by_hand() -> None:
    # All five must win for 1 - 2^-5 >= 0.95: up to the smallest ratio. At it one difference is 0
    # and R_B = 1/2: the table reads P(V <= 1/2) as P(V <= 0); given the tie it is 1/16.
    sides = singles([1.5, 1.6, 1.7, 1.8, 1.9], [1.0] * 5)
    table, exact = hpt_speedup(*sides), hpt_speedup(*sides, ties="exact")
    assert table.value == exact.value == 1.5
    assert table.attained_confidence == exact.attained_confidence == 1 - 1 / 32
    assert table.attained_at_value
    assert not exact.attained_at_value
    assert exact.curve.confidence(1.5) == 1 - 1 / 16
    assert hpt(*sides, speedup=1.5, ties="exact").confidence == 1 - 1 / 16


def test_no_speedup_reaches_the_level_with_four_benchmarks() -> None:
    result = hpt_speedup(*singles([9.0] * 4, [1.0] * 4))
    assert result.value is result.attained_confidence is result.printed is None
    assert not result.below_one
    assert "no speedup has HPT reliability 0.95" in str(result)
    assert any("at most 1 - 2^-4" in text for text in result.cautions)
    assert hpt_speedup(*singles([9.0] * 4, [1.0] * 4), confidence=0.9).value == 9.0


def test_values_below_one_are_flagged() -> None:
    result = hpt_speedup(*singles([0.8, 0.9, 0.85, 0.95, 0.7], [1.0] * 5))
    assert result.value == pytest.approx(0.7)
    assert result.below_one
    said = f"is at least {result.printed} times as fast"  # as the first lines say it
    assert any("below 1" in text and said in text for text in result.cautions)


def test_no_winner_at_any_speedup() -> None:
    two = {f"b{k}": [1.0, 2.0] for k in range(6)}  # 2 + 2 runs can never win
    result = hpt_speedup(*pair(two, two))
    assert result.value is None
    assert result.curve.speedups.size == 0
    assert result.curve.confidence(3.0) == hpt(*pair(two, two), speedup=3.0).confidence


@pytest.mark.parametrize(
    ("ours", "ties", "printed"),
    [
        (1.2345, "table", "1.234"),
        (1.76, "table", "1.760"),  # attained there
        (1.76, "exact", "1.759"),  # not attained there: a search by steps prints the step before
        (1.7600000001, "table", "1.760"),
        (0.9999, "exact", "0.999"),
    ],
)
def test_printed_form_is_what_the_step_search_prints(ours: float, ties: str, printed: str) -> None:
    sides = singles([ours, 3, 4, 5, 6], [1.0] * 5)
    assert hpt_speedup(*sides, ties=ties).printed == printed
    steps = round(float(printed) * 1000)
    assert hpt(*sides, speedup=steps / 1000, ties=ties).outcome == "candidate"
    assert hpt(*sides, speedup=(steps + 1) / 1000, ties=ties).outcome != "candidate"


def test_confidence_rises_again_on_bimodal_runs() -> None:
    rises = missed = 0
    for seed in range(30):
        result = hpt_speedup(*bimodal(seed))
        rises += result.rises
        if result.value is None or result.first_failure is None:
            continue
        if result.first_failure < result.value * (1 - 1e-9):
            missed += 1
            # The negative control: the published search stops at the first failure and is wrong.
            sides = bimodal(seed)
            middle = result.first_failure * (1 + 1e-9)
            assert hpt(*sides, speedup=middle).confidence < 0.95
            inside = result.value * (1 if result.attained_at_value else 1 - 1e-9)
            assert hpt(*sides, speedup=inside).confidence >= 0.95
            assert any("multimodal" in text for text in result.cautions)
    assert rises > 15
    assert missed > 2


def test_unimodal_runs_fall_steadily() -> None:
    rng = np.random.default_rng(5)
    ours = {f"b{k}": rng.lognormal(0.3, 0.02, 7) for k in range(10)}
    theirs = {f"b{k}": rng.lognormal(0.0, 0.02, 7) for k in range(10)}
    result = hpt_speedup(*pair(ours, theirs))
    assert not result.rises
    assert result.first_failure == result.value


@pytest.mark.parametrize(("ties", "better"), [("table", "higher"), ("exact", "lower")])
def test_dense_grid_finds_the_same_supremum(ties: str, better: str) -> None:
    rng = np.random.default_rng(77)
    ours = {f"b{k}": rng.integers(40, 60, 5).astype(float) for k in range(7)}
    theirs = {f"b{k}": rng.integers(40, 60, 5).astype(float) for k in range(7)}
    sides = pair(ours, theirs, better)
    result = hpt_speedup(*sides, ties=ties, confidence=0.9)
    assert result.value is not None
    # densely where it matters, and far enough that no island of confidence is missed
    near = np.arange(result.value - 0.005, result.value + 0.005, 0.0005)
    grid = [*np.arange(0.5, 1.5, 0.02), *near]
    reached = [g for g in grid if hpt(*sides, speedup=g, ties=ties).confidence >= 0.9]
    assert max(reached) <= result.value + 1e-9
    assert result.value - max(reached) < 0.0005 + 1e-9


@pytest.mark.parametrize(("apart", "tied"), [(0.5, True), (2.0, False), (-2.0, False)])
def test_differences_tie_on_the_curve_as_they_do_in_hpt(apart: float, tied: bool) -> None:
    """Of the logarithms: 0, ln 1000, and its opposite but for a share of the tolerance."""
    theirs = 1000.0 ** (1 + apart * TIE_TOLERANCE)
    sides = singles([1.0, 1000.0, 1.0], [1.0, 1.0, theirs])
    curve = hpt_speedup(*sides, scores="log-ratio").curve
    found = hpt(*sides, scores="log-ratio")
    ranks = {row.name: row.rank for row in found.benchmarks}
    assert (ranks["b1"] == ranks["b2"]) == tied
    assert curve.confidence(1.0) == found.confidence


def test_many_exact_runs_agree_with_hpt() -> None:
    # More than 256 ratios, so far ones are decided by the normal form; and more than 80 runs.
    rng = np.random.default_rng(8)
    for m, n in ((20, 25), (45, 41)):
        ours = {f"b{k}": rng.integers(900, 1300, m).astype(float) for k in range(6)}
        theirs = {f"b{k}": rng.integers(900, 1100, n).astype(float) for k in range(6)}
        sides = pair(ours, theirs)
        result = hpt_speedup(*sides, ties="exact")
        for g in np.linspace(0.85, 1.4, 12):
            assert hpt(*sides, speedup=g, ties="exact").confidence == pytest.approx(
                result.curve.confidence(g), abs=1e-12
            )


def test_equal_benchmarks_and_constant_samples_are_data() -> None:
    same = {f"b{k}": [2.0] * 5 for k in range(6)}
    result = hpt_speedup(*pair(same, {f"b{k}": [1.0] * 5 for k in range(6)}))
    assert result.value == 2.0
    assert not result.attained_at_value  # all tie there, at confidence one half
    assert result.printed == "1.999"
    assert result.curve.confidence(2.0) == 0.5


def test_raw_times_multiply() -> None:
    ours = {f"b{k}": [1.0 + k] for k in range(5)}
    theirs = {f"b{k}": [2.0 * (1.0 + k)] for k in range(5)}
    for scores, ties in product(("raw", "ratio", "log-ratio"), ("table", "exact")):
        result = hpt_speedup(*pair(ours, theirs, "lower"), scores=scores, ties=ties)
        assert result.value == pytest.approx(2.0)


def test_refusals() -> None:
    sides = singles([1.0], [1.0])
    with pytest.raises(UsageError, match="confidence must lie"):
        hpt_speedup(*sides, confidence=0.4)
    with pytest.raises(UsageError, match="ties must be 'table'"):
        hpt_speedup(*sides, ties="some")
    with pytest.raises(AnalysisError, match="leave the range of numbers"):
        hpt_speedup(*pair({"a": [1e-200]}, {"a": [1e200]}, "higher"), scores="ratio")


def test_every_page_says_what_was_compared() -> None:
    sides = singles([2.0, 3.0, 4.0, 5.0, 6.0], [1.0] * 5)
    report = hpt_report(*sides)
    for result in (hpt(*sides), hpt_speedup(*sides), report, report.context):
        assert result.screen().title == "HPT: new against old"
