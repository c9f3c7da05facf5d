"""One variant by itself, against t on the logs of session means, computed anew with scipy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, UsageError
from analysis.verdict.judging import judge, judge_alone
from analysis.verdict.sides import by_themselves

RNG = np.random.default_rng(7)


def matrix(values, sessions=None, blocks=None):
    return PerformanceMatrix.from_samples(
        "v",
        {"x": values},
        better="lower",
        sessions=None if sessions is None else {"x": sessions},
        blocks=None if blocks is None else {"x": blocks},
    )


def expected(drawn):
    low, high = stats.t.interval(0.95, len(drawn) - 1, np.mean(drawn), stats.sem(drawn))
    return np.exp(low), np.exp(high)


def test_sessions_are_the_unit_and_weigh_the_same():
    parts = [np.exp(RNG.normal(k / 10, 0.1, size)) for k, size in enumerate((8, 3, 8, 5))]
    ids = np.repeat([1, 2, 3, 4], [8, 3, 8, 5])
    (found,) = by_themselves(matrix(np.concatenate(parts), ids), 0.95)
    means = [np.log(part).mean() for part in parts]
    assert (found.low, found.high) == pytest.approx(expected(means))
    assert found.mean == pytest.approx(np.exp(np.mean(means)))
    assert (found.unit, found.sessions, found.runs) == ("session", 4, 24)
    inside = np.sqrt(sum(((np.log(p) - np.log(p).mean()) ** 2).sum() for p in parts) / (24 - 4))
    assert found.spread == pytest.approx(np.expm1(inside))


def test_runs_pooled_over_sessions_would_be_narrower():
    # negative control: sessions that differ, runs that do not
    values = np.exp(np.repeat([0.0, 0.3, 0.6], 10) + RNG.normal(0, 0.01, 30))
    (found,) = by_themselves(matrix(values, np.repeat([1, 2, 3], 10)), 0.95)
    (pooled,) = by_themselves(matrix(values, np.repeat([1], 30)), 0.95)
    assert found.high / found.low > 3 * pooled.high / pooled.low


def test_one_session_has_its_blocks():
    values = np.exp(RNG.normal(0, 0.1, 12))
    blocks = np.repeat([1, 2, 3, 4], 3)
    (found,) = by_themselves(matrix(values, np.repeat([1], 12), blocks), 0.95)
    means = np.log(values).reshape(4, 3).mean(axis=1)
    assert (found.low, found.high) == pytest.approx(expected(means))
    assert found.unit == "block"


def test_without_ids_runs_are_all_there_is():
    values = np.exp(RNG.normal(0, 0.1, 12))
    (found,) = by_themselves(matrix(values), 0.95)
    assert (found.low, found.high) == pytest.approx(expected(np.log(values)))
    assert found.unit == "run"


def test_one_run_has_no_interval_and_equal_runs_one_without_width():
    (one,) = by_themselves(matrix([2.0]), 0.95)
    assert (one.mean, one.low, one.high, one.spread) == (2.0, None, None, None)
    (equal,) = by_themselves(matrix([2.0, 2.0, 2.0]), 0.95)
    assert (equal.low, equal.high) == pytest.approx((2.0, 2.0))


def test_ends_that_no_number_holds_are_cut():
    # authority: Student's t, 636.6 here, so half is 2,199 on the log scale. Seen: ZeroDivisionError, exit code 70
    for middle in (1.0, 1e-306, 1e303):
        found = judge_alone(matrix([middle, 1000 * middle], [1, 2]), confidence=0.999)
        (far,) = found.alone
        assert 0 < far.low < far.mean < far.high < np.inf
        assert "v takes" in str(found)


def test_a_side_alone_says_what_its_trial_says(synthetic, tmp_path):
    values = {b: RNG.lognormal(0, 0.1, 12).tolist() for b in ("x", "y")}
    trial = read_trial(synthetic({"only": values}, sessions=3).write(tmp_path / "t"))
    of_trial = judge(trial, confidence=0.9)
    found = judge_alone(trial.matrix("only"), metric="wall", confidence=0.9)
    assert found.alone == of_trial.alone
    assert (found.counts.sessions, found.counts.session_runs, found.counts.runs) == (3, (4, 4), 24)
    assert (found.candidates, found.data.baseline, found.data.trial) == ((), "only", None)
    few = judge_alone(trial.matrix("only"), benchmarks=["y"])
    assert [one.benchmark for one in few.alone] == ["y"]
    # seen: neither `str` nor `repr` of it could be had
    assert "only takes" in str(few)
    assert repr(few).startswith("<Verdict Verdict on only: only takes")
    with pytest.raises(UsageError, match="there is no benchmark 'z'"):
        judge_alone(trial.matrix("only"), benchmarks=["z"])


def test_a_metric_that_the_host_told_of_no_run_is_no_failure(synthetic, tmp_path):
    trial = read_trial(synthetic({v: {"x": [1.0, 2.0]} for v in "ab"}).write(tmp_path / "t"))
    numbers = {**trial.numbers, "max_rss_bytes": np.full(len(trial), np.nan)}
    with pytest.raises(InsufficientDataError) as refused:
        judge(replace(trial, numbers=numbers), metric="max_rss")
    assert "its host recorded it for no run" in refused.value.fix
    failed = replace(trial, outcome=np.ones_like(trial.outcome))
    warm = np.ones_like(trial.warmup)  # it ended before the first run that counts
    for one, what, says in (
        (failed, "wall", "which runs failed, and how"),
        (replace(failed, warmup=warm), "wall", "which runs failed, and how"),
        (replace(trial, warmup=warm), "only warm-up runs", "how to go on"),
    ):
        with pytest.raises(InsufficientDataError, match=what) as refused:
            judge(one)
        assert refused.value.fix == f"fairtrial status {trial.path} says {says}"
