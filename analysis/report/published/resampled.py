"""What resampling drew: the ratios under reassigned labels, and those of runs drawn anew."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...pages import number_format as figures
from .evidence import Evidence, Histogram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...methods.resampling.result import BootstrapInterval, RandomizationTest
    from .answering import Asked

__all__ = ["bootstrap_of", "randomization_of"]

_BINS = 60
_LEAST = 1e-4  # the axis is at least so wide, in logs
_ROOM = 0.04  # share of the axis that stays free at each end


def randomization_of(asked: Asked, result: RandomizationTest, anchor: str) -> Evidence:
    """Give the ratio among those of chance."""
    observed = asked.ends(result.ratio, None, None)[0]
    drawn = f"{result.resamples:,} random assignments"
    if result.exact:
        drawn = f"all {result.resamples:,} assignments"
    p = f"p {figures.pvalue(result.pvalue)}, {result.alternative_words}"
    error = "" if result.exact else f" (± {figures.significant(result.pvalue_error, 1)})"
    low, high, counts = _binned(result.null, [result.ratio, 1.0])
    return Evidence(
        key="randomization",
        anchor=anchor,
        title="Randomization: the ratio among those of chance",
        sentences=(
            f"The ratio of the suite means is {observed.text}x. If the labels say nothing, one so far "
            f"from 1 comes with {p}{error}.",
            f"What was reassigned: {result.unit_words}. The picture holds {drawn} of the labels.",
        ),
        histogram=Histogram(
            low=low,
            high=high,
            counts=counts,
            observed=observed,
            ends=None,
            alt=f"{asked.name}: the observed ratio is {observed.text}; {result.resamples:,} reassignments "
            f"of the labels give {_range(result.null)}; {p}",
            caption=f"ratios by reassigned labels; line: the observed one, {observed.text}×",
        ),
    )


def bootstrap_of(asked: Asked, result: BootstrapInterval, anchor: str) -> Evidence:
    """Give the ratios of runs drawn anew, with the interval made of them."""
    value, left, right = asked.ends(result.ratio, result.low, result.high)
    known = result.known_coverage
    held = (
        "what it covers is not known for this design"
        if known is None
        else f"such intervals held the truth in {100 * known:.1f}\u00a0% of simulated suites"
    )
    shown = [value for value in (result.ratio, result.low, result.high) if 0 < value < math.inf]
    low, high, counts = _binned(result.replicates, shown)
    return Evidence(
        key="bootstrap",
        anchor=anchor,
        title="Bootstrap: the ratios of runs drawn anew",
        sentences=(
            f"The ratio of the suite means is {value.text}x, with a {100 * result.confidence:g} % interval "
            f"of [{left.text}, {right.text}]; {held}.",
            f"What was drawn: {result.units}, {result.resamples:,} times.",
        ),
        histogram=Histogram(
            low=low,
            high=high,
            counts=counts,
            observed=value,
            ends=(left, right),
            alt=f"{asked.name}: {result.resamples:,} ratios of runs drawn anew lie around {value.text}; "
            f"{100 * result.confidence:g} % interval {left.text} to {right.text}; {held}",
            caption=f"ratios of runs drawn anew; line: the interval; {held}",
        ),
    )


def _range(values: NDArray[np.float64]) -> str:
    low, high = float(values.min()), float(values.max())
    digits = figures.decimals(low, high)
    return f"{low:.{digits}f} to {high:.{digits}f}"


def _binned(values: NDArray[np.float64], also: list[float]) -> tuple[float, float, tuple[int, ...]]:
    """Count the values in bins of equal width in logs; the axis holds `also` too."""
    logs = np.log(values)
    others = [math.log(value) for value in also]
    low, high = min(float(logs.min()), *others), max(float(logs.max()), *others)
    free = max((high - low) * _ROOM, _LEAST)
    low, high = low - free, high + free
    counts, _ = np.histogram(logs, bins=_BINS, range=(low, high))
    return math.exp(low), math.exp(high), tuple(counts.tolist())
