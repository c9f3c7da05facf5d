"""How the results of the Speedup-Test read: the answer first, then the path, then the cautions."""

from __future__ import annotations

from ...report import as_text, figures
from .proportion import Proportion
from .result import (
    CENTRES,
    F_TEST,
    KOLMOGOROV,
    SHAPIRO,
    STUDENT,
    WELCH,
    WILCOXON,
    Centre,
    Decision,
    SpeedupSuite,
    SpeedupTest,
    Step,
)

__all__ = ["suite_text", "test_text"]

_WORDS: dict[Centre, str] = {"min": "minimum", "mean": "mean", "median": "median"}
_SIGNS = {
    SHAPIRO: "W",
    F_TEST: "F",
    STUDENT: "t",
    WELCH: "t",
    KOLMOGOROV: "D",
    WILCOXON: "W",
}
_NAME = 24
_RANDOM = (
    "remark: these intervals speak of other benchmarks only if {these} chosen at random from a large "
    "set of representative ones"
)


def test_text(test: SpeedupTest) -> str:
    """Set the result of one benchmark."""
    lines = [] if test.name is None else [test.name]
    for word, value, decision in (
        ("mean", test.speedup_mean, test.mean),
        ("median", test.speedup_median, test.median),
    ):
        lines += as_text.wrapped(f"speedup of the {word} {_times(value)}: {_answer(decision)}")
    lines += as_text.wrapped(
        f"speedup of the minimum {_times(test.speedup_min)}: a description, no test belongs to it"
    )
    rows = [["", "baseline", "candidate"]]
    rows.append(["runs", str(test.runs_baseline), str(test.runs_candidate)])
    rows += [
        [_WORDS[centre], *(figures.significant(time, 5) for time in test.times(centre))]
        for centre in CENTRES
    ]
    lines += ["", *as_text.grid(rows, "<>>")]
    for word, decision in (("mean", test.mean), ("median", test.median)):
        lines += ["", *_path(word, decision)]
    return "\n".join([*lines, *as_text.numbered(test.cautions)])


def _answer(decision: Decision) -> str:
    p = "" if decision.pvalue is None else f" (p {figures.pvalue(decision.pvalue)})"
    if decision.searched:
        if decision.confidence is None:
            more = _more(decision)
            return f"no confidence above 0.50 declares it{p}{more}"
        return f"significant up to confidence {decision.confidence:g}, by search{p}"
    return f"{decision.answer} at {decision.confidence:g}{p}{_more(decision)}"


def _more(decision: Decision) -> str:
    if decision.needed_runs is None or not decision.stopped:
        return ""
    return f"; {decision.needed_runs} runs are needed where a check failed"


def _path(word: str, decision: Decision) -> list[str]:
    risk = decision.steps[0].risk
    lines = [f"the way to it, {word}, at risk {risk:g}"]
    cells = as_text.grid([_cells(step) for step in decision.steps], "<<<<<", "  ")
    for cell, step in zip(cells, decision.steps, strict=True):
        lines += [cell, *as_text.wrapped(step.consequence, indent="      ")]
    return lines


def _cells(step: Step) -> list[str]:
    if step.pvalue is None or step.statistic is None:
        shown = ["", ""]
    else:
        shown = [
            f"{_SIGNS[step.test]} = {figures.significant(step.statistic, 4)}",
            f"p {figures.pvalue(step.pvalue)}",
        ]
    return [step.test, step.sample or "both", *shown, step.outcome]


def suite_text(suite: SpeedupSuite) -> str:
    """Set the result of a suite."""
    n = len(suite.benchmarks)
    ours, theirs = (figures.shorten(name, 30) for name in (suite.candidate, suite.baseline))
    mean, median = suite.proportion_mean, suite.proportion_median
    searched = any(test.required is None for test in suite.benchmarks)
    lines = as_text.wrapped(
        f"{ours} against {theirs}: the speedup of the mean is significant on {mean.accelerated} of {n} "
        f"benchmarks, that of the median on {median.accelerated} of {n}{_levels(suite)}"
    )
    head = "best level" if searched else "significant"
    rows = [["", "runs", "min", "mean", head, "median", head]]
    rows += [
        [
            figures.shorten(test.name or "", _NAME),
            f"{test.runs_baseline}/{test.runs_candidate}",
            _times(test.speedup_min),
            _times(test.speedup_mean),
            _cell(test.mean),
            _times(test.speedup_median),
            _cell(test.median),
        ]
        for test in suite.benchmarks
    ]
    lines += ["", *as_text.grid(rows, "<>>><><"), "", *_overall(suite), ""]
    for word, share in (("mean", mean), ("median", median)):
        lines += as_text.wrapped(_share(word, share))
    these = "this one was" if n == 1 else f"these {n} were"
    lines += as_text.wrapped(_RANDOM.format(these=these))
    return "\n".join([*lines, *as_text.numbered(suite.cautions)])


def _levels(suite: SpeedupSuite) -> str:
    levels = {test.required for test in suite.benchmarks}
    if levels == {None}:
        return ", each at the best level that a search finds"
    return f" at confidence {levels.pop():g}" if len(levels) == 1 else ", each at its own level"


def _cell(decision: Decision) -> str:
    if decision.pvalue is None:
        needed = decision.needed_runs
        return "cannot conclude" if needed is None else f"needs {needed} runs"
    if decision.searched:
        word = "none" if decision.confidence is None else f"{decision.confidence:g}"
    else:
        word = "yes" if decision.significant else "no"
    return f"{word}, p {figures.pvalue(decision.pvalue)}"


def _overall(suite: SpeedupSuite) -> list[str]:
    rows = [["", "gain, all", "speedup, all", "gain, accelerated", "speedup, accelerated"]]
    rows += [
        [
            f"overall, by {_WORDS[centre]}",
            _percent(suite.gain[centre]),
            _times(suite.speedup[centre]),
            _percent(suite.gain_accelerated[centre]),
            _times(suite.speedup_accelerated[centre]),
        ]
        for centre in CENTRES
    ]
    words = {"equal": "equal", "fraction": "by the baseline's time", "custom": "as given"}
    return [*as_text.grid(rows, "<>>>>"), f"weights: {words[suite.weighting]}"]


def _percent(value: float | None) -> str:
    """Write a gain: two decimals; of huge losses, four digits."""
    if value is None:
        return "-"
    if value < -100:
        return f"{figures.significant(100 * value, 4)} %"
    text = f"{100 * value:.2f} %"
    return text[1:] if text == "-0.00 %" else text


def _share(word: str, share: Proportion) -> str:
    text = (
        f"accelerated in {word}: {share.accelerated} of {share.total} = {share.share:.3g}, "
        f"{100 * share.confidence:g} % interval [{share.low:.3f}, {share.high:.3f}], without continuity "
        f"correction [{share.low_plain:.3f}, {share.high_plain:.3f}]"
    )
    if not share.accurate:
        text += "; it may not be accurate, because a (1 - a/b) > 5 does not hold"
    if share.needed_benchmarks is not None:
        text += f"; {share.needed_benchmarks} benchmarks would give ± {share.precision:g}"
    return text


def _times(value: float | None) -> str:
    return "-" if value is None else f"{figures.significant(value, 4)}x"
