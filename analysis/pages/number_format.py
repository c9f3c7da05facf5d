"""How single figures and outcomes are written: numbers, units, ratios, p-values, shortened names.

A result says the same word of every metric, so that a program need not know what was measured. Only
on a screen is a metric that is neither time nor rate better or worse.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_BYTE_RATES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
SCALES: dict[str, tuple[tuple[float, str], ...]] = {"s": _TIMES, "B": _BYTES, "B/s": _BYTE_RATES}
_FEWEST, _MOST = 2, 4  # decimals of a ratio near 1
_TIME_UNITS = {"s", "ms", "us", "µs", "ns", "min", "h"}


def is_time(unit: str) -> bool:
    """Tell whether the unit is one of time."""
    return unit in _TIME_UNITS


def timed(unit: str) -> bool:
    """Tell whether what is better is faster: times, rates such as ``MB/s``, and scores."""
    return is_time(unit) or unit == "score" or unit.rpartition("/")[2] in _TIME_UNITS


def unit_text(unit: str) -> str:
    """Write a unit; what has none, ``1``, is a bare number."""
    return "" if unit == "1" else unit


def listed(names: Sequence[str], most: int = 6, *, mark: str = ", ", last: str = " and") -> str:
    """Name some, and count the rest: ``a, b, c and 4 more``."""
    shown = mark.join(map(format, names[:most]))
    return shown if len(names) <= most else f"{shown}{last} {len(names) - most} more"


def counted(count: int, noun: str) -> str:
    """Count things whose plural ends in s: ``1 run``, ``1,200 runs``."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def span(numbers: Iterable[float], form: str = "") -> str:
    """Give the range of numbers, ``4`` or ``4 to 9``, each written by a format such as ``.3g``."""
    known = [*numbers]
    low, high = min(known), max(known)
    return f"{low:{form}}" if low == high else f"{low:{form}} to {high:{form}}"


def significant(value: float, digits: int = 3) -> str:
    """Write a number with `digits` significant digits; whole digits are never cut to zeros."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    text = f"{value:.{digits - 1}e}"
    exponent = int(text.partition("e")[2])
    if not -4 <= exponent < 7:
        return text
    return f"{value:.{max(0, digits - 1 - exponent)}f}"


def bound(value: float, digits: int = 3, *, upper: bool = False) -> str:
    """Write a limit with `digits` significant digits, rounded away from what it claims: a lower one down, an upper one up."""
    text, way = significant(value, digits), 1 if upper else -1
    if not math.isfinite(value) or way * (float(text) - value) >= -1e-12 * abs(value):
        return text
    step = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    return significant(value + way * step / 2, digits)


def outward(value: float, digits: int, *, upper: bool) -> str:
    """Write an end of an interval with `digits` decimals: the lower one rounded down, the upper one up."""
    if not math.isfinite(value):
        return str(value)
    steps = round(value * 10.0**digits, 6)
    return f"{(math.ceil(steps) if upper else math.floor(steps)) / 10.0**digits:.{digits}f}"


def quantity(value: float, unit: str) -> str:
    """Write a value with a unit of sensible size, three significant digits."""
    scales = SCALES.get(unit, ())
    for factor, name in scales:
        # The rounded value decides, so that 999.9 ms becomes 1.00 s.
        if float(f"{abs(value) / factor:.2e}") >= 1 or factor == scales[-1][0]:
            number = value / factor
            return f"{number:.0f} B" if name == "B" else f"{significant(number)} {name}"
    return f"{significant(value)} {unit_text(unit)}".strip()


_SPANS = ((120, 1, "s"), (7_200, 60, "min"), (172_800, 3_600, "h"), (math.inf, 86_400, "days"))


def time_span(seconds: float) -> str:
    """Write how long something takes: ``1.2 s``, ``20 s``, ``4.5 min``, ``14 h``, ``7.2 days``."""
    size, unit = next((size, unit) for end, size, unit in _SPANS if seconds < end)
    value = seconds / size
    return f"{value:.{int(value < 9.95)}f} {unit}"


def percent(share: float) -> str:
    """Write a share such as 0.0312 as ``3.1 %``, without its sign."""
    return f"{significant(100 * abs(share), 2)} %"


def spread(share: float) -> str:
    """Write a spread such as 0.043 as ``4 %``; below 1 % with a decimal."""
    found = 100 * share
    return f"{found:.0f} %" if found >= 0.95 or found == 0 else f"{found:.1f} %"


def ratio(value: float) -> str:
    """Write a speedup, such as ``2.41x``."""
    return f"{value:.2f}x" if 0.095 <= value < 9.995 else f"{significant(value)}x"


def decimals(low: float | None, high: float | None) -> int:
    """Say how many decimals keep both ends of an interval of ratios on their side of 1, and apart."""
    if low is None or high is None:
        return _FEWEST
    for digits in range(_FEWEST, _MOST):
        texts = (_end(low, digits, upper=False), _end(high, digits, upper=True))
        near = (round(low, digits), round(high, digits), *map(float, texts))
        sides = [*map(_side, near)] == [_side(low), _side(high)] * 2
        if sides and (low == high or round(low, digits) != round(high, digits)):
            return digits
    return _MOST


def ratio_within(value: float, low: float | None, high: float | None) -> str:
    """Write a speedup with the decimals that its interval needs."""
    return f"{_number(value, decimals(low, high))}x"


def ends(low: float, high: float) -> str:
    """Write an interval of ratios, such as ``[0.99, 1.03]``, rounded outward, but not across 1."""
    digits = decimals(low, high)
    return f"[{_end(low, digits, upper=False)}, {_end(high, digits, upper=True)}]"


def _end(value: float, digits: int, *, upper: bool) -> str:
    if 0.095 <= value < 9.995:
        return outward(value, digits, upper=upper)
    return bound(value, max(3, digits), upper=upper)


def _side(value: float) -> int:
    return (value > 1) - (value < 1)


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if 0.095 <= value < 9.995 else significant(value, max(3, digits))


def pvalue(p: float) -> str:
    """Write a p-value as ``= 0.0453`` or ``< 1e-300``; it is never 0."""
    if p <= 1e-300:
        return "< 1e-300"
    return f"= {significant(p)}" if p < 0.9995 else "= 1"


def bare_pvalue(p: float) -> str:
    """Write a p-value for a column of them: ``0.0453`` or ``< 1e-300``."""
    return pvalue(p).removeprefix("= ")


def reliability(value: float, level: float) -> str:
    """Write 1 - p with three decimals, or as many as keep it on its side of `level`; never 1."""
    if value >= 0.9995:
        return "> 0.999"
    for digits in range(3, 10):
        text = f"{value:.{digits}f}"
        if (float(text) >= level) == (value >= level):
            return text
    return f"{value!r}"


Word = Literal["faster", "slower", "equivalent", "undecided", "tie"]

_OF_SIDES: dict[str, Word] = {
    "candidate": "faster",
    "baseline": "slower",
    "tie": "tie",
    "undecided": "undecided",
}
_OF_OTHERS = {"faster": "better", "slower": "worse"}


def word_of(side: Literal["candidate", "baseline", "tie", "undecided"]) -> Word:
    """Name what the candidate is when this side is the better one."""
    return _OF_SIDES[side]


def outcome_word(word: Word, *, timed: bool) -> str:
    """Give the word for a screen: of a metric that is neither time nor rate, better or worse."""
    return word if timed else _OF_OTHERS.get(word, word)
