"""Whether an effect is the same in two trials: a test of two means on session values.

An effect is the log of a speedup, estimated by t on the session values of the difference between the
two variants. Sessions of two trials are independent, so the difference of the two effects has the
standard error sqrt(e1^2 + e2^2): a test of two means with different variances, on the session values
themselves (`differences`). Whether two intervals overlap is another question with a wrong answer: of
two equally wide ones that just touch, the p-value is far below the risk that is asked for [1]_.

References
----------
.. [1] N. Schenker, J. F. Gentleman, "On judging the significance of differences by examining the
   overlap between confidence intervals", The American Statistician 55, 2001.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..methods.multilevel import (
    BenchmarkLine,
    Differences,
    Law,
    Line,
    Multilevel,
    Parts,
    differences_of,
)
from .conclusion import agreement_of, conclusion_of
from .needed import more_sessions
from .result import CandidateComparison, Effect, EffectComparison

__all__ = ["Answers", "compare_answers"]

_BY_SESSIONS = ("paired", "separate")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """What two trials say of one candidate; `lone` are lines that have a partner without a value."""

    old: Multilevel
    new: Multilevel
    lone: tuple[tuple[BenchmarkLine, BenchmarkLine], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """One effect in both trials, `designs` as the trials compare their sides."""

    name: str
    old: Effect
    new: Effect
    designs: tuple[str, str]

    @property
    def tested(self) -> tuple[bool, bool]:
        """Whether each effect's error is that of independent sessions, and its sample a fair one."""
        old, new = (
            design in _BY_SESSIONS and effect.sessions >= 2 and effect.reason is None
            for effect, design in zip((self.old, self.new), self.designs, strict=True)
        )
        return old, new


def compare_answers(
    answers: Sequence[Answers],
    *,
    confidence: float,
    margin: float,
    same: bool = False,
    next_alpha: float | None = None,
) -> tuple[CandidateComparison, ...]:
    """Compare what two trials say of each candidate.

    All benchmarks of all candidates are one family of Holm's, the suites another.

    Parameters
    ----------
    answers : sequence of Answers
        For each candidate what `multilevel` says of both trials, over the same benchmarks.
    confidence : float
        Of the intervals of the ratios; 1 less it is the risk of each family.
    margin : float
        The largest ratio of two effects, less 1, that counts as equivalent.
    same : bool
        Whether both trials are one and the same, which agrees with itself whatever it says.
    next_alpha : float, optional
        The risk of the next look at the new trial; by default 1 - confidence.
    """
    law, bound = Law(alpha=1.0 - confidence), math.log1p(margin)
    following = law if next_alpha is None else Law(alpha=next_alpha)
    pairs = [list(_pairs(one)) for one in answers]
    suites = [_suite(one) for one in answers]
    flat = iter(
        _compared([pair for group in pairs for pair in group], law, following, bound, same=same)
    )
    judged = iter(
        _compared([one for one in suites if one is not None], law, following, bound, same=same)
    )
    found = []
    for one, group, suite in zip(answers, pairs, suites, strict=True):
        benchmarks = tuple(next(flat) for _ in group)
        these = None if suite is None else next(judged)
        found.append(
            CandidateComparison(
                variant=one.old.candidate,
                baseline=one.old.baseline,
                design_old=one.old.design,
                design_new=one.new.design,
                benchmarks=benchmarks,
                these=these,
                word=conclusion_of(benchmarks, these),
            )
        )
    return tuple(found)


def _pairs(answers: Answers) -> Iterable[_Pair]:
    designs = (answers.old.design, answers.new.design)
    theirs = {line.name: line for line in answers.new.benchmarks}
    lines = [(line, theirs[line.name]) for line in answers.old.benchmarks if line.name in theirs]
    known = {line.name for line, _ in lines}
    lone = [pair for pair in answers.lone if pair[0].name not in known]
    for old, new in (*lines, *lone):
        yield _Pair(name=old.name, old=_of(old), new=_of(new), designs=designs)


def _suite(answers: Answers) -> _Pair | None:
    old, new = answers.old.these, answers.new.these
    if old is None or new is None:
        return None
    designs = (answers.old.design, answers.new.design)
    return _Pair(
        name="these",
        old=_of_suite(old, answers.old.design),
        new=_of_suite(new, answers.new.design),
        designs=designs,
    )


def _of(line: BenchmarkLine) -> Effect:
    return _effect(line, line.sessions, line.outcome_uncorrected, line.reason)


def _of_suite(line: Line, design: str) -> Effect:
    """Give the suite's effect; its sessions are what its degrees of freedom count."""
    if design == "confounded":
        return _effect(line, 0, line.outcome, "confounded")
    if design not in _BY_SESSIONS or line.freedoms is None:
        return _effect(line, 1, line.outcome, None)
    freedom = sum(line.freedoms) if line.freedom is None else line.freedom
    sessions = freedom + 1 if design == "paired" else freedom + 2
    return _effect(line, max(round(sessions), 2), line.outcome, None)


def _effect(line: Line, sessions: int, uncorrected: str, reason: str | None) -> Effect:
    return Effect(
        speedup=line.speedup,
        low=line.low,
        high=line.high,
        error=line.error,
        freedom=line.freedom,
        errors=line.errors,
        step_added=line.step_added,
        freedoms=line.freedoms,
        sessions=sessions,
        outcome=line.outcome,
        outcome_uncorrected=uncorrected,  # type: ignore[arg-type]  # a line's words are words
        reason=reason,
    )


def _compared(
    pairs: Sequence[_Pair], law: Law, following: Law, margin: float, *, same: bool
) -> Iterable[EffectComparison]:
    """Judge one family of effects; `following` is the law of the new trial's next look."""
    if not pairs:
        return
    found = _differences(pairs, law.alpha, margin)
    for k, pair in enumerate(pairs):
        shift = found.shift[k]
        agreement, reason = agreement_of(
            pair.old, pair.new, shift, by_sessions=pair.tested, same=same
        )
        more = None
        if reason in ("too-wide", "one-session-new"):
            more = more_sessions(pair.old, pair.new, pair.designs, following, margin)
        yield EffectComparison(
            name=pair.name,
            old=pair.old,
            new=pair.new,
            ratio=_ratio(found.estimate[k]),
            low=_ratio(found.low[k]),
            high=_ratio(found.high[k]),
            error=_known(found.error[k]),
            freedom=_known(found.freedom[k]),
            pvalue=_known(found.pvalue[k]),
            pvalue_welch=_known(found.pvalue_welch[k]),
            pvalue_adjusted=_known(found.pvalue_adjusted[k]),
            law=None if shift is None else "welch" if found.welch[k] else "banerjee",
            difference=shift,
            agreement=agreement,
            reason=reason,
            more_sessions=more,
        )


def _differences(pairs: Sequence[_Pair], alpha: float, margin: float) -> Differences:
    """Test the differences of the effects that have errors by sessions."""
    logs, errors, freedoms = (np.full((len(pairs), 2), math.nan) for _ in range(3))
    parts = tuple(
        Parts(np.zeros((len(pairs), 2)), np.full((len(pairs), 2), math.inf)) for _ in range(2)
    )
    for k, pair in enumerate(pairs):
        for side, (effect, tested) in enumerate(
            zip((pair.old, pair.new), pair.tested, strict=True)
        ):
            logs[k, side] = _log(effect.speedup)
            if not tested or (effect.freedom is None and effect.freedoms is None):
                continue
            errors[k, side], freedoms[k, side] = _number(effect.error), _number(effect.freedom)
            for part, known in zip(parts[side], (effect.errors, effect.freedoms), strict=True):
                part[k, : len(known or ())] = known or ()
    return differences_of(
        logs,
        errors,
        freedoms,
        alpha=alpha,
        margin=margin,
        parts=(parts[0], parts[1]),
        step=np.array([sum(side.step_added or 0.0 for side in (p.old, p.new)) for p in pairs]),
    )


def _log(speedup: float | None) -> float:
    return math.nan if speedup is None else math.log(speedup)


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _ratio(log: float) -> float | None:
    """Give a ratio from its log, cut where it leaves the range of numbers; None for nan."""
    return None if math.isnan(log) else math.exp(min(max(float(log), -700.0), 700.0))
