"""What each method says of one candidate, in two lines, with the same decimals as the first screen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ...methods.multilevel.result import Line, Multilevel
from ...pages import number_format as figures
from ...pages.model import Value, value_of
from ...pages.number_format import Word, said
from ...plots.palette import style_of
from ..written import Written, column_of, written

if TYPE_CHECKING:
    from ...verdict.panel import Panel, Said
    from ...verdict.result import CandidateVerdict

__all__ = ["METHODS", "Asked", "MethodAnswer", "Piece", "Ratio", "asked_of", "chance", "pvalue"]

_MOST = 8  # decimals of a bound
_ROUNDING = 1e-12  # so that 1.75 in binary is not rounded down to 1.74
_UNITS = {  # of designs in which it is not what is outermost
    "one session, blocks": "block of one {}",
    "one session, runs": "run of one {}",
    "confounded": "none, as no {} holds both variants",
}


@dataclass(frozen=True)
class Ratio(Value):
    """A speedup; its text is without the sign, which each form sets."""


Piece = str | Value  # of a line; the spaces between pieces are written out


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodAnswer:
    """What one method says of one candidate: two lines of a cell, and marks on the axis of speedups."""

    candidate: str
    word: Word | None = None
    said: str = ""  # the word as a screen says it; it stands before `first`
    value: Ratio | None = None
    low: Ratio | None = None
    high: Ratio | None = None
    bound: bool = False  # whether nothing is said of what lies above `low`
    pvalue: Value | None = None
    pvalue_of: str = ""
    share: Value | None = None  # its reliability, or the chance that it gives
    first: tuple[Piece, ...] = ()
    second: tuple[Piece, ...] = ()
    reasons: tuple[str, ...] = ()  # anchors of the sentences that say why it differs

    @property
    def style(self) -> str:
        """The role in which word and marks are drawn."""
        return "neither" if self.word is None else style_of(self.word)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """One candidate, all that is known of it, and how its numbers are written."""

    name: str
    found: Multilevel
    panel: Panel
    verdict: CandidateVerdict
    told: Mapping[str, Said]
    lines: Mapping[str, Written]

    @property
    def line(self) -> Line:
        """The line that stands for the suite; of a single benchmark its own."""
        return self.found.these if self.found.these is not None else self.found.benchmarks[0]

    def word(self, word: Word | None) -> str:
        """Write a word for a screen."""
        return "" if word is None else said(word, timed=self.found.timed)

    def unit(self, name: str) -> str:
        """Name a unit: each host of a fleet was taken for a session."""
        return self.found.outermost if name == "session" else name

    def says(self, told: Said | Line, **more: Any) -> MethodAnswer:  # noqa: ANN401 - fields of an answer
        """Set a method's word and p beside what else it says."""
        return MethodAnswer(
            candidate=self.name,
            word=told.word,
            said=self.word(told.word),
            pvalue=None if told.pvalue is None else pvalue(told.pvalue),
            pvalue_of="" if told.pvalue is None else told.pvalue_of,
            **more,
        )

    def refused(self, told: Said) -> MethodAnswer:
        """Say why a method has no answer."""
        first, _, why = told.answer.partition(": ")
        return MethodAnswer(candidate=self.name, first=(first,), second=(why,))

    def bound(self, value: float) -> Ratio:
        """Write a lower bound: it is rounded down, and to 1 only where it is 1."""
        text = self.ends(value)[0].text
        if "e" in text:
            return Ratio(text, value)
        for digits in range(len(text.partition(".")[2]), _MOST):
            text = f"{math.floor(value * 10**digits * (1 + _ROUNDING)) / 10**digits:.{digits}f}"
            if float(text) != 1 or math.isclose(value, 1):
                break
        return Ratio(text, value)

    def ends(
        self, value: float | None, low: float | None = None, high: float | None = None
    ) -> tuple[Ratio, Ratio, Ratio]:
        """Write a speedup that is no line of the first screen, and its interval, as its column is."""
        line = replace(self.line, speedup=value, low=low, high=high)
        return _ratios(written(line, column_of(self.found)))


def asked_of(one: CandidateVerdict, lines: Mapping[str, Written]) -> Asked | None:
    """Gather what is known of a candidate; None where nothing was compared."""
    found, panel = one.multilevel, one.panel
    if found is None or panel is None or not (found.these or found.benchmarks):
        return None
    told = {answer.method: answer for answer in panel.methods}
    return Asked(name=one.variant, found=found, panel=panel, verdict=one, told=told, lines=lines)


def _ratios(told: Written) -> tuple[Ratio, Ratio, Ratio]:
    value, low, high = (Ratio(one.text, one.value) for one in (told.speedup, told.low, told.high))
    return value, low, high


def _interval(low: Ratio, high: Ratio) -> tuple[Piece, ...]:
    """Write both ends; no form sets a sign inside brackets."""
    if low.value is None or high.value is None:
        return ("no interval",)
    return ("[", Value(low.text, low.value), ", ", Value(high.text, high.value), "]")


def _line(asked: Asked, line: Line | None) -> MethodAnswer:
    if line is None or line.speedup is None:
        return MethodAnswer(candidate=asked.name, first=("no estimate",))
    value, *ends = _ratios(asked.lines[line.name])
    low, high = (None if end.value is None else end for end in ends)
    return asked.says(
        line, value=value, low=low, high=high, first=(" ", value), second=_interval(*ends)
    )


def _hpt(asked: Asked) -> MethodAnswer:
    told, result = asked.told["HPT"], asked.panel.answers.hpt
    if result is None or told.reliability is None:
        return asked.refused(told)

    reached, of_slower = (
        Value(figures.reliability(value, result.required), value)
        for value in (told.reliability, 1 - result.pvalue_baseline)
    )
    bound = asked.verdict.hpt_speedup
    low = None if bound is None or bound.value is None else asked.bound(bound.value)
    second: tuple[Piece, ...] = ("reliability ", reached)
    if told.word == "undecided":
        ties = sum(one.winner == "tie" for one in result.benchmarks)
        second += (
            f" for {asked.word('faster')}, ",
            of_slower,
            f" for {asked.word('slower')}; {ties} of {len(result.benchmarks)} tied",
        )
    if low is not None and told.word == "faster":
        second += (f"; {result.required:g} for ", low)
    first = () if low is None else (", at least ", low)
    return asked.says(
        told, low=low, bound=low is not None, share=reached, first=first, second=second
    )


def _speedup_test(asked: Asked) -> MethodAnswer:
    suite = asked.panel.answers.suite
    if suite is None:
        return asked.refused(asked.told["Speedup-Test"])
    n = len(suite.benchmarks)
    means = [test.mean.word for test in suite.benchmarks]
    medians = [test.median.word for test in suite.benchmarks]
    words: tuple[Word, ...] = ("faster", "slower")
    some = [word for word in words if word in (*means, *medians)]
    counts = [f"{means.count(w)} of {n} means, {medians.count(w)} of {n} medians" for w in some]
    only: Word = some[0] if len(some) == 1 else "undecided"
    worded = len(some) < 2 or n == 1  # else the words stand among the counts
    if not worded:
        first = "; ".join(f"{asked.word(w)}: {c}" for w, c in zip(some, counts, strict=True))
    elif n > 1:
        first = f": {counts[0] if some else f'none of {n} means and medians'}"
    else:
        by = [name for name, of in (("mean", means), ("median", medians)) if only in of]
        first = f" by {' and '.join(by)}" if some else ""
    stopped = sum(test.mean.significant is None for test in suite.benchmarks)
    overall = asked.ends(suite.speedup["mean"])[0]
    return MethodAnswer(
        candidate=asked.name,
        word=only if worded else None,
        said=asked.word(only) if worded else "",
        value=overall,
        first=(first,),
        second=(
            "overall " if n > 1 else "",
            overall,
            f"; {stopped} cannot conclude" if stopped else "",
        ),
    )


def _randomization(asked: Asked) -> MethodAnswer:
    told, result = asked.told["randomization"], asked.panel.answers.randomized
    if result is None or told.pvalue is None:
        return asked.refused(told)
    least = result.pvalue <= result.smallest_pvalue * (1 + 1e-9)
    p = value_of(result.pvalue, figures.pvalue)
    return asked.says(told, first=(", p ", p), second=("the least possible" if least else "",))


def _bootstrap(asked: Asked) -> MethodAnswer:
    told, result = asked.told["bootstrap"], asked.panel.answers.bootstrap
    if result is None:
        return asked.refused(told)
    value, low, high = asked.ends(result.ratio, result.low, result.high)
    return asked.says(
        told, value=value, low=low, high=high, first=(" ", value), second=_interval(low, high)
    )


def _mixtures(asked: Asked) -> MethodAnswer:
    told = asked.told["mixtures"]
    if told.value is None or told.low is None or told.high is None:
        return asked.refused(told)
    share = chance(told.value)
    several = len(asked.panel.answers.chances) > 1
    return asked.says(
        told,
        share=share,
        first=(f"{asked.word('faster')} with chance ", share),
        second=(chance(told.low), " to ", chance(told.high), " by benchmark") if several else (),
    )


def _friedman(asked: Asked) -> MethodAnswer:
    told = asked.told["Friedman"]
    if told.pvalue is None:
        return asked.refused(told)
    p = value_of(told.pvalue, figures.pvalue)
    return asked.says(told, first=(", p ", p), second=(told.answer.partition(", p ")[0],))


def pvalue(p: float | None) -> Value:
    """Write a p for a column that says so in its heading; "" where there was no test."""
    return value_of(p, figures.bare_pvalue, "")


def chance(value: float) -> Value:
    """Write a probability with three decimals; what is not 0 or 1 is never shown as such."""
    text = "> 0.999" if value > 0.9995 else "< 0.001" if value < 0.0005 else f"{value:.3f}"
    return Value(text, float(value))


def _unit(asked: Sequence[Asked]) -> str:
    named = ((one.found.outermost, _UNITS.get(one.found.design, "{}")) for one in asked)
    return _joined(unit.format(outermost) for outermost, unit in named)


def _unit_of_randomization(asked: Sequence[Asked]) -> str:
    tests = ((one, one.panel.answers.randomized) for one in asked)
    return _joined(one.unit(its.unit) for one, its in tests if its is not None) or "none"


def _unit_of_bootstrap(asked: Sequence[Asked]) -> str:
    drawn = [(one, its) for one in asked if (its := one.panel.answers.bootstrap) is not None]
    units = _joined(one.unit(its.unit) for one, its in drawn) or "none"
    held = [100 * its.known_coverage for _, its in drawn if its.known_coverage is not None]
    return f"{units}; held {figures.span(held, '.1f')}\u00a0% in simulation" if held else units


def _joined(words: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(words))


class _Method(NamedTuple):
    """A row of the table."""

    name: str
    told: str  # what its names among the panel's answers begin with; "" is no published method
    answer: Callable[[Asked], MethodAnswer]
    question: str  # {n}: so many benchmarks
    of_one: str  # the question on a single benchmark
    unit: str | Callable[[Sequence[Asked]], str]  # what it takes as an independent draw


# by the key of the row, in the order of the page
METHODS: Mapping[str, _Method] = {
    "these": _Method(
        "fairtrial", "", lambda asked: _line(asked, asked.line),
        "ratio of geometric means, these {n}", "ratio of geometric means", _unit,
    ),
    "similar": _Method(
        "fairtrial, others", "", lambda asked: _line(asked, asked.found.similar),
        "the same, for others like them", "the same, for others like them",
        lambda asked: _joined(f"{one.found.outermost} and benchmark" for one in asked),
    ),
    "hpt": _Method(
        "HPT", "HPT", _hpt, "better over the suite, and by how much",
        "better over the suite, and by how much", "run, then benchmark",
    ),
    "speedup-test": _Method(
        "Speedup-Test", "Speedup-Test", _speedup_test,
        "each benchmark’s mean and median", "mean and median", "run",
    ),
    "randomization": _Method(
        "Randomization", "randomization", _randomization,
        "any difference on these {n}", "any difference", _unit_of_randomization,
    ),
    "bootstrap": _Method(
        "Bootstrap", "bootstrap", _bootstrap,
        "ratio of geometric means, these {n}", "ratio of geometric means", _unit_of_bootstrap,
    ),
    "mixtures": _Method(
        "Mixtures", "mixtures", _mixtures,
        "one run against one run", "one run against one run", "run",
    ),
    "friedman": _Method(
        "Friedman", "Friedman", _friedman,
        "mean ranks over the benchmarks", "mean ranks over the benchmarks",
        "benchmark; false alarms in 31 to 41\u00a0% of trials of one program",
    ),
}  # fmt: skip
