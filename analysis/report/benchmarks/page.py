"""The parts as sentences and tables, for every renderer but the HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from ...pages.model import Block, Cell, Column, Section, Sentence, Table, Value
from ...words import shown
from ..chapter import sections_of
from .result import Part, Parts, VariantRuns

__all__: list[str] = []

_NUMBERS = ("runs", "sessions", "mean", "median", "least", "most", "spread", "far", "failed")


@sections_of.register(Parts)
def _parts_sections(parts: Parts) -> tuple[Section, ...]:
    opened = [part for part in parts.benchmarks if part.opened]
    blocks: list[Block] = [_runs(parts), *_sentences(parts)]
    blocks += [
        table for table in (_sessions(parts, opened), _quantiles(parts, opened)) if table.rows
    ]
    return (Section(tuple(blocks), title=parts.title),)


def _runs(parts: Parts) -> Table:
    """Give a line for each benchmark and variant, whatever their number: it can be searched."""
    return Table(
        name=_name(parts, "runs"),
        columns=(
            Column("benchmark", "left"),
            Column("variant", "left"),
            *(Column(name) for name in _NUMBERS),
        ),
        rows=tuple(
            (shown(part.name), shown(one.variant), *_cells(one))
            for part in parts.benchmarks
            for one in part.variants
        ),
    )


def _cells(one: VariantRuns) -> tuple[Cell, ...]:
    return (
        Value(str(one.runs), one.runs),
        Value(str(one.sessions), one.sessions),
        one.mean,
        one.median,
        one.minimum,
        one.maximum,
        one.spread,
        Value(str(one.far), one.far),
        Value(str(one.failed), one.failed),
    )


def _sentences(parts: Parts) -> Iterator[Sentence]:
    """Say what is to be seen: all of an open part, of the others what a rule found."""
    for part in parts.benchmarks:
        name = shown(part.name)
        if part.opened and part.remarks:
            yield Sentence(f"{name}: {' '.join(one.text for one in part.remarks)}")
        elif part.finding is not None:
            yield Sentence(f"{name}: {part.finding.text}.")


def _sessions(parts: Parts, opened: list[Part]) -> Table:
    return Table(
        name=_name(parts, "sessions"),
        columns=(
            Column("benchmark", "left"),
            Column("candidate", "left"),
            Column("unit", "left"),
            Column("which", "left"),
            Column("speedup"),
        ),
        rows=tuple(
            (shown(part.name), shown(one.variant), one.unit, shown(each.session), each.speedup)
            for part in opened
            for one in part.candidates
            for each in one.by_session
        ),
    )


def _quantiles(parts: Parts, opened: list[Part]) -> Table:
    return Table(
        name=_name(parts, "quantiles"),
        columns=(
            Column("benchmark", "left"),
            Column("candidate", "left"),
            Column("share of runs"),
            Column("speedup"),
            Column("low"),
            Column("high"),
        ),
        rows=tuple(
            (
                shown(part.name),
                shown(one.variant),
                Value(f"{100 * at.share:g}\u00a0%", at.share),
                at.speedup,
                at.low,
                at.high,
            )
            for part in opened
            for one in part.candidates
            for at in one.shift
        ),
    )


def _name(parts: Parts, what: str) -> str:
    """Name a table; a second metric's bears the metric's place, as its anchors do."""
    return f"{parts.anchor.removesuffix('parts')}parts-{what}"
