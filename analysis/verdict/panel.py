"""What the published methods say of the same runs, and where they disagree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from ..methods.multilevel.page import advice_text, chance_heading, looks_text
from ..methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ..pages import number_format as figures
from ..pages.model import Section, Sentence, Table, columns_of
from ..pages.number_format import Word
from ..words import apart, shorten, shown
from .hosts import disagreeing_sentences, more_hosts_text

if TYPE_CHECKING:
    from ..methods.hpt.result import HptResult
    from ..methods.hpt.speedup import HptSpeedup
    from ..methods.mixture.model import Mixture
    from ..methods.resampling.result import BootstrapInterval, RandomizationTest
    from ..methods.speedup_test.result import SpeedupSuite
    from .result import HptBound, Verdict


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixturesOfBoth:
    """The mixtures of both sides on one benchmark."""

    benchmark: str
    candidate: Mixture
    baseline: Mixture


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MethodResults:
    """The methods' own results, None where one could not answer."""

    hpt: HptResult | None = None
    at_estimate: float | None = None
    best: HptSpeedup | None = None
    suite: SpeedupSuite | None = None
    randomized: RandomizationTest | None = None
    bootstrap: BootstrapInterval | None = None
    mixtures: tuple[MixturesOfBoth, ...] = ()
    chances: tuple[float, ...] = ()
    friedman: float | None = None


Reason = Literal[
    "estimand", "unit", "zeroing", "replication", "failed-assumption", "too-few-runs", "family"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one method says."""

    method: str
    unit: str
    estimand: str
    word: Word | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    pvalue: float | None = None
    pvalue_of: str = "two-sided"
    reliability: float | None = None
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodDisagreement:
    """Why one method says something else than the first screen."""

    of: str
    reason: Reason
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """All methods on the same two sides.

    `answers` holds the methods' own results, for whoever shows how they came to them.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset({"answers"})

    methods: tuple[Said, ...]
    disagreements: tuple[MethodDisagreement, ...]
    answers: MethodResults = field(default_factory=MethodResults, repr=False, compare=False)


_NAME = 24


# of quantiles of sessions
ONE_VALUE = "to them a session is a run, as each session has one value here"


def panel_section(
    variant: str, baseline: str, panel: Panel, number: int, note: str = ""
) -> Section:
    """Set what the methods say of one candidate, the trial's `number`-th, and why they differ."""
    ours, theirs = apart((variant, baseline), _NAME)
    table = Table(
        name=f"methods-{number}",
        columns=columns_of("<method", "<unit; estimand", "<answer"),
        rows=tuple(
            (one.method, f"{one.unit}s; {one.estimand}", one.answer) for one in panel.methods
        ),
    )
    told = [Sentence(one.text) for one in panel.disagreements]
    reasons = Section(tuple(told) or (Sentence("they do not differ"),), title="why they differ")
    return Section(
        (*((Sentence(note),) if note else ()), table, reasons),
        title=f"the published methods on the same data, {ours} against {theirs}",
    )


# --- Why a published method says something else than the session intervals: a sentence for each.


_DECIDED = {"faster", "slower"}
_SURE = 0.95
_NAMED = 3


def why(
    found: Multilevel, told: Sequence[Said], answers: MethodResults
) -> Iterator[MethodDisagreement]:
    """Give a sentence for each method that says something else than the first screen."""
    line: Line = found.these if found.these is not None else found.benchmarks[0]
    words = {said.method: said.word for said in told}
    asked = {
        "HPT": _hpt(found, line, words, answers),
        "Speedup-Test": _speedup_test(found, answers),
        "randomization": _randomization(found, line, words, answers),
        "bootstrap": _bootstrap(found, line, words, answers),
        "mixtures": _mixtures(found, line, answers),
        "Friedman": _friedman(found, line, words, answers),
    }
    for method, reasons in asked.items():
        for reason, text in reasons:
            yield MethodDisagreement(of=method, reason=reason, text=text)


_Found = Iterator[tuple[Reason, str]]
_Words = dict[str, Word | None]


def _sessions(found: Multilevel) -> str:
    """Count what the interval is made of: sessions, or the hosts of a fleet."""
    count = found.sessions
    if found.design == "hosts":  # whose sessions are those of all hosts
        count = max((line.sessions for line in found.benchmarks), default=0)
    return f"{count} {found.outermost}{'s' * (count != 1)}"


def _hpt(found: Multilevel, line: Line, words: _Words, answers: MethodResults) -> _Found:
    result = answers.hpt
    if result is None:
        return
    said, reference = words.get("HPT"), line.outcome
    if said in _DECIDED and answers.at_estimate is not None and line.speedup is not None:
        ours = figures.reliability(result.confidence, result.required)
        there = figures.reliability(answers.at_estimate, result.required)
        yield (
            "estimand",
            (
                f"HPT asks whether one is better, not by how much: its reliability {ours} belongs "
                f"to 1x, that of {figures.ratio_within(line.speedup, line.low, line.high)} is {there}"
            ),
        )
    if said == reference:
        return
    if said == "undecided" and result.most < result.required:
        yield (
            "too-few-runs",
            (
                f"HPT cannot decide: a suite of {len(result.benchmarks)} reaches at most "
                f"{figures.reliability(result.most, result.required)}"
            ),
        )
    elif said == "undecided":
        ties = sum(one.winner == "tie" for one in result.benchmarks)
        yield (
            "zeroing",
            (
                f"HPT counts {ties} of {len(result.benchmarks)} benchmarks as ties and ranks the "
                "differences, so how large they are is lost"
            ),
        )
    elif reference == "equivalent":
        yield _margin_or_shape("HPT", found, line)
    elif reference in _DECIDED:
        yield (
            "estimand",
            (
                "HPT counts on how many benchmarks one is better, and ranks them; the interval is "
                "of the mean, which few large differences decide"
            ),
        )
    else:
        yield "replication", _runs_for_sessions("HPT", found)


def _runs_for_sessions(method: str, found: Multilevel) -> str:
    """Say what a method that counts runs does not see, as far as this design shows it."""
    head = f"{method} takes every run as a replication of its own"
    if found.design == "confounded":
        return (
            f"{head}, and what the {found.outermost} did as done by the variant: nothing tells them "
            "apart"
        )
    if found.design == "one session, blocks":
        return f"{head}; the interval takes the blocks of one {found.outermost}"
    if found.design == "one session, runs":
        return f"{head}, without the interval's correction for unlike spreads"
    return (
        f"{head}; the interval takes {_sessions(found)}, whose differences vary more than runs "
        "alone would"
    )


def _speedup_test(found: Multilevel, answers: MethodResults) -> _Found:
    """Hold benchmark against benchmark: it has no suite-wide answer."""
    if answers.suite is None:
        return
    lines = {one.name: one for one in found.benchmarks}
    pairs = [(test, lines[test.name]) for test in answers.suite.benchmarks if test.name in lines]
    differing = [(test, one) for test, one in pairs if test.word != one.outcome]
    stopped = [
        (test, one)
        for test, one in pairs
        if test.mean.significant is None and one.outcome in _DECIDED
    ]
    without = [one.name for _, one in stopped]
    if without:
        needed = [test.mean.needed_runs for test, _ in stopped]
        more = max((runs for runs in needed if runs is not None), default=None)
        told = "" if more is None else f"; from {more} runs on it would"
        yield (
            ("failed-assumption" if more is None else "too-few-runs"),
            (
                f"the Speedup-Test cannot conclude about the mean of {_named(without)}: a check of "
                f"its assumptions, such as normality, failed{told}"
            ),
        )
    rest = [
        (test.word, one)
        for test, one in differing
        if test.word != "undecided" or one.name not in without
    ]
    yield from _by_benchmark(found, rest)


def _by_benchmark(found: Multilevel, rest: Sequence[tuple[Word, BenchmarkLine]]) -> _Found:
    family = [o.name for w, o in rest if w in _DECIDED and o.outcome_uncorrected == w]
    if family:
        yield (
            "family",
            (
                "the Speedup-Test gives each benchmark its own risk; after correction for "
                f"{len(found.benchmarks)} these stay undecided: {_named(family)}"
            ),
        )
    alike = [o.name for w, o in rest if w in _DECIDED and o.outcome == "equivalent"]
    if alike:
        yield (
            "estimand",
            (
                f"the Speedup-Test asks for any difference; that of {_named(alike)} lies within "
                f"the margin of {100 * found.margin:g} %"
            ),
        )
    used = {*family, *alike}
    unit = [o.name for w, o in rest if w in _DECIDED and o.name not in used]
    if unit:
        text = f"{_runs_for_sessions('the Speedup-Test', found)}: {_named(unit)}"
        yield "replication", text
    less = [o.name for w, o in rest if w not in _DECIDED]
    if less:
        yield (
            "unit",
            (
                f"the Speedup-Test sees runs without their pairs: what blocks and {found.outermost}s share "
                f"stays in its spread on {_named(less)}"
            ),
        )


def _randomization(found: Multilevel, line: Line, words: _Words, answers: MethodResults) -> _Found:
    result = answers.randomized
    if result is None or words.get("randomization") == line.outcome:
        return
    risk = 1 - found.confidence
    if words["randomization"] == "undecided" and result.smallest_pvalue > risk:
        yield (
            "too-few-runs",
            (
                f"randomization cannot decide: with so few {_unit(result.unit, found)}s no p lies below "
                f"{figures.significant(result.smallest_pvalue, 2)}"
            ),
        )
    elif line.outcome == "equivalent" or words["randomization"] == "undecided":
        yield _margin_or_shape("randomization", found, line)
    else:
        yield _smaller_unit("randomization", result.unit, found)


def _bootstrap(found: Multilevel, line: Line, words: _Words, answers: MethodResults) -> _Found:
    result = answers.bootstrap
    if result is None or words.get("bootstrap") == line.outcome:
        return
    if line.outcome == "equivalent" or words["bootstrap"] == "undecided":
        yield _margin_or_shape("bootstrap", found, line)
    else:
        yield _smaller_unit("bootstrap", result.unit, found)


def _margin_or_shape(method: str, found: Multilevel, line: Line) -> tuple[Reason, str]:
    if line.outcome == "equivalent":
        text = (
            f"{method} asks whether there is any difference; this one lies within the margin of "
            f"{100 * found.margin:g} %"
        )
    else:
        text = (
            f"{method} compares means of runs as stored, drawn anew; the interval compares logs by "
            f"{_sessions(found)}, every {found.outermost} weighing the same"
        )
    return "estimand", text


def _smaller_unit(method: str, unit: str, found: Multilevel) -> tuple[Reason, str]:
    if found.design == "confounded":
        text = _runs_for_sessions(method, found).replace("every run", f"every {unit}")
        return "replication", text
    noun = found.outermost
    if unit == "session":
        return "too-few-runs", (
            f"{method} draws {_sessions(found)} only; so few draws vary less than {noun}s do"
        )
    return "replication", (
        f"{method} moves {unit}s, so what differs from {noun} to {noun} is not in its "
        "answer; the interval is made of it"
    )


def _unit(unit: str, found: Multilevel) -> str:
    """Say of a fleet what a method takes for sessions."""
    return found.outermost if unit == "session" else unit


def _mixtures(found: Multilevel, line: Line, answers: MethodResults) -> _Found:
    if not answers.chances:
        return
    mean = sum(answers.chances) / len(answers.chances)
    sure = max(mean, 1 - mean) >= _SURE
    if sure == (line.outcome in _DECIDED):
        return
    text = (
        f"mixtures ask of a single run: it is better with probability {mean:.2f}, however sure the "
        "mean is"
        if not sure
        else f"mixtures ask of a single run of these {found.outermost}s (probability {mean:.2f}); whether "
        f"other {found.outermost}s give the same is another question"
    )
    yield "estimand", text


def _friedman(found: Multilevel, line: Line, words: _Words, answers: MethodResults) -> _Found:
    if answers.friedman is None or words.get("Friedman") == line.outcome:
        return
    shared = "hosts" if found.outermost == "host" else "machine's sessions"
    yield (
        "unit",
        (
            f"Friedman counts {len(found.benchmarks)} benchmarks as independent and ranks them; "
            f"they share the {shared}, and one program under several names was told apart in "
            "31 to 41 % of trials"
        ),
    )


def _named(names: Sequence[str]) -> str:
    return figures.listed(tuple(names), _NAMED)


# --- What ``--explain`` adds to a verdict: what it rests on, what would settle it, and what
# other methods say.


_LONG_NAME = 28
_NEAR_ONE = 0.1  # ratios so near 1 need a third decimal
_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini and Hochberg"}


def explained_sections(verdict: Verdict) -> Iterator[Section]:
    """Give what the answer rests on, then each candidate's other methods."""
    yield Section(tuple(Sentence(text) for text in _rests_on(verdict)), title="what it rests on")
    merged = verdict.quantile is not None and verdict.quantile.level == "session"
    note = ONE_VALUE if merged else ""
    for number, one in enumerate(verdict.candidates, 1):
        if one.panel is not None:
            yield panel_section(one.variant, verdict.baseline, one.panel, number, note)
        if one.hosts is not None and (told := tuple(disagreeing_sentences(verdict, one.hosts))):
            yield Section(told, title="hosts that disagree")


def _rests_on(verdict: Verdict) -> Iterator[str]:
    left_out = [f"{verdict.warmups} warm-up runs"] if verdict.warmups else []
    left_out += [f"{figures.counted(verdict.failed, 'failed run')}"] if verdict.failed else []
    yield f"{figures.counted(verdict.runs, 'run')} count" + (
        f"; left out: {', '.join(left_out)}" if left_out else ""
    )
    if told := looks_text(verdict):
        yield told
    known = [one.multilevel for one in verdict.candidates if one.multilevel is not None]
    most = max((len(result.benchmarks) for result in known), default=0)
    if most > 1 and verdict.correction in _CORRECTIONS:
        yield (
            f"words of benchmarks are corrected for {most} of them (after "
            f"{_CORRECTIONS[verdict.correction]}); intervals are not"
        )
    for one in verdict.candidates:
        name = f"{shorten(shown(one.variant), _LONG_NAME)}: " if len(verdict.candidates) > 1 else ""
        if one.multilevel is not None:
            yield from (f"{name}{text}" for text in _would_settle(one.multilevel))
        if one.hosts is not None and one.multilevel is not None:
            more = more_hosts_text(one.multilevel, one.hosts)
            yield from (f"{name}{more}",) if more else ()
        if one.hpt_speedup is not None:
            yield f"{name}{hpt_text(one.hpt_speedup)}"
    if verdict.certificate is not None:
        yield verdict.certificate.sentence


def _would_settle(result: Multilevel) -> Iterator[str]:
    """Say of each undecided line how much more would settle it, and whether runs alone would."""
    lines: list[Line] = [*result.benchmarks, *([result.these] if result.these else [])]
    told = []
    for line in lines:
        advice = advice_text(line, result.outermost, short=True)
        if isinstance(line, BenchmarkLine) and line.reason and line.law != "identity":
            continue
        if advice:
            name = f"these {len(result.benchmarks)}" if line is result.these else line.name
            told.append(f"{shorten(shown(name), _LONG_NAME)}: {advice}")
    if told:
        heading = chance_heading(lines)
        yield f"{heading}: {'; '.join(told)}" if heading else "; ".join(told)
    if text := runs_text(result):
        yield text


def runs_text(result: Multilevel) -> str:
    """Say of undecided benchmarks that more runs alone would not settle them."""
    known = [line.more_sessions for line in result.benchmarks if line.outcome == "undecided"]
    told = [more.runs_suffice for more in known if more is not None]
    never = sum(one is False for one in told)
    if not never:
        return ""
    if len(told) == 1:
        return "more runs alone would not do"
    return f"more runs alone would not do: {never} of {len(told)} undecided benchmarks"


def hpt_text(bound: HptBound) -> str:
    """Say what HPT claims; of a candidate that may be slower, that its speedup is at least so much."""
    level = f"{bound.required:g}"
    if bound.value is None:
        return f"HPT: no speedup has reliability {level}"
    return f"HPT: a speedup of at least {_down(bound.value)}x has reliability {level}"


def _down(value: float) -> str:
    """Write a lower bound; rounding up would claim more."""
    digits = 3 if abs(value - 1) < _NEAR_ONE else 2
    if not 0.095 <= value < 9.995:
        return figures.significant(value * (1 - 5e-4), 3)
    return f"{math.floor(value * 10**digits * (1 + 1e-12)) / 10**digits:.{digits}f}"
