"""Times of variants, held to numpy's means written out session by session."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import UsageError
from analysis.verdict.judging import judge
from analysis.verdict.sides import means_of, session_seconds, times_of

OLD = [0.100, 0.104, 0.098, 0.130, 0.126, 0.128]
NEW = [0.050, 0.053, 0.049, 0.066, 0.061, 0.064]


@pytest.fixture
def made(synthetic, tmp_path):
    def make(change=None, *, sessions=2, warmup=0, **data):
        times = data or {"old": OLD, "new": NEW}
        built = synthetic({n: {"b": v} for n, v in times.items()}, sessions=sessions, warmup=warmup)
        if change is not None:
            built.rows[:] = [change(row) for row in built.rows]
        return read_trial(built.write(tmp_path / "t"))

    return make


def test_a_mean_is_that_of_the_logs_within_sessions_which_weigh_equally(made):
    found = times_of(made(warmup=1))
    assert list(found) == ["old", "new"]
    one = found["old"]
    sessions = np.log(OLD).reshape(2, 3)
    assert one.mean == pytest.approx(np.exp(sessions.mean(axis=1).mean()), rel=1e-9)
    sd = np.sqrt(sessions.var(axis=1, ddof=1).mean())
    assert one.spread == pytest.approx(np.exp(sd) - 1, rel=1e-6)
    assert (one.minimum, one.maximum) == pytest.approx((0.098, 0.130))
    assert (one.user, one.system) == pytest.approx((np.mean(OLD) * 0.9, np.mean(OLD) * 0.1))
    assert (one.runs, one.sessions, one.failed, one.max_rss) == (6, 2, 0, 50 << 20)
    one = times_of(made(old=[0.1, 0.1, 0.1, 0.4], sessions=2))
    both = np.exp(np.mean([np.log([0.1, 0.1]).mean(), np.log([0.1, 0.4]).mean()]))
    assert one["old"].mean == pytest.approx(both)
    uneven = times_of(made(old=[0.1, 0.1, 0.1, 0.4, 0.4], sessions=2))["old"]
    assert uneven.mean == pytest.approx(0.2)  # the geometric mean of 0.1 and 0.4
    assert uneven.user == pytest.approx(0.25 * 0.9)
    assert uneven.mean != pytest.approx(np.exp(np.log([0.1, 0.1, 0.1, 0.4, 0.4]).mean()))


def test_the_ratio_of_two_means_is_the_judged_speedup(made):
    trial = made()
    found, line = times_of(trial), judge(trial).candidates[0].multilevel.benchmarks[0]
    assert found["old"].mean / found["new"].mean == pytest.approx(line.speedup)
    assert found["new"].spread == pytest.approx(line.spread_candidate)


def test_failed_runs_are_counted_and_in_no_mean(made):
    def fails(row):
        bad = row.variant == "new" and row.position in {1, 5}
        return replace(row, outcome="exit", exit_code=3, wall_ns=10**12) if bad else row

    one = times_of(made(fails))["new"]
    assert (one.runs, one.failed) == (4, 2)
    assert one.maximum < 1


def test_a_variant_whose_runs_all_failed_has_no_times(made):
    def fails(row):
        return replace(row, outcome="exit", exit_code=1) if row.variant == "new" else row

    one = times_of(made(fails))["new"]
    assert (one.runs, one.sessions, one.failed) == (0, 0, 6)
    assert (one.mean, one.spread, one.user, one.minimum, one.max_rss) == (None,) * 5


def test_one_run_a_session_has_no_spread(made):
    assert times_of(made(sessions=6))["old"].spread is None


def test_what_is_unknown_of_some_run_is_unknown(made):
    found = times_of(made(lambda row: replace(row, cpus=None, max_rss_bytes=None, user_s=0.0)))
    assert (found["old"].user, found["new"].max_rss) == (0.0, None)


def test_means_of_another_metric(made):
    trial = made(lambda row: replace(row, max_rss_bytes=(20 + row.session) << 20))
    assert means_of(trial, "max_rss") == pytest.approx({"old": 21.5 * 2**20, "new": 21.5 * 2**20})
    with pytest.raises(UsageError, match="has no metric 'cycles'"):
        means_of(trial, "cycles")
    trial = made(lambda row: replace(row, max_rss_floor_bytes=row.max_rss_bytes))
    assert means_of(trial, "max_rss") == {}  # nothing but the launcher's is known
    assert {one.max_rss for one in times_of(trial).values()} == {None}


def test_how_long_sessions_took(made):
    # each from its first start to its last end; what lies between sessions is left out
    trial = made(lambda row: replace(row, start_ns=row.session * 10**12 + row.position * 10**9))
    last = 5 + NEW[2]  # positions 0 to 5 in the first session
    assert session_seconds(trial, 1) == pytest.approx(last)
    assert session_seconds(trial, 2) == pytest.approx(last + 5 + NEW[5])
    assert session_seconds(trial, 0) == 0
