"""Quantiles of sessions with unequal numbers of values.

Authority: rules-2, section 5: the expected log of the r-th smallest of m of n values, by all subsets; equal numbers are
definition 1 of Hyndman and Fan, digit for digit.
"""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from analysis.data.iterations import RunValues, merged_quantile, of_one_basis, thinned_quantile
from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError
from analysis.importers.reader import Reading, read_sides
from analysis.methods.multilevel.compare import multilevel
from analysis.verdict.gate import gate
from analysis.verdict.judging import judge

SHARE = 0.75
METRICS = {
    "t": {"unit": "ms", "better": "lower"},
    "t.p75": {
        "unit": "ms",
        "better": "lower",
        "source": "quantiles",
        "of": "t",
        "quantile": "0.75",
    },
}


@pytest.fixture
def trial(synthetic, tmp_path):
    """Write a trial whose variants print so many values in each run, of sessions of `runs` runs."""

    def make(numbers, *, sessions=4, runs=1, name="t"):
        each = {one: np.random.default_rng([5, 26, k]) for k, one in enumerate(numbers)}
        made = synthetic(
            {one: {"b": [0.1] * sessions * runs} for one in numbers},
            sessions=sessions,
            metrics=METRICS,
        )
        rows = []
        for row in made.rows:
            values = np.exp(each[row.variant].standard_normal(numbers[row.variant])).tolist()
            own = merged_quantile([RunValues(np.array(values))], SHARE)
            rows.append(replace(row, metrics={"t": tuple(values), "t.p75": (own,) if own else ()}))
        made.rows = rows
        return read_trial(made.write(tmp_path / name))

    return make


def test_a_quantile_of_too_few_values_is_not_put_on_the_host(trial):
    with pytest.raises(InsufficientDataError) as refused:
        judge(trial({"a": 3, "b": 3}), metric="t.p75")
    assert refused.value.fix.startswith("its runs have too few values for this quantile")


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize(("n", "m"), [(7, 4), (9, 5), (8, 7), (6, 6), (12, 4)])
def test_it_is_the_mean_over_all_subsets(n, m, counted):
    values = np.round(np.exp(np.random.default_rng(n).standard_normal(n)), 1) + 0.1
    rank = math.ceil(SHARE * m)
    each = [np.log(sorted(some)[rank - 1]) for some in combinations(values.tolist(), m)]
    part = RunValues(values)
    if counted:
        part = RunValues(*np.unique(values, return_counts=True))
    found = thinned_quantile([part], SHARE, m)
    assert found == pytest.approx(math.exp(np.mean(each)), rel=1e-12)
    if n == m:
        assert found == pytest.approx(merged_quantile([part], SHARE), rel=1e-12)


def test_so_many_values_need_no_room():
    values = np.exp(np.random.default_rng(1).standard_normal(1_000_000))
    half = thinned_quantile([RunValues(values)], 0.99, 500_000)
    assert half == pytest.approx(merged_quantile([RunValues(values)], 0.99), rel=1e-3)
    assert thinned_quantile([RunValues(values)], 0.99, 99) is None


def test_equal_numbers_are_compared_as_ever(trial):
    read = trial({"old": 12, "new": 12})
    values = read.values("t")
    found = read.matrix("new", "t.p75")
    for k, row in enumerate(np.flatnonzero(read.variant == 1)):
        stored = read.metrics["t"]
        mine = np.sort(stored.values[stored.offsets[row] : stored.offsets[row + 1]])
        assert found.samples[0][k] == mine[8]
    assert values.size == 8
    assert not [one for one in judge(read, metric="t.p75").cautions if one.code == "unequal-values"]


@pytest.mark.parametrize(
    "shape", [{"sessions": 4}, {"sessions": 4, "runs": 3}, {"sessions": 1, "runs": 5}]
)
def test_the_larger_side_is_thinned_and_that_is_said(trial, shape):
    read = trial({"old": 15, "new": 8}, **shape)
    answer = judge(read, metric="t.p75")
    each = 1 if shape["sessions"] == 1 else shape.get("runs", 1)
    found = read.matrix("old", "t.p75").samples[0]
    stored = read.metrics["t"]
    first = np.flatnonzero(read.variant == 0)[:each]
    parts = [RunValues(stored.values[stored.offsets[k] : stored.offsets[k + 1]]) for k in first]
    assert found[0] == pytest.approx(thinned_quantile(parts, SHARE, 8 * each), rel=1e-12)
    assert answer.to_dict()["quantile"]["values"] == [8 * each, 15 * each]
    assert answer.to_dict()["quantile"]["compared_at"] == 8 * each
    told = [one.text for one in answer.cautions if one.code == "unequal-values"]
    assert told == [f"compared at the smaller number of values ({8 * each} of {15 * each})"]


def test_beyond_twice_as_many_there_is_no_word(trial):
    read = trial({"old": 40, "new": 10})
    answer = judge(read, metric="t.p75")
    line = answer.candidates[0].multilevel.benchmarks[0]
    assert (line.outcome, line.reason) == ("undecided", "unequal-values")
    told = [one.text for one in answer.cautions if one.code == "unequal-values"]
    assert told == ["40 values of old against 10 of new: measure both for equally many"]
    gated = gate(answer.candidates[0].multilevel, "slower>2%").candidates[0]
    assert (gated.outcome, gated.suite.reason) == ("undecided", "unequal-values")


def test_two_trials_are_compared_at_the_smaller_number(trial):
    each = trial({"old": 15}, name="a"), trial({"new": 8}, name="b")
    old, new = of_one_basis(each, "t.p75")
    assert (old.compared_at, new.compared_at) == ({"b": 8}, {"b": 8})
    assert (
        old.matrix("old", "t.p75").samples[0] != each[0].matrix("old", "t.p75").samples[0]
    ).all()
    assert (
        new.matrix("new", "t.p75").samples[0] == each[1].matrix("new", "t.p75").samples[0]
    ).all()


def test_a_third_variant_changes_nothing_between_two(trial):
    alone = trial({"old": 15, "new": 8}, name="a")
    more = trial({"old": 15, "new": 8, "few": 5}, name="b")
    wanted, *found = (judge(x, metric="t.p75") for x in (alone, more))
    found.append(judge(more, metric="t.p75", variants=["new"]))
    for answer in found:
        assert answer.compared[0].benchmarks[0].differences == (
            wanted.compared[0].benchmarks[0].differences
        )
    assert answer.quantile == wanted.quantile
    sides = read_sides(f"{more.path}:new", f"{more.path}:old", Reading(metric="t.p75"))
    assert multilevel(sides.candidate, sides.baseline).benchmarks[0].differences == (
        wanted.compared[0].benchmarks[0].differences
    )
