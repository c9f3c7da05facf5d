"""Where ordered values of a normal law are expected: the places of a normal Q-Q plot.

References
----------
.. [1] G. Blom, "Statistical estimates and transformed beta-variables", 1958, section 6.9.
.. [2] R Core Team, "R: a language and environment for statistical computing", ``ppoints``, ``qqnorm``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["normal_positions"]

_FEW = 10


def normal_positions(n: int) -> NDArray[np.float64]:
    """Give the standard normal quantiles of n ordered values, ascending, shape (n,).

    Their shares are (k - a) / (n + 1 - 2a) with a = 3/8 ([1]_), and with a = 1/2 above 10 values, as
    R's ``ppoints`` has it ([2]_).
    """
    a = 3 / 8 if n <= _FEW else 1 / 2
    shares = (np.arange(1, n + 1) - a) / (n + 1 - 2 * a)
    return np.asarray(ndtri(shares))
