"""The whole answer of mixtures: each variant alone, then who wins a single run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import Caution, merged
from ...stats.arguments import counted, stream
from ...stats.workers import Progress, in_order
from .cautions import coarser_grid, contest_cautions, report_cautions
from .fit import MOST_COMPONENTS, MOST_STARTS, fit_mixture, prepared
from .goodness import compile_kernels, ks_fit
from .model import Mixture
from .refits import estimated, faster_estimate, fitted_sample, mode_evidence
from .result import (
    BenchmarkMixtures,
    FasterEstimate,
    MetricInterval,
    MixtureCell,
    MixtureContest,
    MixturePair,
    MixtureReport,
)
from .single_run import mean_difference, probability_faster, probability_fastest, rank_share

if TYPE_CHECKING:
    from ...record.run_numbers import Better


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureOptions:
    """How samples are fitted, tested and compared.

    `max_components`, `starts`, `resolution` and `scale` are as in `fit_mixture`; `resolution` also is
    the tick of the jitter. `resamples` are those of the fit test, and the refits of halves behind
    evidence and intervals; 0 leaves them all out. With `jitter` the fit test spreads ties over the
    clock's tick. `below` holds the values a for which P[X < a] is wanted, and `shift` says that a run
    X beats a run Y when X < Y + shift (where higher is better, when X > Y - shift), both in the unit
    of the values; `quantiles` holds levels between 0 and 1. `confidence` is that of the intervals.
    `clusters` lists the values of each component.
    `workers` are threads of the fit test; None takes the cores that the process may use.
    """

    max_components: int = 9
    starts: int = 1
    resolution: float | None = None
    scale: Literal["linear", "log"] = "linear"
    resamples: int = 500
    jitter: bool = False
    below: tuple[float, ...] = ()
    quantiles: tuple[float, ...] = ()
    shift: float = 0.0
    confidence: float = 0.95
    workers: int | None = None
    clusters: bool = False

    def __post_init__(self) -> None:
        counted("max-components", self.max_components, most=MOST_COMPONENTS)
        counted("starts", self.starts, most=MOST_STARTS)
        counted("resamples", self.resamples, 0, 1_000_000)
        if self.workers is not None:
            counted("workers", self.workers, most=1024)
        if self.scale not in ("linear", "log"):
            raise UsageError(f"the scale is linear or log, not {self.scale!r}")
        if self.resolution is not None and not (
            math.isfinite(self.resolution) and self.resolution > 0
        ):
            raise UsageError(f"the resolution must be a positive number, not {self.resolution!r}")
        if not 0 < self.confidence < 1:
            raise UsageError(
                f"the confidence must lie between 0 and 1, and is {self.confidence}",
                fix="0.95 is usual",
            )
        if not math.isfinite(self.shift):
            raise UsageError(f"the shift must be a finite number, and is {self.shift}")
        for level in self.quantiles:
            if not 0 < level < 1:
                raise UsageError(
                    f"a quantile's level must lie between 0 and 1, and is {level}",
                    fix="0.9 asks for the value that 90 % of the runs stay below",
                )
        for limit in self.below:
            if not math.isfinite(limit):
                raise UsageError(f"the value for P[X < a] must be finite, and is {limit}")


def mixture_cell(
    matrix: PerformanceMatrix,
    benchmark: str,
    options: MixtureOptions,
    *,
    root: int,
    evidence: bool = True,
    progress: Progress | None = None,
) -> MixtureCell:
    """Fit one cell, test the fit, and weigh the evidence for its modes."""
    values = matrix.values(benchmark)
    draws = partial(stream, root, benchmark, matrix.name)
    try:
        # the least variance on the scale of the fit, the same for all refits
        floor = prepared(values, resolution=options.resolution, scale=options.scale).floor
        fit = partial(
            fit_mixture,
            max_components=options.max_components,
            starts=options.starts,
            variance_floor=floor,
            scale=options.scale,
        )
        mixture = fit(values, rng=draws("starts"))
    except AnalysisError as error:
        text = error.what if error.fix is None else f"{error.what} ({error.fix})"
        return MixtureCell(benchmark=benchmark, variant=matrix.name, values=values, problem=text)
    tested, refits, modes, missing = None, None, None, []
    if options.resamples:
        tested = ks_fit(
            values,
            mixture,
            resamples=options.resamples,
            max_components=options.max_components,
            rng=draws("fit test"),
            workers=options.workers,
            ties="jitter" if options.jitter else "as-measured",
            resolution=options.resolution if options.jitter else None,
            starts=options.starts,
            variance_floor=floor,
            progress=progress,
        )
    if options.resamples and evidence:
        try:
            refits = fitted_sample(
                values,
                mixture,
                fit=partial(fit, rng=draws("starts of refits")),
                resamples=options.resamples,
                rng=draws("refits"),
            )
            modes = mode_evidence(values, mixture, sample=refits, rng=draws("evidence"))
        except AnalysisError as error:
            said = f"{error.what}: neither evidence for modes nor intervals"
            missing.append(Caution("no-evidence", said))

    def single(name: str, metric: Callable[[Mixture], float]) -> MetricInterval:
        return estimated(metric, (mixture, refits), name=name, confidence=options.confidence)

    if options.resolution is not None:
        missing += coarser_grid(values, options.resolution)
    of = mixture.classify(values)
    quantiles = tuple(
        single(f"quantile {level:g}", partial(Mixture.quantile, q=level))
        for level in options.quantiles
    )
    below = tuple(
        single(f"P[X < {a:g}]", partial(Mixture.probability_below, a=a)) for a in options.below
    )
    return MixtureCell(
        benchmark=benchmark,
        variant=matrix.name,
        values=values,
        mixture=mixture,
        fit_test=tested,
        evidence=modes,
        refits=refits,
        quantiles=quantiles,
        below=below,
        clusters=tuple(values[of == k] for k in range(mixture.components))
        if options.clusters
        else None,
        cautions=merged(
            mixture.cautions,
            *(found.cautions for found in (tested, modes) if found is not None),
            missing,
            *(found.cautions for found in (*quantiles, *below)),
        ),
    )


def mixture_contest(
    cells: Sequence[MixtureCell],
    *,
    better: Better,
    unit: str,
    options: MixtureOptions,
    pairs: bool = True,
) -> MixtureContest | None:
    """Compare the cells of one benchmark; None when fewer than two have a mixture."""
    fitted = [cell for cell in cells if cell.mixture is not None]
    if len(fitted) < 2:
        return None
    chances = tuple(_chance(fitted, k, better, options) for k in range(len(fitted)))
    best = max(range(len(fitted)), key=lambda k: chances[k].estimate)
    wanted = list(combinations(range(len(fitted)), 2)) if pairs else []
    all_pairs = len(fitted) <= 8  # variants up to which all pairs are compared
    if not all_pairs:
        wanted = [(j, k) for j, k in wanted if best in (j, k)]
    compared = tuple(
        MixturePair(
            first=x.variant,
            second=y.variant,
            forward=_beats(x, y, better, options),
            backward=_beats(y, x, better, options),
            mean_difference=_estimated(mean_difference, [x, y], "I1", options),
        )
        for x, y in ((fitted[j], fitted[k]) for j, k in wanted)
    )
    left_out = tuple(cell.variant for cell in cells if cell.mixture is None)
    return MixtureContest(
        variants=tuple(cell.variant for cell in fitted),
        better=better,
        unit=unit,
        chances=chances,
        pairs=compared,
        left_out=left_out,
        cautions=tuple(
            contest_cautions(fitted, fitted[best], compared, all_pairs=all_pairs, left_out=left_out)
        ),
    )


def _chance(
    cells: Sequence[MixtureCell], first: int, better: Better, options: MixtureOptions
) -> MetricInterval:
    """Give I3 of one variant against all others."""
    order = [cells[first], *(cell for k, cell in enumerate(cells) if k != first)]

    def wins(*mixtures: Mixture) -> float:
        if better == "higher":  # of -x, or 1 / x on the log scale, the smallest is the largest
            mixtures = tuple(
                Mixture.from_parameters(
                    weights=one.weights, means=-one.means, sds=one.sds, scale=one.scale
                )
                for one in mixtures
            )
        # I3 of two is I2, which has a closed form
        return (probability_faster if len(mixtures) == 2 else probability_fastest)(*mixtures)

    return _estimated(wins, order, "I3", options)


def _beats(
    x: MixtureCell, y: MixtureCell, better: Better, options: MixtureOptions
) -> FasterEstimate:
    """Give P[X < Y + shift], or P[X > Y - shift] = P[Y < X + shift] where higher is better."""
    low, high = (x, y) if better == "lower" else (y, x)
    shift, confidence = options.shift, options.confidence
    if low.refits is not None and high.refits is not None:
        return faster_estimate(low.refits, high.refits, shift=shift, confidence=confidence)
    return FasterEstimate(
        shift=shift,
        mixture=_estimated(partial(probability_faster, shift=shift), [low, high], "I2", options),
        ranks=rank_share(low.values, high.values, shift=shift, confidence=confidence),
    )


def _estimated(
    metric: Callable[..., float], cells: Sequence[MixtureCell], name: str, options: MixtureOptions
) -> MetricInterval:
    fits = [(cell.fitted, cell.refits) for cell in cells]
    return estimated(metric, *fits, name=name, confidence=options.confidence)


Wanted = tuple[PerformanceMatrix, str]
Look = Callable[[int, int, str], None]


def mixture_report(
    matrices: Sequence[PerformanceMatrix],
    *,
    benchmark: str | None = None,
    options: MixtureOptions | None = None,
    rng: np.random.Generator,
    seed: int | None = None,
    cautions: Sequence[Caution] = (),
    progress: Look | None = None,
) -> MixtureReport:
    """Fit mixtures to the runs of variants, benchmark by benchmark, and compare the variants."""
    _check(matrices)
    names = tuple(dict.fromkeys(name for matrix in matrices for name in matrix.benchmarks))
    if benchmark is not None:
        if benchmark not in names:
            known = figures.listed(names, 12)
            raise UsageError(f"there is no benchmark {benchmark!r}", fix=f"known: {known}")
        names = (benchmark,)
    if options is None:
        options = MixtureOptions(resamples=500 if len(names) == 1 else 200)
    root = int(rng.integers(2**63))
    wanted = [(m, name) for name in names for m in matrices if name in m.benchmarks]
    look = progress or (lambda _done, _total, _name: None)
    detailed = len(names) == 1
    by_name: dict[str, list[MixtureCell]] = {name: [] for name in names}
    for cell in _cells(wanted, options, root, look, detailed=detailed):
        by_name[cell.benchmark].append(cell)
    look(len(wanted), len(wanted), "")
    found = [
        BenchmarkMixtures(
            benchmark=name,
            cells=tuple(of_one),
            contest=mixture_contest(
                of_one,
                better=matrices[0].better,
                unit=matrices[0].unit,
                options=options,
                pairs=detailed,
            ),
        )
        for name, of_one in by_name.items()
    ]
    _check_any([cell for one in found for cell in one.cells])
    report = MixtureReport(
        benchmarks=tuple(found),
        variants=tuple(matrix.name for matrix in matrices),
        better=matrices[0].better,
        unit=matrices[0].unit,
        options=options,
        seed=seed,
        references=_references(found),
    )
    return replace(report, cautions=(*cautions, *report_cautions(report, matrices)))


def _cells(
    wanted: Sequence[Wanted], options: MixtureOptions, root: int, look: Look, *, detailed: bool
) -> Iterator[MixtureCell]:
    """Make cells: with all evidence one by one, the fit test of each on all threads, or without."""

    def tell(done: int) -> None:
        if done < len(wanted):
            matrix, benchmark = wanted[done]
            look(done, len(wanted), f"{benchmark} / {matrix.name}")

    if detailed:
        for done, one in enumerate(wanted):
            tell(done)
            yield mixture_cell(*one, options, root=root)
        return
    yield from in_order(
        partial(_cell, options=replace(options, workers=1), root=root),
        ((matrix.select((name,)), name) for matrix, name in wanted),
        workers=options.workers,
        prefer="threads",
        look=tell,
        ready=compile_kernels,
    )


def _cell(one: Wanted, going_on: Progress, *, options: MixtureOptions, root: int) -> MixtureCell:
    return mixture_cell(*one, options, root=root, evidence=False, progress=going_on)


def _check(matrices: Sequence[PerformanceMatrix]) -> None:
    if not matrices:
        raise UsageError("there is nothing to fit: give at least one variant")
    names = [matrix.name for matrix in matrices]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two variants have the name {twice!r}", fix="give them different names")
    for field in ("better", "unit"):
        kinds = {getattr(matrix, field): matrix.name for matrix in matrices}
        if len(kinds) > 1:
            (one, first), (other, second), *_ = kinds.items()
            raise AnalysisError(
                f"the two differ in '{field}': {one!r} and {other!r}",
                f"{first} against {second}",
                "compare values of one kind",
            )


def _check_any(cells: Sequence[MixtureCell]) -> None:
    if all(cell.mixture is None for cell in cells):
        what = cells[0].problem or "no mixture can be fitted"
        raise AnalysisError(what, f"{cells[0].variant}, {cells[0].benchmark}")


def _references(found: Sequence[BenchmarkMixtures]) -> tuple[str, ...]:
    said: dict[str, None] = {}
    for one in found:
        parts = [
            part for cell in one.cells for part in (cell.mixture, cell.fit_test, cell.evidence)
        ]
        pairs = () if one.contest is None else one.contest.pairs
        for part in (*parts, *(pair.forward for pair in pairs)):
            said |= dict.fromkeys(() if part is None else part.references)
    return tuple(said)
