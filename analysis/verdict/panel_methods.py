"""Asks each published method about the same two sides, and sets its answer beside its unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..announcing import doing
from ..data.pair import match
from ..errors import FairtrialError
from ..methods.hpt.compare import hpt
from ..methods.mixture.fit import fit_each
from ..methods.mixture.single_run import probability_faster
from ..methods.resampling.bootstrap import bootstrap_speedup
from ..methods.resampling.randomization import randomization_test
from ..methods.speedup_test.compare import speedup_test_suite
from ..pages import number_format as figures
from ..stats.arguments import stream
from ..stats.ranks import friedman
from .panel import MethodResults, MixturesOfBoth, Panel, Said, why

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..methods.hpt.result import HptResult
    from ..methods.hpt.speedup import HptSpeedup
    from ..methods.multilevel.result import Multilevel
    from ..methods.resampling.result import BootstrapInterval, RandomizationTest
    from ..methods.speedup_test.result import SpeedupSuite
    from ..pages.number_format import Word
    from ..record.run_numbers import Better

_T = TypeVar("_T")
_COMPONENTS = 5  # of a mixture, at most: a panel is no study of modes


def ask(
    found: Multilevel,
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    best: HptSpeedup | None = None,
) -> Panel:
    """Ask all methods."""
    try:
        pair = match(candidate, baseline)
    except FairtrialError as error:
        return _refused(error.what)
    ours, theirs = pair.candidate, pair.baseline
    if not ours.benchmarks:
        return _refused("every benchmark has runs of 0")
    told: list[Said] = []
    _explaining("HPT", 1)
    hpt_result, at_estimate = _hpt(found, ours, theirs, told)
    _explaining("Speedup-Test", 2)
    suite = _speedup_test(found, ours, theirs, told)
    _explaining("randomization", 3)
    randomized = _randomization(found, ours, theirs, told)
    _explaining("bootstrap", 4)
    bootstrap = _bootstrap(found, ours, theirs, told)
    _explaining("mixtures", 5)
    mixtures = tuple(_fitted(ours, theirs))
    _explaining("single runs", 6)
    answers = MethodResults(
        hpt=hpt_result,
        at_estimate=at_estimate,
        best=best,
        suite=suite,
        randomized=randomized,
        bootstrap=bootstrap,
        mixtures=mixtures,
        chances=_mixtures(mixtures, ours.better, told),
        friedman=_friedman(found, ours, theirs, told),
    )
    if found.outermost == "host":  # what the methods take for sessions are hosts
        told = [replace(one, unit="host") if one.unit == "session" else one for one in told]
    reasons = tuple(why(found, told, answers))
    return Panel(methods=tuple(told), disagreements=reasons, answers=answers)


def _explaining(method: str, number: int) -> None:
    doing(f"explaining: {method} ({number} of 6)")


def _refused(why_not: str) -> Panel:
    """Give the panel of sides that no method takes."""
    refusal = f"not possible: {why_not}"
    none = Said(method="all", unit="run", estimand="ratios", answer=refusal)
    return Panel(methods=(none,), disagreements=())


def _tried(work: Callable[[], _T], told: list[Said], method: str, unit: str, of: str) -> _T | None:
    """Ask a method; what it refuses is its answer."""
    try:
        return work()
    except FairtrialError as error:
        refusal = f"not possible: {error.what}"
        told.append(Said(method=method, unit=unit, estimand=of, answer=refusal))
        return None


def _hpt(
    found: Multilevel, ours: PerformanceMatrix, theirs: PerformanceMatrix, told: list[Said]
) -> tuple[HptResult | None, float | None]:
    of, level = "better over the suite", found.confidence
    result = _tried(lambda: hpt(ours, theirs, confidence=level), told, "HPT", "run", of)
    if result is None:
        return None, None
    best = result.pvalue if result.outcome != "baseline" else result.pvalue_baseline
    told.append(
        Said(
            method="HPT",
            unit="run",
            estimand=of,
            word=result.word,
            pvalue=best,
            pvalue_of="baseline better" if result.outcome == "baseline" else "candidate better",
            reliability=1 - best,
            answer=f"{result.word}, reliability {figures.reliability(1 - best, level)}",
        )
    )
    line = found.these
    at_estimate = None
    if line is not None and line.speedup is not None:
        estimate = line.speedup
        again = _tried(
            lambda: hpt(ours, theirs, confidence=level, speedup=estimate), [], "HPT", "run", of
        )
        at_estimate = None if again is None else again.confidence
    return result, at_estimate


def _speedup_test(
    found: Multilevel, ours: PerformanceMatrix, theirs: PerformanceMatrix, told: list[Said]
) -> SpeedupSuite | None:
    suite = _tried(
        lambda: speedup_test_suite(baseline=theirs, candidate=ours, confidence=found.confidence),
        told,
        "Speedup-Test",
        "run",
        "each benchmark's mean and median",
    )
    if suite is None:
        return None
    tests = suite.benchmarks
    for centre in ("mean", "median"):
        decisions = [test.mean if centre == "mean" else test.median for test in tests]
        faster = sum(one.word == "faster" for one in decisions)
        slower = sum(one.word == "slower" for one in decisions)
        open_ = sum(one.significant is None for one in decisions)
        parts = [f"{faster} of {len(tests)} faster"]
        parts += [f"{slower} slower"] if slower else []
        parts += [f"{open_} cannot conclude"] if open_ else []
        words: set[Word] = {one.word for one in decisions}
        told.append(
            Said(
                method=f"Speedup-Test, {centre}",
                unit="run",
                estimand=f"each benchmark's {centre}",
                word=words.pop() if len(words) == 1 else "undecided",
                value=suite.speedup[centre],
                answer=", ".join(parts),
            )
        )
    return suite


def _randomization(
    found: Multilevel, ours: PerformanceMatrix, theirs: PerformanceMatrix, told: list[Said]
) -> RandomizationTest | None:
    of = "ratio of suite means"
    result = _tried(
        lambda: randomization_test(ours, theirs, rng=stream(0, "resample", "randomization")),
        told,
        "randomization",
        "session",
        of,
    )
    if result is None:
        return None
    significant = result.pvalue <= 1 - found.confidence
    least = ""
    if result.smallest_pvalue > (1 - found.confidence) / 5:
        least = f" (no p below {figures.significant(result.smallest_pvalue, 2)} is possible)"
    told.append(
        Said(
            method="randomization",
            unit=result.unit,
            estimand=of,
            word=("faster" if result.ratio > 1 else "slower") if significant else "undecided",
            value=result.ratio,
            pvalue=result.pvalue,
            answer=f"p {figures.pvalue(result.pvalue)}{least}",
        )
    )
    return result


def _bootstrap(
    found: Multilevel, ours: PerformanceMatrix, theirs: PerformanceMatrix, told: list[Said]
) -> BootstrapInterval | None:
    of = "ratio of suite means"
    result = _tried(
        lambda: bootstrap_speedup(
            ours, theirs, confidence=found.confidence, rng=stream(0, "resample", "bootstrap")
        ),
        told,
        "bootstrap",
        "session",
        of,
    )
    if result is None:
        return None
    told.append(
        Said(
            method="bootstrap",
            unit=result.unit,
            estimand=of,
            word=result.word,
            value=result.ratio,
            low=result.low,
            high=result.high,
            answer=f"{figures.ratio_within(result.ratio, result.low, result.high)} "
            f"{figures.ends(result.low, result.high)}",
        )
    )
    return result


def _mixtures(
    pairs: Sequence[MixturesOfBoth], better: Better, told: list[Said]
) -> tuple[float, ...]:
    """Give I2 of each benchmark that both mixtures fit."""
    both = ((pair.candidate, pair.baseline) for pair in pairs)
    chances = tuple(
        probability_faster(a, b) if better == "lower" else probability_faster(b, a) for a, b in both
    )
    said = Said(
        method="mixtures",
        unit="run",
        estimand="one run against another",
        answer="not possible: no benchmark's runs can be fitted on both sides",
    )
    if chances:
        mean, low, high = float(np.mean(chances)), min(chances), max(chances)
        span = f" ({low:.3f} to {high:.3f})" if len(chances) > 1 else ""
        answer = f"better with chance {mean:.3f}{span}"
        said = replace(said, value=mean, low=low, high=high, answer=answer)
    told.append(said)
    return chances


def _fitted(ours: PerformanceMatrix, theirs: PerformanceMatrix) -> Iterator[MixturesOfBoth]:
    """Fit both sides of each benchmark; a mixture of runs without spread is none."""
    mixtures = fit_each([*ours.samples, *theirs.samples], _COMPONENTS)
    count = len(ours.benchmarks)
    for name, a, b in zip(ours.benchmarks, mixtures[:count], mixtures[count:], strict=True):
        if a is not None and b is not None:
            yield MixturesOfBoth(benchmark=name, candidate=a, baseline=b)


def _friedman(
    found: Multilevel, ours: PerformanceMatrix, theirs: PerformanceMatrix, told: list[Said]
) -> float | None:
    """Rank both on each benchmark's geometric mean; below two benchmarks there is nothing to ask."""
    if len(ours.benchmarks) < 2:
        return None
    sign = 1 if ours.better == "lower" else -1
    result = friedman(
        [
            [sign * float(np.log(values).mean()) for values in row]
            for row in zip(ours.samples, theirs.samples, strict=True)
        ]
    )
    p = result.pvalue if result.pvalue_tied is None else result.pvalue_tied
    better = result.ranks[0] < result.ranks[1]
    told.append(
        Said(
            method="Friedman",
            unit="benchmark",
            estimand="mean ranks",
            word=("faster" if better else "slower") if p <= 1 - found.confidence else "undecided",
            value=result.ranks[0],
            pvalue=p,
            answer=f"mean ranks {result.ranks[0]:.2f} and {result.ranks[1]:.2f}, "
            f"p {figures.pvalue(p)}",
        )
    )
    return p
