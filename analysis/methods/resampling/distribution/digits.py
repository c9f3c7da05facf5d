"""How means of passes, and shares of pairs of passes, are written."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["percent", "with_spread"]


def with_spread(values: Sequence[float], spread: float) -> list[str]:
    """Write values so that two digits of their spread are seen, all with as many decimals."""
    largest = max(abs(v) for v in values)
    top = math.floor(math.log10(largest))
    low = math.floor(math.log10(spread)) if spread > 0 else top - 3
    if -4 <= top < 7:
        decimals = min(max(0, 1 - low), 9)
        return [f"{v:.{decimals}f}" for v in values]
    return [f"{v:.{min(max(2, top - low + 1), 6)}e}" for v in values]


def percent(share: float) -> str:
    """Write a share; 0 and 100 % stand only where no pair is otherwise."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"
