"""The figures of a suite: weights, overall gain and speedup, over all and the accelerated benchmarks.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report inria-00443839v2, 2010,
   sections 3.2 (equations 1 to 3) and 6.2.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError, UsageError
from .result import CENTRES, Centre, SpeedupTest, Weighting

__all__ = ["SuiteFigures", "Weights", "suite_figures"]

Weights = Weighting | Mapping[str, float]
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFigures:
    """Weights, gains and speedups, as the fields of `SpeedupSuite` of the same names."""

    weighting: Weighting
    coefficients: dict[Centre, dict[str, float]]
    weights: dict[Centre, dict[str, float]]
    gain: dict[Centre, float]
    speedup: dict[Centre, float]
    gain_accelerated: dict[Centre, float | None]
    speedup_accelerated: dict[Centre, float | None]


def suite_figures(
    tests: Sequence[SpeedupTest], names: Sequence[str], weights: Weights
) -> SuiteFigures:
    """Sum up the benchmarks.

    Parameters
    ----------
    tests : sequence of SpeedupTest
        The results of the benchmarks.
    names : sequence of str
        Their names.
    weights : {"equal", "fraction"} or mapping of str to float
        "fraction" is the share of the baseline's time (equation 1), for minimum, mean and median each
        by its own times; a mapping holds a positive coefficient for each benchmark.

    Raises
    ------
    UsageError
        If the weights are of no known kind, lack a benchmark, or are not positive.
    AnalysisError
        If times and weights lie so far apart that gain or speedup is no number.
    """
    weighting, given = _coefficients(names, weights)
    done = SuiteFigures(
        weighting=weighting,
        coefficients={},
        weights={},
        gain={},
        speedup={},
        gain_accelerated={},
        speedup_accelerated={},
    )
    for centre in CENTRES:
        before, after = (
            np.array(side) for side in zip(*(test.times(centre) for test in tests), strict=True)
        )
        before, after = _scaled(before, after)
        coefficients = before / before.sum() if weighting == "fraction" else np.array(given)
        (share,) = _scaled(coefficients)
        share = share / share.sum()
        done.coefficients[centre] = dict(zip(names, coefficients.tolist(), strict=True))
        done.weights[centre] = dict(zip(names, share.tolist(), strict=True))
        old, new = share * before, share * after
        done.gain[centre], done.speedup[centre] = _overall(old, new)
        chosen = np.array([_accelerated(test, centre) for test in tests], dtype=np.bool_)
        done.gain_accelerated[centre], done.speedup_accelerated[centre] = (
            _overall(old[chosen], new[chosen]) if chosen.any() else (None, None)
        )
    return done


def _scaled(*sides: Array) -> list[Array]:
    """Scale all sides by one power of two, which is exact, so that no sum of them overflows."""
    exponent = -np.frexp(max(float(side.max()) for side in sides))[1]
    return [np.ldexp(side, exponent) for side in sides]


def _overall(old: Array, new: Array) -> tuple[float, float]:
    """Give gain (equation 2) and speedup (equation 3) of weighted times."""
    with np.errstate(all="ignore"):
        gain, speedup = 1 - new.sum() / old.sum(), old.sum() / new.sum()
    if not (np.isfinite(gain) and np.isfinite(speedup) and speedup > 0):
        raise AnalysisError(
            "times and weights of these benchmarks lie too far apart for an overall gain and speedup",
            fix="look for a wrong value, for different units, and for a weight near zero",
        )
    return float(gain), float(speedup)


def _accelerated(test: SpeedupTest, centre: Centre) -> bool:
    """Tell whether a benchmark counts as accelerated for the figures of a centre.

    No test belongs to the minimum; section 6.3.2 calls a program accelerated when the speedup of its
    mean or of its median is significant.
    """
    if centre == "min":
        return test.accelerated
    return (test.mean if centre == "mean" else test.median).significant is True


def _coefficients(names: Sequence[str], weights: Weights) -> tuple[Weighting, list[float]]:
    if isinstance(weights, str):
        if weights not in ("equal", "fraction"):
            raise UsageError(
                f"weights must be 'equal', 'fraction' or a mapping, not {weights!r}",
                fix=f"known weightings: {', '.join(get_args(Weighting))}; 'custom' is a mapping of "
                "benchmarks to coefficients",
            )
        return weights, [1.0] * len(names)
    missing = [name for name in names if name not in weights]
    if missing:
        raise UsageError(
            f"there is no weight for {', '.join(map(repr, missing[:6]))}",
            fix="give a positive number for each benchmark",
        )
    given = [float(weights[name]) for name in names]
    for name, value in zip(names, given, strict=True):
        if not 0 < value < float("inf"):
            raise UsageError(
                f"the weight of {name!r} is {value!r}", fix="weights are positive finite numbers"
            )
    return "custom", given
