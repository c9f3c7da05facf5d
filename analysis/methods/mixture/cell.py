"""What a mixture says about the runs of one variant on one benchmark, and how that is said."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar, Literal

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import (
    Block,
    Caution,
    Page,
    Section,
    Table,
    Value,
    columns_of,
    merged,
    page,
    section,
    table_of,
)
from ...pages.result import Result, plain
from ...stats.arguments import between, counted, stream
from ...stats.samples import Array
from ...stats.workers import Progress
from .fit import (
    MOST_COMPONENTS,
    MOST_STARTS,
    check_floor_and_scale,
    coarser_grid,
    fit_mixture,
    prepared,
)
from .goodness import FitTest, ks_fit
from .model import BIC_MARGIN, Mixture
from .refits import FittedSample, ModeEvidence, fitted_sample, mode_evidence
from .single_run import MetricInterval, chance, metric_interval

DIGITS = 4  # of weights and parameters


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

    def screen(self) -> Page:
        """Set the variant alone."""
        return page(self, f"Gaussian mixture: {self.variant} on {self.benchmark}", self.detail())

    def detail(self, digits: int = DIGITS, place: int = 0, name: str = "") -> Section:
        """Set the variant; `place` counts those of one page, from 1, and is 0 where there is one."""
        mixture, number = self.mixture, f"-{place}" if place else ""
        if mixture is None:
            return section(f"{name}{': ' if name else ''}no mixture: {self.problem}")
        modes = mixture.modes()
        places = figures.listed([f"{mode:.6g}" for mode in modes])
        blocks: list[Block] = [section(self._parameters(mixture, digits, f"parameters{number}"))]
        if self.clusters is not None:  # in the order of the runs (appendix 1)
            each = (", ".join(f"{v:.12g}" for v in c.tolist()) or "no value" for c in self.clusters)
            blocks.append(section(*(f"component {k}: {text}" for k, text in enumerate(each))))
        if self.quantiles or self.below:
            blocks.append(section(self._asked_for(digits, f"asked-for{number}")))
        texts = (
            self._modes(modes.size),
            f"mode{'s' * (modes.size != 1)} at {places}",
            self._model(mixture),
            *self._judgements(),
        )
        return section(*texts, *blocks, title=name)

    def _modes(self, modes: int) -> str:
        """Say how many modes there are, and what speaks for more than one."""
        found, count = self.evidence, figures.counted(modes, "mode")
        if found is None:
            hint = "" if modes == 1 else "; no evidence was weighed, and skew alone makes several"
            return f"{count} by the model{hint}"
        share = f"{100 * found.stability.several:.0f} %"
        if modes == 1:
            return f"one mode ({share} of the refitted halves have several)"
        return (
            f"{'' if found.multimodal else 'not shown to be '}multimodal: {count} by the model; "
            f"evidence for more than one: dip p {figures.pvalue(found.dip.pvalue)}, bandwidth p "
            f"{figures.pvalue(found.bandwidth.pvalue)}; several in {share} of the refitted halves"
        )

    def _model(self, mixture: Mixture) -> str:
        k, logs = mixture.components, "the logarithms of " if mixture.scale == "log" else ""
        spread = "one common standard deviation" if mixture.equal_variance else "a deviation each"
        kind = "one Gaussian" if k == 1 else f"{k} Gaussians with {spread}"
        text = f"{kind} for {logs}{self.values.size} values"
        if mixture.bic is None:
            return text
        other = "" if self.runner_up is None else "; next {} {:.2f}".format(*self.runner_up)
        return f"{text} (BIC {mixture.bic:.2f}{other}, larger is better)"

    def _judgements(self) -> Iterator[str]:
        """Say whether the mixture fits, and what a single skewed peak would do instead."""
        test, found = self.fit_test, self.evidence
        if test is not None:
            word = (
                "the mixture does not fit" if test.rejected() else "no departure from the mixture"
            )
            moved = " after jitter" if test.ties == "jitter" else ""
            yield (
                f"fit test{moved}: distance {test.statistic:.7f}, p {figures.pvalue(test.pvalue)} from "
                f"{figures.counted(test.resamples, 'resample')} ({word})"
            )
        if found is not None and found.families and found.mixture_bic is not None:
            best = found.families[0]
            behind = found.mixture_bic - best.bic
            if best.family == "normal" and found.mixture.components == 1:
                yield "the normal is the best of the single-peaked laws: no sign of skew"
                return
            word = "worse than" if behind > 0 else "better than"
            yield (
                f"best single peak: {best.name}, BIC {best.bic:.2f}, "
                f"{word if abs(behind) > BIC_MARGIN else 'as good as'} the mixture's "
                f"{found.mixture_bic:.2f}"
            )

    def _parameters(self, mixture: Mixture, digits: int, name: str) -> Table:
        sizes = np.bincount(mixture.classify(self.values), minlength=mixture.components).tolist()
        rows = zip(mixture.rows(), sizes, strict=True)
        of_what = " of ln" if mixture.scale == "log" else ""

        def magnitude(value: float) -> int:
            return math.floor(math.log10(abs(value))) if value else 0

        def mean(row: tuple[float, ...]) -> Value:
            # digits below the spread of the component say nothing
            places = digits + magnitude(row[2]) - magnitude(row[3])
            text = figures.significant(row[2], min(max(digits, places), max(digits, 10)))
            return Value(text, row[2])

        return table_of(
            name,
            [(k, *row, size) for k, (row, size) in enumerate(rows)],
            ("component", itemgetter(0)),
            ("weight", itemgetter(1), f"{{:.{digits}f}}".format),
            (f"mean{of_what}", mean),
            (f"sd{of_what}", itemgetter(3), partial(figures.significant, digits=digits)),
            ("runs", itemgetter(4)),
        )

    def _asked_for(self, digits: int, name: str) -> Table:
        def row(found: MetricInterval, text: str, form: str) -> tuple[str, Value, str]:
            ends = found.ends(form)
            interval = f"{100 * found.confidence:g} % interval{ends}" if ends else ""
            return found.metric, Value(text, found.estimate), interval

        long = f".{max(digits, 6)}g"
        rows = (
            *(row(one, f"{one.estimate:{long}}", ".6g") for one in self.quantiles),
            *(row(one, chance(one.estimate), ".3f") for one in self.below),
        )
        columns = columns_of("<of one run", "estimate", "<interval")
        return Table(name=name, columns=columns, rows=rows, headed=False)


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
    step, count = options.resolution, options.resamples
    fitted: dict[str, Any] = {"max_components": options.max_components, "starts": options.starts}
    try:
        # the least variance on the scale of the fit, the same for all refits
        floor = prepared(values, resolution=step, scale=options.scale).floor
        fitted["variance_floor"] = floor
        fit: Callable[..., Mixture] = partial(fit_mixture, scale=options.scale, **fitted)
        mixture = fit(values, rng=draws("starts"))
    except AnalysisError as error:
        return cell(problem=error.what if error.fix is None else f"{error.what} ({error.fix})")
    tested, modes = None, None
    missing = () if step is None else coarser_grid(values, step)
    refits = FittedSample(values=values, mixture=mixture, replicates=(), failed=0)
    if count:
        tested = ks_fit(
            values,
            mixture,
            resamples=count,
            rng=draws("fit test"),
            workers=options.workers,
            ties="jitter" if options.jitter else "as-measured",
            resolution=step if options.jitter else None,
            progress=progress,
            **fitted,
        )
    if count and evidence:
        again = partial(fit, rng=draws("starts of refits"))
        try:
            refits = fitted_sample(values, mixture, fit=again, resamples=count, rng=draws("refits"))
            modes = mode_evidence(values, mixture, sample=refits, rng=draws("evidence"))
        except AnalysisError as error:
            text = f"{error.what}: neither evidence for modes nor intervals"
            missing = (Caution("no-evidence", text), *missing)
    single = partial(metric_interval, confidence=options.confidence)
    quantiles = tuple(
        single(partial(Mixture.quantile, q=level), refits, name=f"quantile {level:g}")
        for level in options.quantiles
    )
    below = tuple(
        single(partial(Mixture.probability_below, a=a), refits, name=f"P[X < {a:g}]")
        for a in options.below
    )
    of = mixture.classify(values)
    first = (found.cautions for found in (mixture, tested, modes) if found is not None)
    return cell(
        mixture=mixture,
        fit_test=tested,
        evidence=modes,
        refits=refits,
        quantiles=quantiles,
        below=below,
        clusters=tuple(values[of == k] for k in range(mixture.components))
        if options.clusters
        else None,
        cautions=merged(*first, missing, *(found.cautions for found in (*quantiles, *below))),
    )
