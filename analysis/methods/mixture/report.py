"""The whole answer of mixtures: each variant alone, then who wins a single run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import Caution, cautions_of, merged
from ...pages.result import Result, plain
from ...stats.arguments import between, counted, stream
from ...stats.samples import Array
from ...stats.workers import Progress, in_order
from .fit import (
    FEW_VALUES,
    MOST_COMPONENTS,
    MOST_STARTS,
    check_floor_and_scale,
    coarser_grid,
    fit_mixture,
    prepared,
)
from .goodness import CorpusSummary, FitTest, compile_kernels, corpus_summary, ks_fit
from .model import Mixture
from .refits import FittedSample, ModeEvidence, fitted_sample, mode_evidence
from .single_run import (
    FasterEstimate,
    MetricInterval,
    faster_estimate,
    mean_difference,
    metric_interval,
    probability_faster,
    probability_fastest,
)

if TYPE_CHECKING:
    from ...pages.number_format import Word
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
        check_floor_and_scale(0.0, self.resolution, self.scale)
        between("the confidence", self.confidence, "0.95 is usual")
        if not math.isfinite(self.shift):
            raise UsageError(f"the shift must be a finite number, and is {self.shift}")
        for level in self.quantiles:
            fix = "0.9 asks for the value that 90 % of the runs stay below"
            between("a quantile's level", level, fix)
        for limit in self.below:
            if not math.isfinite(limit):
                raise UsageError(f"the value for P[X < a] must be finite, and is {limit}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixtureCell(Result):
    """What a mixture says about the values of one variant on one benchmark.

    `mixture` and `refits` are None where no fit exists, and `problem` says why. `fit_test` and
    `evidence` are None, and there are no refits, when none were asked for, or there are too few
    values. `clusters` holds
    the values of each component as they were measured, where that was asked for (appendix 1).
    """

    method: ClassVar[str] = "mixture-cell"
    unlisted: ClassVar[frozenset[str]] = frozenset({"benchmark", "values", "refits", "clusters"})

    benchmark: str
    variant: str
    values: Array
    problem: str | None = None
    mixture: Mixture | None = None
    fit_test: FitTest | None = None
    evidence: ModeEvidence | None = None
    refits: FittedSample | None = None
    quantiles: tuple[MetricInterval, ...] = ()
    below: tuple[MetricInterval, ...] = ()
    clusters: tuple[Array, ...] | None = None

    @property
    def fitted(self) -> Mixture:
        """The mixture, where there must be one."""
        if self.mixture is None:
            raise AnalysisError(f"{self.variant!r} has no mixture", self.benchmark)
        return self.mixture

    @property
    def runner_up(self) -> tuple[str, float] | None:
        """The second best candidate of the fit and its BIC, such as ("V4", -76.1)."""
        if self.mixture is None:
            return None
        chosen = ("E" if self.mixture.equal_variance else "V", self.mixture.components)
        rest = [
            (bic, f"{model}{k}")
            for model, row in (self.mixture.bic_table or {}).items()
            for k, bic in enumerate(row, 1)
            # one component is the same candidate twice
            if math.isfinite(bic) and (model, k) not in (chosen, ("V", 1))
        ]
        return max(rest)[::-1] if rest else None

    def body(self) -> dict[str, Any]:
        """Add the number of values, and the component of each."""
        of = None if self.mixture is None else self.mixture.classify(self.values)
        head = {"n": int(self.values.size), "classification": plain(of)}
        listed = {} if self.clusters is None else {"clusters": plain(self.clusters)}
        return head | listed | Result.body(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MixturePair:
    """Two variants: both chances to win (I2), and how far single runs lie apart (I1).

    `forward` is the chance that a run of `first` beats one of `second`, `backward` the other way.
    `word` says what `first` is in a single run, by the counted chance: undecided where its interval
    holds one half.
    """

    derived: ClassVar[tuple[str, ...]] = ("word",)

    first: str
    second: str
    forward: FasterEstimate
    backward: FasterEstimate
    mean_difference: MetricInterval

    @property
    def word(self) -> Word:
        """What the first is."""
        ranks = self.forward.ranks
        if ranks.low <= 0.5 <= ranks.high:
            return "undecided"
        return "faster" if ranks.low > 0.5 else "slower"


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureContest(Result):
    """One run of each variant: `chances` (I3) that it is the best of all, which sum to 1.

    `variants` and `chances` stand in the same order, that of the sources. `left_out` could not be
    fitted. With more than eight variants `pairs` holds those with the likeliest winner only.
    """

    method: ClassVar[str] = "mixture-contest"
    unlisted: ClassVar[frozenset[str]] = frozenset({"variants", "chances", "unit"})

    variants: tuple[str, ...]
    better: Better
    unit: str
    chances: tuple[MetricInterval, ...]
    pairs: tuple[MixturePair, ...]
    left_out: tuple[str, ...]

    @property
    def best(self) -> int:
        """The place of the likeliest winner in `variants`."""
        return max(range(len(self.variants)), key=lambda k: self.chances[k].estimate)

    def body(self) -> dict[str, Any]:
        """Name the winner, and give each variant's chance by its name."""
        chances = plain(dict(zip(self.variants, self.chances, strict=True)))
        head = {"best": self.variants[self.best], "best_in_a_single_run": chances}
        return head | Result.body(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BenchmarkMixtures:
    """One benchmark: a cell for each variant that has it, and their contest if there are several."""

    benchmark: str
    cells: tuple[MixtureCell, ...]
    contest: MixtureContest | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixtureReport(Result):
    """All that mixtures say about the runs of one or more variants.

    With one benchmark (`detailed`) each cell holds the evidence for its modes and all metrics have
    intervals; with several there are fits, fit tests and chances only.
    """

    method: ClassVar[str] = "mixture"
    unlisted: ClassVar[frozenset[str]] = frozenset({"benchmarks", "options"})

    benchmarks: tuple[BenchmarkMixtures, ...]
    variants: tuple[str, ...]
    better: Better
    unit: str
    options: MixtureOptions
    seed: int | None

    @property
    def detailed(self) -> bool:
        """Whether there is one benchmark only."""
        return len(self.benchmarks) == 1

    @property
    def cells(self) -> tuple[MixtureCell, ...]:
        """The cells of all benchmarks."""
        return tuple(cell for one in self.benchmarks for cell in one.cells)

    @property
    def corpus(self) -> CorpusSummary:
        """All samples together."""
        return corpus_summary((cell.mixture, cell.fit_test) for cell in self.cells)

    def body(self) -> dict[str, Any]:
        """Add the benchmarks, and the options that shape the numbers: threads and lists do not."""
        options = plain(self.options)
        del options["workers"], options["clusters"]
        keys = ("benchmark", "variants", "contest")
        rows = ((one.benchmark, one.cells, one.contest) for one in self.benchmarks)
        return {
            "detailed": self.detailed,
            "corpus": None if self.detailed else plain(self.corpus),
            "options": options,
            "benchmarks": [dict(zip(keys, map(plain, row), strict=True)) for row in rows],
            **Result.body(self),
        }


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
    cell = partial(MixtureCell, benchmark=benchmark, variant=matrix.name, values=values)
    most, starts, scale = options.max_components, options.starts, options.scale
    try:
        # the least variance on the scale of the fit, the same for all refits
        floor = prepared(values, resolution=options.resolution, scale=scale).floor
        fit = partial(
            fit_mixture, max_components=most, starts=starts, variance_floor=floor, scale=scale
        )
        mixture = fit(values, rng=draws("starts"))
    except AnalysisError as error:
        return cell(problem=error.what if error.fix is None else f"{error.what} ({error.fix})")
    tested, modes, missing = None, None, []
    refits = FittedSample(values=values, mixture=mixture, replicates=(), failed=0)
    if options.resamples:
        tested = ks_fit(
            values,
            mixture,
            max_components=most,
            starts=starts,
            resamples=options.resamples,
            rng=draws("fit test"),
            workers=options.workers,
            ties="jitter" if options.jitter else "as-measured",
            resolution=options.resolution if options.jitter else None,
            variance_floor=floor,
            progress=progress,
        )
    if options.resamples and evidence:
        again = partial(fit, rng=draws("starts of refits"))
        count, rng = options.resamples, draws("refits")
        try:
            refits = fitted_sample(values, mixture, fit=again, resamples=count, rng=rng)
            modes = mode_evidence(values, mixture, sample=refits, rng=draws("evidence"))
        except AnalysisError as error:
            text = f"{error.what}: neither evidence for modes nor intervals"
            missing.append(Caution("no-evidence", text))
    if options.resolution is not None:
        missing += coarser_grid(values, options.resolution)
    of = mixture.classify(values)
    single = partial(metric_interval, confidence=options.confidence)
    quantiles = tuple(
        single(partial(Mixture.quantile, q=level), refits, name=f"quantile {level:g}")
        for level in options.quantiles
    )
    below = tuple(
        single(partial(Mixture.probability_below, a=a), refits, name=f"P[X < {a:g}]")
        for a in options.below
    )
    clusters = tuple(values[of == k] for k in range(mixture.components))
    first = (found.cautions for found in (mixture, tested, modes) if found is not None)
    return cell(
        mixture=mixture,
        fit_test=tested,
        evidence=modes,
        refits=refits,
        quantiles=quantiles,
        below=below,
        clusters=clusters if options.clusters else None,
        cautions=merged(*first, missing, *(found.cautions for found in (*quantiles, *below))),
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
    fitted = [cell for cell in cells if cell.refits is not None]
    samples = [cell.refits for cell in cells if cell.refits is not None]
    if len(fitted) < 2:
        return None
    chances = tuple(_chance(samples, k, better, options) for k in range(len(fitted)))
    best = max(range(len(fitted)), key=lambda k: chances[k].estimate)
    wanted = list(combinations(range(len(fitted)), 2)) if pairs else []
    all_pairs = len(fitted) <= 8  # variants up to which all pairs are compared
    distance = partial(metric_interval, mean_difference, name="I1", confidence=options.confidence)
    compared = tuple(
        MixturePair(
            first=fitted[j].variant,
            second=fitted[k].variant,
            forward=_beats(samples[j], samples[k], better, options),
            backward=_beats(samples[k], samples[j], better, options),
            mean_difference=distance(samples[j], samples[k]),
        )
        for j, k in wanted
        if all_pairs or best in (j, k)
    )
    left_out = tuple(cell.variant for cell in cells if cell.mixture is None)
    only = f"of {len(fitted)} variants only the pairs with {fitted[best].variant!r} are compared"
    missing = f"not compared, because no mixture fits: {', '.join(left_out)}"
    found = _gathered(
        (f"{pair.first} and {pair.second}", caution)
        for pair in compared
        for caution in (*pair.forward.cautions, *pair.mean_difference.cautions)
    )
    return MixtureContest(
        variants=tuple(cell.variant for cell in fitted),
        better=better,
        unit=unit,
        chances=chances,
        pairs=compared,
        left_out=left_out,
        cautions=(
            *cautions_of({"pairs-of-best-only": not all_pairs and only}),
            *(
                caution if len(names) == len(compared) > 1 else _of(names, caution, "; ")
                for caution, names in found
            ),
            *((Caution("not-compared", missing, left_out),) if left_out else ()),
        ),
    )


def _chance(
    samples: Sequence[FittedSample], first: int, better: Better, options: MixtureOptions
) -> MetricInterval:
    """Give I3 of one variant against all others."""
    order = [samples[first], *(sample for k, sample in enumerate(samples) if k != first)]

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

    return metric_interval(wins, *order, name="I3", confidence=options.confidence)


def _beats(
    x: FittedSample, y: FittedSample, better: Better, options: MixtureOptions
) -> FasterEstimate:
    """Give P[X < Y + shift], or P[X > Y - shift] = P[Y < X + shift] where higher is better."""
    low, high = (x, y) if better == "lower" else (y, x)
    return faster_estimate(low, high, shift=options.shift, confidence=options.confidence)


def mixture_report(
    matrices: Sequence[PerformanceMatrix],
    *,
    benchmark: str | None = None,
    options: MixtureOptions | None = None,
    rng: np.random.Generator,
    seed: int | None = None,
    cautions: Sequence[Caution] = (),
    progress: Callable[[int, int, str], None] | None = None,
) -> MixtureReport:
    """Fit mixtures to the runs of variants, benchmark by benchmark, and compare the variants."""
    _check(matrices)
    names = tuple(dict.fromkeys(name for matrix in matrices for name in matrix.benchmarks))
    if benchmark is not None:
        if benchmark not in names:
            known = figures.listed(names, 12)
            raise UsageError(f"there is no benchmark {benchmark!r}", fix=f"known: {known}")
        names = (benchmark,)
    detailed = len(names) == 1
    if options is None:
        options = MixtureOptions(resamples=500 if detailed else 200)
    root = int(rng.integers(2**63))
    wanted = [(m, name) for name in names for m in matrices if name in m.benchmarks]

    def look(done: int) -> None:
        if progress is not None and done < len(wanted):
            matrix, name = wanted[done]
            progress(done, len(wanted), f"{name} / {matrix.name}")

    cells = []
    if detailed:  # all evidence one by one, the fit test of each on all threads
        for done, one in enumerate(wanted):
            look(done)
            cells.append(mixture_cell(*one, options, root=root))
    else:
        cells += in_order(
            partial(_cell, options=replace(options, workers=1), root=root),
            ((matrix.select((name,)), name) for matrix, name in wanted),
            workers=options.workers,
            prefer="threads",
            look=look,
            ready=compile_kernels,
        )
    if progress is not None:
        progress(len(wanted), len(wanted), "")
    kind: dict[str, Any] = {"better": matrices[0].better, "unit": matrices[0].unit}
    found = []
    for name in names:
        ours = tuple(cell for cell in cells if cell.benchmark == name)
        contest = mixture_contest(ours, **kind, options=options, pairs=detailed)
        found.append(BenchmarkMixtures(benchmark=name, cells=ours, contest=contest))
    if all(cell.mixture is None for cell in cells):
        what = cells[0].problem or "no mixture can be fitted"
        raise AnalysisError(what, f"{cells[0].variant}, {cells[0].benchmark}")
    report = MixtureReport(
        benchmarks=tuple(found),
        variants=tuple(matrix.name for matrix in matrices),
        **kind,
        options=options,
        seed=seed,
        references=_references(found),
    )
    return replace(report, cautions=(*cautions, *_cautions(report, matrices)))


def _cell(
    one: tuple[PerformanceMatrix, str], going_on: Progress, *, options: MixtureOptions, root: int
) -> MixtureCell:
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


def _references(found: Sequence[BenchmarkMixtures]) -> tuple[str, ...]:
    texts: dict[str, None] = {}
    for one in found:
        parts = [
            part for cell in one.cells for part in (cell.mixture, cell.fit_test, cell.evidence)
        ]
        pairs = () if one.contest is None else one.contest.pairs
        for part in (*parts, *(pair.forward for pair in pairs)):
            texts |= dict.fromkeys(() if part is None else part.references)
    return tuple(texts)


def _cautions(report: MixtureReport, matrices: Sequence[PerformanceMatrix]) -> Iterator[Caution]:
    """Gather what is known of the sources, the cells and their contest."""
    detailed, several = report.detailed, len(matrices) > 1
    contest = report.benchmarks[0].contest if detailed else None
    texts = [
        *((matrix.name, caution) for matrix in matrices for caution in matrix.cautions),
        *((cell.variant, one) for cell in report.cells if detailed for one in cell.cautions),
    ]
    for caution, names in _gathered(texts):
        yield _of(names, caution, ", ") if several else caution
    if contest is not None:  # what the samples said themselves is not said of their pairs again
        known = {caution.code for _, caution in texts}
        yield from (caution for caution in contest.cautions if caution.code not in known)
    count = len(report.cells)
    few = sum(cell.values.size < FEW_VALUES for cell in report.cells)
    codes = [code for cell in report.cells for code in {one.code for one in cell.cautions}]
    coarse, floored = codes.count("grid-coarser"), codes.count("variance-at-floor")
    yield from cautions_of(
        {
            "nothing-compared": detailed
            and contest is None
            and several
            and "nothing is compared: fewer than two variants have a mixture",
            "few-values": not detailed
            and few > 0
            and f"{few} of {count} samples have fewer than {FEW_VALUES} values, which hardly "
            "determine a number of components",
            "grid-coarser": not detailed
            and coarse > 0
            and f"the values of {coarse} of {count} samples stand on a coarser grid than the "
            f"resolution of {report.options.resolution:g}: components may be its steps; "
            "--benchmark NAME says which step",
            "variance-at-floor": not detailed
            and floored > 0
            and f"in {floored} of {count} samples components have the least variance that the "
            "resolution allows: without a resolution such fits are discarded",
            "nothing-resampled": report.options.resamples == 0
            and "nothing was resampled: no fit test, no evidence for modes, no intervals",
        }
    )


def _gathered(texts: Iterable[tuple[str, Caution]]) -> list[tuple[Caution, tuple[str, ...]]]:
    """Set together of whom the same is said, number by number."""
    found: dict[tuple[str, str], tuple[Caution, dict[str, None]]] = {}
    for name, caution in texts:
        found.setdefault((caution.code, caution.text), (caution, {}))[1][name] = None
    return [(caution, tuple(names)) for caution, names in found.values()]


def _of(names: Sequence[str], caution: Caution, separator: str) -> Caution:
    text = f"{separator.join(names)}: {caution.text}"
    return Caution(caution.code, text, (*names, *caution.about))
