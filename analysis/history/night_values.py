"""Reads one trial for a series: its values over complete sessions, its programs, inputs and host."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, Final, Literal

import numpy as np

from ..data.columns import read_plan
from ..data.host_record import BOOT_ARGUMENTS, SessionEnvironment, read_environments, settings_of
from ..data.matrix import PerformanceMatrix
from ..data.merging import StatedCampaign
from ..data.opening import ASV, open_foreign, results_within
from ..data.trial import Trial, cut_rows, read_trial
from ..errors import InsufficientDataError, StoreError, UsageError
from ..importers.gathering import name_of
from ..importers.reader import is_file, is_foreign
from ..importers.registry import read_foreign
from ..methods.multilevel.design import disagreeing
from ..methods.multilevel.values import SessionMeans, means_of_one, means_of_pair
from ..pages.model import Caution
from ..record.environment import commits_of_all, of_one_session
from ..record.fleet import is_fleet, read_fleet, trial_place
from ..record.manifest import BISECTION, read_manifest, refuse_shut
from ..record.profiles import cell_name, is_profiles
from ..record.run_numbers import Better
from ..record.shapes import ShapeError, lines_of, opened, parse, readable_rows
from ..record.trial_files import (
    CERTIFICATES,
    ENVIRONMENT,
    IMPORT,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
    Manifest,
)
from ..words import name_fields
from .kept_nights import Cell, KeptTrial, imported_campaign

# --- What many nights hold: for each benchmark and variant a series of values, one a night.


NIGHTS_MOST: Final = 400  # of one reading: the newest
_GAPS_LEAST = 3  # from this number on it is known how often a series is measured
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One value of a series: what one trial, one fleet, or one imported file says.

    `trial`: Its name. `path`: Where it lies, as given. `started_at`: When its first session began
    (RFC 3339); None where nobody knows. `log`: The mean over its sessions of the candidate's log
    less the baseline's, larger = slower, whichever direction of the metric is better; without a
    baseline the mean log of the metric itself, turned likewise. Of a fleet it is the mean over its
    hosts. `speedup`, `metric_value`, `missing`: Once it is judged, the speedup over the baseline of the
    same night, or of a plain series the geometric mean of the metric, in its unit; and how many nights
    are missing before it. `baseline_log`: The mean log of the baseline itself; None without one.
    `sessions`: How many complete sessions it rests on. `program_sha256`, `commit`: Of the candidate;
    None where they are unknown, or not one over the sessions or hosts. `baseline_commit`: The same of
    the baseline. `host_facts`: The sections host, cpu, memory and kernel of the environment record of
    the first session, and `targets` with the baseline's own alone: a record that `diff` of
    `record.environment_changes` compares with another night's. Of a fleet ``{"hosts": {name: record}}``.
    `cut`: Whether a time limit ended runs of the candidate, and of the baseline. `number`: Its place
    among all that were read, in the order of time.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset(
        {"baseline_log", "baseline_commit", "host_facts", "cut", "number"}
    )

    trial: str
    path: str
    started_at: str | None
    log: float
    speedup: float | None = None
    metric_value: float | None = None
    sessions: int = 1
    program_sha256: str | None = None
    commit: str | None = None
    missing: int = 0
    baseline_log: float | None = None
    baseline_commit: str | None = None
    host_facts: Mapping[str, Any] = field(default_factory=dict)
    cut: tuple[bool, bool] = (False, False)
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NightSeries:
    """Values that may be compared, in the order of time: nothing is compared across two series.

    `paired`: Whether values are differences from a baseline; without, nothing separates host and
    program. `campaign`, `baseline`: Their names; "" and None where there are none. `begins`: Once it is
    judged, the trial of its first night. `ends`: Why the next series of this benchmark and variant
    begins ("campaign", "inputs", "baseline", "hosts"); None for the newest. `changed`: The same in a
    sentence. `values`: One a night.
    """

    benchmark: str
    variant: str
    paired: bool
    metric: str
    unit: str
    better: Better
    campaign: str = ""
    baseline: str | None = None
    begins: str = ""
    ends: str | None = None
    changed: str | None = None
    values: tuple[Night, ...]

    def __post_init__(self) -> None:
        name_fields(self, "benchmark", "variant", "metric", "campaign", "baseline")

    @property
    def logs(self) -> tuple[float, ...]:
        """The values, oldest first; larger = slower."""
        return tuple(night.log for night in self.values)

    @property
    def baseline_logs(self) -> tuple[float, ...] | None:
        """The values of the baseline itself; None where a night has none."""
        logs = [night.baseline_log for night in self.values]
        known = tuple(log for log in logs if log is not None)
        return known if len(known) == len(logs) else None

    @property
    def missing(self) -> tuple[int, ...]:
        """How many nights are missing before each, by the usual distance of two; 0 where nobody can tell."""
        return missing_before([night.started_at for night in self.values])


@dataclass(frozen=True, slots=True, kw_only=True)
class Nights:
    """All series that were read.

    `place`: What was read, in a few words: the folder, or how many trials. `hosts`: The names of the
    hosts, each once. `series`: By benchmark and variant in the campaign's order; the newest of one
    benchmark and variant stands last. `left_out`: Trials that have no value, with why. `cut`: How
    many nights beyond the newest 400 were not read. `cautions`: What a reader should know.
    """

    place: str
    hosts: tuple[str, ...] = ()
    series: tuple[NightSeries, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    cut: int = 0
    cautions: tuple[Caution, ...] = ()


def moment_of(text: str | None) -> datetime | None:
    """Read a time (RFC 3339) or a date; without a zone it is one of UTC. None for anything else."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def missing_before(starts: Sequence[str | None]) -> tuple[int, ...]:
    """Count the nights that are missing before each, by the usual distance of two starts.

    The usual distance is the median. Only where it is between half a day and eight days can a night
    be missed: other trials were not made at regular times.
    """
    moments = [moment_of(start) for start in starts]
    gaps = [
        None if old is None or new is None else (new - old).total_seconds()
        for old, new in itertools.pairwise(moments)
    ]
    known = [gap for gap in gaps if gap is not None]
    usual = median(known) if len(known) >= _GAPS_LEAST else 0.0
    if not 0.5 * _DAY_S <= usual <= 8 * _DAY_S:
        return (0,) * len(starts)
    more = (0 if gap is None else max(0, round(gap / usual) - 1) for gap in gaps)
    return (0, *more)[: len(starts)]


# --- Reads dates as other tools write them, and as people put them into names.


_DATE = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<mark>[-_/.]?)(?P<month>[01]\d)(?P=mark)(?P<day>[0-3]\d)"
    r"(?:[T _-]?(?P<hour>[0-2]\d)[-_:h.]?(?P<minute>[0-5]\d)(?:[-_:m.]?(?P<second>[0-5]\d))?(?!\d))?"
    r"(?!\d{3})"
)
_PARTS = ("year", "month", "day", "hour", "minute", "second")
_EPOCH = re.compile(r"(?P<seconds>1\d{9})(?P<millis>\d{3})?(?:\.\d+)?")


def date_in(text: str | None) -> str | None:
    """Give the date, with its time where it has one, that a text is or holds, as RFC 3339.

    Times without a zone are taken as UTC; None where there is no date, or several.
    """
    if text is None:
        return None
    found = moment_of(text.strip())
    if found is None and (epoch := _EPOCH.fullmatch(text.strip())) is not None:
        found = datetime.fromtimestamp(int(epoch["seconds"]), UTC)
    if found is not None:
        return found.isoformat()
    dates = {one for match in _DATE.finditer(text) if (one := _made(match)) is not None}
    return dates.pop().isoformat() if len(dates) == 1 else None


def without_dates(text: str) -> str:
    """Give a name without the dates in it."""
    return _DATE.sub(lambda match: match[0] if _made(match) is None else "", text)


def first_date(texts: Iterable[str | None]) -> str | None:
    """Give the first date of texts that are all dates; None where one is none, or there are none."""
    dates = [date_in(text) or "" for text in texts]
    return min(dates, key=datetime.fromisoformat) if dates and all(dates) else None


def _made(match: re.Match[str]) -> datetime | None:
    year, month, day, hour, minute, second = (int(part or 0) for part in match.group(*_PARTS))
    with contextlib.suppress(ValueError):  # such as the 31st of February
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    return None


HOST_SECTIONS = ("host", "cpu", "memory", "kernel")


def trial_values(path: Path, metric: str | None = None) -> KeptTrial:
    """Read a trial; `metric` is by default the first that its campaign's `judge` names.

    Raises StoreError if the trial is damaged; UsageError if it has no such metric; InsufficientDataError if no
    session is complete, or none has a value.
    """
    # nights are compared with each other, and not each of them may know the quantiles of its sessions
    trial = replace(read_trial(path), own_quantiles=True)
    manifest = trial.manifest
    metric = trial.default_metric if metric is None else metric
    info = trial.metric(metric)
    sessions = complete_sessions(trial)
    if not sessions:
        raise InsufficientDataError(
            f"none of its {manifest.sessions} sessions is complete", str(path), n=0, needed=1
        )
    environments = read_environments(path)
    matrices: dict[str, PerformanceMatrix] = {}
    for name in manifest.variants:
        with contextlib.suppress(InsufficientDataError):  # the others may have values
            matrices[name] = trial.matrix(name, metric, carry_zeros=True)
    base = matrices.get(manifest.baseline)
    pairs = {
        name: means_of_pair(matrix, base, sessions)
        for name, matrix in matrices.items()
        if base is not None and name != manifest.baseline
    }
    rows = np.flatnonzero(cut_rows(trial, metric)[0])
    cells = np.unique(np.stack([trial.benchmark[rows], trial.variant[rows]]), axis=1).T.tolist()
    cut = tuple(f"{manifest.benchmarks[one]} / {manifest.variants[two]}" for one, two in cells)
    values = dict(_values(manifest, matrices, pairs, sessions, environments, cut=cut))
    if all(x.log is None and x.own is None for cells in values.values() for x in cells):
        raise InsufficientDataError(
            f"no run of a complete session has a value of {metric!r}", str(path), n=0, needed=1
        )
    settings = settings_of(path)
    campaign = StatedCampaign.of(manifest, settings if (path / RESOLVED).exists() else None)
    named: dict[str, str] = {}
    if manifest.origin == "imported":
        campaign = imported_campaign("", metric, info.unit, info.better)
        stored, only = _import_record(path), manifest.variants[0]
        like = {name_of(one) for one in _texts_of_cells(stored, "source") if one is not None}
        # the only variant is named by its tool where it is called like its file, which has another name every night
        if len(manifest.variants) == 1 and like == {only} and isinstance(stored.get("format"), str):
            named = {only: stored["format"]}
    return KeptTrial(
        trial=manifest.trial,
        host=manifest.node or manifest.host,
        host_id=manifest.host_id,
        origin=manifest.origin,
        baseline=named.get(manifest.baseline, manifest.baseline),
        variants=tuple(named.get(name, name) for name in manifest.variants),
        benchmarks=manifest.benchmarks,
        metric=metric,
        unit=info.unit,
        better=info.better,
        complete=manifest.status == "complete",
        values={named.get(name, name): one for name, one in values.items()},
        inputs=tuple(_inputs(manifest, settings, environments)),
        campaign=StatedCampaign.from_dict(campaign.to_dict()),  # as one that was kept
        host_record=_host_record(path, manifest, environments),
        unsteady=tuple(
            f"{bench} / {name}"
            for name, matrix in matrices.items()
            for bench, one in matrix.judged_iterations.items()
            if one.unsteady
        ),
        cut=cut,
        totals=tuple(
            cell
            for name, pair in pairs.items()
            if base is not None and pair is not None
            for bench in disagreeing(matrices[name], base)
            if (cell := f"{bench} / {name}") not in cut
        ),
    )


def _import_record(path: Path) -> dict[str, Any]:
    """Give what an imported trial says of its files; empty where that cannot be read."""
    try:
        with opened(path / IMPORT) as file:
            stored = parse(file.read().strip())
    except (OSError, StoreError, ShapeError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _texts_of_cells(record: Mapping[str, Any], key: str) -> list[str | None]:
    texts = [one.get(key) for one in record.get("cells") or () if isinstance(one, dict)]
    return [one if isinstance(one, str) else None for one in texts]


def first_start(path: Path, manifest: Manifest) -> str | None:
    """Give when the first run of a trial started; None of an imported one, whose files may tell it."""
    if manifest.origin == "imported":
        return None
    row: Any = None
    # no run yet, or a file that its reader will refuse
    with contextlib.suppress(StopIteration, StoreError, ValueError):
        row = parse(next(lines_of(path / MEASUREMENTS))[1])
    found = row.get("started_at") if isinstance(row, dict) else None
    return found if isinstance(found, str) else manifest.started


def complete_sessions(trial: Trial) -> tuple[int, ...]:
    """Name the sessions whose runs were all executed, but for cells that were given up in them."""
    manifest = trial.manifest
    begun = np.unique(trial.session[trial.measured]).tolist()
    if manifest.status == "complete":
        return tuple(begun)
    plan = read_plan(trial.path / PLAN, manifest, [])
    position, session, _, benchmark, variant, _ = plan
    lacking = ~np.isin(position, trial.planned_position)
    for one in manifest.given_up:
        cell = (benchmark == manifest.benchmarks.index(one.benchmark)) & (
            variant == manifest.variants.index(one.variant)
        )
        lacking &= ~(cell & (session == one.session) & (position > one.position))
    ended = {one.session for one in manifest.session_ends}
    if manifest.stop is not None:
        return tuple(one for one in begun if one in ended)
    open_ones = set(np.unique(session[lacking]).tolist())
    return tuple(one for one in begun if one not in open_ones)


def _values(
    manifest: Manifest,
    matrices: Mapping[str, PerformanceMatrix],
    pairs: Mapping[str, SessionMeans | None],
    sessions: Sequence[int],
    environments: Sequence[SessionEnvironment],
    *,
    cut: Collection[str],
) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    commits = commits_of_all([{"targets": one.sections.get("targets")} for one in environments])
    programs, none = _programs(environments), (None, None, 0)
    for name, matrix in matrices.items():
        pair, alone = _logs(pairs.get(name)), _logs(means_of_one(matrix, sessions))
        cells = []
        for bench in manifest.benchmarks:
            log, base, count = pair.get(bench, none)
            own, _, own_count = alone.get(bench, none)
            program, is_cut = programs.get(cell_name(bench, name)), f"{bench} / {name}" in cut
            commit = commits.get(name)
            cells.append(Cell(log, base, own, count, own_count, program, commit, is_cut))
        yield name, tuple(cells)


def _logs(means: SessionMeans | None) -> dict[str, tuple[float, float | None, int]]:
    """Give the mean log of each benchmark that has one, the baseline's, and how many sessions they rest on."""
    if means is None:
        return {}
    columns = (means.log.tolist(), means.baseline_log.tolist(), means.sessions.tolist())
    return {
        bench: (log, base if math.isfinite(base) else None, count)
        for bench, log, base, count in zip(means.benchmarks, *columns, strict=True)
        if math.isfinite(log)
    }


def _programs(environments: Iterable[SessionEnvironment]) -> dict[str, str | None]:
    """Give the SHA-256 of each cell's executable; None where it is not one over all sessions.

    Nor is it one where each session builds it, though there be a single session.
    """
    found: dict[str, set[str | None]] = {}
    for one in environments:
        for cell, about in one.sections.get("targets", {}).items():
            digest = about.get("sha256") if isinstance(about, dict) else None
            if of_one_session(about):
                digest = None
            found.setdefault(cell, set()).add(digest if isinstance(digest, str) else None)
    return {cell: next(iter(all_)) if len(all_) == 1 else None for cell, all_ in found.items()}


def _inputs(
    manifest: Manifest, settings: Mapping[str, Any], environments: Sequence[SessionEnvironment]
) -> Iterator[dict[str, str]]:
    """Give for each benchmark the hashes of what its baseline's runs read: inputs, and files that its command names."""
    hashed = environments[0].sections.get("inputs", {}) if environments else {}
    cells = settings.get("cells")
    cells = [one for one in cells if isinstance(one, dict)] if isinstance(cells, list) else []
    own = {one.get("benchmark"): one for one in cells if one.get("variant") == manifest.baseline}
    for bench in manifest.benchmarks:
        cell = own.get(bench, {})
        expected, command = cell.get("expect"), cell.get("command")
        checked = expected.get("file") if isinstance(expected, dict) else None
        named = [cell.get("stdin"), checked, *(cell.get("inputs") or ())]
        found = {
            name: about["sha256"]
            for name, about in hashed.items()
            if name in named and isinstance(about, dict) and isinstance(about.get("sha256"), str)
        }
        known = command.get("argv") if isinstance(command, dict) else None
        for word in known if isinstance(known, list) else ():
            name = str(word).removeprefix("./")
            of_word = (
                digest
                for path, digest in manifest.arguments.items()
                if path == name or (name and path.endswith(f"/{name}"))
            )
            found |= {str(word): digest for digest in itertools.islice(of_word, 1)}
        yield found


def _host_record(
    path: Path, manifest: Manifest, environments: Sequence[SessionEnvironment]
) -> dict[str, Any]:
    """Give the first session's host, and of the targets those of the baseline."""
    if not environments:
        return {}
    sections = environments[0].sections
    found: dict[str, Any] = {name: sections[name] for name in HOST_SECTIONS if name in sections}
    raw = next(readable_rows(path / ENVIRONMENT), {})
    section, key = BOOT_ARGUMENTS.split(".")
    about = raw.get(section)
    if isinstance(about, dict) and isinstance(text := about.get(key), str) and section in found:
        # they name a laboratory's infrastructure: whether they changed is shown, not what they are
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        found[section] = {**found[section], key: f"(not shown: {digest[:8]})"}
    targets = sections.get("targets", {})
    cells = (cell_name(bench, manifest.baseline) for bench in manifest.benchmarks)
    found["targets"] = {cell: targets[cell] for cell in cells if cell in targets}
    return found


# --- Which trials, fleets and files of other tools are nights: those given, or all below a folder.


_DEEPEST = 8
_LAST = datetime.max.replace(tzinfo=UTC)

_UNDATED = "when it was measured is known neither from its files nor from its name"

Kind = Literal["trial", "fleet", "file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawNight:
    """Where a night lies, what is known of it before it is read, and what it holds once it is.

    `campaign`: The campaign's name. `started_at`: When its first run started; None where that is unknown.
    `trials`: The names of the trials whose runs it holds, with when they began. `trouble`: Why it cannot be read.
    `parts`: Its trial, or those of a fleet by the names of its hosts. `commit`, `environment`: Of a file of
    another tool, for all of its variants, where the file says them.
    """

    path: Path
    kind: Kind
    name: str
    campaign: str = ""
    started_at: str | None = None
    trials: frozenset[tuple[str, str]] = frozenset()
    trouble: str | None = None
    parts: Mapping[str, KeptTrial] = field(default_factory=dict)
    commit: str | None = None
    environment: str | None = None

    @property
    def fleet(self) -> bool:
        """Whether it is a fleet's."""
        return self.kind == "fleet"

    @property
    def first(self) -> KeptTrial:
        """The trial, or that of the first host."""
        return next(iter(self.parts.values()))

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The hosts of a fleet, sorted; None of a single trial, whose host may change."""
        return tuple(sorted(self.parts)) if self.fleet else None


def places_in(given: Sequence[str | Path]) -> tuple[RawNight, ...]:
    """Find the nights that are meant, each once; trials and fleets in the order of their starts.

    Raises UsageError where a name is neither a trial, nor a fleet, nor a file of another tool, nor a folder.
    """
    found: dict[Path, RawNight] = {}
    for one in given:
        path = Path(one)
        if is_file(str(path)):
            if not is_foreign(path):
                read_foreign(open_foreign(str(path)))  # says what cannot be read of it
                fix = "name trials, folders of trials, or files that 'fairtrial import FILE --dry-run' reads"
                raise UsageError("this is no result of another tool", str(path), fix)
            found.setdefault(path.resolve(), RawNight(path=path, kind="file", name=path.name))
            continue
        refuse_shut(path)
        if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir() raises on a name that is too long
            fix = "name trials such as runs/NAME, or the folder that holds them, such as runs/"
            raise UsageError("there is no such trial, fleet, folder or file", str(one), fix)
        for place in _below(path):
            found.setdefault(place.path.resolve(), place)
    files = [place for place in found.values() if place.kind == "file"]
    if 0 < len(files) < len(found):
        what = "trials and files of other tools are no series together"
        raise UsageError(what, str(files[0].path), "name trials alone, or files alone")
    # imported trials by themselves that cannot be ordered are refused; among others they are left out
    trials = [place for place in found.values() if place.kind == "trial"]
    undated = [place for place in trials if place.trouble == _UNDATED]
    if undated and all(not place.campaign for place in trials):
        what = f"these imported trials cannot be ordered: {undated[0].trouble}"
        fix = "put the date into their names, such as 2026-11-03-NAME"
        raise UsageError(what, " ".join(str(place.path) for place in undated[:3]), fix)
    return tuple(
        sorted(
            found.values(),
            key=lambda one: (moment_of(one.started_at) or _LAST, one.name, str(one.path)),
        )
    )


def _below(folder: Path) -> Iterator[RawNight]:
    if (place := _place(folder)) is not None:
        yield place
        return
    files: list[Path] = []
    if trials := [*_walk(results_within(folder), 1, files)]:
        yield from trials
        return
    for path in sorted([path for path in files if ASV in path.parts] or files):
        yield RawNight(path=path, kind="file", name=str(path.relative_to(folder)))


def _walk(folder: Path, depth: int, files: list[Path]) -> Iterator[RawNight]:
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError as error:
        if depth > 1 and isinstance(error, FileNotFoundError):
            return  # it went meanwhile
        raise StoreError(f"the folder cannot be read: {error.strerror}", str(folder)) from None
    if depth > 1 and BISECTION in {entry.name for entry in entries}:
        return
    for entry in entries:
        path = results_within(folder / entry.name)
        if path.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_file(follow_symlinks=False):
            files.append(path)
        elif not entry.is_dir(follow_symlinks=False) or entry.name in (OUTPUTS, CERTIFICATES):
            continue
        elif (place := _place(path)) is not None:
            yield place
        elif depth < _DEEPEST and not is_profiles(path):
            yield from _walk(path, depth + 1, files)


def _place(path: Path) -> RawNight | None:
    kind: Kind = "fleet" if is_fleet(path) else "trial"
    if kind == "trial" and not os.path.lexists(path / MANIFEST):
        return None
    found = RawNight(path=path, kind=kind, name=path.name or path.absolute().name)
    try:
        if kind == "trial":
            return _trial_place(found, read_manifest(path))
        fleet, starts = read_fleet(path), []
        for host in fleet.hosts:
            with contextlib.suppress(StoreError):  # its reader says what is wrong
                trial = trial_place(path, host)
                starts.append(first_start(trial, read_manifest(trial)))
    except StoreError as error:
        return replace(found, trouble=error.what)
    known = [start for start in starts if moment_of(start) is not None]
    first = min(known, key=lambda start: moment_of(start) or _LAST, default=None)
    return replace(found, campaign=fleet.campaign, started_at=first)


def _trial_place(found: RawNight, manifest: Manifest) -> RawNight:
    campaign, started_at = manifest.campaign_name, first_start(found.path, manifest)
    if imported := manifest.origin == "imported":  # as its files say it, or else its name
        texts = _texts_of_cells(_import_record(found.path), "session")
        campaign, started_at = "", first_date(texts) or date_in(found.name)
    parts = {(part.trial, part.started) for part in manifest.merged_from}
    return replace(
        found,
        campaign=campaign,
        started_at=started_at,
        trouble=_UNDATED if imported and started_at is None else None,
        trials=frozenset(parts or {(manifest.trial, manifest.started)}),
    )


def without_copies(places: Sequence[RawNight]) -> tuple[RawNight, ...]:
    """Mark trials whose runs another one of them holds: no run may count in two nights.

    Of a trial and its copy the first by name stays; of a merged trial and its parts the parts.
    """
    single: dict[tuple[str, str], RawNight] = {}
    for place in places:
        if len(place.trials) == 1:
            single.setdefault(next(iter(place.trials)), place)

    def marked(place: RawNight) -> RawNight:
        held = [single[one] for one in place.trials if one in single]
        others = sorted({one.name for one in held} - {place.name})
        if len(place.trials) > 1 and others:
            which = ", ".join(others[:3])
            return replace(place, trouble=f"it was merged from {which}, which is counted")
        if len(place.trials) == 1 and held[0] is not place:
            return replace(place, trouble=f"it holds the runs of {held[0].path}")
        return place

    return tuple(map(marked, places))
