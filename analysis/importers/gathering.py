"""Files of other tools put together: which benchmark, variant, metric and occasion each cell is, and what stands there twice.

A copy is no further measurement: taken for one it makes sessions and certainty of nothing, and finds a
program equivalent to itself.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ..data.matrix_file import means_among
from ..data.opening import STDIN, no_collections, readable
from ..data.trial_cautions import CHANGED, HOSTS, settings_differ
from ..errors import AnalysisError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution
from ..record.run_numbers import Better
from ..words import Name
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
    taken = {one.benchmark for one in placed}
    names: dict[tuple[str, int], str] = {}
    kept = []
    for one, number in zip(placed, _numbers(placed), strict=True):
        key = one.benchmark, number
        if number > 1 and key not in names:
            while (name := f"{one.benchmark} ({number})") in taken:
                number += 1  # noqa: PLW2901 - the file has a benchmark of that very name
            names[key] = name
            taken.add(name)
        kept.append(replace(one, benchmark=names[key]) if key in names else one)
    double = tuple(dict.fromkeys(benchmark for benchmark, _ in names))
    which = figures.listed(double, _SHOWN)
    text = f"benchmarks with the same name occur more than once and are kept apart: {which}"
    return kept, [Caution("equal-names", text, double)] * bool(double)


def _numbers(placed: Sequence[NamedCell]) -> list[int]:
    """Tell which benchmark of its name each cell belongs to, from 1: as in a sitting before, else the first that is free."""
    groups: dict[tuple[str, str], dict[Sitting, dict[Identity, list[int]]]] = {}
    counts: Counter[object] = Counter()
    metrics: dict[object, set[str]] = {}
    for k, one in enumerate(placed):
        own = (one.cell.benchmark, one.cell.variant)
        key = (one.benchmark, one.variant, one.sitting, *own)
        if one.cell.metric in metrics.get(key, {one.cell.metric}):
            counts[key] += 1
            metrics[key] = set()
        metrics[key].add(one.cell.metric)
        sittings = groups.setdefault((one.benchmark, one.variant), {})
        sittings.setdefault(one.sitting, {}).setdefault((*own, counts[key]), []).append(k)
    numbers = [1] * len(placed)
    for sittings in groups.values():
        known: dict[Identity, int] = {}
        for identities in sittings.values():
            found: dict[Identity, int] = {}
            for identity in identities:
                if (number := known.get(identity)) is not None and number not in found.values():
                    found[identity] = number
            free = iter(sorted({*range(1, len(identities) + len(found) + 1)} - {*found.values()}))
            for identity, places in identities.items():
                if identity not in found:
                    found[identity] = next(free)
                    known.setdefault(identity, found[identity])
                for k in places:
                    numbers[k] = found[identity]
    return numbers


def one_meaning(
    placed: Sequence[NamedCell], better: Better | None
) -> tuple[list[NamedCell], list[Caution]]:
    """Make values of one metric in several units, or directions, several metrics.

    Nobody compares them by accident then. Cells that do not tell the direction have the one that the
    others of their metric tell, if it is one.
    """
    texts: dict[tuple[str, str], dict[Better, str]] = {}
    for one in placed:
        if one.cell.better is not None:
            directions = texts.setdefault((one.cell.metric, one.cell.unit), {})
            directions.setdefault(one.cell.better, one.source)
    taken = {one.cell.metric for one in placed}
    names: dict[str, dict[tuple[str, Better | None], str]] = {}  # by metric, then by meaning
    parts: list[Caution] = []
    kept = []
    for one in placed:
        metric, unit = one.cell.metric, one.cell.unit
        directions = texts.get((metric, unit), {})
        direction = one.cell.better
        if direction is None:  # what the others of its metric say, if it is one direction
            ((direction, where),) = directions.items() if len(directions) == 1 else ((better, ""),)
            if better is not None and better != direction:
                raise _contradicted(metric, direction, better, where)
        meaning = (unit, direction if len(directions) > 1 else None)
        known = names.setdefault(metric, {})
        if meaning not in known:
            # the first one has the metric's name, others also unit or direction
            same = [name for (of, _), name in known.items() if of == unit]
            name = f"{metric} [{unit or 'no unit'}]" if known else metric
            name = f"{same[0]} [{meaning[1] or 'direction unknown'}]" if same else name
            while name in taken - {metric}:  # the file has a metric of that very name
                name += "*"
            taken.add(name)
            known[meaning] = name
            if name != metric:
                code, how = "units-apart", "in several units"
                code, how = ("directions-apart", "with both directions") if same else (code, how)
                text = f"{metric} stands there {how}: {name!r} is a metric of its own"
                parts.append(Caution(code, text, (name,)))
        if (known[meaning], direction) != (metric, one.cell.better):
            cell = replace(one.cell, metric=known[meaning], better=direction)
            one = replace(one, cell=cell)  # noqa: PLW2901
        kept.append(one)
    return kept, parts


def require_agreement(cells: Iterable[NamedCell], better: Better | None) -> None:
    """Refuse a direction that no metric takes, and that each of them contradicts."""
    if better is None:
        return
    texts = {one.cell.metric: (one.cell.better, one.source) for one in reversed([*cells])}
    directions = {direction for direction, _ in texts.values()}
    if directions and None not in directions and better not in directions:
        metrics = figures.listed(tuple(reversed(texts)), 3)
        direction, where = next(reversed(texts.values()))
        raise _contradicted(metrics, direction, better, where)


def _contradicted(metric: str, found: Better | None, better: Better, where: str) -> UsageError:
    what = f"the file says that {found} values of {metric} are better, the call says {better}"
    return UsageError(what, where, f"leave out --better {better}")


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
    share. `metric`: Only this one. `better`: For metrics where the file does not say it; one
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


def _placed(file: ForeignFile, chosen: ReadingChoices) -> Iterator[NamedCell]:
    source, name, path = readable(file.source), name_of(file.source), Path(file.source)
    path = path.resolve() if path.name in ("", "..") else path
    folder = path.parent.resolve()  # a link to a file lies where the link does
    own = {"file": name, "folder": readable(folder.name)}
    lies = {"file": readable(str(folder / path.name)), "folder": readable(str(folder))}
    if file.source == STDIN:
        own["folder"], lies = STDIN, {"file": STDIN, "folder": STDIN}

    def of(cell: ForeignCell, key: str, own: dict[str, str]) -> str:
        found = cell.keys.get(key, own.get(key))
        if found is None:
            known = ", ".join(dict.fromkeys((*cell.keys, *own)))
            what = f"{cell.benchmark!r} has no key {key!r}"
            raise UsageError(what, file.source, f"known here: {known}")
        return found

    for cell in file.cells:
        session = {} if cell.session is None else {"session": cell.session}
        occasion = source if cell.session is None else f"{source}, {cell.session}"
        variant = name if cell.variant is None else cell.variant
        yield NamedCell(
            benchmark=of(cell, chosen.benchmark, own) if chosen.benchmark else cell.benchmark,
            variant=of(cell, chosen.variant, own) if chosen.variant else variant,
            occasion=of(cell, chosen.session, lies | session) if chosen.session else occasion,
            source=source,
            place=lies["file"],
            cell=cell,
        )


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


# --- What stands there twice.


_OF_BENCHMARK = ("benchmark", "variant", "session", "keys")
_DIGITS_OF_CLOCK = 3  # clocks of fewer digits give two programs the same time by chance
_DIGITS_OF_COPY = 6  # this number of digits hardly comes twice
_VALUES_OF_COPY = 8  # nor does this number of values in one order

_UNSURE = "too little to tell a copy from a measurement, so both are taken"

Results = dict[tuple[str, str], list[NamedCell]]  # by benchmark and metric
Double = tuple[Sequence[NamedCell], NamedCell]  # what is left out, and one of what it repeats


def sources_twice(files: Sequence[Sequence[NamedCell]]) -> tuple[frozenset[int], list[Caution]]:
    """Find files that were named twice, or hold only what another file holds, perhaps with more behind it.

    So do copies, and copies that were made before more was appended. A benchmark that is called like the file
    changes its name with it. Files that are variants by their names hold different variants, and are none of these.
    Nor are files of so few or coarse values that two measurements may give the same: a caution says it.
    """
    wholes = [_by_key(cells) for cells in files]
    beginning: dict[object, list[int]] = {}  # files by the first value of each of their results
    for k, whole in enumerate(wholes):
        for key, values in whole.items():
            beginning.setdefault((key, values[0]), []).append(k)
    first: dict[object, int] = {}
    dropped = set()
    texts = []
    for k, cells in enumerate(files):
        here = None if cells[0].place == STDIN else cells[0].place
        other = first.setdefault(here or k, k)
        sure, text = True, "{} is {} again"
        if other == k:
            if not wholes[k] or (other := _holder(k, wholes, beginning)) == k:
                continue
            names = [[one.benchmark for one in files[n]] for n in (k, other)]
            alike = wholes[k] == wholes[other]
            fine = any(_may_be_kept([one], _DIGITS_OF_COPY) for one in cells)
            if not (alike or fine):
                continue
            kept = any(_surely_kept([one]) for one in cells)
            sure = kept or (alike and fine and names[0] == names[1])
            text = "{} holds nothing but values of {}"
        about = (cells[0].source, files[other][0].source)
        words = text.format(*map(repr, about))
        if sure:
            dropped.add(k)
            texts.append(Caution("one-source-twice", f"{words}: a copy, which is left out", about))
        else:
            texts.append(Caution("sources-alike", f"{words}: {_UNSURE}", about))
    return frozenset(dropped), texts


def _by_key(cells: Sequence[NamedCell]) -> dict[object, list[float]]:
    """Give all values of each benchmark, variant and metric that has some."""
    found: dict[object, list[float]] = {}
    own = name_of(cells[0].source)
    for one in cells:
        if one.cell.values:
            name = None if one.benchmark == own else one.benchmark
            key = (name, one.variant, one.cell.metric, one.cell.unit)
            found.setdefault(key, []).extend(one.cell.values)
    return found


def _holder(
    k: int, wholes: Sequence[dict[object, list[float]]], beginning: dict[object, list[int]]
) -> int:
    """Find an earlier file with the same values, or any that goes on where this one ends; else give this one."""
    mine = wholes[k]
    key, values = next(iter(mine.items()))
    for other in beginning[key, values[0]]:
        theirs = wholes[other]
        if all(of == theirs.get(key, [])[: len(of)] for key, of in mine.items()) and (
            other < k or (other > k and theirs != mine)
        ):
            return other
    return k


def _digits(value: float) -> int:
    """Count the significant digits; those beyond the ninth may stem from a unit's conversion."""
    return len(f"{value:.8e}".partition("e")[0].replace(".", "").strip("0"))


def one_definition(placed: Sequence[NamedCell]) -> tuple[list[NamedCell], list[Caution]]:
    """Give benchmarks of one name that are measured in other ways names of their own: each is another benchmark."""
    ways: dict[str, dict[str, None]] = {}
    for one in placed:
        if one.cell.definition:
            ways.setdefault(one.benchmark, {})[one.cell.definition] = None
    several = {name: known for name, known in ways.items() if len(known) > 1}
    kept = [
        replace(one, benchmark=f"{one.benchmark} [{one.cell.definition}]")
        if one.benchmark in several and one.cell.definition
        else one
        for one in placed
    ]
    words = []
    for name, known in several.items():
        which = f"{figures.listed(list(known), _SHOWN)}; --benchmark KEY takes them as one"
        text = f"{name!r} was measured in {len(known)} ways, which are not compared: {which}"
        words.append(Caution(CHANGED, text))
    return kept, words


def one_result_once(placed: Sequence[NamedCell]) -> tuple[list[NamedCell], list[Caution]]:
    """Drop results that were not measured again, but kept: under a second name, or for a second day.

    A tool that keeps its last result under a second name would else be found equivalent to itself. A variant is dropped
    where another one has all its values, then a benchmark of a variant, then what one file holds of it on one
    occasion. Counts that are the same in every run, and nothing else, tell no copy.
    """
    texts: list[Caution] = []
    units: list[Callable[[NamedCell], object]] = [
        lambda one: one.variant,
        lambda one: (one.benchmark, one.variant),
        lambda one: (one.benchmark, one.variant, one.sitting),
    ]
    for k, unit in enumerate(units):
        double = _repeated(placed, unit, whole=k < 2)
        for pair in [(cells[0].variant, other.variant) for cells, other in double if k == 0]:
            ours, theirs = map(Name, pair)
            text = f"'{ours:.40}' holds exactly the values of '{theirs:.40}': they are one variant, and it is left out"
            texts.append(Caution("one-variant-twice", text, pair))
        for pair, names in _by_pair(double if k else ()).items():
            which = f"{figures.listed(names, _SHOWN)}: not measured again, so left out there"
            text = f"{pair[0]!r} has exactly the values of {pair[1]!r} for {which}"
            texts.append(Caution("one-result-twice", text, (*pair, *names[:_SHOWN])))
        left_out = {id(one) for cells, _ in double for one in cells}
        placed = [one for one in placed if id(one) not in left_out]
    return list(placed), texts


def _repeated(
    placed: Sequence[NamedCell], unit: Callable[[NamedCell], object], *, whole: bool
) -> list[Double]:
    """Find units all of whose values an earlier one has too.

    Of many parts some are alike by chance: there a sign is demanded that is no chance.
    """
    units: dict[object, Results] = {}
    for one in placed:
        results = units.setdefault(unit(one), {})
        results.setdefault((one.benchmark, one.cell.metric), []).append(one)
    first: dict[object, NamedCell] = {}
    double: list[Double] = []
    for results in units.values() if len(units) > 1 else ():
        shape = tuple(
            (key, tuple(process for one in cells for process in one.cell.processes))
            for key, cells in sorted(results.items())
        )
        every = [one for cells in results.values() for one in cells]
        other = first.setdefault(shape, every[0])
        likely = whole or other.sitting == every[0].sitting
        is_sign = _may_be_kept if likely else _surely_kept
        if other is not every[0] and any(map(is_sign, results.values())):
            double.append((every, other))
    return double


def _may_be_kept(cells: Sequence[NamedCell], digits: int = _DIGITS_OF_CLOCK) -> bool:
    """Tell whether equal values are a sign of a kept result, rather than of a count or a clock.

    One value is a sign by its `digits`: a few of a time, many of anything.
    """
    values = {value for one in cells for value in one.cell.values}
    able = digits >= _DIGITS_OF_COPY or any(one.cell.unit == "s" for one in cells)
    return len(values) > 1 or (able and any(_digits(value) >= digits for value in values))


def _surely_kept(cells: Sequence[NamedCell]) -> bool:
    """Tell whether, of many results, hardly two would have just these values by chance.

    One value, however fine, is none: a simulator gives it on every day.
    """
    values = {value for one in cells for value in one.cell.values}
    fine = any(_digits(value) >= _DIGITS_OF_COPY for value in values)
    return len(values) >= (2 if fine else _VALUES_OF_COPY)


def _by_pair(double: Iterable[Double]) -> dict[tuple[str, str], list[str]]:
    """Put benchmarks together that repeat one variant, or one file of it, in the same place."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for (one, *_), other in double:
        names = (one.variant, other.variant)
        if one.source != other.source:
            names = (f"{one.variant} in {one.source}", f"{other.variant} in {other.source}")
        elif one.variant == other.variant:
            names = (f"{one.variant} on {one.occasion}", f"{other.variant} on {other.occasion}")
        pairs.setdefault(names, []).append(one.benchmark)
    return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredCells:
    """All cells of all files.

    `cells`: In the order of files and cells. `files`: Where they stem from; without copies. `rule`:
    Which key was taken as the variant, as a sentence. `cautions`: What was met: equal names, one
    variant under two names, what the files cannot tell.
    """

    cells: tuple[NamedCell, ...]
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


@no_collections()
def gather(files: Sequence[ForeignFile], chosen: ReadingChoices) -> GatheredCells:
    """Decide for all files alike which cell is which.

    Copies are no measurements: a file that was given twice, a variant with exactly the values of
    another one, a benchmark whose last result was kept are left out, each with a caution. A metric is
    chosen last: equal values of one metric among several tell no copy.
    """
    named = [[*_placed(file, chosen)] for file in files]
    sound: set[str] = set()
    for one in chain.from_iterable(named):
        _require_sound(one, sound)
    again, copied = sources_twice(named)
    files = [file for k, file in enumerate(files) if k not in again]
    placed = [one for k, cells in enumerate(named) if k not in again for one in cells]
    means, left_out = means_among(one.benchmark for one in placed)
    placed = [one for one in placed if one.benchmark not in means]
    # what the files cannot tell, then what was met in them
    texts = [(one, file) for file in files for one in file.losses]
    texts += [(one, file) for file in files for one in file.notes]
    parts = [Caution(one.code, one.text, (readable(file.source),)) for one, file in texts]
    hosts = tuple(dict.fromkeys(host for file in files if (host := file.facts.get("host"))))
    if len(hosts) > 1:
        text = f"the files are from {len(hosts)} hosts ({figures.listed(hosts, 3)})"
        text += ": a difference between them may be that of the hosts"
        parts.append(Caution(HOSTS, text, hosts))
    parts += (*_alike(placed), *copied, *left_out)
    parts += settings_differ(
        (name_of(file.source), {"CPU": file.facts.get("cpu_model", "unknown"), **file.settings})
        for file in files
    )
    placed, cautions = one_meaning(placed, chosen.better)
    parts += cautions
    steps = [one_result_once, kept_apart]
    if chosen.benchmark is None:
        steps.insert(0, one_definition)
    for step in steps:
        placed, cautions = step(placed)
        parts += cautions
    if chosen.metric is not None:
        placed = _only(placed, chosen.metric)
    require_agreement(placed, chosen.better)
    tables = dict.fromkeys(file.read_as for file in files)
    rules = " or ".join(dict.fromkeys(file.variant_rule for file in files))
    rule = f"the variant is {rules}; --variant KEY takes another"
    if chosen.variant is not None:
        rule = f"the variant is the key {chosen.variant!r} (--variant)"
    return GatheredCells(
        cells=tuple(placed),
        files=tuple(files),
        rule=rule if "" in tables else " / ".join(tables),
        cautions=tuple(dict.fromkeys(parts)),
    )


def _alike(placed: Sequence[NamedCell]) -> Iterator[Caution]:
    for names in ({one.benchmark: None for one in placed}, {one.variant: None for one in placed}):
        first: dict[str, str] = {}
        for name in names:
            other = first.setdefault(" ".join(name.split()), name)
            if other != name:
                text = f"{other!r} and {name!r} differ in blanks only, and are taken for two"
                yield Caution("names-alike", text, (other, name))


def _only(placed: Sequence[NamedCell], metric: str) -> list[NamedCell]:
    """Keep one metric, with the failed runs that stand in cells of the others."""
    mine = [one for one in placed if one.cell.metric == metric]
    if not mine:
        known = ", ".join(dict.fromkeys(one.cell.metric for one in placed))
        what = f"the files have no metric {metric!r}"
        raise UsageError(what, placed[0].source, f"known here: {known}")
    groups: dict[object, list[NamedCell]] = {}
    for one in placed:
        groups.setdefault((one.benchmark, one.variant, one.sitting), []).append(one)
    kept = []
    for cells in groups.values():
        failed = max((n for one in cells if (n := one.cell.failed) is not None), default=None)
        own = [one for one in cells if one.cell.metric == metric]
        if own:
            kept += [replace(one, cell=replace(one.cell, failed=failed)) for one in own]
        elif failed:
            longest = max((one.cell for one in cells), key=lambda cell: len(cell.cut))
            cut = tuple((None, limit, block) for _, limit, block in longest.cut)
            about: dict[str, Any] = {key: getattr(cells[0].cell, key) for key in _OF_BENCHMARK}
            about |= dict.fromkeys(("labels", "blocks", "warmups"))
            cell = replace(mine[0].cell, **about, processes=(), failed=failed, cut=cut)
            kept.append(replace(cells[0], cell=cell))
    return kept
