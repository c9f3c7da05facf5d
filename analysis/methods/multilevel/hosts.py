"""The sound verdict over several hosts: host is the outermost level, above sessions.

"On these hosts" and "on hosts like these" are to hosts what "these benchmarks" and "others like them"
are to benchmarks. Each host has sessions of its own, so their errors are independent: on these hosts
the variance of the mean is the sum of the hosts' own; hosts weigh the same, however many sessions they
have. Those of equally many sessions share Satterthwaite's degrees of freedom, and the squares of the
half-widths of such groups are summed. On hosts like these half the interval is
sqrt(t(H - 1)^2 s^2 / H + h^2), with s the standard deviation of the H hosts' estimates and h the
half-width on these hosts; so it holds the interval on these hosts always. The words of the answer are
of the latter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InsufficientDataError
from ...pages import number_format as figures
from ...pages.model import Caution
from ...stats.samples import Integers
from .cautions import failing_cautions
from .cut_off import bounded_suite
from .estimates import ErrorParts, Estimates, in_groups, of_differences
from .failures import failing_over_hosts
from .host_effects import HostLevel, HostTable, table_of
from .host_lines import (
    HostEstimates,
    benchmark_lines,
    disagreements_of,
    effects_of,
    more_hosts,
    suite_lines,
    with_identities,
)
from .law import ErrorLaw, Looks
from .lines import steady_suite

if TYPE_CHECKING:
    from .result import Multilevel


_FEW = 5  # hosts below which little is known of others like them
_OF_ALL = {  # said of all hosts together, or of a host's own words, which are not shown
    *("few-benchmarks", "fails-more", "fails-always", "fails-in-one-session"),
    *("failures-without-sessions", "few-sessions"),
}


def over_hosts(
    results: Mapping[str, Multilevel],
    *,
    weights: Mapping[str, float] | None = None,
    looks: int | Looks = 1,
) -> tuple[Multilevel, HostLevel]:
    """Put the verdicts of several hosts on one candidate together."""
    if len(results) < 2:
        raise InsufficientDataError(
            "hosts are compared with each other, and there is one",
            fix="judge its trial by itself",
            n=len(results),
            needed=2,
        )
    first = next(iter(results.values()))
    look = Looks.of(looks, always_valid=False)
    alpha = look.alpha(first.confidence)
    table = table_of(results, weights)
    on_these, like_these, outer, outer_suite = _levels(table, first, weights, alpha)
    failing = failing_over_hosts(
        [{line.name: line for line in one.benchmarks} for one in results.values()], risk=alpha / 2
    )
    lines = benchmark_lines(like_these, failing)
    suite = bounded_suite(steady_suite(suite_lines(like_these), lines), lines)
    own = benchmark_lines(on_these, failing)
    own_suite = bounded_suite(steady_suite(suite_lines(on_these), own), own)
    tests, disagreements = disagreements_of(table, alpha)
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
        tests=tests,
        disagreements=tuple(disagreements),
        more_hosts=more_hosts(like_these, outer, outer_suite, lines, suite),
    )
    whole = replace(
        first,
        design="hosts",
        **look.fields(first.confidence),
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


def _levels(
    table: HostTable, first: Multilevel, weights: Mapping[str, float] | None, alpha: float
) -> tuple[HostEstimates, HostEstimates, Estimates, Estimates]:
    """Give what the lines on these hosts and on hosts like these are made of, and what hosts alone say."""
    groups = groups_of(table.each, table.sessions)
    inner, outer = inner_of(table.each, groups), of_differences(table.each.estimate)
    suite = table.suite.changed(lambda part: part[:, None])
    suite_groups = groups_of(suite, table.suite_sessions[:, None])
    inner_suite, outer_suite = inner_of(suite, suite_groups), of_differences(suite.estimate)
    share = np.array([float((weights or {}).get(name, 1.0)) for name in table.benchmarks])
    on_these = HostEstimates(
        table=table,
        found=inner,
        suite=inner_suite,
        groups=groups,
        suite_groups=suite_groups,
        outer=False,
        law=ErrorLaw(alpha=alpha),
        weights=np.where(table.common, share, 0.0),
        margin=math.log1p(first.margin),
        correction=first.correction,
        sign=1 if first.better == "higher" else -1,
        identities={},
    )
    like_these = replace(
        on_these,
        found=outer_of(inner, outer),
        suite=outer_of(inner_suite, outer_suite),
        outer=True,
    )
    return with_identities(on_these), with_identities(like_these), outer, outer_suite


def groups_of(each: Estimates, sessions: Integers) -> Integers:
    """Put the parts of the hosts' errors in groups: hosts of equally many sessions are one."""
    parts = each.own_parts().errors.shape
    shared = np.unique(sessions.reshape(-1, 2), axis=0, return_inverse=True)[1]
    groups = np.full(parts, -1, dtype=np.int64)
    groups[..., 0] = shared.reshape(parts[:2])
    hosts, apart = np.ogrid[: parts[0], : parts[2]]
    lone = shared.size + hosts * parts[2] + apart
    groups = np.where(np.isnan(each.freedom)[..., None], lone[:, None, :], groups)
    return np.where(np.isnan(each.estimate)[..., None], -1, groups)


def inner_of(each: Estimates, groups: Integers | None = None) -> Estimates:
    """Give the mean over these hosts: independent errors, a freedom for each group of hosts."""
    there = ~np.isnan(each.estimate)
    count = np.maximum(there.sum(axis=-2), 1)[..., None, :]
    errors = np.where(there, each.error / count, 0.0)
    own = each.own_parts()
    if groups is None:
        groups = np.where(there[..., None], 0, -1)
    freedom, parts = in_groups(
        _members(own.errors / count[..., None]),
        _members(own.freedoms),
        _members(np.broadcast_to(groups, own.errors.shape)),
    )
    unknown = np.isnan(errors).any(axis=-2) | ~there.any(axis=-2)
    return Estimates(
        estimate=of_differences(each.estimate).estimate,
        error=np.where(unknown, np.nan, np.sqrt((errors**2).sum(axis=-2))),
        freedom=np.where(unknown, np.nan, freedom),
        values=np.where(there, each.values, 0).sum(axis=-2),
        parts=parts,
        laws=("satterthwaite", "grouped"),
        step=np.where(there, each.widening, 0.0).sum(axis=-2) / count[..., 0, :],
    )


def _members(parts: NDArray[Any]) -> NDArray[Any]:
    """Turn (..., hosts, benchmarks, parts) into (..., benchmarks, hosts and parts)."""
    moved = np.moveaxis(parts, -3, -2)
    return moved.reshape(*moved.shape[:-2], -1)


def outer_of(inner: Estimates, outer: Estimates) -> Estimates:
    """Give the estimate for hosts like these: their spread is one part of the error, `inner` the rest."""
    alone = np.isnan(inner.error)
    within = inner.own_parts()
    parts = ErrorParts(
        np.concatenate(
            [outer.error[..., None], np.where(alone[..., None], 0.0, within.errors)], axis=-1
        ),
        np.concatenate(
            [outer.freedom[..., None], np.where(alone[..., None], np.inf, within.freedoms)], axis=-1
        ),
    )
    return outer._replace(
        error=np.hypot(outer.error, np.where(alone, 0.0, inner.error)),
        freedom=np.where(alone, outer.freedom, np.nan),
        parts=parts,
        laws=("t", "grouped"),
        step=inner.step,
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
    found += _unequal(table, level)
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


def _unequal(table: HostTable, level: HostLevel) -> list[Caution]:
    """Say where hosts have unequal numbers of sessions, and which are the short ones."""
    names = [line.name for line in level.benchmarks if line.law == "grouped"]
    if not names:
        return []
    columns = [table.benchmarks.index(name) for name in names]
    counts = table.sessions.min(axis=-1)[:, columns]
    there = counts > 0
    fewest, most = int(counts[there].min()), int(counts.max())
    if fewest == most:  # the same on all hosts, whose sides have unequal numbers: they say so
        return []
    short = [
        host for host, few in zip(table.hosts, (counts == fewest).any(axis=1), strict=True) if few
    ]
    by_sessions = all(line.sessions > 1 for k in columns for line in table.of(k) if line.error)
    every = sum(line.law is not None for line in level.benchmarks)
    where = "" if len(names) == every else f"{figures.listed(names)}: "
    return [
        Caution(
            "hosts-unequal",
            f"{where}hosts have {fewest} to {most} {'sessions' if by_sessions else 'values'}: the short "
            f"ones decide the width; resume {figures.listed(short, 3)}",
            (*short[:3], *(names if where else ())),
        )
    ]


def _common_cautions(results: Mapping[str, Multilevel]) -> list[Caution]:
    """Say what hosts say of their own sessions, once, with the hosts that it holds for."""
    holds: dict[tuple[Caution, str], list[str]] = {}
    for host, one in results.items():
        for caution in one.cautions:
            if caution.code not in _OF_ALL:
                # the numbers of one host are not another's
                own = caution.text if caution.code == "unequal-sessions" else ""
                holds.setdefault((caution, own), []).append(host)
    told = []
    for (caution, _), hosts in holds.items():
        where = "all hosts" if len(hosts) == len(results) else figures.listed(hosts, 3)
        about = (*hosts[:3], *caution.about)
        short = None if caution.short is None else caution.short.about(*hosts)
        told.append(Caution(caution.code, f"on {where}: {caution.text}", about, short))
    few = next(
        (c for one in results.values() for c in one.cautions if c.code == "few-benchmarks"), None
    )
    return told if few is None else [*told, few]
