"""The chance of each variant to have the best of R runs each, by mixtures.

I3 of [1]_ is the chance that a run of one variant beats one run of each other. The best of R runs of
a variant is one particular of them with R equal chances, so that chance is R times the I3 of one
run against the R - 1 others of its own variant and R of each other one.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
   statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 6.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...data import Trial, always_said
from ...errors import FairtrialError, InsufficientDataError
from ...methods.mixture import Mixture, fit_mixture, probability_fastest
from ...report import Caution, figures, merged
from ...stats import counted, door
from ..cautions import question_cautions
from ..sides import sides_of
from .result import BestOf, Chances

__all__ = ["best_of"]

_MOST = 100  # runs each
_COMPONENTS = 5


@door
def best_of(
    trial: Trial,
    runs: int,
    *,
    metric: str | None = None,
    variants: Sequence[str] | None = None,
    benchmarks: Sequence[str] | None = None,
) -> BestOf:
    """Give each variant's chance to have the best of `runs` runs each.

    Parameters
    ----------
    trial : Trial
        From `read_trial`.
    runs : int
        How many each variant is executed, 1 to 100.
    metric : str, optional
        What is compared; by default as for `judge`.
    variants, benchmarks : sequence of str, optional
        Those only.

    Returns
    -------
    BestOf
        Chances of one benchmark sum to 1.

    Raises
    ------
    UsageError
        If a name is unknown, or `runs` out of its range.
    InsufficientDataError
        If fewer than two variants, or no benchmark, can be compared.
    """
    times = counted("runs", runs, most=_MOST)
    manifest = trial.manifest
    chosen = [
        v for v in manifest.variants if variants is None or v in {*variants, manifest.baseline}
    ]
    unasked = trial.unasked if metric is None else ()
    metric = trial.default_metric if metric is None else metric
    info = trial.metric(metric)
    every = sides_of(trial, metric, chosen, benchmarks)
    known = [one for side in every.values() for one in side.cautions]
    sides = {name: side.matrix for name, side in every.items() if side.matrix is not None}
    rows: list[Chances] = []
    left_out: list[str] = []
    for bench in manifest.benchmarks if benchmarks is None else benchmarks:
        mixtures = {
            name: mixture
            for name, matrix in sides.items()
            if bench in matrix.benchmarks
            and (mixture := _fitted(matrix.values(bench), info.better)) is not None
        }
        if len(mixtures) < len(sides) or len(mixtures) < 2:
            left_out.append(bench)
            continue
        rows.append(Chances(benchmark=bench, chances=_chances(mixtures, times)))
    if not rows:
        raise InsufficientDataError(
            "no benchmark has mixtures of two variants",
            str(trial.path),
            "measure more runs, or a second variant",
            n=0,
            needed=1,
        )
    names = tuple(sides)
    return BestOf(
        trial=manifest.trial,
        path=str(trial.path),
        metric=metric,
        better=info.better,
        runs=times,
        variants=names,
        benchmarks=tuple(rows),
        mean={name: sum(row.chances[name] for row in rows) / len(rows) for name in names},
        cautions=merged(
            question_cautions(unasked), always_said(trial, known), _cautions(trial, left_out)
        ),
    )


def _fitted(values: object, better: str) -> Mixture | None:
    try:
        found = fit_mixture(values, max_components=_COMPONENTS)  # type: ignore[arg-type]  # an array
    except FairtrialError:
        return None
    if better == "lower":
        return found
    return Mixture.from_parameters(
        weights=found.weights, means=-found.means, sds=found.sds, scale=found.scale
    )


def _chances(mixtures: Mapping[str, Mixture], runs: int) -> dict[str, float]:
    told = {}
    for name, mine in mixtures.items():
        others = [one for key, one in mixtures.items() if key != name]
        against = [mine] * (runs - 1) + others * runs
        told[name] = min(1.0, runs * probability_fastest(mine, *against))
    return told


def _cautions(trial: Trial, left_out: Sequence[str]) -> list[Caution]:
    found = [
        Caution(
            "drawn-independently",
            f"runs are drawn from what all {trial.sessions} sessions gave together: what a new "
            "session changes is not in these chances",
        )
    ]
    if left_out:
        text = f"no mixture fits every variant: {figures.listed(tuple(left_out))} left out"
        found.append(Caution("not-compared", text, tuple(left_out)))
    return found
