"""The decision paths of HPT and the Speedup-Test, and all methods' paths on one candidate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...methods.hpt.html_page import reliability_steps
from ...methods.hpt.page import hpt_pvalues
from ...methods.speedup_test.result import (
    F_TEST,
    KOLMOGOROV,
    SHAPIRO,
    WILCOXON,
    Decision,
    SpeedupSuite,
    SpeedupTest,
)
from ...pages import number_format as figures
from ...pages.model import Cell, Column, Table, Value
from .answering import Asked, pvalue
from .evidence import DecisionPath, Evidence, PathTable
from .resampled import bootstrap_of, randomization_of
from .single_runs import single_runs_of

if TYPE_CHECKING:
    from ...methods.hpt.result import HptResult
    from ..subject import Subject

__all__ = ["path_of"]


def path_of(subject: Subject, asked: Asked, number: int) -> DecisionPath:
    """Give the ways of all methods to their answers on one candidate, the `number`-th of the page."""
    return DecisionPath(
        anchor=subject.anchor(f"panel-path-{number}"),
        candidate=asked.name,
        methods=tuple(_methods(subject, asked, number)),
    )


def _methods(subject: Subject, asked: Asked, number: int) -> Iterator[Evidence]:
    answers = asked.panel.answers

    def anchor(key: str) -> str:
        return subject.anchor(f"panel-path-{number}-{key}")

    order = {name: place for place, name in enumerate(subject.order)}
    if answers.hpt is not None:
        yield _hpt(asked, answers.hpt, order, anchor("hpt"), number)
    if answers.suite is not None:
        yield _speedup_test(asked, answers.suite, order, anchor("speedup-test"), number)
    if answers.randomized is not None:
        yield randomization_of(asked, answers.randomized, anchor("randomization"))
    if answers.bootstrap is not None:
        yield bootstrap_of(asked, answers.bootstrap, anchor("bootstrap"))
    if answers.mixtures:
        yield single_runs_of(subject, asked, anchor("mixtures"), number)


def _hpt(
    asked: Asked,
    result: HptResult,
    order: dict[str, int],
    anchor: str,
    number: int,
) -> Evidence:
    """Give the rank table, both sums, and the reliability by speedup."""
    best = asked.panel.answers.best
    names = {"candidate": asked.name, "baseline": result.baseline, "tie": "tie"}
    rows = sorted(result.benchmarks, key=lambda row: order.get(row.name, len(order)))
    table = Table(
        name=f"rank-table-{number}",
        columns=(
            Column("benchmark", "left"),
            Column("median score, candidate"),
            Column("median score, baseline"),
            Column(f"p {asked.word('faster')}"),
            Column(f"p {asked.word('slower')}"),
            Column("winner", "left"),
            Column("difference"),
            Column("rank"),
        ),
        rows=tuple(
            (
                row.name,
                Value(figures.significant(row.median_candidate, 4), row.median_candidate),
                Value(figures.significant(row.median_baseline, 4), row.median_baseline),
                pvalue(row.pvalue_candidate),
                pvalue(row.pvalue_baseline),
                names[row.winner],
                Value(figures.significant(row.difference, 4), row.difference),
                Value(f"{row.rank:g}", row.rank),
            )
            for row in rows
        ),
    )
    alphas = sorted({row.alpha for row in rows if row.alpha is not None})
    risk = f" at a risk of {' or '.join(f'{one:g}' for one in alphas)}" if alphas else ""
    sums = (
        f"The ranks of the differences that the candidate wins sum to "
        f"{result.rank_sum_candidate:g}, those of the baseline to {result.rank_sum_baseline:g}, of "
        f"{len(rows)} benchmark{'s' * (len(rows) != 1)}; {hpt_pvalues(result)}."
    )
    told = [f"{_capital(result.conclusion)}.", sums]
    claimed = None if best is None or best.value is None else asked.bound(best.value)
    if best is not None:
        told.append(
            f"No speedup has reliability {best.required:g}."
            if claimed is None
            else f"Speedups up to {claimed.text}x have reliability {best.required:g} or more."
        )
    return Evidence(
        key="hpt",
        anchor=anchor,
        title="HPT: ranks over the suite",
        sentences=tuple(told),
        tables=(
            PathTable(
                caption="HPT’s rank table",
                table=table,
                note=f"A rank-sum test on each benchmark{risk} names its winner; a tie’s difference is "
                f"0. Then the differences are ranked. {_SCORES[result.scores]} Larger is better.",
            ),
        ),
        steps=None
        if best is None
        else reliability_steps(
            best,
            largest="" if claimed is None else claimed.text,
        ),
    )


_SCORES = {
    "raw": "Scores are the values, negated where lower is better.",
    "ratio": "Scores are the values relative to the baseline’s median.",
    "log-ratio": "Scores are logarithms of the values relative to the baseline’s median.",
}


def _speedup_test(
    asked: Asked, suite: SpeedupSuite, order: dict[str, int], anchor: str, number: int
) -> Evidence:
    """Give what each test said on each benchmark, mean and median in turn."""
    tests = sorted(suite.benchmarks, key=lambda test: order.get(test.name or "", len(order)))
    better = asked.word("faster")
    table = Table(
        name=f"speedup-test-{number}",
        columns=(
            Column("benchmark", "left"),
            Column("normal, candidate: p"),
            Column("normal, baseline: p"),
            Column("same variance: p"),
            Column("test of the mean", "left"),
            Column(f"mean {better}: p"),
            Column("mean", "left"),
            Column("same shape: p"),
            Column(f"median {better}: p"),
            Column("median", "left"),
        ),
        rows=tuple(_steps(asked, test) for test in tests),
    )
    risks = sorted({step.risk for test in tests for step in test.mean.steps})
    risk = " or ".join(f"{one:.3g}" for one in risks)
    told = [
        f"{_count(suite, 'mean')} of {len(tests)} benchmarks have a significantly {better} mean, "
        f"{_count(suite, 'median')} a significantly {better} median; each test has a risk of {risk} "
        "of its own."
    ]
    slower = suite.slower
    if slower["mean"] or slower["median"]:
        told.append(
            f"With the sides swapped, {slower['mean']} means and {slower['median']} medians are "
            f"significantly {asked.word('slower')}."
        )
    return Evidence(
        key="speedup-test",
        anchor=anchor,
        title="Speedup-Test: its tests on each benchmark",
        sentences=tuple(told),
        tables=(
            PathTable(
                caption="What each test of the Speedup-Test says",
                table=table,
                note="Mean: Shapiro-Wilk on each side, F on both variances, then Student’s or Welch’s t. "
                "Median: Kolmogorov-Smirnov on the values less their medians, then the rank-sum test. "
                "A p up to the risk rejects. An empty cell was not tested.",
            ),
        ),
    )


def _count(suite: SpeedupSuite, centre: str) -> int:
    decisions = (test.mean if centre == "mean" else test.median for test in suite.benchmarks)
    return sum(one.word == "faster" for one in decisions)


def _steps(asked: Asked, test: SpeedupTest) -> tuple[Cell, ...]:
    last = next((step for step in test.mean.steps if step.test.endswith(" t")), None)
    return (
        test.name or "",
        _p(test.mean, SHAPIRO, "candidate"),
        _p(test.mean, SHAPIRO, "baseline"),
        _p(test.mean, F_TEST),
        "" if last is None else last.test,
        pvalue(None if last is None else last.pvalue),
        _decided(asked, test.mean),
        _p(test.median, KOLMOGOROV),
        _p(test.median, WILCOXON),
        _decided(asked, test.median),
    )


def _p(decision: Decision, name: str, sample: str | None = None) -> Value:
    found = next(
        (step for step in decision.steps if step.test == name and step.sample == sample), None
    )
    return pvalue(None if found is None else found.pvalue)


def _decided(asked: Asked, decision: Decision) -> str:
    return "cannot conclude" if decision.significant is None else asked.word(decision.word)


def _capital(text: str) -> str:
    """Begin a sentence; one that begins with a name keeps it as it is."""
    return f"U{text[1:]}" if text.startswith("undecided over") else text
