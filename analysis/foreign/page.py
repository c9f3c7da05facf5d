"""What an inspection says: one line a cell, then what the files cannot tell."""

from __future__ import annotations

from ..report import Column, Page, Section, Sentence, Table, Value, figures, page_of
from .inspection import Inspected, InspectedCell

__all__: list[str] = []

_NAME, _VARIANT = 32, 24
_SHOWN = 40


@page_of.register
def _(found: Inspected) -> Page:
    shown = found.cells[:_SHOWN]
    more = len(found.cells) - len(shown)
    count = len(found.cells)
    said = f"{found.format}: {count} {'cell' if count == 1 else 'cells'}; {found.rule}"
    return Page(
        title="What the files hold",
        sections=(
            Section(
                (Sentence(said), _table(shown), *([Sentence(f"and {more} more")] * (more > 0)))
            ),
            *(
                [
                    Section(
                        tuple(Sentence(text) for text in found.cannot_recover),
                        title="cannot be told from them",
                    )
                ]
                if found.cannot_recover
                else []
            ),
        ),
        cautions=found.cautions,
    )


def _table(cells: tuple[InspectedCell, ...]) -> Table:
    return Table(
        name="cells",
        columns=(
            Column("benchmark", "left"),
            Column("variant", "left"),
            Column("metric", "left"),
            Column("values"),
            Column("processes"),
            Column("failed"),
            Column("first"),
            Column("last"),
        ),
        rows=tuple(
            (
                figures.shorten(one.benchmark, _NAME),
                figures.shorten(one.variant, _VARIANT),
                one.metric,
                Value(f"{one.values}", one.values),
                _count(one.processes),
                _count(one.failed),
                _quantity(one.first, one.unit),
                _quantity(one.last, one.unit),
            )
            for one in cells
        ),
    )


def _count(value: int | None) -> Value:
    return Value("?" if value is None else f"{value}", value)


def _quantity(value: float | None, unit: str | None) -> Value:
    return Value("-" if value is None else figures.quantity(value, unit or ""), value)
