"""What is in these files? The answer of ``fairtrial import --dry-run``: nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..report import Result
from .cells import ForeignCell
from .gathered import Gathered

__all__ = ["Inspected", "InspectedCell", "inspect_files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedCell:
    """One cell as it would be stored; None where the file does not tell.

    Attributes
    ----------
    benchmark, variant, metric, unit, source : str
        Times are in seconds, sizes in bytes, whatever the file's unit; other units as they stand.
    better : str or None
        Which direction is better.
    values : int
        Raw values: no warm-ups, no failed runs.
    first, last, sum : float or None
        Of these values.
    processes, iterations : int or None
        Processes, and values of each (None also where processes differ in it).
    warmups, failed : int or None
        Values and runs that are left out.
    session : str or None
        The file's own name of the occasion.
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

    Attributes
    ----------
    format : str
        The format; ``several`` where the files differ in it.
    rule : str
        Which key is the variant, as a sentence.
    cells : tuple of InspectedCell
        In the order of the files.
    cannot_recover : tuple of str
        What the files do not hold, a sentence each.
    """

    method: ClassVar[str] = "import"

    format: str
    rule: str
    cells: tuple[InspectedCell, ...]
    cannot_recover: tuple[str, ...]


def inspect_files(gathered: Gathered) -> Inspected:
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


def _cells(gathered: Gathered) -> Iterator[InspectedCell]:
    for one in gathered.cells:
        values = one.cell.values
        yield InspectedCell(
            benchmark=one.benchmark,
            variant=one.variant,
            metric=one.cell.metric,
            unit=one.cell.unit or None,
            better=one.cell.better,
            values=len(values),
            first=values[0] if values else None,
            last=values[-1] if values else None,
            sum=sum(values) if values else None,
            processes=len(one.cell.processes) if one.cell.known else None,
            iterations=_iterations(one.cell),
            warmups=one.cell.warmups,
            failed=one.cell.failed,
            source=one.source,
            session=one.cell.session,
        )


def _iterations(cell: ForeignCell) -> int | None:
    if not cell.known:
        return None
    counts = {len(process) for process in cell.processes}
    return counts.pop() if len(counts) == 1 else None
