"""What is in these files? The answer of ``fairtrial import --dry-run``: nothing is written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..pages import number_format as figures
from ..pages.model import Column, Page, Section, Sentence, Table, Value, page_of
from ..pages.result import Result
from ..words import shorten

if TYPE_CHECKING:
    from .gathering import GatheredCells


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedCell:
    """One cell as it would be stored; None where the file does not tell.

    `benchmark`, `variant`, `metric`, `unit`, `source`: Times are in seconds, sizes in bytes,
    whatever the file's unit; other units as they stand. `better`: Which direction is better.
    `values`: Raw values: no warm-ups, no failed runs. `first`, `last`, `sum`: Of these values.
    `processes`, `iterations`: Processes, and values of each (None also where processes differ in
    it). `warmups`, `failed`: Values and runs that are left out. `session`: The file's own name of
    the occasion.
    """

    benchmark: str
    variant: str
    metric: str
    unit: str | None
    better: str | None
    values: int
    first: float | None
    last: float | None
    sum: float | None
    processes: int | None
    iterations: int | None
    warmups: int | None
    failed: int | None
    source: str
    session: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Inspected(Result):
    """All cells of all files, and what they cannot tell.

    `format`: The format; ``several`` where the files differ in it. `rule`: Which key is the
    variant, as a sentence. `cells`: In the order of the files. `cannot_recover`: What the files do
    not hold, a sentence each.
    """

    method: ClassVar[str] = "import"

    format: str
    rule: str
    cells: tuple[InspectedCell, ...]
    cannot_recover: tuple[str, ...]


def inspect_files(gathered: GatheredCells) -> Inspected:
    """Count what the files hold."""
    formats = list(dict.fromkeys(file.format for file in gathered.files))
    losses = dict.fromkeys(loss.text for file in gathered.files for loss in file.losses)
    lost = {loss.code for file in gathered.files for loss in file.losses}
    return Inspected(
        format=formats[0] if len(formats) == 1 else "several",
        rule=gathered.rule,
        cells=tuple(_cells(gathered)),
        cannot_recover=tuple(losses),
        cautions=tuple(one for one in gathered.cautions if one.code not in lost),
    )


def _cells(gathered: GatheredCells) -> Iterator[InspectedCell]:
    for one in gathered.cells:
        values = one.cell.values
        sizes = {len(process) for process in one.cell.processes} if one.cell.known else set()
        yield InspectedCell(
            benchmark=one.benchmark,
            variant=one.variant,
            metric=one.cell.metric,
            unit=one.cell.unit or None,
            better=one.cell.better,
            values=len(values),
            first=values[0] if values else None,
            last=values[-1] if values else None,
            sum=_sum(values),
            processes=len(one.cell.processes) if one.cell.known else None,
            iterations=sizes.pop() if len(sizes) == 1 else None,
            warmups=one.cell.warmups,
            failed=one.cell.failed,
            source=one.source,
            session=one.cell.session,
        )


def _sum(values: Sequence[float]) -> float | None:
    """Give the sum, of the same digits under every Python; None where a double cannot hold it."""
    try:
        return math.fsum(values) if values else None
    except OverflowError:
        return None


_NAME, _VARIANT = 32, 24
_SHOWN = 40


@page_of.register(Inspected)
def _inspected_page(found: Inspected) -> Page:
    more = len(found.cells) - _SHOWN
    said = f"{found.format}: {figures.counted(len(found.cells), 'cell')}; {found.rule}"
    last = [Sentence(f"and {more} more")] * (more > 0)
    sections = [Section((Sentence(said), _table(found.cells[:_SHOWN]), *last))]
    if found.cannot_recover:
        told = tuple(map(Sentence, found.cannot_recover))
        sections.append(Section(told, title="cannot be told from them"))
    return Page(title="What the files hold", sections=tuple(sections), cautions=found.cautions)


def _table(cells: tuple[InspectedCell, ...]) -> Table:
    return Table(
        name="cells",
        columns=(
            *(Column(heading, "left") for heading in ("benchmark", "variant", "metric")),
            *map(Column, ("values", "processes", "failed", "first", "last")),
        ),
        rows=tuple(
            (
                shorten(one.benchmark, _NAME),
                shorten(one.variant, _VARIANT),
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
