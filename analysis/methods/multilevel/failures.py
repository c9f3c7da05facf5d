"""Runs that fail: whether the candidate fails more than the baseline, by whole sessions.

What makes one run of a session fail, such as a full disk, makes its neighbours fail too, so runs of one
session are no repetitions. A cell is what one side has in one session, and its share of failed runs is one
value. If the sides do not differ, any dealing of the cells to the sides is as likely as the one that was
measured; p is the fraction of dealings in which the candidate's mean share exceeds the baseline's by as
much (a permutation test, [1]_, section 15.2). Where hosts are above the sessions, cells are dealt out
within each host.

References
----------
.. [1] E. L. Lehmann, J. P. Romano, "Testing Statistical Hypotheses", 3rd edition, 2005.

Three things are separated. `fails-more` is proven: by the permutation of whole sessions, with Holm's
correction over the benchmarks, at the risk of one side of the verdict's level. `fails-always`: no run of
the candidate succeeds; that is proven where no run of the baseline fails, in three sessions or more of
both, whatever the permutation can show in so few. And failures that prove nothing are reported with their p.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from ...data.matrix import PerformanceMatrix, cells_of
from ...stats.arguments import stream
from ...stats.multiplicity import adjusted
from ...stats.samples import Array, Integers
from .result import Fails, Line

_FISHER_TIE = 1 + 1e-7  # as R's fisher.test compares probabilities


def fisher(failed_a: int, runs_a: int, failed_b: int, runs_b: int) -> float:
    """Give the two-sided p of Fisher's exact test that two shares of failures are equal."""
    failed = failed_a + failed_b

    def log_choose(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    def log_chance(k: int) -> float:
        return (
            log_choose(runs_a, k)
            + log_choose(runs_b, failed - k)
            - log_choose(runs_a + runs_b, failed)
        )

    limit = log_chance(failed_a) + math.log(_FISHER_TIE)
    least, most = max(0, failed - runs_b), min(failed, runs_a)
    chances = [log_chance(k) for k in range(least, most + 1)]
    return min(1.0, math.fsum(math.exp(chance) for chance in chances if chance <= limit))


DRAWS = 99_999  # where there are too many sums
_SEED = 20_261_123
_STATES = 200_000  # sums that are kept apart
_UNIT = 2.0**50  # of shares as whole numbers
_SHARE_TIE = 1e-12  # differences of mean shares that are nearer are equal
_LEAST = sys.float_info.min  # a p-value is never 0


class _Host(NamedTuple):
    """Cells of one host as whole numbers: those of both sides; `ours` are the candidate's."""

    values: Integers
    ours: int


def cell_pvalue(hosts: Sequence[Fails], *, states: int = _STATES) -> float:
    """Give the one-sided p of "the candidate does not fail in a larger share of its runs"."""
    dealt, tie, equal = _as_numbers(hosts)
    observed = sum(int(host.values[: host.ours].sum()) for host in dealt)
    limit = observed - tie
    if limit <= 0:
        return 1.0
    found = _by_counts(dealt, limit) if equal else _by_sums(dealt, limit, states)
    return max(_drawn(dealt, limit) if found is None else min(found, 1.0), _LEAST)


def _as_numbers(hosts: Sequence[Fails]) -> tuple[list[_Host], int, bool]:
    """Give what each cell adds where it is the candidate's, what counts as equal, and whether it is exact."""
    failed = [np.array((*h.candidate, *h.baseline), dtype=np.int64) for h in hosts]
    runs = [np.array((*h.candidate_runs, *h.baseline_runs), dtype=np.int64) for h in hosts]
    sizes = {(len(host.candidate), len(host.baseline)) for host in hosts}
    if np.unique(np.concatenate(runs)).size == len(sizes) == 1:
        ours = sizes.pop()[0]
        return [_Host(values, ours) for values in failed], 0, True
    # a failing cell of the candidate moves its host's difference by share (1 / n + 1 / m)
    weights = [1 / len(h.candidate) + 1 / len(h.baseline) for h in hosts]
    scale = _UNIT / max(weights)
    found = []
    for host, lost, count, weight in zip(hosts, failed, runs, weights, strict=True):
        values = np.rint(lost / count * weight * scale).astype(np.int64)
        found.append(_Host(values, len(host.candidate)))
    return found, round(_SHARE_TIE * scale * len(hosts)), False


def _by_counts(hosts: Sequence[_Host], limit: int) -> float:
    """Give the chance that a number of failures reaches a limit.

    Cells are dealt one after the other: with n left, k of them for the candidate, the next one is
    its with chance k / n. Cells without failures change no sum and need no step.
    """
    reached, total = 0.0, np.zeros(limit)
    total[0] = 1.0
    for host in hosts:
        chance = np.zeros((host.ours + 1, limit))  # by cells taken, and by failures in them
        chance[0] = total
        for dealt, value in enumerate(host.values[host.values > 0].tolist()):
            share = (host.ours - np.arange(host.ours + 1)) / (host.values.size - dealt)
            moved = chance[:-1] * share[:-1, None]
            short = max(limit - value, 0)
            reached += float(moved[:, short:].sum())
            chance *= (1 - share)[:, None]
            chance[1:, limit - short :] += moved[:, :short]
        total = chance.sum(axis=0)
    return reached


def _by_sums(hosts: Sequence[_Host], limit: int, most: int) -> float | None:
    """Do the same with the sums that occur; None where there are more than `most`."""
    taken, total, chance = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1)
    reached = 0.0
    left = sum(int(host.values.sum()) for host in hosts)
    for host in hosts:
        taken = np.zeros_like(taken)
        for dealt, value in enumerate(host.values[host.values > 0].tolist()):
            share = (host.ours - taken) / (host.values.size - dealt)
            taken = np.concatenate([taken, taken + 1])
            total = np.concatenate([total, total + value])
            chance = np.concatenate([chance * (1 - share), chance * share])
            left -= value
            there = total >= limit
            reached += float(chance[there].sum())
            open_ = (chance > 0) & ~there & (total + left >= limit)
            taken, total, chance = _merged(taken[open_], total[open_], chance[open_])
            if total.size > most:
                return None
        taken, total, chance = _merged(np.zeros_like(taken), total, chance)
    return reached


def _merged(taken: Integers, total: Integers, chance: Array) -> tuple[Integers, Integers, Array]:
    """Add up the chances of what is the same."""
    if not total.size:
        return taken, total, chance
    order = np.lexsort((taken, total))
    taken, total, chance = taken[order], total[order], chance[order]
    new = np.flatnonzero(np.concatenate([[True], (np.diff(taken) != 0) | (np.diff(total) != 0)]))
    return taken[new], total[new], np.add.reduceat(chance, new)


def _drawn(hosts: Sequence[_Host], limit: int) -> float:
    rng = stream(_SEED, "failed runs")
    step = max(1, 2_000_000 // max(host.values.size for host in hosts))  # random numbers at a time
    hits = 0
    for start in range(0, DRAWS, step):
        many = min(step, DRAWS - start)
        total = np.zeros(many, dtype=np.int64)
        for host in hosts:
            places = np.argsort(rng.random((many, host.values.size)), axis=1)[:, : host.ours]
            total += host.values[places].sum(axis=1)
        hits += int((total >= limit).sum())
    return (1 + hits) / (1 + DRAWS)


_LEAST_ALWAYS = 3  # sessions in which a candidate that never succeeds is proven to fail
_LEAST_MORE = 2  # cells of each side: one session is no repetition
_RISK_TIE = 1 + 1e-9  # a p-value that is the risk but for its last digits is at most the risk


class Failing(NamedTuple):
    """What is known of a benchmark's failures, by the names of a line's fields.

    `fails` is None where it is not known in which sessions runs failed. `pvalue_fails` is one-sided, of
    "the candidate does not fail more", and None without sessions. `reason` says why the word is undecided
    whatever the speed, `fails_proven` whether that stops a gate.
    """

    fails: Fails | None = None
    pvalue_fails: float | None = None
    pvalue_fails_adjusted: float | None = None
    reason: Literal["fails-more", "fails-always"] | None = None
    fails_proven: bool = False


class _Counts(NamedTuple):
    """Runs that failed and that did not, of both sides, and the fewest sessions that either has."""

    failed: tuple[int, int]
    good: tuple[int, int]
    sessions: int
    hosts: tuple[Fails, ...] | None


def failing_of(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    risk: float,
    always_valid: bool,
    beside: Sequence[float | None] = (),
) -> dict[str, Failing]:
    """Judge the failures of every benchmark that both sides have runs of, failed ones included.

    `beside` are the p-values of candidates that share the risk.
    """
    names = dict.fromkeys((*candidate.benchmarks, *candidate.failed))
    there = {*baseline.benchmarks, *baseline.failed}
    counts = {
        name: found
        for name in names
        if name in there and (found := _counts(candidate, baseline, name)) is not None
    }
    if always_valid:
        hosts = [host for one in counts.values() for host in one.hosts or ()]
        most = max((len(side) for x in hosts for side in (x.candidate, x.baseline)), default=1)
        risk /= most * (most + 1)
    return _judged(counts, risk, beside)


def _counts(ours: PerformanceMatrix, theirs: PerformanceMatrix, name: str) -> _Counts | None:
    """Count a benchmark's runs; None where a side has none."""
    sides = (ours, theirs)
    failed = ours.failed.get(name, 0), theirs.failed.get(name, 0)
    a, b = (len(x.values(name)) if name in x.benchmarks else 0 for x in sides)
    good = a, b
    if not all(map(operator.add, failed, good)):
        return None
    cells = [cells_of(side, name) for side in sides]
    known = [
        _sessions(side, name) if one is None else len(one.runs)
        for side, one in zip(sides, cells, strict=True)
    ]
    mine, other = cells
    hosts = None
    if mine is not None and other is not None:
        hosts = (
            Fails(
                candidate=mine.failed,
                baseline=other.failed,
                candidate_runs=mine.runs,
                baseline_runs=other.runs,
            ),
        )
    return _Counts(failed=failed, good=good, sessions=min(known), hosts=hosts)


def _sessions(matrix: PerformanceMatrix, name: str) -> int:
    """Count the sessions of a side where only the number of failures is known."""
    if matrix.sessions is None:
        return 1
    rows = [
        row
        for bench, row in zip(matrix.benchmarks, matrix.sessions, strict=True)
        if bench == name or name not in matrix.benchmarks
    ]
    return len({label for row in rows for label in row.tolist()})


def failing_over_hosts(
    hosts: Sequence[Mapping[str, Line]],
    *,
    risk: float,
    beside: Sequence[float | None] = (),
) -> dict[str, Failing]:
    """Judge the failures on all hosts together, cells dealt out within each host; `beside` as of `failing_of`."""
    lines = {
        name: [host[name] for host in hosts if name in host]
        for name in dict.fromkeys(name for host in hosts for name in host)
    }
    found = _judged({name: _counts_of(those) for name, those in lines.items()}, risk, beside)
    for name, one in found.items():
        dead = [x for x in lines[name] if x.reason == "fails-always"]
        if dead:
            # what is proven with failures of the baseline too is one host's test, in no family with the others
            proven = one.fails_proven or any(x.fails_proven and not x.failed_baseline for x in dead)
            found[name] = one._replace(reason="fails-always", fails_proven=proven)
    return found


def _counts_of(lines: Sequence[Line]) -> _Counts:
    fails = [line.fails for line in lines if line.fails is not None]
    return _Counts(
        failed=(sum(x.failed_candidate for x in lines), sum(x.failed_baseline for x in lines)),
        good=(sum(x.runs_candidate for x in lines), sum(x.runs_baseline for x in lines)),
        sessions=min(
            sum(len(one.candidate) for one in fails), sum(len(one.baseline) for one in fails)
        ),
        hosts=tuple(fails) if len(fails) == len(lines) else None,
    )


def _judged(
    counts: Mapping[str, _Counts], risk: float, beside: Sequence[float | None] = ()
) -> dict[str, Failing]:
    """Judge one family; a benchmark that allows no test counts as one that has no failure."""
    pvalues = {
        name: None if one.hosts is None else cell_pvalue(one.hosts) if any(one.failed) else 1.0
        for name, one in counts.items()
    }
    members = [1.0 if p is None else p for p in (*pvalues.values(), *beside)]
    found = {}
    for (name, one), place in zip(counts.items(), adjusted(members, "holm").tolist(), strict=False):
        p = pvalues[name]
        more = p is not None and one.sessions >= _LEAST_MORE and place <= risk * _RISK_TIE
        never = bool(one.failed[0]) and not one.good[0] and one.good[1] > 0
        clean = never and not one.failed[1] and one.sessions >= _LEAST_ALWAYS
        found[name] = Failing(
            fails=None if one.hosts is None else Fails.together(one.hosts),
            pvalue_fails=p,
            pvalue_fails_adjusted=None if p is None else place,
            reason="fails-always" if never else "fails-more" if more else None,
            fails_proven=clean or more,
        )
    return found
