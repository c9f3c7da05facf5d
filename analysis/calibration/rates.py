"""False-alarm rates of the methods under the design of a trial, with what they are uncertain by.

Relabellings of one data set are not independent trials: they share the runs, so counting them as
such gives intervals that cover the true rate in 10 to 97 % where 95 % is said. What varies from one
A/A trial to the next are the benchmarks and the sessions. So a rate over benchmarks has an exact
binomial interval with as many trials as there are benchmarks, widened where the jackknife that
leaves out one session at a time says more: a session may move all benchmarks together. Together
they cover 90 to 100 % (simulated; 2 to 10 sessions, 1 to 40 benchmarks), t over the benchmarks'
rates alone 6 to 98 %. A method over the suite has the jackknife alone.

References
----------
.. [1] B. Efron, C. Stein, "The jackknife estimate of variance", Annals of Statistics 9, 1981.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..stats import Progress, in_order, stream
from .alarms import ALARMS, rank_sum_nominal
from .pairs import Pairs
from .relabelling import MOST, Signs, sides, signs
from .result import METHODS, Level, MethodRate, Unit
from .suite_alarms import SUITE_ALARMS

__all__ = ["DRAWS", "benchmark_rates", "rates_of"]

Array = NDArray[np.float64]
_FEWER = MOST // 4  # relabellings without a session: their noise only widens the jackknife
DRAWS = 999  # assignments or resamples of one test: a p of .05 then has whole counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Counted:
    """Share of alarms, and of relabellings in which a test could conclude, by benchmark."""

    alarms: Array
    concluded: Array


def benchmark_rates(
    pairs: Pairs, table: Signs, risk: float, methods: frozenset[str]
) -> dict[str, _Counted]:
    """Give the share of alarms of each method on each benchmark.

    Parameters
    ----------
    pairs : Pairs
        Both variants.
    table : int array of shape (relabellings, groups)
        From `signs`.
    risk : float
        Of each test, two-sided.
    methods : frozenset of str
        Names of `METHODS` that are wanted.
    """
    rows: dict[str, list[tuple[float, float]]] = {}
    for k in range(len(pairs.benchmarks)):
        x, y = sides(pairs, k, table)
        for names, test in ALARMS.items():
            if methods.isdisjoint(names):
                continue
            for name, found in test(x, y, risk).items():
                rows.setdefault(name, []).append(
                    (float(found.alarm.mean()), float(found.concluded.mean()))
                )
    return {
        name: _Counted(
            alarms=np.array([alarm for alarm, _ in values]),
            concluded=np.array([share for _, share in values]),
        )
        for name, values in rows.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """The runs of all sessions, or of all but one, and how their labels are swapped.

    `without` is the number of the session that is left out, None of the whole.
    """

    pairs: Pairs
    table: Signs
    without: int | None = None


_Asked = tuple[_Part, tuple[str, str] | None]  # a method of the suite, None: all of benchmarks


def _answered(
    asked: _Asked, _going_on: Progress, *, root: int, risk: float, methods: frozenset[str]
) -> dict[str, _Counted] | float:
    """Relabel one part for the methods that look at benchmarks, or for one over the suite."""
    part, method = asked
    if method is None:
        return benchmark_rates(part.pairs, part.table, risk, methods)
    which = () if part.without is None else (str(part.without),)
    rng = stream(root, *method, *which)
    return float(SUITE_ALARMS[method](part.pairs, part.table, risk, rng, DRAWS).mean())


def rates_of(
    pairs: Pairs,
    *,
    methods: frozenset[str],
    confidence: float,
    rng: np.random.Generator,
    workers: int | None = None,
) -> tuple[tuple[MethodRate, ...], Mapping[str, Mapping[str, float]], int]:
    """Give each method's rate, the rates by benchmark and method, and the number of relabellings.

    Parameters
    ----------
    pairs : Pairs
        Both variants.
    methods : frozenset of str
        Names of `METHODS` that are wanted.
    confidence : float
        Of the tests, and of the intervals of their rates.
    rng : numpy.random.Generator
        One number is drawn from it.
    workers : int, optional
        Processes at the same time, as in `in_order`; they change no number.
    """
    root = int(rng.integers(2**63))
    risk = float(round(1 - confidence, 12))
    table = signs(pairs.groups, stream(root, "relabellings"))
    cuts = _cuts(pairs, table, stream(root, "cuts")) if pairs.whole else []
    asked: list[_Asked] = [
        (part, method)
        for part in (_Part(pairs=pairs, table=table), *cuts)
        for method in (None, *_suite_methods(methods, whole=pairs.whole))
    ]
    answers = in_order(
        partial(_answered, root=root, risk=risk, methods=methods),
        asked,
        workers=workers,
        prefer="processes",
    )
    told: dict[tuple[str, str] | None, list[Any]] = {}
    for (_, method), answer in zip(asked, answers, strict=True):
        told.setdefault(method, []).append(answer)
    single, *fewer = told[None]
    runs = float(np.median([x.size for x in pairs.ours]))
    found = []
    for method, said in METHODS.items():
        name, unit = method
        if name not in methods:
            continue
        if said.by_construction:
            found.append(_unrated(name, unit, said.level, risk))
        elif said.level == "benchmark":
            nominal = rank_sum_nominal(int(runs)) if name == "rank-sum" else said.sides * risk
            without = [one[name] for one in fewer]
            found.append(_benchmark_rate(method, nominal, single[name], without, confidence))
        elif method not in told:  # one session cannot be left out
            found.append(_unrated(name, unit, said.level, risk))
        else:
            found.append(_suite_rate(method, said.sides * risk, told[method], confidence))
    by_benchmark = {
        bench: {name: float(own.alarms[k]) for name, own in single.items() if name in methods}
        for k, bench in enumerate(pairs.benchmarks)
    }
    return tuple(found), by_benchmark, len(table)


def _suite_methods(methods: frozenset[str], *, whole: bool) -> list[tuple[str, Unit]]:
    """Name those of the methods over the suite that are relabelled."""
    return [
        (name, unit)
        for (name, unit), said in METHODS.items()
        if name in methods
        and said.level == "suite"
        and not said.by_construction
        and (whole or unit != "session")
    ]


def _cuts(pairs: Pairs, table: Signs, rng: np.random.Generator) -> list[_Part]:
    """Leave out one session at a time, and relabellings that no longer differ."""
    found = []
    for k in range(pairs.groups):
        part = pairs.without(k)
        if not part.benchmarks:
            return []
        reduced = table.copy()
        reduced[:, k] = 1
        kept = np.delete(reduced, k, axis=1)
        kept = kept * kept[:, :1]  # swapping everything only turns the answer round
        _, first = np.unique(kept, axis=0, return_index=True)
        rows = reduced[rng.permutation(first)[:_FEWER]]
        found.append(_Part(pairs=part, table=rows, without=k))
    return found


def _over_benchmarks(rate: float, count: int, confidence: float) -> tuple[float, float]:
    """Give Clopper's and Pearson's interval with a trial for each benchmark."""
    from scipy.special import betaincinv

    tail, hits = (1 - confidence) / 2, rate * count
    low = float(betaincinv(hits, count - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, count - hits, 1 - tail)) if hits < count else 1.0
    return low, high


def _jackknife(values: list[float], confidence: float) -> float | None:
    """Half-width by leaving out one session at a time; None below two sessions."""
    count = len(values)
    if count < 2:
        return None
    error = math.sqrt(
        (count - 1) / count * float(np.sum((np.array(values) - np.mean(values)) ** 2))
    )
    return _quantile(count - 1, confidence) * error


def _quantile(freedom: int, confidence: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))


def _ends(
    rate: float, benchmarks: tuple[float, float] | None, sessions: float | None
) -> dict[str, float | None]:
    """Give the ends of an interval; unknown where the jackknife alone does not move at all."""
    if benchmarks is None and not sessions:
        return {"low": None, "high": None}
    half = sessions or 0.0
    low, high = benchmarks or (rate, rate)
    return {"low": max(0.0, min(low, rate - half)), "high": min(1.0, max(high, rate + half))}


def _benchmark_rate(
    method: tuple[str, Unit],
    nominal: float,
    own: _Counted,
    without: Sequence[_Counted],
    confidence: float,
) -> MethodRate:
    """Give the rate over benchmarks; `without` are the counts with one session left out."""
    rate = float(own.alarms.mean())
    jackknife = _jackknife([float(one.alarms.mean()) for one in without], confidence)
    over = _over_benchmarks(rate, own.alarms.size, confidence)
    return MethodRate(
        name=method[0],
        unit=method[1],
        level="benchmark",
        nominal=nominal,
        rate=rate,
        **_ends(rate, over, jackknife),
        concluded=float(own.concluded.mean()),
        by_construction=False,
    )


def _suite_rate(
    method: tuple[str, Unit], nominal: float, rates: Sequence[float], confidence: float
) -> MethodRate:
    """Give the rate over the suite: the first of the rates, the others with one session left out."""
    rate, *without = rates
    return MethodRate(
        name=method[0],
        unit=method[1],
        level="suite",
        nominal=nominal,
        rate=rate,
        **_ends(rate, None, _jackknife(without, confidence)),
        concluded=1.0,
        by_construction=False,
    )


def _unrated(name: str, unit: Unit, level: Level, risk: float) -> MethodRate:
    return MethodRate(
        name=name,
        unit=unit,
        level=level,
        nominal=risk,
        rate=None,
        low=None,
        high=None,
        concluded=None,
        by_construction=True,
    )
