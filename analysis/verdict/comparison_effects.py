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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain, islice
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Self

import numpy as np

from ..methods.multilevel.estimates import identity_pvalue, number_of
from ..methods.multilevel.host_effects import differences_of, estimates_of
from ..methods.multilevel.law import ErrorLaw, chances
from ..methods.multilevel.lines import end_of
from ..methods.multilevel.result import Line

if TYPE_CHECKING:
    from ..methods.multilevel.estimates import Estimates
    from ..methods.multilevel.result import Multilevel, Shift
    from ..pages.number_format import Word

Agreement = Literal["agrees", "compatible", "differs", "cannot tell"]
Reproduction = Literal["reproduced", "partly", "not", "cannot tell"]
_BY_SESSIONS = ("paired", "separate")
_LEAST = 2  # sessions that show how sessions differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(Line):
    """What one trial says of a candidate against the baseline, as its verdict has it."""

    listed: ClassVar[tuple[str, ...]] = (
        *("speedup", "low", "high", "error", "freedom", "sessions", "outcome"),
        *("outcome_uncorrected", "reason", "errors", "freedoms", "step_added"),
    )

    outcome_uncorrected: Word
    design: str = "paired"
    constant: bool = False  # counts that do not vary, and nothing else

    @classmethod
    def of(cls, line: Line, answer: Multilevel) -> Self:
        """Take a line of `answer`; the suite's sessions are what its degrees of freedom count, else the fewest."""
        sessions, reason, design = 1, line.reason, answer.design
        lines = answer.benchmarks if line.of_suite else (line,)
        if not line.of_suite:
            sessions = line.sessions
        elif design == "confounded":
            sessions, reason = 0, "confounded"
        elif design in _BY_SESSIONS and line.freedoms is not None:
            freedom = sum(line.freedoms) if line.freedom is None else line.freedom
            sessions = max(round(freedom + (1 if design == "paired" else 2)), _LEAST)
        elif design in _BY_SESSIONS:
            sessions = min(one.sessions for one in answer.benchmarks)
            reason = next((x.reason for x in answer.benchmarks if x.reason == "no-spread"), None)
        word = line.word_of_interval
        own = {"sessions": sessions, "reason": reason, "outcome_uncorrected": word}
        own |= {"design": design, "constant": all(x.identity is not None for x in lines)}
        return cls(**{x.name: getattr(line, x.name) for x in fields(Line)} | own)

    @property
    def decided(self) -> bool:
        """Whether the verdict concludes something: a direction, or that both are equivalent."""
        return self.outcome != "undecided"

    @property
    def by_sessions(self) -> bool:
        """Whether it rests on several independent sessions."""
        return self.design in _BY_SESSIONS and self.sessions >= _LEAST

    @property
    def tested(self) -> bool:
        """Whether its error is that of independent sessions, and its sample a fair one."""
        return self.by_sessions and self.reason is None


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """How many more sessions the second trial needs; `target` is what the first one concludes."""

    renamed: ClassVar[Mapping[str, str]] = {"target": "for"}

    sessions: int | None
    target: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectComparison:
    """One effect in both trials, and its difference."""

    name: str
    old: Effect
    new: Effect
    ratio: float | None
    low: float | None
    high: float | None
    error: float | None
    freedom: float | None
    pvalue: float | None
    pvalue_welch: float | None
    pvalue_adjusted: float | None
    law: Literal["welch", "banerjee", "identity"] | None
    difference: Shift | None
    agreement: Agreement
    reason: str | None
    more_sessions: More | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateComparison:
    """One candidate against the baseline, in both trials."""

    variant: str
    baseline: str
    design_old: str | None
    design_new: str | None
    benchmarks: tuple[EffectComparison, ...]
    these: EffectComparison | None
    word: Reproduction

    @property
    def lead(self) -> EffectComparison | None:
        """The effect that the word hangs on."""
        return leading_effect(self.benchmarks, self.these)


def leading_effect(
    benchmarks: Sequence[EffectComparison], these: EffectComparison | None
) -> EffectComparison | None:
    """Give the suite's effect, or that of the only benchmark."""
    known = [one for one in benchmarks if one.ratio is not None]
    return these or (known[0] if len(known) == 1 else None)


def agreement_of(
    old: Effect, new: Effect, shift: Shift | None, *, same: bool = False
) -> tuple[Agreement, str | None]:
    """Say what becomes of the old trial's word, and why nobody can say it where that is so.

    In this order: proven differences differ, whatever the words; the same conclusion agrees. An
    interval of the new trial that holds both "no effect" and the old effect says nothing about it:
    cannot tell. Everything else is compatible: another word, and no proven difference.
    """
    if same:
        return "agrees", None
    if (missing := _missing(old, new)) is not None:
        return "cannot tell", missing
    if shift in ("larger", "smaller"):
        return "differs", None
    if old.decided and old.outcome == new.outcome:
        return "agrees", None
    if shift == "equivalent" or new.decided:
        return "compatible", None
    if not old.decided:
        return "cannot tell", "nothing-concluded"
    if new.outcome_uncorrected != "undecided":
        return "compatible", None
    # an interval without ends excludes nothing
    excluded = None not in (new.low, new.high) and not new.low <= old.speedup <= new.high  # type: ignore[operator]
    return ("compatible", None) if excluded else ("cannot tell", "too-wide")


def _missing(old: Effect, new: Effect) -> str | None:
    """Say what an effect lacks: fair samples before values, and these before sessions."""
    both = ((old, "old"), (new, "new"))
    for side, name in both:
        if side.reason in ("fails-more", "fails-always"):
            return f"fails-more-{name}"
    for side, name in both:
        if side.speedup is None:
            return f"no-value-{name}"
        if side.reason in ("no-spread", "depends", "no-steady-state", "unequal-values", "cut-off"):
            return f"{side.reason}-{name}"
    return next((f"one-session-{name}" for side, name in both if not side.by_sessions), None)


def conclusion_of(
    benchmarks: Sequence[EffectComparison], these: EffectComparison | None
) -> Reproduction:
    """Say what becomes of the old trial's conclusions on one candidate.

    A conclusion is a decided word. The suite's leads, or that of the only benchmark; where the old
    trial leaves the suite undecided, the conclusions on its benchmarks are what there is.
    """
    lead = leading_effect(benchmarks, these)
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

    One word where all have it. "not" where nothing else was found; "partly" where some conclusions
    hold and others do not, or stay open.
    """
    found = set(words) - {"cannot tell"}
    if not found:
        return "cannot tell"
    if found == {"reproduced"}:
        return "reproduced" if "cannot tell" not in words else "partly"
    return "not" if found == {"not"} else "partly"


_LIMIT = 100
_CHANCE = 0.8


def more_sessions(old: Effect, new: Effect, law: ErrorLaw, margin: float) -> More | None:
    """Say with how many more sessions the new trial would say the old one's word.

    The effect is taken as the old trial estimates it. The spread of a session value is the new
    trial's; of a single session nobody knows it, and the old trial's is taken. None where neither
    has one, or there is nothing to be seen.
    """
    source = next((x for x in (new, old) if x.by_sessions and x.error is not None), None)
    if old.speedup is None or not old.decided or source is None:
        return None
    sides = 2 if source.design == "separate" else 1  # each side needs as many sessions of its own
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
    return float(effect.error or 0.0) * math.sqrt(max(effect.sessions // sides, _LEAST))


class EffectPairs(NamedTuple):
    """What two trials say of one candidate; `lone` are lines that have a partner without a value."""

    old: Multilevel
    new: Multilevel
    lone: tuple[tuple[Line, Line], ...] = ()

    def effects(self, *, suite: bool) -> list[_Pair]:
        """Give the effects of the benchmarks that both have, or that of the suite, in both trials."""
        lines: list[tuple[Line, Line]] = []
        if not suite:
            theirs = {line.name: line for line in self.new.benchmarks}
            lines = [(x, theirs[x.name]) for x in self.old.benchmarks if x.name in theirs]
            known = {x.name for x, _ in lines}
            lines += [both for both in self.lone if both[0].name not in known]
        elif self.old.these is not None and self.new.these is not None:
            lines = [(self.old.these, self.new.these)]
        return [(x.name, Effect.of(x, self.old), Effect.of(y, self.new)) for x, y in lines]


_Pair = tuple[str, Effect, Effect]


def compare_answers(
    answers: Sequence[EffectPairs],
    *,
    confidence: float,
    margin: float,
    same: bool = False,
    next_alpha: float | None = None,
) -> tuple[CandidateComparison, ...]:
    """Compare what two trials say of each candidate; suites are a family of their own."""
    law, bound = ErrorLaw(alpha=1.0 - confidence), math.log1p(margin)
    following = law if next_alpha is None else ErrorLaw(alpha=next_alpha)
    judged = []
    for suite in (False, True):
        family = [one.effects(suite=suite) for one in answers]
        flat = _compared([*chain(*family)], law, following, bound, same=same)
        judged.append([tuple(islice(flat, len(group))) for group in family])
    return tuple(
        CandidateComparison(
            variant=one.old.candidate,
            baseline=one.old.baseline,
            design_old=one.old.design,
            design_new=one.new.design,
            benchmarks=benchmarks,
            these=these[0] if these else None,
            word=conclusion_of(benchmarks, these[0] if these else None),
        )
        for one, benchmarks, these in zip(answers, *judged, strict=True)
    )


def _compared(
    pairs: Sequence[_Pair], law: ErrorLaw, following: ErrorLaw, margin: float, *, same: bool
) -> Iterator[EffectComparison]:
    """Judge one family of effects; `following` is the law of the new trial's next look."""
    if not pairs:
        return
    both = [effects for _, *effects in pairs]
    logs = [[math.nan if x.speedup is None else math.log(x.speedup) for x in row] for row in both]
    known = [[x if x.tested else None for x in row] for row in both]
    each = estimates_of(np.array(logs), known, np.zeros((len(pairs), 2), dtype=np.int64))
    chance = np.array([math.nan if _missing(*x) else _chance(*x) for x in both])
    found, d, shifts = differences_of(each, alpha=law.alpha, margin=margin, chance=chance)
    for k, (name, old, new) in enumerate(pairs):
        shift = shifts[k]
        agreement, reason = agreement_of(old, new, shift, same=same)
        wanted = reason in ("too-wide", "one-session-new")
        yield EffectComparison(
            name=name,
            old=old,
            new=new,
            ratio=end_of(float(found.estimate[k])),
            low=end_of(float(d.low[k])),
            high=end_of(float(d.high[k])),
            error=number_of(found.error[k]),
            freedom=number_of(found.freedom[k]),
            pvalue=number_of(d.pvalue[k]),
            pvalue_welch=number_of(d.pvalue_welch[k]),
            pvalue_adjusted=number_of(d.pvalue_adjusted[k]),
            law=_law(found, k) if shift else None,
            difference=shift,
            agreement=agreement,
            reason=reason,
            more_sessions=more_sessions(old, new, following, margin) if wanted else None,
        )


def _chance(old: Effect, new: Effect) -> float:
    """Give the p of two effects that vary in neither trial: that of counts, with a session for a cell."""
    both = old.constant and new.constant
    return float(identity_pvalue(old.sessions, new.sessions)) if both else math.nan


def _law(found: Estimates, k: int) -> Literal["welch", "banerjee", "identity"]:
    if found.chance is not None and not math.isnan(found.chance[k]):
        return "identity"
    return "banerjee" if math.isnan(found.freedom[k]) else "welch"
