"""What a reader of the metrics' intervals should know."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ....report import Caution
from .result import MetricInterval, RankShare

__all__ = ["faster_cautions", "interval_cautions"]

_FEW = 20
_FAILED = 0.05  # share of resamples without a fit that is worth a word
_TAIL = 5  # resamples beyond each end that an interval should rest on
_NO_SPREAD = 1e-6


def interval_cautions(
    confidence: float, count: int, *, failed: int, least: int
) -> Iterator[Caution]:
    """Say what limits an interval of `count` resamples, of samples of `least` values or more."""
    if count * (1 - confidence) / 2 < _TAIL:
        needed = math.ceil(2 * _TAIL / (1 - confidence) - 1e-9)
        yield Caution(
            "few-resamples",
            f"{count} resamples are few for {100 * confidence:g} %: take {needed} or more",
        )
    if failed > _FAILED * (count + failed):
        yield Caution(
            "resamples-left-out",
            f"{failed} resamples could not be fitted; the interval belongs to the others",
        )
    if least < _FEW:
        yield Caution(
            "interval-too-narrow",
            f"with {least} values the interval is too narrow: percentiles of resamples know no "
            "value beyond the smallest and largest seen",
        )


def faster_cautions(mixture: MetricInterval, ranks: RankShare) -> Iterator[Caution]:
    """Say where mixtures and ranks tell different stories."""
    if not (ranks.low <= mixture.estimate <= ranks.high):
        yield Caution(
            "mixtures-against-ranks",
            "mixtures and ranks disagree: the interval of the ranks does not contain I2, so the "
            "mixtures do not describe these values well",
        )
    if mixture.high - mixture.low < _NO_SPREAD:
        yield Caution(
            "no-overlap",
            "the samples do not overlap, so resampling shows no spread: the interval of the ranks "
            "is the honest one",
        )
