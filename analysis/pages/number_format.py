"""How single figures, outcomes and differences are written: numbers, units, ratios, p-values, per cent.

A result says the same word of every metric, so that a program need not know what was measured. Only
on a screen is a metric that is neither time nor rate better or worse.

A speedup of 1.82 is "45 % less time"; nobody reads "45 % faster" in one way only. Half the time and
less is "2.7 times as fast" in a sentence, and per cent in a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, Self

from ..words import Name

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
    """Write how long something takes: ``318 ms``, ``1.2 s``, ``20 s``, ``4.5 min``, ``14 h``, ``7.2 days``."""
    if seconds < 1:
        return quantity(seconds, "s")
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
    for digits in range(_FEWEST, _FINEST if (low - 1) * (high - 1) > 0 else _MOST):
        texts = (_end(low, digits, upper=False), _end(high, digits, upper=True))
        near = (round(low, digits), round(high, digits), *map(float, texts))
        sides = [*map(_side, near)] == [_side(low), _side(high)] * 2
        if sides and (digits >= _MOST or low == high or round(low, digits) != round(high, digits)):
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
_OF_TIMES = {"equivalent": "the same"}
_OF_OTHERS = {"faster": "better", "slower": "worse", **_OF_TIMES}


def word_of(side: Literal["candidate", "baseline", "tie", "undecided"]) -> Word:
    """Name what the candidate is when this side is the better one."""
    return _OF_SIDES[side]


def outcome_word(word: Word, *, timed: bool) -> str:
    """Give the word for a screen: of a metric that is neither time nor rate, better or worse."""
    return (_OF_TIMES if timed else _OF_OTHERS).get(word, word)


_TWICE = 2.0
_NARROW = 3.0  # points; a narrower interval has a decimal
# decimals at most, for ends that are nearly alike, or nearly nothing
_POINTS_AT_MOST, _FINEST = 4, 12
_NOTHING = 1e3  # an interval over more than such a factor tells nothing
_HUGE = 100.0  # shares from which on two digits are enough
_UNNAMED = {"wall", "value", "values", "time"}  # of a time, what "time" says already
_METRIC = 28  # columns of a metric's name
# The words of a metric's name by which its bytes are those of memory, and not of a file or a disk.
_OF_MEMORY = frozenset(
    {"memory", "mem", "rss", "maxrss", "vmrss", "heap", "ram", "swap", "alloc", "allocated"}
)


def stuff_of(metric: str, unit: str) -> str:
    """Name what a metric is an amount of, where that has a word: memory, energy; else ""."""
    if unit == "J":
        return "energy"
    words = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", metric).lower())
    return "memory" if unit == "B" and not _OF_MEMORY.isdisjoint(words) else ""


class Compared(Protocol):
    """A speedup with its interval, such as a line of `Multilevel`; above 1 the candidate is better."""

    @property
    def speedup(self) -> float | None:
        """The speedup; None where it is unknown."""

    @property
    def low(self) -> float | None:
        """The lower end of its interval; None where there is none."""

    @property
    def high(self) -> float | None:
        """The upper end."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a candidate has of a metric, as a ratio to what the baseline has.

    `ratio`: Candidate over baseline, of the metric itself: 0.55 of a time is 45 % less; None where it is
    unknown. `low`, `high`: Its interval, both None where there is none. `metric`, `unit`, `better`: What was
    compared, as in a verdict.
    """

    ratio: float | None
    low: float | None
    high: float | None
    metric: str = "wall"
    unit: str = "s"
    better: str = "lower"
    mark: str = ""  # "≥ " or "≤ " where a side's runs are lower bounds

    @classmethod
    def of(
        cls, line: Compared, *, metric: str = "wall", unit: str = "s", better: str = "lower"
    ) -> Self:
        """Give the difference that a speedup stands for."""
        ratio, low, high = line.speedup, line.low, line.high
        if better != "higher":
            ratio = None if ratio is None else 1 / ratio
            low, high = (None if end is None else 1 / end for end in (high, low))
        if low is None or high is None or math.isclose(low, high, rel_tol=1e-12):
            low = high = None  # one value is no interval
        cut = getattr(line, "cut", None)
        marks = ("", "") if cut is None else (cut.mark(0), cut.mark(1).replace("≥", "≤"))
        mark = marks[0] or marks[1] if not all(marks) else ""
        return cls(ratio, low, high, metric, unit, better, mark)

    def turned(self) -> Self:
        """Give what the baseline has more or less than the candidate."""
        ratio, low, high = (None if x is None else 1 / x for x in (self.ratio, self.high, self.low))
        return replace(self, ratio=ratio, low=low, high=high)

    # ---- in sentences

    def sentence(self, candidate: str, baseline: str) -> str:
        """Say what the candidate is: ``A takes 45 % less time than B``, ``A is 4.6 times as fast as B``."""
        return f"{candidate} {self.phrase()} {self.link} {baseline}"

    def phrase(self) -> str:
        """Give the verb and what follows: ``takes 45 % less time``, ``is 4.6 times as fast``."""
        if self._times is None:
            return f"{self.verb} {self.amount()}"
        times = f"{self._multiple(self._times)} times as"
        if not self.timed:
            return f"{self.verb} {times} much{self._what}"
        return f"{'is' if self._faster else 'takes'} {times} {'fast' if self._faster else 'long'}{self.label}"

    def clause(self, than: str = "") -> str:
        """Say the difference with its interval: ``takes 5 % more time than B (4 to 6 %)``."""
        ends = self.interval()
        return f"{self.phrase()}{f' {self.link} {than}' * bool(than)}{f' ({ends})' * bool(ends)}"

    @property
    def link(self) -> str:
        """The word between a phrase and the baseline: ``than`` or ``as``."""
        return "than" if self._times is None else "as"

    def amount(self) -> str:
        """Say how much less or more: ``45 % less time``; never as a multiple, for a column too."""
        if self.ratio is None:
            return "unknown"
        side = "less" if self.ratio < 1 else "more"
        return f"{self._points(abs(self.ratio - 1))} % {side}{self._what}"

    def interval(self) -> str:
        """Give the interval in the unit of the phrase: ``41 to 49 %``, ``4.5 to 4.7``; "" where there is none."""
        if self.low is None or self.high is None:
            return ""
        least = "≥ " * bool(self.mark)  # of what is decided either bound says "at least"
        if self._times is not None:
            ends = (1 / self.high, 1 / self.low) if self._faster else (self.low, self.high)
            if ends[0] > 1:
                texts = (self._multiple(end, upper=k > 0) for k, end in enumerate(ends))
                return least + " to ".join(texts)
        if (self.low - 1) * (self.high - 1) <= 0:
            return f"{self._side(self.low)} to {self._side(self.high)}"
        both = sorted((self.low, self.high), key=lambda end: abs(end - 1))
        return f"{least}{' to '.join(map(self._end, both))} %"

    def between(self) -> str:
        """Say where the difference lies: ``between 3 % less and 2 % more time``; "" where nobody knows."""
        if self.low is None or self.high is None:
            return ""
        return f"between {self._side(self.low)} and {self._side(self.high)}{self._what}"

    def ranged(self, than: str = "") -> str:
        """Say the interval in the place of the amount: ``takes 3.1 to 3.9 % more time than B``.

        Without an interval it is the phrase.
        """
        ends, times = self.interval(), self._times
        amount = self.amount().partition("% ")[2]
        if not ends or self.low is None or self.high is None:
            text = self.phrase()
        elif self.too_few:
            text, times = f"{self.verb} {amount} (too few values to say how much)", None
        elif (self.low - 1) * (self.high - 1) <= 0:
            text, times = f"{self.verb} {self.between()}", None
        elif times is not None:
            text = self.phrase().replace(self._multiple(times), ends, 1)
        else:
            text, times = f"{self.verb} {ends} {amount}", None
        return f"{text} {'than' if times is None else 'as'} {than}" if than else text

    def same(self) -> str:
        """Say that two sides are equivalent: ``takes the same time``, to be followed by ``as B, within 1 %``."""
        return f"{self.verb} the same{self._what}"

    def answer(
        self, word: Word, candidate: str, baseline: str, *, margin: float, where: str = ""
    ) -> str:
        """Say the answer that a word stands for, in one sentence without its interval.

        An undecided one holds the interval, which is all that is known. `where` says on what it holds, such as
        `` over these 8 benchmarks``.
        """
        if word == "equivalent":
            return f"{candidate} {self.same()} as {baseline}{where}, within {100 * margin:g} %"
        if word != "undecided":
            return f"{self.sentence(candidate, baseline)}{where}"
        head = f"no difference found between {candidate} and {baseline}{where}"
        if self.too_few:
            return f"{head}: too few values to say more"
        return f"{head}: if there is one, it lies {found}" if (found := self.between()) else head

    # ---- in tables

    def cell(self) -> str:
        """Give the change for a narrow column: ``-45 %``, ``+20 %``, ``-`` where it is unknown."""
        if self.ratio is None:
            return "-"
        return f"{self.mark}{self._signed(self.ratio, self._points(abs(self.ratio - 1)))} %"

    def cell_interval(self) -> str:
        """Give the interval for a column: ``-49 to -41 %``."""
        if self.low is None or self.high is None:
            return "-"
        if self.too_few and self.low <= 1 <= self.high:
            return "too few to say"
        ends = (self._signed(end, self._end(end)) for end in (self.low, self.high))
        return f"{self.mark}{' to '.join(ends)} %"

    # ---- parts

    @property
    def too_few(self) -> bool:
        """Whether the interval is so wide, as that of two runs may be, that its ends tell nothing."""
        return self.low is not None and self.high is not None and self.high > _NOTHING * self.low

    @property
    def timed(self) -> bool:
        """Whether it is about time, where less is better."""
        return self.better != "higher" and is_time(self.unit)

    @property
    def verb(self) -> str:
        """What a side does with the metric: ``takes``, ``uses``, ``does``, ``has``."""
        if self.timed:
            return "takes"
        if self.better == "higher":
            return "does"
        return "uses" if stuff_of(self.metric, self.unit) else "has"

    @property
    def _what(self) -> str:
        """What there is more or less of, with a space before it, and what names the metric."""
        noun = "time" if self.timed else stuff_of(self.metric, self.unit)
        return f" {noun}{self.label}" if noun and self.better != "higher" else self.label

    @property
    def label(self) -> str:
        """What names the metric behind a phrase, with a space before it; "" of plain time."""
        plain = self.timed and self.metric in _UNNAMED
        return "" if plain else f" ({Name(self.metric):.{_METRIC}})"

    @property
    def _faster(self) -> bool:
        return self.timed and self.ratio is not None and self.ratio < 1

    @property
    def _times(self) -> float | None:
        """Give N of "N times as fast, as long or as much" where a sentence says it so; else None."""
        if self.ratio is None:
            return None
        if self.timed and self.ratio <= 1 / _TWICE:
            return 1 / self.ratio
        return self.ratio if self.ratio >= _TWICE else None

    def _multiple(self, value: float, *, upper: bool | None = None) -> str:
        """Write a multiple, or an end, with the decimals that keep the ends of the interval apart."""
        ends = (self.low, self.high)
        if None not in ends and self._faster:
            ends = (1 / self.high, 1 / self.low)  # type: ignore[operator]
        digits = 1 if value < 9.95 else 0
        while digits < _POINTS_AT_MOST and None not in ends and ends[0] != ends[1]:
            if f"{ends[0]:.{digits}f}" != f"{ends[1]:.{digits}f}":
                break
            digits += 1
        return f"{value:.{digits}f}" if upper is None else outward(value, digits, upper=upper)

    def _side(self, end: float) -> str:
        return f"{self._end(end)} % {'less' if end < 1 else 'more'}"

    def _signed(self, value: float, text: str) -> str:
        return text if float(text) == 0 else f"{'-' if value < 1 else '+'}{text}"

    def _end(self, end: float, digits: int | None = None) -> str:
        """Write how far an end lies from 1, rounded away from the other end."""
        share, upper = 100 * abs(end - 1), (end > 1) == (end == self.high)
        if share >= 100 * _HUGE:
            return bound(share, 2, upper=upper)
        return outward(share, self._digits if digits is None else digits, upper=upper)

    def _points(self, share: float) -> str:
        if share >= _HUGE:
            return significant(100 * share, 2)
        return f"{100 * share:.{self._digits}f}"

    @property
    def _digits(self) -> int:
        """One decimal where the interval is narrower than 3 points, more where its ends would look alike or be 0."""
        if self.low is None or self.high is None:
            points = 0.0 if self.ratio is None else 100 * abs(self.ratio - 1)
            if self.ratio is None or points >= 9.5:
                return 0
            return max(1, -math.floor(math.log10(points))) if 0 < points < 0.05 else 1
        ends = (self.low, self.high)
        digits = 1 if 100 * (self.high - self.low) < _NARROW else 0
        beside = (self.low - 1) * (self.high - 1) > 0  # an end that decides is never written as 0
        while digits < (_FINEST if beside else _POINTS_AT_MOST):
            near = [f"{100 * abs(end - 1):.{digits}f}" for end in ends]
            alike = (
                beside and self.low != self.high and near[0] == near[1] and digits < _POINTS_AT_MOST
            )
            written = zip((*near, *(self._end(end, digits) for end in ends)), ends * 2, strict=True)
            nothing = any(float(text) == 0 and end != 1 for text, end in written)
            if not alike and not nothing:
                break
            digits += 1
        return digits
