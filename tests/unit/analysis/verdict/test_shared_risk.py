"""Several candidates share the risk of words and proofs.

Authority: rules-2, section 9: Holm (1979) over candidates times benchmarks, at alpha for p, alpha/2 for the p of
equivalence and the proofs of a gate; lines of suites at alpha / candidates; one candidate keeps its numbers.
"""

from __future__ import annotations

import numpy as np
import pytest

from analysis import gate, judge, multilevel
from analysis.data.trial import read_trial
from analysis.stats.multiplicity import adjusted

SHIFTS = {"base": 0.0, "near": 0.0055, "far": 0.012, "off": 0.0065}


@pytest.fixture
def trial(synthetic, tmp_path):
    rng = np.random.default_rng(2)
    times = {
        name: {x: np.exp(shift + 0.008 * rng.standard_normal(24)).tolist() for x in ("a", "b")}
        for name, shift in SHIFTS.items()
    }
    return read_trial(synthetic(times, sessions=6).write(tmp_path / "runs" / "one"))


def lines_of(verdict):
    return [line for one in verdict.candidates for line in one.multilevel.benchmarks]


def word(speedup, pvalue, equivalent):
    if equivalent <= 0.025:
        return "equivalent"
    return "undecided" if pvalue > 0.05 else "slower" if speedup < 1 else "faster"


def test_words_are_of_one_family_and_intervals_are_not(trial):
    together = judge(trial)
    apart = [judge(trial, variants=[name]) for name in SHIFTS if name != "base"]
    lines, alone = lines_of(together), [line for one in apart for line in lines_of(one)]
    assert [(x.pvalue, x.low, x.high) for x in lines] == [(x.pvalue, x.low, x.high) for x in alone]
    for key in ("pvalue", "pvalue_equivalent"):
        family = adjusted([getattr(line, key) for line in alone])
        assert [getattr(line, f"{key}_adjusted") for line in lines] == family.tolist()
    words = [line.outcome for line in lines]
    assert words == [
        word(x.speedup, x.pvalue_adjusted, x.pvalue_equivalent_adjusted) for x in lines
    ]
    assert words != [line.outcome for line in alone]
    for one, other in zip(together.candidates, apart, strict=True):
        these, single = one.multilevel.these, other.candidates[0].multilevel.these
        assert (these.pvalue, these.low) == (single.pvalue, single.low)
        found = these.speedup, 3 * these.pvalue, 3 * these.pvalue_equivalent
        assert these.outcome == word(*found)
    (said,) = [one.text for one in together.cautions if one.code == "shared-risk"]
    assert said.startswith("3 candidates share the 5 %")
    assert all(one.code != "shared-risk" for one in apart[0].cautions)
    assert "corrected for 6 comparisons" in str(judge(trial, explain=True))


def test_one_candidate_keeps_its_numbers(trial):
    sides = [trial.matrix(name) for name in ("far", "base")]
    (one,) = judge(trial, variants=["far"]).candidates
    assert one.multilevel.benchmarks == multilevel(*sides).benchmarks
    assert one.multilevel.these == multilevel(*sides).these


def test_proofs_of_a_gate_are_of_one_family_and_passes_are_not(trial):
    results = [one.multilevel for one in judge(trial).candidates]
    for condition in ("slower>0.2%", "slower>3%"):
        together = gate(results, condition)
        apart = [gate(one, condition).candidates[0] for one in results]
        chances = [line.pvalue_condition for one in apart for line in one.benchmarks]
        family = iter(adjusted(chances).tolist())
        for one, other in zip(together.candidates, apart, strict=True):
            for line, single in zip(one.benchmarks, other.benchmarks, strict=True):
                assert line.pvalue_condition_adjusted == next(family)
                assert (line.outcome == "passed") == (single.outcome == "passed")
                proven = line.pvalue_condition_adjusted <= 0.025 and line.outcome != "passed"
                assert (line.outcome == "proven") == proven
            proven = other.suite.pvalue_condition * 3 <= 0.025 and one.suite.outcome != "passed"
            assert (one.suite.outcome == "proven") == proven
    assert {one.outcome for one in together.candidates} >= {"passed"}
