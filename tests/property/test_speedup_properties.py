"""What must hold for the Speedup-Test on any data."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings, strategies as st

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.speedup_test.compare import LEVELS, speedup_test, speedup_test_suite
from analysis.methods.speedup_test.result import SpeedupTest
from analysis.stats.classical import ks_centred, rank_sum
from tests.examples import examples

# Coarse values make ties, constant samples and equal medians likely; the powers of two make other
# units of the same values exact.
SAMPLES = st.lists(st.integers(1, 40).map(lambda k: k / 8), min_size=1, max_size=12)
SMOOTH = st.builds(
    lambda seed, n, spread: np.random.default_rng(seed).lognormal(0, spread, n).tolist(),
    st.integers(0, 10**6),
    st.integers(3, 45),
    st.sampled_from([0.01, 0.2, 1.0]),
)
ANY = SAMPLES | SMOOTH


def said(done: SpeedupTest) -> list[object]:
    return [
        (d.significant, d.confidence, d.pvalue, d.needed_runs, [s.outcome for s in d.steps])
        for d in (done.mean, done.median)
    ]


@settings(max_examples=examples(60), deadline=None)
@given(ANY, ANY)
def test_decisions_are_coherent(x: list[float], y: list[float]) -> None:
    done = speedup_test(x, y)
    for decision in (done.mean, done.median):
        last = decision.steps[-1]
        if decision.significant is None:
            assert decision.pvalue is None
            assert last.outcome == "not tested" or decision.needed_runs is not None
        else:
            assert decision.needed_runs is None
            assert decision.pvalue == last.pvalue
            assert decision.significant == (last.outcome == "rejected")
        for step in decision.steps:
            assert (step.pvalue is None) == (step.outcome == "not tested")
            assert step.pvalue is None or 0 <= step.pvalue <= 1
    str(done)


@settings(max_examples=examples(60), deadline=None)
@given(ANY, ANY, st.sampled_from([0.95, 0.6, None]))
def test_swapped_is_the_test_with_the_sides_swapped(
    x: list[float], y: list[float], confidence: float | None
) -> None:
    done, other = (speedup_test(*both, confidence=confidence) for both in ((x, y), (y, x)))
    for ours, theirs in ((done.mean, other.mean), (done.median, other.median)):
        swapped = ours.swapped
        assert (swapped.significant, swapped.confidence) == (theirs.significant, theirs.confidence)
        if theirs.pvalue is None:
            assert swapped.pvalue is None
        else:
            assert swapped.pvalue is not None
            assert math.isclose(swapped.pvalue, theirs.pvalue, rel_tol=1e-9, abs_tol=1e-15)
        assert {ours.word, theirs.word} in ({"faster", "slower"}, {"undecided"})


@settings(max_examples=examples(12), deadline=None)
@given(ANY, ANY)
def test_the_best_level_is_the_highest_of_all_that_are_accepted(
    x: list[float], y: list[float]
) -> None:
    searched = speedup_test(x, y, confidence=None)
    each = {k / 100: speedup_test(x, y, confidence=k / 100) for k in LEVELS}
    for name in ("mean", "median"):
        accepted = [level for level, done in each.items() if getattr(done, name).significant]
        found = getattr(searched, name)
        assert found.confidence == max(accepted, default=None)
        assert found.significant == bool(accepted)
        told = each[found.confidence or 0.51]
        assert found.steps == getattr(told, name).steps


@settings(max_examples=examples(40), deadline=None)
@given(ANY, ANY, st.integers(-40, 40), st.randoms(use_true_random=False))
def test_unit_and_order_do_not_matter(
    x: list[float], y: list[float], power: int, shuffle: object
) -> None:
    usual = speedup_test(x, y, confidence=None)
    scaled = speedup_test(*([v * 2.0**power for v in side] for side in (x, y)), confidence=None)
    assert said(scaled) == said(usual)
    a, b = list(x), list(y)
    shuffle.shuffle(a)
    shuffle.shuffle(b)
    shuffled = speedup_test(a, b, confidence=None)
    for one, other in zip(said(shuffled), said(usual), strict=True):
        assert one[:2] == other[:2]


@settings(max_examples=examples(60), deadline=None)
@given(ANY, ANY)
def test_the_two_directions(x: list[float], y: list[float]) -> None:
    there, back = rank_sum(x, y), rank_sum(y, x)
    assert there.statistic[0] + back.statistic[0] == len(x) * len(y)
    assert there.pvalue[0] + back.pvalue[0] >= 1 - 1e-12
    one, other = ks_centred(x, y), ks_centred(y, x)
    assert one.statistic[0] == other.statistic[0]
    assert abs(one.pvalue[0] - other.pvalue[0]) <= 1e-12
    # never both ways at a level above one half
    for done in (speedup_test(x, y, confidence=None), speedup_test(y, x, confidence=None)):
        assert all(d.significant is not None for d in (done.mean, done.median))
    first, second = speedup_test(x, y), speedup_test(y, x)
    assert not (first.mean.significant and second.mean.significant)
    assert not (first.median.significant and second.median.significant)


@settings(max_examples=examples(30), deadline=None)
@given(SMOOTH, st.floats(0.01, 0.5))
def test_an_exact_shift_has_one_shape(x: list[float], shift: float) -> None:
    done = ks_centred([v + shift for v in x], x)
    assert (done.statistic[0], done.pvalue[0]) == (0.0, 1.0)


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(st.tuples(ANY, ANY), min_size=1, max_size=6))
def test_a_benchmark_does_not_depend_on_its_suite(
    pairs: list[tuple[list[float], list[float]]],
) -> None:
    old, new = [
        PerformanceMatrix.from_samples(
            name, {str(k): pair[side] for k, pair in enumerate(pairs)}, better="lower"
        )
        for side, name in enumerate(("old", "new"))
    ]
    suite = speedup_test_suite(baseline=old, candidate=new, confidence=None)
    for row, (x, y) in zip(suite.benchmarks, pairs, strict=True):
        alone = speedup_test(x, y, confidence=None)
        assert (row.mean, row.median) == (alone.mean, alone.median)
    for centre, gain in suite.gain.items():
        assert (
            suite.speedup[centre] * (1 - gain) == 1
            or abs(suite.speedup[centre] * (1 - gain) - 1) < 1e-9
        )
    counted = suite.proportion_median
    assert counted.low <= counted.share <= counted.high
    str(suite)
