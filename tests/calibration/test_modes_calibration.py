"""How often a sentence about modes is said where nothing separates them, and where something does.

Trials are simulated: two modes, 12 covariates of all shapes that have nothing to do with them, each with the
dependence between runs that is named. Bounds are those of a binomial count at 1 in 1,000.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from analysis.diagnose.modes import explained_modes
from analysis.methods.variance_sources.covariates import Covariate
from analysis.methods.variance_sources.modes import ModalRuns, explained
from analysis.methods.variance_sources.result import Mode

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

planted = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "planted.py")))

NO = 1e-3
RISK = 0.05
FEW = 10
WALL_S = 0.008
Covariates = Mapping[str, Covariate]


def dependent(rng: np.random.Generator, sessions: int, runs: int, rho: float) -> np.ndarray:
    """Give autoregressive normal values, session by session."""
    x = rng.standard_normal((sessions, runs))
    for place in range(1, runs):
        x[:, place] = rho * x[:, place - 1] + np.sqrt(1 - rho * rho) * x[:, place]
    return x.ravel()


def unrelated(rng: np.random.Generator, sessions: int, runs: int, rho: float) -> Covariates:
    """Give 12 covariates: numbers, places on a circle, levels; without dependence four are drawn."""
    found = {}
    for k in range(12):
        x = dependent(rng, sessions, runs, rho)
        drawn = rho == 0 and k < 4
        shape = ("numeric", "circular", "levels")[k % 3]
        values = {"numeric": x, "circular": np.floor(64 * ndtr(x)), "levels": np.floor(4 * ndtr(x))}
        found[f"f{k}"] = Covariate(
            name=f"f{k}",
            kind="randomized" if drawn else "observed",
            values=values[shape],
            scale=shape,
            period=64.0 if shape == "circular" else None,
            labels=tuple("0123") if shape == "levels" else (),
            known_before=drawn,
        )
    return found


def switches(rng: np.random.Generator, wall: np.ndarray, expected: float) -> Covariates:
    """Give three counts that grow with the run and with nothing else."""
    found = {}
    for k, name in enumerate(("voluntary_switches", "involuntary_switches", "minor_faults")):
        count = rng.poisson(expected * (k + 1) * wall / WALL_S).astype(float)
        found[name] = Covariate(
            name=name,
            kind="observed",
            values=count / wall,
            unit="/s",
            may_follow=True,
            count=count,
        )
    return found


def said(
    seed: int,
    covariates: Callable[[np.random.Generator, np.ndarray, np.ndarray], Covariates],
    *,
    sessions: int,
    runs: int,
    rho: float,
    share: float = 0.3,
    permutations: int = 999,
) -> Mode | None:
    """Simulate one trial; None where a mode has under ten runs, of which nothing may be said."""
    rng = np.random.default_rng(seed)
    slow = dependent(rng, sessions, runs, rho) > ndtri(1 - share)
    if slow.all() or not slow.any():
        return None  # one mode
    wall = np.where(slow, 2.0, 1.0) * WALL_S * np.exp(0.02 * dependent(rng, sessions, runs, rho))
    cell = ModalRuns(
        benchmark="b",
        variant="v",
        trial="t",
        rows=np.arange(slow.size),
        values=wall,
        sessions=np.repeat(np.arange(sessions), runs),
        labels=slow.astype(np.int8),
        by="values",
        covariates=covariates(rng, slow, wall),
    )
    (found,) = explained([cell], risk=RISK, permutations=permutations, rng=rng)
    if min(slow.sum(), (~slow).sum()) < FEW:
        assert found.sentence is None
        return None
    return found


@pytest.mark.parametrize(
    ("sessions", "runs", "rho", "trials"),
    [
        pytest.param(3, 30, 0.0, 20, marks=spot_check),
        (3, 30, 0.0, 1000),
        (6, 8, 0.0, 1000),
        (1, 90, 0.0, 500),
        (3, 30, 0.8, 1000),
        (6, 8, 0.8, 500),
        (3, 30, 0.95, 500),
    ],
)
def test_a_sentence_is_said_of_nothing_in_at_most_one_trial_in_twenty(sessions, runs, rho, trials):
    told = [
        said(
            seed,
            lambda rng, _slow, _wall: unrelated(rng, sessions, runs, rho),
            sessions=sessions,
            runs=runs,
            rho=rho,
        )
        for seed in range(trials)
    ]
    looked = [one for one in told if one is not None]
    assert sum(one.sentence is not None for one in looked) <= binom.isf(NO, len(looked), RISK)


@pytest.mark.parametrize(
    ("expected", "rho"),
    [pytest.param(3.0, 0.0, marks=spot_check), (0.3, 0.0), (3.0, 0.8), (30.0, 0.0), (30.0, 0.8)],
)
def test_switches_that_only_grow_with_the_run_head_no_sentence(expected, rho):
    trials = 20 if (expected, rho) == (3.0, 0.0) else 300
    told = [
        said(
            seed,
            lambda rng, _slow, wall: switches(rng, wall, expected),
            sessions=3,
            runs=30,
            rho=rho,
        )
        for seed in range(trials)
    ]
    looked = [one for one in told if one is not None]
    headed = sum(one.sentence is not None for one in looked)
    assert headed <= binom.isf(NO, len(looked), RISK)


def test_their_counts_would_have_been_called_significant_in_most_trials():
    # negative control of the one above: the same counts, entered as they are
    def as_counts(rng: np.random.Generator, _slow: np.ndarray, wall: np.ndarray) -> Covariates:
        return {
            name: Covariate(name=name, kind="observed", values=one.count)
            for name, one in switches(rng, wall, 3.0).items()
            if one.count is not None
        }

    told = [said(seed, as_counts, sessions=3, runs=30, rho=0.0) for seed in range(100)]
    looked = [one for one in told if one is not None]
    assert sum(one.sentence is not None for one in looked) > 0.6 * len(looked)


@pytest.mark.parametrize(
    ("wrong", "least"),
    [pytest.param(0.0, 1.0, marks=spot_check), (0.1, 0.99), (0.25, 0.9)],
)
@pytest.mark.parametrize("shape", ["arc", "levels", "threshold"])
def test_what_was_planted_is_found_among_twelve_others(shape, wrong, least):
    def with_cause(rng: np.random.Generator, slow: np.ndarray, wall: np.ndarray) -> Covariates:
        # the covariate is drawn; the modes follow from it, but for some runs that are as they like
        n = slow.size
        low, high = np.full(n, 13.0), np.full(n, 28.0)
        told = np.where(rng.random(n) < wrong, rng.random(n) < slow.mean(), slow)
        inside = rng.uniform(low, high)
        outside = np.mod(rng.uniform(29, 76, n), 64)
        place = np.where(told, inside, outside)
        scale = {"arc": "circular", "levels": "levels", "threshold": "numeric"}[shape]
        values = {
            "arc": np.floor(place),
            "levels": np.where(
                told, rng.choice([3.0, 6.0], n), rng.choice([0.0, 1, 2, 4, 5, 7], n)
            ),
            "threshold": np.where(told, 1.0, 0.0) + 0.4 * rng.random(n),
        }[shape]
        cause = Covariate(
            name="cause",
            kind="observed" if shape == "levels" else "randomized",
            values=values,
            scale=scale,
            period=64.0 if shape == "arc" else None,
            labels=tuple("01234567") if shape == "levels" else (),
        )
        return {**unrelated(rng, 3, 30, 0.0), "cause": cause, **switches(rng, wall, 3.0)}

    trials = 10 if wrong == 0 else 200
    told = [said(seed, with_cause, sessions=3, runs=30, rho=0.0) for seed in range(trials)]
    looked = [one for one in told if one is not None]
    assert sum(one.factor == "cause" for one in looked) >= binom.ppf(NO, len(looked), least)


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_whole_trials_whose_modes_nothing_decides(rho):
    # from the values to the sentence: which runs make a mode is found, too
    trials, cells = 200, 2
    told = separated = 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        trial = planted.unrelated(rng, correlation=rho, benchmarks=cells)
        slow = planted.series(rng, trial, rho) > ndtri(0.7)
        wall = trial.numbers["wall_ns"] * np.where(slow, 2.0, 1.0)
        found = explained_modes(
            [replace(trial, numbers={**trial.numbers, "wall_ns": wall})], "wall", rng=rng
        )
        told += len(found)
        separated += any(one.sentence is not None for one in found)
    assert told > 0.8 * trials * cells
    assert separated <= binom.isf(NO, trials, RISK)


def test_whole_trials_whose_modes_padding_decides():
    trials, found = 100, 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        trial = planted.unrelated(rng)
        first = int(rng.integers(64))
        slow = np.mod(trial.numbers["padding_bytes"] - first, 64) < 16
        wall = trial.numbers["wall_ns"] * np.where(slow, 2.0, 1.0)
        (one,) = explained_modes(
            [replace(trial, numbers={**trial.numbers, "wall_ns": wall})], "wall", rng=rng
        )
        found += one.factor == "padding_bytes mod 64"
    assert found >= binom.ppf(NO, trials, 0.99)
