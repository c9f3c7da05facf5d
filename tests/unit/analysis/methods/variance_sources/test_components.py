"""Components of variance within trials.

Authorities: what was simulated; the closed forms of the analysis of variance for balanced data.
"""

import json

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.methods.variance_sources.covariates import pooled
from analysis.methods.variance_sources.fit import components_of, nested, within_trials as sources


def drawn(planted, rng, *, trials=1, hosts=1, **design):
    """Give trials with known parts: host .3, trial .2, session .1, block .05, run .02."""
    host = rng.normal(0, 0.3, hosts)
    found = []
    for k in range(trials):
        trial = planted.frame(rng, name=f"t{k}", host=f"h{k % hosts}", **design)
        session = rng.normal(0, 0.1, design["sessions"])[trial.session - 1]
        block = trial.session * 1000 + trial.block
        of_block = rng.normal(0, 0.05, block.max() + 1)[block]
        base = host[k % hosts] + rng.normal(0, 0.2) * (trials > 1)
        logs = base + session + of_block + rng.normal(0, 0.02, len(trial)) + trial.benchmark
        found.append(planted.filled(trial, logs))
    return found


def test_parts_add_up_and_are_those_that_were_drawn(planted):
    trials = drawn(planted, np.random.default_rng(2), sessions=30, runs=5, benchmarks=3)
    found = components_of(pooled(trials, "wall"))
    whole = {one.source: one for one in found if one.benchmark is None}
    assert whole["session"].sd == pytest.approx(0.1, rel=0.25)
    assert whole["block"].sd == pytest.approx(0.05, rel=0.1)
    assert whole["run"].sd == pytest.approx(0.02, rel=0.1)
    assert whole["benchmark:session"].sd < 0.005
    assert sum(one.share for one in whole.values()) == pytest.approx(1)
    assert whole["session"].levels == 30
    assert whole["block"].levels == 150
    assert {"host", "trial"}.isdisjoint(whole)
    one = {c.source: c for c in found if c.benchmark == "b1"}
    assert set(one) == {"session", "run"}
    assert one["run"].sd == pytest.approx(np.hypot(0.05, 0.02), rel=0.1)


def test_a_session_of_one_block_is_no_block(planted):
    trials = drawn(planted, np.random.default_rng(7), sessions=20, runs=1, benchmarks=3)
    whole = {c.source for c in components_of(pooled(trials, "wall")) if c.benchmark is None}
    assert whole == {"benchmark", "session", "run"}


def test_hosts_trials_and_sessions_are_told_apart(planted):
    trials = drawn(planted, np.random.default_rng(3), trials=60, hosts=20, sessions=4, runs=3)
    found = {one.source: one for one in components_of(pooled(trials, "wall"))}
    assert list(found) == ["host", "trial", "session", "run"]
    assert found["host"].sd == pytest.approx(0.3, rel=0.35)
    assert found["trial"].sd == pytest.approx(0.2, rel=0.25)
    assert found["session"].sd == pytest.approx(0.1, rel=0.15)
    assert [found[name].levels for name in found] == [20, 60, 240, 720]


def test_one_trial_a_host_is_a_host(planted):
    trials = drawn(planted, np.random.default_rng(4), trials=5, hosts=5, sessions=3, runs=4)
    assert "trial" not in {one.source for one in components_of(pooled(trials, "wall"))}


def test_groups_within_groups_are_the_analysis_of_variance_when_balanced():
    rng = np.random.default_rng(5)
    a, b, n = 8, 5, 4
    outer, inner = np.repeat(np.arange(a), b * n), np.repeat(np.arange(a * b), n)
    values = rng.normal(0, 1, a)[outer] + rng.normal(0, 0.7, a * b)[inner]
    values = values + rng.normal(0, 0.5, values.size)
    table = values.reshape(a, b, n)
    within = table.var(axis=2, ddof=1).mean()
    means = table.mean(axis=2)
    middle = n * means.var(axis=1, ddof=1).mean()
    top = b * n * means.mean(axis=1).var(ddof=1)
    found = nested(values, {"outer": outer, "inner": inner})
    assert found["rest"][1] == pytest.approx(within, rel=1e-5)
    assert found["inner"][1] == pytest.approx((middle - within) / n, rel=1e-5)
    assert found["outer"][1] == pytest.approx((top - middle) / (b * n), rel=1e-5)


def test_what_divides_nothing_is_left_out():
    values = np.random.default_rng(6).normal(size=12)
    one, each = np.zeros(12, dtype=np.int64), np.arange(12)
    assert list(nested(values, {"one": one, "each": each})) == ["rest"]
    halves = np.repeat([0, 1], 6)
    assert list(nested(values, {"half": halves, "same": halves + 3})) == ["half", "rest"]
    same = nested(np.ones(12), {"half": halves})
    assert {variance for _, variance in same.values()} == {0.0}
    inside = nested(np.repeat([1.0, 2.0, 3.0, 5.0], 3), {"a": np.repeat([0, 1], 6), "b": each // 3})
    assert inside["rest"] == (12, 0.0)
    assert inside["b"][1] > 0


def test_iterations_are_freed_from_their_runs(synthetic, tmp_path):
    """The variance of a mean of iterations is not that of runs."""
    from analysis.data.trial import read_trial

    rng = np.random.default_rng(7)
    built = synthetic(
        {"a": {"x": [1.0] * 60}}, sessions=3, metrics={"own": {"unit": "s", "better": "lower"}}
    )
    from dataclasses import replace

    built.rows[:] = [
        replace(row, metrics={"own": tuple(np.exp(rng.normal(0, 0.1) + rng.normal(0, 0.2, 25)))})
        for row in built.rows
    ]
    found = sources(read_trial(built.write(tmp_path / "t")), metric="own", permutations=99, rng=rng)
    parts = {one.source: one for one in found.components}
    assert parts["iteration"].levels == 1500
    assert parts["iteration"].sd == pytest.approx(0.2, rel=0.08)
    assert parts["run"].sd == pytest.approx(0.1, rel=0.25)


@pytest.mark.parametrize(
    ("each", "sessions", "told"),
    [("session", 6, True), ("campaign", 6, False), ("session", 1, False)],
)
def test_layouts_are_in_the_share_of_sessions_where_each_builds_its_own(
    synthetic, tmp_path, each, sessions, told
):
    # authority: docs/layouts.md
    times = np.exp(0.01 * np.random.default_rng(5).normal(size=48))
    made = synthetic({"old": {"x": times}, "new": {"x": times[::-1]}}, sessions=sessions)
    builds = [{"variant": "new", "each": each}]
    made.extra |= {"resolved.json": json.dumps({"campaign": {"builds": builds}}).encode()}
    found = sources(
        read_trial(made.write(tmp_path / "trial")), permutations=99, rng=np.random.default_rng(1)
    )
    about = [one.about for one in found.cautions if one.code == "layouts-in-sessions"]
    assert about == ([("new",)] if told else [])
    assert any(one.source == "session" for one in found.components) is (sessions > 1)
