"""Totals against typical runs. Authority: rules-2, section 4, computed anew from its formulas; and by hand."""

import math
import re

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.verdict.gate import gate

RNG = np.random.default_rng(44_03)
CALM = np.exp(0.01 * RNG.standard_normal((6, 8)))
TAIL = CALM * np.exp(0.01 * RNG.standard_normal((6, 8)))
TAIL[np.arange(6), np.arange(6)] *= 5.0


def judged(ours, theirs, *, better="lower", unit="s", names=("x",)):
    def side(name, values):
        ids = {b: np.repeat(np.arange(len(values)), values.shape[1]) for b in names}
        rows = {b: values.ravel() for b in names}
        return PerformanceMatrix.from_samples(name, rows, better=better, unit=unit, sessions=ids)

    return multilevel(side("new", ours), side("old", theirs))


def by_hand(x):
    logs = np.log(x)
    s = 1.4826 * np.median(np.abs(logs - np.median(logs)))
    return math.log(x.mean()) - logs.mean(), (math.exp(s**2) - 1 - s**2) / x.size


def test_two_ratios_that_look_alike_have_the_decimals_that_tell_them_apart():
    """Authority: "in all, 78 % less time, though the typical run takes 78 % less" on a first screen."""
    found = judged(0.215 * np.where(TAIL > 3, 1.6 * CALM, CALM), CALM)
    assert found.benchmarks[0].totals.disagree
    said = re.search(
        r"takes ([\d.]+) % less time, though the typical run takes ([\d.]+) % less",
        str(found.cautions[0].short),
    )
    assert float(said[1]) < float(said[2])


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_both_ratios_are_those_of_the_metric(better):
    found = judged(TAIL, CALM, better=better).benchmarks[0].totals
    (j, v), (k, w) = by_hand(TAIL), by_hand(CALM)
    assert found.ratio == pytest.approx(TAIL.mean() / CALM.mean())
    assert found.typical == pytest.approx(math.exp(np.log(TAIL).mean() - np.log(CALM).mean()))
    assert found.difference == pytest.approx(j - k)
    assert found.threshold == pytest.approx(max(math.log(1.01), 4 * math.sqrt(v + w)))
    assert found.disagree


def test_the_note_says_both_and_the_far_runs():
    found = judged(0.8 * TAIL, CALM)
    assert found.cautions[0].code == "totals"
    more, less = 100 * (0.8 * TAIL.mean() / CALM.mean() - 1), found.benchmarks[0].totals.typical
    assert str(found.cautions[0].short) == (
        f"in all, new takes {more:.0f} % more time, though the typical run takes {100 * (1 - less):.1f} % "
        "less: 6 of 48 runs of new take 4.9 to 5.2 times as much"
    )
    mirrored = judged(CALM, 0.8 * TAIL).cautions[0]
    assert "6 of 48 runs of old take" in mirrored
    one = TAIL.copy()
    one[1:] = CALM[1:]
    one[0, :3] = 5.0
    assert "of new in 1 of 6 sessions take" in judged(one, CALM).cautions[0]


@pytest.mark.parametrize("ours", [TAIL[:, :3], CALM**20, CALM])
def test_few_runs_and_clean_runs_have_no_note(ours):
    found = judged(ours, CALM[:, : ours.shape[1]] ** 20)
    assert (found.benchmarks[0].totals is None) == (ours.size < 20)
    assert "totals" not in {one.code for one in found.cautions}


@pytest.mark.parametrize("names", [("x",), ("x", "y")])
@pytest.mark.parametrize(
    ("factor", "condition", "code"),
    [
        (0.8, "worse>2%", 7),  # typical 8 % less, in all 20 % more
        (0.8, "worse>40%", 0),
        (1.2, "worse>2%", 1),  # both more
        (0.4, "worse>2%", 0),  # both less
        (0.8, "faster<2%", 7),
    ],
)
def test_a_limit_between_both_leaves_a_gate_open(names, factor, condition, code):
    found = gate(judged(factor * TAIL, CALM, names=names), condition)
    assert found.exit_code == code
    reasons = {line.reason for line in (*found.candidates[0].benchmarks, found.candidates[0].suite)}
    assert reasons == ({"totals"} if code == 7 else {None})


def test_the_other_way_round_a_gate_is_open_too():
    """The baseline's tail hides in the ratio of typical runs what totals do not show."""
    assert gate(judged(1.3 * CALM, TAIL), "worse>2%").exit_code == 7
