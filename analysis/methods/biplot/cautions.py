"""What a reader of a biplot should know."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...report import Caution, figures
from .result import Scale

__all__ = ["component_cautions", "size_cautions", "value_cautions"]

Array = NDArray[np.float64]

_DOMINATES = 0.5  # share of a component from which one benchmark is named
_SHOWN = 0.7  # variance that a picture of two components should hold
_LEVEL = 0.05


def component_cautions(
    benchmarks: Sequence[str], scale: Scale, *, leading: Array, shares: Array
) -> Iterator[Caution]:
    """Say what decides the components; `leading` are the first one's loadings."""
    squares = leading**2
    top = int(squares.argmax())
    if len(benchmarks) > 2 and squares[top] > _DOMINATES:
        name = benchmarks[top]
        fix = (
            "unscaled, the benchmark whose values spread most decides, and that is often just the "
            "slowest: scale 'log' lets equal ratios weigh equally"
            if scale == "covariance"
            else "the systems differ most on it: look whether it belongs to the others"
        )
        yield Caution(
            "one-benchmark-dominates",
            f"{figures.shorten(name, 40)!r} alone makes {100 * squares[top]:.0f} % of PC1: {fix}",
            (name,),
        )
    if scale == "covariance":
        yield Caution(
            "unit-decides",
            "covariances are in the units of the values: all benchmarks must share one",
        )
    if shares[:2].sum() < _SHOWN:
        yield Caution(
            "picture-holds-little",
            f"a picture of PC1 and PC2 shows {100 * shares[:2].sum():.0f} % of the variance: "
            "points that lie together there may lie apart",
        )


def size_cautions(systems: int, benchmarks: int) -> Iterator[Caution]:
    """Say what so many systems and benchmarks can show."""
    if systems == 2:
        yield Caution(
            "two-systems",
            "two systems lie on a line whatever they are: there is one component, and every "
            "correlation is 1 or -1",
        )
        return
    if benchmarks == 1:
        return
    from scipy.stats import t

    quantile = float(t.ppf(1 - _LEVEL / 2, systems - 2))
    least = quantile / math.sqrt(systems - 2 + quantile**2)
    yield Caution(
        "correlations-by-chance",
        f"from {systems} systems: a correlation between -{least:.3f} and {least:.3f} is no "
        f"evidence of one (level {_LEVEL:g}, one pair)",
    )
    if benchmarks >= systems:
        yield Caution(
            "more-benchmarks-than-systems",
            f"{benchmarks} benchmarks and {systems} systems: at most {systems - 1} components hold "
            "variance, so that some of it is shared by construction",
        )


def value_cautions(constant: Sequence[str]) -> Iterator[Caution]:
    """Say what single values hide; `constant` are the benchmarks that do not vary."""
    if constant:
        some = figures.listed([figures.shorten(name, 30) for name in constant], 3)
        yield Caution(
            "benchmark-constant",
            f"the same value on all systems, and so no arrow: {some}",
            tuple(constant),
        )
    yield Caution(
        "one-value-each",
        "one value stands for each system and benchmark: the picture does not show how far it "
        "would move if all were measured again",
    )
