"""Exact p-values against a brute-force enumeration in plain Python.

The enumeration below knows nothing of the product: it lists the assignments with itertools and
takes means from the statistics module. It is the authority for every unit, mean, centre and
alternative.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.resampling.randomization import randomization_test

MEANS = {
    "geometric": statistics.geometric_mean,
    "harmonic": statistics.harmonic_mean,
    "arithmetic": statistics.fmean,
}
Side = list[list[tuple[object, float]]]  # for each benchmark: (unit id, value)


def mean_of(rows: Side, mean: str, centre: str) -> float:
    inner = {"runs": MEANS[mean], "mean": statistics.fmean, "median": statistics.median}[centre]
    return MEANS[mean]([inner([value for _, value in row]) for row in rows])


def by_run(a: Side, b: Side) -> Iterator[tuple[Side, Side]]:
    choices = []
    for ours, theirs in zip(a, b, strict=True):
        pool = ours + theirs
        choices.append(
            [
                ([pool[k] for k in chosen], [pool[k] for k in range(len(pool)) if k not in chosen])
                for chosen in itertools.combinations(range(len(pool)), len(ours))
            ]
        )
    for combination in itertools.product(*choices):
        yield [split[0] for split in combination], [split[1] for split in combination]


def by_unit(a: Side, b: Side) -> Iterator[tuple[Side, Side]]:
    ours, theirs = ({unit for row in side for unit, _ in row} for side in (a, b))
    both, alone = sorted(ours & theirs), sorted(ours ^ theirs)
    for chosen in itertools.combinations(alone, len(ours - theirs)):
        for swapped in itertools.product([False, True], repeat=len(both)):
            swap = {unit for unit, flag in zip(both, swapped, strict=True) if flag}
            first, second = [], []
            for row_a, row_b in zip(a, b, strict=True):
                to_a = [r for r in row_a if (r[0] in chosen) or (r[0] in both and r[0] not in swap)]
                to_a += [r for r in row_b if r[0] in chosen or r[0] in swap]
                rest = [r for r in row_a + row_b if r not in to_a]
                first.append(to_a)
                second.append(rest)
            if all(first) and all(second):
                yield first, second


def brute_force(a: Side, b: Side, *, unit: str, mean: str, centre: str, better: str) -> dict:
    def ratio(x: Side, y: Side) -> float:
        value = mean_of(x, mean, centre) / mean_of(y, mean, centre)
        return 1 / value if better == "lower" else value

    observed = ratio(a, b)
    null = [ratio(x, y) for x, y in (by_run if unit == "run" else by_unit)(a, b)]
    up = sum(value >= observed * (1 - 1e-12) for value in null) / len(null)
    down = sum(value <= observed * (1 + 1e-12) for value in null) / len(null)
    return {
        "ratio": observed,
        "candidate": up,
        "baseline": down,
        "two-sided": min(1.0, 2 * min(up, down)),
        "null": sorted(null),
    }


def matrices(a: Side, b: Side, better: str, kind: str = "blocks") -> tuple:
    return tuple(
        PerformanceMatrix.from_samples(
            name,
            {f"bench{i}": [value for _, value in row] for i, row in enumerate(side)},
            better=better,
            **{kind: {f"bench{i}": [unit for unit, _ in row] for i, row in enumerate(side)}},
        )
        for name, side in (("a", a), ("b", b))
    )


def draw(seed: int, units_a: list[list[int]], units_b: list[list[int]], shift: float) -> tuple:
    # values with few digits: ties of the statistic are common
    rng = np.random.default_rng(seed)

    def side(units: list[list[int]], factor: float) -> Side:
        return [
            [(unit, round(factor * (i + 1) * rng.lognormal(0, 0.2), 2)) for unit in row]
            for i, row in enumerate(units)
        ]

    return side(units_a, shift), side(units_b, 1.0)


CASES = {
    "run, even": ("run", [[0, 1, 2]] * 2, [[3, 4, 5]] * 2),
    "run, ragged": ("run", [[0, 1], [0, 1, 2], [0]], [[3, 4], [3], [3, 4, 5]]),
    "run, one run each": ("run", [[0]] * 6, [[1]] * 6),
    "block, pooled": ("block", [[0, 1, 2, 3]] * 3, [[4, 5, 6, 7]] * 3),
    "block, pooled, unequal": ("block", [[0, 1, 2]] * 2, [[4, 5, 6, 7, 8]] * 2),
    "block, swapped": ("block", [[0, 1, 2, 3, 4, 5]] * 2, [[0, 1, 2, 3, 4, 5]] * 2),
    "block, partly both": ("block", [[0, 1, 2, 3]] * 2, [[2, 3, 4, 5, 6]] * 2),
    "block, one side alone": ("block", [[0, 1, 2, 3, 4]] * 2, [[0, 1, 2]] * 2),
    "block, lacking": ("block", [[0, 1, 2], [1, 2], [2]], [[4, 5, 6], [4, 6], [4, 5]]),
    "block, lacking, swapped": ("block", [[0, 1, 2, 3], [1], [0, 3]], [[0, 1, 3], [1, 2], [0]]),
    "block, several runs": ("block", [[0, 0, 1, 2], [0, 1, 1]], [[3, 4, 4], [3, 3, 5, 5]]),
    "session": ("session", [[0, 0, 1, 1, 2]] * 2, [[3, 3, 4, 4, 5, 5]] * 2),
}


@pytest.mark.parametrize("centre", ["runs", "mean", "median"])
@pytest.mark.parametrize("mean", list(MEANS))
@pytest.mark.parametrize("case", list(CASES))
def test_every_assignment_is_listed(case: str, mean: str, centre: str) -> None:
    unit, units_a, units_b = CASES[case]
    for seed, better in enumerate(["lower", "higher"]):
        a, b = draw(seed + 7, units_a, units_b, 0.9)
        truth = brute_force(a, b, unit=unit, mean=mean, centre=centre, better=better)
        x, y = matrices(a, b, better, "sessions" if unit == "session" else "blocks")
        for alternative in ("candidate", "baseline", "two-sided"):
            found = randomization_test(
                x,
                y,
                mean=mean,
                centre=centre,
                alternative=alternative,
                unit=unit,
                rng=np.random.default_rng(0),
            )
            assert found.exact
            assert found.assignments == found.resamples == len(truth["null"])
            assert found.ratio == pytest.approx(truth["ratio"], rel=1e-12)
            np.testing.assert_allclose(np.sort(found.null), truth["null"], rtol=1e-12)
            assert found.pvalue == truth[alternative]
            assert found.pvalue * found.resamples == pytest.approx(
                round(found.pvalue * found.resamples)
            )


@pytest.mark.parametrize(
    "case", ["run, even", "run, ragged", "block, pooled", "block, swapped", "block, lacking"]
)
@pytest.mark.parametrize(
    ("mean", "centre"), [("geometric", "runs"), ("harmonic", "mean"), ("arithmetic", "median")]
)
def test_random_assignments_agree_within_5_standard_errors(
    case: str, mean: str, centre: str
) -> None:
    unit, units_a, units_b = CASES[case]
    a, b = draw(3, units_a, units_b, 0.95)
    truth = brute_force(a, b, unit=unit, mean=mean, centre=centre, better="lower")
    x, y = matrices(a, b, "lower")
    n = len(truth["null"]) - 1  # one more, and they would be listed
    drawn = [
        randomization_test(
            x,
            y,
            mean=mean,
            centre=centre,
            alternative="candidate",
            unit=unit,
            resamples=n,
            rng=np.random.default_rng(seed),
        )
        for seed in range(max(1, 4000 // n))
    ]
    assert not any(result.exact for result in drawn)
    # each p is (k + 1) / (n + 1): take k back to estimate the exact p
    hits = sum(round(result.pvalue * (n + 1)) - 1 for result in drawn)
    p, size = truth["candidate"], n * len(drawn)
    assert abs(hits / size - p) <= 5 * math.sqrt(p * (1 - p) / size)
    for result in drawn:
        assert set(np.round(result.null, 9)) <= set(np.round(truth["null"], 9))


def test_large_splits_are_shuffled_and_agree_too() -> None:
    # 12 + 12 runs: 2,704,156 splits are too many for a table; one benchmark, exact p by a count
    rng = np.random.default_rng(11)
    x, y = rng.integers(1, 40, 12).astype(float) + 2, rng.integers(1, 40, 12).astype(float)
    pool = np.concatenate([x, y]).astype(int)
    ways = np.zeros((13, pool.sum() + 1), dtype=object)
    ways[0, 0] = 1
    for value in pool:
        for k in range(12, 0, -1):
            ways[k, value:] += ways[k - 1, : -value or None]
    exact = sum(ways[12, int(x.sum()) :]) / math.comb(24, 12)
    n = 40_000
    found = randomization_test(
        *(
            PerformanceMatrix.from_samples(name, {"a": values}, better="higher")
            for name, values in (("x", x), ("y", y))
        ),
        mean="arithmetic",
        alternative="candidate",
        resamples=n,
        rng=np.random.default_rng(1),
    )
    assert not found.exact
    assert abs(found.pvalue - exact) <= 5 * math.sqrt(exact * (1 - exact) / n) + 1 / n
