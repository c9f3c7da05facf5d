"""Mixtures in words: a report, a mixture, its fit test, its metrics, the evidence for modes."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial

from ...pages import number_format as figures
from ...pages.model import (
    Block,
    Caution,
    Cell,
    Figure,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    page_of,
    table_of,
)
from ...words import shorten
from .benchmark_page import (
    DIGITS,
    cell_section,
    chance,
    contest_section,
    mixture_picture,
    modes_said,
    superlative,
)
from .cautions import unfitted
from .modality import STABLE, BandwidthTest, DipTest, FamilyFit
from .model import Mixture
from .result import (
    BenchmarkMixtures,
    CorpusFit,
    CorpusSummary,
    FasterEstimate,
    FitTest,
    MetricInterval,
    MixtureCell,
    MixtureContest,
    MixtureReport,
    ModeEvidence,
    RankShare,
)


@page_of.register(Mixture)
def _mixture_page(mixture: Mixture) -> Page:
    modes = mixture.modes()
    places = ", ".join(f"{mode:.6g}" for mode in modes)
    said = f"the density has {figures.counted(modes.size, 'mode')}: {places}"
    if modes.size > 1:
        said += " (of the curve; skew alone can make several, so see the evidence for modes)"
    rows = table_of(
        "components",
        list(enumerate(mixture.rows())),
        ("component", lambda one: one[0]),
        ("weight", lambda one: one[1][0], "{:.4f}".format),
        ("mean", lambda one: one[1][1], "{:.7g}".format),
        ("sd", lambda one: one[1][2], partial(figures.significant, digits=4)),
    )
    below: tuple[Block, ...] = (rows,)
    if mixture.bic is not None and mixture.log_likelihood is not None:
        below += (Sentence(likelihood_and_bic(mixture.log_likelihood, mixture.bic)),)
    answer = Section((Sentence(_headline(mixture)), Sentence(said)))
    return Page(
        title="Gaussian mixture", sections=(answer, Section(below)), cautions=mixture.cautions
    )


def _sentence_page(title: str, text: str, cautions: tuple[Caution, ...] = ()) -> Page:
    return Page(title=title, sections=(Section((Sentence(text),)),), cautions=cautions)


def likelihood_and_bic(log_likelihood: float, bic: float) -> str:
    """Say how well a mixture describes its values."""
    return f"log-likelihood {log_likelihood:.6g}, BIC {bic:.6g} (larger is better)"


def _headline(mixture: Mixture) -> str:
    k, logs = mixture.components, "the logarithms of " if mixture.scale == "log" else ""
    spread = "one common" if mixture.equal_variance else "each its own"
    what = "one Gaussian" if k == 1 else f"{k} Gaussians ({spread} standard deviation)"
    if mixture.n is None:
        return f"a mixture of {logs and 'logarithms: '}{what}"
    verb = "describes" if k == 1 else "describe"
    return f"{what} {verb} {logs}these {mixture.n} values best"


@page_of.register(MetricInterval)
def _metric_interval_page(found: MetricInterval) -> Page:
    said = f"{found.metric}: {found.estimate:.6g}"
    if found.replicates:
        said += (
            f", {100 * found.confidence:g} % interval [{found.low:.6g}, {found.high:.6g}] from "
            f"{found.replicates} resamples"
        )
    return _sentence_page(found.metric, said, found.cautions)


@page_of.register(RankShare)
def _rank_share_page(found: RankShare) -> Page:
    said = (
        f"one run is faster than one of the other in {found.estimate:.3f} of {found.pairs} pairs "
        f"of runs, {figures.counted(found.ties, 'tie')} counted half ({100 * found.confidence:g} % "
        f"interval {found.low:.3f} to {found.high:.3f})"
    )
    return _sentence_page("Share of faster runs", said)


@page_of.register(FasterEstimate)
def _faster_estimate_page(found: FasterEstimate) -> Page:
    table = table_of(
        "one-run-is-faster",
        (("mixtures (I2)", found.mixture), ("ranks, U/(nm)", found.ranks)),
        ("<P[one run is faster]", lambda both: both[0]),
        ("estimate", lambda both: _four_decimals(both[1].estimate)),
        ("low", lambda both: _four_decimals(both[1].low)),
        ("high", lambda both: _four_decimals(both[1].high)),
    )
    less = "" if found.shift == 0 else f" by more than {-found.shift:g}"
    if found.shift > 0:
        less = f", or slower by less than {found.shift:g}"
    mixture = found.mixture
    said = f"one run is faster than one of the other{less} with probability {mixture.estimate:.3f}"
    if mixture.replicates:
        said += (
            f" ({100 * mixture.confidence:g} % interval {mixture.low:.3f} to {mixture.high:.3f})"
        )
    return Page(
        title="Which of two runs is faster",
        sections=(Section((Sentence(said),)), Section((table,))),
        cautions=found.cautions,
    )


def _four_decimals(value: float, unknown: str = "") -> Value:
    return Value(unknown, None) if math.isnan(value) else Value(f"{value:.4f}", value)


@page_of.register(FitTest)
def _fit_test_page(test: FitTest) -> Page:
    critical = table_of(
        "critical-distances",
        ("critical distance",),
        ("<risk", str),
        *(
            (f"{risk:g}", lambda _, d=d: _four_decimals(d, "-"))
            for risk, d in test.critical.items()
        ),
    )
    published = f"p as published, k/N: {test.pvalue_published:.4g}"
    return Page(
        title="Fit of a Gaussian mixture",
        sections=(
            Section(tuple(Sentence(text) for text in _answer(test))),
            Section((critical, Sentence(published))),
        ),
        cautions=test.cautions,
    )


@page_of.register(CorpusFit)
def _corpus_fit_page(row: CorpusFit) -> Page:
    said = row.why
    if row.mixture is not None and row.test is not None:
        of = figures.counted(row.mixture.components, "Gaussian")
        said = f"{of}, distance {row.test.statistic:.4f}, p {figures.pvalue(row.test.pvalue)}"
    return _sentence_page("Gaussian mixture of a sample", f"{shorten(row.label, 40)}: {said}")


def _answer(test: FitTest) -> list[str]:
    head = f"these {test.n} values show no departure from a mixture of Gaussians"
    if test.rejected():
        head = f"no mixture of Gaussians fits these {test.n} values"
    fitted = figures.counted(test.mixture.components, "Gaussian")
    said = [
        f"{head} (p {figures.pvalue(test.pvalue)})",
        f"the distance from the fitted {fitted} is {test.statistic:.4f}; of {test.resamples} samples "
        f"drawn from the fit and fitted again, {test.further} are as far or further",
    ]
    if not test.rejected():
        said.append(
            "this is weak evidence for the fit: of samples of 35 lognormal values the test tells "
            "about one in ten from a mixture"
        )
    return said


@page_of.register(ModeEvidence)
def _mode_evidence_page(found: ModeEvidence) -> Page:
    laws = table_of(
        "laws",
        found.laws,
        ("<law", "name"),
        ("BIC", "bic", "{:.2f}".format),
        ("log-likelihood", "log_likelihood", "{:.3f}".format),
        ("parameters", "parameters"),
    )
    return Page(
        title="Evidence for modes",
        sections=(Section((Sentence(found.conclusion),)), _tests(found), Section((laws,))),
        cautions=found.cautions,
    )


@page_of.register(DipTest)
def _dip_test_page(test: DipTest) -> Page:
    said = (
        f"dip test of {test.n} values: dip {test.statistic:.4g}, p {figures.pvalue(test.pvalue)} "
        f"from {test.resamples} uniform samples"
    )
    return _sentence_page("Dip test", said)


@page_of.register(BandwidthTest)
def _bandwidth_test_page(test: BandwidthTest) -> Page:
    width = "no bandwidth shows two modes"
    if test.bandwidth is not None:
        width = f"smallest bandwidth with one mode {test.bandwidth:.4g}"
    said = (
        f"bandwidth test of {test.n} values: {width}, p {figures.pvalue(test.pvalue)} from "
        f"{test.resamples} smoothed samples"
    )
    return _sentence_page("Bandwidth test", said)


@page_of.register(FamilyFit)
def _family_fit_page(fit: FamilyFit) -> Page:
    said = (
        f"{fit.name}: BIC {fit.bic:.2f}, log-likelihood {fit.log_likelihood:.3f}, "
        f"{fit.parameters} parameters"
    )
    return _sentence_page(fit.name, said)


def _tests(found: ModeEvidence) -> Section:
    half, s = f"needs p <= {found.risk / 2:g}", found.stability
    again = Value(f"{100 * s.several:.0f} %", s.several)
    rows = (
        *(
            (name, Value(f"p {figures.pvalue(test.pvalue)}", test.pvalue), half)
            for name, test in (("dip test", found.dip), ("bandwidth test", found.bandwidth))
        ),
        ("several modes again", again, f"needs {100 * STABLE:.0f} %"),
    )
    columns = columns_of("<what", "<found", "<needed")
    modes, components = (
        ", ".join(f"{key}: {share:.2f}" for key, share in shares.items())
        for shares in (s.modes, s.components)
    )
    return Section((
        Table(name="tests", columns=columns, rows=rows, headed=False),
        Sentence(f"modes in {s.resamples} refitted halves of the values, by share: {modes}"),
        Sentence(f"components in them, by share: {components}"),
    ))  # fmt: skip


_NAME, _LONG_NAME = 24, 40  # columns for names
_SOME = 6  # variants or problems named before the rest is counted


@page_of.register(MixtureReport)
def mixture_page(report: MixtureReport, *, digits: int = DIGITS) -> Page:
    """Fill the page of a report."""
    if report.detailed:
        return _detail(report, report.benchmarks[0], digits)
    return _overview(report)


# ---- one benchmark


def _detail(report: MixtureReport, one: BenchmarkMixtures, digits: int) -> Page:
    """Set who wins a single run first, then each variant."""
    head = [shorten(one.benchmark, _LONG_NAME)]
    if len(one.cells) == 1:
        head.append(shorten(one.cells[0].variant, 32))
    head.append(f"{'smaller' if report.better == 'lower' else 'larger'} is better")
    if unit := figures.unit_text(report.unit):
        head.append(f"all figures in {unit}")
    sections = [Section((Sentence(" · ".join(head)),))]
    if one.contest is not None:
        sections.append(contest_section(one.contest))
    if len(one.cells) == 1:
        sections.append(cell_section(one.cells[0], digits=digits))
    else:
        sections += (_named(cell, digits, place) for place, cell in enumerate(one.cells, 1))
    if any(cell.mixture is not None for cell in one.cells):
        alt = (
            "density and distribution function of the runs and of the mixture of each variant on "
            f"{one.benchmark}"
        )
        draw = partial(mixture_picture, report)
        sections.append(Section((Figure(name="mixtures", alt=alt, draw=draw),)))
    return Page(
        title=f"Gaussian mixtures: {one.benchmark}",
        sections=tuple(sections),
        cautions=report.cautions,
    )


def _named(cell: MixtureCell, digits: int, place: int) -> Section:
    name = shorten(cell.variant, _LONG_NAME)
    if cell.mixture is None:
        return Section((Sentence(f"{name}: {modes_said(cell)}"),))
    return Section(cell_section(cell, digits=digits, place=place).blocks, title=name)


# ---- many benchmarks


def _overview(report: MixtureReport) -> Page:
    """Set a summary in words, then one line for each benchmark and variant."""
    contests = [one.contest for one in report.benchmarks if one.contest is not None]
    said = [_counts(report), _shape(report.corpus)]
    if contests:
        wins = Counter(contest.variants[contest.best] for contest in contests)
        named = ", ".join(
            f"{shorten(name, _NAME)} on {count}" for name, count in wins.most_common(_SOME)
        )
        word = superlative(report.better, report.unit)
        said.append(f"most likely the {word} in a single run: {named} of {len(contests)}")
    problems = (
        f"{shorten(cell.benchmark, _NAME)}: {cell.problem}"
        for cell in report.cells
        if cell.problem is not None
    )
    note = "modes are those of the fitted curve; --benchmark NAME weighs the evidence for them"
    return Page(
        title=f"Gaussian mixtures: {len(report.benchmarks)} benchmarks",
        sections=(
            Section(tuple(Sentence(text) for text in said)),
            Section((_lines(report, contested=bool(contests)), Sentence(note))),
        ),
        cautions=(*report.cautions, *unfitted(problems, _SOME)),
    )


def _counts(report: MixtureReport) -> str:
    mixtures = [cell.mixture for cell in report.cells if cell.mixture is not None]
    several = sum(mixture.components > 1 for mixture in mixtures)
    said = (
        f"{len(report.benchmarks)} benchmarks, {len(report.cells)} samples: {several} of "
        f"{len(mixtures)} are described best by more than one Gaussian"
    )
    corpus = report.corpus
    if corpus.tested:
        said += (
            f"; the fit test rejects {corpus.rejected} of {corpus.tested} at 5 % "
            f"({report.options.resamples} resamples each)"
        )
    return said


_LEVELS = ("one mode", "two modes", "three modes")  # levels of variability told alone (section 7.6)


def _shape(corpus: CorpusSummary) -> str:
    k = corpus.components
    told = {word: corpus.modes.get(level, 0) for level, word in enumerate(_LEVELS, 1)}
    told["four modes or more"] = corpus.samples - sum(told.values())
    shares = ", ".join(
        f"{word} in {100 * count / corpus.samples:.3g} %" for word, count in told.items() if count
    )
    return (
        f"components: median {k.median:g}, upper quartile {k.upper_quartile:g}, at most {k.largest}; "
        f"{shares}"
    )


def _lines(report: MixtureReport, *, contested: bool) -> Table:
    several = len({cell.variant for cell in report.cells}) > 1  # one variant needs no column
    first = {id(one.cells[0]) for one in report.benchmarks}  # its benchmark is named
    return table_of(
        "benchmarks",
        [(cell, one.contest) for one in report.benchmarks for cell in one.cells],
        ("<benchmark", lambda c: shorten(c[0].benchmark, _NAME) if id(c[0]) in first else ""),
        ("<variant", lambda c: shorten(c[0].variant, _NAME)) if several else None,
        ("runs", lambda c: c[0].values.size),
        ("components", lambda c: "none" if c[0].mixture is None else c[0].mixture.components),
        ("modes", lambda c: "" if c[0].mixture is None else c[0].mixture.modes().size),
        ("fit p", lambda c: _fit(c[0])),
        ("best in one run", lambda c: _single_run(*c)) if contested else None,
    )


def _fit(cell: MixtureCell) -> Cell:
    test = cell.fit_test
    if cell.mixture is None or test is None:
        return ""
    return Value(figures.pvalue(test.pvalue).removeprefix("= "), test.pvalue)


def _single_run(cell: MixtureCell, contest: MixtureContest | None) -> Cell:
    if cell.mixture is None or contest is None:
        return ""
    at = contest.variants.index(cell.variant)
    estimate = contest.chances[at].estimate
    return Value(chance(estimate) + (" *" if at == contest.best else "  "), estimate)
