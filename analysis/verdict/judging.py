"""The first verdict on a trial: every candidate against the campaign's baseline.

Per benchmark: medians, their ratio, and whether stage one of HPT tells the difference from noise.
Over the suite: plain HPT. Both treat the runs as independent replications; the cautions say how far
that holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..data import Trial
from ..methods.hpt import HptResult, hpt
from ..record import MetricInfo
from ..report import figures
from .cautions import method_cautions, run_cautions
from .outcome import outcome_of
from .pairing import Contender, Pairing, contenders_of
from .result import BenchmarkVerdict, CandidateVerdict, Spread, Verdict

__all__ = ["judge"]


def judge(trial: Trial, *, metric: str = "wall", confidence: float = 0.95) -> Verdict:
    """Compare every variant of a trial with the campaign's baseline.

    Parameters
    ----------
    trial : Trial
        From `read_trial`. An unfinished one is judged by what is there, with a caution.
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
        If the metric is unknown, or the confidence out of range.
    AnalysisError
        If a value is not positive.
    InsufficientDataError
        If no run of any variant counts.
    """
    manifest = trial.manifest
    info = trial.metric(metric)
    contenders = contenders_of(trial, metric)
    candidates = tuple(
        _candidate(
            Pairing(candidate=one, baseline=contenders[manifest.baseline]),
            manifest.benchmarks,
            info,
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
        runs=int(trial.measured.sum()),
        warmups=int(trial.warmup.sum()),
        failed=sum(not run.warmup for run in trial.failures()),
        confidence=confidence,
        finished=trial.finished,
        candidates=candidates,
        spreads=() if candidates else tuple(_spreads(contenders.values())),
        cautions=(*run_cautions(trial, contenders.values()), *method_cautions(results)),
        references=results[0].references if results else (),
    )


def _candidate(
    pair: Pairing, benchmarks: Sequence[str], info: MetricInfo, confidence: float
) -> CandidateVerdict:
    both = pair.comparable()
    result = None if both is None else hpt(*both, confidence=confidence)
    winners = _winners(result)
    timed = figures.is_time(info.unit) or info.unit.endswith("/s")
    rows = tuple(
        BenchmarkVerdict(
            benchmark=bench,
            runs_candidate=pair.candidate.runs(bench),
            runs_baseline=pair.baseline.runs(bench),
            median_candidate=pair.candidate.median(bench),
            median_baseline=pair.baseline.median(bench),
            speedup=pair.speedup(bench),
            outcome=outcome_of(winners.get(bench), timed=timed),
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


def _winners(result: HptResult | None) -> dict[str, str]:
    """Say who wins each benchmark that was tested; medians alone decide nothing."""
    rows = () if result is None else result.benchmarks
    return {row.name: row.winner for row in rows if row.alpha is not None}


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
