"""Cells under the names that a person chose: which variant, which benchmark, on which occasion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import AnalysisError, UsageError
from ..record import Better
from .cells import ForeignCell, ForeignFile
from .opening import STDIN, readable

__all__ = ["Chosen", "Placed", "Sitting", "name_of", "placed_cells"]

_LONGEST = 60
_MOST_FAILED = 1_000_000

Sitting = tuple[str, str, str | None]  # an occasion, and what of it one file holds in one piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a person said of how files are read; None where the format's own rule holds.

    Attributes
    ----------
    variant, benchmark : str or None
        The key whose value is the variant, or the benchmark; ``file`` and ``folder`` are the source's
        own names.
    session : str or None
        ``file``, ``folder``, ``session`` or a key: cells of one value were measured on one occasion.
        Files and folders count by where they lie, not by their bare names; ``session`` is the file's
        own name of the occasion, which several files may share.
    metric : str or None
        Only this one.
    better : {"lower", "higher"} or None
        For metrics of which the file does not say it; one that contradicts the file is refused.
    """

    variant: str | None = None
    benchmark: str | None = None
    session: str | None = None
    metric: str | None = None
    better: Better | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A cell with the names that it has from here on.

    Attributes
    ----------
    benchmark, variant : str
        As they were chosen.
    occasion : str
        Names the session: two cells of one occasion were measured together.
    source : str
        The file's path as it was given.
    place : str
        Where the file lies, whatever way leads there.
    cell : ForeignCell
        What was measured.
    """

    benchmark: str
    variant: str
    occasion: str
    source: str
    place: str
    cell: ForeignCell

    @property
    def sitting(self) -> Sitting:
        """What of an occasion one file holds in one piece: its metrics may share processes."""
        return (self.occasion, self.source, self.cell.session)


def placed_cells(files: Sequence[ForeignFile], chosen: Chosen) -> list[list[Placed]]:
    """Name every cell; give those of each file in a list.

    Raises
    ------
    UsageError
        If a cell has no such key.
    AnalysisError
        If a name is no text, a value is too large, or a count of failed runs is absurd.
    """
    placed = [[_placed(file, cell, chosen) for cell in file.cells] for file in files]
    for cells in placed:
        for one in cells:
            _require_sound(one)
    return placed


def _placed(file: ForeignFile, cell: ForeignCell, chosen: Chosen) -> Placed:
    source = readable(file.source)
    folder = _folder_of(file.source)
    name = name_of(file.source)
    place = STDIN if file.source == STDIN else readable(str(folder / Path(file.source).name))
    own = {"file": name, "folder": STDIN if file.source == STDIN else readable(folder.name)}
    lies = {"file": place, "folder": STDIN if file.source == STDIN else readable(str(folder))}

    def of(key: str, own: dict[str, str]) -> str:
        found = cell.keys.get(key, own.get(key))
        if found is None:
            known = ", ".join(dict.fromkeys((*cell.keys, *own)))
            raise UsageError(
                f"{cell.benchmark!r} has no key {key!r}", file.source, f"known here: {known}"
            )
        return found

    benchmark = cell.benchmark if chosen.benchmark is None else of(chosen.benchmark, own)
    if chosen.variant is not None:
        variant = of(chosen.variant, own)
    else:
        variant = name if cell.variant is None else cell.variant
    if cell.session is not None:
        lies["session"] = cell.session
    if chosen.session is not None:
        occasion = of(chosen.session, lies)
    else:
        occasion = source if cell.session is None else f"{source}, {cell.session}"
    return Placed(
        benchmark=benchmark,
        variant=variant,
        occasion=occasion,
        source=source,
        place=place,
        cell=cell,
    )


def _folder_of(source: str) -> Path:
    """Give where a source lies; a link to a file lies where the link does, not what it points at."""
    path = Path(source)
    if path.name in ("", ".."):
        path = path.resolve()
    return path.parent.resolve()


def name_of(source: str) -> str:
    """Give the name of a file by which a variant, or a benchmark, is called."""
    if source == STDIN:
        return "standard input"
    name = Path(source).name or Path(source).resolve().name
    for ending in (".gz", ".bz2", ".xz", ".zst"):
        name = name.removesuffix(ending)
    return readable(name.rpartition(".")[0] or name)


def _require_sound(one: Placed) -> None:
    """Refuse names that hold halves of characters, as JSON may, and numbers beyond all measure."""
    for name in (one.benchmark, one.variant, one.cell.metric, one.cell.unit, one.occasion):
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise AnalysisError(
                f"the name {name[:_LONGEST]!r} is no text: {error.reason}",
                one.source,
                "give it another name in the file",
            ) from None
    if (one.cell.failed or 0) > _MOST_FAILED:
        raise AnalysisError(
            f"{one.benchmark[:_LONGEST]!r} has {one.cell.failed:,} failed runs",
            one.source,
            "is the file damaged? each of them would be a row",
        )
    if one.cell.values and max(one.cell.values) == math.inf:
        raise AnalysisError(
            f"a value of {one.benchmark[:_LONGEST]!r} is too large for seconds or bytes",
            one.source,
            "is the file damaged?",
        )
