"""The test of the difference of two independent effects, each with an error and a freedom of its own.

The law is that of sides measured in separate sessions (`estimates.of_sides`): Welch's t where both have
the same degrees of freedom, elsewhere Banerjee's bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...report import Word
from .decision import decide
from .estimates import Estimates, Parts, of_sides
from .law import Law

__all__ = ["Differences", "Shift", "differences_of"]

Shift = Literal["larger", "smaller", "equivalent", "undecided"]

Floats = NDArray[np.float64]

_SHIFTS: dict[Word, Shift] = {"faster": "larger", "slower": "smaller"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Differences:
    """Differences of logs with what is known of them; arrays over the effects, nan where unknown.

    `welch` tells which are tested by Welch's t, `freedom` is Satterthwaite's there, `pvalue_welch` his p
    everywhere. `shift` is what each is after Holm's correction, None where there is no test.
    """

    estimate: Floats
    error: Floats
    freedom: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    pvalue_welch: Floats
    pvalue_adjusted: Floats
    welch: NDArray[np.bool_]
    shift: tuple[Shift | None, ...]


def differences_of(
    estimates: Floats,
    errors: Floats,
    freedoms: Floats,
    *,
    alpha: float,
    margin: float,
    parts: tuple[Parts, Parts] | None = None,
    step: Floats | None = None,
) -> Differences:
    """Test one family of differences.

    As in the verdict: proven to lie within the margin wins over larger and smaller (each side at
    alpha / 2); a difference without spread has neither interval nor p, and takes part in Holm's steps
    as p = 1.

    Parameters
    ----------
    estimates, errors, freedoms : array, shape (effects, 2)
        Log of the speedup in both samples, its standard error and degrees of freedom. Where an error
        or a freedom is nan there is no test.
    alpha : float
        Risk of the family.
    margin : float
        Of the log ratio.
    parts : pair of Parts, optional
        Of both samples' errors, shape (effects, parts): they count where a freedom is nan.
    step : array, shape (effects,), optional
        What the clocks of both samples add to each half-width.
    """
    sides = [
        Estimates(
            estimate=estimates[:, k],
            error=errors[:, k],
            freedom=freedoms[:, k],
            values=np.zeros(len(estimates), dtype=np.int64),
            parts=None if parts is None else parts[k],
        )
        for k in (0, 1)
    ]
    found = of_sides(sides[1], sides[0])
    unknown = np.isnan(found.error) | np.isnan(found.own_parts().freedoms).any(axis=1)
    found = found._replace(error=np.where(unknown, np.nan, found.error), step=step)
    d = decide(found, Law(alpha=alpha), margin, "holm")
    return Differences(
        estimate=found.estimate,
        error=found.error,
        freedom=found.freedom,
        low=d.low,
        high=d.high,
        pvalue=d.pvalue,
        pvalue_welch=d.pvalue_welch,
        pvalue_adjusted=d.pvalue_adjusted,
        welch=~np.isnan(found.freedom),
        shift=tuple(
            None if lost else _SHIFTS.get(word, word)  # type: ignore[arg-type]
            for lost, word in zip(unknown.tolist(), d.outcome, strict=True)
        ),
    )
