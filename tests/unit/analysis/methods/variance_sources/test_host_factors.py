"""What the host did during each run, as factors: load, pressure, what each CPU lost, work on services' CPUs.

Authority: what was planted. Negative controls: the same numbers where they have nothing to do with the runs,
or only grow with them.
"""

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.columns import column_of
from analysis.methods.variance_sources.covariates import _OF_SERVICES, covariates_of, spoken
from analysis.methods.variance_sources.fit import sources
from analysis.record.run_numbers import metrics_of

COUNTS = (
    "pressure_cpu_s",
    "pressure_memory_s",
    "pressure_io_s",
    "service_cpus_busy_s",
    column_of(1),
)
TICK = 0.01


def adjusted(trial, seed=1, permutations=999):
    """Give the smallest adjusted p-value of each factor."""
    found = sources(trial, permutations=permutations, rng=np.random.default_rng(seed))
    told = [one for one in found.factors if one.pvalue_adjusted is not None]
    return {one.factor: one.pvalue_adjusted for one in told}


def slowed(planted, rng, name):
    """Give runs that last longer by what was lost: half a second in some of them, beside a second of their own."""
    trial = planted.frame(rng, runs=40)
    lost = np.where(rng.random(len(trial)) < 0.3, 0.5, 0.0)
    wall = np.exp(0.05 * planted.series(rng, trial)) + lost
    return planted.filled(trial, np.log(wall), **{name: lost + TICK * rng.random(len(trial))})


@pytest.mark.parametrize("name", COUNTS)
def test_what_makes_runs_long_is_found(planted, name):
    trial = slowed(planted, np.random.default_rng(5), name)
    one = covariates_of(trial)[name]
    assert one.may_follow
    assert not one.known_before
    assert one.count is not None
    assert adjusted(trial)[name] <= 0.01


@pytest.mark.parametrize("name", COUNTS[-2:])
@pytest.mark.parametrize("kind", ["grows", "apart"])
def test_what_only_grows_with_a_run_or_goes_its_own_way_is_not(planted, name, kind):
    """A CPU that is always as busy adds more to a long run; others' work may have nothing to do with it."""
    told = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        trial = planted.frame(rng, runs=40)
        logs = 0.1 * planted.series(rng, trial)
        per_s = 30 * (np.exp(logs) if kind == "grows" else 1.0)
        count = TICK * rng.poisson(per_s, len(trial))
        told += adjusted(planted.filled(trial, logs, **{name: count}), seed, 199)[name] <= 0.05
    assert told <= 1


def test_the_load_was_there_before_the_run(planted):
    rng = np.random.default_rng(2)
    trial = planted.frame(rng, runs=40)
    load = np.round(4 + planted.series(rng, trial, 0.6), 2)
    logs = 0.1 * (load - load.mean()) + 0.05 * planted.series(rng, trial)
    busy = planted.filled(trial, logs, load_1min=load)
    one = covariates_of(busy)["load_1min"]
    assert (one.known_before, one.may_follow, one.unit) == (True, False, "")
    assert adjusted(busy)["load_1min"] <= 0.01
    apart = planted.filled(trial, 0.05 * planted.series(rng, trial), load_1min=load)
    assert adjusted(apart)["load_1min"] > 0.05


def test_the_measured_cpu_is_no_second_factor(planted):
    trial = planted.frame(np.random.default_rng(1))
    own = TICK * np.arange(len(trial), dtype=np.float64)
    other = own[::-1].copy()
    filled = planted.filled(
        trial, np.zeros(len(trial)), steal_s=own, **{column_of(0): own, column_of(7): other}
    )
    assert {"steal_s", "cpu_steal_s.7"} <= covariates_of(filled).keys()
    assert "cpu_steal_s.0" not in covariates_of(filled)


def test_what_a_service_used_grows_with_the_run(planted):
    """Bytes and switches are sums over the run; its peak of memory is none."""
    names = ("service.db.disk_read", "service.db.voluntary_switches", "service.db.peak_memory")
    trial = planted.frame(np.random.default_rng(1))
    counts = dict.fromkeys(names, np.arange(len(trial), dtype=np.float64))
    filled = planted.filled(trial, np.zeros(len(trial)), metrics=counts)
    about = {name: {"unit": "", "better": "lower", "source": "services"} for name in names}
    found = covariates_of(replace(filled, manifest=replace(filled.manifest, metrics=about)))
    assert [found[name].may_follow for name in names] == [True, True, False]
    assert [found[name].count is not None for name in names] == [True, True, False]


def test_the_numbers_of_a_build_were_there_before_its_runs(planted):
    """A session has one value, at its first run: per second of that run it would follow from it."""
    trial = planted.frame(np.random.default_rng(1), sessions=5, runs=10)
    seconds = np.where(trial.block == 1, 3.0 + trial.session, np.nan)
    filled = planted.filled(trial, np.zeros(len(trial)), metrics={"build_seconds": seconds})
    about = {"build_seconds": {"unit": "s", "better": "lower", "source": "builds"}}
    one = covariates_of(replace(filled, manifest=replace(filled.manifest, metrics=about)))
    found = one["build_seconds"]
    assert np.array_equal(found.values, seconds, equal_nan=True)
    assert (found.count, found.known_before, found.may_follow) == (None, True, False)
    assert found.of_session


def test_a_quantile_of_a_run_is_no_sum_over_it(planted):
    """Runs whose slowest answers were slower lasted longer; a quantile per second would not tell."""
    rng = np.random.default_rng(4)
    trial = planted.frame(rng, runs=40)
    p99 = 8 + planted.series(rng, trial)
    logs = 0.1 * (p99 - 8) + 0.05 * planted.series(rng, trial)
    about = {"t.p99": {"unit": "ms", "source": "quantiles", "of": "t", "quantile": "0.99"}}
    about["t.p99"]["better"] = "lower"
    filled = planted.filled(trial, logs, metrics={"t.p99": p99})
    filled = replace(filled, manifest=replace(filled.manifest, metrics=about))
    one = covariates_of(filled)["t.p99"]
    assert (one.count, one.may_follow, one.unit) == (None, True, "ms")
    assert adjusted(filled)["t.p99"] <= 0.01
    apart = planted.filled(trial, 0.05 * planted.series(rng, trial), metrics={"t.p99": p99})
    apart = replace(apart, manifest=replace(apart.manifest, metrics=about))
    assert adjusted(apart)["t.p99"] > 0.05


def test_they_are_spoken():
    assert spoken("cpu_steal_s.12") == "steal of CPU 12 per second"
    assert spoken("pressure_io_s") == "waiting for input and output on the host per second"
    assert spoken("load_1min") == "load of the host before the run"
    assert spoken("service.db.7.wait") == "waiting of service db.7 for a CPU per second"
    assert spoken("service.db.peak_memory") == "service.db.peak_memory"
    assert {f"service.db.{what}" for what in _OF_SERVICES} == {name for name, _ in metrics_of("db")}
