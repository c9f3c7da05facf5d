"""Judging: a trial is a fleet of one host, and two sides are what a trial's comparison is of.

The one place where a verdict is made, and where it looks beyond the runs that it compares.

It computes no estimate of its own. Each number of its first screen is a field of what `multilevel`
gives; the largest speedup that HPT claims with the same confidence stands with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.host_record import NOT_ASKED, not_judged
from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..data.trial_cautions import CHANGED, DEFINITIONS, SETTINGS, settings_differ
from ..diagnose.examine import diagnose_trial
from ..errors import AnalysisError, InsufficientDataError
from ..importers.reader import (
    Reading,
    Sides,
    open_trial,
    read_sides,
    sessions_apart,
    trial_and_variant,
)
from ..methods.multilevel.design import whole_matrix
from ..methods.multilevel.law import Looks
from ..pages.model import Caution, ShortSentence, merged, plain
from ..pages.result import lazily
from ..plan.certificate import Certificate, differences, newest_for, read_certificate
from ..record.manifest import WARMUP_ASKED
from ..record.trial_files import CERTIFICATES
from ..stats.arguments import checks_arguments
from ..stats.multiplicity import Correction
from .cautions import (
    Layout,
    by_services,
    counted_layouts,
    drawn_layouts,
    layout_cautions,
    method_cautions,
    rows_of,
    run_cautions,
)
from .result import CandidateVerdict, HptBound, JudgedData, Panel, Verdict, WayOn
from .sentence import basis_of, with_numbers
from .sides import (
    Question,
    VariantSummary,
    by_themselves,
    comparable,
    counted,
    counts_of,
    known_names,
    looks_at,
    named_in,
    only,
    refuse_single,
    session_seconds,
    sides_of,
    without,
)

if TYPE_CHECKING:
    from ..methods.multilevel.result import Multilevel
    from .sides import VariantSide


def in_one_family(
    each: Mapping[str, Callable[[Sequence[Multilevel]], Multilevel]], *, planned: bool
) -> dict[str, Multilevel]:
    """Compare each candidate, several beside the others: by a plan of looks they share the risk already."""
    alone = {name: compare(()) for name, compare in each.items()}
    if planned or len(alone) < 2:
        return alone
    return {
        name: compare([one for other, one in alone.items() if other != name])
        for name, compare in each.items()
    }


def _certificate(
    trial: Trial, metric: str, named: str | Path | None
) -> tuple[Certificate | None, tuple[Caution, ...]]:
    """Give the certificate that is named, or the newest next to the trial, if it holds; what to say of it."""
    one: Certificate | None
    if named is None:
        one, voids, warns = newest_for(trial, trial.path.parent / CERTIFICATES, metric=metric)
    else:
        one = read_certificate(Path(named))
        voids, warns = differences(one, trial, metric=metric)
    code, text = "no-certificate", ""
    if one is None or (voids and named is None):
        text = "no A/A certificate for this machine and design"
    elif voids:
        text = f"the certificate does not speak of this: {'; '.join(voids)}"
    elif warns:
        code, text = "certificate-differs", f"the certificate: {'; '.join(warns)}"
    return None if voids else one, (Caution(code, text),) if text else ()


@checks_arguments
def judge(
    trial: Trial,
    *,
    metric: str | None = None,
    confidence: float = 0.95,
    variants: Sequence[str] | None = None,
    benchmarks: Sequence[str] | None = None,
    margin: float = 0.01,
    correction: Correction = "holm",
    weights: Mapping[str, float] | None = None,
    looks: int | None = None,
    always_valid: bool = False,
    explain: bool = False,
    certificate: str | Path | None = None,
) -> Verdict:
    """Compare variants of a trial with the campaign's baseline.

    Parameters
    ----------
    trial : Trial
        From `read_trial`. An unfinished one is judged by what is there, with a caution.
    metric : str, optional
        ``wall``, another metric that every run has, or one parsed from output; by default the first that
        the campaign's `judge` names, else ``wall`` (of an imported trial its first). Where benchmarks
        declare metrics and nothing names one, a caution says so.
    confidence : float
        Of each interval.
    variants : sequence of str, optional
        The candidates to judge; all by default.
    benchmarks : sequence of str, optional
        The benchmarks to judge; all by default. What is left out takes no part in any number.
    margin, correction, weights, always_valid
        As for `multilevel`.
    looks : int, optional
        How many looks at these sessions are planned, this one included; by default the trial's own
        growth tells which look this is (`Looks.growing`).
    explain : bool
        Also ask the published methods, and say why they differ.
    certificate : str or Path, optional
        A certificate of `calibrate_trial` to cite; the newest next to the trial by default.

    Returns
    -------
    Verdict
        Failed runs, missing cells and too few sessions become cautions.

    Raises
    ------
    UsageError
        If a name is unknown, an option is out of its range or does not fit the design, or no metric
        is named and the trial's parts were declared to judge different ones.
    AnalysisError
        If a value is not positive.
    InsufficientDataError
        If no run of any variant counts.
    StoreError
        If the certificate named is none.
    """
    question = Question.of(
        trial,
        metric,
        confidence=confidence,
        benchmarks=benchmarks,
        variants=variants,
        margin=margin,
        correction=correction,
        weights=weights,
        looks=looks,
        always_valid=always_valid,
        explain=explain,
        certificate=certificate,
    )
    return judge_host(trial, question)


def judge_host(trial: Trial, question: Question) -> Verdict:
    """Answer a question of one trial."""
    manifest, metric = trial.manifest, question.metric
    trial.metric(metric)  # an unknown one is refused first
    chosen = question.chosen_in(trial)
    looks = looks_at([manifest], question.looks, always_valid=question.always_valid)
    sides = sides_of(trial, metric, chosen, question.benchmarks)
    base = sides[manifest.baseline]
    plan = manifest.looks_plan
    pairs = {x: comparable(side, base) for x, side in sides.items() if x != manifest.baseline}
    compared = {x: partial(question.compare, *both, looks) for x, both in pairs.items() if both}
    found = in_one_family(compared, planned=plan is not None)
    for name in found.keys() & (() if plan is None else plan.left):
        # nothing is said of the baseline's further sessions: it needed no more, as was planned
        kept = (one for one in found[name].cautions if one.code != "sessions-left-out")
        found[name] = replace(found[name], cautions=tuple(kept))
    candidates = tuple(_candidate(x, both, question, found.get(x)) for x, both in pairs.items())
    try:
        diagnosis = diagnose_trial(trial, metric=metric, variants=chosen)
    except InsufficientDataError:  # no run has a value: the verdict says so itself
        diagnosis = None
    certificate, last = None, tuple[Caution, ...]()
    if len(chosen) > 1:
        certificate, last = _certificate(trial, metric, question.certificate)
    matrices = [side.matrix for side in sides.values() if side.matrix is not None]
    alone: tuple[VariantSummary, ...] = ()
    if matrices and not candidates:
        level = question.confidence if plan is None else 1.0 - looks.alpha(question.confidence)
        alone = by_themselves(matrices[0], level)
    # nobody goes on with what was put together elsewhere, or where all looks that were planned are used
    closed = manifest.origin != "measured"
    if plan is not None:
        closed = plan.rule == "planned" or manifest.sessions >= plan.looks[-1]
    measured_s = session_seconds(trial, trial.sessions)
    measured = verdict_of_runs(trial, question, sides, looks, candidates, alone=alone)
    return replace(
        measured,
        diagnosis=diagnosis,
        certificate=certificate,
        quantile=with_numbers(measured.quantile, filter(None, pairs.values())),
        way_on=WayOn(
            closed=closed,
            in_vain=manifest.must_raise is not None,
            explainable=(
                manifest.origin == "measured"
                and trial.kind(metric).of != "build"
                and not by_services(trial, metric)
            ),
            session_s=measured_s / trial.sessions if measured_s and trial.sessions else None,
        ),
        cautions=merged(
            not_judged(question.unnamed),
            measured.cautions,
            () if diagnosis is None else diagnosis.cautions,
            method_cautions(candidates),
            last,
        ),
    )


def verdict_of_runs(
    trial: Trial,
    question: Question,
    sides: Mapping[str, VariantSide],
    looks: Looks,
    candidates: Sequence[CandidateVerdict],
    *,
    alone: Sequence[VariantSummary] = (),
    host: str | None = None,
) -> Verdict:
    """Give the verdict with what holds for the trial's runs; within a fleet it is that of a `host`."""
    manifest, metric, those = trial.manifest, question.metric, tuple(sides.values())
    info, drawn = trial.metric(metric), drawn_layouts(trial, sides)
    rows = rows_of(candidates, alone)
    cells = [one.matrix.judged_iterations for one in those if one.matrix is not None]
    return Verdict(
        data=JudgedData(
            trial=manifest.trial,
            path=str(trial.path),
            campaign=manifest.campaign_name,
            campaign_path=manifest.campaign_path,
            host=manifest.host,
            metric=metric,
            unit=info.unit,
            better=info.better,
            baseline=manifest.baseline,
            outermost=trial.outermost,
        ),
        counts=counts_of(trial, metric, those),
        question=question,
        look=looks.at(question.confidence),
        finished=trial.finished,
        candidates=tuple(candidates),
        alone=tuple(alone),
        layouts=counted_layouts([drawn]),
        iterations=tuple(replace(one, host=host) for cell in cells for one in cell.values()),
        quantile=trial.quantile_basis(metric),
        cautions=tuple(
            run_cautions(trial, those, metric, asked=question.benchmarks, rows=rows, drawn=drawn)
        ),
    )


@checks_arguments
def judge_sides(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    metric: str = "value",
    confidence: float = 0.95,
    benchmarks: Sequence[str] | None = None,
    margin: float = 0.01,
    correction: Correction = "holm",
    weights: Mapping[str, float] | None = None,
    looks: int | Looks | None = None,
    always_valid: bool = False,
    explain: bool = False,
) -> Verdict:
    """Compare two sides that are files, or variants of different trials.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        The two sides.
    metric : str
        What the values are called on a screen.
    confidence, benchmarks, margin, correction, weights, looks, always_valid, explain
        As for `judge`; one look by default.

    Returns
    -------
    Verdict
        As of `judge`; what only a trial knows is None.

    Raises
    ------
    UsageError
        If a name is unknown, or an option is out of its range or does not fit the design.
    AnalysisError
        If the sides do not go together.
    """
    given = (candidate, baseline)
    everything = tuple(dict.fromkeys(name for one in given for name in named_in(one)))
    question = Question(
        metric=metric,
        confidence=confidence,
        benchmarks=benchmarks,
        margin=margin,
        correction=correction,
        weights=weights,
        always_valid=always_valid,
        explain=explain,
    )
    question.refuse_unknown(everything, candidate.name)
    ours, theirs = (replace(only(one, benchmarks), cautions=()) for one in given)
    look = Looks.of(1 if looks is None else looks, always_valid=always_valid)
    whole = question.compare(ours, theirs, look)
    found = _candidate(candidate.name, (ours, theirs), question, whole)
    sessions = whole.sessions
    if whole.design == "confounded":
        sessions = whole.sessions_candidate + whole.sessions_baseline
    return Verdict(
        data=JudgedData(
            path=candidate.trial if candidate.trial == baseline.trial else None,
            metric=metric,
            unit=candidate.unit,
            better=candidate.better,
            baseline=baseline.name,
            outermost=whole.outermost,
        ),
        counts=counted(sessions, [whole_matrix(one) for one in (ours, theirs)]),
        question=question,
        look=look.at(confidence),
        candidates=(found,),
        iterations=tuple(one for m in given for one in m.judged_iterations.values()),
        cautions=merged(*map(_cautions_of, given), method_cautions([found])),
    )


def judge_alone(
    matrix: PerformanceMatrix,
    *,
    metric: str = "value",
    confidence: float = 0.95,
    benchmarks: Sequence[str] | None = None,
) -> Verdict:
    """Give each benchmark's interval of one side, where there is nothing to compare it with."""
    known_names("benchmark", benchmarks, matrix.benchmarks, matrix.name)
    matrix = only(matrix, benchmarks)
    sessions = {session for row in matrix.sessions or () for session in row}
    return Verdict(
        data=JudgedData(
            path=matrix.trial,
            metric=metric,
            unit=matrix.unit,
            better=matrix.better,
            baseline=matrix.name,
            outermost=matrix.outermost,
        ),
        counts=counted(len(sessions), (matrix,)),
        question=Question(metric, confidence, benchmarks),
        look=Looks().at(confidence),
        alone=by_themselves(matrix, confidence),
        cautions=_cautions_of(matrix),
    )


def _cautions_of(side: PerformanceMatrix) -> tuple[Caution, ...]:
    texts = tuple(
        c if c.code == "no-iterations" else c.of(side.name)
        for c in side.cautions
        if c.code != "warm-up-left-out"
    )
    if side.trial is not None or WARMUP_ASKED.get() is None:
        return texts
    text = "--warmup-iterations changes nothing here: of runs of files all iterations are judged"
    return (*texts, Caution("no-iterations", text, short=ShortSentence.of(text)))


def _candidate(
    name: str,
    both: tuple[PerformanceMatrix, PerformanceMatrix] | None,
    question: Question,
    found: Multilevel | None,
) -> CandidateVerdict:
    if both is None or found is None:
        return CandidateVerdict(variant=name, multilevel=None)
    return CandidateVerdict(
        variant=name,
        multilevel=found,
        hpt_speedup=claimed_by_hpt(found, both),
        panel=panel_of(found, both) if question.explain else None,
    )


_Both = tuple[PerformanceMatrix, PerformanceMatrix]


def claimed_by_hpt(found: Multilevel, both: _Both) -> HptBound | None:
    """Ask HPT for its speedup, when somebody wants it: of a single benchmark it has none, and none below even odds."""
    common = set(both[0].benchmarks) & set(both[1].benchmarks)
    if len(common) < 2 or found.design == "confounded" or not 0.5 < found.confidence < 1:
        return None

    def ask() -> HptBound:
        from ..methods.hpt.speedup import hpt_speedup

        try:
            best = hpt_speedup(*both, confidence=found.confidence)
        except AnalysisError:  # its scores leave the range of numbers: it claims nothing
            return HptBound(required=found.confidence)
        return HptBound(**{one.name: getattr(best, one.name) for one in fields(HptBound)})

    return lazily(HptBound, ask)


def panel_of(found: Multilevel, both: _Both) -> Panel:
    """Ask the published methods about two sides that were compared."""
    from .panel import ask

    return ask(found, *both, best=claimed_by_hpt(found, both))


# --- The verdict on two sources, each a variant of a trial or a file, as a command line names them.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sourced:
    """A verdict with what it rests on: both sides, and the trials that they stem from."""

    verdict: Verdict
    sides: Sides
    trials: tuple[Trial, ...]


def judge_sources(
    candidate: str,
    baseline: str | None,
    how: Reading,
    *,
    looks: int | None = None,
    always_valid: bool = False,
    **asked: Any,  # noqa: ANN401 - the further options of `judge_sides`, which checks them
) -> Sourced:
    """Read two sources and judge them."""
    sides = sessions_apart(read_sides(candidate, baseline, replace(how, zeros=True)))
    named = [trial_and_variant(text) for text in (candidate, baseline or "")]
    folders = dict.fromkeys(one[0] for one in named if one is not None)
    trials = tuple(
        open_trial(folder, how.level, how.better, decimal=how.decimal) for folder in folders
    )
    both = (sides.candidate, sides.baseline)
    if all(one.manifest.origin == "imported" for one in trials):
        refuse_single(both, [c for one in both for c in one.cautions], candidate)
    sides, changed = _measured_alike(sides, trials)
    answer = judge_sides(
        sides.candidate,
        sides.baseline,
        metric=how.metric or sides.candidate.metric or sides.baseline.metric or "values",
        looks=looks_at([one.manifest for one in trials], looks, always_valid=always_valid),
        **asked,
    )
    opened, drawn = dict(zip(folders, trials, strict=True)), dict[str, tuple[Layout, ...]]()
    for side, one in zip((sides.baseline, sides.candidate), reversed(named), strict=True):
        if one is not None:  # a variant of a trial whose sessions may have built it
            name = one[1] or opened[one[0]].manifest.baseline  # the only one, where none is named
            if layouts := drawn_layouts(opened[one[0]], [name]):
                drawn[side.name] = layouts[name]
    first = [one for one in sides.candidate.cautions if one.code == NOT_ASKED]
    others = [one for one in answer.cautions if one.code != NOT_ASKED]
    usual = how.metric is None or all(trial.is_usual(how.metric) for trial in trials)
    known = merged(first, changed, *_once(sides, trials, others), layout_cautions(drawn))
    return Sourced(
        verdict=replace(
            answer,
            data=replace(answer.data, sources=tuple(x for x in (candidate, baseline) if x)),
            question=replace(answer.question, usual=usual),
            cautions=known,
            layouts=counted_layouts([drawn]),
            quantile=basis_of(trial.quantile_basis(answer.data.metric) for trial in trials),
        ),
        sides=sides,
        trials=trials,
    )


def _measured_alike(sides: Sides, trials: Sequence[Trial]) -> tuple[Sides, tuple[Caution, ...]]:
    """Take benchmarks from the candidate that the baseline's trial measured in another way: each is another one."""
    ways, others = [*(trial.manifest.further.get(DEFINITIONS, {}) for trial in trials), {}, {}][:2]
    changed = {
        name: f"{name} was measured in another way, and is not compared: {way} against {others[name]}"
        for name, way in ways.items()
        if others.get(name, way) != way
    }
    both = (sides.candidate, sides.baseline)
    differ = settings_differ(map(_setting_of, trials, both))  # of two trials, if there are two
    if not changed:
        return sides, differ
    ours = sides.candidate
    if not named_in(ours).keys() & named_in(sides.baseline).keys() - set(changed):
        raise AnalysisError("; ".join(changed.values()), ours.name, "measure both in one way")
    texts = (
        Caution(CHANGED, text, (name,), ShortSentence.of(plain(text)))
        for name, text in changed.items()
    )
    return replace(sides, candidate=without(ours, [*changed])), (*texts, *differ)


def _setting_of(trial: Trial, side: PerformanceMatrix) -> tuple[str, dict[str, str]]:
    about, theirs = trial.manifest, None  # what is "wall" here is called otherwise by others
    if about.origin == "imported":
        from ..importers.parsing import in_base_unit

        stem, _, unit = (side.metric or "").rpartition("_")
        theirs = stem if stem and in_base_unit(unit)[1] in ("s", "B") else side.metric
    known = {"metric": theirs, "host": about.host, "CPU": about.cpu_model}
    found = {name: text or "unknown" for name, text in known.items()}
    return about.trial, found | about.further.get(SETTINGS, {})


def _once(
    sides: Sides, trials: Sequence[Trial], parts: Sequence[Caution]
) -> tuple[Iterable[Caution], ...]:
    of_trials = [caution for trial in trials for caution in trial.cautions]
    both = (sides.candidate, sides.baseline)
    rest = [one for one in parts if one.code != "imported"]
    if len({one.trial for one in both}) == 1 and len(trials) == 1:
        twice = {known.of(side.name) for side in both for known in of_trials}
        return of_trials, (one for one in rest if one not in twice)
    texts = {known for side in both for known in side.cautions if known.code != "imported"}
    return (known for known in of_trials if known not in texts), rest
