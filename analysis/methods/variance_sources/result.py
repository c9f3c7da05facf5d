"""Where variation comes from: components of runs, factors and modes, and their words; systems stand in `across`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from ...pages import number_format as figures
from ...pages.as_text import natural_width
from ...pages.model import Block, Cell, Page, Section, Table, Value, page, section, table_of
from ...pages.result import Result
from ...words import Name
from .across import Across, Importance
from .covariates import AS_LEVELS, Kind, spoken

ELSEWHERE = "elsewhere"  # what a window of a circle is compared with
ClassesBy = Literal["values", "order"]
EffectOf = Literal["levels", "circle", "sd"]
Source = Literal[
    "benchmark", "host", "trial", "session", "benchmark:session", "block", "run", "iteration"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A part of the variance of logarithms; `benchmark` is None for all benchmarks together.

    `source` says between what the values differ: ``benchmark:session`` is what a session does to one
    benchmark and not to the others, ``run`` what the others leave, iterations aside; there are `levels`
    of it. `sd`, the standard deviation of logarithms, is a share of the value: 0.01 is 1 %. `share` is
    that of the sum of all variances, None where nothing varies.
    """

    benchmark: str | None
    variant: str
    source: Source
    levels: int
    sd: float
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """What a suspected factor does to the values of one benchmark and variant.

    It is called ``factor (levels)`` where whole numbers are taken as categories, and `kind` says whether
    the runner drew it. `effect` is a ratio of values: of the level `highest` to `lowest` (`effect_of`
    ``levels``), of a window, such as ``12 to 27``, and all places elsewhere on a circle (``circle``), or
    of one standard deviation more of the factor (``sd``); `low` and `high` are its interval, with the
    confidence of the result. `pvalue` is None where the design cannot tell, `pvalue_adjusted` is for the
    whole trial: all factors of all benchmarks and variants. `known_before` tells whether it was fixed
    before the run, `causal` whether an effect that is found is one of the factor (it was randomized),
    `may_follow` whether it may be a consequence of a long run as well as its cause.
    """

    benchmark: str
    variant: str
    factor: str
    kind: Kind
    effect: float | None
    effect_of: EffectOf
    low: float | None
    high: float | None
    lowest: str | None
    highest: str | None
    runs: int
    pvalue: float | None
    pvalue_adjusted: float | None
    known_before: bool
    causal: bool
    may_follow: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeClass:
    """A mode: the mean of its values in their unit, and its share of the runs."""

    mean: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """The modes of one benchmark and variant, and the factor that separates them.

    `classes` stand by their mean, the smallest first, and were separated by their values alone or by the
    `order`: the level changes within sessions. `aside` runs belong to none: far from all, or of one with
    too few. All from `mode` on is None, False or empty where no factor separates them. `mode` is the one
    that the factor tells from the others, counted from 1; it is `causal` where it was drawn, and where it
    `may_follow` from a long run no other factor separates the modes. `inside` and `outside` are the shares
    of the mode's runs, and of the others, that have the values of the `sentence`. `accuracy`, held out, is
    the mean of the shares of the mode's runs and of the others that are classified rightly, by values that were
    chosen without their session; `chance` is what guessing attains. `pvalue` is adjusted for all factors
    of all benchmarks and variants; `others` separate the modes by the same rules.
    """

    benchmark: str
    variant: str
    trial: str
    classes: tuple[ModeClass, ...]
    classes_by: ClassesBy
    aside: int
    mode: int | None = None
    factor: str | None = None
    kind: Kind | None = None
    causal: bool = False
    may_follow: bool = False
    inside: float | None = None
    outside: float | None = None
    accuracy: float | None = None
    chance: float | None = None
    pvalue: float | None = None
    sentence: str | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sources(Result):
    """Where the variation of a response comes from.

    `of`: The trials, or the table. `response`, `unit`: The metric, or the column, and its unit.
    `confidence`: Of the intervals; 1 minus it is the family-wise risk. `permutations`: How many
    orders each factor was held against; None of a table. `seed`: Where the random draws come from;
    None where nobody gave it. `correlation`, `correlation_grouped`, `ceiling`: Of predicted and
    measured values that were held out, split at random and by group, and what no predictor can
    pass; None where they do not apply. `importance`: Of a table's factors, the largest first.
    `systems`: Of a table: what predicts its performance, and its variation where the table tells
    it. The four above are those of the first. `components`, `factors`, `modes`: Of trials.
    """

    method: ClassVar[str] = "sources"

    of: tuple[str, ...]
    response: str
    unit: str
    confidence: float = 0.95
    permutations: int | None = None
    seed: int | None = None
    correlation: float | None = None
    correlation_grouped: float | None = None
    ceiling: float | None = None
    importance: tuple[Importance, ...] = ()
    systems: tuple[Across, ...] = ()
    components: tuple[Component, ...] = ()
    factors: tuple[Factor, ...] = ()
    modes: tuple[Mode, ...] = ()

    def screen(self) -> Page:
        """Set what stands out first, then modes, components, all factors, and systems."""
        parts = [*answer(self), *mode_sections(self), *component_sections(self)]
        parts += factor_sections(self)
        if self.systems:
            from .systems_page import system_sections  # which can draw

            parts += system_sections(self.systems)
        of = figures.listed(self.of, 3)
        return page(self, f"sources of variation of {self.response}: {of}", *parts)


_Groups = Mapping[tuple[str | None, str], Mapping[Source, Component]]
_SOURCES: Mapping[Source, str] = {
    "benchmark": "benchmarks",
    "host": "hosts",
    "trial": "trials",
    "session": "sessions",
    "benchmark:session": "sessions of single benchmarks",
    "block": "blocks",
    "run": "runs",
    "iteration": "iterations",
}
_WIDE = 94  # columns of a screen, less the margin


def component_sections(found: Sources) -> tuple[Section, ...]:
    """Say how much lies between what; nothing where nothing was divided."""
    groups: dict[tuple[str | None, str], dict[Source, Component]] = {}
    for one in found.components:
        groups.setdefault((one.benchmark, one.variant), {})[one.source] = one
    if not groups:
        return ()
    shown = list(groups.items())[:40]
    more = len(groups) - len(shown)
    rest = [f"and {more} more rows (--json gives all)"] if more else []
    there = [source for source in _SOURCES if any(source in parts for _, parts in shown)]

    def table(name: str, cell: Callable[[Component], Cell]) -> Table:
        heads = ("own sessions" if one == "benchmark:session" else _SOURCES[one] for one in there)
        return table_of(
            name,
            shown,
            ("<benchmark", lambda one: Name(one[0][0]) if one[0][0] else "all together"),
            ("@variant", lambda one: one[0][1]),
            *(
                (head, lambda one, s=source: cell(one[1][s]) if s in one[1] else "-")
                for head, source in zip(heads, there, strict=True)
            ),
        )

    deviation = "each: the standard deviation as a share of the value"
    share, both = "its share of the variance", table("components", _sd_and_share)
    tables: tuple[Block | str, ...] = (f"{deviation}, in brackets {share}", both)
    if natural_width(both) > _WIDE:  # a screen has no room for both
        tables = (deviation, table("components", _sd), f"each: {share}")
        tables += (table("components-shares", _share),)
    return (section(*_component_text(groups), *tables, *rest, title="components of variance"),)


def _component_text(groups: _Groups) -> Iterator[str]:
    whole = {key: parts for key, parts in groups.items() if key[0] is None}
    for (bench, variant), parts in (whole or (groups if len(groups) == 1 else {})).items():
        inside = {name: one.sd**2 for name, one in parts.items() if name != "benchmark"}
        if total := sum(inside.values()):
            shares = (f"{_percent(v / total)} between {_SOURCES[s]}" for s, v in inside.items())
            some = f"{variant:.24}, benchmarks aside"
            if bench is not None:
                some = f"{bench:.24} / {variant:.24}"
            yield f"{some}: the variance lies {', '.join(shares)}"


def _sd(one: Component) -> Value:
    return Value(f"{figures.significant(100 * one.sd, 2)} %", one.sd)


def _sd_and_share(one: Component) -> Value:
    share = "" if one.share is None else f" ({_percent(one.share)})"
    return Value(f"{_sd(one).text}{share}", one.sd)


def _share(one: Component) -> Cell:
    return "-" if one.share is None else Value(_percent(one.share), one.share)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 or share == 0 else "< 1 %"


_SENTENCES = 12
_LEAST_ROWS, _FACTOR_ROWS = 10, 40
_NEAR = 1e-9
_NOTHING_KNOWN = "no factor could be tested: too few of these runs have a known value that varies and may explain them"
_MAY_FOLLOW = (
    "may follow: there is more of it in a long run, whatever made the run long. Effect and interval are of "
    "its rate per second; p asks rate and count alike, and is 1 where they go opposite ways"
)
_MEANING = (
    "effect: of 'a : b' how many times the value at a is that at b; of 'sd' how many times it is "
    "larger for one standard deviation more"
)


def answer(found: Sources) -> tuple[Section, ...]:
    """Say which factors stand out, or that none could; nothing of a table."""
    if not found.factors:
        return (section(_NOTHING_KNOWN),) if found.components else ()
    out = standing_out(found)
    more = [f"and {len(out) - _SENTENCES} more, in --json"] if len(out) > _SENTENCES else []
    texts = (_factor_text(one, found) for one in out[:_SENTENCES])
    return (section(_answer(found, out), *texts, *more),)


def factor_sections(found: Sources) -> tuple[Section, ...]:
    """List the factors that stand out, or at least the most surprising ones."""
    known = sorted((one for one in found.factors if one.pvalue is not None), key=_first)
    if not known:
        return ()
    shown = known[: min(max(_LEAST_ROWS, len(standing_out(found))), _FACTOR_ROWS)]
    follows = [_MAY_FOLLOW] if any(one.may_follow for one in shown) else []
    rest = len(known) - len(shown)
    more = [f"and {rest} less surprising ones (--json gives all)"] if rest else []
    title = "factors, the most surprising first"
    return (section(_factor_table(shown), *follows, *more, _MEANING, title=title),)


def standing_out(found: Sources) -> list[Factor]:
    """Give the factors that stand out from chance over the whole trial: causes first."""
    risk = 1 - found.confidence + 1e-12  # 1 - 0.95 is not 0.05 in binary fractions
    out = (one for one in found.factors if _first(one)[0] <= risk)
    return sorted(
        out, key=lambda one: (not one.causal, one.may_follow, not one.known_before, *_first(one))
    )


def _first(one: Factor) -> tuple[float, float]:
    adjusted = 1.0 if one.pvalue_adjusted is None else one.pvalue_adjusted
    return adjusted, 1.0 if one.pvalue is None else one.pvalue


def _answer(found: Sources, out: Sequence[Factor]) -> str:
    tests = _tests(found)
    if not tests:
        return "no factor could be tested"
    cells = len({(one.benchmark, one.variant) for one in found.factors})
    names = len({one.factor for one in found.factors if one.pvalue is not None})
    looked = f"{figures.counted(names, 'factor')} in {figures.counted(cells, 'cell')} of benchmark and variant"
    looked += f", family-wise risk {100 * (1 - found.confidence):g} %"
    if not out:
        return f"no factor stands out from chance: {looked}. That is no proof that none matters"
    stand = f"{len(out)} of {tests} tests stand{'s' * (len(out) == 1)} out from chance"
    return f"{stand}: {looked} (the chance of any false one)"


def _tests(found: Sources) -> int:
    return sum(one.pvalue is not None for one in found.factors)


def _factor_text(one: Factor, found: Sources) -> str:
    response = found.response
    where = f"{one.benchmark:.20} / {one.variant:.20}"
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
        # the family's error: such a sentence may stand there although nothing has an effect
        trials = round(1 / risk)
        rate = f"the 1 in {trials}"
        if abs(trials * risk - 1) > _NEAR:
            rate = f"one of the {100 * risk:g} % of"
        chance = f"this is {rate} trials in which chance alone finds something"
        return f"it was randomized: this would be its effect, unless {chance}"
    if one.may_follow:
        return "seen, not randomized, and it may follow from long runs as well as make them long"
    if one.known_before:
        return "it was there before the run, but nobody drew it: what it goes with may be the cause"
    return "seen, not randomized: no cause is claimed"


def _ratio(one: Factor) -> str:
    if one.effect is None:
        return "-"
    if one.low is None or one.high is None:
        return figures.ratio(one.effect)
    return f"{figures.ratio_within(one.effect, one.low, one.high)} {_ends(one)}"


def _ends(one: Factor) -> str:
    if one.low is None or one.high is None:
        return "-"
    return figures.ends(one.low, one.high) if math.isfinite(one.high) else "[0, inf]"


def _factor_table(factors: Sequence[Factor]) -> Table:
    def of(one: Factor) -> str:
        if one.effect_of == "sd":
            return "levels" if one.factor.endswith(AS_LEVELS) else "sd"
        return " : ".join(_levels(one))

    def effect(one: Factor) -> Cell:
        if one.effect is None:
            return "-"
        return Value(figures.ratio_within(one.effect, one.low, one.high), one.effect)

    return table_of(
        "factors",
        factors,
        ("@benchmark", "benchmark"),
        ("@variant", "variant"),
        ("<factor", "factor"),
        ("<kind", lambda one: f"{one.kind}, may follow" if one.may_follow else one.kind),
        ("<of", of),
        ("effect", effect),
        ("interval", _ends),
        ("p", "pvalue", figures.significant),
        ("adjusted p", "pvalue_adjusted", figures.significant),
    )


def _levels(one: Factor) -> tuple[str, str]:
    def clock(seconds: re.Match[str]) -> str:
        """Say a second of the day as clocks do: 43159.6 is 11:59:19."""
        whole = int(float(seconds[0]))
        return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"

    highest, lowest = one.highest or "", one.lowest or ""
    if one.factor == "time_of_day":
        highest, lowest = (re.sub(r"\d+(\.\d+)?", clock, level) for level in (highest, lowest))
    return f"{Name(highest):.20}", f"{Name(lowest):.20}"


def mode_sections(found: Sources) -> tuple[Section, ...]:
    """Give a sentence for each benchmark and variant whose modes are separated, and all in a table."""

    def means(mode: Mode) -> str:
        texts = [
            f"{figures.quantity(c.mean, found.unit)} ({100 * c.share:.0f} %)" for c in mode.classes
        ]
        return figures.listed(texts, 4)  # modes whose means are written out

    def separated(mode: Mode) -> str:
        follows = ", which may follow" if mode.may_follow else ""
        return "nothing recorded" if mode.factor is None else f"{mode.factor}{follows}"

    def note(mode: Mode) -> str:
        order = "separated by the order: the level changes within sessions"
        aside = f"{figures.counted(mode.aside, 'run')} lie far from these and are of none"
        others = f"as separating, by the same rules: {figures.listed(mode.others)}"
        by_order = mode.classes_by == "order"
        texts = ((by_order, order), (mode.aside, aside), (mode.others, others))
        return "; ".join(text for holds, text in texts if holds)

    several = len(found.of) > 1
    parts = (
        f"{one.benchmark:.24} / {one.variant:.24}"
        f"{f' in {one.trial}' if several else ''}: {one.sentence}"
        for one in found.modes
        if one.sentence
    )
    table = table_of(
        "modes",
        found.modes,
        ("@trial", "trial") if several else None,
        ("@benchmark", "benchmark"),
        ("@variant", "variant"),
        ("<modes", means),
        ("<separated by", separated),
        ("classified rightly", "accuracy", lambda share: f"{100 * share:.0f} %"),
        ("by chance", "chance", lambda share: f"{100 * share:.0f} %"),
        ("p, adjusted", "pvalue", figures.significant),
    )
    noted = replace(table, notes=tuple(map(note, found.modes)))
    return (section(*parts, section(noted), title="modes"),) if found.modes else ()
