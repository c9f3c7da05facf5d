"""The paper's two studies of mixtures: how precise I1 to I4 are, and what the fit test tells apart.

Authority: J. Worms, S. Touati, IEEE TMSCS 2018, section 7.5 (N = 1,000 random mixtures, n = 30, 100
and 200 values each, r = 5 versions; mean square and mean absolute percentage errors against the
theoretical values) and section 7.2 (N = 500 or 1,000 samples of n = 30, 100 and 500; QQ plots, risk and
power). Their mixtures and laws are in a report that is no longer to be had; these are ours, in words
below. ``python tests/calibration/mixture_studies.py precision`` (or ``power``) prints the tables of
docs/methods/mixture-metrics.md and mixtures.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.goodness import fit_corpus
from analysis.methods.mixture.model import Mixture
from analysis.methods.mixture.single_run import (
    mean_difference,
    probability_faster,
    probability_fastest,
    variability_level,
)

VERSIONS = 5  # r
METRICS = ("I1", "I2", "I3", "I4")
LIKELY = 0.05  # a percentage of a smaller chance says nothing


def random_mixture(rng: np.random.Generator) -> Mixture:
    """Draw 1 to 4 Gaussians: weights of 0.1 at least, means over 10 units, deviations of 0.2 to 1."""
    k = int(rng.integers(1, 5))
    weights = 0.1 + (1 - 0.1 * k) * rng.dirichlet(np.ones(k))
    return Mixture.from_parameters(
        weights=weights, means=100 + 10 * rng.random(k), sds=rng.uniform(0.2, 1.0, k)
    )


def metrics_of(mixtures: list[Mixture]) -> tuple[float, ...]:
    """Give I1 and I2 of the first two, I3 of the first against all, I4 of the first."""
    x, y = mixtures[:2]
    return (
        mean_difference(x, y),
        probability_faster(x, y),
        probability_fastest(*mixtures),
        float(variability_level(x)),
    )


class Precision(NamedTuple):
    """Theoretical and estimated metrics, a row a repeat; `counted` is U / (n m) beside I2."""

    true: np.ndarray
    estimated: np.ndarray
    counted: np.ndarray

    def mse(self) -> np.ndarray:
        return ((self.estimated - self.true) ** 2).mean(axis=0)

    def mape(self) -> np.ndarray:
        """Give mean absolute errors in per cent; of chances, where the true one is LIKELY or more."""
        away = np.abs(self.estimated - self.true) / self.true
        chance = np.isin(METRICS, ("I2", "I3"))
        seen = ~chance | (self.true >= LIKELY)
        return np.array([100 * one[use].mean() for one, use in zip(away.T, seen.T, strict=True)])


def precision(n: int, repeats: int, *, most: int = 9, seed: int = 28) -> Precision:
    """Repeat the study with n values of each of five versions; `most` components are tried."""
    found = []
    for k in range(repeats):
        rng = np.random.default_rng([seed, n, k])
        mixtures = [random_mixture(rng) for _ in range(VERSIONS)]
        samples = [one.sample(n, rng=rng) for one in mixtures]
        fits = [fit_mixture(values, max_components=most) for values in samples]
        first, second = samples[:2]
        counted = float(np.mean(first[:, None] < second))
        found.append((metrics_of(mixtures), metrics_of(fits), counted))
    true, estimated, counted = zip(*found, strict=True)
    return Precision(*map(np.array, (true, estimated, counted)))


Draw = Callable[[np.random.Generator, int], np.ndarray]
LAWS: dict[str, Draw] = {
    "one Gaussian": lambda rng, n: rng.normal(10, 1, n),
    "two modes, five standard deviations apart": lambda rng, n: (
        rng.normal(10, 1, n) + 5 * (rng.random(n) < 0.4)
    ),
    "exponential": lambda rng, n: rng.exponential(1, n),
    "lognormal, sigma = 1": lambda rng, n: rng.lognormal(0, 1, n),
    "Pareto, index 3": lambda rng, n: 1 + rng.pareto(3, n),
    "Pareto, index 1": lambda rng, n: 1 + rng.pareto(1, n),
}


def pvalues(law: str, n: int, samples: int, *, most: int = 9) -> np.ndarray:
    """Give p of the fit test of so many samples of a law, in order; `most` components are tried."""
    draw = LAWS[law]
    corpus = {f"{k}": draw(np.random.default_rng([k, n, samples]), n) for k in range(samples)}
    rng = np.random.default_rng(20261124)
    rows = fit_corpus(corpus, resamples=39, max_components=most, rng=rng)
    return np.sort([row.test.pvalue for row in rows if row.test is not None])


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    head = list(head)
    for row in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(row)} |", flush=True)


def _precision_table() -> None:
    rows: list[list[str]] = []
    for n in (30, 100, 200):
        found = precision(n, 1000)
        cells = zip(found.mse(), found.mape(), strict=True)
        rows.append([f"{n}", *(f"{mse:.3g}, {mape:.3g} %" for mse, mape in cells)])
        rows[-1].append(f"{np.mean((found.counted - found.true[:, 1]) ** 2):.3g}")
    _table(["n", *METRICS, "U / (n m)"], rows)


def _power_table() -> None:
    """Print how many of the samples have p up to some levels: those of uniform p are the levels."""
    for law in LAWS:
        for n, samples, most in (
            *((30, 500, 9), (100, 500, 9), (500, 100, 9)),
            *((n, 500, 4) for n in (30, 100, 500)),
        ):
            p = pvalues(law, n, samples, most=most)
            shares = [f"{np.mean(p <= level):.3f}" for level in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9)]
            print(
                f"| {' | '.join((law, f'up to {most}', f'{n}', f'{samples}', *shares))} |",
                flush=True,
            )


if __name__ == "__main__":
    {"precision": _precision_table, "power": _power_table}[sys.argv[1]]()
