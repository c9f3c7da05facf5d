"""What a reader of the Speedup-Test should know, with the error rates that simulations give.

The rates are those of the method as published, at risk 0.05; `tests/calibration` repeats them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...data import PerformanceMatrix
from .result import SHAPIRO, Decision, SpeedupTest, Weighting

__all__ = ["collective", "figures", "general", "particular", "sessions"]

_SEARCH = (
    "the confidence was searched, not asked for: when nothing differs such a search still finds a level "
    "above 0.50 for about half of all benchmarks (47 to 50 % by simulation). Look at p"
)
_F_THEN_T = (
    "F before t does not keep the risk: with equal means, 5 runs of sd 2 against 20 of sd 1, 0.05 became "
    "0.087 (Student's t alone 0.134, Welch's alone 0.054). Welch's t without a pre-test is sounder"
)
_MEDIAN = (
    "the protocol for the median is no test of medians where the shapes differ: equal medians, bimodal "
    "against unimodal times, were declared a speedup in 13 % (15 runs) and 17 % (40 runs) of cases"
)
_SESSIONS = (
    "all runs count as independent. Runs of one session are not: with a common shift in each session "
    "the same program was declared faster in 23 % (mean) and 30 % (median) of cases instead of 5 %"
)
_MANY = (
    "each of the {n} benchmarks has its own risk, none is corrected for their number: of suites of 12 "
    "without any difference, 31 to 47 % showed at least one false speedup"
)
_FRACTION = (
    "weights by time let the time count twice: the gain is governed by the squares of the times"
)
_SELECTED = (
    "gain and speedup of the accelerated benchmarks leave the slowdowns out: they are larger by "
    "selection, and mean something only beside the proportion and the figures of all"
)


def particular(mean: Decision, median: Decision) -> tuple[str, ...]:
    """Say what is special about one benchmark."""
    cautions = []
    sides = _not_normal(mean)
    if sides:
        cautions.append(
            f"the {' and the '.join(sides)} {'do' if len(sides) > 1 else 'does'} not look normal: the "
            "confidence for the mean is approximate"
        )
    if _not_shifted(median):
        cautions.append(
            "the two samples do not differ by a shift only: the confidence for the median is "
            "approximate"
        )
    return tuple(cautions)


def collective(tests: Sequence[SpeedupTest]) -> list[str]:
    """Say on which benchmarks of a suite there is no conclusion, or an approximate one."""
    cautions = []
    for word, decisions in (
        ("mean", [test.mean for test in tests]),
        ("median", [test.median for test in tests]),
    ):
        open_ones = [
            test.name or ""
            for test, decision in zip(tests, decisions, strict=True)
            if decision.stopped
        ]
        if open_ones:
            cautions.append(
                f"a check did not hold, so that nothing can be concluded about the {word} of "
                f"{len(open_ones)} of {len(tests)} benchmarks: {_some(open_ones)}"
            )
    for word, doubtful in (("mean", _not_normal), ("median", _not_shifted)):
        names = [test.name or "" for test in tests if doubtful(getattr(test, word))]
        if names:
            why = "do not look normal" if word == "mean" else "differ by more than a shift"
            cautions.append(
                f"the confidence for the {word} is approximate on {len(names)} of {len(tests)} "
                f"benchmarks, because their large samples {why}: {_some(names)}"
            )
    return cautions


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
    return len(median.steps) > 1 and median.steps[0].outcome == "rejected"


def _some(names: list[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + f" and {len(names) - most} more" * (len(names) > most)


def general(tests: Sequence[SpeedupTest]) -> list[str]:
    """Say what is known of the protocols that were used."""
    cautions = []
    if any(test.mean.searched for test in tests):
        cautions.append(_SEARCH)
    if len(tests) > 1:
        cautions.append(_MANY.format(n=len(tests)))
    if any(test.mean.pvalue is not None for test in tests):
        cautions.append(_F_THEN_T)
    if any(test.median.pvalue is not None for test in tests):
        cautions.append(_MEDIAN)
    return cautions


def sessions(*matrices: PerformanceMatrix) -> list[str]:
    """Say how far the runs are independent, where their sessions are known or not."""
    known = [matrix.sessions for matrix in matrices if matrix.sessions is not None]
    count = len({ids for rows in known for row in rows for ids in row.tolist()})
    if count == 1 and len(known) == len(matrices):
        return [
            f"all runs stem from one session, and the outcome holds within it only; {_SESSIONS}"
        ]
    return [_SESSIONS]


def figures(weighting: Weighting) -> list[str]:
    """Say what is known of the figures of a suite."""
    return [_FRACTION] * (weighting == "fraction") + [_SELECTED]
