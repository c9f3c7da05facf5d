"""The comparison of two trials in words: what became of the conclusions, then what differs."""

from __future__ import annotations

from collections.abc import Iterator

from ..methods.multilevel import looks_text
from ..report import Column, Page, Section, Sentence, Table, Value, figures, page_of, said
from .result import CandidateComparison, EffectComparison, Level, TrialComparison
from .wording import (
    agreement_text,
    change_text,
    effect_text,
    more_text,
    paragraph,
    ratio_text,
    why,
)

__all__: list[str] = []

_NAME = 24  # columns for a name
_MOST = 16  # benchmarks shown of a candidate; those that differ come first
_ORDER = {"differs": 0, "cannot tell": 1, "compatible": 2, "agrees": 3}


@page_of.register
def _(result: TrialComparison) -> Page:
    several = len(result.candidates) > 1
    sections = [Section((Sentence(paragraph(result)),))]
    for number, one in enumerate(result.candidates, 1):
        title = f"{one.variant} against {one.baseline}" if several else ""
        sections.append(Section(tuple(_effects(result, one, number)), title=title))
    sections += list(_looks(result))
    sections += list(_around(result))
    return Page(
        title=f"{result.old.label} and {result.new.label} compared",
        sections=tuple(sections),
        cautions=result.cautions,
    )


def _effects(
    result: TrialComparison, one: CandidateComparison, number: int
) -> Iterator[Table | Sentence]:
    """Set the effects of a candidate as a table, at most so many."""
    kept = sorted(one.benchmarks, key=lambda line: _ORDER[line.agreement])[:_MOST]
    shown = [line for line in one.benchmarks if line in kept]
    rows = [*shown, *([] if one.these is None else [one.these])]
    notes = tuple(_note(result, line) for line in rows)
    yield Table(
        name=f"effects-{number}",
        columns=(
            Column("", "left"),
            Column("first", "left"),
            Column("second", "left"),
            Column("second / first", "left"),
            Column("adjusted p"),
            Column("", "left"),
        ),
        rows=tuple(
            (
                f"these {_counted(one)}"
                if line is one.these
                else figures.shorten(line.name, _NAME),
                Value(effect_text(line.old), line.old.speedup),
                Value(effect_text(line.new), line.new.speedup),
                Value(ratio_text(line), line.ratio),
                _pvalue(line),
                agreement_text(result, line),
            )
            for line in rows
        ),
        notes=notes if any(notes) else (),
    )
    if len(kept) < len(one.benchmarks):
        yield Sentence(f"and {len(one.benchmarks) - len(kept)} more benchmarks (--json has all)")


def _looks(result: TrialComparison) -> Iterator[Section]:
    """Say of a trial that grew which look its words and its interval are of."""
    told = [
        Sentence(f"{side.label}: {text}")
        for side in (result.old, result.new)
        if (text := looks_text(side))
    ]
    if told:
        yield Section(tuple(told))


def _note(result: TrialComparison, line: EffectComparison) -> str:
    """Say what is this effect's own: what the words, or the paragraph, say already needs no note."""
    if line.reason in ("too-wide", "one-session-new"):
        return more_text(result, line)
    own = line.reason is not None and line.reason.startswith(
        ("fails-more", "no-spread", "no-value")
    )
    return why(result, line) if own else ""


def _counted(one: CandidateComparison) -> int:
    return sum(line.ratio is not None for line in one.benchmarks)


def _pvalue(line: EffectComparison) -> Value:
    p = line.pvalue_adjusted
    return Value("-" if p is None else figures.pvalue(p).removeprefix("= "), p)


def _around(result: TrialComparison) -> Iterator[Section]:
    """Set what is around the results: levels, campaign, plan, environment."""
    if result.levels and not result.same_trial:
        yield Section(tuple(_levels(result)), title="levels of the runs, second over first")
    if result.campaign:
        yield _changes(
            "campaign", [change_text(c, result.old, result.new) for c in result.campaign]
        )
    if result.plan:
        yield _changes("plan", [change_text(c, result.old, result.new) for c in result.plan])
    if result.environment is None:
        nothing = "nothing is known of the environment of at least one trial"
        yield Section((Sentence(nothing),), title="environment")
    elif result.environment:
        count = len(result.environment)
        title = f"environment: {count} change{'s' * (count > 1)}"
        yield _changes(title, [change.what for change in result.environment])
    drifts = [
        f"within {side.label} the environment changed as well ({count} change{'s' * (count > 1)}): "
        f"fairtrial status --diff {side.path}"
        for side, count in ((result.old, result.drift_old), (result.new, result.drift_new))
        if count
    ]
    if drifts:
        yield Section(tuple(map(Sentence, drifts)))


def _changes(title: str, texts: list[str]) -> Section:
    return Section(tuple(map(Sentence, texts)), title=title)


def _levels(result: TrialComparison) -> Iterator[Table | Sentence]:
    """Set the levels: every benchmark where there is no effect, else one line for each variant."""
    levels = [one for one in result.levels if _shown(result, one)]
    yield Table(
        name="levels",
        columns=(
            Column("", "left"),
            Column("", "left"),
            Column("first"),
            Column("second"),
            Column("ratio", "left"),
            Column("", "left"),
        ),
        rows=tuple(
            (
                figures.shorten(one.variant, _NAME),
                figures.shorten(one.benchmark or "the suite", _NAME),
                _mean(result, one.mean_old),
                _mean(result, one.mean_new),
                Value(_ratio(one), one.ratio),
                said(one.outcome, timed=result.timed),
            )
            for one in levels[:_MOST]
        ),
    )
    if len(levels) > _MOST:
        yield Sentence(f"and {len(levels) - _MOST} more (--json has all)")


def _shown(result: TrialComparison, one: Level) -> bool:
    if not result.candidates:
        return True
    suites = {level.variant for level in result.levels if level.benchmark is None}
    return one.benchmark is None or one.variant not in suites


def _mean(result: TrialComparison, mean: float | None) -> Value:
    return Value("" if mean is None else figures.quantity(mean, result.unit), mean)


def _ratio(one: Level) -> str:
    if one.ratio is None:
        return "-"
    if one.low is None or one.high is None:
        return figures.ratio(one.ratio)
    return f"{figures.ratio_within(one.ratio, one.low, one.high)} {figures.ends(one.low, one.high)}"
