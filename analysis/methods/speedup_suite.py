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

from ..errors import UsageError
from .speedup_result import CENTRES, Centre, SpeedupTest, Weighting

__all__ = ["SuiteFigures", "Weights", "suite_figures"]

Weights = Weighting | Mapping[str, float]


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
        coefficients = before / before.sum() if weighting == "fraction" else np.array(given)
        share = coefficients / coefficients.sum()
        done.coefficients[centre] = dict(zip(names, coefficients.tolist(), strict=True))
        done.weights[centre] = dict(zip(names, share.tolist(), strict=True))
        old, new = share * before, share * after
        done.gain[centre] = float(1 - new.sum() / old.sum())
        done.speedup[centre] = float(old.sum() / new.sum())
        chosen = np.array([_accelerated(test, centre) for test in tests], dtype=np.bool_)
        some = bool(chosen.any())
        old, new = old[chosen], new[chosen]
        done.gain_accelerated[centre] = float(1 - new.sum() / old.sum()) if some else None
        done.speedup_accelerated[centre] = float(old.sum() / new.sum()) if some else None
    return done


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
