"""Where one step lies among places, from sessions that hold both ends and a place between them.

With y the logarithm of the metric in a session, A and B the ends and x the place between,

    m = y_x - (y_A + y_B) / 2,    D = y_B - y_A                                                  (1)

are independent with variances 1.5 v and 2 v, whatever moves the whole session. A step of size d at place k
(the first slow one) gives D the mean d, and m the mean d/2 where x >= k, else -d/2. Flat priors on place, d
and log v integrated out leave

    P(k) ~ weight(k) rss(k)^(-(n_D + n_m - 1) / 2)                                               (2)

with rss(k) the residual sum of squares at the best d for k.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..stats.samples import Array

Session = Mapping[int, float]  # place -> log value, of those whose runs succeeded

_LEAST = 1e-12  # of a residual sum of squares
_EVERY = 3  # sessions of a place without which nobody asks whether it lies between two steps


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """Probabilities of the places `lower` + 1 to `upper`, and the sums that they stem from.

    `size` is the step's estimate at the likeliest place, positive where the upper end is slower.
    """

    lower: int
    upper: int
    probability: Array
    size: float
    residual: float
    values: int
    information: float
    middles: Mapping[int, Array]

    @property
    def likeliest(self) -> int:
        """The place with the largest probability, the first of equals."""
        return self.lower + 1 + int(np.argmax(self.probability))

    def of(self, place: int) -> float:
        """Give the probability of a place."""
        return float(self.probability[place - self.lower - 1])

    def slow_already(self, place: int) -> float:
        """Give the probability that the step lies at or before a place between the ends."""
        return float(self.probability[: place - self.lower].sum())

    def shortest(self, share: float) -> tuple[int, int, float]:
        """Give the shortest run of places with so much probability, the likelier of equals: first, last, its share."""
        sums = np.concatenate([[0.0], np.cumsum(self.probability)])
        best = (self.probability.size, 0.0, 0)
        for i in range(self.probability.size):
            j = int(np.searchsorted(sums, sums[i] + share - 1e-12))
            if j >= sums.size:
                break
            held = float(sums[j] - sums[i])
            if (j - i, -held) < (best[0], -best[1]):
                best = (j - i, held, i)
        width, held, i = best
        return self.lower + 1 + i, self.lower + i + width, held if held else float(sums[-1])

    def between(self, place: int, places: int, margin: float, quantile: float) -> bool:
        """Tell whether a place lies at a level of its own, between two steps of one direction.

        `quantile` is Student's at the one-sided 1 - 0.025 / log2 of the number of `places`, with `values` - 1 degrees.
        """
        middles = self.middles.get(place)
        if middles is None or middles.size < _EVERY or places < 2:
            return False
        sign = 1.0 if self.size >= 0 else -1.0
        level, half = sign * float(middles.mean()), abs(self.size) / 2
        error = math.sqrt(
            self.residual / (self.values - 1) * (1.5 / middles.size + 0.25 / self.information)
        )
        return min(level + half, half - level) > max(quantile * error, margin / 2)


def posterior_of(sessions: Sequence[Session], lower: int, upper: int, weights: Array) -> Posterior:
    """Compute (2) from the sessions that hold both ends; `weights` are those of `lower` + 1 to `upper`."""
    ends = [one for one in sessions if lower in one and upper in one]
    differences = np.array([one[upper] - one[lower] for one in ends])
    sums, squares = np.zeros(upper - lower + 1), 0.0
    middles: dict[int, list[float]] = {}
    for one in ends:
        centre = (one[lower] + one[upper]) / 2
        for place, value in one.items():
            if lower < place < upper:
                middles.setdefault(place, []).append(value - centre)
    for place, found in middles.items():
        sums[place - lower] = math.fsum(found)
        squares += math.fsum(m * m for m in found)
    count = sum(len(found) for found in middles.values())
    information = differences.size / 2 + count / 6
    # of k = lower + 1 .. upper: the middles from k on less those before
    before = np.cumsum(sums)[:-1]
    cross = differences.sum() / 2 + (sums.sum() - 2 * before) / 3
    whole = float(np.square(differences).sum()) / 2 + squares / 1.5
    explained = cross**2 / information if information else np.zeros_like(cross)
    residual = np.maximum(whole - explained, _LEAST)
    values = differences.size + count
    with np.errstate(divide="ignore"):
        logs = np.log(weights) - (values - 1) / 2 * np.log(residual)
    p = np.exp(logs - logs.max())
    p /= p.sum()
    k = int(np.argmax(p))
    return Posterior(
        lower=lower,
        upper=upper,
        probability=p,
        size=float(cross[k] / information) if information else 0.0,
        residual=float(residual[k]),
        values=int(values),
        information=float(information),
        middles={place: np.array(found) for place, found in middles.items()},
    )
