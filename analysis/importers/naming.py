"""Which benchmark, variant and metric a cell of a foreign file is, and on which occasion."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.opening import STDIN, readable
from ..errors import AnalysisError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution

if TYPE_CHECKING:
    from ..record.run_numbers import Better
    from .parsing import ForeignCell, ForeignFile

_SHOWN = 8

Identity = tuple[str, str | None, int]  # the file's own names, and the how many-th of them


def kept_apart(placed: Sequence[NamedCell]) -> tuple[list[NamedCell], list[Caution]]:
    """Give a second benchmark of one name, variant and occasion in one file a name of its own.

    A benchmark ends where a metric comes that it has already. Further files of one occasion hold
    further processes of the same benchmarks. What the file itself tells apart has the same name on
    every occasion, whatever its place in the file.
    """
    if len({(one.benchmark, one.variant, one.sitting) for one in placed}) == len(placed):
        return [*placed], []
    numbers = dict(_numbers(placed))
    taken = {one.benchmark for one in placed}
    names: dict[tuple[str, int], str] = {}
    kept = []
    for k, one in enumerate(placed):
        key = one.benchmark, numbers[k]
        if key[1] > 1 and key not in names:
            number = key[1]
            while (name := f"{one.benchmark} ({number})") in taken:
                number += 1  # the file has a benchmark of that very name
            names[key] = name
            taken.add(name)
        kept.append(replace(one, benchmark=names[key]) if key in names else one)
    double = tuple(dict.fromkeys(benchmark for benchmark, _ in names))
    which = figures.listed(double, _SHOWN)
    text = f"benchmarks with the same name occur more than once and are kept apart: {which}"
    return kept, [Caution("equal-names", text, double)] * bool(double)


def _numbers(placed: Sequence[NamedCell]) -> Iterator[tuple[int, int]]:
    """Give the place of each cell, and which benchmark of its name it belongs to, from 1."""
    groups: dict[tuple[str, str], dict[Sitting, dict[Identity, list[int]]]] = {}
    for k, identity in enumerate(_identities(placed)):
        one = placed[k]
        sittings = groups.setdefault((one.benchmark, one.variant), {})
        sittings.setdefault(one.sitting, {}).setdefault(identity, []).append(k)
    for sittings in groups.values():
        known: dict[Identity, int] = {}
        for identities in sittings.values():
            for identity, number in _assigned(identities, known).items():
                yield from ((k, number) for k in identities[identity])


def _assigned(identities: Collection[Identity], known: dict[Identity, int]) -> dict[Identity, int]:
    """Give each benchmark of a sitting its number: as before, else the first that is free."""
    found: dict[Identity, int] = {}
    used: set[int] = set()
    for identity in identities:
        number = known.get(identity)
        if number is not None and number not in used:
            found[identity] = number
            used.add(number)
    free = (number for number in count(1) if number not in used)
    for identity in identities:
        if identity not in found:
            found[identity] = next(free)
            known.setdefault(identity, found[identity])
    return found


def _identities(placed: Sequence[NamedCell]) -> Iterator[Identity]:
    """Tell which benchmark of the file each cell belongs to."""
    counts: dict[object, int] = {}
    metrics: dict[object, set[str]] = {}
    for one in placed:
        key = (one.benchmark, one.variant, one.sitting, one.cell.benchmark, one.cell.variant)
        if key not in metrics or one.cell.metric in metrics[key]:
            counts[key] = counts.get(key, 0) + 1
            metrics[key] = set()
        metrics[key].add(one.cell.metric)
        yield (one.cell.benchmark, one.cell.variant, counts[key])


_UNSAID = "direction unknown"


def one_meaning(
    placed: Sequence[NamedCell], better: Better | None
) -> tuple[list[NamedCell], list[Caution]]:
    """Make values of one metric in several units, or directions, several metrics.

    Nobody compares them by accident then. Cells that do not tell the direction have the one that the
    others of their metric tell, if it is one.
    """
    said: dict[tuple[str, str], dict[Better, str]] = {}
    for one in placed:
        if one.cell.better is not None:
            directions = said.setdefault((one.cell.metric, one.cell.unit), {})
            directions.setdefault(one.cell.better, one.source)
    taken = {one.cell.metric for one in placed}
    names: dict[str, dict[tuple[str, Better | None], str]] = {}  # by metric, then by meaning
    told: list[Caution] = []
    kept = []
    for one in placed:
        metric, unit = one.cell.metric, one.cell.unit
        directions = said.get((metric, unit), {})
        direction = one.cell.better
        if direction is None:
            direction = _unsaid(metric, directions, better)
        meaning = (unit, direction if len(directions) > 1 else None)
        known = names.setdefault(metric, {})
        if meaning not in known:
            code, how = "units-apart", "in several units"
            if unit in {of for of, _ in known}:
                code, how = "directions-apart", "with both directions"
            known[meaning] = _free(metric, meaning, known, taken)
            if known[meaning] != metric:
                text = f"{metric} stands there {how}: {known[meaning]!r} is a metric of its own"
                told.append(Caution(code, text, (known[meaning],)))
        if (known[meaning], direction) != (metric, one.cell.better):
            cell = replace(one.cell, metric=known[meaning], better=direction)
            one = replace(one, cell=cell)  # noqa: PLW2901
        kept.append(one)
    return kept, told


def _free(
    metric: str,
    meaning: tuple[str, Better | None],
    known: Mapping[tuple[str, Better | None], str],
    taken: set[str],
) -> str:
    """Name a meaning of a metric: the first one has its name, others their unit, or direction, behind it."""
    unit, direction = meaning
    same = [name for (of, _), name in known.items() if of == unit]
    name = metric
    if same:
        name = f"{same[0]} [{direction or _UNSAID}]"
    elif known:
        name = f"{metric} [{unit or 'no unit'}]"
    while name in taken - {metric}:  # the file has a metric of that very name
        name += "*"
    taken.add(name)
    return name


def _unsaid(metric: str, said: dict[Better, str], better: Better | None) -> Better | None:
    """Find the direction of a cell that does not tell it."""
    if len(said) != 1:
        return better
    ((direction, where),) = said.items()
    if better is not None and better != direction:
        raise _contradicted(metric, direction, better, where)
    return direction


def require_agreement(cells: Iterable[NamedCell], better: Better | None) -> None:
    """Refuse a direction that no metric takes, and that each of them contradicts."""
    if better is None:
        return
    said = {one.cell.metric: (one.cell.better, one.source) for one in reversed([*cells])}
    directions = {direction for direction, _ in said.values()}
    if directions and None not in directions and better not in directions:
        metrics = figures.listed(tuple(reversed(said)), 3)
        (direction, where) = next(reversed(said.values()))
        assert direction is not None
        raise _contradicted(metrics, direction, better, where)


def _contradicted(metric: str, said: Better, better: Better, where: str) -> UsageError:
    return UsageError(
        f"the file says that {said} values of {metric} are better, the call says {better}",
        where,
        f"leave out --better {better}",
    )


_LONGEST = 60
_MOST_FAILED = 1_000_000

Sitting = tuple[str, str, str | None]  # an occasion, and what of it one file holds in one piece


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingChoices:
    """What a person said of how files are read; None where the format's own rule holds.

    `variant`, `benchmark`: The key whose value is the variant, or the benchmark; ``file`` and
    ``folder`` are the source's own names. `session`: ``file``, ``folder``, ``session`` or a key:
    cells of one value were measured on one occasion. Files and folders count by where they lie, not
    by their bare names; ``session`` is the file's own name of the occasion, which several files may
    share. `metric`: Only this one. `better`: For metrics of which the file does not say it; one
    that contradicts the file is refused.
    """

    variant: str | None = None
    benchmark: str | None = None
    session: str | None = None
    metric: str | None = None
    better: Better | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCell:
    """A cell with the names that it has from here on.

    `benchmark`, `variant`: As they were chosen. `occasion`: Names the session: two cells of one
    occasion were measured together. `source`: The file's path as it was given. `place`: Where the
    file lies, whatever way leads there. `cell`: What was measured.
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


def placed_cells(files: Sequence[ForeignFile], chosen: ReadingChoices) -> list[list[NamedCell]]:
    """Name every cell; give those of each file in a list."""
    sound: set[str] = set()
    placed = [[*_placed(file, chosen)] for file in files]
    for one in chain.from_iterable(placed):
        _require_sound(one, sound)
    return placed


def _placed(file: ForeignFile, chosen: ReadingChoices) -> Iterator[NamedCell]:
    source = readable(file.source)
    folder = _folder_of(file.source)
    name = name_of(file.source)
    place = STDIN if file.source == STDIN else readable(str(folder / Path(file.source).name))
    own = {"file": name, "folder": STDIN if file.source == STDIN else readable(folder.name)}
    lies = {"file": place, "folder": STDIN if file.source == STDIN else readable(str(folder))}
    occasions: dict[str | None, str] = {None: source}

    def of(cell: ForeignCell, key: str, own: dict[str, str]) -> str:
        found = cell.keys.get(key, own.get(key))
        if found is None:
            known = ", ".join(dict.fromkeys((*cell.keys, *own)))
            what = f"{cell.benchmark!r} has no key {key!r}"
            raise UsageError(what, file.source, f"known here: {known}")
        return found

    for cell in file.cells:
        if chosen.session is not None:
            session = {} if cell.session is None else {"session": cell.session}
            occasion = of(cell, chosen.session, lies | session)
        elif cell.session in occasions:
            occasion = occasions[cell.session]
        else:
            occasion = occasions[cell.session] = f"{source}, {cell.session}"
        variant = name if cell.variant is None else cell.variant
        yield NamedCell(
            benchmark=of(cell, chosen.benchmark, own) if chosen.benchmark else cell.benchmark,
            variant=of(cell, chosen.variant, own) if chosen.variant else variant,
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
    for ending in (".gz", ".bz2", ".xz", ".zst", ".lz"):
        name = name.removesuffix(ending)
    return readable(name.rpartition(".")[0] or name)


def _require_sound(one: NamedCell, sound: set[str]) -> None:
    """Refuse names that hold halves of characters, as JSON may, and numbers beyond all measure."""
    for name in {one.benchmark, one.variant, one.cell.metric, one.cell.unit, one.occasion} - sound:
        sound.add(name)
        try:
            name.encode()
        except UnicodeEncodeError as error:
            what = f"the name {name[:_LONGEST]!r} is not text: {error.reason}"
            raise AnalysisError(what, one.source, "give it another name in the file") from None
    bench = repr(one.benchmark[:_LONGEST])
    if (one.cell.failed or 0) > _MOST_FAILED:
        fix = "is the file damaged? each of them would be a row"
        raise AnalysisError(f"{bench} has {one.cell.failed:,} failed runs", one.source, fix)
    if one.cell.values and max(one.cell.values) == math.inf:
        what = f"a value of {bench} is too large for seconds or bytes"
        raise AnalysisError(what, one.source, "is the file damaged?")
