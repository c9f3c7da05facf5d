"""The Speedup-Test in words: the answer first, then the path, then the figures of the suite."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...pages import number_format as figures
from ...pages.model import (
    Page,
    Section,
    Table,
    Value,
    columns_of,
    page,
    page_of,
    section,
    table_of,
    value_of,
)
from ...words import apart, shortened
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
    SpeedupSuite,
    SpeedupTest,
)

_SIGNS = dict(zip((SHAPIRO, F_TEST, STUDENT, WELCH, KOLMOGOROV, WILCOXON), "WFttDW", strict=True))
_BENCHMARK, _VARIANT = 24, 30  # columns for names
_time = partial(figures.significant, digits=5)


def _times(speedup: float | None) -> str:
    return "-" if speedup is None else f"{figures.significant(speedup, 4)}x"


def _percent(gain: float) -> str:
    """Write a gain: two decimals; of huge losses, four digits."""
    if gain < -100:
        return f"{figures.significant(100 * gain, 4)} %"
    return f"{100 * gain:z.2f} %"


@page_of.register
def benchmark_page(test: SpeedupTest, *, named: bool = True) -> Page:
    """Fill the page of one benchmark, with its name in the first line or without."""
    answers = [test.name] if named and test.name is not None else []
    for centre, value in zip(TESTED, (test.speedup_mean, test.speedup_median), strict=True):
        answers.append(f"speedup of the {centre} {_times(value)}: {_answer(test.of(centre))}")
    least = _times(test.speedup_min)
    answers.append(f"speedup of the minimum {least}: a description, no test belongs to it")
    times = table_of(
        "times",
        [
            ("runs", str, test.runs_baseline, test.runs_candidate),
            *((WORDS[centre], _time, *test.times(centre)) for centre in CENTRES),
        ],
        ("<", lambda row: row[0]),
        ("baseline", lambda row: Value(row[1](row[2]), row[2])),
        ("candidate", lambda row: Value(row[1](row[3]), row[3])),
    )
    title = "Speedup-Test" if test.name is None else f"Speedup-Test: {test.name}"
    paths = (_path(centre, test.of(centre)) for centre in TESTED)
    return page(test, title, section(*answers), times, *paths)


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


def _path(word: str, decision: Decision) -> Section:
    rows, notes = [], []
    for step in decision.steps:
        statistic = p = Value("", None)
        if step.pvalue is not None and step.statistic is not None:
            sign = f"{_SIGNS[step.test]} = {figures.significant(step.statistic, 4)}"
            statistic, p = (
                Value(sign, step.statistic),
                Value(f"p {figures.pvalue(step.pvalue)}", step.pvalue),
            )
        rows.append((step.test, step.sample or "both", statistic, p, step.outcome))
        note = step.consequence
        if step.low is not None and step.high is not None:
            low, high = (figures.significant(one, 4) for one in (step.low, step.high))
            note += f" (ratio {low} to {high} at confidence {1 - step.risk:.4g})"
        notes.append(note)
    steps = Table(
        name=f"steps-{word}",
        columns=columns_of("<test", "<sample", "<statistic", "<p", "<outcome"),
        rows=tuple(rows),
        headed=False,
        notes=tuple(notes),
    )
    return section(steps, title=f"the way to it, {word}, at risk {decision.steps[0].risk:g}")


@page_of.register
def _(suite: SpeedupSuite) -> Page:
    weights = {"equal": "equal", "fraction": "by the baseline's time", "custom": "as given"}
    ours, theirs = apart((suite.candidate, suite.baseline), _VARIANT)
    n, slower = len(suite.benchmarks), suite.slower
    said = (
        f"{ours} against {theirs}: the speedup of the mean is significant on "
        f"{suite.proportion_mean.accelerated} of {n} benchmarks, that of the median on "
        f"{suite.proportion_median.accelerated} of {n}"
    )
    levels = {test.required for test in suite.benchmarks}
    if levels == {None}:
        said += ", each at the best level that a search finds"
    else:
        one = len(levels) == 1
        said += f" at confidence {levels.pop():g}" if one else ", each at its own level"
    if any(slower.values()):
        said += (
            f"; significantly slower with the sides swapped on {slower['mean']} by the mean, on "
            f"{slower['median']} by the median"
        )
    called = shortened([test.name or "" for test in suite.benchmarks], _BENCHMARK)
    searched = any(test.required is None for test in suite.benchmarks)
    head = "<best level" if searched else "<significant"
    benchmarks = table_of(
        "benchmarks",
        suite.benchmarks,
        ("<", lambda test: called[test.name or ""]),
        ("runs", lambda test: f"{test.runs_baseline}/{test.runs_candidate}"),
        ("min", "speedup_min", _times),
        ("mean", "speedup_mean", _times),
        (head, lambda test: _decided(test.mean)),
        ("median", "speedup_median", _times),
        (head, lambda test: _decided(test.median)),
    )
    overall = table_of(
        "overall",
        CENTRES,
        ("<", lambda centre: f"overall, by {WORDS[centre]}"),
        ("gain, all", suite.gain.get, _percent),
        ("speedup, all", suite.speedup.get, _times),
        ("gain, accelerated", suite.gain_accelerated.get, _percent),
        ("speedup, accelerated", suite.speedup_accelerated.get, _times),
    )
    title = f"Speedup-Test: {suite.candidate} against {suite.baseline}"
    means = section(overall, f"weights: {weights[suite.weighting]}")
    return page(suite, title, said, benchmarks, means, section(*_shares(suite)))


def _decided(decision: Decision) -> Value:
    if decision.pvalue is None:
        needed = decision.needed_runs
        return Value("cannot conclude" if needed is None else f"needs {needed} runs", None)
    if decision.word == "slower" and decision.swapped.pvalue is not None:
        return value_of(decision.swapped.pvalue, lambda p: f"slower, swapped p {figures.pvalue(p)}")
    word = "yes" if decision.significant else "no"
    if decision.searched:
        word = "none" if decision.confidence is None else f"{decision.confidence:g}"
    return Value(f"{word}, p {figures.pvalue(decision.pvalue)}", decision.pvalue)


def _shares(suite: SpeedupSuite) -> Iterator[str]:
    for word, share in (("mean", suite.proportion_mean), ("median", suite.proportion_median)):
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
        yield text
    n = len(suite.benchmarks)
    yield (
        "remark: these intervals speak of other benchmarks only if "
        f"{'this one was' if n == 1 else f'these {n} were'} chosen at random from a large set of "
        "representative ones"
    )
