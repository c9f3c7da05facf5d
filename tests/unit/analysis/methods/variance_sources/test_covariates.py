"""Covariates of a trial: what was drawn, what was seen, and how each is compared.

Authority: the definitions of the trial format; where the runner's order is needed, its own plan.
"""

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.methods.variance_sources.covariates import as_levels, covariates_of, spoken


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
