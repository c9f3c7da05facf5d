"""Two tests of whether values depart from a normal distribution: Lilliefors' and Shapiro's.

References
----------
.. [1] H. W. Lilliefors, "On the Kolmogorov-Smirnov test for normality with mean and variance
   unknown", Journal of the American Statistical Association 62, 1967.
.. [2] G. E. Dallal, L. Wilkinson, "An analytic approximation to the distribution of Lilliefors's
   test statistic for normality", The American Statistician 40, 1986.
.. [3] M. A. Stephens, "EDF statistics for goodness of fit and some comparisons", Journal of the
   American Statistical Association 69, 1974.
.. [4] S. S. Shapiro, M. B. Wilk, "An analysis of variance test for normality", Biometrika 52, 1965.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError
from .values import checked

__all__ = ["LILLIEFORS_LEAST", "NormalityTest", "lilliefors", "shapiro"]

LILLIEFORS_LEAST = 5
SHAPIRO_LEAST, SHAPIRO_MOST = 3, 5000

# Stephens' polynomials in the modified distance, as R's nortest has them: for p above 0.1 only.
_POLYNOMIALS = (
    (0.302, (1.0,)),
    (0.5, (2.76773, -19.828315, 80.709644, -138.55152, 81.218052)),
    (0.9, (-4.901232, 40.662806, -97.490286, 94.029866, -32.355711)),
    (1.31, (6.198765, -19.558097, 23.186922, -12.234627, 2.423045)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalityTest:
    """A test of normality; `pvalue` is small when the values do not look normal."""

    method: str
    n: int
    statistic: float
    pvalue: float


def lilliefors(values: ArrayLike) -> NormalityTest:
    """Test normality with mean and variance estimated, by the Kolmogorov-Smirnov distance.

    The p-value is Dallal's and Wilkinson's [2]_ up to 0.1 and a polynomial in Stephens' [3]_
    modified distance above, as R's ``nortest::lillie.test`` has it.

    Raises
    ------
    InsufficientDataError
        With fewer than 5 values.
    AnalysisError
        If all values are equal, or one is not finite.
    """
    from scipy.special import ndtr

    x = np.sort(checked(values, LILLIEFORS_LEAST, "Lilliefors' test"))
    n = x.size
    x = np.ldexp(x, -np.frexp(np.abs(x).max())[1])  # exact, and no square overflows
    p = ndtr((x - x.mean()) / x.std(ddof=1))
    steps = np.arange(1, n + 1)
    distance = float(max((steps / n - p).max(), (p - (steps - 1) / n).max()))
    return NormalityTest(
        method="Lilliefors", n=n, statistic=distance, pvalue=_lilliefors_pvalue(distance, n)
    )


def _lilliefors_pvalue(distance: float, n: int) -> float:
    d, m = (distance, n) if n <= 100 else (distance * (n / 100) ** 0.49, 100)
    p = math.exp(
        -7.01256 * d**2 * (m + 2.78019)
        + 2.99587 * d * math.sqrt(m + 2.78019)
        - 0.122119
        + 0.974598 / math.sqrt(m)
        + 1.67997 / m
    )
    if p <= 0.1:
        return p
    modified = (math.sqrt(n) - 0.01 + 0.85 / math.sqrt(n)) * distance
    for end, coefficients in _POLYNOMIALS:
        if modified <= end:
            return float(sum(c * modified**k for k, c in enumerate(coefficients)))
    return 0.0


def shapiro(values: ArrayLike) -> NormalityTest:
    """Test normality by Shapiro's and Wilk's W.

    Raises
    ------
    InsufficientDataError
        With fewer than 3 values.
    AnalysisError
        With more than 5000 values (p is not known there), equal values, or one not finite.
    """
    from scipy.stats import shapiro as wilk

    x = checked(values, SHAPIRO_LEAST, "Shapiro's test")
    if x.size > SHAPIRO_MOST:
        raise AnalysisError(
            f"Shapiro's p is not known for {x.size} values",
            fix=f"take at most {SHAPIRO_MOST}, or Lilliefors' test",
        )
    done = wilk(x / np.abs(x).max())
    return NormalityTest(
        method="Shapiro-Wilk", n=x.size, statistic=float(done.statistic), pvalue=float(done.pvalue)
    )
