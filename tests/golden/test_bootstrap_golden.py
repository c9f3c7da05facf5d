"""The bootstrap interval against independent programs: plain loops, scipy, R's boot, and Table 6.

The plain program here draws every index, has no deviations, tables, streams or shortcuts, and
works on the values themselves.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import bootstrap

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.resampling.bootstrap import bootstrap_speedup

HERE = Path(__file__).parent
FORMS = list(itertools.product(("geometric", "harmonic", "arithmetic"), ("runs", "mean", "median")))
MEANS: dict[str, Callable[..., np.ndarray]] = {
    "geometric": lambda x, axis: np.exp(np.log(x).mean(axis=axis)),
    "harmonic": lambda x, axis: 1 / (1 / x).mean(axis=axis),
    "arithmetic": lambda x, axis: x.mean(axis=axis),
}
A = {
    "fast": [1.02, 0.97, 1.31, 0.99, 1.05],
    "slow": [40.1, 41.7, 39.2, 40.0],
    "skewed": [3.0, 3.1, 3.05, 4.9, 3.02, 3.6, 3.3],
}
B = {
    "fast": [1.22, 1.27, 1.24, 1.51],
    "slow": [47.0, 45.5, 46.3, 49.9, 46.0, 45.0],
    "skewed": [3.6, 5.9, 3.7, 3.8, 3.65],
}


def pair(better: str = "lower", **ids: object) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    return tuple(
        PerformanceMatrix.from_samples(name, rows, better=better, **ids)
        for name, rows in (("a", A), ("b", B))
    )


def centre_of(x: np.ndarray, mean: str, centre: str) -> np.ndarray:
    if centre == "median":
        return np.median(x, axis=-1)
    return MEANS[mean if centre == "runs" else "arithmetic"](x, axis=-1)


def side_mean(rows: list[np.ndarray], mean: str, centre: str) -> np.ndarray:
    return MEANS[mean](np.array([centre_of(x, mean, centre) for x in rows]), axis=0)


def plain(mean: str, centre: str, resamples: int, seed: int) -> np.ndarray:
    """Ratios b / a, drawn index by index."""
    rng = np.random.default_rng(seed)
    sides = []
    for rows in (A, B):
        drawn = [np.array(x)[rng.integers(0, len(x), (resamples, len(x)))] for x in rows.values()]
        sides.append(side_mean(drawn, mean, centre))
    return sides[1] / sides[0]


@pytest.mark.parametrize(("mean", "centre"), FORMS)
def test_replicates_have_the_law_of_a_plain_loop(mean: str, centre: str) -> None:
    found = bootstrap_speedup(
        *pair(), mean=mean, centre=centre, resamples=100_000, rng=np.random.default_rng(7)
    )
    rows = [[np.array(x) for x in side.values()] for side in (B, A)]
    upper, lower = (side_mean(side, mean, centre) for side in rows)
    assert found.ratio == pytest.approx(upper / lower, rel=1e-12)
    other = plain(mean, centre, 100_000, seed=1)
    ours = found.replicates
    error = other.std() * math.sqrt(2 / 100_000)
    assert abs(ours.mean() - other.mean()) < 5 * error
    assert ours.std() == pytest.approx(other.std(), rel=0.02)
    for level in (0.01, 0.025, 0.25, 0.5, 0.75, 0.975, 0.99):
        # the shares below a plain quantile, on both sides of its atom
        q = np.quantile(other, level)
        margin = 1e-9 * q
        for edge in (q - margin, q + margin):
            share, expected = np.mean(ours <= edge), np.mean(other <= edge)
            assert abs(share - expected) < 5 * math.sqrt(2 * level * (1 - level) / 100_000) + 1e-5


def test_percentile_ends_are_type_7_quantiles_of_the_replicates() -> None:
    for sides, levels in (("two", (0.05, 0.95)), ("lower", (0.1, None)), ("upper", (None, 0.9))):
        found = bootstrap_speedup(
            *pair(), confidence=0.9, sides=sides, resamples=999, rng=np.random.default_rng(3)
        )
        ordered = np.sort(found.replicates)
        for end, level, open_end in zip(
            (found.low, found.high), levels, (0.0, math.inf), strict=True
        ):
            if level is None:
                assert end == open_end
                continue
            place = 998 * level
            k = math.floor(place)
            by_hand = ordered[k] + (place - k) * (ordered[k + 1] - ordered[k])
            assert end == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize(("mean", "centre"), FORMS)
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_bca_is_scipys_given_the_replicates(mean: str, centre: str, better: str) -> None:
    found = bootstrap_speedup(
        *pair(better),
        mean=mean,
        centre=centre,
        interval="bca",
        resamples=2000,
        rng=np.random.default_rng(5),
    )

    def statistic(*samples: np.ndarray, axis: int = -1) -> np.ndarray:
        sides = [side_mean([*part], mean, centre) for part in (samples[:3], samples[3:])]
        return sides[1] / sides[0] if better == "lower" else sides[0] / sides[1]

    data = tuple(np.array(x) for rows in (A, B) for x in rows.values())

    class Known:
        """A previous result with our replicates: scipy adds none and only makes the interval."""

        # rounding must not break ties with the observed ratio, which count half
        bootstrap_distribution = np.where(
            np.isclose(found.replicates, found.ratio, rtol=1e-11, atol=0),
            statistic(*data),
            found.replicates,
        )

    theirs = bootstrap(
        data, statistic, n_resamples=0, vectorized=True, method="BCa", bootstrap_result=Known()
    ).confidence_interval
    assert found.low == pytest.approx(theirs.low, rel=1e-9)
    assert found.high == pytest.approx(theirs.high, rel=1e-9)


# R 4.2.2, boot 1.3-28.1, by the program beside it: Rscript boot.R > boot.json
R_ENDS = json.loads((HERE / "irving_bootstrap" / "boot.json").read_text())


SKEWED = (
    [[1.02, 0.97, 1.01, 0.99, 1.05], [40.1, 41.7, 39.2, 40.0, 40.6], [3.0, 3.1, 3.05, 2.9, 3.02]],
    [[1.22, 1.27, 1.24, 2.51, 1.21], [47.0, 45.5, 46.3, 79.9, 46.0], [3.6, 3.65, 3.7, 3.8, 8.9]],
)


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_ends_against_r_with_200_000_resamples(interval: str) -> None:
    matrices = [
        PerformanceMatrix.from_samples(name, dict(zip("xyz", rows, strict=True)), better="lower")
        for name, rows in zip("ab", SKEWED, strict=True)
    ]
    found = bootstrap_speedup(
        *matrices, interval=interval, resamples=200_000, rng=np.random.default_rng(11)
    )
    assert found.ratio == pytest.approx(R_ENDS["ratio"], rel=1e-11)
    low, high = R_ENDS[interval]
    # standard error of a 2.5 % quantile of 200,000 normal values, for both programs
    error = found.replicates.std() * math.sqrt(0.025 * 0.975 / 200_000) / 0.0584
    assert abs(found.low - low) < 5 * math.sqrt(2) * error
    assert abs(found.high - high) < 5 * math.sqrt(2) * error
    # the negative control: the two kinds differ by more than that
    other = R_ENDS["bca" if interval == "percentile" else "percentile"]
    assert max(abs(found.low - other[0]), abs(found.high - other[1])) > 5 * math.sqrt(2) * error


def log_ratio(sides: list[list[np.ndarray]]) -> np.ndarray:
    a, b = (np.mean([np.log(x).mean(axis=-1) for x in rows], axis=0) for rows in sides)
    return b - a


def delta_error(sides: list[list[np.ndarray]]) -> np.ndarray:
    parts = [np.log(x).var(axis=-1, ddof=1) / x.shape[-1] for rows in sides for x in rows]
    return np.sqrt(sum(parts)) / len(sides[0])


def test_studentized_against_a_plain_program() -> None:
    rng = np.random.default_rng(2)
    rows = [[np.array(x) for x in side.values()] for side in (A, B)]
    observed, error = float(log_ratio(rows)), float(delta_error(rows))
    drawn = [[x[rng.integers(0, x.size, (40_000, x.size))] for x in side] for side in rows]
    t = (log_ratio(drawn) - observed) / delta_error(drawn)
    upper, lower = np.quantile(t, [0.975, 0.025])
    found = bootstrap_speedup(
        *pair(), interval="studentized", resamples=40_000, rng=np.random.default_rng(1)
    )
    assert math.log(found.low) == pytest.approx(observed - upper * error, abs=0.1 * error)
    assert math.log(found.high) == pytest.approx(observed - lower * error, abs=0.1 * error)


def test_whole_rounds_against_full_enumeration() -> None:
    # 3 rounds of both variants, two benchmarks: 27 draws, each as probable as any other
    rng = np.random.default_rng(4)
    a, b = rng.lognormal(size=(2, 2, 3))
    ids = {"x": [1, 2, 3], "y": [1, 2, 3]}
    matrices = [
        PerformanceMatrix.from_samples(
            name, {"x": rows[0], "y": rows[1]}, better="lower", blocks=ids
        )
        for name, rows in (("a", a), ("b", b))
    ]
    draws = [list(draw) for draw in itertools.product(range(3), repeat=3)]
    for mean, centre in FORMS:
        found = bootstrap_speedup(
            *matrices, mean=mean, centre=centre, resamples=20_000, rng=np.random.default_rng(6)
        )
        assert found.unit == "block"
        values = [
            side_mean([row[draw] for row in b], mean, centre)
            / side_mean([row[draw] for row in a], mean, centre)
            for draw in draws
        ]
        exact = dict.fromkeys(np.round(values, 9), 0)
        for value in np.round(values, 9):
            exact[value] += 1
        seen, counts = np.unique(np.round(found.replicates, 9), return_counts=True)
        assert set(seen) == set(exact)
        for value, count in zip(seen, counts, strict=True):
            p = exact[value] / 27
            assert abs(count / 20_000 - p) < 5 * math.sqrt(p * (1 - p) / 20_000)


PRINTED = json.loads((HERE / "irving_bootstrap" / "printed.json").read_text())


@pytest.mark.parametrize("gm", PRINTED["gm"])
def test_intervals_lie_around_the_observed_ratio_as_in_table_6(gm: float) -> None:
    # 29 benchmarks x 3 runs shaped like the table's suites; the noise meets its widths (0.1-1.1 %)
    printed = PRINTED["bootstrap"][PRINTED["gm"].index(gm)]
    assert 1 < printed[0] <= gm <= printed[1]
    rng = np.random.default_rng(int(gm * 1000))
    level, noise = rng.lognormal(3, 1, (29, 1)), 0.01
    gain = rng.lognormal(0, 0.1, (29, 1))
    gain *= gm / np.exp(np.log(gain).mean())
    a = level * gain * rng.lognormal(0, noise, (29, 3))
    b = level * rng.lognormal(0, noise, (29, 3))
    names = [f"b{i}" for i in range(29)]
    matrices = [
        PerformanceMatrix.from_samples(name, dict(zip(names, rows, strict=True)), better="higher")
        for name, rows in (("a", a), ("b", b))
    ]
    found = bootstrap_speedup(*matrices, rng=np.random.default_rng(1))
    assert 1 < found.low < found.ratio < found.high
    assert found.ratio == pytest.approx(gm, rel=0.01)
    # the negative control: drawn from both sides together, as the text says, it lies around 1
    both = np.log(np.concatenate([a, b], axis=1))
    chosen = both[np.arange(29)[:, None], rng.integers(0, 6, (500, 29, 6))]
    pooled = np.exp((chosen[:, :, :3].mean(axis=2) - chosen[:, :, 3:].mean(axis=2)).mean(axis=1))
    low, high = np.quantile(pooled, [0.025, 0.975])
    assert low < 1 < high < found.low
