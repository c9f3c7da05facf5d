"""What a mixture in the plane can be fitted to, and what a reader of the fit must know."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import AnalysisError, InsufficientDataError, UsageError
from .models import MEANINGS
from .start import START_POINTS

__all__ = ["cautions", "checked_options", "checked_pairs", "correlation"]

Array = NDArray[np.float64]

LEAST_PAIRS = 3
FEW_PAIRS = 30  # below, a caution
FEW_IN_CLUSTER = 10
MOST_COMPONENTS = 64
_LARGEST, _SMALLEST = 1e150, 1e-150  # squares must stay finite and positive
_ON_A_LINE = 1e-12  # 1 - |r| that rounding may leave
_UNLIKE = 1e5  # ratio of spreads from which on mclust's limits bite
_TIED = 0.5


def correlation(pairs: Array) -> float:
    """Give Pearson's correlation of two columns, neither constant."""
    d = pairs - pairs.mean(axis=0)
    d /= np.abs(d).max(axis=0)
    d /= np.sqrt((d * d).sum(axis=0))
    return float(np.clip(d[:, 0] @ d[:, 1], -1, 1))


def checked_options(
    models: Sequence[str], names: tuple[str, str], units: str, most: int
) -> tuple[tuple[str, ...], int]:
    """Check the arguments of `fit_mixture_2d`; give the models in our order, and the largest K."""
    unknown = [model for model in models if model not in MEANINGS]
    if isinstance(models, str) or unknown or not models or len(set(models)) < len(models):
        raise UsageError(
            "models must name some of the fourteen models, each once",
            fix=f"choose from {', '.join(MEANINGS)}",
        )
    if units not in ("given", "spread"):
        raise UsageError(f"units must be 'given' or 'spread', not {units!r}")
    if len(set(names)) != 2 or not all(isinstance(name, str) for name in names):
        raise UsageError("names must be two different names, one for each column")
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)):
        raise UsageError(f"max_components must be a whole number, not {most!r}")
    if not 1 <= most <= MOST_COMPONENTS:
        raise UsageError(f"max_components must lie between 1 and {MOST_COMPONENTS}, and is {most}")
    return tuple(model for model in MEANINGS if model in models), int(most)


def checked_pairs(values_xy: ArrayLike, names: tuple[str, str]) -> Array:
    """Check the values of `fit_mixture_2d`; it says what is raised when."""
    try:
        pairs = np.array(values_xy, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError("the values to be fitted are not pairs of numbers") from error
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise UsageError(
            f"the values to be fitted must have two columns, not the shape {pairs.shape}",
            fix="put both metrics of a run in one row",
        )
    n = len(pairs)
    if n < LEAST_PAIRS:
        raise InsufficientDataError(
            f"a mixture in the plane needs at least {LEAST_PAIRS} pairs, and there are {n}",
            n=n,
            needed=LEAST_PAIRS,
        )
    if not np.isfinite(pairs).all():
        raise AnalysisError("a value to be fitted is not finite", fix="leave out failed runs")
    if np.abs(pairs).max() > _LARGEST:
        raise AnalysisError(f"a value exceeds {_LARGEST:g} in size", fix="choose a larger unit")
    for name, column in zip(names, pairs.T, strict=True):
        if column.min() == column.max():
            raise AnalysisError(
                f"all {n} values of {name} are equal: there is no plane to fit in",
                fix="fit the other metric alone, with fit_mixture",
            )
    if np.ptp(pairs, axis=0).min() < _SMALLEST:
        raise AnalysisError(
            f"a metric's spread is below {_SMALLEST:g}", fix="choose a smaller unit"
        )
    if 1 - abs(correlation(pairs)) <= _ON_A_LINE:
        raise AnalysisError(
            f"all pairs of {names[0]} and {names[1]} lie on one line: one metric tells the other",
            fix="fit one of them alone, with fit_mixture",
        )
    return pairs


def cautions(
    pairs: Array,
    table: dict[str, list[float]],
    model: str,
    weights: Array,
    *,
    asked: int,
    units: str,
) -> tuple[str, ...]:
    """Say what a reader of the fit must know."""
    n, k = len(pairs), weights.size
    most = min(asked, n)
    said = []
    if n < FEW_PAIRS:
        said.append(f"{n} pairs hardly determine clusters in the plane")
    elif k > 1 and weights.min() * n < FEW_IN_CLUSTER:
        said.append(
            f"the smallest cluster has about {weights.min() * n:.1f} runs: its spread and its "
            "correlation are hardly determined"
        )
    if k == asked < n:
        said.append(f"the best K is the largest that was tried, {asked}: try more")
    distinct = len(np.unique(pairs, axis=0))
    if distinct < n:
        said.append(
            f"{n - distinct} of {n} pairs repeat others; ties among distances are broken by "
            "rounding, and may be broken otherwise in mclust"
            + ("; clusters may describe the steps of a clock" if distinct < n * _TIED else "")
        )
    lost = sum(math.isnan(value) for row in table.values() for value in row)
    ratio = float(np.divide(*sorted(pairs.std(axis=0))[::-1]))
    if units == "given" and ratio > _UNLIKE:
        said.append(
            f"the metrics' spreads differ by a factor of {ratio:.2g} as numbers: mclust's limits "
            'then discard candidates for their units alone; units="spread" does not'
        )
    if lost:
        said.append(
            f"{lost} of {len(table) * most} candidates were discarded (an empty class or a "
            "vanishing variance)"
        )
    if model == "EEV" and k > 1 and weights.min() * n < 3:
        said.append(
            "EEV gives a cluster of one or two runs a direction that is rounding error: its BIC "
            "depends on the order of the rows"
        )
    if n > START_POINTS:
        said.append(
            f"the start takes {START_POINTS} of {n} pairs, evenly spaced in the order of the first "
            "metric; mclust draws them at random, so its result may differ"
        )
    return tuple(said)
