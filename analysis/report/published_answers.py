"""What each method says of one candidate, in two lines, with the same decimals as the first screen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import plots
from ..methods.multilevel.result import Line, Multilevel
from ..pages import number_format as figures
from ..pages.model import Value, value_of
from ..pages.number_format import Word, outcome_word
from ..plots.marks import style_of
from ..words import shown
from .written import Written, column_of, written

if TYPE_CHECKING:
    from markupsafe import Markup

    from ..methods.hpt.speedup import HptCurve, HptSpeedup
    from ..plots import Mark, Scale, Tick
    from ..verdict.panel import Panel, Said
    from ..verdict.result import CandidateVerdict

__all__ = [
    "METHODS",
    "Asked",
    "MethodAnswer",
    "Piece",
    "Ratio",
    "asked_of",
    "axis_of",
    "chance",
    "histogram_plot",
    "pvalue",
    "reliability_plot",
    "reliability_steps",
]

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
        return "" if word is None else outcome_word(word, timed=self.found.timed)

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


# --- The pictures: one axis of what each method says, histograms of ratios, HPT's reliability.


_MIDDLE = 22.0  # of the marks, CSS pixels from the row's top
_FAR = 400.0  # grid lines are longer than any row, whose cell cuts them
_REACH = 1.0  # an interval may be drawn so many times farther than all else lies apart
_CLOSE = 0.02  # in logs: what lies apart less counts as this
_TOP, _HEIGHT, _BELOW = 20.0, 90.0, 22.0  # of a histogram, CSS pixels
_ABOVE, _TALL = 16.0, 150.0  # of a curve of reliability, CSS pixels
_FLAT = 5e-4  # reliabilities nearer to 0 or 1 are flat to the eye
_COLUMNS = 400  # places in x that are told apart


def axis_of(answers: Mapping[str, MethodAnswer]) -> tuple[Markup, Mapping[str, Markup]]:
    """Draw what each method says of one candidate on one axis: its head, and a row under each key."""
    logs, core = [0.0], [0.0]
    for key, answer in answers.items():
        logs += _logs(answer.value, answer.low, answer.high)
        near = _logs(answer.value, *(() if key == "similar" else (answer.low, answer.high)))
        core += filter(math.isfinite, near)
    reach = _REACH * max(max(core) - min(core), _CLOSE)
    scale = plots.ratio_scale(
        [math.exp(min(max(log, min(core) - reach), max(core) + reach)) for log in logs[1:]]
    )
    ticks = plots.spaced_ticks(scale, 0.22)
    texts = (plots.label(scale.at(one.value), 13, one.text, _tick(one)) for one in ticks)
    return plots.plot(18, texts, ""), {
        key: plots.plot(2 * _MIDDLE, _said(answer, scale, ticks), "")
        for key, answer in answers.items()
    }


def _logs(*numbers: Ratio | None) -> list[float]:
    known = [one.value for one in numbers if one is not None and one.value is not None]
    return [math.log(value) if value > 0 else -math.inf for value in known]


def _tick(tick: Tick) -> str:
    return "tick minor" if tick.minor else "tick"


def _said(answer: MethodAnswer, scale: Scale, ticks: Sequence[Tick]) -> Iterator[Mark]:
    """Draw an answer: dot and interval, or a lower bound that is dotted beyond it."""
    at, style = scale.clipped, answer.style
    for tick in ticks:
        yield plots.stroke(at(tick.value), 0, _FAR, "one" if tick.value == 1 else "grid")
    low, high = (None if end is None else end.value for end in (answer.low, answer.high))
    if answer.bound and low is not None:
        yield plots.line(at(low), _MIDDLE, 1, _MIDDLE, f"interval dotted {style}")
        yield plots.stroke(at(low), _MIDDLE - 7, _MIDDLE + 7, f"interval {style}")
    elif low is not None and high is not None:
        left, right = low or scale.low, high or scale.high
        yield plots.line(at(left), _MIDDLE, at(right), _MIDDLE, f"interval {style}")
        if left < scale.low:
            yield plots.arrow(0, _MIDDLE, "left", f"line {style}")
        if right > scale.high:
            yield plots.arrow(1, _MIDDLE, "right", f"line {style}")
    if answer.value is not None and answer.value.value is not None:
        hollow = " hollow" if answer.word == "undecided" else ""
        yield plots.dot(at(answer.value.value), _MIDDLE, f"{style}{hollow}", r=4.5)


def histogram_plot(found: Mapping[str, Any]) -> Markup:
    """Draw the counts as one area, with the observed ratio or the interval marked."""
    alt = shown(found["alt"])
    return plots.plot(_TOP + _HEIGHT + _BELOW, _histogram(found), alt, css="panel-drawn")


def _histogram(found: Mapping[str, Any]) -> Iterator[Mark]:
    scale = plots.Scale(found["low"], found["high"], log=True)
    ground = _TOP + _HEIGHT
    counts = found["counts"]
    most = max(*counts, 1)
    tops = [(k / len(counts), count / most) for k, count in enumerate(counts)]
    area = [(0.0, 0.0), *tops, (1.0, 0.0)]
    yield plots.curve(area, "area", top=_TOP, height=_HEIGHT, steps=True, closed=True)
    yield plots.line(0, ground, 1, ground, "grid")
    for tick in plots.spaced_ticks(scale, 0.15):
        yield plots.stroke(scale.at(tick.value), ground, ground + 4, "one")
        yield plots.label(scale.at(tick.value), ground + 17, tick.text, _tick(tick))
    if scale.holds(1.0):
        yield plots.stroke(scale.at(1.0), _TOP, ground, "one")
    observed = found["observed"]
    if observed.value is None:
        return
    here = scale.clipped(observed.value)
    yield plots.stroke(here, _TOP - 4, ground, "ink")
    anchor = "start" if here < 0.15 else "end" if here > 0.85 else "middle"
    yield plots.label(here, _TOP - 8, f"{observed.text}×", "said", anchor=anchor)
    if found["ends"] is not None and all(end.value is not None for end in found["ends"]):
        low, high = (scale.clipped(end.value or found["low"]) for end in found["ends"])
        yield plots.line(low, ground, high, ground, "interval ink")
        for end in (low, high):
            yield plots.stroke(end, ground - 6, ground + 1, "interval ink")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilitySteps:
    """A step function over the speedups where it changes.

    `points`: Speedup, ascending, and the reliability from there to the next; the first speedup is
    the axis's lower end, the last its upper one. `required`: The reliability asked for. `tested`:
    The speedup under test, and `at_tested` the reliability there. `largest`: The largest speedup
    that has `required`; None where none has. `alt`: What the picture shows: its result.
    """

    points: tuple[tuple[float, float], ...]
    required: float
    tested: float
    at_tested: Value
    largest: Value | None
    alt: str


def reliability_steps(best: HptSpeedup, largest: str) -> ReliabilitySteps:
    """Take what is drawn of HPT's whole curve; `largest` is its largest speedup as the page writes it."""
    marks, most, end = [1.0], None, f"no speedup has {best.required:g}"
    if best.value is not None:
        most = Value(largest, best.value)
        marks.append(best.value or 1.0)
        end = f"{largest} is the largest speedup with {best.required:g}"
    at = best.curve.confidence(1.0)
    reached = Value(figures.reliability(at, best.required), at)
    return ReliabilitySteps(
        points=tuple(_points(best.curve, marks)),
        required=best.required,
        tested=1.0,
        at_tested=reached,
        largest=most,
        alt=f"HPT's reliability by the speedup under test: {reached.text} at 1; {end}",
    )


def _points(found: HptCurve, marks: list[float]) -> Iterator[tuple[float, float]]:
    """Give the steps inside the axis; of those that share a place the last."""
    least = np.minimum(found.between[:-1], found.between[1:])
    most = np.maximum(found.between[:-1], found.between[1:])
    inside = found.speedups[(least < 1 - _FLAT) & (most > _FLAT)]
    scale = plots.ratio_scale([*inside.tolist(), *marks], room=0.04)
    yield scale.low, found.confidence(scale.low)
    kept: dict[int, tuple[float, float]] = {}
    for speedup, after in zip(found.speedups.tolist(), found.between[1:].tolist(), strict=True):
        if scale.low < speedup < scale.high:
            kept[round(scale.at(speedup) * _COLUMNS)] = (speedup, after)
    yield from kept.values()
    yield scale.high, found.confidence(scale.high)


def reliability_plot(steps: ReliabilitySteps) -> Markup:
    """Draw the steps as inline SVG, with the speedup under test and the largest one marked."""
    return plots.plot(_ABOVE + _TALL + _BELOW - 2, _curve(steps), steps.alt, css="reliability")


def _curve(steps: ReliabilitySteps) -> Iterator[Mark]:
    scale = plots.Scale(steps.points[0][0], steps.points[-1][0], log=True)

    def y(reliability: float) -> float:
        return _ABOVE + (1 - reliability) * _TALL

    for level in (0.0, 0.5, 1.0):
        yield plots.line(0, y(level), 1, y(level), "grid")
        yield plots.label(0, y(level) - 3, f"{level:g}", "level", anchor="start")
    for tick in plots.spaced_ticks(scale, 0.15):
        place = scale.at(tick.value)
        yield plots.stroke(place, y(0), y(0) + 4, "one")
        yield plots.label(place, y(0) + 17, tick.text, _tick(tick))
    required = f"reliability {steps.required:g}"
    yield plots.line(0, y(steps.required), 1, y(steps.required), "one dashed")
    yield plots.label(1, y(steps.required) + 13, required, "level", anchor="end")
    one = scale.at(1.0)
    yield plots.band(one - 0.0008, one + 0.0008, y(1), y(0), "one")
    places = [(scale.at(speedup), reached) for speedup, reached in steps.points]
    yield plots.curve(places, "line neither", top=_ABOVE, height=_TALL, steps=True)
    yield plots.dot(one, y(steps.at_tested.value or 0.0), "ink", r=3.5)
    if steps.largest is not None and steps.largest.value is not None:
        place = scale.at(steps.largest.value)
        yield plots.stroke(place, y(steps.required), y(0), "ink")
        anchor, dx = ("end", -5.0) if place > 0.5 else ("start", 5.0)
        text = f"{steps.largest.text}×"
        yield plots.label(place, y(0) - 6, text, "said", anchor=anchor, dx=dx)
