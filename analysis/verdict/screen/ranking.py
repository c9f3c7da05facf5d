"""Pairs, ranks and chances in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...methods.multilevel.page import level_text, looks_text
from ...pages import number_format as figures
from ...pages.model import (
    Column,
    Next,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    page_of,
)
from ...pages.number_format import Word, said
from ...record.warmup_iterations import asked_words
from ...words import shorten
from ..ranking import BestOf, PairLine, Ranking

if TYPE_CHECKING:
    from ...stats.ranks import Friedman

_NAME = 24


@page_of.register(Ranking)
def _ranking_page(result: Ranking) -> Page:
    blocks: list[Table | Sentence] = []
    if result.ranked:
        blocks.append(_places(result))
        if result.friedman is not None and result.nemenyi is not None:
            blocks.append(Sentence(_published(result.variants, result.friedman, result.nemenyi)))
    heading = Sentence(
        f"{len(result.variants)} variants, {len(result.pairs)} pairs · {_metric(result.metric)} · "
        f"{result.sessions} session{'s' * (result.sessions != 1)} · margin "
        f"{100 * result.margin:g} % · words after Holm over the pairs"
    )
    told = looks_text(result)
    pairs = Section((_pairs(result), *([Sentence(told)] if told else [])))
    sections = (Section((heading, Section(tuple(blocks)))), pairs) if blocks else None
    return Page(
        title=f"Pairs of {result.trial}",
        sections=sections or (Section((heading, pairs)),),
        cautions=result.cautions,
        following=(
            Section(
                (
                    Next(
                        ("fairtrial", "verdict", result.path, *asked_words()),
                        "against the baseline, benchmark by benchmark",
                    ),
                )
            ),
        ),
    )


def _metric(metric: str) -> str:
    return "wall time" if metric == "wall" else metric


def _places(result: Ranking) -> Table:
    return Table(
        name="places",
        columns=columns_of("rank", "<"),
        rows=tuple(
            (
                f"{one.best}" if one.best == one.worst else f"{one.best} to {one.worst}",
                shorten(one.variant, _NAME),
            )
            for one in result.places
        ),
    )


def _published(variants: tuple[str, ...], found: Friedman, difference: float) -> str:
    ranks = ", ".join(
        f"{shorten(name, _NAME)} {rank:.2f}"
        for name, rank in zip(variants, found.ranks, strict=True)
    )
    p = found.pvalue if found.pvalue_tied is None else found.pvalue_tied
    return (
        f"Friedman over {found.benchmarks} benchmarks: mean ranks {ranks}; p {figures.pvalue(p)}; "
        f"Nemenyi's critical difference {difference:.2f}"
    )


def _pairs(result: Ranking) -> Table:
    level = level_text(result.look_alpha)
    return Table(
        name="pairs",
        columns=columns_of("<", "<against", "speedup", f"<{level}", "<", "<benchmarks"),
        rows=tuple(
            (
                shorten(one.candidate, _NAME),
                shorten(one.baseline, _NAME),
                _speedup(one),
                ("-" if one.low is None or one.high is None else figures.ends(one.low, one.high)),
                said(one.outcome, timed=result.timed),
                _counts(one, timed=result.timed),
            )
            for one in result.pairs
        ),
    )


def _speedup(one: PairLine) -> Value:
    if one.speedup is None:
        return Value("-", None)
    return Value(figures.ratio_within(one.speedup, one.low, one.high), one.speedup)


def _counts(one: PairLine, *, timed: bool) -> str:
    counts: tuple[tuple[int, Word], ...] = ((one.faster, "faster"), (one.slower, "slower"))
    told = [f"{count} {said(word, timed=timed)}" for count, word in counts if count]
    return ", ".join(told)


@page_of.register(BestOf)
def _best_of_page(result: BestOf) -> Page:
    many = "one run" if result.runs == 1 else f"the best of {result.runs} runs"
    rows = [("mean of all", result.mean)] if len(result.benchmarks) > 1 else []
    table = Table(
        name="chances",
        columns=(
            Column("", "left"),
            *(Column(shorten(name, _NAME)) for name in result.variants),
        ),
        rows=tuple(
            (
                shorten(name, _NAME),
                *(Value(f"{chances[v]:.3f}", chances[v]) for v in result.variants),
            )
            for name, chances in (
                *((one.benchmark, one.chances) for one in result.benchmarks),
                *rows,
            )
        ),
    )
    heading = Sentence(f"the chance to win with {many} each · {_metric(result.metric)}")
    return Page(
        title=f"Best runs of {result.trial}",
        sections=(Section((heading, Section((table,)))),),
        cautions=result.cautions,
    )
