"""The lines of the verdict, from tables and decisions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import AnalysisError
from ...stats.samples import Array, Flags
from .design import PAIRS, Design, Tables, totals_of
from .estimates import (
    FAR,
    FLAT,
    IDENTICAL,
    ErrorParts,
    Estimates,
    Exact,
    Resolution,
    estimates_of,
    identity_needs,
    identity_pvalue,
    identity_reason,
    number_of,
    of_differences,
    shares_of,
    sides_of,
    similar_half,
    suite_of_cells,
    suite_of_differences,
    suite_of_means,
    unjudged,
)
from .failures import Failing, fisher
from .law import AdviceQuestion, Decisions, ErrorLaw, Scatter, decide, lazy_advice, word_by_interval
from .result import Line, MoreSessions

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...pages.number_format import Word
    from ...stats.multiplicity import Correction

NO_STEADY_STATE = "no-steady-state"
UNEQUAL_VALUES = "unequal-values"
TAKEN_BACK = (NO_STEADY_STATE, UNEQUAL_VALUES)  # reasons that take the suite's words back too
_TWICE = 2.0
_UNLIKE = 0.05  # risk of taking sides for different that have no steady state equally often
WIDEST = 700.0  # logs whose exponential is a number


def decided(found: Estimates, d: Decisions, k: int, name: str) -> dict[str, Any]:
    """Give the numbers of a line, from entry `k` of estimates and decisions."""
    known = not math.isnan(d.low[k])
    law = None if found.chance is None or math.isnan(found.chance[k]) else "identity"
    errors, freedoms = (found.parts or found.own_parts()).of(k)
    return {
        "name": name,
        "speedup": exponential(float(found.estimate[k]), name),
        "low": end_of(d.low[k]),
        "high": end_of(d.high[k]),
        "error": number_of(found.error[k], d.low[k]),
        "freedom": number_of(found.freedom[k], d.low[k]),
        "law": found.laws[math.isnan(found.freedom[k])] if known else law,
        "errors": errors if known else None,
        "freedoms": freedoms if known else None,
        "pvalue": number_of(d.pvalue[k]),
        "pvalue_equivalent": number_of(d.pvalue_equivalent[k]),
        "pvalue_welch": number_of(d.pvalue_welch[k]),
        "step_added": number_of(found.widening[k], d.low[k]),
    }


def corrected(d: Decisions, k: int) -> dict[str, Any]:
    """Give the numbers of a benchmark's line after, and its word before, the correction."""
    return {
        "pvalue_adjusted": number_of(d.pvalue_adjusted[k]),
        "pvalue_equivalent_adjusted": number_of(d.pvalue_equivalent_adjusted[k]),
        "outcome_uncorrected": d.outcome_uncorrected[k],
    }


def exponential(log: float, where: str) -> float | None:
    """Give a ratio from its log; None for nan."""
    if math.isnan(log):
        return None
    if abs(log) > WIDEST:
        raise AnalysisError(
            "the speedup leaves the range of numbers",
            where,
            "look for values that are no measurements: they lie too far apart",
        )
    return math.exp(log)


def end_of(log: float) -> float | None:
    """Give the end of an interval, cut where it leaves the range of numbers; None for nan."""
    return None if math.isnan(log) else ratio_of(log)


def ratio_of(log: float) -> float:
    """Give a ratio from its log, cut where it leaves the range of numbers."""
    return math.exp(min(max(log, -WIDEST), WIDEST))


def spread_of(sd: float) -> float | None:
    """Give the relative standard deviation of values whose logs have this one; None for nan."""
    return None if math.isnan(sd) else math.expm1(min(sd, WIDEST)) if sd > FLAT else 0.0


def pvalue_at(line: Line, law: ErrorLaw, distance: float) -> float:
    """Give the two-sided p of H0: the log speedup of a line is `distance` away from where it is."""
    error = np.array(line.error, dtype=np.float64)
    if not line.in_parts:
        found = law.pvalue(np.array(distance), error, np.array(line.freedom, dtype=np.float64))
    else:
        parts = ErrorParts(np.array(line.errors), np.array(line.freedoms))
        found = law.pvalue(np.array(distance), error, np.array(np.nan), parts)
    return float(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LineParts:
    """What both kinds of lines are made of.

    `margin` is that of the log ratio, `sign` -1 where less is better; `each` are the benchmarks'
    estimates, `resolution` what the clock adds to them, `exact` what is counted, `zeroed` tells which times have
    runs of 0. `next_law` has the level of the next look. `beside` are the p-values of the other `candidates`, as
    `decide` takes them.
    """

    design: Design
    tables: Tables
    each: Estimates
    resolution: Resolution
    exact: Exact
    zeroed: Flags
    weights: Array
    law: ErrorLaw
    next_law: ErrorLaw
    margin: float
    sign: int
    unit: str
    correction: Correction
    totals: Array
    candidates: int
    beside: tuple[Array, Array]

    @property
    def in_suite(self) -> int:
        """How many benchmarks have an estimate that the suite's mean can hold."""
        return int((~np.isnan(self.each.estimate) & ~self.exact.arithmetic).sum())


def family_of(beside: Sequence[Sequence[Line]], name: str) -> Array:
    """Give the p-values of other candidates' benchmarks; what does not vary takes part with 1."""
    found = [(getattr(x, name), x.reason) for lines in beside for x in lines]
    known = (p for p, reason in found if p is not None or reason == "no-spread")
    return np.array([1.0 if p is None else p for p in known])


# ---- benchmarks


def benchmark_lines(
    judged: LineParts,
    ours: PerformanceMatrix,
    theirs: PerformanceMatrix,
    failing: Mapping[str, Failing],
) -> tuple[Line, ...]:
    """Give a line for each benchmark that both matrices have."""
    raw, wide = judged.exact.arithmetic, math.exp(judged.margin)
    sides = (above(judged, slice(None), limit) for limit in (1 / wide, wide))
    equivalent = np.maximum(next(sides), 1.0 - next(sides))
    margins = np.where(raw, 0.0, judged.margin)
    d = decide(
        judged.each, judged.law, margins, judged.correction, equivalent, beside=judged.beside
    )
    each = enumerate(ours.benchmarks)
    reasons = [_reason(judged, failing[name], d.outcome[k], k) for k, name in each]
    words: list[Word] = [
        "undecided" if reason not in (None, IDENTICAL) else word
        for reason, word in zip(reasons, d.outcome, strict=True)
    ]
    asked = [word == "undecided" and not why for word, why in zip(words, reasons, strict=True)]
    advice = _advice(judged, np.array(asked) & ~raw, (d.steps, d.steps_equivalent))
    advice |= advice_on_identities(judged, reasons, d.steps)
    t, values = judged.tables, judged.tables.differences if judged.tables.rows else None
    means = [_means(table, judged.sign, raw) for table in (t.ours, t.theirs)]
    logs = judged.each._replace(estimate=np.where(raw, np.nan, judged.each.estimate))
    clock, single = judged.resolution, 0 if judged.design == "confounded" else 1
    by_sessions = judged.design in ("paired", "separate")
    lines = []
    for k, name in enumerate(ours.benchmarks):
        there = np.flatnonzero([] if values is None else ~np.isnan(values[:, k]))
        lines.append(
            Line(
                **(decided(logs, d, k, name) | counted_fields(judged, d, k, means)),
                **corrected(d, k),
                outcome=words[k],
                more_sessions=advice.get(k),
                totals=totals_of(judged.totals[:, k : k + 1], np.ones(1), judged.margin),
                mean_candidate=means[0][k],
                mean_baseline=means[1][k],
                spread_candidate=spread_of(t.spreads[0][k]),
                spread_baseline=spread_of(t.spreads[1][k]),
                runs_candidate=len(ours.samples[k]),
                runs_baseline=len(theirs.samples[k]),
                failed_candidate=ours.failed.get(name, 0),
                failed_baseline=theirs.failed.get(name, 0),
                sessions=int(judged.each.values[k]) if by_sessions else single,
                session_ids=tuple(t.rows[i] for i in there),
                differences=() if values is None or raw[k] else tuple(values[there, k].tolist()),
                resolution=number_of(clock.step[k]),
                resolution_source=clock.sources[k],
                step_log=number_of(clock.log[k]),
                error_floor=number_of(clock.floor[k]),
                **(failing[name]._asdict() | {"reason": reasons[k]}),
            )
        )
    return tuple(lines)


def told_by_values(line: Line, ours: PerformanceMatrix, theirs: PerformanceMatrix) -> Line:
    """Take back the word of a line of whose runs too few have a steady state, or of whose quantile one side has few values.

    A side has no steady state too often, or not as often as the other; or more than twice as many values as the other.
    """
    if line.reason is not None:
        return line
    both = ours, theirs
    cells = [x.judged_iterations[line.name] for x in both if line.name in x.judged_iterations]
    counts = [number for one in cells for number in (one.without, one.runs)]
    if any(one.unsteady for one in cells) or (len(cells) > 1 and fisher(*counts) <= _UNLIKE):
        reason = NO_STEADY_STATE
    elif not is_printed(ours, line.name) and times_as_many(ours, theirs, line.name) > _TWICE:
        reason = UNEQUAL_VALUES
    else:
        return line
    return replace(line, outcome="undecided", reason=reason, more_sessions=None)


def times_as_many(ours: PerformanceMatrix, theirs: PerformanceMatrix, name: str) -> float:
    """Give how many times as many values one side of a quantile has; 1 where nobody knows."""
    sizes = [side.values_of[name].mean for side in (ours, theirs) if name in side.values_of]
    return max(sizes) / min(sizes) if len(sizes) > 1 else 1.0


def is_printed(side: PerformanceMatrix, name: str) -> bool:
    """Tell whether a quantile was printed: how many values are behind it is known, and nothing is corrected."""
    return name in side.values_of and side.values_of[name].compared_at is None


def steady_suite(
    suite: tuple[Line, Line] | None, lines: Sequence[Line]
) -> tuple[Line, Line] | None:
    """Take back the words of a suite one of whose benchmarks has none, as runs have no steady state or too unlike numbers of values."""
    return suite if all(x.reason not in TAKEN_BACK for x in lines) else withheld_suite(suite)


def withheld_suite(suite: tuple[Line, Line] | None) -> tuple[Line, Line] | None:
    """Take back the words of a suite."""
    return suite and (
        replace(suite[0], outcome="undecided"),
        replace(suite[1], outcome="undecided"),
    )


def _reason(judged: LineParts, failing: Failing, word: Word, k: int) -> str | None:
    if failing.reason is not None:
        return failing.reason
    if (identity := judged.exact.identity(k)) is not None:
        return identity_reason(identity, word)
    if judged.zeroed[k] and np.isnan(judged.each.estimate[k]):
        return "below-resolution"
    if judged.each.error[k] == 0:
        return "no-spread"
    return "confounded" if judged.design == "confounded" else None


def _means(table: Array, sign: int, raw: Flags) -> list[float | None]:
    """Give the mean of each benchmark over the rows of a table: the geometric one of logs."""
    mean = sign * of_differences(table).estimate
    mean = np.where(raw, mean, np.exp(np.where(raw, 0.0, mean)))
    return [number_of(m) for m in mean.tolist()]


# ---- what is counted


def above(judged: LineParts, k: int | slice, limit: float) -> Array:
    """Give the one-sided p of H0: the speedup is `limit` or less, of benchmarks that are arithmetic; nan of others."""
    exact = judged.exact
    if not exact.arithmetic.any():
        return np.full(exact.flags.shape, np.nan)[k]
    ratio = limit**judged.sign
    found = estimates_of(judged.design, judged.tables, judged.resolution, exact, ratio)
    return np.asarray(np.where(exact.arithmetic, judged.law.one_sided(found), np.nan)[k])


def counted_fields(
    judged: LineParts, d: Decisions, k: int, means: Sequence[Sequence[float | None]]
) -> dict[str, Any]:
    """Give what a line of counts has else than others."""
    identity = judged.exact.identity(k)
    found: dict[str, Any] = {} if identity is None else {"law": "identity", "identity": identity}
    if not judged.exact.arithmetic[k]:
        return found
    middle, *ends = (judged.sign * one[k] for one in (judged.each.estimate, d.low, d.high))
    low, high = sorted(ends)
    ours, theirs = (side[k] for side in means)
    speedup = (ours / theirs) ** judged.sign if ours and theirs else None
    found |= dict.fromkeys(("low", "high", "error", "freedom", "errors", "freedoms"))
    found |= {} if speedup is None else _ends(judged, k, math.log(speedup))
    return found | {
        "scale": "arithmetic",
        "speedup": speedup,
        "difference": number_of(middle),
        "difference_low": number_of(low),
        "difference_high": number_of(high),
        "above": partial(above, judged, k),
    }


def _ends(judged: LineParts, k: int, middle: float) -> dict[str, float]:
    """Give the ends of the speedups that E does not reject; nothing where they go on without end."""
    from scipy.optimize import brentq  # a third of what a verdict takes to start

    def left(log: float, way: int) -> float:
        p = float(above(judged, k, math.exp(log)))
        return (p if way < 0 else 1.0 - p) - judged.law.alpha / 2

    try:
        ends = [math.exp(brentq(left, middle, middle + way * FAR, (way,))) for way in (-1, 1)]
    except ValueError:
        return {}
    return dict(zip(("low", "high"), ends, strict=True))


# ---- the suite


def suite_lines(judged: LineParts) -> tuple[Line, Line] | None:
    """Give the lines of these benchmarks and of others like them; None unless there are two."""
    if judged.in_suite < 2:
        return None
    t, weights, clock = judged.tables, judged.weights, judged.resolution
    floors = clock.floor_ours, clock.floor_theirs
    if judged.design in PAIRS:
        found = suite_of_differences(t.differences, weights, clock.floor)
    elif judged.design == "one session, runs":
        found = suite_of_cells(t.ours, t.theirs, weights, floors)
    else:
        found = suite_of_means(t.ours, t.theirs, weights, floors, judged.exact.alone)
    share = shares_of(judged.each.estimate, weights)
    found = found._replace(step=np.asarray((share * judged.each.widening).sum()))
    if (judged.exact.constant | (share == 0)).all():
        # the values of all benchmarks in one cell are one value of that cell
        chance = identity_pvalue(*judged.exact.cells[:, share > 0].min(axis=1))
        found = found._replace(chance=chance)
    if judged.design == "confounded":
        found = unjudged(found)
    one = found.changed(lambda part: np.asarray(part)[None])
    count = 1 if judged.correction == "none" else judged.candidates
    more = np.ones(count - 1)
    d = decide(one, judged.law, judged.margin, "holm" if count > 1 else "none", beside=(more, more))
    advice: tuple[MoreSessions, ...] = ()
    scatter = _suite_scatter(judged, one) if d.outcome[0] == "undecided" else None
    if scatter is not None:
        steps, law = (d.steps, d.steps_equivalent), judged.next_law
        advice = lazy_advice(AdviceQuestion(one.estimate, scatter, law, judged.margin, steps))
    these = Line(
        **decided(one, d, 0, "these"),
        of_suite=True,
        outcome=d.outcome[0],
        more_sessions=advice[0] if advice else None,
        totals=totals_of(judged.totals, share, judged.margin),
    )
    similar = []
    for alpha in (judged.law.alpha, judged.law.alpha / count):
        half = replace(judged.law, alpha=alpha).half(found.error, found.freedom, found.parts)
        half = half + found.widening
        half = np.where((found.error == 0) & (d.outcome[0] == "undecided"), np.nan, half)
        wide = similar_half(judged.each.estimate, weights, half, alpha)
        line = similar_line(these.speedup, float(found.estimate), float(wide), judged.margin)
        similar.append(line)
    return these, replace(similar[0], outcome=similar[1].outcome)


def similar_line(speedup: float | None, centre: float, half: float, margin: float) -> Line:
    """Give the line of other benchmarks like these, from the centre and half-width of its interval."""
    low, high = centre - half, centre + half
    return Line(
        name="similar",
        of_suite=True,
        speedup=speedup,
        low=end_of(low),
        high=end_of(high),
        outcome=word_by_interval(low, high, margin),
    )


# ---- advice


def _advice(judged: LineParts, asked: Flags, steps: tuple[Array, Array]) -> dict[int, MoreSessions]:
    """Advise on the benchmarks that are asked for, where the design and the values allow it."""
    t = judged.tables
    if judged.design == "paired":
        sides, values = [judged.each], [t.differences]
    elif judged.design == "separate":
        sides, values = [*sides_of(t, judged.resolution, judged.exact)], [t.ours, t.theirs]
    else:
        return {}
    some = asked & (judged.each.error > 0)
    if not some.any():
        return {}
    # the mean over the sessions of the variance within; nan where no session knows it
    known = (np.where(np.isnan(x), np.nan, one) for x, one in zip(values, t.within, strict=True))
    within = [of_differences(one).estimate for one in known]
    scatter = Scatter(
        variance=np.stack([e.error**2 * e.values for e in sides], axis=1)[some],
        sessions=np.stack([e.values.astype(np.float64) for e in sides], axis=1)[some],
        within=np.stack(within, axis=1)[some],
        step=judged.each.widening[some],
    )
    estimate, those = judged.each.estimate[some], (steps[0][some], steps[1][some])
    asked_of = AdviceQuestion(estimate, scatter, judged.next_law, judged.margin, those)
    return dict(zip(np.flatnonzero(some).tolist(), lazy_advice(asked_of), strict=True))


def advice_on_identities(
    judged: LineParts, reasons: Sequence[str | None], steps: Array
) -> dict[int, MoreSessions]:
    """Advise on what does not vary: how many sessions more decide, if they do not vary either."""
    found = {}
    for k, reason in enumerate(reasons):
        one, gap = judged.exact.identity(k), float(judged.each.estimate[k])
        if one is None or reason not in ("few-sessions", "no-spread"):
            continue
        margin = 0.0 if judged.exact.arithmetic[k] else judged.margin
        same = one.candidate == one.baseline or abs(gap) < margin - FLAT
        level = 1.0 if same else judged.next_law.alpha / float(steps[k])
        n, m = judged.exact.cells[:, k].astype(int).tolist()
        more = max(identity_needs(n, m, level), 1)
        target: Word = "equivalent" if same else "faster" if gap > 0 else "slower"
        found[k] = MoreSessions(
            sessions=more, low=more, high=more, chance=1.0, target=target, runs_suffice=False
        )
    return found if judged.design in ("paired", "separate") else {}


def _suite_scatter(judged: LineParts, found: Estimates) -> Scatter | None:
    if not found.error[0] > 0 or judged.design not in ("paired", "separate"):
        return None
    errors, freedoms = found.parts or found.own_parts()
    return Scatter(
        variance=errors**2 * (freedoms + 1),
        sessions=freedoms + 1,
        within=np.full(errors.shape, np.nan),
        step=found.widening,
    )


def failed_lines(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, failing: Mapping[str, Failing]
) -> tuple[Line, ...]:
    """Give a line for each benchmark where all the candidate's runs failed, and not the baseline's."""
    runs = dict(zip(baseline.benchmarks, baseline.runs, strict=True))
    known = set(candidate.benchmarks)
    return tuple(
        Line(
            name=name,
            outcome="undecided",
            outcome_uncorrected="undecided",
            runs_candidate=0,
            runs_baseline=runs[name],
            failed_candidate=count,
            failed_baseline=baseline.failed.get(name, 0),
            **failing[name]._asdict(),
        )
        for name, count in candidate.failed.items()
        if count and name not in known and name in runs
    )
