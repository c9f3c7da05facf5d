"""The lines over several hosts, and which hosts disagree with the rest.

A host and the others have independent errors. Where they have other degrees of freedom, as one host
against many has, Banerjee's bound is taken (`..differences`): it holds its level far out in the tail,
where a family of many tests looks. A host whose own sides have unequal numbers of sessions takes part
with the fewer degrees of freedom of the two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...stats.samples import Array, Flags, Indices, Integers
from .advice import Scatter, advise
from .cut_off import bounded, together
from .estimates import Estimates, number_of, similar_half
from .exact import FAR, IDENTICAL, Identity, identity_pvalue, identity_reason
from .host_effects import (
    Disagreement,
    HostDifferences,
    HostEffect,
    HostTable,
    MoreHosts,
    differences_of,
)
from .law import Decisions, ErrorLaw, decide
from .lines import TAKEN_BACK, corrected, decided, end_of, similar_line, spread_of
from .result import BenchmarkLine, Group, Line

if TYPE_CHECKING:
    from ...pages.number_format import Word
    from ...stats.multiplicity import Correction
    from .failures import Failing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostEstimates:
    """What lines are made of: estimates, the law of their errors, and the rules.

    `found` are those of the benchmarks, `suite` that of their mean, arrays of one entry; `groups` and
    `suite_groups` are the hosts' (`combine.groups_of`); `outer` tells whether the values are those of
    hosts, and the lines of hosts like these; `weights` are 0 for what some host lacks; `identities` are by benchmark.
    """

    table: HostTable
    found: Estimates
    suite: Estimates
    groups: Integers
    suite_groups: Integers
    outer: bool
    law: ErrorLaw
    weights: Array
    margin: float
    correction: Correction
    sign: int
    identities: Mapping[int, Identity]


def with_identities(level: HostEstimates) -> HostEstimates:
    """Give the chance of what is one pair of numbers on all hosts: cells are hosts, or all their sessions."""
    known: dict[int, Identity] = {}
    estimate = level.found.estimate.copy()
    cells = np.zeros(estimate.size)
    for k in range(estimate.size):
        lines = level.table.of(k)
        each = [line.identity for line in lines if line.identity is not None]
        if len(each) < len(lines) or len({(one.candidate, one.baseline) for one in each}) != 1:
            continue
        cells[k] = len(each) if level.outer else sum(one.sessions for one in each)
        runs = sum(one.runs for one in each)
        known[k] = replace(each[0], sessions=int(cells[k]), runs=runs)
        if each[0].candidate * each[0].baseline == 0:
            estimate[k] = level.sign * FAR * np.sign(each[0].candidate - each[0].baseline)
    found = level.found._replace(estimate=estimate, chance=identity_pvalue(cells, cells))
    least = cells[level.weights > 0].min(initial=np.inf)
    chance = identity_pvalue(least, least) if least < np.inf else np.array(np.nan)
    suite = level.suite._replace(chance=chance[None])
    return replace(level, found=found, suite=suite, identities=known)


def benchmark_lines(
    level: HostEstimates, failing: Mapping[str, Failing]
) -> tuple[BenchmarkLine, ...]:
    """Give a line for each benchmark."""
    d = decide(level.found, level.law, level.margin, level.correction)
    return tuple(
        bounded(
            _line(level, d, k, failing[name]),
            together(one.cut for one in level.table.of(k)),
        )
        for k, name in enumerate(level.table.benchmarks)
    )


def _line(level: HostEstimates, d: Decisions, k: int, failing: Failing) -> BenchmarkLine:
    table = level.table
    mine = table.of(k)
    estimates = table.each.estimate[:, k]
    there = np.flatnonzero(~np.isnan(estimates)).tolist()
    reason: str | None = failing.reason
    identity = level.identities.get(k)
    if reason is None and identity is not None:
        reason = identity_reason(identity, d.outcome[k])
    elif reason is None and not there:
        reason = next((line.reason for line in mine if line.reason), None)
    if (
        reason is None
        and there
        and identity is None
        and math.isnan(d.low[k])
        and any(x.reason == "no-spread" for x in mine)
    ):
        reason = "no-spread"
    if reason is None:
        reason = next((x.reason for x in mine if x.reason in TAKEN_BACK), None)
    outcome: Word = d.outcome[k] if reason in (None, IDENTICAL) else "undecided"
    own: dict[str, Any] = {"sessions": len(there) if level.outer else int(level.found.values[k])}
    if identity is not None:
        own = {"sessions": identity.sessions, "law": "identity", "identity": identity}
        own |= {} if identity.candidate and identity.baseline else {"speedup": None}
    return BenchmarkLine(
        **(_decided(level, level.found, d, k, table.benchmarks[k]) | own),
        groups=_groups(level, level.found, level.groups, k),
        **corrected(d, k),
        outcome=outcome,
        more_sessions=None,
        mean_candidate=_mean([line.mean_candidate for line in mine]),
        mean_baseline=_mean([line.mean_baseline for line in mine]),
        spread_candidate=_spread([line.spread_candidate for line in mine]),
        spread_baseline=_spread([line.spread_baseline for line in mine]),
        runs_candidate=sum(line.runs_candidate for line in mine),
        runs_baseline=sum(line.runs_baseline for line in mine),
        failed_candidate=sum(line.failed_candidate for line in mine),
        failed_baseline=sum(line.failed_baseline for line in mine),
        session_ids=tuple(table.hosts[i] for i in there) if level.outer else (),
        differences=tuple(estimates[there].tolist()) if level.outer else (),
        **{**failing._asdict(), "reason": reason},
    )


def _decided(
    level: HostEstimates, found: Estimates, d: Decisions, k: int, name: str
) -> dict[str, Any]:
    """Give the numbers of a line; on hosts like these with the freedom of the hosts' estimates."""
    numbers = decided(found, d, k, name)
    freedoms = numbers["freedoms"]
    if level.outer and freedoms is not None and len(freedoms) == 2:
        numbers["law"], numbers["freedom"] = "t", freedoms[0]
    return numbers


def _groups(
    level: HostEstimates, found: Estimates, groups: Integers, k: int
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


def suite_lines(level: HostEstimates) -> tuple[Line, Line] | None:
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
    law = ErrorLaw(alpha=alpha)
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
    level: HostEstimates,
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
    open_ = suite is not None and suite[0].outcome == "undecided" and suite[0].cut is None
    if open_ and outer_suite.error[0] > 0:
        found += _advice(level, [None], outer_suite, (np.ones(1), np.ones(1)))
    return tuple(found)


def _advice(
    level: HostEstimates,
    names: list[str] | list[None],
    outer: Estimates,
    steps: tuple[Array, Array],
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


LIMIT = 20  # hosts that are named; where more disagree, hosts differ, and names say little


def rest_of(each: Estimates, counted: Flags) -> Estimates:
    """Give for each host the mean of the others that count."""
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


def _others(parts: NDArray[Any]) -> Array:
    """Sum over the other rows, from both sides: nothing is subtracted, so that nothing cancels."""
    whole = parts.astype(np.float64)
    none = np.zeros((1, whole.shape[1]))
    before = np.concatenate([none, np.cumsum(whole, axis=0)[:-1]])
    after = np.concatenate([np.cumsum(whole[::-1], axis=0)[::-1][1:], none])
    return np.asarray(before + after)


def disagreements_of(table: HostTable, alpha: float) -> tuple[int, list[Disagreement]]:
    """Hold each host against the rest on every benchmark: the tests, and what Holm's correction leaves.

    One step after the other the host that disagrees most surely is taken out of the rest, so that it
    does not make others look different from a mean that it has moved. There are `LIMIT` steps at most,
    and at least half of the hosts stay.
    """
    counted = np.ones(len(table.hosts), dtype=np.bool_)
    width = len(table.benchmarks)
    # of a host without a single freedom the least of its parts
    least = table.each.own_parts().freedoms.min(axis=-1)
    each = table.each._replace(
        freedom=np.where(np.isnan(table.each.freedom), least, table.each.freedom), parts=None
    )
    tests, those = 0, list[Disagreement]()
    for _ in range(min(LIMIT, len(table.hosts) // 2)):
        places, pairs = _against_rest(each, counted)
        if not places.size:
            break
        tests = tests or places.size
        found = differences_of(
            pairs.estimate,
            pairs.error,
            pairs.freedom,
            alpha=alpha,
            margin=0.0,
            step=pairs.widening.sum(axis=1),
        )
        sure = [n for n, shift in enumerate(found.shift) if shift in ("larger", "smaller")]
        if not sure:
            break
        first = min(sure, key=lambda n: (found.pvalue[n], -abs(found.estimate[n])))
        host = int(places[first]) // width
        for n in sure:
            if int(places[n]) // width == host:
                those.append(_disagreement(table, int(places[n]), pairs.estimate[n], found, n))
        counted[host] = False
    those.sort(key=lambda one: (one.pvalue or 0.0, -abs(math.log(one.ratio))))
    return tests, those


def _against_rest(each: Estimates, counted: Flags) -> tuple[Indices, Estimates]:
    """Pair each host that counts with the rest: the places of what is known, and rest beside host."""
    rest = rest_of(each, counted)

    def beside(others: NDArray[Any], own: NDArray[Any]) -> NDArray[Any]:
        return np.stack([others.ravel(), own.ravel()], axis=1)

    pairs = Estimates(
        estimate=beside(rest.estimate, each.estimate),
        error=beside(rest.error, each.error),
        freedom=beside(rest.freedom, each.freedom),
        values=beside(rest.values, each.values).astype(np.int64),
        step=beside(rest.widening, each.widening),
    )
    hosts, width = each.estimate.shape
    asked = np.repeat(counted, width)
    if hosts == 2:  # both comparisons would be one
        asked[:width] = False
    unknown = np.isnan(pairs.estimate + pairs.error + pairs.freedom).any(axis=1)
    places = np.flatnonzero(asked & ~unknown)
    return places, pairs.changed(lambda part: part[places])


def _disagreement(
    table: HostTable, place: int, both: Array, found: HostDifferences, n: int
) -> Disagreement:
    host, k = divmod(place, len(table.benchmarks))
    return Disagreement(
        host=table.hosts[host],
        benchmark=table.benchmarks[k],
        speedup=math.exp(both[1]),
        rest=math.exp(both[0]),
        ratio=math.exp(found.estimate[n]),
        low=math.exp(found.low[n]),
        high=math.exp(found.high[n]),
        pvalue=number_of(found.pvalue[n]),
        pvalue_adjusted=number_of(found.pvalue_adjusted[n]),
        difference="larger" if found.estimate[n] > 0 else "smaller",
    )
