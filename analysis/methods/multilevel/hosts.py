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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...data.fleet import said_of_hosts
from ...errors import InsufficientDataError
from ...pages import number_format as figures
from ...pages.model import Caution
from ...stats.samples import Array, Flags, Indices, Integers
from .compare import bounded, bounded_suite, together
from .estimates import (
    FAR,
    FLAT,
    IDENTICAL,
    ErrorParts,
    Estimates,
    Identity,
    identity_pvalue,
    identity_reason,
    in_groups,
    number_of,
    of_differences,
    similar_half,
)
from .failures import Failing, failing_over_hosts
from .host_effects import HostTable, differences_of, effects_of, table_of
from .law import AdviceQuestion, Decisions, ErrorLaw, Looks, Scatter, advise, decide
from .lines import (
    TAKEN_BACK,
    corrected,
    decided,
    family_of,
    similar_line,
    spread_of,
    steady_suite,
)
from .page import failing_cautions
from .result import Disagreement, Group, HostLevel, Line, MoreHosts, Multilevel

if TYPE_CHECKING:
    from ...pages.number_format import Word
    from ...stats.multiplicity import Correction

# --- The lines over several hosts, and which hosts disagree with the rest.
#
# A host and the others have independent errors. Where they have other degrees of freedom, as one host
# against many has, Banerjee's bound is taken (`..differences`): it holds its level far out in the tail,
# where a family of many tests looks. A host whose own sides have unequal numbers of sessions takes part
# with the fewer degrees of freedom of the two.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostEstimates:
    """What lines are made of: estimates, the law of their errors, and the rules.

    `found` are those of the benchmarks, `suite` that of their mean, arrays of one entry; `groups` and
    `suite_groups` are the hosts' (`groups_of`); `outer` are what the hosts' values alone say, of benchmarks and
    suite, where the lines are those of hosts like these; `identities` are
    by benchmark; `beside` are the lines of the other candidates on the same level, each by itself.
    """

    table: HostTable
    found: Estimates
    suite: Estimates
    groups: Integers
    suite_groups: Integers
    outer: tuple[Estimates, Estimates] | None = None
    law: ErrorLaw
    margin: float
    correction: Correction
    sign: int
    identities: Mapping[int, Identity] = field(default_factory=dict)
    beside: Sequence[Sequence[Line]]

    def decided(self) -> Decisions:
        """Judge the benchmarks, in one family with those of the other candidates."""
        others = family_of(self.beside, "pvalue"), family_of(self.beside, "pvalue_equivalent")
        return decide(self.found, self.law, self.margin, self.correction, beside=others)

    @property
    def sharing(self) -> int:
        """How many candidates share the risk of the suite's words."""
        return 1 if self.correction == "none" else 1 + len(self.beside)


def with_identities(level: HostEstimates) -> HostEstimates:
    """Give the chance of what varies on no host: cells are hosts, or all their sessions.

    Where it is another pair of numbers on each, hosts of one ratio are cells; on these hosts a session of all is one.
    """
    known: dict[int, Identity] = {}
    estimate = level.found.estimate.copy()
    cells = np.zeros(estimate.size)
    for k in range(estimate.size):
        lines = level.table.of(k)
        each = [line.identity for line in lines if line.identity is not None]
        if not each or len(each) < len(lines):
            continue
        cells[k] = len(each) if level.outer else sum(one.sessions for one in each)
        if len({(one.candidate, one.baseline) for one in each}) > 1:
            ratios = [line.speedup or math.nan for line in lines]
            alike = max(ratios) <= min(ratios) * (1 + FLAT)
            own = len(each) * alike if level.outer else min(one.sessions for one in each)
            cells[k] = 0 if math.isnan(sum(ratios)) else own
            continue
        runs = sum(one.runs for one in each)
        known[k] = replace(each[0], sessions=int(cells[k]), runs=runs)
        if each[0].candidate * each[0].baseline == 0:
            estimate[k] = level.sign * FAR * np.sign(each[0].candidate - each[0].baseline)
    found = level.found._replace(estimate=estimate, chance=identity_pvalue(cells, cells))
    least = cells[level.table.weights > 0].min(initial=np.inf)
    chance = identity_pvalue(least, least) if least < np.inf else np.array(np.nan)
    suite = level.suite._replace(chance=chance[None])
    return replace(level, found=found, suite=suite, identities=known)


def benchmark_lines(level: HostEstimates, failing: Mapping[str, Failing]) -> tuple[Line, ...]:
    """Give a line for each benchmark."""
    d, table = level.decided(), level.table
    return tuple(
        bounded(_line(level, d, k, failing[name]), together(one.cut for one in table.of(k)))
        for k, name in enumerate(table.benchmarks)
    )


def _line(level: HostEstimates, d: Decisions, k: int, failing: Failing) -> Line:
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
    elif reason is None and math.isnan(d.low[k]):
        reason = next((x.reason for x in mine if x.reason == "no-spread"), None)
    if reason is None:
        reason = next((x.reason for x in mine if x.reason in TAKEN_BACK), None)
    outcome: Word = d.outcome[k] if reason in (None, IDENTICAL) else "undecided"
    own: dict[str, Any] = {"sessions": len(there) if level.outer else int(level.found.values[k])}
    if identity is not None:
        own = {"sessions": identity.sessions, "law": "identity", "identity": identity}
        own |= {} if identity.candidate and identity.baseline else {"speedup": None}
    return Line(
        **(_decided(level, d, k, table.benchmarks[k]) | own),
        **corrected(d, k),
        outcome=outcome,
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
    level: HostEstimates, d: Decisions, k: int, name: str, *, suite: bool = False
) -> dict[str, Any]:
    """Give the numbers of a line; on hosts like these with the freedom of the hosts' estimates.

    Where hosts have unequal numbers of sessions it names those behind each part of an error.
    """
    found = level.suite if suite else level.found
    numbers = decided(found, d, k, name)
    freedoms = numbers["freedoms"]
    single = math.isnan(found.error[k]) or not math.isnan(found.freedom[k])
    if level.outer and freedoms is not None and len(freedoms) == 2:
        numbers["law"], numbers["freedom"] = "t", freedoms[0]
    elif not (level.outer or single or found.parts is None):
        mine = (level.suite_groups if suite else level.groups)[:, k].tolist()
        there = [
            tuple(host for host, own in zip(level.table.hosts, mine, strict=True) if number in own)
            for number in sorted({number for own in mine for number in own if number >= 0})
        ]
        numbers["groups"] = tuple(
            Group(error=error, freedom=freedom, hosts=hosts)
            for error, freedom, hosts in zip(*found.parts.of(k), there, strict=True)
        )
    return numbers


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
    if int((level.table.weights > 0).sum()) < 2:
        return None
    count, more = level.sharing, np.ones(level.sharing - 1)
    rule: Correction = "holm" if count > 1 else "none"
    d = decide(level.suite, level.law, level.margin, rule, beside=(more, more))
    numbers = _decided(level, d, 0, "these", suite=True)
    these = Line(**numbers, of_suite=True, outcome=d.outcome[0])
    half = (d.high - d.low) / 2
    each = np.where(level.table.weights > 0, level.found.estimate, np.nan)
    wide = float(similar_half(each, level.table.weights, half[0], level.law.alpha))
    centre = float(level.suite.estimate[0])
    similar = similar_line(these.speedup, centre, wide, level.margin)
    if count > 1:
        own = replace(level.law, alpha=level.law.alpha / count)
        half = own.half(level.suite.error, level.suite.freedom, level.suite.parts)
        half = np.where(np.isnan(d.low), np.nan, half + level.suite.widening)
        wide = float(similar_half(each, level.table.weights, half[0], own.alpha))
        word = similar_line(these.speedup, centre, wide, level.margin).outcome
        similar = replace(similar, outcome=word)
    return these, similar


def more_hosts(
    level: HostEstimates, lines: tuple[Line, ...], these: Line | None
) -> tuple[MoreHosts, ...]:
    """Advise how many more hosts would decide the lines on hosts like these that are undecided."""
    assert level.outer is not None  # else more hosts change nothing
    d, parts = level.decided(), zip(*(one[:4] for one in level.outer), strict=True)
    outer = Estimates._make([*map(np.concatenate, parts), None, ("t", "t"), None, None])
    names = [*(line.name for line in lines), None]
    open_ = [line.outcome == "undecided" and line.reason is None for line in lines]
    open_.append(these is not None and these.outcome == "undecided" and these.cut is None)
    some = np.array(open_) & (outer.error > 0)
    if not some.any():
        return ()
    outer = outer.changed(lambda part: part[some])
    hosts, count = outer.values.astype(np.float64), float(level.sharing)
    scatter = Scatter(
        variance=(outer.error**2 * hosts)[:, None],
        sessions=hosts[:, None],
        within=np.full((hosts.size, 1), np.nan),
        step=outer.widening,
    )
    steps = np.append(d.steps, count)[some], np.append(d.steps_equivalent, count)[some]
    found = advise(AdviceQuestion(outer.estimate, scatter, level.law, level.margin, steps))
    return tuple(
        MoreHosts(
            benchmark=name,
            hosts=one.sessions,
            low=one.low,
            high=one.high,
            chance=one.chance,
            target=one.target,
        )
        for name, one in zip(compress(names, some), found, strict=True)
    )


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
        found = differences_of(pairs, alpha=alpha, margin=0.0)
        sure = [n for n, shift in enumerate(found.shift) if shift in ("larger", "smaller")]
        if not sure:
            break
        far, d = found.found.estimate, found.decided
        first = min(sure, key=lambda n: (d.pvalue[n], -abs(far[n])))
        host = int(places[first]) // width
        those += [
            Disagreement(
                host=table.hosts[host],
                benchmark=table.benchmarks[int(places[n]) % width],
                speedup=math.exp(pairs.estimate[n, 1]),
                rest=math.exp(pairs.estimate[n, 0]),
                ratio=math.exp(far[n]),
                low=math.exp(d.low[n]),
                high=math.exp(d.high[n]),
                pvalue=number_of(d.pvalue[n]),
                pvalue_adjusted=number_of(d.pvalue_adjusted[n]),
                difference="larger" if far[n] > 0 else "smaller",
            )
            for n in sure
            if int(places[n]) // width == host
        ]
        counted[host] = False
    those.sort(key=lambda one: (one.pvalue or 0.0, -abs(math.log(one.ratio))))
    return tests, those


def _against_rest(each: Estimates, counted: Flags) -> tuple[Indices, Estimates]:
    """Pair each host that counts with the rest: the places of what is known, and the rest with each host."""
    rest = rest_of(each, counted)

    def paired(others: NDArray[Any], own: NDArray[Any]) -> NDArray[Any]:
        return np.stack([others.ravel(), own.ravel()], axis=1)

    pairs = Estimates(
        estimate=paired(rest.estimate, each.estimate),
        error=paired(rest.error, each.error),
        freedom=paired(rest.freedom, each.freedom),
        values=paired(rest.values, each.values).astype(np.int64),
        step=paired(rest.widening, each.widening),
    )
    hosts, width = each.estimate.shape
    asked = np.repeat(counted, width)
    if hosts == 2:  # both comparisons would be one
        asked[:width] = False
    unknown = np.isnan(pairs.estimate + pairs.error + pairs.freedom).any(axis=1)
    places = np.flatnonzero(asked & ~unknown)
    return places, pairs.changed(lambda part: part[places])


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
    beside: Sequence[Multilevel] = (),
) -> Multilevel:
    """Put the verdicts of several hosts on one candidate together; `beside` are those on others that share the risk."""
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
    on_these, like_these = _levels(table, first, alpha, beside)
    failing = failing_over_hosts(
        [{line.name: line for line in one.benchmarks} for one in results.values()],
        risk=alpha / 2,
        beside=[line.pvalue_fails for one in beside for line in one.benchmarks],
    )
    lines = _lines(like_these, failing)
    tests, disagreements = disagreements_of(table, alpha)
    level = HostLevel(
        hosts=table.hosts,
        sessions=sum(one.sessions for one in results.values()),
        **_lines(on_these, failing),
        left_out=tuple(table.benchmarks[k] for k in table.lacking),
        spread={
            name: spread_of(float(logs.std(ddof=1))) if logs.size > 1 else None
            for name, column in zip(table.benchmarks, table.each.estimate.T, strict=True)
            for logs in (column[~np.isnan(column)],)
        },
        effects=effects_of(table, alpha),
        tests=tests,
        disagreements=tuple(disagreements),
        more_hosts=more_hosts(like_these, lines["benchmarks"], lines["these"]),
    )
    return replace(
        first,
        design="hosts",
        candidates=1 + len(beside),
        look=look.at(first.confidence),
        sessions=level.sessions,
        sessions_candidate=sum(one.sessions_candidate for one in results.values()),
        sessions_baseline=sum(one.sessions_baseline for one in results.values()),
        **lines,
        occasions=None,
        outermost="host",
        dependence=None,
        hosts=level,
        cautions=(
            *failing_cautions(lines["benchmarks"]),
            *_cautions(table, level),
            *_common_cautions(results),
        ),
    )


def _lines(level: HostEstimates, failing: Mapping[str, Failing]) -> dict[str, Any]:
    """Give the lines of the benchmarks and of the suite, as a result holds them."""
    lines = benchmark_lines(level, failing)
    suite = bounded_suite(steady_suite(suite_lines(level), lines), lines)
    these, similar = suite or (None, None)
    return {"benchmarks": lines, "these": these, "similar": similar}


def _levels(
    table: HostTable,
    first: Multilevel,
    alpha: float,
    beside: Sequence[Multilevel],
) -> tuple[HostEstimates, HostEstimates]:
    """Give what the lines on these hosts and on hosts like these are made of."""
    groups = groups_of(table.each, table.sessions)
    inner, outer = inner_of(table.each, groups), of_differences(table.each.estimate)
    suite = table.suite.changed(lambda part: part[:, None])
    suite_groups = groups_of(suite, table.suite_sessions[:, None])
    inner_suite, outer_suite = inner_of(suite, suite_groups), of_differences(suite.estimate)
    on_these = HostEstimates(
        table=table,
        found=inner,
        suite=inner_suite,
        groups=groups,
        suite_groups=suite_groups,
        law=ErrorLaw(alpha=alpha),
        margin=math.log1p(first.margin),
        correction=first.correction,
        sign=1 if first.better == "higher" else -1,
        beside=[(one.hosts or one).benchmarks for one in beside],
    )
    like_these = replace(
        on_these,
        found=outer_of(inner, outer),
        suite=outer_of(inner_suite, outer_suite),
        outer=(outer, outer_suite),
        beside=[one.benchmarks for one in beside],
    )
    return with_identities(on_these), with_identities(like_these)


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


def _cautions(table: HostTable, level: HostLevel) -> Iterator[Caution]:
    if len(table.hosts) < _FEW:
        yield Caution("few-hosts", f"{len(table.hosts)} hosts say little about others like them")
    yield from _unequal(table, level)
    for k in table.lacking:
        unknown = np.flatnonzero(np.isnan(table.each.estimate[:, k])).tolist()
        text = f"cannot be judged on {figures.listed([table.hosts[i] for i in unknown])}"
        name = table.benchmarks[k]
        yield Caution(
            "benchmark-not-on-all-hosts",
            f"{name} {text}: it is left out of the suite's lines",
            (name,),
        )


def _unequal(table: HostTable, level: HostLevel) -> Iterator[Caution]:
    """Say where hosts have unequal numbers of sessions, and which are the short ones."""
    names = [line.name for line in level.benchmarks if line.law == "grouped"]
    if not names:
        return
    columns = [table.benchmarks.index(name) for name in names]
    counts = table.sessions.min(axis=-1)[:, columns]
    there = counts > 0
    fewest, most = int(counts[there].min()), int(counts.max())
    if fewest == most:  # the same on all hosts, whose sides have unequal numbers: they say so
        return
    short = [table.hosts[i] for i in np.flatnonzero((counts == fewest).any(axis=1)).tolist()]
    by_sessions = all(line.sessions > 1 for k in columns for line in table.of(k) if line.error)
    every = sum(line.law is not None for line in level.benchmarks)
    where = "" if len(names) == every else f"{figures.listed(names)}: "
    yield Caution(
        "hosts-unequal",
        f"{where}hosts have {fewest} to {most} {'sessions' if by_sessions else 'values'}: the short "
        f"ones decide the width; resume {figures.listed(short, 3)}",
        (*short[:3], *(names if where else ())),
    )


def _common_cautions(results: Mapping[str, Multilevel]) -> Iterator[Caution]:
    """Say what hosts say of their own sessions, and how many benchmarks there are."""
    each = {host: one.cautions for host, one in results.items()}
    yield from said_of_hosts(each, without=_OF_ALL, apart=("unequal-sessions",))
    few = [c for one in results.values() for c in one.cautions if c.code == "few-benchmarks"]
    yield from few[:1]
