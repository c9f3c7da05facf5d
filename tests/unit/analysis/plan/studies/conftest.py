"""A population of lognormal runs, and a generator of their own for the tests of studies."""

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.stats.arguments import stream


def lognormal(n=6, values=200, sd=0.02, seed=1, better="lower", **ids):
    logs = np.random.default_rng(seed).normal(0, sd, (n, values))
    rows = {f"b{k}": np.exp(row) for k, row in enumerate(logs)}
    if "blocks" in ids:
        ids["blocks"] = {name: ids["blocks"] for name in rows}
    return PerformanceMatrix.from_samples("p", rows, better=better, **ids)


@pytest.fixture
def population():
    return lognormal


@pytest.fixture
def rng():
    return stream(3, "test")
