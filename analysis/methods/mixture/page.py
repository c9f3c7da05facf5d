"""What mixtures of one metric say: of a variant, of who wins a single run, of many benchmarks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

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
    columns_of,
    page,
    page_of,
    section,
    table_of,
)
from ...words import shorten
from .model import BIC_MARGIN, Mixture
from .pictures import mixture_picture
from .report import MixtureCell, MixtureContest, MixtureReport
from .single_run import chance, within

if TYPE_CHECKING:
    from ...record.run_numbers import Better

_NAME, _LONG_NAME, _SHORT_NAME = 24, 40, 14  # columns for names
_PAIRS = 8  # pairs printed
_WINNERS = 12  # variants of whom the chance to win is printed
_SOME = 6  # variants or problems named before the rest is counted
_LEVELS = ("one mode", "two modes", "three modes")  # levels of variability told alone (section 7.6)
DIGITS = 4  # of weights and parameters


@page_of.register(MixtureContest)
def _mixture_contest_page(contest: MixtureContest) -> Page:
    sections = (_contest(contest),)
    return page(contest, "Who wins a single run", *sections)


def _contest(contest: MixtureContest) -> Section:
    """Set who wins, every variant's chance, and the pairs."""
    best, count = contest.best, len(contest.variants)
    winner = contest.chances[best]
    known = winner.replicates > 0
    text = (
        f"in a single run {shorten(contest.variants[best], _NAME)} is the "
        f"{_superlative(contest.better, contest.unit)} of {count} with probability "
        f"{chance(winner.estimate)}{within(winner)}"
    )
    order = sorted(range(count), key=lambda k: -contest.chances[k].estimate)
    table = table_of(
        "best-in-a-single-run",
        [(contest.variants[k], contest.chances[k]) for k in order[:_WINNERS]],
        ("<best in a single run", lambda one: shorten(one[0], _NAME)),
        ("probability", lambda one: one[1].estimate, chance),
        ("low", lambda one: one[1].low, "{:.3f}".format) if known else None,
        ("high", lambda one: one[1].high, "{:.3f}".format) if known else None,
    )
    more = [f"and {count - _WINNERS} more, each at most as likely"] if count > _WINNERS else []
    pairs = (section(*_pairs(contest)),) if contest.pairs else ()
    return section(text, section(table, *more), *pairs)


def _pairs(contest: MixtureContest) -> Iterator[Block | str]:
    """Set the pairs in both directions, those with the likeliest winner first."""
    best, unit = contest.variants[contest.best], figures.unit_text(contest.unit)
    shown = sorted(contest.pairs, key=lambda pair: best not in {pair.first, pair.second})[:_PAIRS]
    fast = _superlative(contest.better, contest.unit) == "fastest"
    rows: list[tuple[Cell, ...]] = []
    for pair in shown:
        for names, both in (
            ((pair.first, pair.second), pair.forward),
            ((pair.second, pair.first), pair.backward),
        ):
            i2, u = both.mixture, both.ranks
            name = (" before " if fast else " better than ").join(
                shorten(one, _SHORT_NAME) for one in names
            )
            model = Value(f"{chance(i2.estimate)}{i2.ends()}", i2.estimate)
            ranks = Value(f"{u.estimate:.3f} [{u.low:.3f}, {u.high:.3f}]", u.estimate)
            rows.append((name, model, ranks))
    columns = columns_of("<one run against one", "<mixtures (I2)", "<ranks, U/(nm)")
    yield Table(name="one-run-against-one", columns=columns, rows=tuple(rows))
    shift = shown[0].forward.shift
    if shift:
        size = f"{abs(shift):g} {unit}".strip()
        side = "smaller" if contest.better == "lower" else "larger"
        how = f"only when {side} by more than {size}"
        if shift > 0:
            how = f"also when it is behind by less than {size}"
        yield f"with the shift {shift:g}: a run wins {how}"
    for pair in shown:
        first, second = (shorten(name, _SHORT_NAME) for name in (pair.first, pair.second))
        size = f"{pair.mean_difference.estimate:.4g} {unit}".rstrip()
        ends = pair.mean_difference.ends(".4g")
        yield f"single runs of {first} and {second} lie {size}{ends} apart (I1)"
    if len(contest.pairs) > _PAIRS:
        yield f"{len(contest.pairs) - _PAIRS} more pairs: see --json"


def _superlative(better: Better, unit: str) -> str:
    """Give the word for the best: only times are fast."""
    return "fastest" if better == "lower" and figures.is_time(unit) else "best"


@page_of.register(MixtureCell)
def _mixture_cell_page(cell: MixtureCell) -> Page:
    title = f"Gaussian mixture: {cell.variant} on {cell.benchmark}"
    return page(cell, title, _cell(cell))


def _cell(cell: MixtureCell, digits: int = DIGITS, place: int = 0, name: str = "") -> Section:
    """Set a variant; `place` counts those of one page, from 1, and is 0 where there is one."""
    mixture, number = cell.mixture, f"-{place}" if place else ""
    if mixture is None:
        return section(f"{name}{': ' if name else ''}{_modes(cell)}")
    modes = mixture.modes()
    places = figures.listed([f"{mode:.6g}" for mode in modes])
    at = f"mode{'s' * (modes.size != 1)} at {places}"
    blocks: list[Block] = [section(_parameters(cell, mixture, digits, f"parameters{number}"))]
    if cell.clusters is not None:  # in the order of the runs (appendix 1)
        texts = (", ".join(f"{v:.12g}" for v in c.tolist()) or "no value" for c in cell.clusters)
        blocks.append(section(*(f"component {k}: {text}" for k, text in enumerate(texts))))
    if cell.quantiles or cell.below:
        blocks.append(section(_quantiles(cell, digits, f"asked-for{number}")))
    parts = (_modes(cell), at, _model(cell, mixture), *_judgements(cell))
    return section(*parts, *blocks, title=name)


def _modes(cell: MixtureCell) -> str:
    """Say how many modes there are, and what speaks for more than one."""
    mixture, found = cell.mixture, cell.evidence
    if mixture is None:
        return f"no mixture: {cell.problem}"
    modes = mixture.modes()
    count = figures.counted(modes.size, "mode")
    if found is None:
        hint = "" if modes.size == 1 else "; no evidence was weighed, and skew alone makes several"
        return f"{count} by the model{hint}"
    share = f"{100 * found.stability.several:.0f} %"
    if modes.size == 1:
        return f"one mode ({share} of the refitted halves have several)"
    return (
        f"{'' if found.multimodal else 'not shown to be '}multimodal: {count} by the model; "
        f"evidence for more than one: dip p {figures.pvalue(found.dip.pvalue)}, bandwidth p "
        f"{figures.pvalue(found.bandwidth.pvalue)}; several in {share} of the refitted halves"
    )


def _model(cell: MixtureCell, mixture: Mixture) -> str:
    k, n = mixture.components, cell.values.size
    spread = "one common standard deviation" if mixture.equal_variance else "a deviation each"
    logs = "the logarithms of " if mixture.scale == "log" else ""
    kind = "one Gaussian" if k == 1 else f"{k} Gaussians with {spread}"
    text = f"{kind} for {logs}{n} values"
    if mixture.bic is not None:
        text += f" (BIC {mixture.bic:.2f}"
        if cell.runner_up is not None:
            text += f"; next {cell.runner_up[0]} {cell.runner_up[1]:.2f}"
        text += ", larger is better)"
    return text


def _judgements(cell: MixtureCell) -> Iterator[str]:
    """Say whether the mixture fits, and what a single skewed peak would do instead."""
    test, found = cell.fit_test, cell.evidence
    if test is not None:
        word = "the mixture does not fit" if test.rejected() else "no departure from the mixture"
        moved = " after jitter" if test.ties == "jitter" else ""
        yield (
            f"fit test{moved}: distance {test.statistic:.7f}, p {figures.pvalue(test.pvalue)} from "
            f"{figures.counted(test.resamples, 'resample')} ({word})"
        )
    if found is not None and found.families and found.mixture_bic is not None:
        best = found.families[0]
        behind = found.mixture_bic - best.bic
        if best.family == "normal" and found.mixture.components == 1:
            yield "of single-peaked laws the normal is best: no sign of skew"
            return
        word = "as good as"
        if abs(behind) > BIC_MARGIN:
            word = "worse than" if behind > 0 else "better than"
        yield (
            f"best single peak: {best.name}, BIC {best.bic:.2f}, {word} the mixture's "
            f"{found.mixture_bic:.2f}"
        )


def _parameters(cell: MixtureCell, mixture: Mixture, digits: int, name: str) -> Table:
    sizes = np.bincount(mixture.classify(cell.values), minlength=mixture.components).tolist()
    of_what = " of ln" if mixture.scale == "log" else ""

    def magnitude(value: float) -> int:
        return math.floor(math.log10(abs(value))) if value else 0

    def mean(row: tuple[float, ...]) -> Value:
        # digits below the spread of the component say nothing
        places = digits + magnitude(row[2]) - magnitude(row[3])
        return Value(figures.significant(row[2], min(max(digits, places), max(digits, 10))), row[2])

    return table_of(
        name,
        [(k, *row, size) for k, (row, size) in enumerate(zip(mixture.rows(), sizes, strict=True))],
        ("component", itemgetter(0)),
        ("weight", itemgetter(1), f"{{:.{digits}f}}".format),
        (f"mean{of_what}", mean),
        (f"sd{of_what}", itemgetter(3), partial(figures.significant, digits=digits)),
        ("runs", itemgetter(4)),
    )


def _quantiles(cell: MixtureCell, digits: int, name: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for found in (*cell.quantiles, *cell.below):
        below = found in cell.below
        text = chance(found.estimate) if below else f"{found.estimate:.{max(digits, 6)}g}"
        ends = found.ends(".3f" if below else ".6g")
        interval = f"{100 * found.confidence:g} % interval{ends}" if ends else ""
        rows.append((found.metric, Value(text, found.estimate), interval))
    columns = columns_of("<of one run", "estimate", "<interval")
    return Table(name=name, columns=columns, rows=tuple(rows), headed=False)


@page_of.register(MixtureReport)
def mixture_page(report: MixtureReport, *, digits: int = DIGITS) -> Page:
    """Fill the page of a report."""
    return _detail(report, digits) if report.detailed else _overview(report)


def _detail(report: MixtureReport, digits: int) -> Page:
    """Set who wins a single run first, then each variant."""
    (one,) = report.benchmarks
    head = [shorten(one.benchmark, _LONG_NAME)]
    if len(one.cells) == 1:
        head.append(shorten(one.cells[0].variant, 32))
    head.append(f"{'smaller' if report.better == 'lower' else 'larger'} is better")
    if unit := figures.unit_text(report.unit):
        head.append(f"all figures in {unit}")
    sections = [section(" · ".join(head))]
    if one.contest is not None:
        sections.append(_contest(one.contest))
    if len(one.cells) == 1:
        sections.append(_cell(one.cells[0], digits))
    else:
        names = (shorten(cell.variant, _LONG_NAME) for cell in one.cells)
        named = enumerate(zip(one.cells, names, strict=True), 1)
        sections += (_cell(cell, digits, place, name) for place, (cell, name) in named)
    if any(cell.mixture is not None for cell in one.cells):
        alt = (
            "density and distribution function of the runs and of the mixture of each variant on "
            f"{one.benchmark}"
        )
        sections.append(
            section(Figure(name="mixtures", alt=alt, draw=partial(mixture_picture, report)))
        )
    title = f"Gaussian mixtures: {one.benchmark}"
    return page(report, title, *sections)


def _overview(report: MixtureReport) -> Page:
    """Set a summary in words, then one line for each benchmark and variant."""
    corpus, cells, wins = report.corpus, report.cells, Counter[str]()
    mixtures = [cell.mixture for cell in cells if cell.mixture is not None]
    several = sum(mixture.components > 1 for mixture in mixtures)
    counts = (
        f"{len(report.benchmarks)} benchmarks, {len(cells)} samples: {several} of "
        f"{len(mixtures)} are described best by more than one Gaussian"
    )
    if corpus.tested:
        counts += (
            f"; the fit test rejects {corpus.rejected} of {corpus.tested} at 5 % "
            f"({report.options.resamples} resamples each)"
        )
    levels = {word: corpus.modes.get(n, 0) for n, word in enumerate(_LEVELS, 1)}
    levels["four modes or more"] = corpus.samples - sum(levels.values())
    shares = ", ".join(
        f"{word} in {100 * count / corpus.samples:.3g} %" for word, count in levels.items() if count
    )
    texts = [counts, f"components: {corpus.components.text}; {shares}"]
    for one in report.benchmarks:
        if one.contest is not None:
            wins[one.contest.variants[one.contest.best]] += 1
    if wins:
        named = ", ".join(
            f"{shorten(name, _NAME)} on {count}" for name, count in wins.most_common(_SOME)
        )
        word = _superlative(report.better, report.unit)
        texts.append(f"most likely the {word} in a single run: {named} of {wins.total()}")
    problems = list(
        dict.fromkeys(
            f"{shorten(cell.benchmark, _NAME)}: {cell.problem}"
            for cell in cells
            if cell.problem is not None
        )
    )
    if len(problems) > _SOME:
        problems[_SOME:] = [f"{len(problems) - _SOME} more could not be fitted"]
    note = "modes are those of the fitted curve; --benchmark NAME weighs the evidence for them"
    return Page(
        title=f"Gaussian mixtures: {len(report.benchmarks)} benchmarks",
        sections=(section(*texts), section(_lines(report, contested=bool(wins)), note)),
        cautions=(*report.cautions, *(Caution("no-mixture", one) for one in problems)),
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
