"""The verdict: every candidate against the baseline, by sessions.

It computes no estimate of its own. Each number of its first screen is a field of what `multilevel`
gives; beside it stands the largest speedup that HPT claims with the same confidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..data import PerformanceMatrix, Trial
from ..methods.hpt import HptSpeedup, hpt_speedup
from ..methods.multilevel import Looks, Multilevel, multilevel
from ..report import merged
from ..stats import Correction, door
from .alone import alone
from .cautions import method_cautions, question_cautions, run_cautions
from .counts import counts_of, session_runs
from .looking import looks_at
from .names import candidates_in, known_names
from .panel import ask
from .result import CandidateVerdict, HptBound, Verdict
from .sides import comparable, sides_of, without
from .surroundings import surroundings_of

__all__ = ["claimed_by_hpt", "judge", "judge_alone", "judge_sides"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """How candidates are compared."""

    confidence: float
    margin: float
    correction: Correction
    weights: Mapping[str, float] | None
    looks: Looks
    explain: bool


@door
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
        A certificate of `calibrate_trial` to cite; the newest beside the trial by default.

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
    manifest = trial.manifest
    unasked = trial.unasked if metric is None else ()
    usual = metric is None or trial.is_usual(metric)
    metric = trial.default_metric if metric is None else metric
    info = trial.metric(metric)
    chosen = candidates_in(trial, variants)
    known_names("benchmark", benchmarks, manifest.benchmarks, str(trial.path))
    asked = _Asked(
        confidence=confidence,
        margin=margin,
        correction=correction,
        weights=weights,
        looks=looks_at([manifest], looks, always_valid=always_valid),
        explain=explain,
    )
    sides = sides_of(trial, metric, chosen, benchmarks)
    base = sides[manifest.baseline]
    candidates = tuple(
        _candidate(name, comparable(side, base), asked)
        for name, side in sides.items()
        if name != manifest.baseline
    )
    paper = None if certificate is None else Path(certificate)
    around = surroundings_of(trial, metric, chosen, paper)
    counts = counts_of(trial, metric, chosen, sides.values())
    matrices = [side.matrix for side in sides.values() if side.matrix is not None]
    return Verdict(
        trial=manifest.trial,
        path=str(trial.path),
        campaign=manifest.campaign_name,
        campaign_path=manifest.campaign_path,
        host=manifest.host,
        metric=metric,
        unit=info.unit,
        better=info.better,
        baseline=manifest.baseline,
        sessions=counts.sessions,
        session_runs=counts.session_runs,
        runs=counts.runs,
        warmups=counts.warmups,
        failed=counts.failed,
        confidence=confidence,
        margin=margin,
        correction=correction,
        **asked.looks.fields(confidence),
        always_valid=always_valid,
        finished=trial.finished,
        candidates=candidates,
        alone=() if candidates or not matrices else alone(matrices[0], confidence),
        diagnosis=around.diagnosis,
        certificate=around.certificate,
        usual=usual,
        outermost=trial.outermost,
        cautions=merged(
            question_cautions(unasked),
            run_cautions(trial, sides.values(), metric),
            around.cautions,
            method_cautions(candidates),
            around.last,
        ),
    )


@door
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
    everything = tuple(dict.fromkeys((*candidate.benchmarks, *baseline.benchmarks)))
    known_names("benchmark", benchmarks, everything, candidate.name)
    if benchmarks is not None:
        candidate, baseline = (without(one, set(one.benchmarks) - set(benchmarks)) for one in given)
    asked = _Asked(
        confidence=confidence,
        margin=margin,
        correction=correction,
        weights=weights,
        looks=Looks.of(1 if looks is None else looks, always_valid=always_valid),
        explain=explain,
    )
    sides = tuple(replace(one, cautions=()) for one in (candidate, baseline))
    only = _candidate(candidate.name, (sides[0], sides[1]), asked)
    one_trial = candidate.trial if candidate.trial == baseline.trial else None
    return Verdict(
        trial=None,
        path=one_trial,
        campaign=None,
        campaign_path=None,
        host=None,
        metric=metric,
        unit=candidate.unit,
        better=candidate.better,
        baseline=baseline.name,
        sessions=_sessions(only.multilevel),
        session_runs=session_runs(sides),
        runs=sum(sum(one.runs) for one in sides),
        warmups=0,
        failed=0,
        confidence=confidence,
        margin=margin,
        correction=correction,
        **asked.looks.fields(confidence),
        always_valid=always_valid,
        finished=True,
        candidates=(only,),
        alone=(),
        outermost="session" if only.multilevel is None else only.multilevel.outermost,
        cautions=merged(
            *(
                [c.of(one.name) for c in one.cautions if c.code != "warm-up-left-out"]
                for one in given
            ),
            method_cautions([only]),
        ),
    )


def judge_alone(
    matrix: PerformanceMatrix,
    *,
    metric: str = "value",
    confidence: float = 0.95,
    benchmarks: Sequence[str] | None = None,
) -> Verdict:
    """Give each benchmark's interval of one side, where there is nothing to compare it with.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The side.
    metric : str
        What the values are called on a screen.
    confidence : float
        Of each interval.
    benchmarks : sequence of str, optional
        Only these.

    Raises
    ------
    UsageError
        If a name is unknown.
    """
    known_names("benchmark", benchmarks, matrix.benchmarks, matrix.name)
    if benchmarks is not None:
        matrix = without(matrix, set(matrix.benchmarks) - set(benchmarks))
    return Verdict(
        trial=None,
        path=matrix.trial,
        campaign=None,
        campaign_path=None,
        host=None,
        metric=metric,
        unit=matrix.unit,
        better=matrix.better,
        baseline=matrix.name,
        sessions=0 if matrix.sessions is None else len({k for row in matrix.sessions for k in row}),
        session_runs=session_runs([matrix]),
        runs=sum(matrix.runs),
        warmups=0,
        failed=0,
        confidence=confidence,
        margin=0.0,
        correction="none",
        **Looks().fields(confidence),
        always_valid=False,
        finished=True,
        candidates=(),
        alone=alone(matrix, confidence),
        outermost=matrix.outermost,
        cautions=tuple(c.of(matrix.name) for c in matrix.cautions if c.code != "warm-up-left-out"),
    )


def _candidate(
    name: str, both: tuple[PerformanceMatrix, PerformanceMatrix] | None, asked: _Asked
) -> CandidateVerdict:
    if both is None:
        return CandidateVerdict(variant=name, multilevel=None, hpt_speedup=None, panel=None)
    found = multilevel(
        *both,
        confidence=asked.confidence,
        margin=asked.margin,
        correction=asked.correction,
        weights=asked.weights,
        looks=asked.looks,
    )
    best = claimed_by_hpt(found, both, asked.confidence)
    return CandidateVerdict(
        variant=name,
        multilevel=found,
        hpt_speedup=None if best is None else _bound(best),
        panel=ask(found, *both, best=best) if asked.explain else None,
    )


def claimed_by_hpt(
    found: Multilevel, both: tuple[PerformanceMatrix, PerformanceMatrix], confidence: float
) -> HptSpeedup | None:
    """Ask HPT for its speedup; of a single benchmark it has none, and none below even odds."""
    common = set(both[0].benchmarks) & set(both[1].benchmarks)
    if len(common) < 2 or found.design == "confounded" or not 0.5 < confidence < 1:
        return None
    return hpt_speedup(*both, confidence=confidence)


def _bound(told: HptSpeedup) -> HptBound:
    return HptBound(
        required=told.required,
        value=told.value,
        attained_confidence=told.attained_confidence,
        below_one=told.below_one,
    )


def _sessions(found: Multilevel | None) -> int:
    """Count the sessions of two sides, also where they cannot be compared by them."""
    if found is None:
        return 0
    if found.design == "confounded":
        return found.sessions_candidate + found.sessions_baseline
    return found.sessions
