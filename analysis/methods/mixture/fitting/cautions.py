"""What a reader of a fitted mixture must know."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ....report import Caution
from .sample import Sample

__all__ = ["FEW_VALUES", "fit_cautions"]

FEW_VALUES = 20  # below, the number of components is hardly determined
_UNIT_LIMIT = 2.0**-26  # the square root of mclust's limit on a variance
_TIED = 0.5  # share of tied values from which on a caution is given


def fit_cautions(
    sample: Sample, table: NDArray[np.float64], k: int, *, floored: int, further: int
) -> Iterator[Caution]:
    """Say what limits a fit.

    `table` holds the BIC of all candidates, a row for each model of the variances; `k` components
    were chosen, of which `floored` have the least variance; `further` starts were random.
    """
    from .kernel import START_VALUES

    x, floor = sample.values, sample.floor
    n, most = x.size, table.shape[1]
    if n < FEW_VALUES:
        yield Caution("few-values", f"{n} values hardly determine a number of components")
    if k == most < n:
        said = f"the best K is the largest that was tried, {most}: try more"
        yield Caution("components-at-limit", said)
    distinct = int(np.count_nonzero(np.diff(x))) + 1
    if distinct < n * _TIED:
        yield Caution(
            "many-ties",
            f"only {distinct} of {n} values are distinct: components may describe the clock's "
            "steps instead of the program",
        )
    lost = int(np.isnan(table[:, : min(most, n)]).sum())
    if floor == 0 and lost and x[-1] - x[0] < 2 * _UNIT_LIMIT:
        yield Caution(
            "spread-too-small",
            "the spread is so small in this unit that only one Gaussian is allowed (variances "
            "up to 2.2e-16 are refused): fit in a smaller unit",
        )
    elif lost:
        yield Caution(
            "candidates-discarded",
            f"{lost} of {2 * min(most, n)} candidates were discarded (an empty class or a "
            "vanishing variance)",
        )
    if floored:
        yield Caution(
            "variance-at-floor",
            f"{floored} of {k} components have the least variance allowed: see the floor",
        )
    if n > START_VALUES:
        yield Caution(
            "start-of-some",
            f"the start takes {START_VALUES} evenly spaced order statistics of {n} values; mclust "
            "draws them at random, so its result may differ",
        )
    if further and floor == 0:
        yield Caution(
            "starts-without-floor",
            "many starts without a floor favour components that sit on a few tied values",
        )
