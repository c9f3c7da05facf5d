"""The sound verdict over several hosts: host is the outermost level, above sessions.

"On these hosts" and "on hosts like these" are to hosts what "these benchmarks" and "others like them"
are to benchmarks. Each host has sessions of its own, so their errors are independent: on these hosts
the variance of the mean is the sum of the hosts' own, with Satterthwaite's degrees of freedom; hosts
weigh the same, however many sessions they have. On hosts like these the spread of the hosts' estimates
is added (`law.HostsLaw`). The words of the answer are of the latter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....errors import InsufficientDataError
from ....report import Caution, figures
from ..estimates import Estimates, of_differences, satterthwaite
from ..failing import failing_cautions, failing_over_hosts
from ..law import Law
from ..result import Multilevel
from .disagreeing import disagreements_of
from .law import HostsLaw
from .lines import Level, benchmark_lines, effects_of, more_hosts, suite_lines
from .result import HostLevel
from .table import HostTable, table_of

__all__ = ["inner_of", "outer_of", "over_hosts"]

Floats = NDArray[np.float64]

_FEW = 5  # hosts below which little is known of others like them
_OF_ALL = {  # said of all hosts together, or of a host's own words, which are not shown
    *("few-benchmarks", "fails-more", "fails-always", "fails-in-one-session"),
    *("failures-without-sessions", "few-sessions"),
}


def over_hosts(
    results: Mapping[str, Multilevel],
    *,
    weights: Mapping[str, float] | None = None,
    looks: int = 1,
) -> tuple[Multilevel, HostLevel]:
    """Put the verdicts of several hosts on one candidate together.

    Parameters
    ----------
    results : mapping of str to Multilevel
        Each host's own, of the same two variants with the same options, two hosts at least. In none
        of them may session and variant be confounded.
    weights : mapping of str to float, optional
        Of benchmarks, as they were given for each host.
    looks : int, optional
        How many looks at growing data share the level, whatever the hosts' own results say.

    Returns
    -------
    Multilevel
        Of hosts like these, in the design ``hosts``: hosts stand where sessions do in other designs.
    HostLevel
        On these hosts, each host by itself, and which of them disagree with the rest.

    Raises
    ------
    InsufficientDataError
        If there are fewer than two hosts.
    AnalysisError
        If a speedup leaves the range of numbers.
    """
    if len(results) < 2:
        raise InsufficientDataError(
            "hosts are compared with each other, and there is one",
            fix="judge its trial by itself",
            n=len(results),
            needed=2,
        )
    first = next(iter(results.values()))
    alpha = (1.0 - first.confidence) / looks
    table = table_of(results, weights)
    on_these, like_these, outer, outer_suite = _levels(table, first, weights, alpha)
    failing = failing_over_hosts(
        [{line.name: line for line in one.benchmarks} for one in results.values()], risk=alpha / 2
    )
    lines = benchmark_lines(like_these, failing, outer=True)
    suite = suite_lines(like_these)
    own = benchmark_lines(on_these, failing, outer=False)
    own_suite = suite_lines(on_these)
    found = disagreements_of(table, alpha)
    level = HostLevel(
        hosts=table.hosts,
        sessions=sum(one.sessions for one in results.values()),
        benchmarks=own,
        these=own_suite[0] if own_suite else None,
        similar=own_suite[1] if own_suite else None,
        left_out=tuple(
            name
            for name, yes in zip(table.benchmarks, table.common.tolist(), strict=True)
            if not yes
        ),
        spread=_spreads(table),
        effects=effects_of(table, alpha),
        tests=found.tests,
        disagreements=found.those,
        more_hosts=more_hosts(like_these, outer, outer_suite, lines, suite),
    )
    whole = replace(
        first,
        design="hosts",
        looks=looks,
        sessions=level.sessions,
        sessions_candidate=sum(one.sessions_candidate for one in results.values()),
        sessions_baseline=sum(one.sessions_baseline for one in results.values()),
        benchmarks=lines,
        these=suite[0] if suite else None,
        similar=suite[1] if suite else None,
        occasions=None,
        outermost="host",
        dependence=None,
        cautions=(
            *failing_cautions(lines),
            *_cautions(table, level),
            *_common_cautions(results),
        ),
    )
    return whole, level


class _Levels(NamedTuple):
    """What both kinds of lines are made of, and what hosts alone say: `outer` lacks their own errors."""

    on_these: Level
    like_these: Level
    outer: Estimates
    outer_suite: Estimates


def _levels(
    table: HostTable, first: Multilevel, weights: Mapping[str, float] | None, alpha: float
) -> _Levels:
    inner, outer = inner_of(table.each), of_differences(table.each.estimate)
    inner_suite, outer_suite = _suites(table)
    share = np.array([float((weights or {}).get(name, 1.0)) for name in table.benchmarks])
    on_these = Level(
        table=table,
        found=inner,
        suite=inner_suite,
        law=Law(alpha=alpha),
        suite_law=Law(alpha=alpha),
        weights=np.where(table.common, share, 0.0),
        margin=math.log1p(first.margin),
        correction=first.correction,
        sign=1 if first.better == "higher" else -1,
    )
    like_these = replace(
        on_these,
        found=outer_of(inner, outer),
        suite=outer_of(inner_suite, outer_suite),
        law=_law(alpha, inner, outer),
        suite_law=_law(alpha, inner_suite, outer_suite),
    )
    return _Levels(on_these, like_these, outer, outer_suite)


def inner_of(each: Estimates) -> Estimates:
    """Give the mean over these hosts: independent errors, Satterthwaite's degrees of freedom.

    Parameters
    ----------
    each : Estimates
        Arrays of shape (..., hosts, benchmarks); an estimate is nan where a host has none.

    Returns
    -------
    Estimates
        Arrays of shape (..., benchmarks); `values` counts sessions. Error and freedom are nan where a
        host with an estimate has none.
    """
    there = ~np.isnan(each.estimate)
    count = np.maximum(there.sum(axis=-2), 1)[..., None, :]
    errors = np.where(there, each.error / count, 0.0)
    freedoms = np.where(there, each.freedom, 0.0)
    # a host that lacks the benchmark has error 0, and its freedom is divided by nothing
    freedom = satterthwaite(
        np.moveaxis(errors, -2, -1), np.moveaxis(np.where(there, freedoms, 1.0), -2, -1)
    )
    some = there.any(axis=-2)
    unknown = np.isnan(errors).any(axis=-2) | ~some
    return Estimates(
        estimate=of_differences(each.estimate).estimate,
        error=np.where(unknown, np.nan, np.sqrt((errors**2).sum(axis=-2))),
        freedom=np.where(unknown, np.nan, freedom),
        values=np.where(there, each.values, 0).sum(axis=-2),
    )


def outer_of(inner: Estimates, outer: Estimates) -> Estimates:
    """Give the estimate for hosts like these: the error has both parts, the freedom is the hosts'."""
    within = np.where(np.isnan(inner.error), 0.0, inner.error)
    return outer._replace(error=np.hypot(outer.error, within))


def _suites(table: HostTable) -> tuple[Estimates, Estimates]:
    """Give the suite's mean on these hosts and over hosts, arrays of one entry."""
    column = table.suite.changed(lambda part: part[:, None])
    return inner_of(column), of_differences(column.estimate)


def _law(alpha: float, inner: Estimates, outer: Estimates) -> HostsLaw:
    return HostsLaw(
        alpha=alpha,
        errors=np.stack([outer.error, inner.error], axis=-1),
        freedoms=np.stack([outer.freedom, inner.freedom], axis=-1),
    )


def _spreads(table: HostTable) -> dict[str, float | None]:
    found = {}
    for k, name in enumerate(table.benchmarks):
        logs = table.each.estimate[:, k]
        logs = logs[~np.isnan(logs)]
        found[name] = math.expm1(float(logs.std(ddof=1))) if logs.size > 1 else None
    return found


def _cautions(table: HostTable, level: HostLevel) -> list[Caution]:
    found = []
    if len(table.hosts) < _FEW:
        found.append(
            Caution("few-hosts", f"{len(table.hosts)} hosts say little about others like them")
        )
    for name in level.left_out:
        k = table.benchmarks.index(name)
        lacking = [
            host
            for host, value in zip(table.hosts, table.each.estimate[:, k].tolist(), strict=True)
            if math.isnan(value)
        ]
        found.append(
            Caution(
                "benchmark-not-on-all-hosts",
                f"{name} cannot be judged on {figures.listed(lacking)}: it is left out of the suite's "
                "lines",
                (name,),
            )
        )
    return found


def _common_cautions(results: Mapping[str, Multilevel]) -> list[Caution]:
    """Say what hosts say of their own sessions, once, with the hosts that it holds for."""
    holds: dict[Caution, list[str]] = {}
    for host, one in results.items():
        for caution in one.cautions:
            if caution.code not in _OF_ALL:
                holds.setdefault(caution, []).append(host)
    told = []
    for caution, hosts in holds.items():
        where = "all hosts" if len(hosts) == len(results) else figures.listed(hosts, 3)
        told.append(
            Caution(caution.code, f"on {where}: {caution.text}", (*hosts[:3], *caution.about))
        )
    few = next(
        (c for one in results.values() for c in one.cautions if c.code == "few-benchmarks"), None
    )
    return told if few is None else [*told, few]
