"""The first verdict on a trial: every candidate against the campaign's baseline.

Per benchmark: medians, their ratio, and whether stage one of HPT tells the difference from noise.
Over the suite: plain HPT. Both treat the runs as independent replications; the cautions say how far
that holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..data import Trial
from ..errors import UsageError
from ..methods.hpt import HptResult, hpt
from ..report import Word, figures, said
from ..stats import door
from .cautions import method_cautions, run_cautions
from .pairing import Contender, Pairing, contenders_of
from .result import BenchmarkVerdict, CandidateVerdict, Spread, Verdict

__all__ = ["judge"]


@door
def judge(
    trial: Trial, *, candidate: str | None = None, metric: str = "wall", confidence: float = 0.95
) -> Verdict:
    """Compare every variant of a trial, or one, with the campaign's baseline.

    Parameters
    ----------
    trial : Trial
        From `read_trial`. An unfinished one is judged by what is there, with a caution.
    candidate : str, optional
        The only variant to judge.
    metric : str
        ``wall``, another metric that every run has, or one parsed from output.
    confidence : float
        The confidence that the suite's outcome needs.

    Returns
    -------
    Verdict
        Failed runs, missing cells and too few runs become cautions.

    Raises
    ------
    UsageError
        If the metric or the candidate is unknown, or the confidence out of range.
    AnalysisError
        If a value is not positive.
    InsufficientDataError
        If no run of any variant counts.
    """
    manifest = trial.manifest
    info = trial.metric(metric)
    variants = _variants(trial, candidate)
    contenders = contenders_of(trial, metric, variants)
    chosen = np.isin(trial.variant, [manifest.variants.index(name) for name in variants])
    candidates = tuple(
        _candidate(
            Pairing(candidate=one, baseline=contenders[manifest.baseline]),
            manifest.benchmarks,
            info.unit,
            confidence,
        )
        for name, one in contenders.items()
        if name != manifest.baseline
    )
    results = [one.hpt for one in candidates if one.hpt is not None]
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
        sessions=trial.sessions,
        runs=int((trial.measured & chosen).sum()),
        warmups=int((trial.warmup & chosen).sum()),
        failed=sum(not run.warmup and run.variant in variants for run in trial.failures()),
        confidence=confidence,
        finished=trial.finished,
        candidates=candidates,
        spreads=() if candidates else tuple(_spreads(contenders.values())),
        cautions=(*run_cautions(trial, contenders.values()), *method_cautions(results)),
        references=results[0].references if results else (),
    )


def _variants(trial: Trial, candidate: str | None) -> tuple[str, ...]:
    """Name the variants that are judged, the baseline among them."""
    manifest = trial.manifest
    if candidate is None:
        return manifest.variants
    others = [name for name in manifest.variants if name != manifest.baseline]
    if candidate not in others:
        what = (
            f"{candidate!r} is the baseline: there is nothing to compare it with"
            if candidate == manifest.baseline
            else f"the trial has no variant {candidate!r}"
        )
        raise UsageError(what, str(trial.path), f"candidates here: {', '.join(others) or 'none'}")
    return tuple(name for name in manifest.variants if name in (candidate, manifest.baseline))


def _candidate(
    pair: Pairing, benchmarks: Sequence[str], unit: str, confidence: float
) -> CandidateVerdict:
    both = pair.comparable()
    result = None if both is None else hpt(*both, confidence=confidence)
    words = _words(result)
    rows = tuple(
        BenchmarkVerdict(
            benchmark=bench,
            runs_candidate=pair.candidate.runs(bench),
            runs_baseline=pair.baseline.runs(bench),
            median_candidate=pair.candidate.median(bench),
            median_baseline=pair.baseline.median(bench),
            speedup=pair.speedup(bench),
            word=words.get(bench, "undecided"),
            outcome=said(words.get(bench, "undecided"), timed=figures.timed(unit)),
            floored=pair.floored(bench),
        )
        for bench in benchmarks
    )
    known = [row.speedup for row in rows if row.speedup is not None]
    return CandidateVerdict(
        variant=pair.candidate.name,
        benchmarks=rows,
        speedup=float(np.exp(np.mean(np.log(known)))) if known else None,
        hpt=result,
    )


def _words(result: HptResult | None) -> dict[str, Word]:
    """Say what the candidate is where a test told a winner; medians alone decide nothing."""
    rows = () if result is None else result.benchmarks
    return {row.name: row.word for row in rows if row.alpha is not None and row.word != "tie"}


def _spreads(contenders: Iterable[Contender]) -> Iterator[Spread]:
    for one in contenders:
        if one.matrix is None:
            continue
        for bench, values in zip(one.matrix.benchmarks, one.matrix.samples, strict=True):
            quartiles = np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist()
            minimum, low, median, high, maximum = quartiles
            yield Spread(
                variant=one.name,
                benchmark=bench,
                runs=values.size,
                median=median,
                low_quartile=low,
                high_quartile=high,
                minimum=minimum,
                maximum=maximum,
            )
