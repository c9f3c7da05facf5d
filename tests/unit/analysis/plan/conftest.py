"""Two sides of lognormal runs, and a generator of their own for the tests of planning."""

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.stats.arguments import stream


def exponential(name, logs, *, better="lower", scale=1.0, **ids):
    """Make a matrix of exp(logs), benchmarks x runs."""
    rows = {f"b{k}": scale * np.exp(row) for k, row in enumerate(logs)}
    return PerformanceMatrix.from_samples(name, rows, better=better, **ids)


def two_sides(seed=1, sd=0.02, n=4, m=20, gain=0.05, **options):
    rng = np.random.default_rng(seed)
    ours, theirs = rng.normal(0, sd, (2, n, m))
    return exponential("x", ours - gain, **options), exponential("y", theirs, **options)


@pytest.fixture
def matrix():
    return exponential


@pytest.fixture
def pair():
    return two_sides


@pytest.fixture
def rng():
    return stream(5, "test")
