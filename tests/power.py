"""The chance that a t test rejects: an oracle for plans, by quadrature over the normal.

P(|T| > c) is the mean over Z of the chance that chi lies below (Z + shift) / c, and of its mirror.
"""

from __future__ import annotations

import math

from scipy.integrate import quad
from scipy.special import chdtr, stdtrit


def t_power(shift: float, freedom: float, alpha: float) -> float:
    critical = float(stdtrit(freedom, 1 - alpha / 2))

    def tail(delta: float) -> float:
        def inside(z: float) -> float:
            chi = freedom * ((z + delta) / critical) ** 2
            return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * float(chdtr(freedom, chi))

        start = max(-delta, -12.0)
        return quad(inside, start, 12.0, epsabs=1e-13, limit=400)[0] if start < 12 else 0.0

    return tail(shift) + tail(-shift)
