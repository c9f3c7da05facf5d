"""Fit Gaussian mixtures to one sample: checked values, and the model that BIC chooses.

The candidates are K = 1 .. 9 components with one variance ("E") or a variance each ("V"), fitted
by EM from a start without randomness ([1]_, sections 3 and 4.1). The numerical conventions are
those of the R package mclust 6.0.0, so the result is its result.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, sections 3 and 4.
.. [2] L. Scrucca, M. Fop, T. B. Murphy, A. E. Raftery, "mclust 5: clustering, classification and
       density estimation using Gaussian finite mixture models", The R Journal 8(1), 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages.model import Caution, cautions_of
from ...stats.arguments import checks_arguments, chosen, counted, numbers
from ...stats.samples import Array, clock_step
from ...stats.workers import Budget
from . import small_fit
from .model import (
    REFERENCES as MODEL_REFERENCES,
    START_VALUES,
    TILE,
    EmState,
    Mixture,
    Scale,
)

_Made = TypeVar("_Made")
MOST_COMPONENTS = 64
MOST_STARTS = 10_000
# values x the square of the largest K: 400 values with five components, ten times as many uncompiled
BUDGET = Budget(10_000, 100_000, "fit_sorted")


LEAST = 4  # the dip of fewer values is the same for every sample
_LARGEST, _LEAST_RANGE = 1e150, 1e-150  # squares stay finite, and above 0
_SAME = 1e-9  # neighbours closer than this share of the range are one reading of the clock


def ordered_values(values: ArrayLike, least: int, purpose: str) -> Array:
    """Give the values sorted; their squares are finite."""
    x = np.sort(numbers(values, "the values"))
    if x.size < least:
        text = f"{purpose} needs at least {least} values, and there are {x.size}"
        raise InsufficientDataError(text, n=x.size, needed=least)
    if not (np.abs(x) <= _LARGEST).all():
        raise AnalysisError(
            f"a value is not finite, or exceeds {_LARGEST:g}", fix="leave out failed runs"
        )
    return x


def checked(values: ArrayLike, least: int = LEAST) -> Array:
    """Give the values sorted, as the tests of modes need them."""
    x = ordered_values(values, least, "evidence about modes")
    if x[0] == x[-1]:
        raise AnalysisError(
            f"all {x.size} values are equal: there is nothing to tell modes by",
            fix="measure with a finer clock",
        )
    if x[-1] - x[0] < _LEAST_RANGE:
        raise AnalysisError(
            f"the values lie within {_LEAST_RANGE:g} of each other", fix="choose a smaller unit"
        )
    return x


def spread_ties(ordered: Array, tick: float | None = None) -> tuple[Array, float | None]:
    """Spread values that share a clock reading evenly over the clock's tick."""
    gaps = np.diff(ordered)
    new = gaps > _SAME * (ordered[-1] - ordered[0])
    if new.all():
        return ordered, None
    step = float(gaps[new].min()) if tick is None else tick
    group = np.concatenate(([0], np.cumsum(new)))
    count = np.bincount(group)
    first = np.concatenate(([0], np.cumsum(count)[:-1]))
    place = (np.arange(ordered.size) - first[group] + 0.5) / count[group] - 0.5
    moved = np.where(count[group] > 1, ordered[first[group]] + step * place, ordered)
    return np.sort(moved), step


class ScaledValues(NamedTuple):
    """Checked values on the scale of the fit: `values` sorted, `floor` the least variance."""

    values: Array
    floor: float


def prepared(
    values: ArrayLike,
    *,
    variance_floor: float = 0.0,
    resolution: float | None = None,
    scale: Scale = "linear",
) -> ScaledValues:
    """Check a sample and put it on the scale of the fit, as `fit_mixture` does first."""
    check_floor_and_scale(variance_floor, resolution, scale)
    x = numbers(values, "the values to be fitted")
    if x.size < 2:
        text = f"a mixture needs at least 2 values, and there are {x.size}"
        raise InsufficientDataError(text, n=x.size, needed=2)
    if not np.isfinite(x).all():
        raise AnalysisError("a value to be fitted is not finite", fix="leave out failed runs")
    x.sort()
    floor = variance_floor
    if scale == "log" and x[0] <= 0:
        raise AnalysisError(
            f"the log scale needs positive values, and the smallest is {x[0]:.6g}",
            fix='take scale="linear"',
        )
    if resolution is not None:
        step = resolution / float(np.median(x)) if scale == "log" else resolution
        floor = step * step / 12
    if scale == "log":
        x = np.log(x)
    if max(abs(x[0]), abs(x[-1])) > _LARGEST:
        raise AnalysisError(f"a value exceeds {_LARGEST:g} in size", fix="choose a larger unit")
    if x[0] == x[-1] and floor == 0:
        raise AnalysisError(
            f"all {x.size} values are equal: no Gaussian has so little spread",
            fix="measure with a finer clock, or give the clock's step as resolution",
        )
    return ScaledValues(x, floor)


def check_floor_and_scale(variance_floor: float, resolution: float | None, scale: str) -> None:
    """Refuse what is no floor, no step of a clock, or no scale."""
    chosen("scale", scale, ("linear", "log"))
    if not (math.isfinite(variance_floor) and variance_floor >= 0):
        raise UsageError(f"variance_floor must be a number from 0 on, not {variance_floor!r}")
    if resolution is not None and not (math.isfinite(resolution) and resolution > 0):
        raise UsageError(f"resolution must be a positive number, not {resolution!r}")
    if resolution is not None and variance_floor:
        raise UsageError("variance_floor and resolution both set the floor", fix="give one of them")


FEW_VALUES = 20  # below, the number of components is hardly determined
_UNIT_LIMIT = 2.0**-26  # the square root of mclust's limit on a variance


def fit_cautions(
    sample: ScaledValues, table: Array, k: int, floored: int, further: int
) -> tuple[Caution, ...]:
    """Say what limits a fit of `k` components, `floored` of them at the least variance."""
    x, floor = sample
    n, most = x.size, table.shape[1]
    distinct = int(np.count_nonzero(np.diff(x))) + 1
    lost = int(np.isnan(table[:, : min(most, n)]).sum())
    narrow = floor == 0 and lost > 0 and bool(x[-1] - x[0] < 2 * _UNIT_LIMIT)
    return cautions_of(
        {
            "few-values": n < FEW_VALUES and f"{n} values hardly determine a number of components",
            "components-at-limit": at_limit(k, most, n),
            "many-ties": distinct < n * 0.5
            and f"only {distinct} of {n} values are distinct: components may describe the clock's "
            "steps instead of the program",
            "spread-too-small": narrow
            and "the spread is so small in this unit that only one Gaussian is allowed (variances "
            "up to 2.2e-16 are refused): fit in a smaller unit",
            "candidates-discarded": not narrow and discarded(lost, 2 * min(most, n)),
            "variance-at-floor": floored > 0
            and f"{floored} of {k} components have the least variance allowed: see the floor",
            "start-of-some": n > START_VALUES
            and f"the start takes {START_VALUES} evenly spaced order statistics of {n} values; "
            "mclust draws them at random, so its result may differ",
            "starts-without-floor": further > 0
            and floor == 0
            and "many starts without a floor favour components that sit on a few tied values",
        }
    )


def at_limit(k: int, most: int, n: int) -> str | bool:
    """Say that a fit of n values has as many components as were tried."""
    return k == most < n and f"the best K is the largest that was tried, {most}: try more"


def discarded(lost: int, tried: int) -> str | bool:
    """Say how many candidates have no fit."""
    why = "(an empty class or a vanishing variance)"
    return lost > 0 and f"{lost} of {tried} candidates were discarded {why}"


_READING = 1.0 + 1e-6  # steps within which two values are one reading: rounding may part them
_CHANCE = 1e-4  # that readings anywhere stand so close to a grid


def coarser_grid(values: ArrayLike, resolution: float) -> tuple[Caution, ...]:
    """Say when tied values stand on a coarser grid than the step that was given for the clock."""
    x = np.sort(np.asarray(values, dtype=float))
    found = _rough_grid(x, resolution)
    step, count = found or (clock_step(x), np.unique(x).size)
    if step is None or step < 2 * resolution or count == x.size:
        return ()
    width, some = (f"{step:.2g}", "some ") if found else (f"{step:.6g}", "")
    return cautions_of(
        {
            "grid-coarser": f"the values stand {some}{width} apart ({count} readings for {x.size} "
            f"values), on a coarser grid than the resolution of {resolution:g}: components may be "
            f"its steps; try a resolution of {width}"
        }
    )


def _rough_grid(x: Array, resolution: float) -> tuple[float, int] | None:
    """Give the step and the readings of a grid that is blurred by less than the resolution.

    Values within `resolution` of their neighbour are one reading: a grid of 0.2 printed with two digits
    shows 93.41 and 93.42. A grid is one where readings are half as many as values at most, none is
    wider than two resolutions, and readings at random places would hardly be as close to multiples
    of one width: the chance is the share of places so close, to the power of the readings that are free.
    """
    group = np.concatenate(([0], np.cumsum(np.diff(x) > resolution * _READING)))
    count = int(group[-1]) + 1
    if not 3 <= count <= 0.5 * x.size:
        return None
    first = np.searchsorted(group, np.arange(count))
    last = np.append(first[1:], x.size) - 1
    centres = np.bincount(group, x - x[0]) / np.bincount(group)
    gaps = np.diff(centres)
    places = np.concatenate(([0.0], np.cumsum(np.rint(gaps / gaps.min()))))
    step, start = (float(one) for one in np.polyfit(places, centres, 1))
    away = max(float(np.abs(start + step * places - centres).max()), resolution / 2)
    known = (2 * away / step) ** (count - 2) <= _CHANCE
    return (step, count) if known and (x[last] - x[first]).max() <= 2 * resolution else None


REFERENCES = (
    *MODEL_REFERENCES,
    "L. Scrucca et al., mclust 5, The R Journal 8(1), 2016 (conventions of the fit)",
)


@checks_arguments
def fit_mixture(
    values: ArrayLike,
    *,
    max_components: int = 9,
    starts: int = 1,
    variance_floor: float = 0.0,
    resolution: float | None = None,
    scale: Scale = "linear",
    rng: np.random.Generator | None = None,
) -> Mixture:
    """Fit mixtures of 1 to `max_components` Gaussians and take the one with the best BIC.

    With its defaults the fit is mclust's: quantile start, EM until the log-likelihood changes by
    at most 1e-5 of itself, candidates discarded whose variance vanishes, BIC = 2 L - p ln n with
    p = 2K (E) or 3K - 1 (V), equal BIC to the smaller K and then to E, and one closing M-step
    (whose state before it is kept in `Mixture.em`). Above 2,000 values mclust draws 2,000 at
    random for its start; here the start takes 2,000 evenly spaced order statistics.

    Parameters
    ----------
    values : array_like, shape (n,)
        At least 2 finite values, not all equal, in any unit. The stop rule and the limit on the
        variance are not invariant to the unit: parameters may change in their fourth digit.
    max_components : int
        The largest K, 1 to 64; never more than n.
    starts : int
        How many starts each candidate has. The first is the quantile start; further ones choose
        their centres at random (as k-means++ does) and need `rng`. The best likelihood counts.
    variance_floor : float
        The least variance of a component, in squared units (of ln x on the log scale). 0 keeps
        mclust's rule. With a floor no candidate is discarded for its variance.
    resolution : float, optional
        The step of the clock, in the values' unit: sets the floor to resolution^2 / 12, the
        variance of rounding. On the log scale the step is taken relative to the median. A caution
        tells when the values stand on a coarser grid: no floor below that grid mends it.
    scale : {"linear", "log"}
        "log" fits the logarithms of the values, which must be positive; likelihood and BIC are
        then those of the logarithms.
    rng : numpy.random.Generator, optional
        Where further starts come from.

    Returns
    -------
    Mixture
        The best candidate, the BIC table of all, and cautions.

    Raises
    ------
    UsageError
        If an argument is out of its range, or `starts` above 1 comes without `rng`.
    InsufficientDataError
        With fewer than 2 values.
    AnalysisError
        If a value is not finite, not positive on the log scale, or too large; if all are equal
        and there is no floor; if no candidate can be fitted.
    """
    most = counted("max_components", max_components, most=MOST_COMPONENTS)
    further = counted("starts", starts, most=MOST_STARTS) - 1
    if further and rng is None:
        raise UsageError("further starts are random and need rng, a numpy Generator")
    sample = prepared(values, variance_floor=variance_floor, resolution=resolution, scale=scale)
    draws = np.empty((0, 1, 1))
    if further and rng is not None:
        draws = rng.random((further, most, most))
    coarse = () if resolution is None else coarser_grid(values, resolution)
    few = not further and BUDGET.uncompiled and _are_few([sample], most)
    fitted = small_fit.fit_sorted([sample], most)[0] if few else _compiled(sample, most, draws)
    return _mixture(sample, fitted, scale, further, coarse)


def fit_each(samples: Sequence[ArrayLike], max_components: int) -> list[Mixture | None]:
    """Fit each sample as `fit_mixture` does with its other defaults; None where that refuses.

    Few values are fitted without the kernels, whose first use takes longer, to the same numbers.
    """
    ready = [_or_none(prepared, values) for values in samples]
    here = [sample for sample in ready if sample is not None]
    if here and _are_few(here, max_components):
        fits = small_fit.fit_sorted(here, max_components)
    else:
        fits = [_compiled(sample, max_components, np.empty((0, 1, 1))) for sample in here]
    left = iter(fits)
    return [None if one is None else _or_none(_mixture, one, next(left)) for one in ready]


def _are_few(samples: Sequence[ScaledValues], most: int) -> bool:
    sizes = [sample.values.size for sample in samples]
    return max(sizes) <= TILE and BUDGET.allows(sum(sizes) * most**2)


def _or_none(make: Callable[..., _Made], *args: object) -> _Made | None:
    try:
        return make(*args)
    except AnalysisError:
        return None


def _compiled(sample: ScaledValues, most: int, draws: Array) -> small_fit.Fitted:
    from . import fit_kernel as kernels

    room = kernels.room_for(sample.values.size, most)
    kernels.fit_sorted(sample.values, sample.floor, draws, room)
    return room.table, room.state, room.found


def _mixture(
    sample: ScaledValues,
    fitted: small_fit.Fitted,
    scale: Scale = "linear",
    further: int = 0,
    more: tuple[Caution, ...] = (),
) -> Mixture:
    x, (table, state, found) = sample.values, fitted
    k, varying = int(found[0]), found[1] > 0
    if k == 0 or not (state[2, :k] > 0).all():
        raise AnalysisError(
            f"no mixture fits these {x.size} values: their spread is lost in rounding",
            fix="subtract a constant, or give the values with more digits",
        )
    weights, means, sds = state[:3, :k]
    before = EmState(weights=state[3, :k], means=state[4, :k], sds=state[5, :k])
    return Mixture(
        weights=weights,
        means=means,
        sds=sds,
        equal_variance=not varying,
        log_likelihood=float(found[2]),
        bic=float(found[3]),
        bic_table={"E": tuple(table[0].tolist()), "V": tuple(table[1].tolist())},
        n=x.size,
        iterations=int(found[4]) if k > 1 else None,
        scale=scale,
        em=before,
        cautions=(*fit_cautions(sample, table, k, int(found[5]), further), *more),
        references=REFERENCES,
    )
