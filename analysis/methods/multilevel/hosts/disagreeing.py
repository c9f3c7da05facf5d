"""Which hosts disagree with the rest: each host against the mean of the others, one family.

A host and the others have independent errors. Where they have other degrees of freedom, as one host
against many has, Banerjee's bound is taken (`..differences`): it holds its level far out in the tail,
where a family of many tests looks. A host whose own sides have unequal numbers of sessions takes part
with the fewer degrees of freedom of the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..differences import Differences, differences_of
from ..estimates import Estimates
from ..lines import number_of
from .result import Disagreement
from .table import HostTable

__all__ = ["LIMIT", "Disagreements", "disagreements_of", "rest_of"]

Floats = NDArray[np.float64]

LIMIT = 20  # hosts that are named; where more disagree, hosts differ, and names say little


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreements:
    """`tests` is the size of the family; `those` are what Holm's correction leaves, surest first."""

    tests: int
    those: tuple[Disagreement, ...]


def rest_of(each: Estimates, counted: NDArray[np.bool_]) -> Estimates:
    """Give for each host the mean of the others that count.

    Parameters
    ----------
    each : Estimates
        Arrays of shape (hosts, benchmarks).
    counted : bool array, shape (hosts,)
        Which hosts the mean is of.

    Returns
    -------
    Estimates
        Of the same shape; nan where no other host has a value, or one of them no error. `values`
        counts the others' sessions.
    """
    there = ~np.isnan(each.estimate) & counted[:, None]
    count = _others(there)
    some = np.maximum(count, 1)
    mean = _others(np.where(there, each.estimate, 0.0)) / some
    square = np.where(there, each.error, 0.0) ** 2
    variance = _others(square) / some**2
    with np.errstate(divide="ignore", invalid="ignore"):
        spent = _others(np.where(square > 0, square**2 / each.freedom, 0.0)) / some**4
        freedom = variance**2 / spent
    flat = _others(np.where(there, each.freedom, 0.0))
    nobody = count < 1
    return Estimates(
        estimate=np.where(nobody, np.nan, mean),
        error=np.where(nobody, np.nan, np.sqrt(variance)),
        freedom=np.where(nobody, np.nan, np.where(variance > 0, freedom, flat)),
        values=_others(np.where(there, each.values, 0)).astype(np.int64),
        step=_others(np.where(there, each.widening, 0.0)) / some,
    )


def _with_one_freedom(each: Estimates) -> Estimates:
    """Give each host the least freedom of its parts where no single one fits."""
    least = each.own_parts().freedoms.min(axis=-1)
    return each._replace(freedom=np.where(np.isnan(each.freedom), least, each.freedom), parts=None)


def _beside(rest: NDArray[Any], own: NDArray[Any]) -> NDArray[Any]:
    return np.stack([rest.ravel(), own.ravel()], axis=1)


def _others(parts: NDArray[Any]) -> Floats:
    """Sum over the other rows, from both sides: nothing is subtracted, so that nothing cancels."""
    whole = parts.astype(np.float64)
    none = np.zeros((1, whole.shape[1]))
    before = np.concatenate([none, np.cumsum(whole, axis=0)[:-1]])
    after = np.concatenate([np.cumsum(whole[::-1], axis=0)[::-1][1:], none])
    return np.asarray(before + after)


def disagreements_of(table: HostTable, alpha: float) -> Disagreements:
    """Hold each host against the rest, on every benchmark.

    One step after the other the host that disagrees most surely is taken out of the rest, so that it
    does not make others look different from a mean that it has moved. There are `LIMIT` steps at most,
    and at least half of the hosts stay.

    Parameters
    ----------
    table : HostTable
        Of two hosts at least; of two there is one comparison a benchmark: the second with the first.
    alpha : float
        Risk of the family.
    """
    counted = np.ones(len(table.hosts), dtype=np.bool_)
    most = min(LIMIT, len(table.hosts) // 2)
    tests, those = 0, []
    for _ in range(most):
        step = _Step.of(table, counted, alpha)
        if step is None:
            break
        tests = tests or step.pairs.estimate.shape[0]
        found = step.surest()
        if found is None:
            break
        host, mine = found
        those += mine
        counted[host] = False
    those.sort(key=lambda one: (one.pvalue or 0.0, -abs(math.log(one.ratio))))
    return Disagreements(tests=tests, those=tuple(those))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Step:
    """The tests of all hosts that still count; `pairs` are of the shape (tests, rest and host)."""

    table: HostTable
    places: NDArray[np.intp]
    pairs: Estimates
    found: Differences

    @classmethod
    def of(cls, table: HostTable, counted: NDArray[np.bool_], alpha: float) -> _Step | None:
        each = _with_one_freedom(table.each)
        rest = rest_of(each, counted)
        pairs = Estimates(
            estimate=_beside(rest.estimate, each.estimate),
            error=_beside(rest.error, each.error),
            freedom=_beside(rest.freedom, each.freedom),
            values=_beside(rest.values, each.values).astype(np.int64),
            step=_beside(rest.widening, each.widening),
        )
        asked = np.repeat(counted, len(table.benchmarks))
        if len(table.hosts) == 2:  # both comparisons would be one
            asked[: len(table.benchmarks)] = False
        unknown = np.isnan(pairs.estimate + pairs.error + pairs.freedom).any(axis=1)
        places = np.flatnonzero(asked & ~unknown)
        if not places.size:
            return None
        kept = pairs.changed(lambda part: part[places])
        found = differences_of(
            kept.estimate,
            kept.error,
            kept.freedom,
            alpha=alpha,
            margin=0.0,
            step=kept.widening.sum(axis=1),
        )
        return cls(table=table, places=places, pairs=kept, found=found)

    def surest(self) -> tuple[int, list[Disagreement]] | None:
        """Give the host that disagrees most surely, with all its benchmarks that disagree."""
        width = len(self.table.benchmarks)
        sure = [n for n, shift in enumerate(self.found.shift) if shift in ("larger", "smaller")]
        if not sure:
            return None
        first = min(sure, key=lambda n: (self.found.pvalue[n], -abs(self.found.estimate[n])))
        host = int(self.places[first]) // width
        return host, [self._told(n) for n in sure if int(self.places[n]) // width == host]

    def _told(self, n: int) -> Disagreement:
        host, k = divmod(int(self.places[n]), len(self.table.benchmarks))
        rest, own = self.pairs.estimate[n]
        found = self.found
        return Disagreement(
            host=self.table.hosts[host],
            benchmark=self.table.benchmarks[k],
            speedup=math.exp(own),
            rest=math.exp(rest),
            ratio=math.exp(found.estimate[n]),
            low=math.exp(found.low[n]),
            high=math.exp(found.high[n]),
            pvalue=number_of(found.pvalue[n]),
            pvalue_adjusted=number_of(found.pvalue_adjusted[n]),
            difference="larger" if found.estimate[n] > 0 else "smaller",
        )
