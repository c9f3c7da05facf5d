"""Quantiles of the values of one run: their names, how many values they need, and their one definition.

The quantile of a share q is the smallest of the values that at least that share of them does not exceed: the inverse of
their empirical distribution (Hyndman & Fan, 1996, definition 1). It is a value that was measured, and the one that a
histogram gives; nothing is made up between two modes of a latency. Standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

SOURCE: Final = "quantiles"  # of these metrics, in the manifest
OF: Final = "of"  # the manifest's keys of them: which metric's, and which
SHARE: Final = "quantile"


def quantile_metric(metric: str, share: float) -> str:
    """Name the quantile of a metric: ``latency.p99.9`` for 0.999."""
    percent = format((Decimal(repr(share)) * 100).normalize(), "f")
    return f"{metric}.p{percent}"


@lru_cache(maxsize=64)
def needed(share: float) -> int:
    """Tell how many values a quantile needs: with fewer, none of them would lie beyond it."""
    exact = _exact(share)
    return math.ceil(1 / min(exact, 1 - exact))


def rank_of(share: float, count: int) -> int | None:
    """Give the place, from 1, of the quantile among so many values in ascending order; None of too few."""
    return math.ceil(_exact(share) * count) if count >= needed(share) else None


def quantile_of(ascending: Sequence[float], share: float) -> float | None:
    """Give the quantile of values in ascending order; None where they are too few."""
    rank = rank_of(share, len(ascending))
    return None if rank is None else ascending[rank - 1]


def counted_quantile(counts: Sequence[tuple[float, int]], share: float) -> float | None:
    """Give the quantile of values in ascending order, each with how often it was counted; None of too few."""
    rank = rank_of(share, sum(count for _, count in counts))
    if rank is None:
        return None
    for value, count in counts:
        rank -= count
        if rank <= 0:
            return value
    raise AssertionError("a rank is at most the number of values")


def about_quantile(unit: str, better: str, metric: str, share: float) -> dict[str, str]:
    """Give what a manifest says of a quantile."""
    return {"unit": unit, "better": better, "source": SOURCE, OF: metric, SHARE: repr(share)}


def quantile_said(about: Mapping[str, str]) -> tuple[str, float] | None:
    """Give of which metric a manifest's metric is a quantile, and which; None of others.

    ValueError where it can mean nothing.
    """
    if about.get("source") != SOURCE:
        return None
    share = float(about.get(SHARE, ""))
    if not 0 < share < 1 or not about.get(OF):
        raise ValueError(f"quantile is {share}, of {about.get(OF)!r}")
    return about[OF], share


def _exact(share: float) -> Fraction:
    """Give a share as it was written: 0.07 of 100 values are 7."""
    return Fraction(repr(share))
