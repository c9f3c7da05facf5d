"""What the published methods say of the same runs, and where they disagree.

A method is one function: it yields what the method says, then a reason and a sentence where that is
something else than the session intervals say. What a method refuses is its answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..announcing import doing
from ..data.pair import match
from ..errors import FairtrialError, InsufficientDataError
from ..methods.hpt.compare import hpt
from ..methods.mixture.fit import fit_each
from ..methods.mixture.single_run import chance, probability_faster
from ..methods.multilevel.result import Line, Multilevel
from ..methods.resampling.bootstrap import bootstrap_speedup
from ..methods.resampling.randomization import randomization_test
from ..methods.speedup_test.compare import speedup_test_suite
from ..pages import number_format as figures
from ..pages.model import Section, Table, section, table_of
from ..pages.number_format import Word, outcome_word
from ..stats.arguments import stream
from ..stats.ranks import friedman
from .result import MethodDisagreement, MethodRow, Panel, Reason
from .sentence import family

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from .result import HptBound, Verdict

ONE_VALUE = "to them a session is a run, as each session has one value here"  # of its quantile


def methods_table(name: str, methods: Sequence[MethodRow]) -> Table:
    """Give a row for each method: its unit and what its number is of, and its answer."""
    return table_of(
        name,
        methods,
        ("<method", "method"),
        ("<unit; estimand", lambda one: f"{one.unit}s; {one.estimand}"),
        ("<answer", "answer"),
    )


def reasons_section(disagreements: Sequence[MethodDisagreement]) -> Section:
    """Say why methods have another answer than the session intervals."""
    reasons = [one.text for one in disagreements]
    return section(*(reasons or ["they do not differ"]), title="why they differ")


def sessions_are_runs(verdict: Verdict) -> bool:
    """Tell whether each session has one value: a quantile of all that its runs printed."""
    return verdict.quantile is not None and verdict.quantile.level == "session"


# --- Asking them.


_COMPONENTS = 5  # of a mixture, at most: a panel is no study of modes
_DECIDED = {"faster", "slower"}
_SURE = 0.95  # chance of a single run from which a mixture says as much as a decided mean
_NEAR_ONE = 0.1  # bounds so near 1 need a third decimal


class _Why(NamedTuple):
    reason: Reason
    text: str


_Found = Iterator[MethodRow | _Why]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Question:
    """Two sides that were compared, and what the session intervals said of them."""

    found: Multilevel
    ours: PerformanceMatrix
    theirs: PerformanceMatrix
    best: HptBound | None

    @property
    def line(self) -> Line:
        """The line of the suite; of a single benchmark its own."""
        return self.found.these if self.found.these is not None else self.found.benchmarks[0]

    @property
    def risk(self) -> float:
        return 1 - self.found.confidence

    @property
    def sessions(self) -> str:
        """What the interval is made of, counted: sessions, or the hosts of a fleet."""
        count = self.found.sessions
        if self.found.design == "hosts":  # whose sessions are those of all hosts
            count = max((line.sessions for line in self.found.benchmarks), default=0)
        return figures.counted(count, self.found.outermost)

    def word(self, word: Word) -> str:
        return outcome_word(word, timed=self.found.timed)

    def unit(self, name: str) -> str:
        """Name a unit: a method takes each host of a fleet for a session."""
        return self.found.outermost if name == "session" else name

    def any_difference(self, method: str) -> _Why:
        """Say that a method has no margin, or another mean."""
        if self.line.outcome == "equivalent":
            return _Why(
                "estimand",
                f"{method} asks whether there is any difference; this one lies within the margin of "
                f"{100 * self.found.margin:g} %",
            )
        return _Why(
            "estimand",
            f"{method} compares means of runs as stored; the interval compares logs by "
            f"{self.sessions}, each of the same weight",
        )

    def replication(self, method: str, unit: str = "run") -> _Why:
        """Say what a method that counts runs, or blocks, does not see."""
        noun = self.found.outermost
        end = {
            "confounded": f", and what the {noun} did as done by the variant: nothing tells them apart",
            "one session, blocks": f"; the interval takes the blocks of one {noun}",
            "one session, runs": "; the interval corrects for unlike spreads",
        }.get(
            self.found.design,
            f"; the interval takes {self.sessions}, which differ by more than their {unit}s",
        )
        return _Why("replication", f"{method} takes every {unit} as a replication of its own{end}")


class _Method(NamedTuple):
    name: str
    unit: str  # that a refusal names
    estimand: str
    ask: Callable[[_Question], _Found]


def ask(
    found: Multilevel,
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    best: HptBound | None = None,
) -> Panel:
    """Ask all methods; `best` is the largest speedup that HPT claims, where it is known."""
    try:
        pair = match(candidate, baseline)
    except FairtrialError as error:
        return _refused(error.what)
    if not pair.candidate.benchmarks:
        return _refused("every benchmark has runs of 0")
    question = _Question(found=found, ours=pair.candidate, theirs=pair.baseline, best=best)
    methods: list[MethodRow] = []
    reasons: list[MethodDisagreement] = []
    for number, method in enumerate(_METHODS, 1):
        doing(f"explaining: {method.name} ({number} of {len(_METHODS)})")
        try:
            answers = list(method.ask(question))
        except FairtrialError as error:
            refusal = f"not possible: {error.what}"
            answers = [_answer(method.name, method.unit, method.estimand, refusal)]
        for one in answers:
            if isinstance(one, MethodRow):
                methods.append(replace(one, unit=question.unit(one.unit)))
            else:
                reasons.append(MethodDisagreement(of=method.name, **one._asdict()))
    return Panel(methods=tuple(methods), disagreements=tuple(reasons))


def _refused(why_not: str) -> Panel:
    none = _answer("all", "run", "ratios", f"not possible: {why_not}")
    return Panel(methods=(none,), disagreements=())


def _answer(method: str, unit: str, estimand: str, answer: str, **more: Any) -> MethodRow:  # noqa: ANN401 - fields of what is said
    return MethodRow(method=method, unit=unit, estimand=estimand, answer=answer, **more)


def _hpt(asked: _Question) -> _Found:
    found, outcome = asked.found, asked.line.outcome
    result = hpt(asked.ours, asked.theirs, confidence=found.confidence)
    slower = result.outcome == "baseline"
    p = result.pvalue_baseline if slower else result.pvalue
    reached = figures.reliability(1 - p, result.required)
    largest = None if asked.best is None else asked.best.value
    yield _answer(
        "HPT",
        "run",
        "better over the suite",
        f"{asked.word(result.word)}, reliability {reached}"
        + ("" if largest is None else f"; {result.required:g} for at least {_down(largest)}x"),
        word=result.word,
        pvalue=p,
        pvalue_of="baseline better" if slower else "candidate better",
        reliability=1 - p,
    )
    if result.word == outcome:
        return
    count = len(result.benchmarks)
    if result.word == "undecided" and result.most < result.required:
        most = figures.reliability(result.most, result.required)
        yield _Why("too-few-runs", f"HPT cannot decide: a suite of {count} reaches at most {most}")
    elif result.word == "undecided":
        ties = sum(one.winner == "tie" for one in result.benchmarks)
        yield _Why(
            "zeroing",
            f"HPT counts {ties} of {count} benchmarks as ties and ranks the differences, so how large "
            "they are is lost",
        )
    elif outcome == "equivalent":
        yield asked.any_difference("HPT")
    elif outcome in _DECIDED:
        yield _Why(
            "estimand",
            "HPT counts on how many benchmarks one is better, and ranks them; the interval is of the "
            "mean, which few large differences decide",
        )
    else:
        yield asked.replication("HPT")


def _down(value: float) -> str:
    """Write a lower bound; rounding up would claim more."""
    digits = 3 if abs(value - 1) < _NEAR_ONE else 2
    if not 0.095 <= value < 9.995:
        return figures.significant(value * (1 - 5e-4), 3)
    return f"{math.floor(value * 10**digits * (1 + 1e-12)) / 10**digits:.{digits}f}"


def _speedup_test(asked: _Question) -> _Found:
    suite = speedup_test_suite(
        baseline=asked.theirs, candidate=asked.ours, confidence=asked.found.confidence
    )
    tests = suite.benchmarks
    for centre in ("mean", "median"):
        decisions = [test.mean if centre == "mean" else test.median for test in tests]
        words: list[Word] = [one.word for one in decisions]
        parts = [f"{words.count('faster')} of {len(tests)} {asked.word('faster')}"]
        if slower := words.count("slower"):
            parts.append(f"{slower} {asked.word('slower')}")
        if stopped := sum(one.significant is None for one in decisions):
            parts.append(f"{stopped} cannot conclude")
        yield _answer(
            f"Speedup-Test, {centre}",
            "run",
            f"each benchmark's {centre}",
            f"{', '.join(parts)}; overall {figures.ratio(suite.speedup[centre])}",
            word=words[0] if len(set(words)) == 1 else "undecided",
            value=suite.speedup[centre],
        )
    lines = {one.name: one for one in asked.found.benchmarks}
    pairs = [(test, lines[test.name]) for test in tests if test.name in lines]
    stops = [
        (test.mean.needed_runs, line.name)
        for test, line in pairs
        if test.mean.significant is None and line.outcome in _DECIDED
    ]
    if stops:
        more = max((runs for runs, _ in stops if runs is not None), default=None)
        needed = "" if more is None else f"; from {more} runs on it would"
        yield _Why(
            "failed-assumption" if more is None else "too-few-runs",
            f"the Speedup-Test cannot conclude about the mean of {_named([n for _, n in stops])}: a "
            f"check of its assumptions, such as normality, failed{needed}",
        )
    without = {name for _, name in stops}
    yield from _other_words(
        asked,
        [
            (test.word, line)
            for test, line in pairs
            if test.word != line.outcome and (test.word != "undecided" or line.name not in without)
        ],
    )


def _other_words(asked: _Question, differing: Sequence[tuple[Word, Line]]) -> _Found:
    """Say why the Speedup-Test has another word on some benchmarks: it has no answer for the suite."""
    by_reason: dict[str, list[str]] = {}
    for word, line in differing:
        if line.reason in ("fails-more", "fails-always"):
            continue  # a caution says why it has no speed
        reason = "replication"
        if word not in _DECIDED:
            reason = "unit"
        elif line.outcome_uncorrected == word:
            reason = "family"
        elif line.outcome == "equivalent":
            reason = "estimand"
        by_reason.setdefault(reason, []).append(line.name)
    if names := by_reason.get("family"):
        yield _Why(
            "family",
            "the Speedup-Test gives each benchmark its own risk; after correction for "
            f"{figures.counted(*family(asked.found))} these stay undecided: {_named(names)}",
        )
    if names := by_reason.get("estimand"):
        yield _Why(
            "estimand",
            f"the Speedup-Test asks for any difference; that of {_named(names)} lies within the margin "
            f"of {100 * asked.found.margin:g} %",
        )
    if names := by_reason.get("replication"):
        reason, text = asked.replication("the Speedup-Test")
        yield _Why(reason, f"{text}: {_named(names)}")
    if names := by_reason.get("unit"):
        yield _Why(
            "unit",
            "the Speedup-Test sees runs without their pairs: what blocks and "
            f"{asked.found.outermost}s share stays in its spread on {_named(names)}",
        )


def _named(names: Sequence[str]) -> str:
    return figures.listed(tuple(names), 3)


def _randomization(asked: _Question) -> _Found:
    result = randomization_test(
        asked.ours, asked.theirs, rng=stream(0, "resample", "randomization")
    )
    word: Word = "undecided"
    if result.pvalue <= asked.risk:
        word = "faster" if result.ratio > 1 else "slower"
    bound = figures.significant(result.smallest_pvalue, 2)
    least = f" (no p below {bound} is possible)" * (result.smallest_pvalue > asked.risk / 5)
    yield _answer(
        "randomization",
        result.unit,
        "ratio of suite means",
        f"{asked.word(word)}, p {figures.pvalue(result.pvalue)}{least}",
        word=word,
        value=result.ratio,
        pvalue=result.pvalue,
    )
    differs = word != asked.line.outcome
    if differs and word == "undecided" and result.smallest_pvalue > asked.risk:
        yield _Why(
            "too-few-runs",
            f"randomization cannot decide: with so few {asked.unit(result.unit)}s no p lies below {bound}",
        )
    else:
        yield from _resampled(asked, "randomization", word, result.unit)


def _bootstrap(asked: _Question) -> _Found:
    result = bootstrap_speedup(
        asked.ours,
        asked.theirs,
        confidence=asked.found.confidence,
        rng=stream(0, "resample", "bootstrap"),
    )
    ratio = figures.ratio_within(result.ratio, result.low, result.high)
    yield _answer(
        "bootstrap",
        result.unit,
        "ratio of suite means",
        f"{asked.word(result.word)}, {ratio} {figures.ends(result.low, result.high)}",
        word=result.word,
        value=result.ratio,
        low=result.low,
        high=result.high,
    )
    yield from _resampled(asked, "bootstrap", result.word, result.unit)


def _resampled(asked: _Question, method: str, word: Word, unit: str) -> _Found:
    outcome, noun = asked.line.outcome, asked.found.outermost
    if word == outcome:
        return
    if outcome == "equivalent" or word == "undecided":
        yield asked.any_difference(method)
    elif asked.found.design == "confounded":
        yield asked.replication(method, unit)
    elif unit == "session":
        yield _Why(
            "too-few-runs",
            f"{method} draws {asked.sessions} only; so few draws vary less than {noun}s do",
        )
    else:
        yield _Why(
            "replication",
            f"{method} moves {unit}s, so what differs from {noun} to {noun} is not in its answer; the "
            "interval is made of it",
        )


def _mixtures(asked: _Question) -> _Found:
    """Give the chance that a run of the candidate is the better one (I2), by benchmark."""
    ours, theirs = asked.ours, asked.theirs
    fitted = fit_each([*ours.samples, *theirs.samples], _COMPONENTS)
    pairs = zip(fitted[: len(ours.samples)], fitted[len(ours.samples) :], strict=True)
    chances = [
        probability_faster(*((a, b) if ours.better == "lower" else (b, a)))
        for a, b in pairs
        if a is not None and b is not None  # a mixture of runs without spread is none
    ]
    if not chances:
        raise InsufficientDataError(
            "no benchmark's runs can be fitted on both sides", n=0, needed=1
        )
    mean, low, high = float(np.mean(chances)), min(chances), max(chances)
    span = f" ({chance(low)} to {chance(high)})" if len(chances) > 1 else ""
    yield _answer(
        "mixtures",
        "run",
        "one run against another",
        f"{asked.word('faster')} with chance {chance(mean)}{span}",
        value=mean,
        low=low,
        high=high,
    )
    sure, noun = max(mean, 1 - mean) >= _SURE, asked.found.outermost
    if sure != (asked.line.outcome in _DECIDED):
        yield _Why(
            "estimand",
            f"mixtures ask of a single run of these {noun}s; whether other {noun}s give the same is "
            "another question"
            if sure
            else "mixtures ask of a single run: its chance says little of how sure the mean is",
        )


def _friedman(asked: _Question) -> _Found:
    """Rank both on each benchmark's geometric mean; of one benchmark there is nothing to ask."""
    ours, theirs = asked.ours, asked.theirs
    if len(ours.benchmarks) < 2:
        return
    sign = 1 if ours.better == "lower" else -1
    result = friedman(
        [
            [sign * float(np.log(values).mean()) for values in row]
            for row in zip(ours.samples, theirs.samples, strict=True)
        ]
    )
    p = result.pvalue if result.pvalue_tied is None else result.pvalue_tied
    first, second = result.ranks[:2]
    word: Word = "undecided"
    if p <= asked.risk:
        word = "faster" if first < second else "slower"
    yield _answer(
        "Friedman",
        "benchmark",
        "mean ranks",
        f"{asked.word(word)}, mean ranks {first:.2f} and {second:.2f}, p {figures.pvalue(p)}",
        word=word,
        value=first,
        pvalue=p,
    )
    if word != asked.line.outcome:
        shared = "hosts" if asked.found.outermost == "host" else "machine's sessions"
        yield _Why(
            "unit",
            f"Friedman counts {len(asked.found.benchmarks)} benchmarks as independent and ranks them; "
            f"they share the {shared}, and one program under several names was found different in 31 to "
            "41 % of trials",
        )


_METHODS = (
    _Method("HPT", "run", "better over the suite", _hpt),
    _Method("Speedup-Test", "run", "each benchmark's mean and median", _speedup_test),
    _Method("randomization", "session", "ratio of suite means", _randomization),
    _Method("bootstrap", "session", "ratio of suite means", _bootstrap),
    _Method("mixtures", "run", "one run against another", _mixtures),
    _Method("Friedman", "benchmark", "mean ranks", _friedman),
)
