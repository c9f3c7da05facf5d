"""The Speedup-Test in words: the answer first, then the path, then the figures of the suite."""

from __future__ import annotations

from collections.abc import Iterator

from ...pages import number_format as figures
from ...pages.model import Column, Page, Section, Sentence, Table, Value, page_of
from ...words import shorten
from .result import (
    CENTRES,
    F_TEST,
    KOLMOGOROV,
    SHAPIRO,
    STUDENT,
    TESTED,
    WELCH,
    WILCOXON,
    WORDS,
    Decision,
    Proportion,
    SpeedupSuite,
    SpeedupTest,
    Step,
)

_SIGNS = dict(zip((SHAPIRO, F_TEST, STUDENT, WELCH, KOLMOGOROV, WILCOXON), "WFttDW", strict=True))
_BENCHMARK, _VARIANT = 24, 30  # columns for names


# ---- one benchmark


@page_of.register(SpeedupTest)
def _speedup_test_page(test: SpeedupTest) -> Page:
    return benchmark_page(test)


def benchmark_page(test: SpeedupTest, *, named: bool = True) -> Page:
    """Fill the page of one benchmark, with its name in the first line or without."""
    heading = (test.name,) if named and test.name is not None else ()
    return Page(
        title="Speedup-Test" if test.name is None else f"Speedup-Test: {test.name}",
        sections=(
            Section((*map(Sentence, heading), *_answers(test))),
            Section((_times_table(test),)),
            _path("mean", test.mean),
            _path("median", test.median),
        ),
        cautions=test.cautions,
    )


def _answers(test: SpeedupTest) -> Iterator[Sentence]:
    for centre, value in zip(TESTED, (test.speedup_mean, test.speedup_median), strict=True):
        yield Sentence(f"speedup of the {centre} {_times(value).text}: {_answer(test.of(centre))}")
    yield Sentence(
        f"speedup of the minimum {_times(test.speedup_min).text}: a description, no test belongs to it"
    )


def _answer(decision: Decision) -> str:
    p = "" if decision.pvalue is None else f" (p {figures.pvalue(decision.pvalue)})"
    if decision.searched and decision.confidence is not None:
        return f"significant up to confidence {decision.confidence:g}, by search{p}"
    said = "no confidence above 0.50 declares it"
    if not decision.searched:
        said = f"{decision.answer} at {decision.confidence:g}"
    said += p
    if decision.needed_runs is not None and decision.stopped:
        said += f"; {decision.needed_runs} runs are needed where a check failed"
    swapped = decision.swapped.pvalue
    if decision.word == "slower" and swapped is not None:
        said += f"; significantly slower with the sides swapped (p {figures.pvalue(swapped)})"
    return said


def _times_table(test: SpeedupTest) -> Table:
    runs = (test.runs_baseline, test.runs_candidate)
    return Table(
        name="times",
        columns=(Column("", "left"), Column("baseline"), Column("candidate")),
        rows=(
            ("runs", *(Value(str(count), count) for count in runs)),
            *(
                (WORDS[centre], _time(before), _time(after))
                for centre in CENTRES
                for before, after in (test.times(centre),)
            ),
        ),
    )


def _path(word: str, decision: Decision) -> Section:
    headings = ("test", "sample", "statistic", "p", "outcome")
    steps = Table(
        name=f"steps-{word}",
        columns=tuple(Column(heading, "left") for heading in headings),
        rows=tuple(
            (step.test, step.sample or "both", *_found(step), step.outcome)
            for step in decision.steps
        ),
        headed=False,
        notes=tuple(map(_consequence, decision.steps)),
    )
    return Section((steps,), title=f"the way to it, {word}, at risk {decision.steps[0].risk:g}")


def _consequence(step: Step) -> str:
    if step.low is None or step.high is None:
        return step.consequence
    low, high = (figures.significant(one, 4) for one in (step.low, step.high))
    return f"{step.consequence} (ratio {low} to {high} at confidence {1 - step.risk:.4g})"


def _found(step: Step) -> tuple[Value, Value]:
    if step.pvalue is None or step.statistic is None:
        return Value("", None), Value("", None)
    return (
        Value(f"{_SIGNS[step.test]} = {figures.significant(step.statistic, 4)}", step.statistic),
        Value(f"p {figures.pvalue(step.pvalue)}", step.pvalue),
    )


# ---- a suite


@page_of.register(SpeedupSuite)
def _speedup_suite_page(suite: SpeedupSuite) -> Page:
    weights = {"equal": "equal", "fraction": "by the baseline's time", "custom": "as given"}
    ours, theirs = (shorten(name, _VARIANT) for name in (suite.candidate, suite.baseline))
    n = len(suite.benchmarks)
    said = (
        f"{ours} against {theirs}: the speedup of the mean is significant on "
        f"{suite.proportion_mean.accelerated} of {n} benchmarks, that of the median on "
        f"{suite.proportion_median.accelerated} of {n}"
    )
    levels = {test.required for test in suite.benchmarks}
    if levels == {None}:
        said += ", each at the best level that a search finds"
    else:
        said += (
            f" at confidence {levels.pop():g}" if len(levels) == 1 else ", each at its own level"
        )
    slower = suite.slower
    if any(slower.values()):
        said += (
            f"; significantly slower with the sides swapped on {slower['mean']} by the mean, on "
            f"{slower['median']} by the median"
        )
    return Page(
        title=f"Speedup-Test: {suite.candidate} against {suite.baseline}",
        sections=(
            Section((Sentence(said),)),
            Section((_benchmarks_table(suite),)),
            Section((_overall_table(suite), Sentence(f"weights: {weights[suite.weighting]}"))),
            Section(tuple(_shares(suite))),
        ),
        cautions=suite.cautions,
    )


def _benchmarks_table(suite: SpeedupSuite) -> Table:
    searched = any(test.required is None for test in suite.benchmarks)
    head = "best level" if searched else "significant"
    return Table(
        name="benchmarks",
        columns=(
            Column("", "left"),
            *map(Column, ("runs", "min", "mean")),
            Column(head, "left"),
            Column("median"),
            Column(head, "left"),
        ),
        rows=tuple(
            (
                shorten(test.name or "", _BENCHMARK),
                f"{test.runs_baseline}/{test.runs_candidate}",
                _times(test.speedup_min),
                _times(test.speedup_mean),
                _decided(test.mean),
                _times(test.speedup_median),
                _decided(test.median),
            )
            for test in suite.benchmarks
        ),
    )


def _decided(decision: Decision) -> Value:
    if decision.pvalue is None:
        needed = decision.needed_runs
        return Value("cannot conclude" if needed is None else f"needs {needed} runs", None)
    if decision.word == "slower" and decision.swapped.pvalue is not None:
        p = decision.swapped.pvalue
        return Value(f"slower, swapped p {figures.pvalue(p)}", p)
    if decision.searched:
        word = "none" if decision.confidence is None else f"{decision.confidence:g}"
    else:
        word = "yes" if decision.significant else "no"
    return Value(f"{word}, p {figures.pvalue(decision.pvalue)}", decision.pvalue)


def _overall_table(suite: SpeedupSuite) -> Table:
    headings = ("gain, all", "speedup, all", "gain, accelerated", "speedup, accelerated")
    return Table(
        name="overall",
        columns=(Column("", "left"), *map(Column, headings)),
        rows=tuple(
            (
                f"overall, by {WORDS[centre]}",
                *(_percent(suite.gain[centre]), _times(suite.speedup[centre])),
                _percent(suite.gain_accelerated[centre]),
                _times(suite.speedup_accelerated[centre]),
            )
            for centre in CENTRES
        ),
    )


def _shares(suite: SpeedupSuite) -> Iterator[Sentence]:
    yield _share("mean", suite.proportion_mean)
    yield _share("median", suite.proportion_median)
    n = len(suite.benchmarks)
    yield Sentence(
        "remark: these intervals speak of other benchmarks only if "
        f"{'this one was' if n == 1 else f'these {n} were'} chosen at random from a large set of "
        "representative ones"
    )


def _share(word: str, share: Proportion) -> Sentence:
    text = (
        f"accelerated in {word}: {share.accelerated} of {share.total} = {share.share:.3g}, "
        f"{100 * share.confidence:g} % interval [{share.low:.3f}, {share.high:.3f}], without continuity "
        f"correction [{share.low_plain:.3f}, {share.high_plain:.3f}], by Wald's formula "
        f"[{share.low_wald:.3f}, {share.high_wald:.3f}]"
    )
    if not share.accurate:
        text += "; it may not be accurate, because a (1 - a/b) > 5 does not hold"
    if share.needed_benchmarks is not None:
        text += f"; {share.needed_benchmarks} benchmarks would give ± {share.precision:g}"
    return Sentence(text)


# ---- figures


def _time(value: float) -> Value:
    return Value(figures.significant(value, 5), value)


def _times(speedup: float | None) -> Value:
    return Value("-" if speedup is None else f"{figures.significant(speedup, 4)}x", speedup)


def _percent(gain: float | None) -> Value:
    """Write a gain: two decimals; of huge losses, four digits."""
    if gain is None:
        return Value("-", None)
    if gain < -100:
        return Value(f"{figures.significant(100 * gain, 4)} %", gain)
    text = f"{100 * gain:.2f} %"
    return Value(text[1:] if text == "-0.00 %" else text, gain)
