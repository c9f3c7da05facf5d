"""The suite in sentences and tables."""

from __future__ import annotations

from ...pages.model import Cell, Column, CommandLine, Section, Sentence, Table, Value
from ...words import shown
from ..chapter import sections_of
from ..spoken import spoken_text
from .result import FiveNumbers, Plane, Ranks, Suite

__all__: list[str] = []

_FIVE = ("worst", "lower quartile", "median", "upper quartile", "best")


@sections_of.register(Suite)
def _suite_sections(chapter: Suite) -> tuple[Section, ...]:
    sections = [Section((Sentence(spoken_text(chapter.reading)), _boxes(chapter)), "All runs")]
    if chapter.ranks is not None:
        more = (Sentence(chapter.friedman),) if chapter.friedman else ()
        commands = tuple(CommandLine(shown(line)) for line in chapter.commands)
        sections.append(Section((*_ranks(chapter.ranks), *more, *commands), "Ranking"))
    if chapter.plane is not None:
        sections.append(Section(_plane(chapter.plane), "What goes together"))
    left_out = (
        [
            f"Without a box, because runs of 0 have no ratio: {', '.join(map(shown, chapter.left_out))}."
        ]
        if chapter.left_out
        else []
    )
    rest = tuple(Sentence(shown(text)) for text in (*left_out, *chapter.missing))
    return (*sections, Section(rest)) if rest else tuple(sections)


def _boxes(chapter: Suite) -> Table:
    """List the five numbers of each cell; the baseline's stand once."""
    rows: list[tuple[Cell, ...]] = []
    for k, column in enumerate(chapter.boxes):
        for row in column.rows:
            if k == 0:
                rows.append(_row(row.benchmark, chapter.baseline, row.baseline))
            if row.candidate is not None:
                rows.append(_row(row.benchmark, column.candidate, row.candidate))
    return Table(
        name="five-numbers",
        columns=(
            Column("benchmark", "left"),
            Column("variant", "left"),
            Column("runs"),
            *(Column(heading) for heading in _FIVE),
        ),
        rows=tuple(rows),
    )


def _row(benchmark: str, variant: str, one: FiveNumbers) -> tuple[Cell, ...]:
    five = (one.worst, one.q1, one.median, one.q3, one.best)
    return (shown(benchmark), shown(variant), Value(f"{one.runs}", one.runs), *map(_times, five))


def _times(value: Value) -> Value:
    return Value(f"{value.text}x", value.value) if value.text else value


def _ranks(ranks: Ranks) -> tuple[Sentence | Table, ...]:
    places = Table(
        name="ranks",
        columns=(
            Column("rank"),
            Column("variant", "left"),
            Column("speedup"),
            Column("low"),
            Column("high"),
            Column("not told apart from", "left"),
        ),
        rows=tuple(
            (
                row.rank,
                shown(row.variant),
                _times(row.speedup),
                row.low,
                row.high,
                ", ".join(map(shown, row.alike)),
            )
            for row in ranks.rows
        ),
    )
    pairs = Table(
        name="pairs",
        columns=(
            Column("better", "left"),
            Column("against", "left"),
            Column("speedup"),
            Column("low"),
            Column("high"),
            Column("p, Holm"),
            Column("word", "left"),
        ),
        rows=tuple(
            (
                shown(pair.candidate),
                shown(pair.baseline),
                _times(pair.speedup),
                pair.low,
                pair.high,
                pair.pvalue,
                pair.word,
            )
            for pair in ranks.pairs
        ),
    )
    return Sentence(spoken_text(ranks.lead)), places, Sentence(ranks.rule), pairs


def _plane(plane: Plane) -> tuple[Sentence | Table, ...]:
    table = Table(
        name="coordinates",
        columns=(Column("what", "left"), Column("name", "left"), Column("PC1"), Column("PC2")),
        rows=tuple(
            (kind, shown(mark.name), mark.x, mark.y)
            for kind, marks in (("variant", plane.variants), ("benchmark", plane.benchmarks))
            for mark in marks
        ),
    )
    cautions = tuple(Sentence(f"{shown(text)}.") for text in plane.cautions)
    return Sentence(f"{shown(plane.conclusion)}."), *cautions, table
