"""Two trials compared: each is judged by itself, then effect by effect; what differs around them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.host_record import (
    ABSENT,
    is_free_setting,
    not_judged,
    question_of,
    setting_changes,
    settings_of,
)
from ..data.iterations import of_one_basis
from ..data.trial import Trial
from ..errors import AnalysisError, InsufficientDataError, StoreError
from ..methods.multilevel.compare import check_levels, multilevel
from ..pages import number_format as figures
from ..pages.model import Caution, merged
from ..record.environment import Change, diff
from ..record.shapes import records_of
from ..record.trial_files import ENVIRONMENT, EnvironmentShape
from ..stats.arguments import checks_arguments
from ..words import PLACEHOLDER
from .comparison_effects import EffectPairs, compare_answers, overall
from .comparison_result import CampaignChange, TrialComparison, TrialSide, VariantLevel
from .sides import VariantSide, comparable, looks_at, only, sides_of

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..methods.multilevel.law import Looks
    from ..methods.multilevel.result import LookRisk, Multilevel

    Pair = tuple[PerformanceMatrix, PerformanceMatrix]


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
    check_levels(confidence, margin)
    unnamed = old.unnamed if metric is None else ()
    metric = question_of((old, new)) if metric is None else metric
    old, new = of_one_basis((old, new), metric)
    unit, better = _agreed(old, new, metric)
    looks = [looks_at([trial.manifest], None, always_valid=False) for trial in (old, new)]
    a, b = (
        _side_of(trial, label, look.at(confidence))
        for trial, label, look in zip((old, new), _labels(old, new), looks, strict=True)
    )
    # names may have been taken out of one of them; another tool's file begins whenever it is read
    m, n = old.manifest, new.manifest
    one_file = old.path.resolve() == new.path.resolve()
    same = len(old) == len(new) and (one_file or (m.trial, m.started) == (n.trial, n.started))
    sides, cautions = _variants(old, new, (a, b), metric)
    answers, lacking = _answers(sides, (a, b), looks, confidence, margin)
    candidates = compare_answers(
        answers,
        confidence=confidence,
        margin=margin,
        same=same,
        next_alpha=looks[1].next_alpha(confidence),
    )
    levels = tuple(_levels(sides, confidence, margin))
    changed = tuple(_campaign_changes(old, new))
    imported = "imported" in (m.origin, n.origin)  # they had no campaign
    first, second = _environments(old), _environments(new)
    environment, hidden = _environment_changes(old, new, first, second)
    lone = [
        {
            part: tuple(name for name in getattr(x, part) if name not in getattr(y, part))
            for part in ("variants", "benchmarks")
        }
        for x, y in ((a, b), (b, a))
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
        same_campaign=None if imported else _same_campaign(a, b, changed),
        same_host=_same_host(a, b),
        candidates=candidates,
        levels=levels,
        campaign=changed,
        plan=tuple(
            CampaignChange(key=name, old=getattr(a, name), new=getattr(b, name), only=None)
            for name in _PLAN
            if getattr(a, name) != getattr(b, name)
        ),
        environment=environment,
        drift_old=_drift(first),
        drift_new=_drift(second),
        only_old=lone[0],
        only_new=lone[1],
        cautions=merged(
            not_judged(unnamed),
            _cautions(
                old, new, (a, b), lone, same=same, confounded=bool(levels) and not candidates
            ),
            lacking,
            cautions,
            hidden,
            _own_cautions(old, new, (a, b)),
        ),
    )


def _agreed(old: Trial, new: Trial, metric: str) -> tuple[str, str]:
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


# --- What was measured: the variants of both trials, their effects, and how fast their runs are.

Sides = Sequence[tuple[VariantSide, VariantSide]]  # of each variant in both trials


def _variants(
    old: Trial, new: Trial, sides: tuple[TrialSide, TrialSide], metric: str
) -> tuple[Sides, list[Caution]]:
    lone = _lone_pair(*sides)
    common = [(name, name) for name in sides[0].variants if name in sides[1].variants]
    called = [lone] if lone is not None else common
    if not called:
        return (), []
    try:
        ours, theirs = (
            sides_of(trial, metric, [pair[k] for pair in called], None)
            for k, trial in enumerate((old, new))
        )
    except InsufficientDataError as error:
        text = f"{error.where}: {error.what}: no result is compared"
        return (), [Caution("no-common-results", text)]
    cautions = [
        caution.of(side.label)
        for side, group in zip(sides, (ours, theirs), strict=True)
        for one in group.values()
        for caution in one.cautions
        if caution.code in ("variant-left-out", "floored")
    ]
    return [(ours[before], theirs[variant]) for before, variant in called], cautions


def _lone_pair(old: TrialSide, new: TrialSide) -> tuple[str, str] | None:
    """Give the variants of two trials that have one each, of different names; else None."""
    if len(old.variants) == len(new.variants) == 1 and old.variants != new.variants:
        return old.variants[0], new.variants[0]
    return None


def _answers(
    variants: Sides,
    sides: tuple[TrialSide, TrialSide],
    looks: Sequence[Looks],
    confidence: float,
    margin: float,
) -> tuple[list[EffectPairs], list[Caution]]:
    there = {old.name: (old, new) for old, new in variants if old.name == new.name}
    baseline = next((side.baseline for side in sides if side.baseline in there), None)

    def judged(k: int, pair: Pair) -> Multilevel:
        return multilevel(*pair, confidence=confidence, margin=margin, looks=looks[k])

    answers, lacking = [], []
    for name, both in there.items():
        if baseline is None or name == baseline:
            continue
        found = [comparable(one, base) for one, base in zip(both, there[baseline], strict=True)]
        pairs = [pair for pair in found if pair is not None]
        whole = [judged(k, pair) for k, pair in enumerate(pairs)] if len(pairs) == 2 else []
        known = [{x.name for x in one.benchmarks if x.speedup is not None} for one in whole]
        shared = set.intersection(*known) if known else set()
        if not shared:
            text = f"{name}: no benchmark has a speedup over {baseline} in both trials"
            lacking.append(Caution("no-common-results", text, (name,)))
            continue
        old, new = (
            answer if names == shared else judged(k, (only(pair[0], shared), only(pair[1], shared)))
            for k, (answer, names, pair) in enumerate(zip(whole, known, pairs, strict=True))
        )
        theirs = {line.name: line for line in whole[1].benchmarks}
        lone = tuple(
            (line, theirs[line.name])  # one of both knows no effect
            for line in whole[0].benchmarks
            if line.name not in shared and line.name in theirs
        )
        answers.append(EffectPairs(old=old, new=new, lone=lone))
    return answers, lacking


def _levels(variants: Sides, confidence: float, margin: float) -> Iterator[VariantLevel]:
    """Compare each variant's runs in the new trial with those in the old one.

    Sessions of two trials are never the same: Welch's t on session means. Whatever else differed
    between the trials is part of the ratio.
    """
    for before, variant in variants:
        both = comparable(variant, before)
        if both is None:
            continue
        ours, theirs = (
            replace(matrix, trial=name, cautions=())
            for matrix, name in zip(both, ("new", "old"), strict=True)
        )
        answer = multilevel(ours, theirs, confidence=confidence, margin=margin)
        for line in (*answer.benchmarks, answer.these):
            if line is not None:
                yield VariantLevel(
                    variant=variant.name,
                    benchmark=None if line is answer.these else line.name,
                    mean_old=getattr(line, "mean_baseline", None),
                    mean_new=getattr(line, "mean_candidate", None),
                    ratio=line.speedup,
                    low=line.low,
                    high=line.high,
                    outcome=line.outcome,
                )


# --- What differs around two trials: plan, campaign, host, environment.

_UNKNOWN_HOST = "unknown"
_AS_STORED = (
    *("trial", "host", "cpu_model", "baseline", "variants", "benchmarks", "seed", "runs"),
    *("warmup", "status", "started", "finished", "tool_version"),
)
_PLAN = (
    *("baseline", "seed", "planned_sessions", "runs", "warmup", "order", "stop"),
    *("sessions", "executed", "failed", "status", "tool_version"),
)


def _side_of(trial: Trial, label: str, look: LookRisk) -> TrialSide:
    """Describe a trial; `look` is which look at it its words are."""
    manifest, rule = trial.manifest, trial.manifest.stop
    protocol = settings_of(trial.path).get("protocol")
    order = protocol.get("order") if isinstance(protocol, dict) else None
    known = manifest.origin != "imported" and manifest.host_id != _UNKNOWN_HOST
    stop = None
    if rule is not None:
        cap = "" if rule.max_time_s is None else f", at most {rule.max_time_s:g} s"
        stop = f"width {rule.width:g}, {rule.min_runs} to {rule.max_runs} runs{cap}"
    return TrialSide(
        label=label,
        path=str(trial.path),
        campaign=manifest.campaign_name,
        identity=manifest.campaign_sha256,
        identity_rule=manifest.campaign_identity,
        host_id=manifest.host_id if known else None,
        planned_sessions=manifest.sessions,
        order=order if isinstance(order, str) else None,
        stop=stop,
        sessions=trial.sessions,
        executed=len(trial),
        failed=len(trial.failures()),
        outermost=trial.outermost,
        **{name: getattr(manifest, name) for name in _AS_STORED},
        look=look,
    )


def _campaign_changes(old: Trial, new: Trial) -> Iterator[CampaignChange]:
    """Give the keys of the resolved campaigns that differ, in the old one's order."""
    before, after = (settings_of(trial.path) for trial in (old, new))
    m, n = old.manifest, new.manifest
    same = (m.campaign_identity, m.campaign_sha256) == (n.campaign_identity, n.campaign_sha256)
    for key, *values in setting_changes(before, after) if before and after else ():
        only = "new" if values[0] is ABSENT else "old" if values[1] is ABSENT else None
        if only is None or not same:
            a, b = (None if value is ABSENT else value for value in values)
            yield CampaignChange(key=key, old=a, new=b, only=only)


def _same_campaign(
    old: TrialSide, new: TrialSide, changes: tuple[CampaignChange, ...]
) -> bool | None:
    one_rule = old.identity_rule == new.identity_rule
    if one_rule and old.identity == new.identity:
        return True
    if changes and all(is_free_setting(change.key) for change in changes):
        return True
    return False if one_rule or any(change.only is None for change in changes) else None


def _same_host(old: TrialSide, new: TrialSide) -> bool | None:
    if old.host_id is None or new.host_id is None:
        return None
    taken_out = any(PLACEHOLDER.fullmatch(one) for one in (old.host_id, new.host_id))
    if taken_out and not _one_redaction(old.host_id, new.host_id):
        return None
    if (old.host_id, old.cpu_model) != (new.host_id, new.cpu_model):
        return False
    return True if old.host == new.host else None


def _one_redaction(old: str, new: str) -> bool:
    """Tell whether the names of both were taken out together: then equal placeholders are one name."""
    a, b = (PLACEHOLDER.fullmatch(one) for one in (old, new))
    return a is not None and b is not None and a["tag"] == b["tag"]


def _environments(trial: Trial) -> list[Mapping[str, Any]]:
    """Give the environments of a trial's sessions; none where nothing is known of them."""
    if trial.manifest.origin == "imported" or not (trial.path / ENVIRONMENT).exists():
        return []
    try:
        return [row for _, row in records_of(trial.path / ENVIRONMENT, EnvironmentShape)]
    except StoreError:
        if trial.finished:
            raise
        return []  # its first line is being written


def _environment_changes(
    old: Trial, new: Trial, first: list[Mapping[str, Any]], second: list[Mapping[str, Any]]
) -> tuple[tuple[Change, ...] | None, list[Caution]]:
    """Say what differs between the first sessions; None where an environment is unknown.

    Keys whose names were taken out of one trial cannot be compared: a caution counts them.
    """
    if not first or not second:
        return None, []
    changes = diff(first[0], second[0])
    if _one_redaction(old.manifest.host_id, new.manifest.host_id):
        return changes, []
    found = tuple(
        change
        for change in changes
        if not any(PLACEHOLDER.search(repr(value)) for value in (change.old, change.new))
    )
    if len(found) == len(changes):
        return found, []
    text = (
        f"names were taken out of a trial: of {figures.counted(len(changes) - len(found), 'thing')} in the "
        "environments nobody can tell whether they differ"
    )
    return found, [Caution("environment-redacted", text)]


def _drift(records: list[Mapping[str, Any]]) -> int | None:
    """Count the changes between a trial's own sessions; None where nothing is known of them."""
    return sum(len(diff(a, b)) for a, b in itertools.pairwise(records)) if records else None


# --- What to be careful about.


def _cautions(
    old: Trial,
    new: Trial,
    sides: tuple[TrialSide, TrialSide],
    rests: Sequence[Mapping[str, tuple[str, ...]]],
    *,
    same: bool,
    confounded: bool,
) -> Iterator[Caution]:
    """Say where the trials are one, share runs, or have not the same things to compare."""
    parts = (
        {(part.trial, part.started) for part in (one.merged_from or (one,))}
        for one in (old.manifest, new.manifest)
    )
    shared = sorted({name for name, _ in set.intersection(*parts)})
    if same:
        yield Caution("same-trial", "both are one trial, which always agrees with itself")
    elif shared:
        yield Caution(
            "runs-shared",
            f"both hold runs of trial {figures.listed(shared)}: their sessions are not "
            "independent, and a difference looks smaller than it is",
            tuple(shared),
        )
    (a, b), lone = sides, _lone_pair(*sides)
    common = [name for name in a.variants if name in b.variants]
    if lone is not None:
        yield Caution(
            "variants-renamed",
            f"each trial has one variant, {lone[0]} and {lone[1]}: they are taken for the same",
            lone,
        )
    elif a.baseline != b.baseline:
        used = next((one.baseline for one in sides if one.baseline in common), None)
        text = "no variant is the baseline of both" if used is None else f"{used} is taken in both"
        yield Caution(
            "baselines-differ",
            f"the baseline is {a.baseline} in {a.label} and {b.baseline} in {b.label}: {text}",
            (a.baseline, b.baseline),
        )
    for side, rest in zip(sides, rests, strict=True):
        names = [*(rest["variants"] if lone is None else ()), *rest["benchmarks"]]
        if names:
            yield Caution(
                "of-one-trial",
                f"only {side.label} has {figures.listed(names, 8)}: no part of the comparison",
                (side.label, *names),
            )
    if not common and lone is None:
        yield Caution("no-common-results", "the trials have no variant in common")
    elif not set(a.benchmarks) & set(b.benchmarks):
        yield Caution("no-common-results", "the trials have no benchmark in common")
    if confounded and not same:
        yield Caution(
            "levels-confounded",
            "the levels of two trials differ by all that differed between them, such as host, hour "
            "and kernel: they tell nothing of a program by itself",
        )


def _own_cautions(old: Trial, new: Trial, sides: tuple[TrialSide, TrialSide]) -> Iterator[Caution]:
    """Say what holds for the runs of each trial; what holds for both is said once."""
    theirs = {(caution, caution.text) for caution in new.cautions}
    shared = [caution for caution in old.cautions if (caution, caution.text) in theirs]
    yield from shared
    for trial, side in ((old, sides[0]), (new, sides[1])):
        yield from (caution.of(side.label) for caution in trial.cautions if caution not in shared)
