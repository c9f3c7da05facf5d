"""Comparing two trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...data.iterations.session_quantiles import of_one_basis
from ...data.matrix import PerformanceMatrix
from ...data.question import not_judged, question_of
from ...data.trial import Trial
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...methods.multilevel.compare import multilevel
from ...pages.model import Caution, merged
from ...stats.arguments import door
from ..sides import VariantSide, comparable, looks_at, named_in, sides_of, without
from .conditions import (
    campaign_changes,
    hidden_cautions,
    lone_pair,
    plan_changes,
    same_campaign,
    same_host,
    side_cautions,
    side_of,
    structure_cautions,
    surroundings_of,
)
from .effects import EffectPairs, compare_answers, overall
from .result import TrialComparison, TrialSide, VariantLevel

if TYPE_CHECKING:
    from ...methods.multilevel.law import Looks
    from ...methods.multilevel.result import BenchmarkLine, Multilevel


def levels_of(
    old: Mapping[str, VariantSide],
    new: Mapping[str, VariantSide],
    variants: Sequence[tuple[str, str]],
    confidence: float,
    margin: float,
) -> tuple[VariantLevel, ...]:
    """Compare each variant's runs in the new trial with those in the old one.

    Sessions of two trials are never the same: Welch's t on session means. Whatever else differed
    between the trials is part of the ratio.
    """
    found: list[VariantLevel] = []
    for before, variant in variants:
        both = comparable(new[variant], old[before])
        if both is not None:
            ours, theirs = (
                replace(matrix, trial=name, cautions=())
                for matrix, name in zip(both, ("new", "old"), strict=True)
            )
            answer = multilevel(ours, theirs, confidence=confidence, margin=margin)
            found += [
                VariantLevel(
                    variant=variant,
                    benchmark=None if line is answer.these else line.name,
                    mean_old=getattr(line, "mean_baseline", None),
                    mean_new=getattr(line, "mean_candidate", None),
                    ratio=line.speedup,
                    low=line.low,
                    high=line.high,
                    outcome=line.outcome,
                )
                for line in (*answer.benchmarks, answer.these)
                if line is not None
            ]
    return tuple(found)


class _How(NamedTuple):
    """How both trials are judged."""

    metric: str
    confidence: float
    margin: float
    looks: tuple[Looks, Looks]


@door
def compare_trials(
    old: Trial,
    new: Trial,
    *,
    metric: str | None = None,
    confidence: float = 0.95,
    margin: float = 0.01,
) -> TrialComparison:
    """Compare two trials: campaign, plan, environment, results and conclusions.

    Each trial is judged as `judge` does it, on the benchmarks that both have. An effect differs where
    Welch's t on the session values of both trials' differences says so, at Holm's level over all
    benchmarks; the suites are a family of their own.

    Parameters
    ----------
    old, new : Trial
        From `read_trial`. The order matters for words only: the new one reproduces the old one's
        conclusions, or does not.
    metric : str, optional
        What is compared; by default what the old trial's verdict judges, which must not be declared
        otherwise for the new one.
    confidence : float
        Of the intervals, between 0 and 1; 1 less it is the risk of each family of tests.
    margin : float
        The largest speedup less 1 that counts as equivalent, and the largest ratio of two effects.

    Returns
    -------
    TrialComparison
        Missing variants, benchmarks and environments become cautions; where nothing can be compared,
        its word is "cannot tell".

    Raises
    ------
    UsageError
        If an argument is out of its range, or a trial has no such metric.
    AnalysisError
        If the trials differ in the metric's unit or direction, or a value is not positive.
    StoreError
        If an environment cannot be read.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence!r}")
    unasked = old.unasked if metric is None else ()
    metric = question_of((old, new)) if metric is None else metric
    old, new = of_one_basis((old, new), metric)
    unit, better = _agreed(old, new, metric)
    labels = _labels(old, new)
    looks = [looks_at([trial.manifest], None, always_valid=False) for trial in (old, new)]
    a, b = (
        side_of(trial, label, look.fields(confidence))
        for trial, label, look in zip((old, new), labels, looks, strict=True)
    )
    same = _same_trial(old, new)
    how = _How(metric=metric, confidence=confidence, margin=margin, looks=(looks[0], looks[1]))
    answers, levels, told = _judged(old, new, (a, b), how)
    candidates = compare_answers(
        answers,
        confidence=confidence,
        margin=margin,
        same=same,
        next_alpha=looks[1].next_alpha(confidence),
    )
    changed = campaign_changes(old, new)
    imported = "imported" in (old.manifest.origin, new.manifest.origin)  # they had no campaign
    environment, drift, hidden = surroundings_of(old, new)
    only = [
        {
            "variants": tuple(name for name in one.variants if name not in other.variants),
            "benchmarks": tuple(name for name in one.benchmarks if name not in other.benchmarks),
        }
        for one, other in ((a, b), (b, a))
    ]
    return TrialComparison(
        old=a,
        new=b,
        metric=metric,
        unit=unit,
        better=better,
        confidence=float(confidence),
        margin=float(margin),
        word=overall([one.word for one in candidates]),
        same_trial=same,
        same_campaign=None if imported else same_campaign(a, b, changed),
        same_host=same_host(a, b),
        candidates=candidates,
        levels=levels,
        campaign=changed,
        plan=plan_changes(a, b),
        environment=environment,
        drift_old=drift[0],
        drift_new=drift[1],
        only_old=only[0],
        only_new=only[1],
        cautions=merged(
            [not_judged(unasked)] if unasked else (),
            structure_cautions(old, new, (a, b), only, same=same),
            told,
            hidden_cautions(hidden),
            side_cautions(old, new, labels),
        ),
    )


def _agreed(old: Trial, new: Trial, metric: str) -> tuple[str, str]:
    """Give unit and direction of the metric, which both trials must have alike."""
    a, b = old.metric(metric), new.metric(metric)
    for what, ours, theirs in (("unit", a.unit, b.unit), ("direction", a.better, b.better)):
        if ours != theirs:
            raise AnalysisError(
                f"the trials differ in the {what} of {metric!r}: {ours!r} and {theirs!r}",
                f"{old.path} and {new.path}",
                "compare a metric that both measure alike: --metric",
            )
    return a.unit, a.better


def _labels(old: Trial, new: Trial) -> tuple[str, str]:
    """Name the trials by their folders, with their places where these have one name."""
    a, b = (Path(trial.path) for trial in (old, new))
    names = (a.resolve().name, b.resolve().name)
    if names[0] != names[1] or a.resolve() == b.resolve():
        return names
    return str(a), str(b)


def _same_trial(old: Trial, new: Trial) -> bool:
    """Tell whether both hold the runs of one trial, and no others; names may have been taken out."""
    m, n = old.manifest, new.manifest
    return (m.trial, m.started, len(old)) == (n.trial, n.started, len(new))


def _judged(
    old: Trial,
    new: Trial,
    sides: tuple[TrialSide, TrialSide],
    how: _How,
) -> tuple[list[EffectPairs], tuple[VariantLevel, ...], list[Caution]]:
    """Judge both trials' runs: the answers on each candidate, the levels, and cautions."""
    common = tuple(name for name in sides[0].variants if name in sides[1].variants)
    lone = lone_pair(*sides)
    called = [lone] if lone is not None else [(name, name) for name in common]
    if not called:
        return [], (), []
    try:
        ours, theirs = (
            sides_of(trial, how.metric, [pair[k] for pair in called], None)
            for k, trial in enumerate((old, new))
        )
    except InsufficientDataError as error:
        said = Caution("no-common-results", f"{error.where}: {error.what}: no result is compared")
        return [], (), [said]
    baseline = next(
        (name for name in (sides[0].baseline, sides[1].baseline) if name in common), None
    )
    answers: list[EffectPairs] = []
    cautions: list[Caution] = []
    for name in common:
        if baseline is None or name == baseline:
            continue
        pairs = (
            comparable(ours[name], ours[baseline]),
            comparable(theirs[name], theirs[baseline]),
        )
        found = None
        if pairs[0] is not None and pairs[1] is not None:
            found = _answers(pairs[0], pairs[1], how)
        if found is None:
            text = (
                f"{name}: no benchmark has runs that count of it and of {baseline} in both trials"
            )
            cautions.append(Caution("no-common-results", text, (name,)))
        else:
            answers.append(found)
    cautions += [
        caution.of(side.label)
        for side, group in zip(sides, (ours, theirs), strict=True)
        for one in group.values()
        for caution in one.cautions
        if caution.code in ("variant-left-out", "floored")
    ]
    return answers, levels_of(ours, theirs, called, how.confidence, how.margin), cautions


_Pair = tuple[PerformanceMatrix, PerformanceMatrix]


def _answers(old: _Pair, new: _Pair, how: _How) -> EffectPairs | None:
    """Judge a candidate in both trials, on the benchmarks of which both know an effect."""
    whole = [
        multilevel(*pair, confidence=how.confidence, margin=how.margin, looks=look)
        for pair, look in zip((old, new), how.looks, strict=True)
        if bool(named_in(pair[0]) & named_in(pair[1]))
    ]
    if len(whole) < 2:
        return None
    known = [
        {line.name for line in answer.benchmarks if line.speedup is not None} for answer in whole
    ]
    both = known[0] & known[1]
    if not both:
        return None
    judged = [
        answer
        if names == both
        else multilevel(
            *_only(pair, both), confidence=how.confidence, margin=how.margin, looks=look
        )
        for answer, names, pair, look in zip(whole, known, (old, new), how.looks, strict=True)
    ]
    return EffectPairs(old=judged[0], new=judged[1], lone=tuple(_lone(whole[0], whole[1], both)))


def _only(pair: _Pair, names: set[str]) -> _Pair:
    ours, theirs = (without(matrix, {*named_in(matrix), *matrix.failed} - names) for matrix in pair)
    return ours, theirs


def _lone(
    old: Multilevel, new: Multilevel, both: set[str]
) -> Iterator[tuple[BenchmarkLine, BenchmarkLine]]:
    """Give the lines of benchmarks that both trials have, and of which one knows no effect."""
    theirs = {line.name: line for line in new.benchmarks}
    for line in old.benchmarks:
        if line.name not in both and line.name in theirs:
            yield line, theirs[line.name]
