"""The comparison of two trials in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..data.host_record import not_judged, question_of
from ..data.matrix import PerformanceMatrix
from ..data.session_quantiles import of_one_basis
from ..data.trial import Trial
from ..errors import AnalysisError, InsufficientDataError, UsageError
from ..methods.multilevel.compare import multilevel
from ..methods.multilevel.page import looks_text, needed_text
from ..pages import number_format as figures
from ..pages.model import (
    Caution,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    merged,
    page_of,
    value_of,
)
from ..pages.number_format import outcome_word
from ..stats.arguments import checks_arguments
from ..words import apart, shortened
from .comparison_effects import EffectPairs, compare_answers, overall
from .comparison_result import (
    CampaignChange,
    CandidateComparison,
    Effect,
    EffectComparison,
    TrialComparison,
    TrialSide,
    VariantLevel,
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
from .sentence import short_name
from .sides import VariantSide, comparable, looks_at, named_in, sides_of, without

if TYPE_CHECKING:
    from ..methods.multilevel.law import Looks
    from ..methods.multilevel.result import BenchmarkLine, Multilevel

# --- Comparing two trials.


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


@checks_arguments
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


_NAME = 28
_LONG = 60
_SAID = {
    "reproduced": "reproduced",
    "partly": "partly reproduced",
    "not": "not reproduced",
    "cannot tell": "cannot tell",
}
_UNKNOWN = "how far its {noun}s differ is not known"
_REASONS = {
    "one-session-old": f"the first has fewer than two {{noun}}s, so {_UNKNOWN}",
    "one-session-new": f"the second has fewer than two {{noun}}s, so {_UNKNOWN}",
    "no-value-old": "the first has no value",
    "no-value-new": "the second has no value",
    "no-spread-old": "the first's sessions do not differ, and its clock's step is unknown",
    "no-spread-new": "the second's sessions do not differ, and its clock's step is unknown",
    "depends-old": "the first's sessions resemble the ones before them",
    "depends-new": "the second's sessions resemble the ones before them",
    "no-steady-state-old": "in the first too many runs reach no steady state",
    "no-steady-state-new": "in the second too many runs reach no steady state",
    "unequal-values-old": "in the first one side has more than twice as many values",
    "unequal-values-new": "in the second one side has more than twice as many values",
    "cut-off-old": "runs of the first were stopped at their limit",
    "cut-off-new": "runs of the second were stopped at their limit",
    "fails-more-old": "in the first the candidate fails more often than the baseline",
    "fails-more-new": "in the second the candidate fails more often than the baseline",
    "too-wide": "the second is too short to see it",
    "nothing-concluded": "neither decides it",
}


def paragraph(result: TrialComparison) -> str:
    """Say in one paragraph what became of the old trial's conclusions, and under what conditions."""
    head = f"{result.old.label} -> {result.new.label}: {_SAID[result.word]}."
    if result.same_trial:
        return f"{head} Both are one trial. {_conditions(result)}"
    told = [_candidate(result, one) for one in result.candidates]
    if not told:
        told = ["No speedup of one trial has a partner in the other."]
    return " ".join([head, *told, _conditions(result)])


def _candidate(result: TrialComparison, one: CandidateComparison) -> str:
    """Say what became of one candidate: the leading effect, then the benchmarks in numbers."""
    sides = " against ".join(apart((one.variant, one.baseline), _NAME))
    lead = one.lead
    if lead is None:
        return f"{sides}: {_SAID[one.word]}; {_counts(one.benchmarks)}."
    what = "the suite" if lead is one.these else short_name(lead.name)
    old, new = (_said(result, effect) for effect in (lead.old, lead.new))
    alone = len(result.candidates) == 1  # its word has been said
    text = f"{sides}: in" if alone else f"{sides}: {_SAID[one.word]}. In"
    text += f" the first, {what} is {old}, in the second {new}"
    if lead.ratio is not None and lead.low is not None:
        text += f"; the second speedup is {ratio_text(lead)} times the first"
        text += f" (p {figures.pvalue(lead.pvalue)})" if lead.pvalue is not None else ""
    reason = why(result, lead)
    text += f": {reason}." if reason else "."
    if one.these is not None and one.benchmarks:
        text += f" Of {len(one.benchmarks)} benchmarks {_counts(one.benchmarks)}."
    return text


def _counts(lines: Sequence[EffectComparison]) -> str:
    """Count the agreements, those that differ with their names."""
    counts = Counter(line.agreement for line in lines)
    differing = [short_name(line.name) for line in lines if line.agreement == "differs"]
    one = {
        "agrees": ("agrees", "agree"),
        "compatible": ("is compatible", "are compatible"),
        "differs": ("differs", "differ"),
        "cannot tell": ("cannot be told", "cannot be told"),
    }
    told = []
    for agreement, (single, several) in one.items():
        count = counts[agreement]  # type: ignore[index]  # the keys are agreements
        if count:
            names = f" ({figures.listed(differing, 5)})" if agreement == "differs" else ""
            told.append(f"{count} {single if count == 1 else several}{names}")
    return ", ".join(told) or "none can be compared"


def _conditions(result: TrialComparison) -> str:
    """Say what differs around the results: campaign, machine, environment."""
    campaign = {
        True: "The campaign is the same",
        False: "The campaigns differ",
        None: "Whether the campaigns are the same is not known",
    }[result.same_campaign]
    names = f"{result.old.host}, {result.new.host}"
    host = {
        True: f"one machine measured both ({result.new.host})",
        False: f"two machines measured them ({names})",
        None: "whether one machine measured both is not known",
    }[result.same_host]
    if result.same_host is None and result.old.host_id == result.new.host_id is not None:
        host += f": one machine id has two names ({names}), as after renaming or cloning a machine"
    if result.environment is None:
        around = "the environment of at least one is not known"
    elif not result.environment:
        around = "nothing differs between their environments"
    else:
        count = len(result.environment)
        around = f"{count} thing{'s' * (count > 1)} differ{'s' * (count == 1)} between their environments"
    return f"{campaign}; {host}; {around}."


def why(result: TrialComparison, line: EffectComparison) -> str:
    """Say why an effect cannot be told, and what would help; empty where it was told."""
    side = result.old if line.reason == "one-session-old" else result.new
    text = _REASONS.get(line.reason or "", "").format(noun=side.outermost)
    advice = more_text(result, line)
    return f"{text}; {advice}" if advice else text


def more_text(result: TrialComparison, line: EffectComparison) -> str:
    """Say how many more sessions, or hosts of a fleet, would help; empty where nothing is advised."""
    more = line.more_sessions
    if more is None:
        return ""
    word, noun = outcome_word(more.target, timed=result.timed), result.new.outermost
    if more.sessions is None:
        return f"more than 100 more {noun}s of the second would show whether it is {word}"
    needed = needed_text(more.sessions, noun)
    return f"{needed} of the second would show whether it is {word}"


def _said(result: TrialComparison, effect: Effect) -> str:
    """Say word and numbers of an effect."""
    number = effect_text(effect)
    word = outcome_word(effect.outcome, timed=result.timed)
    return f"{word}, {number}" if number != "-" else "without a value"


def effect_text(effect: Effect) -> str:
    """Write a speedup with its interval."""
    return _with_ends(effect.speedup, effect.low, effect.high)


def ratio_text(line: EffectComparison) -> str:
    """Write the ratio of the two speedups with its interval."""
    return _with_ends(line.ratio, line.low, line.high)


def _with_ends(value: float | None, low: float | None, high: float | None) -> str:
    """Write a ratio with its interval, such as ``1.25x [1.24, 1.26]``; "-" without one."""
    if value is None:
        return "-"
    if low is None or high is None:
        return figures.ratio(value)
    return f"{figures.ratio_within(value, low, high)} {figures.ends(low, high)}"


def agreement_text(result: TrialComparison, line: EffectComparison) -> str:
    """Write what became of a word, and the words: ``differs: faster -> slower``."""
    old, new = (outcome_word(effect.outcome, timed=result.timed) for effect in (line.old, line.new))
    return f"{line.agreement}: {old if old == new else f'{old} -> {new}'}"


def change_text(change: CampaignChange, old: TrialSide, new: TrialSide) -> str:
    """Say what a key is in both trials."""
    if change.only is not None:
        side, value = (old, change.old) if change.only == "old" else (new, change.new)
        return f"{change.key} stands only in {side.label}: {_cut(value)}"
    return f"{change.key}: {_cut(change.old)} -> {_cut(change.new)}"


def _cut(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


_NAME_WIDTH = 24  # columns for a name
_MOST = 16  # benchmarks shown of a candidate; those that differ come first
_ORDER = {"differs": 0, "cannot tell": 1, "compatible": 2, "agrees": 3}


@page_of.register(TrialComparison)
def _trial_comparison_page(result: TrialComparison) -> Page:
    several = len(result.candidates) > 1
    sections = [Section((Sentence(paragraph(result)),))]
    for number, one in enumerate(result.candidates, 1):
        title = f"{one.variant} against {one.baseline}" if several else ""
        sections.append(Section(tuple(_effects(result, one, number)), title=title))
    sections += list(_looks(result))
    sections += list(_around(result))
    return Page(
        title=f"{result.old.label} and {result.new.label} compared",
        sections=tuple(sections),
        cautions=result.cautions,
    )


def _effects(
    result: TrialComparison, one: CandidateComparison, number: int
) -> Iterator[Table | Sentence]:
    """Set the effects of a candidate as a table, at most so many."""
    kept = sorted(one.benchmarks, key=lambda line: _ORDER[line.agreement])[:_MOST]
    shown = [line for line in one.benchmarks if line in kept]
    rows = [*shown, *([] if one.these is None else [one.these])]
    notes = tuple(_note(result, line) for line in rows)
    called = shortened([line.name for line in rows], _NAME_WIDTH)
    yield Table(
        name=f"effects-{number}",
        columns=columns_of("<", "<first", "<second", "<second / first", "adjusted p", "<"),
        rows=tuple(
            (
                f"these {_counted(one)}" if line is one.these else called[line.name],
                Value(effect_text(line.old), line.old.speedup),
                Value(effect_text(line.new), line.new.speedup),
                Value(ratio_text(line), line.ratio),
                value_of(line.pvalue_adjusted, figures.bare_pvalue),
                agreement_text(result, line),
            )
            for line in rows
        ),
        notes=notes if any(notes) else (),
    )
    if len(kept) < len(one.benchmarks):
        yield Sentence(f"and {len(one.benchmarks) - len(kept)} more benchmarks (--json has all)")


def _looks(result: TrialComparison) -> Iterator[Section]:
    """Say of a trial that grew which look its words and its interval are of."""
    told = [
        Sentence(f"{side.label}: {text}")
        for side in (result.old, result.new)
        if (text := looks_text(side))
    ]
    if told:
        yield Section(tuple(told))


def _note(result: TrialComparison, line: EffectComparison) -> str:
    """Say what is this effect's own: what the words, or the paragraph, say already needs no note."""
    if line.reason in ("too-wide", "one-session-new"):
        return more_text(result, line)
    own = line.reason is not None and line.reason.startswith(
        ("fails-more", "no-spread", "no-value", "depends")
    )
    return why(result, line) if own else ""


def _counted(one: CandidateComparison) -> int:
    return sum(line.ratio is not None for line in one.benchmarks)


def _around(result: TrialComparison) -> Iterator[Section]:
    """Set what is around the results: levels, campaign, plan, environment."""
    if result.levels and not result.same_trial:
        yield Section(
            tuple(_levels(result)), title="levels of the runs; above 1 the second is better"
        )
    for title, changes in (("campaign", result.campaign), ("plan", result.plan)):
        if changes:
            texts = (change_text(change, result.old, result.new) for change in changes)
            yield Section(tuple(map(Sentence, texts)), title=title)
    if result.environment is None:
        nothing = "nothing is known of the environment of at least one trial"
        yield Section((Sentence(nothing),), title="environment")
    elif result.environment:
        count = len(result.environment)
        title = f"environment: {count} change{'s' * (count > 1)}"
        told = tuple(Sentence(change.what) for change in result.environment)
        yield Section(told, title=title)
    drifts = [
        f"within {side.label} the environment changed as well ({count} change{'s' * (count > 1)}): "
        f"fairtrial status --diff {side.path}"
        for side, count in ((result.old, result.drift_old), (result.new, result.drift_new))
        if count
    ]
    if drifts:
        yield Section(tuple(map(Sentence, drifts)))


def _levels(result: TrialComparison) -> Iterator[Table | Sentence]:
    """Set the levels: every benchmark where there is no effect, else one line for each variant."""
    levels = [one for one in result.levels if _shown(result, one)]
    write = partial(figures.quantity, unit=result.unit)
    called = shortened(
        [name for one in levels for name in (one.variant, one.benchmark or "the suite")],
        _NAME_WIDTH,
    )
    yield Table(
        name="levels",
        columns=columns_of("<", "<", "first", "second", "<ratio", "<"),
        rows=tuple(
            (
                called[one.variant],
                called[one.benchmark or "the suite"],
                value_of(one.mean_old, write, ""),
                value_of(one.mean_new, write, ""),
                Value(_with_ends(one.ratio, one.low, one.high), one.ratio),
                outcome_word(one.outcome, timed=result.timed),
            )
            for one in levels[:_MOST]
        ),
    )
    if len(levels) > _MOST:
        yield Sentence(f"and {len(levels) - _MOST} more (--json has all)")


def _shown(result: TrialComparison, one: VariantLevel) -> bool:
    if not result.candidates:
        return True
    suites = {level.variant for level in result.levels if level.benchmark is None}
    return one.benchmark is None or one.variant not in suites
