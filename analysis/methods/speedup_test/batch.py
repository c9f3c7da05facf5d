"""Pairs of samples in, one `SpeedupTest` each out; pairs of equal sizes are judged together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError
from .cautions import particular
from .protocol import Decided, decide
from .result import SpeedupTest

__all__ = ["SamplePair", "judge"]

Array = NDArray[np.float64]

_APART = 1e300  # a factor between two times beyond which no ratio or scale can be trusted to exist


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SamplePair:
    """The times of one benchmark on both sides, and the level asked for (None: search)."""

    name: str | None
    baseline: Array
    candidate: Array
    confidence: float | None


def judge(pairs: Sequence[SamplePair], *, compatible: bool) -> tuple[SpeedupTest, ...]:
    """Judge all pairs; the results stand in the order of the pairs.

    Raises
    ------
    AnalysisError
        If two times of one benchmark lie more than a factor of 1e300 apart.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for k, pair in enumerate(pairs):
        groups.setdefault((pair.baseline.size, pair.candidate.size), []).append(k)
    results: dict[int, SpeedupTest] = {}
    for where in groups.values():
        group = [pairs[k] for k in where]
        results.update(zip(where, _judge_group(group, compatible=compatible), strict=True))
    return tuple(results[k] for k in range(len(pairs)))


def _judge_group(pairs: Sequence[SamplePair], *, compatible: bool) -> list[SpeedupTest]:
    x = np.stack([pair.baseline for pair in pairs])
    y = np.stack([pair.candidate for pair in pairs])
    _check_range(pairs, np.concatenate([x, y], axis=1))
    decided = decide(x, y, [pair.confidence for pair in pairs], compatible=compatible)
    centres = zip(*(_centres(rows) for rows in (x, y)), strict=True)
    return [
        _result(pair, before, after, both)
        for pair, (before, after), both in zip(pairs, centres, decided, strict=True)
    ]


def _check_range(pairs: Sequence[SamplePair], rows: Array) -> None:
    apart = rows.max(axis=1) * (1 / _APART) > rows.min(axis=1)
    if apart.any():
        first = int(apart.argmax())
        low, high = float(rows[first].min()), float(rows[first].max())
        raise AnalysisError(
            f"its times lie too far apart to be compared: {low:.3g} and {high:.3g}",
            pairs[first].name,
            "look for a wrong value, or for different units of the two sides",
        )


def _centres(rows: Array) -> list[tuple[float, float, float]]:
    """Give minimum, mean and median of each row, in a scale that cannot overflow."""
    exponent = np.frexp(rows.max(axis=1))[1]
    scaled = np.ldexp(rows, -exponent[:, None])
    columns = (scaled.min(axis=1), scaled.mean(axis=1), np.median(scaled, axis=1))
    return list(zip(*(np.ldexp(column, exponent).tolist() for column in columns), strict=True))


def _result(
    pair: SamplePair,
    before: tuple[float, float, float],
    after: tuple[float, float, float],
    decided: Decided,
) -> SpeedupTest:
    runs = pair.baseline.size, pair.candidate.size
    return SpeedupTest(
        name=pair.name,
        runs_baseline=runs[0],
        runs_candidate=runs[1],
        minimum_baseline=before[0],
        minimum_candidate=after[0],
        mean_baseline=before[1],
        mean_candidate=after[1],
        median_baseline=before[2],
        median_candidate=after[2],
        speedup_min=before[0] / after[0],
        speedup_mean=before[1] / after[1],
        speedup_median=before[2] / after[2],
        mean=decided.mean,
        median=decided.median,
        required=pair.confidence,
        cautions=particular(decided.mean, decided.median),
    )
