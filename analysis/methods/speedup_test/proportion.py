"""The proportion of accelerated benchmarks: Wilson's interval, its validity, how many are needed.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report inria-00443839v2, 2010,
   sections 5 and 6.2.4.
.. [2] E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
   Journal of the American Statistical Association 22, 1927.
.. [3] R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
   Medicine 17, 1998 (method 4: the continuity correction).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...errors import UsageError

__all__ = ["Proportion", "proportion"]

_ACCURATE = 5  # the rule of thumb of section 5: a - a^2 / b must be larger


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """How many of the benchmarks are accelerated, and what that says about others like them.

    `low` and `high` are Wilson's interval with Yates' continuity correction, as published (R's
    ``prop.test``); `low_plain` and `high_plain` without. `accurate` is the report's condition
    a - a^2 / b > 5. `needed_benchmarks` are those that make the interval C ± `precision`; None when
    none or all are accelerated, because then the formula gives 0.
    """

    accelerated: int
    total: int
    share: float
    low: float
    high: float
    low_plain: float
    high_plain: float
    accurate: bool
    needed_benchmarks: int | None
    confidence: float
    precision: float


def proportion(
    accelerated: int, total: int, *, confidence: float = 0.95, precision: float = 0.05
) -> Proportion:
    """Estimate the share of accelerated benchmarks.

    The interval printed in the report is not the Wald formula of its section 5 but the one that R's
    ``prop.test`` gives, with Yates' correction min(1/2, abs(a - b/2)).

    Parameters
    ----------
    accelerated, total : int
        a and b.
    confidence : float
        Of the interval, between 0 and 1.
    precision : float
        The half-width r for which the number of benchmarks is computed, between 0 and 1.

    Raises
    ------
    UsageError
        If a number is out of its range.
    """
    from scipy.special import ndtri

    if not 0 <= accelerated <= total or total < 1:
        raise UsageError(f"{accelerated} of {total} benchmarks is no proportion")
    for name, value in (("confidence", confidence), ("precision", precision)):
        if not 0 < value < 1:
            raise UsageError(f"{name} must lie between 0 and 1, not {value!r}")
    a, b = accelerated, total
    z = -float(ndtri((1 - confidence) / 2))
    yates = min(0.5, abs(a - b / 2))
    low, high = _wilson(a, b, z, yates)
    low_plain, high_plain = _wilson(a, b, z, 0.0)
    share = a / b
    raw = z**2 * share * (1 - share) / precision**2
    return Proportion(
        accelerated=a,
        total=b,
        share=share,
        low=low,
        high=high,
        low_plain=low_plain,
        high_plain=high_plain,
        accurate=a * (b - a) > _ACCURATE * b,
        needed_benchmarks=math.ceil(raw - 1e-9) if 0 < a < b else None,
        confidence=confidence,
        precision=precision,
    )


def _wilson(a: int, b: int, z: float, yates: float) -> tuple[float, float]:
    half = z**2 / (2 * b)

    def end(shifted: float, sign: int) -> float:
        root = math.sqrt(shifted * (1 - shifted) / b + half / (2 * b))
        return (shifted + half + sign * z * root) / (1 + 2 * half)

    below, above = (a - yates) / b, (a + yates) / b
    low = 0.0 if below <= 0 else max(0.0, end(below, -1))
    high = 1.0 if above >= 1 else min(1.0, end(above, 1))
    return low, high
