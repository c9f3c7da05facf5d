"""The first verdict on a trial: every candidate against the campaign's baseline.

Per benchmark: medians, their ratio, and whether stage one of HPT tells the difference from noise.
Over the suite: plain HPT. Both treat the runs as independent replications; the cautions say how far
that holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..data import SEQUENTIAL, PerformanceMatrix, Trial
from ..errors import InsufficientDataError
from ..methods.hpt import hpt
from ..record import MetricInfo
from ..report.figures import is_time
from .result import BenchmarkVerdict, CandidateVerdict, Outcome, Spread, Verdict

__all__ = ["judge"]

# The matrices' cautions that the verdict says once for the whole trial.
_COUNTED = (
    *("warm-up run left out", "warm-up runs left out"),
    *("failed run left out", "failed runs left out"),
    SEQUENTIAL,
)


def judge(trial: Trial, *, metric: str = "wall", confidence: float = 0.95) -> Verdict:
    """Compare every variant of a trial with the campaign's baseline.

    Parameters
    ----------
    trial : Trial
        From `read_trial`. An unfinished one is judged by what is there, with a caution.
    confidence : float
        The confidence that the suite's outcome needs.
    metric : str
        ``wall``, ``user``, ``system``, ``max_rss``, or a metric parsed from output.

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
    matrices, cautions = _matrices(trial, metric)
    base = matrices.get(manifest.baseline)
    others = [name for name in manifest.variants if name != manifest.baseline]
    candidates = tuple(
        _candidate(
            name,
            matrices.get(name),
            base,
            benchmarks=manifest.benchmarks,
            info=info,
            confidence=confidence,
            floored=(
                trial.below_floor(name, metric),
                trial.below_floor(manifest.baseline, metric),
            ),
        )
        for name in others
    )
    alone = not others
    if alone:
        cautions.insert(0, "one variant only: there is nothing to compare")
    cautions += _method_cautions(candidates)
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
        candidates=candidates,
        spreads=_spreads(matrices) if alone else (),
        cautions=tuple(cautions),
        finished=trial.finished,
    )


def _matrices(trial: Trial, metric: str) -> tuple[dict[str, PerformanceMatrix], list[str]]:
    """Give a matrix for each variant that has runs, and what to know about the trial's runs."""
    cautions = list(trial.cautions)
    failed = [run for run in trial.failures() if not run.warmup]
    if failed:
        kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(r.outcome for r in failed).items())
        cells = Counter(f"{run.benchmark} / {run.variant}" for run in failed)
        worst = ", ".join(f"{cell} ({n})" for cell, n in cells.most_common(3))
        more = f" and {len(cells) - 3} more cells" if len(cells) > 3 else ""
        cautions.append(
            f"{len(failed)} run{'s' * (len(failed) > 1)} failed ({kinds}) and "
            f"{'are' if len(failed) > 1 else 'is'} left out: {worst}{more}"
        )
    matrices: dict[str, PerformanceMatrix] = {}
    for variant in trial.manifest.variants:
        try:
            matrix = trial.matrix(variant, metric)
        except InsufficientDataError:
            cautions.append(f"{variant} has no run that counts")
            continue
        # The trial-wide sentences above count warm-ups and failures once, not for each variant.
        matrices[variant] = replace(matrix, cautions=())
        cautions += [
            f"{variant}: {text}" for text in matrix.cautions if not text.endswith(_COUNTED)
        ]
    if not matrices:
        raise InsufficientDataError(
            f"the trial has no run that counts with a value of {metric!r}",
            str(trial.path),
            "look at the failed runs, or measure more",
            n=0,
            needed=1,
        )
    return matrices, cautions


def _candidate(
    name: str,
    ours: PerformanceMatrix | None,
    base: PerformanceMatrix | None,
    *,
    benchmarks: Sequence[str],
    info: MetricInfo,
    confidence: float,
    floored: tuple[tuple[str, ...], tuple[str, ...]],
) -> CandidateVerdict:
    result = None
    if ours is not None and base is not None:
        # What one side lacks is said already; HPT need not say it again.
        # Two values at the floor differ by the launcher, not by the programs.
        told = set(base.benchmarks) - (set(floored[0]) & set(floored[1]))
        common = [bench for bench in ours.benchmarks if bench in told]
        if common:
            result = hpt(ours.select(common), base.select(common), confidence=confidence)
    # "faster" where the metric is a time or a rate, "better" for sizes and counts.
    timed = is_time(info.unit) or info.unit.endswith("/s")
    words: dict[str, Outcome] = {
        "candidate": "faster" if timed else "better",
        "baseline": "slower" if timed else "worse",
        "tie": "undecided",
    }
    tested = {row.name: row for row in result.benchmarks} if result else {}
    rows = []
    for bench in benchmarks:
        n, median = _centre(ours, bench)
        m, base_median = _centre(base, bench)
        speedup = None
        sides = ("candidate", "baseline")
        bounds = tuple(side for side, names in zip(sides, floored, strict=True) if bench in names)
        if median is not None and base_median is not None and not bounds:
            speedup = base_median / median if info.better == "lower" else median / base_median
        row = tested.get(bench)
        rows.append(
            BenchmarkVerdict(
                benchmark=bench,
                runs_candidate=n,
                runs_baseline=m,
                median_candidate=median,
                median_baseline=base_median,
                speedup=speedup,
                outcome=words[row.winner] if row and row.alpha is not None else "undecided",
                floored=bounds,
            )
        )
    known = [row.speedup for row in rows if row.speedup is not None]
    return CandidateVerdict(
        variant=name,
        benchmarks=tuple(rows),
        speedup=float(np.exp(np.mean(np.log(known)))) if known else None,
        hpt=result,
    )


def _centre(matrix: PerformanceMatrix | None, bench: str) -> tuple[int, float | None]:
    if matrix is None or bench not in matrix.benchmarks:
        return 0, None
    values = matrix.values(bench)
    return values.size, float(np.median(values))


def _method_cautions(candidates: tuple[CandidateVerdict, ...]) -> list[str]:
    """Give the cautions of the HPT results, each once, with the candidates it is about."""
    about: dict[str, list[str]] = {}
    results = [one.hpt for one in candidates if one.hpt is not None]
    for result in results:
        for text in result.cautions:
            about.setdefault(text, []).append(result.candidate)
    return [
        text if len(names) == len(results) else f"{', '.join(names)}: {text}"
        for text, names in about.items()
    ]


def _spreads(matrices: dict[str, PerformanceMatrix]) -> tuple[Spread, ...]:
    rows = []
    for variant, matrix in matrices.items():
        for bench, values in zip(matrix.benchmarks, matrix.samples, strict=True):
            quartiles = np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist()
            minimum, low, median, high, maximum = quartiles
            rows.append(
                Spread(
                    variant=variant,
                    benchmark=bench,
                    runs=values.size,
                    median=median,
                    low_quartile=low,
                    high_quartile=high,
                    minimum=minimum,
                    maximum=maximum,
                )
            )
    return tuple(rows)
