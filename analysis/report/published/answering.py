"""What each method says of one candidate, in two lines, with the same decimals as the first screen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...methods.multilevel.result import Line, Multilevel
from ...pages import number_format as figures
from ...pages.model import Value
from ...pages.number_format import Word, said
from ..written import Written, column_of, written
from .result import MethodAnswer, Ratio

if TYPE_CHECKING:
    from ...verdict.panel import Panel, Said
    from ...verdict.result import CandidateVerdict

__all__ = ["ANSWERS", "Asked", "asked_of", "chance", "missing", "pvalue"]


_MOST = 8  # decimals of a bound
_ROUNDING = 1e-12  # so that 1.75 in binary is not rounded down to 1.74


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

    def bound(self, value: float) -> Ratio:
        """Write a lower bound: it is rounded down, and to 1 only where it is 1."""
        text = self.ends(value, None, None)[0].text
        if "e" in text:
            return Ratio(text, value)
        for digits in range(len(text.partition(".")[2]), _MOST):
            text = f"{math.floor(value * 10**digits * (1 + _ROUNDING)) / 10**digits:.{digits}f}"
            if float(text) != 1 or math.isclose(value, 1):
                break
        return Ratio(text, value)

    def ends(
        self, value: float | None, low: float | None, high: float | None
    ) -> tuple[Ratio, Ratio, Ratio]:
        """Write a speedup that is no line of the first screen, and its interval, as its column is."""
        line = Line(
            name="",
            speedup=value,
            low=low,
            high=high,
            error=None,
            freedom=None,
            pvalue=None,
            pvalue_equivalent=None,
            outcome="undecided",
            more_sessions=None,
        )
        return _ratios(written(line, column_of(self.found)))


def asked_of(one: CandidateVerdict, lines: Mapping[str, Written]) -> Asked | None:
    """Gather what is known of a candidate; None where nothing was compared."""
    if one.multilevel is None or one.panel is None:
        return None
    told = {answer.method: answer for answer in one.panel.methods}
    return Asked(
        name=one.variant,
        found=one.multilevel,
        panel=one.panel,
        verdict=one,
        told=told,
        lines=lines,
    )


def missing(name: str) -> MethodAnswer:
    """Say that there is no answer on a candidate."""
    return MethodAnswer(candidate=name, first=("nothing to compare",))


def _ratios(told: Written) -> tuple[Ratio, Ratio, Ratio]:
    value, low, high = (Ratio(one.text, one.value) for one in (told.speedup, told.low, told.high))
    return value, low, high


def _interval(low: Ratio, high: Ratio) -> tuple[str | Value, ...]:
    """Write both ends; the renderers set no sign inside brackets."""
    if low.value is None or high.value is None:
        return ("no interval",)
    return ("[", Value(low.text, low.value), ", ", Value(high.text, high.value), "]")


def _line(asked: Asked, line: Line | None) -> MethodAnswer:
    if line is None or line.speedup is None:
        return MethodAnswer(candidate=asked.name, first=("no estimate",))
    value, low, high = _ratios(asked.lines[line.name])
    return MethodAnswer(
        candidate=asked.name,
        word=line.outcome,
        said=asked.word(line.outcome),
        value=value,
        low=low if low.value is not None else None,
        high=high if high.value is not None else None,
        pvalue=None if line.pvalue is None else pvalue(line.pvalue),
        pvalue_of="" if line.pvalue is None else line.pvalue_of,
        first=(" ", value),
        second=_interval(low, high),
    )


def _these(asked: Asked) -> MethodAnswer:
    return _line(asked, asked.line)


def _similar(asked: Asked) -> MethodAnswer:
    return _line(asked, asked.found.similar)


def _p(told: Said) -> Value | None:
    return None if told.pvalue is None else pvalue(told.pvalue)


def _refused(asked: Asked, told: Said) -> MethodAnswer:
    first, _, why = told.answer.partition(": ")
    return MethodAnswer(candidate=asked.name, first=(first,), second=(why,))


def _hpt(asked: Asked) -> MethodAnswer:
    told, result = asked.told["HPT"], asked.panel.answers.hpt
    if result is None or told.reliability is None:
        return _refused(asked, told)
    reached = Value(figures.reliability(told.reliability, result.required), told.reliability)
    bound = asked.verdict.hpt_speedup
    low = None if bound is None or bound.value is None else asked.bound(bound.value)
    second: tuple[str | Value, ...] = ("reliability ", reached)
    if told.word == "undecided":
        ties = sum(one.winner == "tie" for one in result.benchmarks)
        opposite = 1 - result.pvalue_baseline
        second = (
            *second,
            f" for {asked.word('faster')}, ",
            Value(figures.reliability(opposite, result.required), opposite),
            f" for {asked.word('slower')}; {ties} of {len(result.benchmarks)} tied",
        )
    first: tuple[str | Value, ...] = ()
    if low is not None:
        first = (", at least ", low)
        if told.word == "faster":
            second = (*second, f"; {result.required:g} for ", low)
    return MethodAnswer(
        candidate=asked.name,
        word=told.word,
        said=asked.word(told.word),
        low=low,
        bound=low is not None,
        pvalue=_p(told),
        pvalue_of=told.pvalue_of,
        share=reached,
        first=first,
        second=second,
    )


def _speedup_test(asked: Asked) -> MethodAnswer:
    suite = asked.panel.answers.suite
    if suite is None:
        return _refused(asked, asked.told["Speedup-Test"])
    n = len(suite.benchmarks)
    means = [test.mean.word for test in suite.benchmarks]
    medians = [test.median.word for test in suite.benchmarks]
    words: tuple[Word, ...] = ("faster", "slower")
    some = [word for word in words if word in means or word in medians]
    counts = [f"{means.count(w)} of {n} means, {medians.count(w)} of {n} medians" for w in some]
    only: Word = some[0] if len(some) == 1 else "undecided"
    if n == 1:
        by = [name for name, of in (("mean", means), ("median", medians)) if only in of]
        first = f" by {' and '.join(by)}" if some else ""
    elif len(some) == 2:
        first = "; ".join(f"{asked.word(w)}: {c}" for w, c in zip(some, counts, strict=True))
    else:
        first = f": {counts[0]}" if some else f": none of {n} means and medians"
    told = len(some) < 2 or n == 1  # else the words stand among the counts
    stopped = sum(test.mean.significant is None for test in suite.benchmarks)
    overall = asked.ends(suite.speedup["mean"], None, None)[0]
    return MethodAnswer(
        candidate=asked.name,
        word=only if told else None,
        said=asked.word(only) if told else "",
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
        return _refused(asked, told)
    least = result.pvalue <= result.smallest_pvalue * (1 + 1e-9)
    return MethodAnswer(
        candidate=asked.name,
        word=told.word,
        said=asked.word(told.word),
        pvalue=_p(told),
        pvalue_of=told.pvalue_of,
        first=(", p ", Value(figures.pvalue(result.pvalue), result.pvalue)),
        second=("the least possible" if least else "",),
    )


def _bootstrap(asked: Asked) -> MethodAnswer:
    told, result = asked.told["bootstrap"], asked.panel.answers.bootstrap
    if result is None:
        return _refused(asked, told)
    value, low, high = asked.ends(result.ratio, result.low, result.high)
    return MethodAnswer(
        candidate=asked.name,
        word=told.word,
        said=asked.word(told.word),
        value=value,
        low=low,
        high=high,
        first=(" ", value),
        second=_interval(low, high),
    )


def _mixtures(asked: Asked) -> MethodAnswer:
    told, chances = asked.told["mixtures"], asked.panel.answers.chances
    if told.value is None:
        return _refused(asked, told)
    second: tuple[str | Value, ...] = ()
    if len(chances) > 1 and told.low is not None and told.high is not None:
        second = (chance(told.low), " to ", chance(told.high), " by benchmark")
    return MethodAnswer(
        candidate=asked.name,
        share=chance(told.value),
        first=(f"{asked.word('faster')} with chance ", chance(told.value)),
        second=second,
    )


def _friedman(asked: Asked) -> MethodAnswer:
    told = asked.told["Friedman"]
    if told.pvalue is None:
        return _refused(asked, told)
    ranks, _, _ = told.answer.partition(", p ")
    return MethodAnswer(
        candidate=asked.name,
        word=told.word,
        said=asked.word(told.word),
        pvalue=_p(told),
        pvalue_of=told.pvalue_of,
        first=(", p ", Value(figures.pvalue(told.pvalue), told.pvalue)),
        second=(ranks,),
    )


def pvalue(p: float | None) -> Value:
    """Write a p for a column that says so in its heading; "" where there was no test."""
    return Value("" if p is None else figures.pvalue(p).removeprefix("= "), p)


def chance(value: float) -> Value:
    """Write a probability with three decimals; what is not 0 or 1 is never shown as such."""
    text = f"{value:.3f}"
    if value > 0.9995:
        text = "> 0.999"
    return Value("< 0.001" if value < 0.0005 else text, float(value))


# the methods by the key of their row, in the order of the page
ANSWERS: Mapping[str, Callable[[Asked], MethodAnswer]] = {
    "these": _these,
    "similar": _similar,
    "hpt": _hpt,
    "speedup-test": _speedup_test,
    "randomization": _randomization,
    "bootstrap": _bootstrap,
    "mixtures": _mixtures,
    "friedman": _friedman,
}
