"""What a reader of the Speedup-Test should know, with the error rates that simulations give.

The rates are those of the method as published, at risk 0.05; `tests/calibration` repeats them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...pages import number_format as figures
from ...pages.model import Caution, merged
from .result import SHAPIRO, Decision, SpeedupTest, Weighting

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.pair import Match

_SESSIONS = (
    "all runs count as independent. Runs of one session are not: with a common shift in each session "
    "the same program was declared faster in 23 % (mean) and 30 % (median) of cases instead of 5 %"
)


def data_cautions(both: Match) -> Iterator[Caution]:
    """Say what became of the data before any test."""
    if both.candidate.better == "higher":
        yield Caution(
            "rates-as-times",
            f"more is better here ({both.candidate.unit}), so the reciprocals were judged as times: the "
            "mean is the harmonic mean of the values",
        )
    yield from merged(both.cautions, both.baseline.cautions, both.candidate.cautions)


def benchmark_cautions(mean: Decision, median: Decision) -> Iterator[Caution]:
    """Say what is special about one benchmark."""
    sides = _not_normal(mean)
    if sides:
        yield Caution(
            "mean-approximate",
            f"the {' and the '.join(sides)} {'do' if len(sides) > 1 else 'does'} not look normal: the "
            "confidence for the mean is approximate",
        )
    if _not_shifted(median):
        yield Caution(
            "median-approximate",
            "the two samples do not differ by a shift only: the confidence for the median is "
            "approximate",
        )


def suite_cautions(tests: Sequence[SpeedupTest]) -> Iterator[Caution]:
    """Say on which benchmarks of a suite there is no conclusion, or an approximate one."""
    stopped = "a check did not hold, so that nothing can be concluded about the {} of {}: {}"
    doubtful = "the confidence for the {} is approximate on {}, because their large samples "
    not_normal = doubtful + "do not look normal: {}"
    not_shifted = doubtful + "differ by more than a shift: {}"
    for code, centre, text, flags in (
        ("mean-not-concluded", "mean", stopped, [test.mean.stopped for test in tests]),
        ("median-not-concluded", "median", stopped, [test.median.stopped for test in tests]),
        ("mean-approximate", "mean", not_normal, [bool(_not_normal(test.mean)) for test in tests]),
        (
            "median-approximate",
            "median",
            not_shifted,
            [_not_shifted(test.median) for test in tests],
        ),
    ):
        names = tuple(test.name or "" for test, yes in zip(tests, flags, strict=True) if yes)
        if names:
            count = f"{len(names)} of {len(tests)} benchmarks"
            said = text.format(centre, count, figures.listed(names))
            yield Caution(code, said, names)


def _not_normal(mean: Decision) -> list[str]:
    """Give the sides whose normality is rejected where the t-test was used all the same."""
    if len(mean.steps) <= 2:  # the path ends with Shapiro's tests
        return []
    return [
        str(step.sample)
        for step in mean.steps
        if step.test == SHAPIRO and step.outcome == "rejected"
    ]


def _not_shifted(median: Decision) -> bool:
    """Tell whether the shapes differ where the rank-sum test was used all the same."""
    return len(median.steps) > 1 and median.steps[0].outcome == "rejected"


def protocol_cautions(tests: Sequence[SpeedupTest]) -> Iterator[Caution]:
    """Say what is known of the protocols that were used."""
    if any(test.mean.searched for test in tests):
        yield Caution(
            "level-searched",
            "the confidence was searched, not asked for: when nothing differs such a search still finds "
            "a level above 0.50 for about half of all benchmarks (47 to 50 % by simulation). Look at p",
        )
    if any("slower" in (test.mean.word, test.median.word) for test in tests):
        yield Caution(
            "two-directions",
            "the slowdowns are those of a second test with the sides swapped: with both, a false "
            "outcome on a benchmark has up to twice the risk of one test",
        )
    if len(tests) > 1:
        yield Caution(
            "not-corrected",
            f"each of the {len(tests)} benchmarks has its own risk, none is corrected for their number: "
            "of suites of 12 without any difference, 31 to 47 % showed at least one false speedup",
        )
    if any(test.mean.pvalue is not None for test in tests):
        yield Caution(
            "f-before-t",
            "F before t does not keep the risk: with equal means, 5 runs of sd 2 against 20 of sd 1, "
            "0.05 became 0.087 (Student's t alone 0.134, Welch's alone 0.054). Welch's t without a "
            "pre-test is sounder",
        )
    if any(test.median.pvalue is not None for test in tests):
        yield Caution(
            "no-test-of-medians",
            "the protocol for the median is no test of medians where the shapes differ: equal medians, "
            "bimodal against unimodal times, were declared a speedup in 13 % (15 runs) and 17 % (40 "
            "runs) of cases",
        )


def session_cautions(*matrices: PerformanceMatrix) -> Iterator[Caution]:
    """Say how far the runs are independent, where their sessions are known or not."""
    known = [matrix.sessions for matrix in matrices if matrix.sessions is not None]
    count = len({ids for rows in known for row in rows for ids in row.tolist()})
    if not known or len(known) < len(matrices):
        yield Caution("sessions-unknown", _SESSIONS)
    elif count == 1:
        yield Caution(
            "one-session",
            f"all runs stem from one session, and the outcome holds within it only; {_SESSIONS}",
        )
    else:
        yield Caution("sessions-pooled", _SESSIONS)


def weighting_cautions(weighting: Weighting) -> Iterator[Caution]:
    """Say what is known of the overall gains and speedups of a suite."""
    if weighting == "fraction":
        yield Caution(
            "time-counts-twice",
            "weights by time let the time count twice: the gain is governed by the squares of the times",
        )
    yield Caution(
        "accelerated-selected",
        "gain and speedup of the accelerated benchmarks leave the slowdowns out: they are larger by "
        "selection, and mean something only beside the proportion and the figures of all",
    )
