"""Subjects of two or more variants with known runs, and of trials that are written for a test."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.report.subject import Subject
from analysis.verdict.judging import judge_sides

SESSIONS, RUNS = 5, 8


def matrix_of(
    name: str,
    factors: Mapping[str, float],
    *,
    seed: int = 1,
    sessions: int = SESSIONS,
    runs: int = RUNS,
    known: bool = True,
    **more,
) -> PerformanceMatrix:
    rng = np.random.default_rng(seed)
    shifts = {bench: rng.normal(0, 0.01, sessions) for bench in factors}
    samples = {
        bench: factor
        * np.exp(np.repeat(shifts[bench], runs) + rng.normal(0, 0.02, sessions * runs))
        for bench, factor in factors.items()
    }
    ids = np.repeat(np.arange(1, sessions + 1), runs)
    blocks = np.arange(sessions * runs)
    options = {"better": "lower", **more}
    if known:
        options |= {
            "sessions": dict.fromkeys(factors, ids),
            "blocks": dict.fromkeys(factors, blocks),
        }
    return PerformanceMatrix.from_samples(name, samples, **options)


def subject_of(candidate: PerformanceMatrix, baseline: PerformanceMatrix, **asked) -> Subject:
    verdict = judge_sides(candidate, baseline, metric="wall", **asked)
    result = verdict.candidates[0].multilevel
    lines = {line.name: line.speedup or 0.0 for line in result.benchmarks} if result else {}
    names = dict.fromkeys((*lines, *candidate.benchmarks, *baseline.benchmarks))
    return Subject(
        sources=("a", "b"),
        title="a and b",
        trials=(),
        verdict=verdict,
        matrices={baseline.name: baseline, candidate.name: candidate},
        order=tuple(sorted(names, key=lambda bench: -lines.get(bench, 0.0))),
        prefix="",
        options=asked,
    )


@pytest.fixture
def matrix():
    return matrix_of


@pytest.fixture
def subject():
    return subject_of
