"""One benchmark in words and as a picture: each variant, and who wins a single run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...pages import number_format as figures
from ...pages.model import Block, Cell, Column, Page, Section, Sentence, Table, Value, page_of
from ...words import shorten
from .model import BIC_MARGIN, Mixture
from .result import MixtureCell, MixtureContest, MixturePair

if TYPE_CHECKING:
    from ...record.run_numbers import Better
    from ...stats.samples import Array

_CONTEST_NAME, _SHORT_NAME = 24, 14  # columns for names
_PAIRS = 8  # pairs printed
_WINNERS = 12  # variants of whom the chance to win is printed


@page_of.register(MixtureContest)
def _mixture_contest_page(contest: MixtureContest) -> Page:
    sections = (contest_section(contest),)
    return Page(title="Who wins a single run", sections=sections, cautions=contest.cautions)


def contest_section(contest: MixtureContest) -> Section:
    """Set who wins, every variant's chance, and the pairs."""
    best, count = contest.best, len(contest.variants)
    winner = contest.chances[best]
    said = (
        f"in a single run {shorten(contest.variants[best], _CONTEST_NAME)} is the "
        f"{superlative(contest.better, contest.unit)} of {count} with probability "
        f"{chance(winner.estimate)}"
    )
    if winner.replicates:
        said += f" ({100 * winner.confidence:g} % interval {winner.low:.3f} to {winner.high:.3f})"
    chances: tuple[Block, ...] = (_chances(contest),)
    if count > _WINNERS:
        chances += (Sentence(f"and {count - _WINNERS} more, each at most as likely"),)
    pairs = (Section(tuple(_pairs(contest))),) if contest.pairs else ()
    return Section((Sentence(said), Section(chances), *pairs))


def _chances(contest: MixtureContest) -> Table:
    known = contest.chances[contest.best].replicates > 0
    ends = (Column("low"), Column("high")) if known else ()
    order = sorted(range(len(contest.variants)), key=lambda k: -contest.chances[k].estimate)
    return Table(
        name="best-in-a-single-run",
        columns=(Column("best in a single run", "left"), Column("probability"), *ends),
        rows=tuple(
            (
                shorten(contest.variants[k], _CONTEST_NAME),
                Value(chance(found.estimate), found.estimate),
                *(Value(f"{end:.3f}", end) for end in (found.low, found.high) if known),
            )
            for k in order[:_WINNERS]
            for found in (contest.chances[k],)
        ),
    )


def _pairs(contest: MixtureContest) -> Iterator[Block]:
    """Set the pairs in both directions, those with the likeliest winner first."""
    best = contest.variants[contest.best]
    shown = sorted(contest.pairs, key=lambda pair: best not in {pair.first, pair.second})[:_PAIRS]
    fast = figures.is_time(contest.unit) and contest.better == "lower"
    word = "before" if fast else "better than"
    yield Table(
        name="one-run-against-one",
        columns=tuple(
            Column(heading, "left")
            for heading in ("one run against one", "mixtures (I2)", "ranks, U/(nm)")
        ),
        rows=tuple(row for pair in shown for row in _both_ways(pair, word)),
    )
    shift = shown[0].forward.shift
    if shift:
        size = f"{abs(shift):g} {figures.unit_text(contest.unit)}".strip()
        side = "smaller" if contest.better == "lower" else "larger"
        how = f"only when {side} by more than {size}"
        if shift > 0:
            how = f"also when it is behind by less than {size}"
        yield Sentence(f"with the shift {shift:g}: a run wins {how}")
    for pair in shown:
        found = pair.mean_difference
        first, second = (shorten(name, _SHORT_NAME) for name in (pair.first, pair.second))
        size = f"{found.estimate:.4g} {figures.unit_text(contest.unit)}".rstrip()
        ends = f" [{found.low:.4g}, {found.high:.4g}]" if found.replicates else ""
        yield Sentence(f"single runs of {first} and {second} lie {size}{ends} apart (I1)")
    if len(contest.pairs) > _PAIRS:
        yield Sentence(f"{len(contest.pairs) - _PAIRS} more pairs: see --json")


def _both_ways(pair: MixturePair, word: str) -> Iterator[tuple[Cell, ...]]:
    for first, second, found in (
        (pair.first, pair.second, pair.forward),
        (pair.second, pair.first, pair.backward),
    ):
        ours, theirs = (shorten(name, _SHORT_NAME) for name in (first, second))
        model, ranks = found.mixture, found.ranks
        ends = f" [{model.low:.3f}, {model.high:.3f}]" if model.replicates else ""
        counted = f"{ranks.estimate:.3f} [{ranks.low:.3f}, {ranks.high:.3f}]"
        yield (
            f"{ours} {word} {theirs}",
            Value(f"{chance(model.estimate)}{ends}", model.estimate),
            Value(counted, ranks.estimate),
        )


def superlative(better: Better, unit: str) -> str:
    """Give the word for the best: only times are fast."""
    return "fastest" if better == "lower" and figures.is_time(unit) else "best"


def chance(value: float) -> str:
    """Write a probability; what is not 0 or 1 is never shown as such."""
    if value > 0.9995:
        return "> 0.999"
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"


DIGITS = 4  # of weights and parameters


@page_of.register(MixtureCell)
def _mixture_cell_page(cell: MixtureCell) -> Page:
    title = f"Gaussian mixture: {cell.variant} on {cell.benchmark}"
    return Page(title=title, sections=(cell_section(cell),), cautions=cell.cautions)


def cell_section(cell: MixtureCell, *, digits: int = DIGITS, place: int = 0) -> Section:
    """Set a variant; `place` counts those of one page, from 1, and is 0 where there is one."""
    mixture = cell.mixture
    if mixture is None:
        return Section((Sentence(modes_said(cell)),))
    number = f"-{place}" if place else ""
    modes = mixture.modes()
    places = figures.listed([f"{mode:.6g}" for mode in modes])
    said = (
        modes_said(cell),
        f"mode{'s' * (modes.size != 1)} at {places}",
        _model(cell, mixture),
        *_judgements(cell),
    )
    blocks: list[Block] = [Sentence(text) for text in said]
    blocks.append(Section((_parameters(cell, mixture, digits, f"parameters{number}"),)))
    if cell.clusters is not None:
        blocks.append(Section(tuple(_listed(cell.clusters))))
    if cell.quantiles or cell.below:
        blocks.append(Section((_asked(cell, digits, f"asked-for{number}"),)))
    return Section(tuple(blocks))


def modes_said(cell: MixtureCell) -> str:
    """Say how many modes there are, and what speaks for more than one."""
    mixture, found = cell.mixture, cell.evidence
    if mixture is None:
        return f"no mixture: {cell.problem}"
    modes = mixture.modes()
    count = f"{modes.size} mode{'s' * (modes.size != 1)}"
    if found is None:
        hint = "" if modes.size == 1 else "; no evidence was weighed, and skew alone makes several"
        return f"{count} by the model{hint}"
    share = f"{100 * found.stability.several:.0f} %"
    if modes.size == 1:
        return f"one mode ({share} of the refitted halves have several)"
    evidence = (
        f"evidence for more than one: dip p {figures.pvalue(found.dip.pvalue)}, bandwidth p "
        f"{figures.pvalue(found.bandwidth.pvalue)}; several in {share} of the refitted halves"
    )
    verdict = "multimodal" if found.multimodal else "not shown to be multimodal"
    return f"{verdict}: {count} by the model; {evidence}"


def _model(cell: MixtureCell, mixture: Mixture) -> str:
    k, n = mixture.components, cell.values.size
    spread = "one common standard deviation" if mixture.equal_variance else "a deviation each"
    logs = "the logarithms of " if mixture.scale == "log" else ""
    kind = "one Gaussian" if k == 1 else f"{k} Gaussians with {spread}"
    said = f"{kind} for {logs}{n} values"
    if mixture.bic is not None:
        said += f" (BIC {mixture.bic:.2f}"
        if cell.runner_up is not None:
            said += f"; next {cell.runner_up[0]} {cell.runner_up[1]:.2f}"
        said += ", larger is better)"
    return said


def _judgements(cell: MixtureCell) -> Iterator[str]:
    """Say whether the mixture fits, and what a single skewed peak would do instead."""
    test = cell.fit_test
    if test is not None:
        word = "the mixture does not fit" if test.rejected() else "no departure from the mixture"
        moved = " after jitter" if test.ties == "jitter" else ""
        yield (
            f"fit test{moved}: distance {test.statistic:.7f}, p {figures.pvalue(test.pvalue)} from "
            f"{test.resamples} resample{'s' * (test.resamples != 1)} ({word})"
        )
    found = cell.evidence
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
    of = mixture.classify(cell.values)
    of_what = " of ln" if mixture.scale == "log" else ""
    rows = []
    for k, (w, m, s) in enumerate(mixture.rows()):
        size = int((of == k).sum())
        # digits below the spread of the component say nothing
        places = min(max(digits, digits + _magnitude(m) - _magnitude(s)), max(digits, 10))
        rows.append(
            (
                Value(f"{k}", k),
                Value(f"{w:.{digits}f}", w),
                Value(figures.significant(m, places), m),
                Value(figures.significant(s, digits), s),
                Value(f"{size}", size),
            )
        )
    headings = ("component", "weight", f"mean{of_what}", f"sd{of_what}", "runs")
    return Table(name=name, columns=tuple(map(Column, headings)), rows=tuple(rows))


def _listed(clusters: Sequence[Array]) -> Iterator[Sentence]:
    """List the values of each component in the order of the runs (appendix 1)."""
    for k, values in enumerate(clusters):
        said = ", ".join(f"{value:.12g}" for value in values.tolist()) or "no value"
        yield Sentence(f"component {k}: {said}")


def _magnitude(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _asked(cell: MixtureCell, digits: int, name: str) -> Table:
    """Set the quantiles and the chances to stay below a value."""
    told = [
        *((found, f"{found.estimate:.{max(digits, 6)}g}", "{:.6g}") for found in cell.quantiles),
        *((found, chance(found.estimate), "{:.3f}") for found in cell.below),
    ]
    rows = []
    for found, text, form in told:
        ends = ", ".join(form.format(end) for end in (found.low, found.high))
        interval = f"{100 * found.confidence:g} % interval [{ends}]" if found.replicates else ""
        rows.append((found.metric, Value(text, found.estimate), interval))
    columns = (Column("of one run", "left"), Column("estimate"), Column("interval", "left"))
    return Table(name=name, columns=columns, rows=tuple(rows), headed=False)
