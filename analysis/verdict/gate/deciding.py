"""Whether a condition on the speedup is proven, ruled out, or neither, from comparisons by session."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...methods.multilevel import Law, Multilevel
from ...report import Caution, merged
from ...stats import adjusted, door
from .condition import Condition, parse_condition
from .result import Gate, GatedCandidate, GateLine, On, Outcome

if TYPE_CHECKING:
    from ...methods.multilevel import Line

__all__ = ["gate"]

_SESSIONS = ("paired", "separate", "hosts")  # designs whose replication is the session, or the host
_DOUBT = {"confounded": "confounded"}  # of a design that cannot decide; the others: one session


@door
def gate(
    results: Multilevel | Sequence[Multilevel],
    condition: str,
    *,
    on: On = "suite",
    failing: Sequence[str] = (),
    metric: str | None = None,
) -> Gate:
    """Decide a condition such as ``slower>2%`` for one or several candidates.

    With L the limit of the speedup (1/1.02 of ``slower>2%``), x the log speedup of a line, e its
    standard error and f its degrees of freedom, the null hypothesis of a proof is "the speedup is L
    or more": p = P(T_f <= (x - log L) / e), one-sided, by Holm over the benchmarks of one candidate
    at half the risk of this look, `look_alpha`. Where no single f fits the line (sides, or hosts, of
    unequal numbers of sessions), p is half the risk at which its interval would end at L. The condition
    is ruled out on a line where the lower end of its uncorrected interval lies above L; of all
    benchmarks where that holds for every one, which needs no correction (an intersection-union test).
    Always-valid bounds take the place of t where the comparison has them. The clock's step is
    taken from each distance. A line without spread has no interval: it counts as p = 1, undecided.

    Parameters
    ----------
    results : Multilevel or sequence of Multilevel
        Comparisons by `multilevel`, one a candidate, with one confidence and one look.
    condition : str
        ``slower>N%``, ``worse>N%`` (the same) or ``faster<N%``.
    on : {"suite", "benchmarks"}
        What must pass: these benchmarks together, or each of them. Either way no benchmark may be
        proven; of "suite" neither may the suite be, whose risk is its own.
    failing : sequence of str
        Candidates that cannot be compared because none of their runs succeeded, although runs of the
        baseline did: proven, for that reason.
    metric : str, optional
        What was compared, for the record.

    Returns
    -------
    Gate
        `outcome` "passed", "proven" or "undecided" and the exit code. Only the designs "paired" and
        "separate" decide; a candidate that fails significantly more often is "proven" in any.

    Raises
    ------
    UsageError
        If the condition or `on` is unknown, there is nothing to decide, or confidences differ.

    References
    ----------
    Holm, S.: A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6 (1979), section 2. Berger, R. L.: Multiparameter hypothesis testing and acceptance
    sampling. Technometrics 24 (1982), theorem 1: the intersection-union test.
    """
    asked = parse_condition(condition)
    if on not in ("suite", "benchmarks"):
        raise UsageError(f"on must be 'suite' or 'benchmarks', not {on!r}")
    found = (results,) if isinstance(results, Multilevel) else tuple(results)
    if not found and not failing:
        raise UsageError("there is no candidate at the gate", None, "compare at least one")
    risks = {one.look_alpha for one in found}
    if len(risks) > 1:
        told = ", ".join(f"{1 - risk:g}" for risk in sorted(risks, reverse=True))
        raise UsageError(
            f"the comparisons have different confidences: {told}",
            None,
            "use one, and as many looks for all",
        )
    gated = [_candidate(one, asked, on) for one in found]
    return Gate(
        condition=asked.text,
        metric=metric,
        limit=asked.limit,
        on=on,
        confidence=round(1 - found[0].look_alpha, 15) if found else None,
        risk=_risk(found[0]) if found else None,
        candidates=(*gated, *(_failed(name, found) for name in failing)),
        cautions=merged(
            *(_told(one, len(found)) for one in found),
            *(_unanswered(one, on) for one in gated),
        ),
        references=(
            "Holm, A simple sequentially rejective multiple test procedure (1979)",
            "Berger, Multiparameter hypothesis testing and acceptance sampling (1982)",
        ),
    )


def _risk(one: Multilevel) -> float:
    return round(one.look_alpha / 2, 15)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What holds for every line of a candidate; `doubt` forbids any decision."""

    asked: Condition
    risk: float
    doubt: str | None
    law: Law


def _candidate(one: Multilevel, asked: Condition, on: On) -> GatedCandidate:
    terms = _Terms(
        asked=asked,
        risk=_risk(one),
        doubt=None if one.design in _SESSIONS else _DOUBT.get(one.design, "one-session"),
        law=Law(alpha=one.look_alpha, always_valid=one.always_valid),
    )
    chances = [_chance(line, terms) for line in one.benchmarks]
    ranks = {k: rank for k, (_, rank) in enumerate(chances) if rank is not None}
    # a line without spread has no p, and takes the place of the largest
    corrected = dict(zip(ranks, adjusted(list(ranks.values()), "holm").tolist(), strict=True))
    benchmarks = tuple(
        _line(line, terms, p, corrected.get(k), line.reason)
        for k, (line, (p, _)) in enumerate(zip(one.benchmarks, chances, strict=True))
    )
    if one.these is None:
        measured = [line for line in benchmarks if line.speedup is not None]
        suite = measured[0] if len(measured) == 1 else None
    else:
        alone = _line(one.these, terms, *_chance(one.these, terms), None)
        suite = replace(alone, name="suite", pvalue_condition_adjusted=None)
    fails = any(line.reason == "fails-more" for line in benchmarks)
    return GatedCandidate(
        candidate=one.candidate,
        baseline=one.baseline,
        unit=one.unit,
        better=one.better,
        design=one.design,
        outermost=one.outermost,
        sessions=one.sessions,
        looks=one.looks,
        look_alpha=one.look_alpha,
        looks_rule=one.looks_rule,
        risk_total=one.risk_total,
        always_valid=one.always_valid,
        outcome=_outcome(suite, benchmarks, on),
        reason="fails-more" if fails else terms.doubt,
        suite=suite,
        benchmarks=benchmarks,
    )


def _outcome(suite: GateLine | None, benchmarks: Sequence[GateLine], on: On) -> Outcome:
    """Give the worst of what must pass and of what must not be proven."""
    if any(line.outcome == "proven" for line in benchmarks):
        return "proven"
    if on == "suite":
        return "undecided" if suite is None else suite.outcome
    passed = bool(benchmarks) and all(line.outcome == "passed" for line in benchmarks)
    return "passed" if passed else "undecided"


def _chance(line: Line, terms: _Terms) -> tuple[float | None, float | None]:
    """Give the one-sided p of "the speedup is the limit or more", and its place among others.

    Both None where nothing may be decided; a line without spread has no p, and the place of p = 1.
    """
    if terms.doubt is None and getattr(line, "reason", None) == "no-spread":
        return None, 1.0
    if terms.doubt is not None or line.speedup is None or line.error is None or line.high is None:
        return None, None
    if line.freedom is None and not line.in_parts:
        return None, None
    # the clock's step is taken from the distance below the limit
    distance = math.log(line.speedup) - terms.asked.log_limit + (line.step_added or 0.0)
    both = terms.law.pvalue_of(line, distance)
    p = 1 - both / 2 if distance > 0 else max(both / 2, sys.float_info.min)  # never 0
    return p, p


def _line(
    line: Line, terms: _Terms, p: float | None, rank: float | None, reason: str | None
) -> GateLine:
    """Decide a line: `rank` is its p after the correction, or the place of a line without spread."""
    outcome: Outcome = "undecided"
    if reason == "fails-more":
        outcome = "proven"
    elif terms.doubt is not None:
        reason = terms.doubt
    elif rank is None or line.low is None:
        reason = "no-interval" if reason in (None, "no-spread") else reason
    elif line.low > terms.asked.limit:
        outcome = "passed"
    elif rank <= terms.risk:
        outcome = "proven"
    return GateLine(
        name=line.name,
        speedup=line.speedup,
        low=line.low,
        high=line.high,
        pvalue_condition=p,
        pvalue_condition_adjusted=None if p is None else rank,
        outcome=outcome,
        reason=reason,
    )


def _failed(name: str, found: Sequence[Multilevel]) -> GatedCandidate:
    """Give a candidate none of whose runs succeeded."""
    return GatedCandidate(
        candidate=name,
        baseline=found[0].baseline if found else None,
        unit=None,
        better=None,
        design=None,
        sessions=0,
        looks=1,
        look_alpha=None,
        looks_rule="single",
        risk_total=None,
        always_valid=False,
        outcome="proven",
        reason="fails-more",
        suite=None,
        benchmarks=(),
    )


def _told(one: Multilevel, candidates: int) -> tuple[Caution, ...]:
    """Give the cautions of a comparison, with the candidate's name where there are several."""
    if candidates == 1:
        return one.cautions
    return tuple(caution.of(one.candidate) for caution in one.cautions)


def _unanswered(one: GatedCandidate, on: On) -> tuple[Caution, ...]:
    """Say which benchmarks no interval answers for, where the suite passes without them."""
    names = [
        line.name for line in one.benchmarks if line.reason in ("no-interval", "below-resolution")
    ]
    if on == "benchmarks" or one.reason is not None or not names:
        return ()
    said = f"{one.candidate}: the gate has no interval for {', '.join(names)}, and passes without"
    return (Caution("gate-without", said, (one.candidate, *names)),)
