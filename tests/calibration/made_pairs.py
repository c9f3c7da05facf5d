"""Two sides of made runs, and what a count of trials tells of its rate."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from analysis.data.matrix import PerformanceMatrix


def side(name, values, *, shift=0, **more):
    """Give a side of an array benchmarks x sessions x runs, or of one benchmark; less is better."""
    values = values.reshape(-1, *values.shape[-2:])
    rows = {f"b{k}": one.ravel() for k, one in enumerate(values)}
    ids = dict.fromkeys(rows, shift + np.repeat(np.arange(values.shape[1]), values.shape[2]))
    return PerformanceMatrix.from_samples(name, rows, better="lower", sessions=ids, **more)


def pair(ours, theirs):
    return side("new", ours), side("old", theirs)


def lower(count: int, total: int, risk: float = 0.001) -> float:
    """Give the lower end of the exact one-sided interval of a rate."""
    return float(stats.beta.ppf(risk, count, total - count + 1)) if count else 0.0


def upper(count: int, total: int, risk: float = 0.001) -> float:
    return float(stats.beta.ppf(1 - risk, count + 1, total - count)) if count < total else 1.0


def at_most(count: int, total: int, rate: float, sure: float = 0.99) -> bool:
    """Tell whether so many of all can be chance, if the rate is no more than that."""
    return count <= stats.binom.ppf(sure, total, rate)


def at_least(count: int, total: int, rate: float, sure: float = 0.99) -> bool:
    return count >= stats.binom.ppf(1 - sure, total, rate)


def most(rate, trials):
    """Give four standard errors above a rate."""
    return rate + 4 * math.sqrt(rate * (1 - rate) / trials)
