"""Runs of two identical variants, and how often each method gives a false alarm under relabelling.

Those of single benchmarks take the values of both sides (relabellings x blocks) and give, for each
relabelling, whether there is an alarm and whether the test could conclude at all. Those of the suite
take the pairs and a table of relabellings and give one truth value for each.
Randomization and bootstrap take the ratio of geometric means of all runs, as their functions do by
default. What they draw is drawn once for all relabellings: the assignments of a pooled sample do
not depend on its labels, and a draw of places serves any values that stand there.

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
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..data.matrix import PerformanceMatrix
from ..errors import InsufficientDataError
from ..methods.hpt.compare import rank_sum_pvalue, risk_of, signed_rank_stage
from ..methods.speedup_test.compare import decide
from ..stats.arguments import stream
from ..stats.classical import welch as welch_test
from ..stats.ranks import TIE_TOLERANCE, midranks
from ..stats.samples import Array, Flags, Integers
from ..stats.workers import Progress, in_order
from .certificate import METHODS, MethodRate
from .components import numbered

Rng = np.random.Generator
Signs = Integers  # relabellings x groups: 1 as measured, -1 swapped
_TOLERANCE = 1e-9  # of a p that is compared with its risk
MOST = 128  # relabellings; more say nothing new: what varies are sessions and benchmarks
_SUITE_TOLERANCE = 1e-12  # statistics so close are equal: sums in another order
_FEWER = MOST // 4  # relabellings without a session: their noise only widens the jackknife
DRAWS = 999  # assignments or resamples of one test: a p of .05 then has whole counts
# shares of alarms, and of relabellings in which a test could conclude, by benchmark
_Counted = tuple[Array, Array]


class BlockPairs(NamedTuple):
    """Runs of two variants side by side: each block that holds both, benchmark by benchmark.

    `benchmarks` are those with two blocks at least. Each of the arrays below has one entry a block:
    `ours` and `theirs` the values of either variant, of several runs of a cell their geometric mean;
    `block` the number of the block, over all benchmarks together; `group` that of the session, from 0,
    or in a trial of one session that of the block: what labels are swapped in is a group. `whole`
    tells whether groups are sessions, `higher` whether higher values are better; `left_out` counts
    runs without a partner in their block.
    """

    benchmarks: tuple[str, ...]
    ours: tuple[Array, ...]
    theirs: tuple[Array, ...]
    group: tuple[Integers, ...]
    block: tuple[Integers, ...]
    groups: int
    whole: bool
    higher: bool = False
    left_out: int = 0

    def logs(self) -> list[tuple[Array, Array]]:
        """Give the logarithms of both sides of each benchmark."""
        return [(np.log(x), np.log(y)) for x, y in zip(self.ours, self.theirs, strict=True)]

    def differences(self) -> list[Array]:
        """Give for each benchmark the mean log difference of each session that it has, in order."""
        return [
            np.array([(x - y)[group == k].mean() for k in np.unique(group)])
            for (x, y), group in zip(self.logs(), self.group, strict=True)
        ]

    def suite_differences(self) -> Array:
        """Give the suite's log difference of each session, over the benchmarks that it has."""
        each = [(x - y, group) for (x, y), group in zip(self.logs(), self.group, strict=True)]
        there = [[(d, group == k) for d, group in each] for k in range(self.groups)]
        means = [[float(d[own].mean()) for d, own in rows if own.any()] for rows in there]
        return np.array([float(np.mean(rows)) for rows in means if rows])

    def without(self, group: int) -> BlockPairs:
        """Give the same pairs without a group; groups keep their numbers."""
        kept = [g != group for g in self.group]
        enough = [k for k, keep in enumerate(kept) if keep.sum() > 1]
        cut: dict[str, Any] = {"benchmarks": tuple(self.benchmarks[k] for k in enough)}
        for name in ("ours", "theirs", "group", "block"):
            cut[name] = tuple(getattr(self, name)[k][kept[k]] for k in enough)
        return self._replace(**cut)


def pairs_of(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> BlockPairs:
    """Put the runs of two variants of one trial side by side."""
    names = [bench for bench in candidate.benchmarks if bench in baseline.benchmarks]
    if names:
        one, two = numbered(candidate.select(names), baseline.select(names))
        here, there = one.shared(two)
        bench = one.benchmark[here]
        several = np.bincount(bench, minlength=len(names)) > 1
    if not names or not several.any():
        what = "no benchmark has two blocks with runs of both"
        what = f"{what} {candidate.name!r} and {baseline.name!r}"
        fix = "measure more blocks: 'protocol: {sessions: 6, runs: 8}'"
        raise InsufficientDataError(what, candidate.trial, fix, n=0, needed=2)
    kept = several[bench]
    ends = np.cumsum(np.bincount(bench[kept], minlength=len(names))[several])[:-1]
    (sessions, of_session), (blocks, of_block) = (
        np.unique(codes[here][kept], return_inverse=True) for codes in (one.session, one.block)
    )
    whole = sessions.size > 1
    groups, group = (sessions.size, of_session) if whole else (blocks.size, of_block)
    columns: tuple[Any, ...] = (one.centres[here][kept], two.centres[there][kept], group, of_block)
    names = [name for name, enough in zip(names, several, strict=True) if enough]
    ours, theirs, swapped, block = (tuple(np.split(column, ends)) for column in columns)
    left_out = one.runs.sum() + two.runs.sum() - one.runs[here].sum() - two.runs[there].sum()
    higher = candidate.better == "higher"
    counts = (groups, whole, higher, int(left_out))
    return BlockPairs(tuple(names), ours, theirs, swapped, block, *counts)


def signs(groups: int, rng: Rng) -> Signs:
    """Give relabellings, the labels as measured first: all of them, or `MOST` at random.

    Swapping everything turns each answer round, and all that is counted looks at both directions;
    so the first group keeps its labels.
    """
    if 2 ** (groups - 1) <= MOST:
        numbers = np.arange(2 ** (groups - 1))[:, None]
        bits = numbers >> np.arange(groups - 1)[None, :] & 1
    else:
        bits = rng.integers(0, 2, (MOST, groups - 1))
        bits[0] = 0
    return np.concatenate([np.ones((len(bits), 1), dtype=np.int64), 1 - 2 * bits], axis=1)


def sides(pairs: BlockPairs, bench: int, table: Signs) -> tuple[Array, Array]:
    """Give the values of both sides of a benchmark under each relabelling (relabellings x blocks)."""
    swapped = table[:, pairs.group[bench]] < 0
    x, y = pairs.ours[bench], pairs.theirs[bench]
    return np.where(swapped, y, x), np.where(swapped, x, y)


class Alarms(NamedTuple):
    """For each relabelling: is a side called better, and could the test conclude."""

    alarm: Flags
    concluded: Flags


def pooled_welch(x: Array, y: Array, risk: float) -> dict[str, Alarms]:
    """Welch's t on the logarithms of all runs, two-sided, sessions not looked at."""
    found = welch_test(np.log(x), np.log(y))
    known = np.isfinite(found.pvalue)
    p = 2 * np.minimum(found.pvalue, 1 - found.pvalue)
    return {"welch": Alarms(known & (np.where(known, p, 1.0) <= risk + _TOLERANCE), known)}


def pooled_rank_sum(x: Array, y: Array, _risk: float) -> dict[str, Alarms]:
    """Stage one of HPT on all runs, as published: one-sided at its own risk towards either side.

    The ranks of both sides together are the same under every relabelling; only sums change.
    """
    n = x.shape[1]
    ranks = midranks(np.concatenate([x[0], y[0]]))
    swapped = x != x[0]  # a block of equal values has equal ranks, swapped or not
    ours = np.where(swapped, ranks[n:], ranks[:n]).sum(axis=1)
    risk = risk_of(n, n, None) + _TOLERANCE
    total = float(ranks.sum())
    table = {
        w: any(rank_sum_pvalue(tail, ranks, n, n, "table") <= risk for tail in (w, total - w))
        for w in set(ours.tolist())
    }
    alarm = np.array([table[w] for w in ours.tolist()])
    return {"rank-sum": Alarms(alarm, np.ones_like(alarm))}


def speedup_tests(x: Array, y: Array, risk: float) -> dict[str, Alarms]:
    """Give both protocols of the Speedup-Test on all runs, one-sided towards either side."""
    decisions = zip(*decide(x, y, [1 - risk] * len(x), compatible=False), strict=True)
    return {
        f"speedup-test {kind}": Alarms(
            np.array([bool(one.significant) or bool(one.swapped.significant) for one in each]),
            np.array([one.significant is not None for one in each]),
        )
        for kind, each in zip(("mean", "median"), decisions, strict=True)
    }


# which methods each function answers for
ALARMS: dict[tuple[str, ...], Callable[[Array, Array, float], dict[str, Alarms]]] = {
    ("welch",): pooled_welch,
    ("rank-sum",): pooled_rank_sum,
    ("speedup-test mean", "speedup-test median"): speedup_tests,
}


SuiteAlarm = Callable[[BlockPairs, Signs, float, Rng, int], Flags]


def randomize_runs(pairs: BlockPairs, table: Signs, risk: float, rng: Rng, draws: int) -> Flags:
    """Reassign single runs, each benchmark on its own."""
    many = len(pairs.benchmarks)
    null, observed = np.zeros(draws), np.zeros(len(table))
    for (x, y), group in zip(pairs.logs(), pairs.group, strict=True):
        n = x.size
        order = np.tile(np.repeat([1.0, -1.0], n), (draws, 1))
        null += rng.permuted(order, axis=1) @ np.concatenate([x, y]) / (n * many)
        observed += table[:, group] @ (x - y) / (n * many)
    return _rejected(null, observed, risk)


def randomize_blocks(pairs: BlockPairs, table: Signs, risk: float, rng: Rng, draws: int) -> Flags:
    """Swap the labels of whole blocks, jointly over the benchmarks."""
    shares, group = _block_shares(pairs)
    null = rng.choice([-1.0, 1.0], size=(draws, shares.size)) @ shares
    return _rejected(null, table[:, group] @ shares, risk)


def bootstrap_runs(pairs: BlockPairs, table: Signs, risk: float, rng: Rng, draws: int) -> Flags:
    """Percentile interval, single runs drawn, each benchmark and side on its own."""
    many = len(pairs.benchmarks)
    replicates = np.zeros((draws, len(table)))
    drawn: dict[int, Array] = {}
    for k in range(many):
        for sign, values in zip((1.0, -1.0), sides(pairs, k, table), strict=True):
            n = values.shape[1]
            if n not in drawn:
                drawn[n] = _weights(n, rng, draws) / n
            # the draws of another sample of this size are these in another order
            weights = drawn[n][rng.permutation(draws)]
            replicates += sign * (weights @ np.log(values[:, rng.permutation(n)]).T) / many
    return _outside(replicates, risk)


def bootstrap_blocks(pairs: BlockPairs, table: Signs, risk: float, rng: Rng, draws: int) -> Flags:
    """Percentile interval, whole blocks drawn, jointly over benchmarks and sides."""
    shares, group = _block_shares(pairs)
    return _outside(_weights(shares.size, rng, draws) @ (table[:, group] * shares).T, risk)


def bootstrap_sessions(pairs: BlockPairs, table: Signs, risk: float, rng: Rng, draws: int) -> Flags:
    """Percentile interval, whole sessions drawn, jointly over benchmarks and sides."""
    shares, group = _block_shares(pairs)
    there = np.unique(group)
    by_session = np.array([shares[group == k].sum() for k in there])
    return _outside(_weights(there.size, rng, draws) @ (table[:, there] * by_session).T, risk)


def hpt_over_suite(pairs: BlockPairs, table: Signs, risk: float, _rng: Rng, _draws: int) -> Flags:
    """HPT at the confidence that is asked for, as published, towards either side.

    Scores are those that `hpt` takes by default: ratios to the baseline's median, and raw values where
    higher is better.
    """
    rows = []
    for k in range(len(pairs.benchmarks)):
        x, y = sides(pairs, k, table)
        alarm = pooled_rank_sum(x, y, risk)["rank-sum"].alarm  # both tails are looked at
        if not pairs.higher:
            centre = np.median(y, axis=1, keepdims=True)
            x, y = centre / x, centre / y
        one, two = np.median(x, axis=1), np.median(y, axis=1)
        found = one - two
        found[np.abs(found) <= TIE_TOLERANCE * np.maximum(one, two)] = 0.0
        rows.append(np.where(alarm, found, 0.0))
    stages = [signed_rank_stage(column) for column in np.array(rows).T]
    least = [min(one.pvalue_candidate, one.pvalue_baseline) for one in stages]
    return np.array(least) <= risk + _TOLERANCE


def _block_shares(pairs: BlockPairs) -> tuple[Array, Integers]:
    """Give what each block adds to the difference of the suite's means, and its group."""
    count = max(int(block.max()) for block in pairs.block) + 1
    shares, group = np.zeros(count), np.full(count, -1)
    for (x, y), block, own in zip(pairs.logs(), pairs.block, pairs.group, strict=True):
        np.add.at(shares, block, (x - y) / (x.size * len(pairs.benchmarks)))
        group[block] = own
    there = group >= 0
    return shares[there], group[there]


def _weights(size: int, rng: Rng, draws: int) -> Integers:
    return rng.multinomial(size, np.full(size, 1 / size), size=draws)


def _rejected(null: Array, observed: Array, risk: float) -> Flags:
    """Two-sided p of random assignments, (k + 1) / (N + 1), against the risk."""
    far = np.sort(np.abs(null))
    edge = np.abs(observed) * (1 - _SUITE_TOLERANCE) - _SUITE_TOLERANCE
    count = far.size - np.searchsorted(far, edge, side="left")
    rejected: Flags = (count + 1) / (far.size + 1) <= risk + _SUITE_TOLERANCE
    return rejected


def _outside(replicates: Array, risk: float) -> Flags:
    """Tell where 0 lies outside the middle of the replicates (draws x relabellings)."""
    low, high = np.quantile(replicates, [risk / 2, 1 - risk / 2], axis=0)
    found: Flags = (low > _SUITE_TOLERANCE) | (high < -_SUITE_TOLERANCE)
    return found


# name and unit of each method, in the order in which they are shown
SUITE_ALARMS: dict[tuple[str, str], SuiteAlarm] = {
    ("randomization", "run"): randomize_runs,
    ("randomization", "block"): randomize_blocks,
    ("bootstrap", "run"): bootstrap_runs,
    ("bootstrap", "block"): bootstrap_blocks,
    ("bootstrap", "session"): bootstrap_sessions,
    ("hpt", "run"): hpt_over_suite,
}


def benchmark_rates(
    pairs: BlockPairs, table: Signs, risk: float, methods: frozenset[str]
) -> dict[str, _Counted]:
    """Give the share of alarms of each method on each benchmark."""
    rows: dict[str, list[tuple[float, float]]] = {}
    for k in range(len(pairs.benchmarks)):
        x, y = sides(pairs, k, table)
        for names, test in ALARMS.items():
            if methods.isdisjoint(names):
                continue
            for name, found in test(x, y, risk).items():
                shares = float(found.alarm.mean()), float(found.concluded.mean())
                rows.setdefault(name, []).append(shares)
    columns = {name: np.array(values).T for name, values in rows.items()}
    return {name: (alarm, concluded) for name, (alarm, concluded) in columns.items()}


class _Subset(NamedTuple):
    """The runs of all sessions, or of all but one (`without`), and how their labels are swapped."""

    pairs: BlockPairs
    table: Signs
    without: int | None = None


_Asked = tuple[_Subset, tuple[str, str] | None]  # a method of the suite, None: all of benchmarks


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
    pairs: BlockPairs,
    *,
    methods: frozenset[str],
    confidence: float,
    rng: Rng,
    workers: int | None = None,
) -> tuple[tuple[MethodRate, ...], Mapping[str, Mapping[str, float]], int]:
    """Give each method's rate, the rates by benchmark and method, and the number of relabellings."""
    root = int(rng.integers(2**63))
    risk = float(round(1 - confidence, 12))
    table = signs(pairs.groups, stream(root, "relabellings"))
    cuts = _cuts(pairs, table, stream(root, "cuts")) if pairs.whole else []
    relabelled = [
        (name, unit)
        for (name, unit), text in METHODS.items()
        if name in methods and text.level == "suite" and not text.by_construction
        if pairs.whole or unit != "session"
    ]
    parts = _Subset(pairs, table), *cuts
    asked: list[_Asked] = [(part, method) for part in parts for method in (None, *relabelled)]
    ask = partial(_answered, root=root, risk=risk, methods=methods)
    answers = in_order(ask, asked, workers=workers, prefer="processes")
    texts: dict[tuple[str, str] | None, list[Any]] = {}
    for (_, method), answer in zip(asked, answers, strict=True):
        texts.setdefault(method, []).append(answer)
    single, *fewer = texts[None]
    runs = int(np.median([x.size for x in pairs.ours]))
    found = []
    for (name, unit), text in METHODS.items():
        if name not in methods:
            continue
        nominal, shares, over, concluded = text.sides * risk, [], None, 1.0
        if text.by_construction or (text.level == "suite" and (name, unit) not in texts):
            nominal = risk  # one session cannot be left out
        elif text.level == "suite":
            shares = texts[name, unit]
        else:
            if name == "rank-sum":
                nominal = 2 * risk_of(runs, runs, None)
            shares = [float(one[name][0].mean()) for one in (single, *fewer)]
            over = _over_benchmarks(shares[0], single[name][0].size, confidence)
            concluded = float(single[name][1].mean())
        ends: tuple[float | None, float | None] = (None, None)
        if shares:
            ends = _ends(shares[0], over, _jackknife(shares[1:], confidence))
        rate, told_in = (shares[0], concluded) if shares else (None, None)
        line = (name, unit, text.level, nominal, rate, *ends, told_in)
        found.append(MethodRate(*line, by_construction=not shares))
    by_benchmark = {
        bench: {name: float(alarms[k]) for name, (alarms, _) in single.items() if name in methods}
        for k, bench in enumerate(pairs.benchmarks)
    }
    return tuple(found), by_benchmark, len(table)


def _cuts(pairs: BlockPairs, table: Signs, rng: Rng) -> list[_Subset]:
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
        found.append(_Subset(part, rows, k))
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
    squares = float(np.sum((np.array(values) - np.mean(values)) ** 2))
    error = math.sqrt((count - 1) / count * squares)
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, (1 + confidence) / 2)) * error


def _ends(
    rate: float, benchmarks: tuple[float, float] | None, sessions: float | None
) -> tuple[float | None, float | None]:
    """Give the ends of an interval; unknown where the jackknife alone does not move at all."""
    if benchmarks is None and not sessions:
        return None, None
    half = sessions or 0.0
    low, high = benchmarks or (rate, rate)
    return max(0.0, min(low, rate - half)), min(1.0, max(high, rate + half))
