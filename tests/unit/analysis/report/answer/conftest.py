"""Subjects of small invented trials: what each session and run does to a value is written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from analysis.importers.reader import Reading
from analysis.report.subject import Subject, subject_of

SESSIONS = (0.010, -0.004, -0.008, 0.006, -0.003, -0.001)
RUNS = (0.004, -0.006, 0.002)
Make = Callable[..., Subject]
Factors = Mapping[str, Sequence[float]]


def runs(scale: float, turn: int, sessions: int, wobble: float) -> list[float]:
    return [
        scale * (1 + wobble * SESSIONS[(s + turn) % 6]) * (1 + RUNS[(r + turn) % 3])
        for s in range(sessions)
        for r in range(3)
    ]


@pytest.fixture(scope="module")
def subject(
    synthetic: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
    once: Callable[..., Any],
) -> Make:
    """Give a function: variant -> factors on the benchmarks, the baseline first; then a subject."""

    def make(
        variants: Factors,
        *,
        benchmarks: Sequence[str] = (),
        sessions: int = 5,
        wobble: float = 1.0,
        metric: str = "wall",
        change: Callable[[Any], None] = lambda _: None,
        **asked: Any,
    ) -> Subject:
        count = max(map(len, variants.values()))
        names = benchmarks or [f"bench-{k}" for k in range(count)]
        times = {
            variant: {
                name: runs(0.02 * (k + 1) * factor, v * 2 + k * v, sessions, wobble * bool(v))
                for k, (name, factor) in enumerate(zip(names, factors, strict=False))
            }
            for v, (variant, factors) in enumerate(variants.items())
        }
        trial = synthetic(times, sessions=sessions)
        change(trial)
        path = trial.write(tmp_path_factory.mktemp("trials") / "trial")
        return subject_of([str(path)], Reading(metric=metric), **{"explain": False} | asked)

    return once(make)
