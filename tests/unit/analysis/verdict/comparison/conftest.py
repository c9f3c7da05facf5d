"""Pairs of trials: written to disk with effects of our choice, or as answers of `multilevel` only."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.methods.multilevel.compare import multilevel

ENVIRONMENT = {
    "host": {"name": "lab07", "machine_id_sha256": "abc", "boot_id": "first"},
    "cpu": {"model": "model 1", "governor": "performance"},
    "kernel": {"release": "6.1"},
}
CAMPAIGN = {"name": "synthetic", "protocol": {"sessions": 4, "runs": 3, "order": "shuffled"}}


@pytest.fixture
def campaign():
    return CAMPAIGN


@pytest.fixture
def environment():
    return ENVIRONMENT


def answer_of(differences, name="new"):
    """Judge sides whose differences of logs, benchmark by benchmark, are these: one a session."""
    sides = [
        PerformanceMatrix.from_samples(
            side,
            {bench: [math.exp(-factor * d) for d in row] for bench, row in differences.items()},
            better="lower",
            sessions={bench: list(range(len(row))) for bench, row in differences.items()},
            blocks={bench: list(range(len(row))) for bench, row in differences.items()},
        )
        for side, factor in ((name, 1.0), ("base", 0.0))
    ]
    return multilevel(*sides)


@pytest.fixture
def answer():
    return answer_of


@pytest.fixture(scope="module")
def night(tmp_path_factory, synthetic, once):
    """Write a trial in which variants have these effects on each benchmark, and read it."""

    def make(
        name,
        effects,
        *,
        sessions=4,
        noise=0.002,
        seed=1,
        environment=ENVIRONMENT,
        campaign=CAMPAIGN,
        change=None,
        **manifest,
    ):
        rng = np.random.default_rng(seed)
        runs = 3
        count = runs * sessions
        times = {
            variant: {
                bench: [
                    0.02 * math.exp(-effect + shift + x)
                    for shift in rng.normal(0, noise, sessions)
                    for x in rng.normal(0, noise, runs)
                ]
                for bench, effect in cells.items()
            }
            for variant, cells in effects.items()
        }
        assert all(len(row) == count for cells in times.values() for row in cells.values())
        made = synthetic(
            times, sessions=sessions, **{"trial": name, "cpu_model": "model 1", **manifest}
        )
        made.record(environment, campaign)
        if change is not None:
            change(made)
        return read_trial(made.write(tmp_path_factory.mktemp("nights") / name))

    return once(make)
