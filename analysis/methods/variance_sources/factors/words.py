"""Factors in words: what is told from chance first, then a table."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from ....report import Cell, Column, Section, Sentence, Table, Value, figures
from ..covariates import AS_LEVELS, spoken
from ..result import ELSEWHERE, Factor, Sources

__all__ = ["answer", "sections", "standing_out"]

_NAME = 20
_SENTENCES = 12
_LEAST_ROWS, _ROWS = 10, 40
_NEAR = 1e-9
_NOTHING_KNOWN = "no factor could be tested: nothing that may explain a run, and varies, is known of enough of these runs"
_MAY_FOLLOW = (
    "may follow: there is more of it in a long run, whatever made the run long. Effect and interval are of "
    "its rate per second; p asks rate and count alike, and is 1 where they go opposite ways"
)
_SECOND = re.compile(r"\d+(\.\d+)?")


def answer(found: Sources) -> tuple[Section, ...]:
    """Say which factors stand out, or that none could; nothing of a table."""
    if not found.factors:
        return (Section((Sentence(_NOTHING_KNOWN),)),) if found.components else ()
    out = standing_out(found)
    blocks = [Sentence(_answer(found, out))]
    blocks += [Sentence(_said(one, found)) for one in out[:_SENTENCES]]
    if len(out) > _SENTENCES:
        blocks.append(Sentence(f"and {len(out) - _SENTENCES} more, in --json"))
    return (Section(tuple(blocks)),)


def sections(found: Sources) -> tuple[Section, ...]:
    """List the factors that stand out, or at least the most surprising ones."""
    told = sorted((one for one in found.factors if one.pvalue is not None), key=_first)
    if not told:
        return ()
    shown = told[: min(max(_LEAST_ROWS, len(standing_out(found))), _ROWS)]
    blocks: list[Sentence | Table] = [_table(shown)]
    if any(one.may_follow for one in shown):
        blocks.append(Sentence(_MAY_FOLLOW))
    if len(told) > len(shown):
        blocks.append(
            Sentence(f"and {len(told) - len(shown)} less surprising ones (--json gives all)")
        )
    blocks.append(
        Sentence(
            "effect: of 'a : b' how many times the value at a is that at b; of 'sd' how many times it is "
            "larger for one standard deviation more"
        )
    )
    return (Section(tuple(blocks), title="factors, the most surprising first"),)


def standing_out(found: Sources) -> list[Factor]:
    """Give the factors that are told from chance over the whole trial: causes first.

    What was randomized stands before what was only seen, what was fixed before the run before what was
    seen after it, and last what may follow from a long run.
    """
    risk = 1 - found.confidence
    out = [one for one in found.factors if _within(one.pvalue_adjusted, risk)]
    return sorted(
        out,
        key=lambda one: (not one.causal, one.may_follow, not one.known_before, *_first(one)),
    )


def _within(p: float | None, risk: float) -> bool:
    return p is not None and p <= risk + 1e-12  # 1 - 0.95 is not 0.05 in binary fractions


def _first(one: Factor) -> tuple[float, float]:
    adjusted = 1.0 if one.pvalue_adjusted is None else one.pvalue_adjusted
    return adjusted, 1.0 if one.pvalue is None else one.pvalue


def _answer(found: Sources, out: Sequence[Factor]) -> str:
    tests = _tests(found)
    cells = len({(one.benchmark, one.variant) for one in found.factors})
    names = len({one.factor for one in found.factors if one.pvalue is not None})
    looked = f"{names} factor{'s' * (names != 1)} in {cells} cell{'s' * (cells != 1)} of benchmark and variant"
    risk = f"{100 * (1 - found.confidence):g} %"
    if not tests:
        return "no factor could be tested"
    if not out:
        return (
            f"no factor stands out from chance: {looked}, family-wise risk {risk}. That is no proof that "
            "none matters"
        )
    return (
        f"{len(out)} of {tests} tests stand{'s' * (len(out) == 1)} out from chance: {looked}, "
        f"family-wise risk {risk} (the chance of any false one)"
    )


def _tests(found: Sources) -> int:
    return sum(one.pvalue is not None for one in found.factors)


def _said(one: Factor, found: Sources) -> str:
    response = found.response
    where = f"{figures.shorten(one.benchmark, _NAME)} / {figures.shorten(one.variant, _NAME)}"
    name = spoken(one.factor)
    if one.effect_of == "sd":
        how = f"a standard deviation more of {name} goes with {_ratio(one)} {response}"
    else:
        high, low = _levels(one)
        how = f"{response} at {name} {high} is {_ratio(one)} that at {low}"
        if low == ELSEWHERE:
            how = f"{response} at {name} of {high} is {_ratio(one)} that elsewhere"
        elif high == ELSEWHERE:
            how = f"{response} elsewhere is {_ratio(one)} that at {name} of {low}"
    p = f"adjusted p {figures.pvalue(one.pvalue_adjusted or 0.0)}, one of {_tests(found)} tests"
    return f"{where}: {how} ({p}); {_why(one, 1 - found.confidence)}"


def _why(one: Factor, risk: float) -> str:
    if one.causal:
        return f"it was randomized: this is its effect, unless {_chance(risk)}"
    if one.may_follow:
        return "seen, not randomized, and it may follow from long runs as well as make them long"
    if one.known_before:
        return "it was there before the run, but nobody drew it: what it goes with may be the cause"
    return "seen, not randomized: no cause is claimed"


def _chance(risk: float) -> str:
    """Say the family's error: that such a sentence stands there although nothing has an effect."""
    trials = round(1 / risk)
    if abs(trials * risk - 1) > _NEAR:
        return (
            f"this is one of the {100 * risk:g} % of trials in which chance alone finds something"
        )
    return f"this is the 1 in {trials} trials in which chance alone finds something"


def _ratio(one: Factor) -> str:
    if one.effect is None:
        return "-"
    if one.low is None or one.high is None:
        return figures.ratio(one.effect)
    ratio = figures.ratio_within(one.effect, one.low, one.high)
    return f"{ratio} {_ends(one)}"


def _ends(one: Factor) -> str:
    if one.low is None or one.high is None:
        return "-"
    if not math.isfinite(one.high):
        return "[0, inf]"
    return figures.ends(one.low, one.high)


def _table(factors: Sequence[Factor]) -> Table:
    return Table(
        name="factors",
        columns=(
            Column("benchmark", "left"),
            Column("variant", "left"),
            Column("factor", "left"),
            Column("kind", "left"),
            Column("of", "left"),
            *map(Column, ("effect", "interval", "p", "adjusted p")),
        ),
        rows=tuple(tuple(_cells(one)) for one in factors),
    )


def _cells(one: Factor) -> Iterator[Cell]:
    yield figures.shorten(one.benchmark, _NAME)
    yield figures.shorten(one.variant, _NAME)
    yield one.factor
    yield f"{one.kind}, may follow" if one.may_follow else one.kind
    yield _compared(one)
    effect = one.effect
    yield "-" if effect is None else Value(figures.ratio_within(effect, one.low, one.high), effect)
    yield _ends(one)
    for p in (one.pvalue, one.pvalue_adjusted):
        yield "-" if p is None else Value(figures.significant(p), p)


def _compared(one: Factor) -> str:
    if one.effect_of == "sd":
        return "sd" if not one.factor.endswith(AS_LEVELS) else "levels"
    return " : ".join(_levels(one))


def _levels(one: Factor) -> tuple[str, str]:
    highest, lowest = one.highest or "", one.lowest or ""
    if one.factor == "time_of_day":
        highest, lowest = (_SECOND.sub(_clock, level) for level in (highest, lowest))
    return figures.shorten(highest, _NAME), figures.shorten(lowest, _NAME)


def _clock(seconds: re.Match[str]) -> str:
    """Say a second of the day as clocks do: 43159.6 is 11:59:19."""
    whole = int(float(seconds[0]))
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
