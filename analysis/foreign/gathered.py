"""Files of other tools put together: which cell is which variant of which benchmark, and when."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import AnalysisError, UsageError
from ..record import Better
from ..report import Caution, figures
from .cells import ForeignCell, ForeignFile
from .opening import readable

__all__ = ["Chosen", "Gathered", "Placed", "gather"]

_SHOWN = 8
_LONGEST = 60
_MOST_FAILED = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What a person said of how files are read; None where the format's own rule holds.

    Attributes
    ----------
    variant, benchmark : str or None
        The key whose value is the variant, or the benchmark; ``file`` and ``folder`` are the source's
        own names.
    session : str or None
        ``file``, ``folder``, or a key: cells of one value were measured on one occasion.
    metric : str or None
        Only this one.
    better : {"lower", "higher"} or None
        For metrics of which the file does not say it.
    """

    variant: str | None = None
    benchmark: str | None = None
    session: str | None = None
    metric: str | None = None
    better: Better | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A cell with the names that it has from here on.

    `occasion` names the session: two cells of one occasion were measured together.
    """

    benchmark: str
    variant: str
    occasion: str
    source: str
    cell: ForeignCell


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """All cells of all files.

    Attributes
    ----------
    cells : tuple of Placed
        In the order of files and cells.
    files : tuple of ForeignFile
        Where they stem from.
    rule : str
        Which key was taken as the variant, as a sentence.
    cautions : tuple of Caution
        What was met: equal names, one variant under two names, what the files cannot tell.
    """

    cells: tuple[Placed, ...]
    files: tuple[ForeignFile, ...]
    rule: str
    cautions: tuple[Caution, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics in their order; the first is the default."""
        return tuple(dict.fromkeys(one.cell.metric for one in self.cells))

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants in their order."""
        return tuple(dict.fromkeys(one.variant for one in self.cells))

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """The benchmarks in their order."""
        return tuple(dict.fromkeys(one.benchmark for one in self.cells))


def gather(files: Sequence[ForeignFile], chosen: Chosen) -> Gathered:
    """Decide for all files alike which cell is which.

    Where the same raw values stand under two variants they are one variant, with a caution: a tool
    that keeps its last result under a second name would else be found equivalent to itself.

    Raises
    ------
    UsageError
        If a key is in no cell, or the metric in no file.
    """
    placed = [_placed(file, cell, chosen) for file in files for cell in file.cells]
    for one in placed:
        _require_writable(one)
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
    if chosen.metric is not None:
        known = list(dict.fromkeys(one.cell.metric for one in placed))
        placed = [one for one in placed if one.cell.metric == chosen.metric]
        if not placed:
            raise UsageError(
                f"the files have no metric {chosen.metric!r}",
                files[0].source,
                f"known here: {', '.join(known)}",
            )
    placed, units = _one_unit(placed)
    kept, same = _one_variant_once(placed)
    apart, equal = _kept_apart(kept)
    told = (
        *(
            Caution(loss.code, loss.text, (readable(file.source),))
            for file in files
            for loss in file.losses
        ),
        *(
            Caution(note.code, note.text, (readable(file.source),))
            for file in files
            for note in file.notes
        ),
        *units,
        *same,
        *equal,
    )
    return Gathered(
        cells=tuple(apart),
        files=tuple(files),
        rule=_rule(files, chosen),
        cautions=tuple(dict.fromkeys(told)),
    )


def _placed(file: ForeignFile, cell: ForeignCell, chosen: Chosen) -> Placed:
    source = readable(file.source)
    name = readable(_name_of(file.source))
    folder = readable(Path(file.source).resolve().parent.name) if file.source != "-" else "-"
    own = {"file": name, "folder": folder}

    def of(key: str) -> str:
        found = cell.keys.get(key, own.get(key))
        if found is None:
            known = ", ".join(dict.fromkeys((*cell.keys, *own)))
            raise UsageError(
                f"{cell.benchmark!r} has no key {key!r}", file.source, f"known here: {known}"
            )
        return found

    benchmark = cell.benchmark if chosen.benchmark is None else of(chosen.benchmark)
    if chosen.variant is not None:
        variant = of(chosen.variant)
    else:
        variant = name if cell.variant is None else cell.variant
    if chosen.session is not None:
        occasion = of(chosen.session)
    else:
        occasion = source if cell.session is None else f"{source}, {cell.session}"
    if cell.better is None and chosen.better is not None:
        cell = replace(cell, better=chosen.better)
    return Placed(benchmark=benchmark, variant=variant, occasion=occasion, source=source, cell=cell)


def _require_writable(one: Placed) -> None:
    """Refuse names that hold halves of characters, as JSON may."""
    for name in (one.benchmark, one.variant, one.cell.metric, one.cell.unit, one.occasion):
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise AnalysisError(
                f"the name {name[:_LONGEST]!r} is no text: {error.reason}",
                one.source,
                "give it another name in the file",
            ) from None


def _name_of(source: str) -> str:
    if source == "-":
        return "standard input"
    name = Path(source).name or Path(source).resolve().name
    for ending in (".gz", ".bz2", ".xz", ".zst"):
        name = name.removesuffix(ending)
    return name.rpartition(".")[0] or name


def _one_unit(placed: Sequence[Placed]) -> tuple[list[Placed], list[Caution]]:
    """Make values of one metric in several units several metrics: nobody compares them by accident."""
    first: dict[str, str] = {}
    others: dict[str, str] = {}
    kept = []
    for one in placed:
        metric, unit = one.cell.metric, one.cell.unit
        if first.setdefault(metric, unit) != unit:
            name = f"{metric} [{unit or 'no unit'}]"
            others[name] = metric
            kept.append(replace(one, cell=replace(one.cell, metric=name)))
        else:
            kept.append(one)
    told = [
        Caution(
            "units-apart",
            f"{metric} stands there in several units: {name!r} is a metric of its own",
            (name,),
        )
        for name, metric in others.items()
    ]
    return kept, told


def _one_variant_once(placed: Sequence[Placed]) -> tuple[list[Placed], list[Caution]]:
    """Drop variants all of whose values another variant has too."""
    content: dict[str, dict[tuple[str, str], list[tuple[float, ...]]]] = {}
    for one in placed:
        key = (one.benchmark, one.cell.metric)
        content.setdefault(one.variant, {}).setdefault(key, []).extend(one.cell.processes)
    first: dict[object, str] = {}
    double: dict[str, str] = {}
    for variant, values in content.items():
        shape = tuple((key, tuple(rows)) for key, rows in sorted(values.items()))
        if sum(map(len, values.values())) and shape in first:
            double[variant] = first[shape]
        else:
            first[shape] = variant
    told = [
        Caution(
            "one-variant-twice",
            f"{figures.shorten(name, 40)!r} holds exactly the values of "
            f"{figures.shorten(other, 40)!r}: they are one variant, and it is left out",
            (name, other),
        )
        for name, other in double.items()
    ]
    return [one for one in placed if one.variant not in double], told


def _kept_apart(placed: Sequence[Placed]) -> tuple[list[Placed], list[Caution]]:
    """Give a second cell of one name, variant, metric and occasion a name of its own."""
    seen: dict[tuple[str, str, str, str], int] = {}
    kept, names = [], []
    taken = {one.benchmark for one in placed}
    for one in placed:
        key = (one.benchmark, one.variant, one.cell.metric, one.occasion)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] == 1:
            kept.append(one)
            continue
        while (name := f"{one.benchmark} ({seen[key]})") in taken:
            seen[key] += 1  # the file has a benchmark of that very name
        names.append(one.benchmark)
        kept.append(replace(one, benchmark=name))
    if not names:
        return kept, []
    which = figures.listed(tuple(dict.fromkeys(names)), _SHOWN)
    text = f"benchmarks of one name stand there more than once and are kept apart: {which}"
    return kept, [Caution("equal-names", text, tuple(dict.fromkeys(names)))]


def _rule(files: Sequence[ForeignFile], chosen: Chosen) -> str:
    if chosen.variant is not None:
        return f"the variant is the key {chosen.variant!r} (--variant)"
    rules = dict.fromkeys(file.variant_rule for file in files)
    return f"the variant is {' or '.join(rules)}; --variant KEY takes another"


def occasions(gathered: Gathered) -> Iterator[tuple[str, int]]:
    """Give every occasion with its number, from 1, in their order."""
    yield from (
        (name, k) for k, name in enumerate(dict.fromkeys(o.occasion for o in gathered.cells), 1)
    )
