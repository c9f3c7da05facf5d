"""Whether a process that times its own iterations becomes steady, and from which iteration on.

The words are those of [1]_: *flat* (one level from the first iteration on), *warm-up* (the last level is the
best), *slowdown* (an earlier one was better), *no steady state* (the level still changes in the last quarter).
As there, levels are found by PELT ([2]_), the exact least-squares segmentation with a price for each
change, after single outliers are drawn in. What differs:

- levels are those of the mean of logarithms: a change of the spread alone is none;
- the price is ``8 ln(n)`` times the variance of the noise **over the block length where it is largest**, from
  medians of differences of neighbouring blocks ([3]_): iterations resemble their neighbours (garbage is collected
  every few of them), and the plain variance of white noise would find changes everywhere;
- readings of a coarse clock are spread over its ticks first: on ties those medians are 0, or a tick;
- a level counts as the last one where it lies within 0.5 % of it;
- of more than 4,000 iterations those behind the first 1,000 are put together, a few neighbours to a point, and each
  change is then placed to the iteration: the exact segmentation of 100,000 takes half a minute;
- the first iterations are warm-up where each lies beyond the 99 % quantile of the run's later ones by three
  standard deviations: one iteration makes no level.

References
----------
.. [1] E. Barrett, C. F. Bolz-Tereick, R. Killick, S. Mount, L. Tratt, "Virtual machine warmup blows hot and cold",
   Proc. ACM Program. Lang. 1 (OOPSLA), 2017, sections 4 and 5.
.. [2] R. Killick, P. Fearnhead, I. A. Eckley, "Optimal detection of changepoints with a linear computational cost",
   Journal of the American Statistical Association 107, 2012.
.. [3] W. B. Wu, Z. Zhao, "Inference of trends in time series", Journal of the Royal Statistical Society B 69,
   2007, section 4: a long-run variance that changes of the mean leave alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .samples import Array, off_ticks

State = Literal["flat", "warm-up", "slowdown", "no steady state", "too few iterations"]

FEWEST = 100  # iterations: of fewer, flat processes with noisy neighbours are called otherwise in over 5 %
PRICE = 8.0  # of a change, in variances of the noise times ln(n)
SHORTEST = 5  # iterations that make a level
SAME = 0.005  # of the last level: what lies within counts as it
SINGLE = 1000  # iterations of the beginning that are points of their own
POINTS = 4000  # at most
LAST = 0.25  # of the iterations: the last level begins before these
_WINDOW = 5  # iterations on each side in which one may be an outlier
_OUTLYING = 3.0  # standard deviations
_BLOCKS = 40  # at least, from whose differences the noise is known
_TAIL = 0.01
_NORMAL = 1.4826  # the standard deviation of normal values over their median distance


@dataclass(frozen=True, slots=True)
class Level:
    """Iterations `first` to before `end`, whose typical value is `value`, in the unit of the iterations."""

    first: int
    end: int
    value: float


@dataclass(frozen=True, slots=True)
class SteadyState:
    """What a process is called, and from which iteration on (`first`, from 0) it is steady.

    `first` is 0 of a flat process, and where nothing is known or no steady state is reached.
    """

    state: State
    first: int
    levels: tuple[Level, ...]


def steady_state(values: Array, *, higher: bool = False) -> SteadyState:
    """Classify the iterations of one process, in their order.

    Parameters
    ----------
    values : array
        At least one. With values of 0 or less, or infinite ones, nothing is known: levels are ratios.
    higher : bool
        Whether higher values are better.

    Returns
    -------
    SteadyState
        ``too few iterations`` below `FEWEST`, or where a value is not positive.
    """
    n = values.size
    if n < FEWEST or not ((values > 0) & np.isfinite(values)).all():
        return SteadyState("too few iterations", 0, (Level(0, n, float(np.median(values))),))
    logs = np.log(off_ticks(values))
    printed = np.log(values)
    begun = _beginning(logs)
    rest = drawn_in(logs[begun:])
    ends = _ends_of_levels(rest - np.median(rest), PRICE * noise_of(rest) * math.log(n))
    starts = [0, *ends[:-1]]
    means = [float(rest[a:b].mean()) for a, b in zip(starts, ends, strict=True)]
    last = len(means) - 1
    while last and abs(means[last - 1] - means[-1]) <= SAME:
        last -= 1
    shown = rest + (printed - logs)[begun:]
    levels = [
        Level(a + begun, b + begun, math.exp(float(shown[a:b].mean())))
        for a, b in zip(starts, ends, strict=True)
    ]
    earlier = means[:last]
    if begun:
        levels.insert(0, Level(0, begun, math.exp(printed[:begun].mean())))
        earlier.insert(0, float(logs[:begun].mean()))
    first = levels[last + (begun > 0)].first if earlier else 0
    return SteadyState(*_word(earlier, means[-1], first, n, higher=higher), tuple(levels))


def _word(
    earlier: list[float], final: float, first: int, n: int, *, higher: bool
) -> tuple[State, int]:
    if not earlier:
        return "flat", 0
    if first > n * (1 - LAST):
        return "no steady state", 0
    sign = -1 if higher else 1
    best = min(sign * level for level in earlier)
    return ("slowdown" if best < sign * final - SAME else "warm-up"), first


def _beginning(logs: Array) -> int:
    """Count the first iterations that lie beyond the later ones, at most a quarter of all."""
    quarter = logs.size // 4
    later = logs[quarter:]
    margin = _OUTLYING * _sd(later - np.median(later))
    low, high = np.quantile(later, (_TAIL, 1 - _TAIL))
    head = logs[:quarter]
    beyond = head > high + margin if logs[0] > high + margin else head < low - margin
    return quarter if beyond.all() else int(np.argmin(beyond))


def _sd(distances: Array) -> float:
    return _NORMAL * float(np.median(np.abs(distances)))


def drawn_in(logs: Array) -> Array:
    """Draw outliers in to three standard deviations from the median of the iterations around them."""
    padded = np.pad(logs, _WINDOW, mode="reflect")
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * _WINDOW + 1)
    middle = np.asarray(np.median(around, axis=1))
    away = logs - middle
    most = _OUTLYING * _sd(away - np.median(away))
    return np.clip(logs, middle - most, middle + most)


def noise_of(logs: Array) -> float:
    """Give the variance of the noise: over the length of blocks where that of their means times it is largest."""
    most, length = 0.0, 1
    while logs.size // length >= _BLOCKS or length == 1:
        blocks = logs[logs.size % length :].reshape(-1, length).mean(axis=1)
        steps = np.diff(blocks)
        half = _sd(steps) ** 2 / 2 or float((steps**2).mean()) / 2  # most readings may be equal
        most = max(most, length * half)
        length *= 2
    return most


def _ends_of_levels(values: Array, price: float) -> list[int]:
    """Give where each level ends: by `change_points` of at most `POINTS` points, then each to the iteration."""
    n = values.size
    each = max(1, -(-(n - SINGLE) // (POINTS - SINGLE)))
    head = min(n, SINGLE)
    starts = np.concatenate((np.arange(head), np.arange(head, n, each)))
    weights = np.diff(starts, append=n)
    points = np.add.reduceat(values, starts) / weights
    found = [int(weights[:end].sum()) for end in change_points(points, price, weights=weights)]
    total = np.concatenate(([0.0], np.cumsum(values)))
    for k in range(len(found) - 1 if each > 1 else 0):
        begin, end = (found[k - 1] if k else 0), found[k + 1]
        low = max(begin + 1, found[k] - each + 1)
        at = np.arange(low, min(end - 1, found[k] + each - 1) + 1)
        left = (total[at] - total[begin]) ** 2 / (at - begin)
        found[k] = low + int((left + (total[end] - total[at]) ** 2 / (end - at)).argmax())
    return found


def change_points(
    values: Array, price: float, shortest: int = SHORTEST, weights: Array | None = None
) -> list[int]:
    """Give where each level ends, so that squared distances from levels plus the price of each are least.

    PELT: a beginning that is worse by more than the price can never be one of the best again. Its
    cost grows with the number of values times the length of a level. A value counts `weights` times; `shortest` counts values.
    """
    n = values.size
    weights = np.ones(n) if weights is None else weights
    total = np.concatenate(([0.0], np.cumsum(values * weights)))
    reach = np.concatenate(([0.0], np.cumsum(weights)))
    best = np.full(n + 1, np.inf)
    best[0] = -price
    before = np.zeros(n + 1, dtype=np.int64)
    begins = np.empty(n + 1, dtype=np.int64)
    until = np.empty(n + 1, dtype=np.int64)  # the end from which on a beginning cannot be the best
    count = 0
    for end in range(shortest, n + 1):
        begin = end - shortest
        if begin == 0 or begin >= shortest:
            begins[count], until[count] = begin, n + 1
            count += 1
        known, lasts = begins[:count], until[:count]
        cost = best[known] - (total[end] - total[known]) ** 2 / (reach[end] - reach[known])
        least = int(cost.argmin())
        best[end] = cost[least] + price
        before[end] = known[least]
        # a level that begins at `end` can end no earlier than this
        np.minimum(lasts, np.where(cost > best[end], end + shortest, n + 1), out=lasts)
        kept = lasts > end + 1
        count = int(kept.sum())
        begins[:count], until[:count] = known[kept], lasts[kept]
    ends = [n]
    while before[ends[-1]]:
        ends.append(int(before[ends[-1]]))
    return ends[::-1]
