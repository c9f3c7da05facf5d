"""The whole answer of mixtures: each variant alone, then who wins a single run; and its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import (
    Block,
    Caution,
    Cell,
    Figure,
    Page,
    Section,
    Table,
    Value,
    cautions_of,
    page,
    section,
    table_of,
)
from ...pages.result import Result, plain
from ...stats.workers import Progress, in_order
from .cell import DIGITS, MixtureCell, MixtureOptions, mixture_cell
from .fit import FEW_VALUES
from .goodness import CorpusSummary, compile_kernels, corpus_summary
from .model import Mixture
from .single_run import (
    FasterEstimate,
    MetricInterval,
    chance,
    faster_estimate,
    mean_difference,
    metric_interval,
    probability_faster,
    probability_fastest,
    within,
)

if TYPE_CHECKING:
    from ...pages.number_format import Word
    from ...plots.axes import Picture
    from ...record.run_numbers import Better

_PAIRS = 8  # pairs printed
_WINNERS = 12  # variants of whom the chance to win is printed
_SOME = 6  # variants or problems named before the rest is counted
_LEVELS = ("one mode", "two modes", "three modes")  # levels with a line each (section 7.6)


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

    def screen(self) -> Page:
        """Set the contest alone."""
        return page(self, "Who wins a single run", self.detail())

    def detail(self) -> Section:
        """Set who wins, every variant's chance, and the pairs."""
        best, count = self.variants[self.best], len(self.variants)
        winner = self.chances[self.best]
        known = winner.replicates > 0
        order = sorted(range(count), key=lambda k: -self.chances[k].estimate)
        table = table_of(
            "best-in-a-single-run",
            [(self.variants[k], self.chances[k]) for k in order[:_WINNERS]],
            ("@best in a single run", lambda one: one[0]),
            ("probability", lambda one: one[1].estimate, chance),
            ("low", lambda one: one[1].low, "{:.3f}".format) if known else None,
            ("high", lambda one: one[1].high, "{:.3f}".format) if known else None,
        )
        more = [f"and {count - _WINNERS} more, each at most as likely"] if count > _WINNERS else []
        return section(
            f"in a single run {best:.24} is the {_superlative(self)} of {count} with "
            f"probability {chance(winner.estimate)}{within(winner)}",
            section(table, *more),
            *([section(*self._compared(best))] if self.pairs else []),
        )

    def _compared(self, best: str) -> Iterator[Block | str]:
        """Set the pairs in both directions, those with the likeliest winner first."""
        unit = figures.unit_text(self.unit)
        shown = sorted(self.pairs, key=lambda one: best not in {one.first, one.second})[:_PAIRS]
        before = " before " if _superlative(self) == "fastest" else " better than "

        def model(found: FasterEstimate) -> Value:
            i2 = found.mixture
            return Value(f"{chance(i2.estimate)}{i2.ends()}", i2.estimate)

        def ranks(found: FasterEstimate) -> Value:
            u = found.ranks
            return Value(f"{u.estimate:.3f} [{u.low:.3f}, {u.high:.3f}]", u.estimate)

        yield table_of(
            "one-run-against-one",
            chain.from_iterable(
                ((one.first, one.second, one.forward), (one.second, one.first, one.backward))
                for one in shown
            ),
            ("@one run against one", lambda way: before.join(way[:2])),
            ("<mixtures (I2)", lambda way: model(way[2])),
            ("<ranks, U/(nm)", lambda way: ranks(way[2])),
        )
        shift = shown[0].forward.shift
        if shift:
            size = f"{abs(shift):g} {unit}".strip()
            side = "smaller" if self.better == "lower" else "larger"
            how = f"only when {side} by more than {size}"
            if shift > 0:
                how = f"also when it is behind by less than {size}"
            yield f"with the shift {shift:g}: a run wins {how}"
        for one in shown:
            size = f"{one.mean_difference.estimate:.4g} {unit}".rstrip()
            ends = one.mean_difference.ends(".4g")
            yield f"single runs of {one.first:.14} and {one.second:.14} lie {size}{ends} apart (I1)"
        if len(self.pairs) > _PAIRS:
            yield f"{len(self.pairs) - _PAIRS} more pairs: see --json"


class BenchmarkMixtures(NamedTuple):
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
        return {
            "detailed": self.detailed,
            "corpus": None if self.detailed else plain(self.corpus),
            "options": options,
            "benchmarks": [
                dict(zip(keys, map(plain, row), strict=True)) for row in self.benchmarks
            ],
            **Result.body(self),
        }

    def screen(self, *, digits: int = DIGITS) -> Page:
        """Set who wins a single run first, then each variant; of several benchmarks a line for each."""
        if not self.detailed:
            return self._overview()
        (one,) = self.benchmarks
        names = [f"{cell.variant:.40}" for cell in one.cells]
        alone = [f"{cell.variant:.32}" for cell in one.cells if len(names) == 1]
        unit = figures.unit_text(self.unit)
        head = (
            *(f"{one.benchmark:.40}", *alone),
            f"{'smaller' if self.better == 'lower' else 'larger'} is better",
            *([f"all figures in {unit}"] if unit else ()),
        )
        sections = [section(" · ".join(head))]
        if one.contest is not None:
            sections.append(one.contest.detail())
        if alone:
            sections.append(one.cells[0].detail(digits))
        else:
            named = enumerate(zip(one.cells, names, strict=True), 1)
            sections += (cell.detail(digits, place, name) for place, (cell, name) in named)
        if any(cell.mixture is not None for cell in one.cells):
            alt = (
                "density and distribution function of the runs and of the mixture of each variant on "
                f"{one.benchmark}"
            )
            sections.append(section(Figure(name="mixtures", alt=alt, draw=self.picture)))
        return page(self, f"Gaussian mixtures: {one.benchmark}", *sections)

    def picture(self) -> Picture:
        """Draw the variants of one benchmark, or what many samples have in common."""
        from .pictures import corpus_picture, mixture_picture

        if not self.detailed:
            return corpus_picture(self.corpus, self.cells)
        name = self.benchmarks[0].benchmark
        return mixture_picture(name, self.cells, unit=self.unit, better=self.better)

    def _overview(self) -> Page:
        """Set a summary in words, then one line for each benchmark and variant."""
        corpus, cells = self.corpus, self.cells
        mixtures = [cell.mixture for cell in cells if cell.mixture is not None]
        several = sum(mixture.components > 1 for mixture in mixtures)
        counts = (
            f"{len(self.benchmarks)} benchmarks, {len(cells)} samples: {several} of "
            f"{len(mixtures)} are described best by more than one Gaussian"
        )
        if corpus.tested:
            counts += (
                f"; the fit test rejects {corpus.rejected} of {corpus.tested} at 5 % "
                f"({self.options.resamples} resamples each)"
            )
        levels = {word: corpus.modes.get(n, 0) for n, word in enumerate(_LEVELS, 1)}
        levels["four modes or more"] = corpus.samples - sum(levels.values())
        shares = ", ".join(
            f"{word} in {100 * n / corpus.samples:.3g} %" for word, n in levels.items() if n
        )
        texts = [counts, f"components: {corpus.components.text}; {shares}"]
        contests = [one.contest for one in self.benchmarks if one.contest is not None]
        wins = Counter(contest.variants[contest.best] for contest in contests)
        if wins:
            most = (f"{name:.24} on {n}" for name, n in wins.most_common(_SOME))
            named = f"{', '.join(most)} of {wins.total()}"
            texts.append(f"most likely the {_superlative(self)} in a single run: {named}")
        why = (f"{one.benchmark:.24}: {one.problem}" for one in cells if one.problem)
        problems = list(dict.fromkeys(why))
        if len(problems) > _SOME:
            problems[_SOME:] = [f"{len(problems) - _SOME} more could not be fitted"]
        note = "modes are those of the fitted curve; --benchmark NAME weighs the evidence for them"
        return Page(
            title=f"Gaussian mixtures: {len(self.benchmarks)} benchmarks",
            sections=(section(*texts), section(self._lines(contested=bool(wins)), note)),
            cautions=(*self.cautions, *(Caution("no-mixture", one) for one in problems)),
        )

    def _lines(self, *, contested: bool) -> Table:
        several = len({cell.variant for cell in self.cells}) > 1  # one variant needs no column
        first = {id(one.cells[0]) for one in self.benchmarks}  # its benchmark is named

        def fit(cell: MixtureCell) -> Cell:
            p = None if cell.fit_test is None else cell.fit_test.pvalue
            return "" if p is None else Value(figures.bare_pvalue(p), p)

        def best(cell: MixtureCell, contest: MixtureContest | None) -> Cell:
            if cell.mixture is None or contest is None:
                return ""
            at = contest.variants.index(cell.variant)
            estimate = contest.chances[at].estimate
            return Value(chance(estimate) + (" *" if at == contest.best else "  "), estimate)

        return table_of(
            "benchmarks",
            [(cell, one.contest) for one in self.benchmarks for cell in one.cells],
            ("@benchmark", lambda c: c[0].benchmark if id(c[0]) in first else ""),
            ("@variant", lambda c: c[0].variant) if several else None,
            ("runs", lambda c: c[0].values.size),
            ("components", lambda c: "none" if c[0].mixture is None else c[0].mixture.components),
            ("modes", lambda c: "" if c[0].mixture is None else c[0].mixture.modes().size),
            ("fit p", lambda c: fit(c[0])),
            ("best in one run", lambda c: best(*c)) if contested else None,
        )


def _superlative(of: MixtureContest | MixtureReport) -> str:
    """Give the word for the best: only times are fast."""
    return "fastest" if of.better == "lower" and figures.is_time(of.unit) else "best"


def mixture_contest(
    cells: Sequence[MixtureCell],
    *,
    better: Better,
    unit: str,
    options: MixtureOptions,
    pairs: bool = True,
) -> MixtureContest | None:
    """Compare the cells of one benchmark; None when fewer than two have a mixture."""
    names = [cell.variant for cell in cells if cell.refits is not None]
    samples = [cell.refits for cell in cells if cell.refits is not None]
    if len(samples) < 2:
        return None
    sure = {"confidence": options.confidence}
    wins = partial(_wins, better=better)

    def chances_of(k: int) -> MetricInterval:
        others = (sample for j, sample in enumerate(samples) if j != k)
        return metric_interval(wins, samples[k], *others, name="I3", **sure)

    def beats(j: int, k: int) -> FasterEstimate:
        """Give P[X < Y + shift], or P[X > Y - shift] = P[Y < X + shift] where higher is better."""
        low, high = (j, k) if better == "lower" else (k, j)
        return faster_estimate(samples[low], samples[high], shift=options.shift, **sure)

    chances = tuple(map(chances_of, range(len(samples))))
    best = max(range(len(samples)), key=lambda k: chances[k].estimate)
    all_pairs = len(samples) <= 8  # variants up to which all pairs are compared
    compared = tuple(
        MixturePair(
            first=names[j],
            second=names[k],
            forward=beats(j, k),
            backward=beats(k, j),
            mean_difference=metric_interval(
                mean_difference, samples[j], samples[k], name="I1", **sure
            ),
        )
        for j, k in (combinations(range(len(samples)), 2) if pairs else ())
        if all_pairs or best in (j, k)
    )
    left_out = tuple(cell.variant for cell in cells if cell.mixture is None)
    missing = f"not compared, because no mixture fits: {', '.join(left_out)}"
    only = f"only the pairs with {names[best]!r} are compared, of {len(samples)} variants"
    found = _gathered(
        (f"{pair.first} and {pair.second}", caution)
        for pair in compared
        for caution in (*pair.forward.cautions, *pair.mean_difference.cautions)
    )
    return MixtureContest(
        variants=tuple(names),
        better=better,
        unit=unit,
        chances=chances,
        pairs=compared,
        left_out=left_out,
        cautions=(
            *cautions_of({"pairs-of-best-only": not all_pairs and only}),
            *(
                caution if len(both) == len(compared) > 1 else _of(both, caution, "; ")
                for caution, both in found
            ),
            *cautions_of({"not-compared": left_out and (missing, *left_out)}),
        ),
    )


def _wins(*mixtures: Mixture, better: Better) -> float:
    """Give I3 of the first against all others."""
    if better == "higher":  # of -x, or 1 / x on the log scale, the smallest is the largest
        mixtures = tuple(
            Mixture.from_parameters(
                weights=one.weights, means=-one.means, sds=one.sds, scale=one.scale
            )
            for one in mixtures
        )
    # I3 of two is I2, which has a closed form
    return (probability_faster if len(mixtures) == 2 else probability_fastest)(*mixtures)


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
        names = (names[names.index(benchmark)],)
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
        found.append(BenchmarkMixtures(name, ours, contest))
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
            *(part for cell in one.cells for part in (cell.mixture, cell.fit_test, cell.evidence)),
            *(() if one.contest is None else (pair.forward for pair in one.contest.pairs)),
        ]
        texts |= dict.fromkeys(
            text for part in parts if part is not None for text in part.references
        )
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
    count, options = len(report.cells), report.options
    codes = Counter(code for cell in report.cells for code in {one.code for one in cell.cautions})
    few = sum(cell.values.size < FEW_VALUES for cell in report.cells)
    coarse, floored = codes["grid-coarser"], codes["variance-at-floor"]
    table: dict[str, Any] = {
        "few-values": few > 0
        and f"{few} of {count} samples have fewer than {FEW_VALUES} values, which hardly "
        "determine a number of components",
        "grid-coarser": coarse > 0
        and f"the values of {coarse} of {count} samples stand on a coarser grid than the "
        f"resolution of {options.resolution:g}: components may be its steps; "
        "--benchmark NAME says which step",
        "variance-at-floor": floored > 0
        and f"in {floored} of {count} samples components have the least variance that the "
        "resolution allows: without a resolution such fits are discarded",
    }
    if detailed:
        nothing = "nothing is compared: fewer than two variants have a mixture"
        table = {"nothing-compared": contest is None and several and nothing}
    resampled = "nothing was resampled: no fit test, no evidence for modes, no intervals"
    yield from cautions_of(table | {"nothing-resampled": options.resamples == 0 and resampled})


def _gathered(texts: Iterable[tuple[str, Caution]]) -> list[tuple[Caution, tuple[str, ...]]]:
    """Set together of whom the same is said, number by number."""
    found: dict[tuple[str, str], tuple[Caution, dict[str, None]]] = {}
    for name, caution in texts:
        found.setdefault((caution.code, caution.text), (caution, {}))[1][name] = None
    return [(caution, tuple(names)) for caution, names in found.values()]


def _of(names: Sequence[str], caution: Caution, separator: str) -> Caution:
    text = f"{separator.join(names)}: {caution.text}"
    return Caution(caution.code, text, (*names, *caution.about))
