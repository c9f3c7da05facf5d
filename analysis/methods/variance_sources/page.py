"""Sources of variation in words: each part says its own, the answers first."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...pages import number_format as figures
from ...pages.model import Block, Cell, Page, Section, Sentence, Table, Value, page_of, table_of
from ...words import shorten
from .covariates import AS_LEVELS, spoken
from .result import ELSEWHERE, Component, Factor, Mode, Source, Sources
from .systems_page import system_sections as systems

_NAME = 24  # columns for names of benchmarks and variants
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
_LEAST = 7  # columns that a variant's name is not cut below: its heading's
_ALL = "all together"


def component_sections(found: Sources) -> tuple[Section, ...]:
    """Say how much lies between what; nothing where nothing was divided."""
    if not found.components:
        return ()
    groups: dict[tuple[str | None, str], dict[Source, Component]] = {}
    for one in found.components:
        groups.setdefault((one.benchmark, one.variant), {})[one.source] = one
    shown = dict(list(groups.items())[:40])
    blocks = [*map(Sentence, _component_text(groups)), *_component_tables(shown)]
    if len(shown) < len(groups):
        blocks.append(Sentence(f"and {len(groups) - len(shown)} more rows (--json gives all)"))
    return (Section(tuple(blocks), title="components of variance"),)


def _component_text(groups: _Groups) -> Iterator[str]:
    """Say of each variant where its variance lies, benchmarks aside."""
    whole = {key: parts for key, parts in groups.items() if key[0] is None}
    for (bench, variant), parts in (whole or (groups if len(groups) == 1 else {})).items():
        inside = {name: one.sd**2 for name, one in parts.items() if name != "benchmark"}
        total = sum(inside.values())
        if not total:
            continue
        told = [
            f"{_percent(part / total)} between {_SOURCES[name]}" for name, part in inside.items()
        ]
        name = shorten(variant, _NAME)
        some = f"{shorten(bench or '', _NAME)} / {name}"
        if bench is None:
            some = f"{name}, benchmarks aside"
        yield f"{some}: of the variance lies {', '.join(told)}"


def _component_tables(groups: _Groups) -> tuple[Block, ...]:
    """Give one table, or one of deviations and one of shares where a screen has no room for both."""
    deviation = "each: the standard deviation as a share of the value"
    share = "its share of the variance"
    whole = _component_table(groups, "components", _sd_and_share)
    if sum(_widths(whole)) + 2 * (len(whole.columns) - 1) <= _WIDE:
        return Sentence(f"{deviation}, in brackets {share}"), whole
    return (
        Sentence(deviation),
        _fitted(_component_table(groups, "components", _sd)),
        Sentence(f"each: {share}"),
        _fitted(_component_table(groups, "components-shares", _share)),
    )


def _widths(table: Table) -> list[int]:
    rows = [[cell if isinstance(cell, str) else cell.text for cell in row] for row in table.rows]
    rows.append([column.heading for column in table.columns])
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _fitted(table: Table) -> Table:
    """Cut the names to the room that the numbers leave; several sources leave little."""
    benchmark, variant, *numbers = _widths(table)
    room = _WIDE - sum(numbers) - 2 * (len(numbers) + 1)
    variant = min(variant, max(_LEAST, room // 2, room - benchmark))
    benchmark = max(len(_ALL), room - variant)
    return replace(
        table,
        rows=tuple(
            (shorten(str(bench), benchmark), shorten(str(name), variant), *cells)
            for bench, name, *cells in table.rows
        ),
    )


def _component_table(groups: _Groups, name: str, cell: Callable[[Component], Cell]) -> Table:
    there = [source for source in _SOURCES if any(source in parts for parts in groups.values())]
    heads = (_SOURCES[one] if one != "benchmark:session" else "own sessions" for one in there)
    return table_of(
        name,
        list(groups.items()),
        ("<benchmark", lambda one: _ALL if one[0][0] is None else shorten(one[0][0], _NAME)),
        ("<variant", lambda one: shorten(one[0][1], _NAME)),
        *(
            (head, lambda one, s=source: cell(one[1][s]) if s in one[1] else "-")
            for head, source in zip(heads, there, strict=True)
        ),
    )


def _sd(one: Component) -> Value:
    return Value(f"{figures.significant(100 * one.sd, 2)} %", one.sd)


def _sd_and_share(one: Component) -> Value:
    share = "" if one.share is None else f" ({_percent(one.share)})"
    return Value(f"{_sd(one).text}{share}", one.sd)


def _share(one: Component) -> Cell:
    return "-" if one.share is None else Value(_percent(one.share), one.share)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 or share == 0 else "< 1 %"


_FACTOR_NAME = 20
_SENTENCES = 12
_LEAST_ROWS, _FACTOR_ROWS = 10, 40
_NEAR = 1e-9
_NOTHING_KNOWN = "no factor could be tested: nothing that may explain a run, and varies, is known of enough of these runs"
_MAY_FOLLOW = (
    "may follow: there is more of it in a long run, whatever made the run long. Effect and interval are of "
    "its rate per second; p asks rate and count alike, and is 1 where they go opposite ways"
)


def answer(found: Sources) -> tuple[Section, ...]:
    """Say which factors stand out, or that none could; nothing of a table."""
    if not found.factors:
        return (Section((Sentence(_NOTHING_KNOWN),)),) if found.components else ()
    out = standing_out(found)
    blocks = [Sentence(_answer(found, out))]
    blocks += [Sentence(_factor_text(one, found)) for one in out[:_SENTENCES]]
    if len(out) > _SENTENCES:
        blocks.append(Sentence(f"and {len(out) - _SENTENCES} more, in --json"))
    return (Section(tuple(blocks)),)


def factor_sections(found: Sources) -> tuple[Section, ...]:
    """List the factors that stand out, or at least the most surprising ones."""
    told = sorted((one for one in found.factors if one.pvalue is not None), key=_first)
    if not told:
        return ()
    shown = told[: min(max(_LEAST_ROWS, len(standing_out(found))), _FACTOR_ROWS)]
    blocks: list[Sentence | Table] = [_factor_table(shown)]
    if any(one.may_follow for one in shown):
        blocks.append(Sentence(_MAY_FOLLOW))
    if rest := len(told) - len(shown):
        blocks.append(Sentence(f"and {rest} less surprising ones (--json gives all)"))
    meaning = (
        "effect: of 'a : b' how many times the value at a is that at b; of 'sd' how many times it is "
        "larger for one standard deviation more"
    )
    blocks.append(Sentence(meaning))
    return (Section(tuple(blocks), title="factors, the most surprising first"),)


def standing_out(found: Sources) -> list[Factor]:
    """Give the factors that are told from chance over the whole trial: causes first."""
    risk = 1 - found.confidence + 1e-12  # 1 - 0.95 is not 0.05 in binary fractions
    return sorted(
        (
            one
            for one in found.factors
            if one.pvalue_adjusted is not None and one.pvalue_adjusted <= risk
        ),
        key=lambda one: (not one.causal, one.may_follow, not one.known_before, *_first(one)),
    )


def _first(one: Factor) -> tuple[float, float]:
    adjusted = 1.0 if one.pvalue_adjusted is None else one.pvalue_adjusted
    return adjusted, 1.0 if one.pvalue is None else one.pvalue


def _answer(found: Sources, out: Sequence[Factor]) -> str:
    tests = _tests(found)
    cells = len({(one.benchmark, one.variant) for one in found.factors})
    names = len({one.factor for one in found.factors if one.pvalue is not None})
    looked = f"{figures.counted(names, 'factor')} in {figures.counted(cells, 'cell')} of benchmark and variant"
    looked += f", family-wise risk {100 * (1 - found.confidence):g} %"
    if not tests:
        return "no factor could be tested"
    if not out:
        return f"no factor stands out from chance: {looked}. That is no proof that none matters"
    stand = f"{len(out)} of {tests} tests stand{'s' * (len(out) == 1)} out from chance"
    return f"{stand}: {looked} (the chance of any false one)"


def _tests(found: Sources) -> int:
    return sum(one.pvalue is not None for one in found.factors)


def _factor_text(one: Factor, found: Sources) -> str:
    response = found.response
    where = f"{shorten(one.benchmark, _FACTOR_NAME)} / {shorten(one.variant, _FACTOR_NAME)}"
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
    ratio = figures.ratio_within(one.effect, one.low, one.high)
    return f"{ratio} {_ends(one)}"


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
        ("<benchmark", lambda one: shorten(one.benchmark, _FACTOR_NAME)),
        ("<variant", lambda one: shorten(one.variant, _FACTOR_NAME)),
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
    return shorten(highest, _FACTOR_NAME), shorten(lowest, _FACTOR_NAME)


def mode_sections(found: Sources) -> tuple[Section, ...]:
    """Give a sentence for each benchmark and variant whose modes are separated, and all in a table."""
    if not found.modes:
        return ()
    told: list[Block] = []
    for one in found.modes:
        if one.sentence:
            cell = f"{shorten(one.benchmark, _NAME)} / {shorten(one.variant, _NAME)}"
            where = "" if len(found.of) == 1 else f" in {one.trial}"
            told.append(Sentence(f"{cell}{where}: {one.sentence}"))
    return (Section((*told, Section((_mode_table(found),))), title="modes"),)


def _mode_table(found: Sources) -> Table:
    def means(mode: Mode) -> str:
        said = (
            f"{figures.quantity(c.mean, found.unit)} ({100 * c.share:.0f} %)" for c in mode.classes
        )
        return figures.listed(list(said), 4)  # modes whose means are written out

    def separated(mode: Mode) -> str:
        follows = ", which may follow" if mode.may_follow else ""
        return "nothing recorded" if mode.factor is None else f"{mode.factor}{follows}"

    table = table_of(
        "modes",
        found.modes,
        ("<trial", "trial") if len(found.of) > 1 else None,
        ("<benchmark", lambda mode: shorten(mode.benchmark, _NAME)),
        ("<variant", lambda mode: shorten(mode.variant, _NAME)),
        ("<modes", means),
        ("<separated by", separated),
        ("told rightly", "accuracy", _whole_percent),
        ("by chance", "chance", _whole_percent),
        ("p, adjusted", "pvalue", figures.significant),
    )
    return replace(table, notes=tuple(map(_note, found.modes)))


def _whole_percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _note(mode: Mode) -> str:
    said = []
    if mode.classes_by == "order":
        said.append("told apart by the order: the level changes within sessions")
    if mode.aside:
        runs = figures.counted(mode.aside, "run")
        said.append(f"{runs} lie far from these and are of none")
    if mode.others:
        said.append(f"as separating, by the same rules: {figures.listed(mode.others)}")
    return "; ".join(said)


_NAMES = 3  # of trials, in the title


@page_of.register(Sources)
def _sources_page(found: Sources) -> Page:
    return Page(
        title=f"sources of variation of {found.response}: {figures.listed(found.of, _NAMES)}",
        sections=(
            *answer(found),
            *mode_sections(found),
            *component_sections(found),
            *factor_sections(found),
            *systems(found),
        ),
        cautions=found.cautions,
    )
