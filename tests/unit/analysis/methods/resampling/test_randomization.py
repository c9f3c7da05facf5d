"""None"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import CENTRES, MEANS, match, set_apart
from analysis.errors import AnalysisError, UsageError
from analysis.methods.resampling import assignments, kernel, randomization
from analysis.methods.resampling.assignments import (
    IDENTITY,
    LOGARITHM,
    RECIPROCAL,
    Exchange,
    PooledRuns,
    exchangeable_units,
    unit_cautions,
)
from analysis.methods.resampling.randomization import loops, randomization_test
from analysis.pages.model import Caution
from analysis.stats.workers import Budget


def matrix(name: str, rows: dict, *, better: str = "lower", **fields) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples(name, rows, better=better, **fields)


def suite(
    name: str, n: int = 4, m: int = 5, *, seed: int = 0, factor: float = 1.0, blocks=None, **fields
) -> PerformanceMatrix:
    rng = np.random.default_rng([seed, len(name)])
    rows = {f"b{i}": factor * (i + 1) * rng.lognormal(0, 0.05, m) for i in range(n)}
    ids = None if blocks is None else {bench: list(blocks) for bench in rows}
    return matrix(name, rows, blocks=ids, **fields)


def rng() -> np.random.Generator:
    return np.random.default_rng(42)


def test_a_clear_difference() -> None:
    fast, slow = suite("fast", factor=0.5), suite("slow!")
    result = randomization_test(fast, slow, rng=rng())
    assert result.ratio == pytest.approx(2.0, rel=0.05)
    assert result.pvalue == result.smallest_pvalue == 2 / 10_001
    assert result.pvalue_candidate == 1 / 10_001
    assert result.pvalue_baseline == 1.0
    assert not result.exact
    assert result.resamples == 10_000 == len(result.null)
    assert result.assignments == 252**4
    assert result.log10_assignments == pytest.approx(4 * math.log10(252))


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_above_1_means_the_candidate_is_better(better: str) -> None:
    ours = matrix("c", {"a": [1.0, 1.1, 1.2, 1.3]}, better=better)
    theirs = matrix("b", {"a": [2.0, 2.1, 2.2, 2.3]}, better=better)
    result = randomization_test(ours, theirs, alternative="candidate", rng=rng())
    assert (result.ratio > 1) == (better == "lower")
    assert result.pvalue == (1 / 70 if better == "lower" else 1.0)
    assert result.exact
    assert math.isclose(result.null.max(), max(result.ratio, 1 / result.ratio), rel_tol=1e-12)


def test_two_sided_is_twice_the_smaller_tail_at_most_1() -> None:
    ours, theirs = matrix("c", {"a": [1.0, 2.0]}), matrix("b", {"a": [2.0, 1.0]})
    result = randomization_test(ours, theirs, rng=rng())
    # ratios of sums 4, 3, 3, 3, 3, 2: the observed one is tied with four of six
    assert result.pvalue_candidate == result.pvalue_baseline == 5 / 6
    assert result.pvalue == 1.0


def test_ties_of_the_statistic_count_in_spite_of_rounding() -> None:
    # 0.1 + 0.2 and 0.3 + 0.0 differ in floating point; each sum has ties here
    ours, theirs = (
        matrix("c", {"a": [0.1, 0.2, 0.7]}, better="higher"),
        matrix("b", {"a": [0.3, 0.4, 0.3]}, better="higher"),
    )
    result = randomization_test(ours, theirs, mean="arithmetic", alternative="candidate", rng=rng())
    tenths = [1, 2, 7, 3, 4, 3]
    from itertools import combinations

    expected = sum(sum(c) >= 10 for c in combinations(tenths, 3)) / 20
    assert result.pvalue == expected


def test_the_same_generator_gives_the_same_answer_whatever_the_order_of_benchmarks() -> None:
    for blocks in (None, range(5)):
        ours = suite("c", n=3, blocks=blocks)
        theirs = suite("bb", n=3, blocks=None if blocks is None else range(5, 10))
        for unit in ("run",) if blocks is None else ("run", "block"):
            one, other = (
                randomization_test(ours.select(order), theirs, unit=unit, resamples=200, rng=rng())
                for order in (["b0", "b1", "b2"], ["b2", "b0", "b1"])
            )
            assert one.pvalue == other.pvalue
            np.testing.assert_allclose(one.null, other.null, rtol=1e-13)
            again = randomization_test(ours, theirs, unit=unit, resamples=200, rng=rng())
            assert np.array_equal(again.null, one.null)


def test_exact_as_soon_as_the_assignments_are_few() -> None:
    ours, theirs = suite("c", n=2, m=3), suite("bb", n=2, m=3)
    few = randomization_test(ours, theirs, resamples=400, rng=rng())
    many = randomization_test(ours, theirs, resamples=399, rng=rng())
    assert (few.exact, few.assignments, few.resamples, few.pvalue_error) == (True, 400, 400, 0.0)
    assert (many.exact, many.assignments, many.resamples) == (False, 400, 399)
    assert many.pvalue_error > 0
    assert (many.pvalue_candidate * 400) == pytest.approx(round(many.pvalue_candidate * 400))


@pytest.mark.parametrize("unit", ["run", "block"])
def test_too_few_units_are_said_in_numbers(unit: str) -> None:
    ours = suite("c", n=1, m=3, blocks=range(3))
    theirs = suite("bb", n=1, m=3, blocks=range(3, 6))
    result = randomization_test(ours, theirs, unit=unit, rng=rng())
    assert result.smallest_pvalue == 0.1
    assert any("with 20 assignments no p below 0.100 is possible" in c for c in result.cautions)
    drawn = randomization_test(suite("c"), suite("bb"), resamples=9, rng=rng())
    assert any("take more than 9 resamples" in c for c in drawn.cautions)
    enough = randomization_test(suite("c", m=4), suite("bb", m=4), rng=rng())
    assert not any("is possible" in c for c in enough.cautions)


def test_one_run_each_says_that_nothing_can_be_said() -> None:
    result = randomization_test(matrix("c", {"a": [1.0]}), matrix("b", {"a": [2.0]}), rng=rng())
    assert (result.pvalue, result.assignments, result.exact) == (1.0, 2, True)
    assert any("no p below 1.00 is possible" in c for c in result.cautions)


def test_constant_values() -> None:
    result = randomization_test(
        matrix("c", {"a": [3.0] * 4}), matrix("b", {"a": [3.0] * 4}), rng=rng()
    )
    assert (result.ratio, result.pvalue) == (1.0, 1.0)
    assert any("every assignment gives the same ratio" in c for c in result.cautions)


def test_rounds_with_one_variant_are_said() -> None:
    ours, theirs = suite("c", m=6, blocks=range(6)), suite("bb", m=5, blocks=range(2, 7))
    result = randomization_test(ours, theirs, rng=rng())
    # 4 rounds with both: 2^4; 2 + 1 alone: 3 ways
    assert result.assignments == 48
    assert any(
        "3 of 7 rounds hold one variant only: they are reassigned" in c for c in result.cautions
    )
    assert "labels swapped within" in result.unit_words
    fixed = randomization_test(ours, suite("bb", m=4, blocks=range(4)), rng=rng())
    assert fixed.assignments == 16
    assert any("left as they are" in c for c in fixed.cautions)


@pytest.mark.parametrize("compiled", [False, True])
def test_rounds_that_lack_benchmarks(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomization, "BUDGET", Budget(0 if compiled else 1000))
    ours = matrix("c", {"a": [1.0, 2.0, 3.0], "b": [5.0]}, blocks={"a": [1, 2, 3], "b": [2]})
    theirs = matrix("b", {"a": [1.5, 2.5, 3.5], "b": [4.0]}, blocks={"a": [4, 5, 6], "b": [6]})
    result = randomization_test(ours, theirs, centre="mean", rng=rng())
    # of 20 choices those count that part round 2 from round 6: 2 * C(4, 2)
    assert result.assignments == result.resamples == 12
    assert any("take no part" in c for c in result.cautions)
    rows = {"a": {1: 1.0, 2: 2.0, 3: 3.0, 4: 1.5, 5: 2.5, 6: 3.5}, "b": {2: 5.0, 6: 4.0}}
    ratios = []
    for chosen in itertools.combinations(range(1, 7), 3):
        if (2 in chosen) != (6 in chosen):
            sides = [
                [np.mean([row[k] for k in row if (k in chosen) == mine]) for row in rows.values()]
                for mine in (False, True)
            ]
            ratios.append(math.sqrt(np.prod(sides[0]) / np.prod(sides[1])))
    assert np.sort(result.null) == pytest.approx(sorted(ratios))


def test_too_many_failed_runs_are_an_error_not_an_endless_search() -> None:
    n = 40
    names = [f"b{i}" for i in range(n)]
    ours = matrix("c", {b: [1.0] for b in names}, blocks={b: [i] for i, b in enumerate(names)})
    theirs = matrix(
        "b", {b: [1.0] for b in names}, blocks={b: [n + i] for i, b in enumerate(names)}
    )
    with pytest.raises(AnalysisError, match="too many rounds lack benchmarks"):
        randomization_test(ours, theirs, resamples=50, rng=rng())


def test_what_was_reassigned_and_what_cannot_be_told() -> None:
    runs = randomization_test(suite("c"), suite("bb"), resamples=99, rng=rng())
    assert runs.unit == "run"
    assert any("within one session only" in c for c in runs.cautions)
    assert any("45 %" in c for c in runs.cautions)
    rounds = randomization_test(
        suite("c", blocks=range(5)), suite("bb", blocks=range(5, 10)), resamples=99, rng=rng()
    )
    assert rounds.unit == "block"
    assert not any("45 %" in c for c in rounds.cautions)
    assert any("within one session only" in c for c in rounds.cautions)


def test_sessions_are_whole() -> None:
    def with_sessions(name: str, first: int) -> PerformanceMatrix:
        rows = {f"b{i}": [1.0 + i, 1.1 + i, 1.2 + i, 1.4 + i] for i in range(2)}
        ids = {bench: [first, first, first + 1, first + 1] for bench in rows}
        return matrix(name, rows, sessions=ids)

    result = randomization_test(
        with_sessions("c", 1), with_sessions("b", 3), unit="session", rng=rng()
    )
    assert (result.assignments, result.unit) == (6, "session")
    assert any("measure more sessions" in c for c in result.cautions)
    swapped = randomization_test(
        with_sessions("c", 1), with_sessions("b", 1), unit="session", rng=rng()
    )
    assert swapped.assignments == 4


def test_cautions_of_the_matrices_and_of_the_match_come_along() -> None:
    ours = matrix(
        "c", {"a": [1.0, 2.0], "x": [1.0]}, cautions=[Caution("noted", "2 failed runs left out")]
    )
    result = randomization_test(ours, matrix("b", {"a": [1.0, 2.0]}), rng=rng())
    assert "c: 2 failed runs left out" in map(str, result.cautions)
    assert Caution("noted", "reworded", ("c",)) in result.cautions
    assert any("only 'c' has it: x" in c for c in result.cautions)
    assert result.benchmarks == ("a",)


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("centre", CENTRES)
@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_the_scale_does_not_matter(mean: str, centre: str, scale: float) -> None:
    plain, scaled = (
        randomization_test(
            suite("c", 2, 3, factor=factor),
            suite("bb", 2, 4, factor=factor),
            mean=mean,
            centre=centre,
            resamples=1225,
            rng=rng(),
        )
        for factor in (1.0, scale)
    )
    assert plain.exact
    assert scaled.ratio == pytest.approx(plain.ratio, rel=1e-12)
    assert scaled.pvalue == plain.pvalue
    np.testing.assert_allclose(scaled.null, plain.null, rtol=1e-11)


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("centre", CENTRES)
def test_values_at_both_ends_of_the_range(mean: str, centre: str) -> None:
    rows = {f"b{i}": [1e-300, 1e300] if i == 0 else [1.0, 2.0] for i in range(3)}
    ours, theirs = matrix("c", rows), matrix("b", {b: v[::-1] for b, v in rows.items()})
    if mean == "geometric":
        result = randomization_test(ours, theirs, mean=mean, centre=centre, rng=rng())
        assert result.ratio == pytest.approx(1.0, rel=1e-12)
        assert result.pvalue == 1.0
        return
    # all but the largest or the smallest value vanish beside it: a reassigned ratio leaves the range
    if (mean, centre) == ("arithmetic", "runs"):
        with pytest.raises(AnalysisError, match="range of numbers"):
            randomization_test(
                matrix("c", {"a": [1e-300, 1e300, 1e300]}),
                matrix("b", {"a": [1e-300, 1e-300, 1e300]}),
                mean=mean,
                rng=rng(),
            )
    found = randomization_test(ours, theirs, mean=mean, centre=centre, rng=rng())
    assert np.isfinite(found.null).all()
    assert (found.null > 0).all()


def test_a_number_of_assignments_that_json_cannot_hold_is_told_by_its_logarithm() -> None:
    huge = randomization_test(suite("c", n=13), suite("bb", n=13), resamples=9, rng=rng()).to_dict()
    assert huge["assignments"] is None
    assert huge["log10_assignments"] == pytest.approx(13 * math.log10(252))


def test_what_a_person_reads() -> None:
    exact = str(randomization_test(suite("c", n=1), suite("bb", n=1), rng=rng()))
    assert "all 252 (exact)" in exact
    assert "+-" not in exact
    assert "this benchmark," in exact


def test_wording_of_scores() -> None:
    ours, theirs = (
        matrix(name, {"a": [1.0, 2.0]}, better="lower", unit="B") for name in ("c", "b")
    )
    assert "times as good as" in str(randomization_test(ours, theirs, rng=rng()))


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("mean", "quadratic"),
        ("centre", "mode"),
        ("alternative", "greater"),
        ("unit", "night"),
        ("unit", "block"),
        ("unit", "session"),
        ("resamples", 0),
        ("resamples", 10_000_001),
    ],
)
def test_refusals(argument: str, value: object) -> None:
    with pytest.raises(UsageError, match=argument):
        randomization_test(suite("c"), suite("bb"), rng=rng(), **{argument: value})


def test_other_units_and_directions_are_refused() -> None:
    with pytest.raises(AnalysisError, match="unit"):
        randomization_test(suite("c"), suite("bb", unit="ms"), rng=rng())


def test_the_worked_example_of_the_manual() -> None:
    old = {"sort": [2.00, 2.10, 2.05, 2.20], "scan": [5.0, 5.3, 5.1, 5.4]}
    new = {"sort": [1.90, 2.00, 1.95, 2.12], "scan": [4.9, 5.2, 5.0, 5.2]}
    ids = {bench: [1, 2, 3, 4] for bench in old}
    others = {bench: [5, 6, 7, 8] for bench in old}
    ours = matrix("new", new, blocks=ids)
    both = randomization_test(ours, matrix("old", old, blocks=ids), rng=rng())
    assert both.ratio == pytest.approx(1.036, abs=5e-4)
    assert (both.assignments, both.pvalue_candidate, both.pvalue) == (16, 1 / 16, 0.125)
    pooled = randomization_test(ours, matrix("old", old, blocks=others), rng=rng())
    assert (pooled.assignments, pooled.pvalue_candidate, pooled.pvalue) == (70, 7 / 70, 0.2)
    single = randomization_test(ours, matrix("old", old, blocks=ids), unit="run", rng=rng())
    assert single.assignments == 4900
    assert single.pvalue_candidate == pytest.approx(0.0416, abs=5e-5)


@pytest.mark.parametrize(
    ("units", "pooled", "swapped"),
    [
        (3, 0.1, 0.25),
        (4, 0.0286, 0.125),
        (5, 0.00794, 0.0625),
        (6, 0.00216, 0.0313),
        (7, 0.000583, 0.0156),
        (8, 0.000155, 0.00781),
    ],
)
def test_the_smallest_pvalues_of_the_manual(units: int, pooled: float, swapped: float) -> None:
    ours = suite("c", n=2, m=units, blocks=range(units))
    for first, expected in ((units, pooled), (0, swapped)):
        theirs = suite("bb", n=2, m=units, blocks=range(first, first + units))
        found = randomization_test(ours, theirs, resamples=20_000, rng=rng())
        assert found.smallest_pvalue == pytest.approx(expected, rel=5e-3)


def test_very_many_runs_are_counted_by_their_logarithm() -> None:
    values = np.random.default_rng(1).lognormal(0, 0.1, 40_000)
    result = randomization_test(
        matrix("c", {"a": values[:20_000]}),
        matrix("b", {"a": values[20_000:]}),
        resamples=19,
        rng=rng(),
    )
    assert result.assignments is None
    # C(2m, m) is near 4^m / sqrt(pi m)
    assert result.log10_assignments == pytest.approx(
        20_000 * math.log10(4) - math.log10(math.pi * 20_000) / 2, abs=1e-4
    )
    assert result.smallest_pvalue == 0.1


# --- The randomization's loops by numpy: every number is that of the compiled ones, and of plain Python.


DESIGNS = [
    Exchange(0, 0, 5),
    Exchange(6, 3, 0),
    Exchange(5, 2, 2),
    Exchange(7, 0, 3),
    Exchange(4, 1, 40),
]


def pooled(design: Exchange, seed: int, *, median: bool, outer: int) -> PooledRuns:
    """Make runs of three benchmarks; some labels have several, some none."""
    rng = np.random.default_rng(seed)
    labels = design.pool + 2 * design.pairs
    sizes = rng.integers(labels, 3 * labels, 3)
    return PooledRuns(
        np.concatenate([np.sort(rng.lognormal(0, 1, size)) for size in sizes]),
        rng.integers(0, labels, sizes.sum()),
        np.cumsum([0, *sizes]),
        median,
        outer,
    )


def both(name: str, *given: Any, size: int, first: float = 0.0) -> list[list[Any]]:
    """Call a function of both modules, with a generator of the same seed where it draws."""
    told = []
    for module in (assignments, kernel):
        a, b = np.full((2, size), first)
        draws = [np.random.default_rng(3)] if "shuffled" in name else []
        done = getattr(module, name)(*draws, *given, a, b)
        end = size if done is None else done
        told.append([done, a[:end].tolist(), b[:end].tolist()])
    return told


@pytest.mark.parametrize("median", [False, True])
@pytest.mark.parametrize("outer", [IDENTITY, LOGARITHM, RECIPROCAL])
@pytest.mark.parametrize("seed", range(3))
def test_all_and_drawn_are_the_kernels_to_the_last_digit(median, outer, seed):
    for design in DESIGNS:
        runs = pooled(design, seed, median=median, outer=outer)
        ours, theirs = both("joint_shuffled", runs, design, size=200)
        assert ours == theirs
        if design.pairs < 10:
            every = math.comb(design.pool, design.size) << design.pairs
            ours, theirs = both("joint_all", runs, design, size=every)
            assert ours == theirs
    one = PooledRuns(np.sort(runs.values[:9]), np.arange(9), np.array([0, 9]), median, outer)
    ours, theirs = both("all_splits", one, 4, size=math.comb(9, 4))
    assert ours == theirs
    ours, theirs = both("add_shuffled", one, 4, size=150, first=1.0)
    assert ours == theirs


def test_a_run_more_or_another_order_is_seen():
    """What the test above compares: sums whose order differs are not equal to the last digit."""
    design = Exchange(6, 3, 0)
    runs = pooled(design, 1, median=False, outer=IDENTITY)
    turned = runs._replace(
        values=np.concatenate([x[::-1] for x in np.split(runs.values, runs.starts[1:-1])]),
        owner=np.concatenate([x[::-1] for x in np.split(runs.owner, runs.starts[1:-1])]),
    )
    a, b = (both("joint_all", one, design, size=20)[0] for one in (runs, turned))
    np.testing.assert_allclose(a[1], b[1], rtol=1e-12)
    assert a[1] != b[1]


@pytest.mark.parametrize("median", [False, True])
@pytest.mark.parametrize("design", DESIGNS[:4])
def test_all_assignments_are_those_of_a_plain_loop(design, median):
    runs = pooled(design, 5, median=median, outer=IDENTITY)
    centre = statistics.median if median else statistics.mean
    found = []
    for chosen in itertools.combinations(range(design.pool), design.size):
        for swaps in range(1 << design.pairs):
            halves = [design.pool + 2 * k + (swaps >> k & 1) for k in range(design.pairs)]
            ours = np.isin(runs.owner, [*chosen, *halves])
            parts = list(itertools.pairwise(runs.starts.tolist()))
            sides = [
                [runs.values[i:j][here[i:j]].tolist() for i, j in parts] for here in (ours, ~ours)
            ]
            if all(sides[0]) and all(sides[1]):
                found.append([sum(map(centre, side)) for side in sides])
    a, b = np.empty((2, math.comb(design.pool, design.size) << design.pairs))
    done = assignments.joint_all(runs, design, a, b)
    assert done == len(found)
    np.testing.assert_allclose(np.transpose([a[:done], b[:done]]), found, rtol=1e-12)


def test_much_work_is_the_kernels(monkeypatch):
    runs = pooled(DESIGNS[0], 1, median=False, outer=IDENTITY)
    monkeypatch.setattr(randomization, "BUDGET", Budget(10 * runs.values.size))
    assert [loops(runs, count) for count in (4, 6, 1)] == [assignments, assignments, kernel]


def units_matrix(name: str, blocks=None, sessions=None, runs: int = 3) -> PerformanceMatrix:
    def ids(given):
        if given is None or isinstance(given, dict):
            return given
        return {"a": given, "b": given}

    blocks, sessions = ids(blocks), ids(sessions)
    known = blocks or sessions or {"a": range(runs), "b": range(runs)}
    return PerformanceMatrix.from_samples(
        name,
        {bench: [1.0] * len(row) for bench, row in known.items()},
        better="lower",
        blocks=blocks,
        sessions=sessions,
    )


def cautions(ours: PerformanceMatrix, theirs: PerformanceMatrix, unit=None) -> list[str]:
    units = exchangeable_units(ours, theirs, unit)
    return [str(caution) for caution in unit_cautions(match(ours, theirs), units)]


def test_without_ids_single_runs() -> None:
    pair = units_matrix("c", runs=2), units_matrix("b", runs=3)
    units = exchangeable_units(*pair)
    assert (units.unit, units.chosen, units.sessions) == ("run", True, None)
    assert [row.tolist() for row in units.candidate] == [[0, 1], [0, 1]]
    assert [row.tolist() for row in units.baseline] == [[2, 3, 4], [2, 3, 4]]
    assert units.sides.size == 0
    text = " ".join(cautions(*pair))
    assert "is not known" in text
    assert "within one session only" in text
    assert (units.words, units.counts) == ("single runs, each benchmark on its own", "")


def test_the_default_is_block_where_both_sides_know_it() -> None:
    units = exchangeable_units(units_matrix("c", [1, 2, 3]), units_matrix("b", [4, 5, 6]))
    assert (units.unit, units.only_candidate, units.only_baseline, units.both) == ("block", 3, 3, 0)
    one = units_matrix("c", [1, 2, 3]), units_matrix("b")
    assert exchangeable_units(*one).unit == "run"
    assert "(for 'c' alone they are)" in cautions(*one)[0]


def test_the_default_is_session_where_both_sides_have_five_of_them() -> None:
    def of(ours: object, theirs: object, blocks: object = None) -> str:
        units = exchangeable_units(
            units_matrix("c", blocks, ours), units_matrix("b", blocks, theirs)
        )
        assert units.chosen
        return units.unit

    five, four = [1, 2, 3, 4, 5], [1, 2, 3, 4, 4]
    assert of(five, five) == of(five, five, five) == "session"
    assert of(five, four) == of(four, five) == "run"
    assert of(five, four, five) == of(five, [6, 7, 8, 9, 10], five) == "block"
    assert of(five, ["1", "2", "3", "4", "5"], five) == "block"
    # known on one side only
    one = units_matrix("c", five, five), units_matrix("b", five)
    assert exchangeable_units(*one).unit == "block"


def test_equal_ids_are_one_round_with_both_variants() -> None:
    units = exchangeable_units(units_matrix("c", [1, 2, 3]), units_matrix("b", [2, 3, 4]))
    assert (units.both, units.only_candidate, units.only_baseline) == (2, 1, 1)
    assert units.sides.tolist() == [0, 2, 2, 1]
    assert units.candidate[0].tolist() == [0, 1, 2]
    assert units.baseline[0].tolist() == [1, 2, 3]
    assert units.words == "whole rounds, jointly over all benchmarks"
    assert units.counts == (
        "2 with both variants, 1 with the candidate only, 1 with the baseline only"
    )


def test_numbers_and_names_are_different_ids() -> None:
    units = exchangeable_units(units_matrix("c", [1, 2]), units_matrix("b", ["1", "2"]))
    assert (units.both, units.only_candidate, units.only_baseline) == (0, 2, 2)


def test_rounds_that_lack_benchmarks_or_hold_several_runs() -> None:
    ours = {"a": [7, 7, 9], "b": [9]}
    theirs = {"a": [9], "b": [11, 7]}
    units = exchangeable_units(units_matrix("c", ours), units_matrix("b", theirs))
    assert units.candidate[0].tolist() == [0, 0, 1]
    assert units.candidate[1].tolist() == [1]
    assert units.baseline[0].tolist() == [1]
    assert units.baseline[1].tolist() == [2, 0]
    assert units.sides.tolist() == [2, 2, 1]


def test_blocks_numbered_anew_in_each_session_are_told_apart() -> None:
    ours = units_matrix("c", [1, 2, 1, 2], [1, 1, 2, 2])
    theirs = units_matrix("b", [1, 2, 1, 2], [3, 3, 4, 4])
    units = exchangeable_units(ours, theirs)
    assert (units.only_candidate, units.only_baseline, units.both) == (4, 4, 0)
    same = exchangeable_units(ours, units_matrix("b", [1, 2, 1, 2], [1, 1, 2, 2]))
    assert same.both == 4


def test_the_numbers_depend_on_ids_only() -> None:
    ours = units_matrix("c", {"a": [3, 1], "b": [2, 1]})
    theirs = units_matrix("b", {"a": [5, 4], "b": [5, 6]})
    there = exchangeable_units(ours, theirs)
    back = exchangeable_units(ours.select(["b", "a"]), theirs.select(["b", "a"]))
    assert [row.tolist() for row in there.candidate] == [
        row.tolist() for row in back.candidate[::-1]
    ]
    assert there.sides.tolist() == back.sides.tolist()


def test_sessions() -> None:
    ours, theirs = units_matrix("c", [1, 2, 3], [1, 1, 2]), units_matrix("b", [4, 5, 6], [3, 3, 4])
    units = exchangeable_units(ours, theirs, "session")
    assert (units.unit, units.chosen, units.sessions) == ("session", False, 4)
    assert units.candidate[0].tolist() == [0, 0, 1]
    assert cautions(ours, theirs, "session") == []
    assert units.noun == "session"


@pytest.mark.parametrize(
    ("ours", "theirs", "says"),
    [
        ([1, 1, 1], [1, 1, 1], "stem from one session"),
        ([1, 1, 1], [2, 2, 2], "no session holds both variants"),
        ([1, 1, 2], [1, 2, 2], "not independent replications"),
        (None, [1, 1, 1], "(for 'b' alone they are)"),
    ],
)
def test_what_sessions_leave_open(ours, theirs, says: str) -> None:
    pair = units_matrix("c", [1, 2, 3], ours), units_matrix("b", [4, 5, 6], theirs)
    assert says in " ".join(cautions(*pair, "block"))


def test_single_runs_asked_for_although_rounds_are_known() -> None:
    pair = units_matrix("c", [1, 2, 3]), units_matrix("b", [1, 2, 3])
    assert not exchangeable_units(*pair, "run").chosen
    assert "rounds are known" in cautions(*pair, "run")[0]


def test_refusals_units() -> None:
    with pytest.raises(UsageError, match="unit must be"):
        exchangeable_units(units_matrix("c"), units_matrix("b"), "night")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"'block' needs to know each run's block.*'b'"):
        exchangeable_units(units_matrix("c", [1, 2, 3]), units_matrix("b"), "block")
    with pytest.raises(UsageError, match="'c' and 'b'"):
        exchangeable_units(units_matrix("c"), units_matrix("b"), "session")


def test_trials_set_apart_share_no_id() -> None:
    ours, theirs = (
        set_apart(units_matrix(name, [1, 2], [1, 2]), trial)
        for name, trial in (("c", "x"), ("b", "y"))
    )
    for unit in ("block", "session"):
        assert exchangeable_units(ours, theirs, unit).both == 0
    same = set_apart(units_matrix("b", [1, 2], [1, 2]), "x")
    assert exchangeable_units(ours, same).both == 2
    assert set_apart(units_matrix("c"), "x").blocks is None
    assert ours.samples[0].tolist() == [1.0, 1.0]


def test_arrays_are_read_only() -> None:
    for unit in ("run", "block"):
        units = exchangeable_units(units_matrix("c", [1, 2]), units_matrix("b", [1, 2]), unit)
        for array in (*units.candidate, *units.baseline, units.sides):
            assert isinstance(array, np.ndarray)
            assert not array.flags.writeable


@pytest.mark.parametrize(
    ("of", "noun"), [(("host", "host"), "host"), (("host", "session"), "session")]
)
def test_hosts_that_are_sessions_are_called_hosts(of: tuple[str, str], noun: str) -> None:
    sides = (
        replace(units_matrix(name, sessions=[1, 2, 3]), outermost=one)
        for name, one in zip("xy", of, strict=True)
    )
    units = exchangeable_units(*sides, "session")
    assert units.unit == "session"
    assert units.words == f"whole {noun}s, jointly over all benchmarks"
