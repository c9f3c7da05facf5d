"""Each effect of the old trial against that of the new one: agreement, and sessions still needed.

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..methods.multilevel.advice import chances
from ..methods.multilevel.estimates import ErrorParts, number_of
from ..methods.multilevel.host_effects import HostDifferences, Shift, differences_of
from ..methods.multilevel.law import ErrorLaw
from ..methods.multilevel.lines import end_of
from .comparison_result import (
    Agreement,
    CandidateComparison,
    Effect,
    EffectComparison,
    More,
    Reproduction,
)

if TYPE_CHECKING:
    from ..methods.multilevel.result import BenchmarkLine, Line, Multilevel
    from ..pages.number_format import Word


def agreement_of(
    old: Effect,
    new: Effect,
    shift: Shift | None,
    *,
    by_sessions: tuple[bool, bool],
    same: bool,
) -> tuple[Agreement, str | None]:
    """Say what becomes of the old trial's word, and why it cannot be told where that is so.

    In this order: proven differences differ, whatever the words; the same conclusion agrees. An
    interval of the new trial that holds both "no effect" and the old effect says nothing about it:
    cannot tell. Everything else is compatible: another word, and no proven difference.
    """
    if same:
        return "agrees", None
    missing = _missing(old, new, by_sessions)
    if missing is not None:
        return "cannot tell", missing
    if shift in ("larger", "smaller"):
        return "differs", None
    if old.decided and old.outcome == new.outcome:
        return "agrees", None
    if not old.decided and not new.decided:
        if shift == "equivalent":
            return "compatible", None
        return "cannot tell", "nothing-concluded"
    if new.decided or shift == "equivalent" or new.outcome_uncorrected != "undecided":
        return "compatible", None
    return ("cannot tell", "too-wide") if _holds(new, old.speedup) else ("compatible", None)


def _missing(old: Effect, new: Effect, by_sessions: tuple[bool, bool]) -> str | None:
    both = ((old, "old"), (new, "new"))
    for side, name in both:
        if side.reason in ("fails-more", "fails-always"):
            return f"fails-more-{name}"
    for side, name in both:
        if side.speedup is None:
            return f"no-value-{name}"
        if side.reason in ("no-spread", "depends", "no-steady-state", "unequal-values", "cut-off"):
            return f"{side.reason}-{name}"
    for tested, (_, name) in zip(by_sessions, both, strict=True):
        if not tested:
            return f"one-session-{name}"
    return None


def _holds(effect: Effect, speedup: float | None) -> bool:
    if effect.low is None or effect.high is None or speedup is None:
        return True  # an interval without ends excludes nothing
    return effect.low <= speedup <= effect.high


def conclusion_of(
    benchmarks: Sequence[EffectComparison], these: EffectComparison | None
) -> Reproduction:
    """Say what becomes of the old trial's conclusions on one candidate.

    A conclusion is a decided word. The suite's leads, or that of the only benchmark; where the old
    trial leaves the suite undecided, the conclusions on its benchmarks are what there is.
    """
    known = [one for one in benchmarks if one.ratio is not None]
    lead = these if these is not None else known[0] if len(known) == 1 else None
    everything = [*benchmarks, *([] if these is None else [these])]
    concluded = [one for one in everything if one.old.decided]
    differing = [one for one in everything if one.agreement == "differs"]
    if lead is not None and lead in differing:
        return "partly" if lead.old.decided and lead.old.outcome == lead.new.outcome else "not"
    if differing:
        left = any(one.agreement in ("agrees", "compatible") for one in concluded)
        return "partly" if left else "not"
    if everything and all(one.agreement == "agrees" for one in everything):
        return "reproduced"
    if lead is not None and lead.old.decided:
        return _LEADING[lead.agreement]
    found = {one.agreement for one in concluded}
    if found == {"agrees"}:
        return "reproduced"
    return "partly" if found - {"cannot tell"} else "cannot tell"


_LEADING: dict[Agreement, Reproduction] = {
    "agrees": "reproduced",
    "compatible": "partly",
    "differs": "not",
    "cannot tell": "cannot tell",
}


def overall(words: Sequence[Reproduction]) -> Reproduction:
    """Put the words of all candidates together.

    One word where all have it. "not" where nothing else was told; "partly" where some conclusions
    hold and others do not, or could not be told.
    """
    found = set(words) - {"cannot tell"}
    if not found:
        return "cannot tell"
    if found == {"reproduced"}:
        return "reproduced" if "cannot tell" not in words else "partly"
    return "not" if found == {"not"} else "partly"


_LIMIT = 100
_CHANCE = 0.8
_LEAST = 2  # sessions that show how sessions differ


def more_sessions(
    old: Effect, new: Effect, designs: tuple[str, str], law: ErrorLaw, margin: float
) -> More | None:
    """Say with how many more sessions the new trial would say the old one's word.

    The effect is taken as the old trial estimates it. The spread of a session value is the new
    trial's; of a single session nobody knows it, and the old trial's is taken. None where neither
    has one, or there is nothing to be seen.
    """
    if old.speedup is None or not old.decided:
        return None
    source, design = (new, designs[1]) if _known(new, designs[1]) else (old, designs[0])
    if not _known(source, design):
        return None
    sides = 2 if design == "separate" else 1  # each side has sessions of its own, and needs as many
    have = max(new.sessions, 0) // sides
    spread = _spread(source, sides)
    if spread == 0:
        lacking = max(_LEAST - have, 0)
        return More(sessions=lacking, target=old.outcome) if lacking else None
    if source is new and new.freedom is None and new.errors and new.freedoms:
        # sides of unequal numbers stay unequal, and keep a quantile each
        before = np.array(new.freedoms) + 1.0
        more = np.arange(1.0, _LIMIT + 1)
        freedom = before + more[:, None] - 1.0
        error = np.array(new.errors) * np.sqrt(before / (freedom + 1.0))
    else:
        counts = np.arange(max(have + 1, _LEAST), have + _LIMIT + 1, dtype=np.float64)
        more, freedom, error = counts - have, sides * (counts - 1.0), spread / np.sqrt(counts)
    multiplier = law.multiplier(freedom)
    step, distance = new.step_added or 0.0, abs(math.log(old.speedup))
    if old.outcome != "equivalent":  # the clock's step is taken from the distance that is tested
        distance = max(distance - step, 0.0)
    effect, limits = np.full(more.shape, distance), (multiplier, multiplier)
    outside, inside = chances(effect, error, freedom, limits, margin - step)
    chance = inside if old.outcome == "equivalent" else outside
    enough = np.flatnonzero(chance >= _CHANCE)
    return More(sessions=int(more[enough[0]]) if enough.size else None, target=old.outcome)


def _spread(effect: Effect, sides: int) -> float:
    """Give the standard deviation of a session's value, of both sides together."""
    if effect.freedom is None and effect.errors and effect.freedoms:
        variances = (e**2 * (f + 1) for e, f in zip(effect.errors, effect.freedoms, strict=True))
        return math.sqrt(math.fsum(variances))
    counted = max(effect.sessions // sides, _LEAST)
    return float(effect.error or 0.0) * math.sqrt(counted)


def _known(effect: Effect, design: str) -> bool:
    return design in ("paired", "separate") and effect.error is not None and effect.sessions >= 2


_BY_SESSIONS = ("paired", "separate")
_OF_A_LINE = (
    *("speedup", "low", "high", "outcome"),
    *("error", "errors", "freedom", "freedoms", "step_added"),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EffectPairs:
    """What two trials say of one candidate; `lone` are lines that have a partner without a value."""

    old: Multilevel
    new: Multilevel
    lone: tuple[tuple[BenchmarkLine, BenchmarkLine], ...] = ()


class _EffectPair(NamedTuple):
    """One effect in both trials, and how each of them compares its sides."""

    name: str
    effects: tuple[Effect, Effect]
    designs: tuple[str, str]

    @property
    def tested(self) -> tuple[bool, bool]:
        """Whether each effect's error is that of independent sessions, and its sample a fair one."""
        old, new = (
            design in _BY_SESSIONS and effect.sessions >= 2 and effect.reason is None
            for effect, design in zip(self.effects, self.designs, strict=True)
        )
        return old, new


def compare_answers(
    answers: Sequence[EffectPairs],
    *,
    confidence: float,
    margin: float,
    same: bool = False,
    next_alpha: float | None = None,
) -> tuple[CandidateComparison, ...]:
    """Compare what two trials say of each candidate."""
    law, bound = ErrorLaw(alpha=1.0 - confidence), math.log1p(margin)
    following = law if next_alpha is None else ErrorLaw(alpha=next_alpha)
    pairs = [list(_pairs(one)) for one in answers]
    suites = [list(_suite(one)) for one in answers]
    flat, judged = (
        iter(_compared([pair for one in family for pair in one], law, following, bound, same=same))
        for family in (pairs, suites)
    )
    found = []
    for one, group, suite in zip(answers, pairs, suites, strict=True):
        benchmarks = tuple(next(flat) for _ in group)
        these = next(judged) if suite else None
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


def _pairs(answers: EffectPairs) -> Iterator[_EffectPair]:
    theirs = {line.name: line for line in answers.new.benchmarks}
    lines = [(line, theirs[line.name]) for line in answers.old.benchmarks if line.name in theirs]
    known = {line.name for line, _ in lines}
    for old, new in (*lines, *(pair for pair in answers.lone if pair[0].name not in known)):
        effects = (
            _effect(old, old.sessions, old.outcome_uncorrected, old.reason),
            _effect(new, new.sessions, new.outcome_uncorrected, new.reason),
        )
        yield _EffectPair(old.name, effects, (answers.old.design, answers.new.design))


def _suite(answers: EffectPairs) -> Iterator[_EffectPair]:
    old, new = answers.old, answers.new
    if old.these is not None and new.these is not None:
        effects = (_of_suite(old.these, old.design), _of_suite(new.these, new.design))
        yield _EffectPair("these", effects, (old.design, new.design))


def _of_suite(line: Line, design: str) -> Effect:
    """Give the suite's effect; its sessions are what its degrees of freedom count."""
    if design == "confounded":
        return _effect(line, 0, line.outcome, "confounded")
    if design not in _BY_SESSIONS or line.freedoms is None:
        return _effect(line, 1, line.outcome, None)
    freedom = sum(line.freedoms) if line.freedom is None else line.freedom
    sessions = freedom + 1 if design == "paired" else freedom + 2
    return _effect(line, max(round(sessions), 2), line.outcome, None)


def _effect(line: Line, sessions: int, uncorrected: Word, reason: str | None) -> Effect:
    return Effect(
        **{name: getattr(line, name) for name in _OF_A_LINE},
        sessions=sessions,
        outcome_uncorrected=uncorrected,
        reason=reason,
    )


def _compared(
    pairs: Sequence[_EffectPair], law: ErrorLaw, following: ErrorLaw, margin: float, *, same: bool
) -> Iterator[EffectComparison]:
    """Judge one family of effects; `following` is the law of the new trial's next look."""
    if not pairs:
        return
    found, d, shifts = _differences(pairs, law.alpha, margin)
    for k, pair in enumerate(pairs):
        old, new = pair.effects
        shift = shifts[k]
        agreement, reason = agreement_of(old, new, shift, by_sessions=pair.tested, same=same)
        more = None
        if reason in ("too-wide", "one-session-new"):
            more = more_sessions(old, new, pair.designs, following, margin)
        tests = ("pvalue", "pvalue_welch", "pvalue_adjusted")
        single = not math.isnan(found.freedom[k])
        yield EffectComparison(
            name=pair.name,
            old=old,
            new=new,
            ratio=end_of(float(found.estimate[k])),
            low=end_of(float(d.low[k])),
            high=end_of(float(d.high[k])),
            error=number_of(found.error[k]),
            freedom=number_of(found.freedom[k]),
            **{name: number_of(getattr(d, name)[k]) for name in tests},
            law=None if shift is None else "welch" if single else "banerjee",
            difference=shift,
            agreement=agreement,
            reason=reason,
            more_sessions=more,
        )


def _differences(pairs: Sequence[_EffectPair], alpha: float, margin: float) -> HostDifferences:
    """Test the differences of the effects that have errors by sessions."""
    logs, errors, freedoms = (np.full((len(pairs), 2), math.nan) for _ in range(3))
    parts = tuple(
        ErrorParts(np.zeros((len(pairs), 2)), np.full((len(pairs), 2), math.inf)) for _ in range(2)
    )
    for k, pair in enumerate(pairs):
        for side, effect in enumerate(pair.effects):
            logs[k, side] = math.nan if effect.speedup is None else math.log(effect.speedup)
            unknown = effect.freedom is None and effect.freedoms is None
            if unknown or not pair.tested[side]:
                continue
            errors[k, side] = math.nan if effect.error is None else effect.error
            freedoms[k, side] = math.nan if effect.freedom is None else effect.freedom
            for part, known in zip(parts[side], (effect.errors, effect.freedoms), strict=True):
                part[k, : len(known or ())] = known or ()
    return differences_of(
        logs,
        errors,
        freedoms,
        alpha=alpha,
        margin=margin,
        parts=(parts[0], parts[1]),
        step=np.array([sum(side.step_added or 0.0 for side in pair.effects) for pair in pairs]),
    )
