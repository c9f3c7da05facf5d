"""How often factors are found that are none, and those that are.

A trial's factors are a family: over null trials, any of them stands out in 5 %. Authorities: the noise
that was simulated; a binomial count. The negative control permutes observed factors freely, as is
usual, and finds some in most trials whose runs and factors are each similar to themselves.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from analysis.methods.variance_sources import fit
from analysis.methods.variance_sources.factor_orders import Shifts, Shuffles
from analysis.methods.variance_sources.fit import within_trials as sources

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

_PATH = Path(__file__).parents[1] / "planted.py"
spec = importlib.util.spec_from_file_location("planted", _PATH)
planted = importlib.util.module_from_spec(spec)
sys.modules["planted"] = planted
spec.loader.exec_module(planted)

TRIALS, ORDERS = 1000, 399
RISK = 0.05


def stands_out(trial, seed, name=None, permutations=ORDERS):
    """Tell whether any factor stands out from chance, or one of a name."""
    found = sources(trial, permutations=permutations, rng=np.random.default_rng(seed))
    return any(
        one.pvalue_adjusted is not None
        and one.pvalue_adjusted <= RISK
        and (name is None or one.factor == name)
        for one in found.factors
    )


def rate(trials, draw, **how):
    return sum(
        stands_out(draw(np.random.default_rng([seed, 16])), seed, **how) for seed in range(trials)
    )


def within(count, trials, least, most, chance=1e-3):
    """Tell whether a count may come of a rate between two bounds."""
    low = binom.ppf(chance, trials, least) if least else 0
    return low <= count <= binom.isf(chance, trials, most)


DESIGNS = {
    "3 x 30": {},
    "6 x 8, 2 benchmarks": {"sessions": 6, "runs": 8, "benchmarks": 2},
    "1 x 60": {"sessions": 1, "runs": 60},
}


def test_of_a_thousand_null_trials_with_twelve_factors_a_twentieth_finds_any():
    found = rate(TRIALS, planted.unrelated)
    assert 0.035 <= found / TRIALS <= 0.065


def test_autocorrelated_runs_and_factors_find_little_more():
    found = rate(TRIALS, lambda rng: planted.unrelated(rng, correlation=0.8))
    assert found / TRIALS <= 0.08


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
def test_other_designs_and_other_noise(design, correlation):
    found = rate(
        300, lambda rng: planted.unrelated(rng, correlation=correlation, **DESIGNS[design])
    )
    assert within(found, 300, 0.0, 0.08)


def beside_a_host(rng, correlation=0.0):
    """Give the runs numbers of their host, in ticks where it counts so: others' work, which has nothing to do with them.

    Some only grow with the run, some come to few runs.
    """
    trial = planted.unrelated(rng, correlation=correlation)
    wall, n = trial.values("wall"), len(trial)
    numbers = {
        "load_1min": np.round(3 + planted.series(rng, trial, correlation), 2),
        "pressure_cpu_s": wall * (0.3 + 0.05 * planted.series(rng, trial, correlation)),
        "pressure_io_s": 1e-3 * rng.poisson(3, n),
        "service_cpus_busy_s": 0.01 * rng.poisson(50 * wall),
        "steal_s": 0.01 * (rng.random(n) < 0.1),
        "cpu_steal_s.1": 0.01 * rng.poisson(5 * wall),
        "cpu_steal_s.2": 0.01 * (rng.random(n) < 0.1),
    }
    return replace(trial, numbers={**trial.numbers, **numbers})


@pytest.mark.parametrize("correlation", [0.0, 0.8])
def test_the_numbers_of_a_host_that_has_nothing_to_do_with_the_runs(correlation):
    found = rate(300, lambda rng: beside_a_host(rng, correlation))
    assert within(found, 300, 0.0, 0.08)


@pytest.mark.parametrize("noise", ["lognormal", "bimodal", "heavy", "ticking"])
def test_noise_of_other_laws(noise):
    def drawn(rng):
        trial = planted.unrelated(rng)
        n = len(trial)
        logs = {
            "lognormal": lambda: np.exp(rng.standard_normal(n)) * 0.05,
            "bimodal": lambda: rng.normal(0, 0.01, n) + 0.3 * (rng.random(n) < 0.25),
            "heavy": lambda: np.clip(0.02 * rng.standard_t(1.5, n), -5, 5),
            "ticking": lambda: np.round(rng.normal(0, 0.02, n) / 0.02) * 0.02,
        }[noise]()
        return planted.filled(
            trial,
            logs,
            metrics={name: column.values for name, column in trial.metrics.items()},
            temperature_c=trial.numbers["temperature_c"],
        )

    assert within(rate(300, drawn), 300, 0.02, 0.07)


def test_a_factor_of_one_deviation_on_half_of_the_runs_is_found_in_nine_of_ten():
    def drawn(rng):
        trial = planted.unrelated(rng, factors=11)
        two = (rng.random(len(trial)) < 0.5).astype(np.float64)
        metrics = {name: column.values for name, column in trial.metrics.items()}
        return planted.filled(
            trial,
            np.log(trial.values("wall")) + planted.SD * two,
            metrics={**metrics, "two": two},
            temperature_c=trial.numbers["temperature_c"],
        )

    found = rate(400, drawn, name="two", permutations=999)
    assert found / 400 >= 0.9


def test_a_window_of_padding_is_found():
    """A quarter of the circle of 64 bytes, as where data straddle a cache line."""

    def drawn(rng):
        trial = planted.unrelated(rng)
        slow = np.mod(trial.numbers["padding_bytes"] - 13, 64) < 16
        return planted.filled(
            trial, np.log(trial.values("wall")) + 2 * planted.SD * slow, metrics={}
        )

    assert rate(100, drawn, name="padding_bytes mod 64") >= 95
    assert rate(100, drawn, name="padding_bytes") <= 10  # as a number it tells nothing


def test_counts_that_only_accumulate_are_not_found():
    """Switches at a constant rate: more in longer runs, and nothing that makes them long."""

    def drawn(rng):
        trial = planted.unrelated(rng, factors=4)
        wall = trial.values("wall")
        return planted.filled(
            trial,
            np.log(wall),
            metrics={},
            involuntary_switches=rng.poisson(400 * wall).astype(np.float64),
            minor_faults=146.0 + (rng.random(len(trial)) < 0.1),  # and what never grows
            user_s=wall * rng.uniform(0.95, 0.99, len(trial)),
        )

    found = rate(300, drawn)
    assert within(found, 300, 0.0, RISK)


def test_counts_that_have_nothing_to_do_with_the_runs_keep_the_level():
    """Few and many, hardly and widely varying: their rates all hold the run's time."""

    def drawn(rng):
        trial = planted.unrelated(rng, factors=6)
        counts = {
            "involuntary_switches": 2,
            "voluntary_switches": 100,
            "minor_faults": 1000,
            "major_faults": 10,
        }
        return planted.filled(
            trial,
            np.log(trial.values("wall")),
            metrics={name: column.values for name, column in trial.metrics.items()},
            **{name: rng.poisson(mean, len(trial)) * 1.0 for name, mean in counts.items()},
        )

    assert within(rate(400, drawn), 400, 0.035, 0.065)


def test_counts_that_cost_time_are_found():
    def drawn(rng):
        trial = planted.unrelated(rng, factors=4)
        switches = rng.poisson(10, len(trial)).astype(np.float64)
        return planted.filled(
            trial,
            np.log(trial.values("wall") + 0.02 * switches),
            metrics={},
            involuntary_switches=switches,
        )

    assert rate(100, drawn, name="involuntary_switches") >= 90


@spot_check
def test_free_permutations_would_find_what_is_not_there(monkeypatch):
    """The negative control, and beside it what shifts make of the same trials."""
    draws = [
        planted.unrelated(np.random.default_rng([k, 3]), correlation=0.8, sessions=1, runs=90)
        for k in range(20)
    ]
    shifted = sum(stands_out(trial, k, permutations=199) for k, trial in enumerate(draws))
    monkeypatch.setattr(fit, "Shifts", Shuffles)
    permuted = sum(stands_out(trial, k, permutations=199) for k, trial in enumerate(draws))
    assert Shifts is not Shuffles
    assert permuted >= 10
    assert shifted <= 4


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_intervals_hold_the_effect_as_often_as_they_say(correlation):
    held, trials = 0, 300
    for seed in range(trials):
        rng = np.random.default_rng([seed, 5])
        trial = planted.frame(rng)
        two = (planted.series(rng, trial, correlation) > 0).astype(np.float64)
        trial = planted.filled(
            trial,
            planted.SD * (two + planted.series(rng, trial, correlation)),
            metrics={"two": two},
        )
        found = sources(trial, permutations=ORDERS, rng=rng)
        one = next(one for one in found.factors if one.factor == "two")
        low, high = (one.low, one.high) if one.highest == "1" else (1 / one.high, 1 / one.low)
        held += low <= np.exp(planted.SD) <= high
    assert within(trials - held, trials, 0.02, 0.075)
