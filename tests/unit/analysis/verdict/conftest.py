"""Small invented trials: what each session and run does to a value is written down, nothing random."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

# relative deviations of the sessions' differences, and of the runs inside a session
SESSIONS = (0.010, -0.004, -0.008, 0.006, -0.003, -0.001)
RUNS = (0.004, -0.006, 0.000, 0.002)
SCALES = {"text": 0.0242, "logs": 0.0307, "random": 0.0319}


def variant(
    factors: Mapping[str, float], *, sessions: int = 4, wobble: float = 1.0
) -> dict[str, list[float]]:
    """Give the runs of a variant; `wobble` is how far its sessions go apart from the baseline's."""
    return {
        bench: [
            SCALES.get(bench, 0.05) * factor * (1 + wobble * SESSIONS[(s + k) % 6]) * (1 + run)
            for s in range(sessions)
            for run in turned(RUNS, k)
        ]
        for k, (bench, factor) in enumerate(factors.items())
    }


def turned(values: Sequence[float], k: int) -> tuple[float, ...]:
    """Turn a list, so that benchmarks do not repeat each other."""
    k %= len(values)
    return (*values[k:], *values[:k])


def three_benchmarks(**others: Sequence[float]) -> dict[str, dict[str, list[float]]]:
    """Give a baseline and other variants on three benchmarks: name -> factors on each."""
    made = {"gzip-6": variant(dict.fromkeys(SCALES, 1.0), wobble=0.0)}
    for name, factors in others.items():
        made[name.replace("_", "-")] = variant(dict(zip(SCALES, factors, strict=True)))
    return made


def many_benchmarks(count: int, **slopes: float) -> dict[str, dict[str, list[float]]]:
    """Give variants on `count` benchmarks whose factor grows from the first to the last."""
    names = [f"bench-{k:02}" for k in range(count)]
    made = {"base": variant(dict.fromkeys(names, 1.0), wobble=0.0)}
    for name, slope in slopes.items():
        made[name] = variant({b: 1 + slope * (k - count / 2) for k, b in enumerate(names)})
    return made


@pytest.fixture
def three() -> Callable[..., dict[str, dict[str, list[float]]]]:
    return three_benchmarks


@pytest.fixture
def many() -> Callable[..., dict[str, dict[str, list[float]]]]:
    return many_benchmarks
