"""The lines over hosts, on these hosts or on hosts like these, from tables and decisions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....report import Word
from ....stats import Correction
from ..advice import Scatter, advise
from ..decision import Decisions, decide
from ..estimates import Estimates
from ..failures import fails_more
from ..law import Law
from ..lines import Decided, corrected, decided, end_of, number_of, similar_line, spread_of
from ..result import BenchmarkLine, Group, Line
from ..suite import similar_half
from .result import HostEffect, MoreHosts
from .table import HostTable

__all__ = ["Level", "benchmark_lines", "effects_of", "more_hosts", "suite_lines"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Level:
    """What lines are made of: estimates, the law of their errors, and the rules.

    `found` are those of the benchmarks, `suite` that of their mean, arrays of one entry; `groups` and
    `suite_groups` are the hosts' (`combine.groups_of`); `outer` tells whether the values are those of
    hosts, and the lines of hosts like these; `weights` are 0 for what some host lacks.
    """

    table: HostTable
    found: Estimates
    suite: Estimates
    groups: NDArray[np.int64]
    suite_groups: NDArray[np.int64]
    outer: bool
    law: Law
    weights: Floats
    margin: float
    correction: Correction
    sign: int


def benchmark_lines(level: Level) -> tuple[BenchmarkLine, ...]:
    """Give a line for each benchmark.

    Raises
    ------
    AnalysisError
        If a speedup leaves the range of numbers.
    """
    d = decide(level.found, level.law, level.margin, level.correction)
    return tuple(_line(level, d, k) for k in range(len(level.table.benchmarks)))


def _line(level: Level, d: Decisions, k: int) -> BenchmarkLine:
    table = level.table
    mine = table.of(k)
    estimates = table.each.estimate[:, k]
    there = np.flatnonzero(~np.isnan(estimates)).tolist()
    failed = [sum(line.failed_candidate for line in mine), sum(x.failed_baseline for x in mine)]
    runs = [sum(line.runs_candidate for line in mine), sum(line.runs_baseline for line in mine)]
    reason = next((line.reason for line in mine if line.reason), None) if not there else None
    if there and math.isnan(d.low[k]) and any(line.reason == "no-spread" for line in mine):
        reason = "no-spread"
    if any(failed) and fails_more(failed[0], runs[0], failed[1], runs[1]):
        reason = "fails-more"
    outcome: Word = "undecided" if reason else d.outcome[k]
    return BenchmarkLine(
        **_decided(level, level.found, d, k, table.benchmarks[k]),
        groups=_groups(level, level.found, level.groups, k),
        **corrected(d, k),
        outcome=outcome,
        more_sessions=None,
        mean_candidate=_mean([line.mean_candidate for line in mine]),
        mean_baseline=_mean([line.mean_baseline for line in mine]),
        spread_candidate=_spread([line.spread_candidate for line in mine]),
        spread_baseline=_spread([line.spread_baseline for line in mine]),
        runs_candidate=runs[0],
        runs_baseline=runs[1],
        failed_candidate=failed[0],
        failed_baseline=failed[1],
        sessions=len(there) if level.outer else int(level.found.values[k]),
        session_ids=tuple(table.hosts[i] for i in there) if level.outer else (),
        differences=tuple(estimates[there].tolist()) if level.outer else (),
        reason=reason,
    )


def _decided(level: Level, found: Estimates, d: Decisions, k: int, name: str) -> Decided:
    """Give the numbers of a line; on hosts like these with the freedom of the hosts' estimates.

    They have none where the part on these hosts is itself of several.
    """
    numbers = decided(found, d, k, name)
    freedoms = numbers["freedoms"]
    if level.outer and freedoms is not None and len(freedoms) == 2:
        numbers["law"], numbers["freedom"] = "t", freedoms[0]
    return numbers


def _groups(
    level: Level, found: Estimates, groups: NDArray[np.int64], k: int
) -> tuple[Group, ...] | None:
    """Name the hosts behind each part of an error, where hosts have unequal numbers of sessions."""
    single = math.isnan(found.error[k]) or not math.isnan(found.freedom[k])
    if single or level.outer or found.parts is None:
        return None
    mine = groups[:, k].tolist()
    there = [
        tuple(host for host, own in zip(level.table.hosts, mine, strict=True) if number in own)
        for number in sorted({number for own in mine for number in own if number >= 0})
    ]
    return tuple(
        Group(error=error, freedom=freedom, hosts=hosts)
        for error, freedom, hosts in zip(*found.parts.of(k), there, strict=True)
    )


def _mean(means: list[float | None]) -> float | None:
    """Give the geometric mean over hosts."""
    known = [math.log(mean) for mean in means if mean is not None and mean > 0]
    return math.exp(math.fsum(known) / len(known)) if known else None


def _spread(spreads: list[float | None]) -> float | None:
    """Give the spread within a session of a typical host: by the mean of the variances."""
    squares = [math.log1p(one) ** 2 for one in spreads if one is not None]
    return spread_of(math.sqrt(math.fsum(squares) / len(squares))) if squares else None


def suite_lines(level: Level) -> tuple[Line, Line] | None:
    """Give the lines of these benchmarks and of others like them; None unless hosts share two."""
    if int((level.weights > 0).sum()) < 2:
        return None
    d = decide(level.suite, level.law, level.margin, "none")
    these = Line(
        **_decided(level, level.suite, d, 0, "these"),
        groups=_groups(level, level.suite, level.suite_groups, 0),
        outcome=d.outcome[0],
        more_sessions=None,
    )
    half = (d.high - d.low) / 2
    each = np.where(level.weights > 0, level.found.estimate, np.nan)
    wide = float(similar_half(each, level.weights, half[0], level.law.alpha))
    centre = float(level.suite.estimate[0])
    return these, similar_line(these.speedup, centre, wide, level.margin)


def effects_of(table: HostTable, alpha: float) -> tuple[HostEffect, ...]:
    """Give each host's own speedups, benchmark by benchmark, and its mean over the common ones."""
    law = Law(alpha=alpha)
    names: list[str | None] = list(table.benchmarks)
    each = table.each
    half = law.half(each.error, each.freedom, each.parts) + each.widening
    if int(table.common.sum()) > 1:
        names.append(None)
        suites = table.suite
        own = law.half(suites.error, suites.freedom, suites.parts) + suites.widening
        half = np.column_stack([half, own])
        each = Estimates(
            estimate=np.column_stack([each.estimate, suites.estimate]),
            error=np.column_stack([each.error, suites.error]),
            freedom=np.column_stack([each.freedom, suites.freedom]),
            values=np.column_stack([each.values, suites.values]),
        )
    return tuple(
        HostEffect(
            host=host,
            benchmark=name,
            speedup=math.exp(each.estimate[i, k]),
            low=end_of(each.estimate[i, k] - half[i, k]),
            high=end_of(each.estimate[i, k] + half[i, k]),
            error=number_of(each.error[i, k]),
            freedom=number_of(each.freedom[i, k]),
            sessions=int(each.values[i, k]),
        )
        for i, host in enumerate(table.hosts)
        for k, name in enumerate(names)
        if not math.isnan(each.estimate[i, k])
    )


def more_hosts(
    level: Level,
    outer: Estimates,
    outer_suite: Estimates,
    lines: tuple[BenchmarkLine, ...],
    suite: tuple[Line, Line] | None,
) -> tuple[MoreHosts, ...]:
    """Advise how many more hosts would decide the lines on hosts like these that are undecided."""
    d = decide(level.found, level.law, level.margin, level.correction)
    asked = np.array([line.outcome == "undecided" and line.reason is None for line in lines])
    some = asked & (outer.error > 0)
    found: list[MoreHosts] = []
    if some.any():
        found += _advice(
            level,
            [line.name for line, yes in zip(lines, some.tolist(), strict=True) if yes],
            outer.changed(lambda part: part[some]),
            (d.steps[some], d.steps_equivalent[some]),
        )
    if suite is not None and suite[0].outcome == "undecided" and outer_suite.error[0] > 0:
        found += _advice(level, [None], outer_suite, (np.ones(1), np.ones(1)))
    return tuple(found)


def _advice(
    level: Level, names: list[str] | list[None], outer: Estimates, steps: tuple[Floats, Floats]
) -> list[MoreHosts]:
    hosts = outer.values.astype(np.float64)
    scatter = Scatter(
        variance=(outer.error**2 * hosts)[:, None],
        sessions=hosts[:, None],
        within=np.full((hosts.size, 1), np.nan),
        step=outer.widening,
    )
    told = advise(outer.estimate, scatter, level.law, level.margin, steps)
    return [
        MoreHosts(
            benchmark=name,
            hosts=one.sessions,
            low=one.low,
            high=one.high,
            chance=one.chance,
            target=one.target,
        )
        for name, one in zip(names, told, strict=True)
    ]
