"""How each method came to its answer on one candidate: sentences, tables, and what is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..methods.hpt.page import hpt_pvalues
from ..methods.mixture.model import Mixture
from ..methods.mixture.single_run import (
    mean_difference,
    probability_faster,
    probability_fastest,
    variability_level,
)
from ..methods.speedup_test.result import F_TEST, KOLMOGOROV, SHAPIRO, WILCOXON
from ..pages import number_format as figures
from ..pages.model import Cell, Value, value_of
from .page import table_of
from .published_answers import chance, pvalue, reliability_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..methods.hpt.result import HptBenchmark, HptResult
    from ..methods.resampling.result import BootstrapInterval, RandomizationTest
    from ..methods.speedup_test.result import Decision, SpeedupSuite, SpeedupTest
    from ..verdict.panel import MixturesOfBoth
    from .published_answers import Asked
    from .subject import Subject

__all__ = ["path_of"]

T = TypeVar("T")

_BINS = 60
_LEAST = 1e-4  # the axis of a histogram is at least so wide, in logs
_ROOM = 0.04  # share of that axis that stays free at each end
_FEW = 30  # runs below which components and modes say little
_FASTEST_UP_TO = 200  # benchmarks for which the chance among all variants is integrated
# what a way has that says nothing
_BARE = {"title": "", "sentences": (), "tables": (), "histogram": None, "steps": None}
_SCORES = {
    "raw": "Scores are the values, negated where lower is better.",
    "ratio": "Scores are the values relative to the baseline’s median.",
    "log-ratio": "Scores are logarithms of the values relative to the baseline’s median.",
}


def path_of(subject: Subject, asked: Asked, number: int) -> Mapping[str, Any]:
    """Give the ways of all methods to their answers on one candidate, the `number`-th of the page.

    Each of the ``methods`` has ``sentences``, ``tables`` (of a ``caption``, a ``table`` and a
    ``note`` on how to read it), and a ``histogram`` or ``steps`` of reliability, or neither.
    """
    anchor = subject.anchor(f"panel-path-{number}")
    return {
        "anchor": anchor,
        "candidate": asked.name,
        "methods": tuple(
            {"key": key, "anchor": f"{anchor}-{key}", **_BARE, **way}
            for key, way in _ways(subject, asked, number)
        ),
    }


def _ways(subject: Subject, asked: Asked, number: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    answers = asked.panel.answers
    place = {name: k for k, name in enumerate(subject.order)}

    def in_order(rows: Iterable[T], name: str) -> list[T]:
        return sorted(rows, key=lambda row: place.get(getattr(row, name), len(place)))

    if answers.hpt is not None:
        rows = in_order(answers.hpt.benchmarks, "name")
        yield "hpt", _hpt(asked, answers.hpt, rows, f"rank-table-{number}")
    if answers.suite is not None:
        tests = in_order(answers.suite.benchmarks, "name")
        yield "speedup-test", _speedup_test(asked, answers.suite, tests, f"speedup-test-{number}")
    if answers.randomized is not None:
        yield "randomization", _randomization(asked, answers.randomized)
    if answers.bootstrap is not None:
        yield "bootstrap", _bootstrap(asked, answers.bootstrap)
    if answers.mixtures:
        pairs = in_order(answers.mixtures, "benchmark")
        yield "mixtures", _single_runs(subject, asked, pairs, f"single-runs-{number}")


def _table(
    caption: str, name: str, headings: str, rows: Iterable[tuple[Cell, ...]], note: str
) -> tuple[Mapping[str, Any]]:
    """Give the only table of a way; ``note`` says how to read it."""
    return ({"caption": caption, "table": table_of(name, headings, rows), "note": note},)


def _hpt(
    asked: Asked, result: HptResult, rows: Sequence[HptBenchmark], name: str
) -> Mapping[str, Any]:
    """Give the rank table, both sums, and the reliability by speedup."""
    names = {"candidate": asked.name, "baseline": result.baseline, "tie": "tie"}
    alphas = sorted({row.alpha for row in rows if row.alpha is not None})
    risk = f" at a risk of {' or '.join(f'{one:g}' for one in alphas)}" if alphas else ""
    concluded = result.conclusion
    if concluded.startswith("undecided over"):  # else it begins with a name, which stays as it is
        concluded = f"U{concluded[1:]}"
    told = [
        f"{concluded}.",
        f"The ranks of the differences that the candidate wins sum to "
        f"{result.rank_sum_candidate:g}, those of the baseline to {result.rank_sum_baseline:g}, of "
        f"{figures.counted(len(rows), 'benchmark')}; {hpt_pvalues(result)}.",
    ]
    best, steps = asked.panel.answers.best, None
    if best is not None:
        claimed = "" if best.value is None else asked.bound(best.value).text
        steps = reliability_steps(best, claimed)
        told.append(
            f"Speedups up to {claimed}x have reliability {best.required:g} or more."
            if claimed
            else f"No speedup has reliability {best.required:g}."
        )
    return {
        "title": "HPT: ranks over the suite",
        "sentences": told,
        "tables": _table(
            "HPT’s rank table",
            name,
            "<benchmark; median score, candidate; median score, baseline; "
            f"p {asked.word('faster')}; p {asked.word('slower')}; <winner; difference; rank",
            (
                (
                    row.name,
                    value_of(row.median_candidate, _four),
                    value_of(row.median_baseline, _four),
                    pvalue(row.pvalue_candidate),
                    pvalue(row.pvalue_baseline),
                    names[row.winner],
                    value_of(row.difference, _four),
                    value_of(row.rank, "{:g}".format),
                )
                for row in rows
            ),
            f"A rank-sum test on each benchmark{risk} names its winner; a tie’s difference is 0. Then "
            f"the differences are ranked. {_SCORES[result.scores]} Larger is better.",
        ),
        "steps": steps,
    }


def _four(number: float) -> str:
    return figures.significant(number, 4)


def _speedup_test(
    asked: Asked, suite: SpeedupSuite, tests: Sequence[SpeedupTest], name: str
) -> Mapping[str, Any]:
    """Give what each test said on each benchmark, mean and median in turn."""
    better = asked.word("faster")
    means = sum(test.mean.word == "faster" for test in tests)
    medians = sum(test.median.word == "faster" for test in tests)
    risks = sorted({step.risk for test in tests for step in test.mean.steps})
    told = [
        f"{means} of {len(tests)} benchmarks have a significantly {better} mean, {medians} a "
        f"significantly {better} median; each test has a risk of "
        f"{' or '.join(f'{one:.3g}' for one in risks)} of its own."
    ]
    if any(suite.slower.values()):
        told.append(
            f"With the sides swapped, {suite.slower['mean']} means and {suite.slower['median']} "
            f"medians are significantly {asked.word('slower')}."
        )
    return {
        "title": "Speedup-Test: its tests on each benchmark",
        "sentences": told,
        "tables": _table(
            "What each test of the Speedup-Test says",
            name,
            "<benchmark; normal, candidate: p; normal, baseline: p; same variance: p; "
            f"<test of the mean; mean {better}: p; <mean; same shape: p; median {better}: p; <median",
            (_tested(asked, test) for test in tests),
            "Mean: Shapiro-Wilk on each side, F on both variances, then Student’s or Welch’s t. "
            "Median: Kolmogorov-Smirnov on the values less their medians, then the rank-sum test. "
            "A p up to the risk rejects. An empty cell was not tested.",
        ),
    }


def _tested(asked: Asked, test: SpeedupTest) -> tuple[Cell, ...]:
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


def _p(decision: Decision, test: str, sample: str | None = None) -> Value:
    found = (one for one in decision.steps if (one.test, one.sample) == (test, sample))
    return pvalue(next((one.pvalue for one in found), None))


def _decided(asked: Asked, decision: Decision) -> str:
    return "cannot conclude" if decision.significant is None else asked.word(decision.word)


def _randomization(asked: Asked, result: RandomizationTest) -> Mapping[str, Any]:
    """Give the ratio among those of chance."""
    observed = asked.ends(result.ratio)[0]
    count = f"{result.resamples:,}"
    drawn = f"all {count} assignments" if result.exact else f"{count} random assignments"
    p = f"p {figures.pvalue(result.pvalue)}, {result.alternative_words}"
    error = "" if result.exact else f" (± {figures.significant(result.pvalue_error, 1)})"
    low, high = float(result.null.min()), float(result.null.max())
    digits = figures.decimals(low, high)
    return {
        "title": "Randomization: the ratio among those of chance",
        "sentences": (
            f"The ratio of the suite means is {observed.text}x. If the labels say nothing, one so far "
            f"from 1 comes with {p}{error}.",
            f"What was reassigned: {result.unit_words}. The picture holds {drawn} of the labels.",
        ),
        "histogram": {
            **_binned(result.null, [result.ratio, 1.0]),
            "observed": observed,
            "ends": None,
            "alt": f"{asked.name}: the observed ratio is {observed.text}; {count} reassignments "
            f"of the labels give {low:.{digits}f} to {high:.{digits}f}; {p}",
            "caption": f"ratios by reassigned labels; line: the observed one, {observed.text}×",
        },
    }


def _bootstrap(asked: Asked, result: BootstrapInterval) -> Mapping[str, Any]:
    """Give the ratios of runs drawn anew, with the interval made of them."""
    value, low, high = asked.ends(result.ratio, result.low, result.high)
    known = result.known_coverage
    held = (
        "what it covers is not known for this design"
        if known is None
        else f"such intervals held the truth in {100 * known:.1f}\u00a0% of simulated suites"
    )
    level = f"{100 * result.confidence:g} %"
    marked = [one for one in (result.ratio, result.low, result.high) if 0 < one < math.inf]
    return {
        "title": "Bootstrap: the ratios of runs drawn again",
        "sentences": (
            f"The ratio of the suite means is {value.text}x, with a {level} interval of "
            f"[{low.text}, {high.text}]; {held}.",
            f"What was drawn: {result.units}, {result.resamples:,} times.",
        ),
        "histogram": {
            **_binned(result.replicates, marked),
            "observed": value,
            "ends": (low, high),
            "alt": f"{asked.name}: {result.resamples:,} ratios of runs drawn again lie around "
            f"{value.text}; {level} interval {low.text} to {high.text}; {held}",
            "caption": f"ratios of runs drawn again; line: the interval; {held}",
        },
    }


def _binned(values: NDArray[np.float64], also: list[float]) -> Mapping[str, Any]:
    """Count the values in bins of equal width in logs; the axis holds `also` too."""
    logs = np.log(values)
    others = [math.log(value) for value in also]
    low, high = min(float(logs.min()), *others), max(float(logs.max()), *others)
    free = max((high - low) * _ROOM, _LEAST)
    low, high = low - free, high + free
    counts, _ = np.histogram(logs, bins=_BINS, range=(low, high))
    return {"low": math.exp(low), "high": math.exp(high), "counts": tuple(counts.tolist())}


def _single_runs(
    subject: Subject, asked: Asked, pairs: Sequence[MixturesOfBoth], name: str
) -> Mapping[str, Any]:
    """Give I1 to I4 of each benchmark.

    The chance to be the best of all variants (I3) stands there from three variants on: of two it is
    I2. It is an integral for each benchmark, so it is left out of large suites.
    """
    all_of = _mixtures_of_all(subject)
    several = max(map(len, all_of.values()), default=0) > 2
    fastest = several and len(pairs) <= _FASTEST_UP_TO
    told = [
        f"A Gaussian mixture is fitted to the runs of each side on "
        f"{figures.counted(len(pairs), 'benchmark')}; the metrics are of one run against another."
    ]
    if (left := len(asked.found.benchmarks) - len(pairs)) > 0:
        told.append(f"{left} more cannot be fitted on both sides.")
    if few := sum(map(_few, pairs)):
        told.append(
            f"On {few} of them a side has fewer than {_FEW} runs: modes counted on so few say little."
        )
    if several and not fastest:
        told.append(
            f"The chance to be best of all variants (I3) is left out above {_FASTEST_UP_TO} benchmarks; "
            "the command mixture gives it."
        )
    best = "chance to be best of all (I3); " if fastest else ""
    return {
        "title": "Mixtures: one run against one run",
        "sentences": told,
        "tables": _table(
            "Metrics of single runs",
            name,
            "<benchmark; runs, candidate; runs, baseline; mean distance (I1); chance to be "
            f"{asked.word('faster')} (I2); {best}modes, candidate (I4); modes, baseline (I4); <caution",
            (_single_run(one, asked, all_of[one.benchmark] if fastest else {}) for one in pairs),
            "Modes are maxima of the fitted curve. Skew alone makes more than one of them in most "
            "samples, so they are no evidence of several states by themselves.",
        ),
    }


def _single_run(
    pair: MixturesOfBoth, asked: Asked, of_all: Mapping[str, Mixture]
) -> tuple[Cell, ...]:
    """Give a row of the metrics; without mixtures of all variants it has no I3."""
    ours, theirs = pair.candidate, pair.baseline
    lower = asked.found.better == "lower"
    apart = mean_difference(ours, theirs)
    sides = [ours, *(mixture for name, mixture in of_all.items() if name != asked.name)]
    if not lower:  # the mirrored mixtures' smallest run is the best
        sides = [
            Mixture.from_parameters(weights=m.weights, means=-m.means, sds=m.sds, scale=m.scale)
            for m in sides
        ]
    return (
        pair.benchmark,
        value_of(ours.n or 0),
        value_of(theirs.n or 0),
        Value(figures.quantity(apart, asked.found.unit), apart),
        chance(probability_faster(*((ours, theirs) if lower else (theirs, ours)))),
        *([chance(probability_fastest(*sides))] if of_all else []),
        value_of(variability_level(ours)),
        value_of(variability_level(theirs)),
        f"fewer than {_FEW} runs" if _few(pair) else "",
    )


def _few(pair: MixturesOfBoth) -> bool:
    return min(pair.candidate.n or 0, pair.baseline.n or 0) < _FEW


def _mixtures_of_all(subject: Subject) -> dict[str, dict[str, Mixture]]:
    """Give the mixtures of all variants by benchmark."""
    found: dict[str, dict[str, Mixture]] = {}
    for one in subject.candidates:
        for pair in () if one.panel is None else one.panel.answers.mixtures:
            here = found.setdefault(pair.benchmark, {subject.baseline: pair.baseline})
            here[one.variant] = pair.candidate
    return found
