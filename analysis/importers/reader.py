"""The one reader of SOURCE: trials, their variants, files of other tools, and bare numbers.

Every command reads its sources here, by the same rules. Direction: a trial knows which values are
better, a file may; else ``--better`` says it, else the other sources, and a comparison without
either is refused. Unit: the source's own, else that of the other sources; otherwise it stays unknown.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..data.host_record import not_judged, question_of
from ..data.iterations import of_one_basis
from ..data.matrix import PerformanceMatrix
from ..data.pair import own_session, set_apart, trial_cautions
from ..data.trial import Trial, read_trial
from ..data.trial_cautions import constant_cautions
from ..errors import FairtrialError, InsufficientDataError, StoreError, UsageError
from ..pages.model import Caution, merged
from ..pages.number_format import listed
from ..record.fleet import FLEET, is_fleet, read_fleet, trial_place
from ..record.manifest import (
    COLUMNS_ASKED,
    OPTIONS_ASKED,
    asking,
    read_manifest,
    refuse_shut,
    way_to_bisections,
)
from ..record.trial_files import MANIFEST
from ..words import command_line, normal

if TYPE_CHECKING:
    from ..data.number_text import Decimal, Layout
    from ..data.runs import Unit
    from ..record.run_numbers import Better

# --- Trials as sources: how one is named, the newest where none is, and each read once.
#
# A file, or a folder, of another tool is a trial as well: the one that its import would write. What it cannot tell is one of the trial's cautions.


def newest_trial(folder: Path = Path("runs")) -> Path:
    """Find the trial, or the fleet, in a folder that was begun last; others are passed over."""
    begun: list[tuple[str, str, Path]] = []
    for place in (*folder.glob(f"*/{MANIFEST}"), *folder.glob(f"*/{FLEET}")):
        with contextlib.suppress(StoreError):
            if place.name == MANIFEST:
                manifest = read_manifest(place.parent)
                begun.append((manifest.started, manifest.trial, place.parent))
            else:
                fleet, starts = read_fleet(place.parent), []
                # of one that was put together by hand, the first start
                for host in () if fleet.submitted_at else fleet.hosts:
                    with contextlib.suppress(StoreError):
                        starts.append(read_manifest(trial_place(place.parent, host)).started)
                began = fleet.submitted_at or min(starts, default="")
                begun.append((began, place.parent.name, place.parent))
    if not begun:
        fix = "name a trial, such as runs/NAME, or measure one: fairtrial run campaign.yaml"
        what = "no trial is named, and there is none here"
        raise UsageError(what, f"{folder}/", way_to_bisections(folder) or fix)
    return max(begun)[2]


def is_file(text: str) -> bool:
    """Tell whether there is such a file; a text that cannot be a path at all names none."""
    return "\0" not in text and os.path.isfile(text)  # noqa: PTH113 - Path.is_file() raises on a name that is too long


def is_foreign(path: Path) -> bool:
    """Tell whether a file, or a folder that is no trial, is another tool's: by its content.

    A file that two formats know is one as well: reading it says which, and what to do.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return False
    stated = tuple({**COLUMNS_ASKED.get(), **OPTIONS_ASKED.get()}.items())
    return _is_foreign(str(path), status.st_mtime_ns, status.st_size, stated)


@functools.lru_cache(maxsize=256)
def _is_foreign(path: str, _mtime: int, _size: int, _stated: tuple[tuple[str, str], ...]) -> bool:
    if os.path.lexists(os.path.join(path, MANIFEST)) or is_fleet(path):  # noqa: PTH118 - a trial; most sources are
        return False
    from ..data.opening import open_foreign
    from .registry import BARE, UNKNOWN, tool_of

    try:
        return tool_of(open_foreign(path)).name not in BARE
    except FairtrialError as error:
        # who reads it as such reports what is damaged, unreadable or of two formats
        return UNKNOWN not in error.what and "trials of fairtrial" not in error.what


def trial_and_variant(text: str) -> tuple[Path, str | None] | None:
    """Split ``runs/NAME:VARIANT``, or take ``runs/NAME``; None when no trial is named.

    Files and folders of other tools count as trials. Names may hold colons: the longest path that is
    there is the trial's.
    """
    if "\0" in text:
        return None
    colons = [k for k, sign in enumerate(text) if sign == ":" and k > 0]
    ways = [(text, None), *((text[:k], text[k + 1 :]) for k in reversed(colons))]
    # Path.is_dir() raises on a name that is too long
    there = [one for one in ways if os.path.isdir(one[0]) or is_file(one[0])]  # noqa: PTH112
    if not there:
        refuse_shut(Path(text))
        return None
    (path, variant), *shorter = there
    others = [f"the variant {v!r} of {p}" for p, v in shorter if v and _has_variant(Path(p), v)]
    if others:
        first = f"the {'folder' if Path(path).is_dir() else 'file'} {path}"
        if variant is not None:
            first = f"the variant {variant!r} of {path}"
        fix = "rename one of them, or import the file whose variant is meant under another name: fairtrial import FILE -o runs/NAME"
        raise UsageError(f"this may be {first}, or {', or '.join(others)}", text, fix)
    if not (Path(path).is_dir() or is_foreign(Path(path))):
        return None
    # a trial has names in their normal form, but for those of other tools
    if variant is None or variant.isascii() or _has_variant(Path(path), variant):
        return Path(path), variant
    return Path(path), normal(variant)


def _has_variant(path: Path, variant: str) -> bool:
    better: tuple[Better | None, ...] = (None, "lower")  # the names are the same in any direction
    for direction in better:
        with contextlib.suppress(FairtrialError):
            return variant in open_trial(path, better=direction).manifest.variants
    return False


def open_trial(
    path: str | Path,
    level: str = "process",
    better: Better | None = None,
    *,
    by: Unit = "host",
    decimal: Decimal | None = None,
    columns: Mapping[str, str] | None = None,
) -> Trial:
    """Read a trial directory, a fleet, or a file or folder of another tool.

    A fleet is one trial here, whose sessions are its hosts or those of its hosts; a caution says so. `columns` gives
    columns of tables their roles, such as ``{"value": "time_ms"}``.
    """
    path = Path(path)
    with asking(COLUMNS_ASKED, columns):
        if is_fleet(path):
            from ..data.fleet import joined_trial, open_fleet

            return replace(joined_trial(open_fleet(path), by=by), level=level)
        if is_foreign(path):
            return replace(_imported(path, better, decimal), level=level)
        if not (is_file(str(path)) or trial_and_variant(str(path)) == (path, None)):
            fix = "name the directory that 'fairtrial run' printed, such as runs/NAME, or a file of another tool"
            raise StoreError("there is no such trial", str(path), fix)
        if is_file(str(path)):
            from ..data.opening import open_foreign
            from .registry import read_foreign

            read_foreign(open_foreign(str(path)))  # says what cannot be read of it
        return replace(read_trial(path), level=level)


def _imported(path: Path, better: Better | None, decimal: Decimal | None) -> Trial:
    """Read a foreign file as the trial that ``fairtrial import`` would make of it."""
    from ..data.opening import open_foreign
    from .gathering import ReadingChoices, gather
    from .importing import trial_of
    from .registry import read_foreign

    try:
        file = read_foreign(open_foreign(str(path), decimal=decimal))
    except FairtrialError as error:
        if re.search(r"--(format|encoding)\b", error.fix or ""):
            again = command_line(("fairtrial", "import", str(path), "-o", "runs/NAME"))
            error.fix = f"{error.fix}: {again}"
        raise
    gathered = gather([file], ReadingChoices(better=better))
    return trial_of(gathered, path, better=better)


def called_alike(trial: Trial, other: Trial, *, variants: bool) -> Trial:
    """Call benchmarks, and variants, that have the name of their file, as that knows none, as in the other trial."""
    manifest, others = trial.manifest, other.manifest
    if {manifest.origin, others.origin} != {"imported"}:
        return trial
    from .gathering import name_of

    mine, theirs = (name_of(one.campaign_path) for one in (manifest, others))

    def called(names: tuple[str, ...], known: tuple[str, ...]) -> dict[str, str]:
        new = theirs if theirs in {*known} - {*names} else mine
        return {name: new if name == mine else name for name in names}

    benches = called(manifest.benchmarks, others.benchmarks)
    sides = called(manifest.variants, others.variants if variants else ())
    return replace(
        trial,
        manifest=replace(
            manifest,
            benchmarks=tuple(benches.values()),
            variants=tuple(sides.values()),
            baseline=sides[manifest.baseline],
        ),
        failed=tuple(
            replace(run, benchmark=benches[run.benchmark], variant=sides[run.variant])
            for run in trial.failed
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How sources are read.

    `metric`: Of trials; by default the first that their campaigns' `judge` names, else the wall
    time. `better`: Which direction is better in files. `layout`: Whether each row, or each column,
    of a matrix file is one benchmark; None for rows, but lines of one number each are one
    benchmark. `decimal`: The decimal sign in files; None for what their numbers tell. `level`: What
    is one run: a process, or each iteration that it measured of itself. `command`: The command line
    up to its sources, for remedies. `zeros`: Whether those of 0 are kept, for `multilevel`.
    """

    metric: str | None = None
    better: Better | None = None
    layout: Layout | None = None
    decimal: Decimal | None = None
    level: str = "process"
    command: str = "fairtrial COMMAND"
    zeros: bool = False

    def opened(self) -> OpenedTrials:
        """Give what reads trials so, each once."""
        return OpenedTrials(self)


_FILES = "a file of another tool, or a file of numbers"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceMatrices:
    """The matrices of all sources, with different names, and what a reader should know."""

    matrices: tuple[PerformanceMatrix, ...]
    cautions: tuple[Caution, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sides:
    """A candidate and a baseline, and the trial that both stem from, if there is one."""

    candidate: PerformanceMatrix
    baseline: PerformanceMatrix
    trial: Trial | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Read:
    source: str
    matrix: PerformanceMatrix
    sure: bool  # whether the direction is known, not assumed


class OpenedTrials:
    """What one call reads, each trial once: reading is most of what a command does."""

    def __init__(self, how: Reading) -> None:
        self.how = how
        self.metric = how.metric  # else what the campaigns of the trials name
        self.unnamed: tuple[str, ...] = ()  # what these declare, where nothing names a metric
        self._paths: tuple[Path, ...] = ()
        self._trials: dict[Path, Trial] = {}
        self.cautions: list[Caution] = []  # of the trials, and of variants that were left out

    def read(self, path: Path) -> Trial:
        """Read a trial, the first time that it is asked for."""
        if path not in self._trials:
            trial = open_trial(path, better=self.how.better, decimal=self.how.decimal)
            for other in self._trials.values():
                trial = called_alike(trial, other, variants=False)
            self._trials[path] = trial
        return self._trials[path]

    def ask(self, sources: Sequence[str]) -> None:
        """Find out what the campaigns of all trials among the sources name as their question."""
        every = (one[0] for text in sources if (one := trial_and_variant(text)) is not None)
        self._paths = tuple(dict.fromkeys(every))
        if self.metric is None:
            ours = [path for path in self._paths if path.is_dir() and not is_foreign(path)]
            trials = [self.read(path) for path in ours]
            self.metric = question_of(trials) if any(one.judge for one in trials) else None
            self.unnamed = tuple(dict.fromkeys(name for one in trials for name in one.unnamed))

    def compare(self, sources: Sequence[str]) -> None:
        """Find out the question, as `ask`, and have all trials answer it by values of one kind."""
        self.ask(sources)
        if self.metric is None:
            return
        named = [one for text in sources if (one := trial_and_variant(text)) is not None]
        whole = {path for path, name in named if name is None}
        trials = []
        for path in self._paths:
            names = {name for one, name in named if name and one == path and path not in whole}
            trials.append(replace(self.read(path), compared=frozenset(names)))
        self._trials.update(zip(self._paths, of_one_basis(trials, self.metric), strict=True))

    def sides_of(self, source: str) -> tuple[str, str]:
        """Name candidate and baseline where one source is given: a variant of a trial, or a trial."""
        named = trial_and_variant(source)
        if named is None:
            self.one(source)  # reports first what is nothing at all
            fix = "name the second variant or file; only a trial knows its baseline"
            raise UsageError("BASELINE is missing", source, fix)
        folder, variant = named
        manifest = self.read(folder).manifest
        if variant is None:
            candidates = [name for name in manifest.variants if name != manifest.baseline]
            if len(candidates) != 1:
                calls = [f"{self.how.command} {source}:{name}" for name in candidates]
                held = f"{len(candidates)} candidates for its baseline {manifest.baseline}"
                fix = f"write {', or '.join(calls)}" if calls else "measure a second variant"
                raise UsageError(f"the trial has {held}", source, fix)
            (variant,) = candidates
        return f"{folder}:" + variant, f"{folder}:" + manifest.baseline

    def one(self, source: str) -> _Read:
        """Read a source that must be one matrix."""
        named = trial_and_variant(source)
        if named is None and is_file(source):
            return self.of_file(source)
        if named is None:
            what = "this is neither a matrix file nor a variant of a trial"
            raise UsageError(what, source, f"write runs/NAME:VARIANT, or name {_FILES}")
        folder, variant = named
        trial = self.read(folder)
        if variant is None and len(trial.manifest.variants) > 1:
            fix = f"write {source}:VARIANT; here: {', '.join(map(format, trial.manifest.variants))}"
            raise UsageError("a trial holds several variants", source, fix)
        (found,) = self.of_trial(source, folder, variant or trial.manifest.variants[0])
        texts = (*constant_cautions(trial), *found.matrix.cautions)
        return replace(found, matrix=replace(found.matrix, cautions=texts))

    def of_trial(self, source: str, folder: Path, variant: str | None) -> list[_Read]:
        """Read a variant of a trial, or all."""
        how, trial = self.how, self.read(folder)
        metric = self.metric or trial.default_metric
        info = trial.metric(metric)
        if how.better is not None and how.better != info.better:
            what = f"in this trial {info.better} values are better"
            raise UsageError(what, source, f"leave out --better {how.better}")
        self.cautions += trial.cautions
        found = []
        for name in trial.manifest.variants if variant is None else (variant,):
            try:
                whole = replace(trial, level=how.level)
                matrix = whole.matrix(name, metric, skip_zeros=True, carry_zeros=how.zeros)
            except InsufficientDataError as error:
                if variant is not None:
                    raise
                text = f"left out: {error.what}"
                self.cautions.append(Caution("variant-left-out", text, (name,)))
                continue
            found.append(_Read(source=source, matrix=matrix, sure=True))
        if not found:
            what = f"no variant of the trial has a value of {metric!r} that counts"
            raise InsufficientDataError(what, str(folder), n=0, needed=1)
        return found

    def of_file(self, source: str) -> _Read:
        """Read a file of bare numbers, or of a matrix."""
        how = self.how
        if how.metric is not None and not self._paths:
            raise UsageError("--metric is for trials; a file has one metric", source)
        from ..data.matrix_file import table_in
        from ..data.opening import open_foreign
        from .registry import begins_with_numbers, tool_of

        opened = open_foreign(source)
        try:
            table = table_in(opened.text(), opened.source, how.layout, how.decimal)
        except FairtrialError:
            if not begins_with_numbers(opened):
                tool_of(opened)  # says so where nothing in it was a table of numbers
            raise
        name = table.name or opened.stem
        matrix = PerformanceMatrix.of_table(table, source, better=how.better, unit="", name=name)
        sure = (how.better or table.better) is not None
        return _Read(source=source, matrix=matrix.at_level(how.level), sure=sure)

    def matrices(self, found: Sequence[_Read], *, directed: bool) -> list[PerformanceMatrix]:
        """Let files of numbers, which know no direction or unit, follow what was said, or others that are no tables.

        With the first it is said once that nobody has asked for the metric that is judged. `directed`: Whether
        somebody must know the direction.
        """
        sure = next((one.matrix for one in found if one.sure), None)
        if directed and sure is None:
            fix = "add --better lower (times) or --better higher (scores, rates)"
            what = "a matrix file does not say which direction is better"
            raise UsageError(what, found[0].source, fix)
        better = self.how.better or (sure.better if sure is not None else "lower")
        ours = (one.matrix for one in found if not is_foreign(Path(one.matrix.trial or one.source)))
        unit = next((matrix.unit for matrix in ours if matrix.unit), "")
        every = [
            replace(
                one.matrix,
                better=one.matrix.better if one.sure else better,
                unit=one.matrix.unit or unit * (one.matrix.trial is None),
            )
            for one in found
        ]
        if unnamed := not_judged(self.unnamed):
            every[0] = replace(every[0], cautions=(*unnamed, *every[0].cautions))
        return every


def read_sides(candidate: str, baseline: str | None, how: Reading) -> Sides:
    """Read a candidate and a baseline, each a variant of a trial or a file."""
    opened = how.opened()
    pair = opened.sides_of(candidate) if baseline is None else (candidate, baseline)
    opened.compare(pair)
    found = [opened.one(source) for source in pair]
    ours, theirs = opened.matrices(found, directed=True)
    if pair[0] != pair[1]:  # one variant of two trials has one name
        ours, theirs = _distinct(found, [ours, theirs])
    folders = {named[0] for side in pair if (named := trial_and_variant(side))}
    one = len(folders) == 1 and ours.trial == theirs.trial is not None
    return Sides(candidate=ours, baseline=theirs, trial=opened.read(folders.pop()) if one else None)


def read_each(sources: Sequence[str], how: Reading) -> list[PerformanceMatrix]:
    """Read sources that are compared, each a variant of a trial or a file."""
    opened = how.opened()
    opened.compare(sources)
    return opened.matrices([opened.one(source) for source in sources], directed=True)


def read_one(source: str, how: Reading) -> PerformanceMatrix:
    """Read one variant of a trial or one file for a question that has no direction."""
    opened = how.opened()
    opened.ask((source,))
    (matrix,) = opened.matrices([opened.one(source)], directed=False)
    return matrix


def read_sources(sources: Sequence[str], how: Reading) -> SourceMatrices:
    """Read every source; a trial gives all its variants."""
    found: list[_Read] = []
    opened = how.opened()
    opened.compare(sources)
    unnamed, opened.unnamed = not_judged(opened.unnamed), ()  # it is said of all
    for source in sources:
        if (named := trial_and_variant(source)) is not None:
            found += opened.of_trial(source, *named)
        elif is_file(source):
            found.append(opened.of_file(source))
        else:
            what = "this is not a trial, a variant of a trial or a file"
            raise UsageError(what, source, f"name runs/NAME, runs/NAME:VARIANT, {_FILES}")
    matrices = opened.matrices(found, directed=False)
    cautions = [*unnamed, *opened.cautions]
    if len(found) > 1 and not any(one.sure for one in found):
        text = "smaller values were taken as better; add --better higher if they are not"
        cautions.append(Caution("direction-assumed", text))
    known = _distinct(found, matrices)
    return SourceMatrices(matrices=known, cautions=merged(cautions, trial_cautions(known)))


def with_benchmarks(
    matrices: Sequence[PerformanceMatrix], wanted: Sequence[str], without: Sequence[str] = ()
) -> list[PerformanceMatrix]:
    """Give the matrices with the `wanted` benchmarks (all if none is named), less some others."""
    names = list(dict.fromkeys(name for matrix in matrices for name in matrix.benchmarks))
    for option, given in (("--benchmark", wanted), ("--exclude", without)):
        for name in given:
            if name not in names:
                known = f"known here: {listed(names, 12)}"
                raise UsageError(f"there is no benchmark {name!r}", option, known)
    kept = {name for name in wanted or names if name not in without}
    found = []
    for matrix in matrices:
        rest = [name for name in matrix.benchmarks if name in kept]
        if not rest:
            fix = "choose benchmarks that each source has"
            raise UsageError("--benchmark and --exclude leave no benchmark", matrix.name, fix)
        found.append(matrix if len(rest) == len(matrix.benchmarks) else matrix.select(rest))
    return found


def trials_of(sources: Sequence[str], how: Reading) -> list[tuple[Trial, tuple[str, ...]]]:
    """Open the trials that the sources name, each with the variants that are meant."""
    opened, reader = [], how.opened()
    for source in sources:
        named = trial_and_variant(source)
        if named is None:
            what = "two metrics of the same runs are known in trials only"
            raise UsageError(what, source, "name runs/NAME or runs/NAME:VARIANT")
        trial = reader.read(named[0])
        variants = tuple(trial.manifest.variants) if named[1] is None else (named[1],)
        for variant in variants:
            if variant not in trial.manifest.variants:
                known = f"known here: {', '.join(map(format, trial.manifest.variants))}"
                raise UsageError(f"the trial has no variant {variant!r}", str(named[0]), known)
        opened.append((trial, variants))
    return opened


def _distinct(
    found: Sequence[_Read], matrices: Sequence[PerformanceMatrix]
) -> tuple[PerformanceMatrix, ...]:
    """Name variants by their source where two would have one name."""
    names = [matrix.name for matrix in matrices]
    texts = []
    for one, matrix in zip(found, matrices, strict=True):
        folder = Path(one.source).is_dir()
        name = f"{one.source}:" + matrix.name if folder else one.source
        texts.append(replace(matrix, name=name) if names.count(matrix.name) > 1 else matrix)
    return tuple(texts)


def sessions_apart(sides: Sides) -> Sides:
    """Give each side without session ids a session of its own, and tell a trial's from a file's.

    A file without ids was measured on an occasion of its own, whatever the other side is: two such
    files cannot tell the variants from their sessions. A trial numbers its sessions from 1 on, and
    the ids of a file may be the same numbers by accident; two trials are separated by `match`.
    """
    ours, theirs = sides.candidate, sides.baseline
    if None not in (ours.sessions, theirs.sessions) and (
        (ours.trial is None) != (theirs.trial is None)
    ):
        ours, theirs = set_apart(ours, "candidate"), set_apart(theirs, "baseline")
    return Sides(candidate=own_session(ours, "candidate"), baseline=own_session(theirs, "baseline"))
