"""Covariates of a trial: what was drawn, what was seen, and how each is compared.

Authority: the definitions of the trial format; where the runner's order is needed, its own plan.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.methods.variance_sources.covariates import as_levels, covariates_of, pooled, spoken
from analysis.methods.variance_sources.fit import components_of, nested, within_trials as sources


def rng():
    return np.random.default_rng(1)


def test_padding_is_a_number_and_two_circles_and_was_drawn(planted):
    trial = planted.unrelated(rng())
    found = covariates_of(trial)
    padding = trial.numbers["padding_bytes"]
    for name, period in (("padding_bytes mod 64", 64), ("padding_bytes mod 4096", 4096)):
        assert found[name].scale == "circular"
        assert found[name].period == period
        assert np.array_equal(found[name].values, padding % period)
    for name in ("padding_bytes", "padding_bytes mod 64", "padding_bytes mod 4096"):
        assert found[name].kind == "randomized"
        assert found[name].known_before
        assert not found[name].may_follow


def test_a_fixed_padding_is_not_randomized(planted):
    trial = planted.unrelated(rng())
    same = replace(trial, numbers={**trial.numbers, "padding_bytes": np.full(len(trial), 17.0)})
    assert covariates_of(same)["padding_bytes"].kind == "observed"


def test_place_and_run_before_are_those_of_the_order(planted):
    trial = planted.unrelated(rng(), benchmarks=3, variants=2, runs=4, sessions=2)
    found = covariates_of(trial)
    assert found["position"].kind == found["previous_benchmark"].kind == "randomized"
    assert np.array_equal(found["position"].values, np.tile(np.arange(6), 8))
    before = found["previous_benchmark"].values
    first = np.arange(len(trial)) % 24 == 0
    assert np.isnan(before[first]).all()
    assert np.array_equal(before[~first], trial.benchmark[:-1][~first[1:]])
    assert found["previous_benchmark"].labels == ("b0", "b1", "b2")
    assert np.array_equal(found["previous_variant"].values[~first], trial.variant[:-1][~first[1:]])


def test_a_fixed_order_is_not_randomized(planted):
    trial = planted.unrelated(rng(), benchmarks=3, shuffled=False)
    found = covariates_of(trial)
    assert found["position"].kind == "observed"
    assert found["previous_benchmark"].kind == "observed"


def test_of_an_imported_trial_nothing_was_drawn(planted):
    trial = planted.unrelated(rng(), benchmarks=3)
    imported = replace(trial, manifest=replace(trial.manifest, origin="imported"))
    found = covariates_of(imported)
    assert {one.kind for one in found.values()} == {"observed"}
    assert "position" not in found


def test_counts_that_grow_are_rates_that_may_follow(planted):
    trial = planted.unrelated(rng())
    switches = np.arange(len(trial), dtype=np.float64)
    trial = planted.filled(trial, np.log(trial.values("wall")), involuntary_switches=switches)
    one = covariates_of(trial)["involuntary_switches"]
    assert np.allclose(one.values, switches / trial.values("wall"))
    assert np.array_equal(one.count, switches)
    assert one.may_follow
    assert not one.known_before


def test_what_is_explained_explains_nothing(planted):
    trial = planted.unrelated(rng())
    trial = planted.filled(
        trial, np.log(trial.values("wall")), user_s=trial.values("wall"), metrics={"m": trial.block}
    )
    assert "user_s" in covariates_of(trial)
    assert "user_s" not in covariates_of(trial, "user")
    assert "m" not in covariates_of(trial, "m")


def test_a_time_that_the_program_printed_is_part_of_its_run(planted):
    trial = planted.unrelated(rng())
    trial = planted.filled(
        trial, np.log(trial.values("wall")), metrics={"own": trial.values("wall")}
    )
    for unit, follows, rate in (("ms", True, True), ("MB/s", True, False), ("1", False, False)):
        named = replace(
            trial,
            manifest=replace(trial.manifest, metrics={"own": {"unit": unit, "better": "lower"}}),
        )
        one = covariates_of(named)["own"]
        assert one.may_follow == follows
        assert (one.count is not None) == rate


@pytest.mark.parametrize(
    ("name", "unit", "follows", "rate"),
    [
        ("instructions", "1", True, True),
        ("cache_misses", "1", True, True),
        ("L1-dcache-load-misses", "events", True, True),
        ("context-switches", "1", True, True),
        ("cycles.u", "1", True, True),
        ("cache-misses", "%", False, False),
        ("instructions", "1/s", True, False),
        ("cache_size", "1", False, False),
        ("branch", "1", False, False),
    ],
)
def test_counters_that_were_parsed_are_rates_that_may_follow(planted, name, unit, follows, rate):
    """Names of perf-list(1): a longer run has more of each, whatever made it long."""
    trial = planted.unrelated(rng())
    wall = trial.values("wall")
    trial = planted.filled(trial, np.log(wall), metrics={name: wall * 1e9})
    trial = replace(
        trial, manifest=replace(trial.manifest, metrics={name: {"unit": unit, "better": "lower"}})
    )
    one = covariates_of(trial)[name]
    assert one.may_follow == follows
    assert (one.count is not None) == rate


def test_whole_numbers_of_few_values_are_levels_too(planted):
    trial = planted.unrelated(rng())
    seed = rng().integers(0, 8, len(trial)).astype(np.float64)
    trial = planted.filled(
        trial, np.log(trial.values("wall")), metrics={"seed": seed, "x": seed / 3}
    )
    found = covariates_of(trial)
    levels = as_levels(found["seed"])
    assert levels.labels == tuple("01234567")
    assert np.array_equal(levels.values, seed)
    assert as_levels(found["x"]) is None
    assert as_levels(found["padding_bytes"]) is None  # far more than sixteen


def test_what_nobody_knows_is_no_covariate(planted):
    found = covariates_of(planted.unrelated(rng()))
    assert not {"frequency_khz", "steal_s", "cpu", "time_of_day"} & found.keys()


def test_cpu_and_time_of_day_are_read_at_the_sessions_begin(synthetic, tmp_path):
    built = synthetic({"a": {"x": [1.0] * 6}}, sessions=2)
    rows = [
        replace(
            row, started_at=f"2026-11-2{row.session}T0{row.session}:00:00Z", cpus=(row.session,)
        )
        for row in built.rows
    ]
    built.rows[:] = rows
    found = covariates_of(read_trial(built.write(tmp_path / "t")))
    assert found["cpu"].labels == ("1", "2")
    assert found["cpu"].values.tolist() == [0, 0, 0, 1, 1, 1]
    day = found["time_of_day"]
    assert day.of_session
    assert day.period == 86_400
    assert day.values[[0, 3]].tolist() == pytest.approx([3600, 7200])


def test_names_are_spoken():
    assert spoken("padding_bytes mod 4096") == "environment padding modulo 4,096"
    assert spoken("position (levels)") == "position in its block"
    assert spoken("steal_s") == "steal per second"
    assert spoken("hits mod 3") == "hits mod 3"


# --- Components of variance within trials
#
# Authorities: what was simulated; the closed forms of the analysis of variance for balanced data.


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
