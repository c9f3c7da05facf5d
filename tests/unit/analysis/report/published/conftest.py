"""Trials for the panel: three variants, sessions that move, runs drawn with a fixed seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from analysis.importers.reader import Reading
from analysis.report.subject import Subject, subject_of

BENCHMARKS = ("text", "logs", "json", "table", "source", "binary")
# how many times as fast as the baseline, benchmark by benchmark
FACTORS: dict[str, tuple[float, ...]] = {
    "base": (1.0,) * 6,
    "quick": (4.0, 2.5, 2.0, 5.0, 1.2, 1.1),
    "again": (1.0,) * 6,
}


def drawn(
    factors: Mapping[str, tuple[float, ...]],
    names: tuple[str, ...] = BENCHMARKS,
    *,
    sessions: int = 5,
    runs: int = 6,
    noise: float = 0.02,
) -> dict[str, dict[str, list[float]]]:
    """Draw runs of variants; each session moves a variant by about half of the noise."""
    rng = np.random.default_rng(20261122)
    found: dict[str, dict[str, list[float]]] = {}
    for variant, faster in factors.items():
        moved = np.repeat(rng.normal(0, noise / 2, sessions), runs)
        found[variant] = {
            name: (
                0.02 * (k + 1) / factor * np.exp(moved + rng.normal(0, noise, sessions * runs))
            ).tolist()
            for k, (name, factor) in enumerate(zip(names, faster, strict=True))
        }
    return found


@pytest.fixture(scope="module")
def judged(
    synthetic: Callable, tmp_path_factory: pytest.TempPathFactory, once: Callable
) -> Callable[..., Subject]:
    """Judge what `drawn` draws, or times that are given."""

    def judge(
        times: Mapping | None = None,
        *,
        sessions: int = 5,
        metric: str | None = None,
        change: Callable | None = None,
        **asked: object,
    ) -> Subject:
        given = drawn(FACTORS, sessions=sessions) if times is None else times
        made = synthetic(given, sessions=sessions)
        if change is not None:
            change(made)
        path = made.write(tmp_path_factory.mktemp("trials") / "trial")
        return subject_of(
            [str(path)], Reading(metric=metric), **{"confidence": 0.95, "margin": 0.01, **asked}
        )

    return once(judge)


@pytest.fixture
def draw() -> Callable[..., dict[str, dict[str, list[float]]]]:
    return drawn
