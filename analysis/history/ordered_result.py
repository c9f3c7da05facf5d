"""What a series of variants in one trial shows: its places, its steps, and a word for each benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from ..pages import number_format as figures
from ..pages.difference import Compared, Difference
from ..pages.model import (
    Block,
    Caution,
    Next,
    Page,
    Table,
    Value,
    columns_of,
    first_notes,
    page_of,
    section,
)
from ..pages.result import Result
from ..record.manifest import asked_words
from ..stats.multiplicity import Correction
from ..words import shorten, shown

Outcome = Literal["step", "equivalent", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedPlace:
    """All variants from `variant` on against all before it: the speedup of the later ones.

    `low` and `high` hold for all places at once; None where nothing varies. `pvalue` is this place's alone;
    `probability` is that of one step here, if there is one.
    """

    variant: str
    speedup: float
    low: float | None
    high: float | None
    pvalue: float | None
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedStep:
    """A step: likeliest at `variant`; with 95 % behind `after` and at `upto` at the latest.

    `speedup` is that of the variants from `upto` on, up to the next step, over those up to `after`, since the step
    before, with its interval. Commits are None where they are not known.
    """

    variant: str
    after: str
    upto: str
    word: Literal["faster", "slower"]
    speedup: float
    low: float
    high: float
    commit: str | None
    after_commit: str | None
    upto_commit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedLine:
    """One benchmark, or the mean of all (`suite`).

    `pvalue` is that of the best place, times the places; `pvalue_equivalent` the largest of all places. The
    adjusted ones are corrected over the benchmarks too; None where nothing varies. `best` is the place with the
    least p, the likeliest where nothing varies.
    """

    name: str
    outcome: Outcome
    sessions: int
    best: OrderedPlace
    pvalue: float | None
    pvalue_adjusted: float | None
    pvalue_equivalent: float | None
    pvalue_equivalent_adjusted: float | None
    steps: tuple[OrderedStep, ...]
    places: tuple[OrderedPlace, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedVariants(Result):
    """Where an ordered series of variants changes.

    Attributes
    ----------
    trial, campaign, campaign_path : str
        The trial's folder, its campaign's name, and where that stood.
    metric, unit, better : str
        What was judged.
    risk, margin, correction
        As asked; `level` is the risk at this look at the trial, and `looks_rule` how that was shared.
    variants : tuple of str
        In their order.
    pooled : tuple of tuple of str
        Neighbours that are one program, as far as there are such.
    benchmarks : tuple of OrderedLine
        One each.
    suite : OrderedLine or None
        The mean over all benchmarks; None of one benchmark.
    """

    method: ClassVar[str] = "ordered-variants"
    derived: ClassVar[tuple[str, ...]] = ("sentence", "next")

    trial: str
    campaign: str
    campaign_path: str
    metric: str
    unit: str
    better: str
    risk: float
    level: float
    looks_rule: str
    margin: float
    correction: Correction
    variants: tuple[str, ...]
    pooled: tuple[tuple[str, ...], ...]
    benchmarks: tuple[OrderedLine, ...]
    suite: OrderedLine | None

    @property
    def answering(self) -> OrderedLine:
        """The line that the answer is about: the suite's, or the surest step of a benchmark where that has none."""
        whole = self.suite or self.benchmarks[0]
        stepped = [one for one in self.benchmarks if one.steps]
        if whole.outcome == "step" or not stepped:
            return whole
        return min(stepped, key=lambda one: one.pvalue_adjusted or 0.0)

    @property
    def sentence(self) -> str:
        """The answer: from which variant on it is slower or faster, or that there is no such step, or that nobody knows."""
        line, where = self.answering, ""
        if self.suite is not None:
            these = f" over these {len(self.benchmarks)} benchmarks"
            where = these if line is self.suite else f" on {_named(line.name)}"
        if line.steps:
            step = _largest(line)
            found, more = _difference(self, step), len(line.steps)
            told = f"from {_named(step.variant)} on it {found.phrase()} {found.link} before"
            many = "" if more == 1 else f"{more} steps{where}, the largest: "
            return f"{many}{told}{where if more == 1 else ''} ({found.interval()})"
        found, head = _difference(self, line.best), f"among {len(self.variants)} variants{where}"
        if line.outcome == "equivalent":
            within = f"within {100 * self.margin:g} %"
            return f"no step {head}: before and behind each it {found.same()}, {within}"
        between = found.between()
        one = f": if one is at {_named(line.best.variant)}, it lies {between}" if between else ""
        return f"no step found {head}{one}"

    @property
    def following(self) -> Next:
        """What to do next: the commits to search, the two variants to compare, or more sessions."""
        line, campaign = self.answering, self.campaign_path
        metric = (*(() if self.metric == "wall" else ("--metric", self.metric)), *asked_words())
        if line.steps:
            step = _largest(line)
            if step.after_commit and step.upto_commit:
                whole = line is self.suite or not self.suite
                benchmark = () if whole else ("--benchmark", line.name)
                ends = (step.after_commit, step.upto_commit, "--campaign", campaign)
                words = ("fairtrial", "bisect", *ends, *benchmark, *metric)
                return Next(words, "proves it on fresh sessions")
            sides = (f"{self.trial}:{step.upto}", f"{self.trial}:{step.after}")
            return Next(("fairtrial", "verdict", *sides, *metric), "these two beside each other")
        if line.outcome == "undecided":
            more = ("--trial", self.trial, "--sessions", f"+{max(line.sessions, 4)}")
            return Next(("fairtrial", "run", campaign, "--resume", *more), "more sessions tell")
        words = ("fairtrial", "report", self.trial, *metric, "-o", "report.html")
        return Next(words, "every run, as a page")

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next: command lines, ready to be pasted."""
        return (self.following.line,)


def _largest(line: OrderedLine) -> OrderedStep:
    return max(line.steps, key=lambda one: max(one.speedup, 1 / one.speedup))


def _difference(result: OrderedVariants, line: Compared) -> Difference:
    return Difference.of(line, metric=result.metric, unit=result.unit, better=result.better)


def _named(text: str, width: int = 24) -> str:
    return shorten(shown(text), width)


# --- The screen of a series of variants: the answer, a row for each step or benchmark,
# notes, what comes next.


_NAME = 18  # columns of a name in the table
_MOST = 14  # rows
_FIRST = ("step", "undecided", "equivalent")


@page_of.register(OrderedVariants)
def _page(result: OrderedVariants) -> Page:
    told = result.sentence
    return Page(
        title="Ordered variants",
        sections=(section(told[:1].upper() + told[1:]), section(*_evidence(result))),
        following=(section(*first_notes(_notes(result)), result.following),),
    )


def _evidence(result: OrderedVariants) -> Iterator[Block | str]:
    lines = sorted(result.benchmarks, key=lambda one: _FIRST.index(one.outcome))
    if result.suite is not None:
        lines = [result.suite, *lines]
    rows = [row for line in lines for row in _rows(result, line)]
    level = f"{100 * (1 - result.level):.4g} %"
    columns = columns_of("<", "<from", "change", level, "<")
    yield Table(name="places", columns=columns, rows=tuple(rows[:_MOST]))
    if (hidden := len(rows) - _MOST) > 0:
        yield f"and {figures.counted(hidden, 'row')} more (--json has all)"


def _rows(result: OrderedVariants, line: OrderedLine) -> Iterator[tuple[str, str, Value, str, str]]:
    name = _named(line.name, _NAME)
    if line.outcome == "equivalent":
        yield name, "-", Value("-", None), "-", "the same"
        return
    timed = figures.timed(result.unit)
    found: tuple[OrderedPlace | OrderedStep, ...] = line.steps or (line.best,)
    for one in found:
        told = _difference(result, one)
        word = "undecided"
        if isinstance(one, OrderedStep):
            word = figures.outcome_word(one.word, timed=timed)
        cell = Value(told.cell(), None if told.ratio is None else told.ratio - 1)
        yield name, _named(one.variant, _NAME), cell, told.cell_interval(), word
        name = ""


def _notes(result: OrderedVariants) -> Iterator[Caution | str]:
    names = list(result.variants)
    for line in ((result.suite,) if result.suite else ()) + result.benchmarks:
        for step in line.steps:
            if names.index(step.upto) - names.index(step.after) > 1:
                yield (
                    f"{shown(line.name)}: the step lies behind {shown(step.after)}, and at "
                    f"{shown(step.upto)} at the latest, with 95 %"
                )
    if result.pooled:
        many = sum(map(len, result.pooled))
        yield (
            f"{many} of {len(names)} variants are the same program as a neighbour: "
            f"{figures.listed([' = '.join(map(shown, one)) for one in result.pooled], 2)}"
        )
    yield from result.cautions
