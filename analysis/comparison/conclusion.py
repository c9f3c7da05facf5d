"""What becomes of the first trial's words: of each effect, of each candidate, of the trial."""

from __future__ import annotations

from collections.abc import Sequence

from .result import Agreement, Effect, EffectComparison, Reproduction, Shift

__all__ = ["agreement_of", "conclusion_of", "overall"]


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

    Parameters
    ----------
    old, new : Effect
        The effect in both trials.
    shift : Shift or None
        What the test of their difference says; None where there is none.
    by_sessions : pair of bool
        Whether each effect rests on independent sessions and a fair sample.
    same : bool
        Whether both trials are one.
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
    """Say why there is no test."""
    for side, name in ((old, "old"), (new, "new")):
        if side.reason == "fails-more":
            return f"fails-more-{name}"
    for side, name in ((old, "old"), (new, "new")):
        if side.speedup is None:
            return f"no-value-{name}"
        if side.reason == "no-spread":
            return f"no-spread-{name}"
    for tested, name in zip(by_sessions, ("old", "new"), strict=True):
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

    Parameters
    ----------
    benchmarks : sequence of EffectComparison
        Of every benchmark.
    these : EffectComparison or None
        Of the suite.
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
    told = {one.agreement for one in concluded}
    if told == {"agrees"}:
        return "reproduced"
    return "partly" if told - {"cannot tell"} else "cannot tell"


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
    told = set(words) - {"cannot tell"}
    if not told:
        return "cannot tell"
    if told == {"reproduced"}:
        return "reproduced" if "cannot tell" not in words else "partly"
    return "not" if told == {"not"} else "partly"
