"""What must hold of two trials compared whatever their effects are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.result import Multilevel
from analysis.verdict.comparison_effects import (
    CandidateComparison,
    EffectComparison,
    EffectPairs,
    compare_answers,
)
from tests.examples import examples

OPPOSITE = {"larger": "smaller", "smaller": "larger"}
SETTINGS = settings(max_examples=examples(60), deadline=None)


@st.composite
def answers(draw: st.DrawFn) -> tuple[Multilevel, Multilevel]:
    """Draw two trials of one candidate: paired or separate sessions, ragged, noisy or flat."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    benchmarks = draw(st.integers(1, 4))
    effect = draw(st.sampled_from([0.0, 0.005, 0.3]))
    return _trial(draw, rng, benchmarks, effect), _trial(
        draw, rng, benchmarks, effect + draw(st.sampled_from([0.0, 0.02, -0.5]))
    )


def _trial(draw: st.DrawFn, rng: np.random.Generator, benchmarks: int, effect: float) -> Multilevel:
    sessions = draw(st.integers(1, 6))
    noise = draw(st.sampled_from([0.0, 0.001, 0.1]))
    apart = 100 * draw(st.booleans())
    sides = []
    for name, size, first in (("new", effect, 0), ("base", 0.0, apart)):
        rows, ids = {}, {}
        for b in range(benchmarks):
            rows[f"b{b}"] = np.exp(-size + rng.normal(0, noise, 2 * sessions)).tolist()
            ids[f"b{b}"] = [first + k // 2 for k in range(2 * sessions)]
        sides.append(PerformanceMatrix.from_samples(name, rows, better="lower", sessions=ids))
    return multilevel(*sides)


def compared(old: Multilevel, new: Multilevel, *, same: bool = False) -> CandidateComparison:
    (found,) = compare_answers(
        [EffectPairs(old=old, new=new)], confidence=0.95, margin=0.01, same=same
    )
    return found


def lines(found: CandidateComparison) -> list[EffectComparison]:
    return [*found.benchmarks, *([] if found.these is None else [found.these])]


@given(answers())
@SETTINGS
def test_swapping_the_trials_inverts(pair: tuple[Multilevel, Multilevel]) -> None:
    there, back = compared(*pair), compared(*reversed(pair))
    for x, y in zip(lines(there), lines(back), strict=True):
        assert x.ratio is not None
        assert y.ratio is not None
        assert x.ratio * y.ratio == pytest.approx(1.0)
        assert (x.pvalue is None) == (y.pvalue is None)
        if x.pvalue is not None:
            assert x.pvalue == pytest.approx(y.pvalue)
            assert x.pvalue_adjusted == pytest.approx(y.pvalue_adjusted)
        if x.low is not None:
            assert x.low * y.high == pytest.approx(1.0)
        assert OPPOSITE.get(x.difference or "", x.difference) == y.difference
        assert (x.agreement == "differs") == (y.agreement == "differs")
        assert (x.agreement == "agrees") == (y.agreement == "agrees")


@given(answers())
@SETTINGS
def test_a_trial_never_differs_from_itself(pair: tuple[Multilevel, Multilevel]) -> None:
    for trial in pair:
        assert compared(trial, trial, same=True).word == "reproduced"
        twin = compared(trial, trial)  # another trial that came out just so
        assert all(line.ratio == 1.0 for line in lines(twin))
        assert "differs" not in {line.agreement for line in lines(twin)}
        decided = all(line.old.decided and line.difference for line in lines(twin))
        assert twin.word == "reproduced" or not decided


@given(answers())
@SETTINGS
def test_words_and_reasons_hold_together(pair: tuple[Multilevel, Multilevel]) -> None:
    found = compared(*pair)
    for line in lines(found):
        assert (line.reason is not None) == (line.agreement == "cannot tell")
        assert line.more_sessions is None or line.agreement == "cannot tell"
        assert (line.low is None) == (line.difference is None)
        if line.low is not None:
            assert line.low <= line.ratio <= line.high
        if line.agreement == "differs":
            assert line.pvalue is None or line.pvalue_adjusted <= 0.05 + 1e-12
            assert not math.isclose(line.ratio, 1.0, rel_tol=1e-13)
        few = min(line.old.sessions, line.new.sessions) < 2
        if few:
            assert line.agreement == "cannot tell"
            assert line.pvalue is None
