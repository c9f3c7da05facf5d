"""How far a trial is, and which trials a folder holds: read from directories by anybody at any time."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from analysis.errors import StoreError
from analysis.record.fleet import is_fleet
from analysis.record.manifest import is_bisection, read_manifest
from analysis.record.profiles import is_profiles
from analysis.record.run_numbers import Disturbances
from analysis.record.shapes import (
    RESTORE,
    SAMPLES,
    ShapeError,
    check,
    checksum_holds,
    opened,
    parse,
)
from analysis.record.trial_files import (
    CERTIFICATES,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    GivenUp,
    Manifest,
    RowShape,
    SessionEnd,
    StopRule,
)
from analysis.words import WIDTH, Name, command_line, next_lines

from ..errors import clock, counted, duration, moment, wrapped
from .ending import (
    RowCounts,
    command_to_continue,
    done_first,
    ending_lines,
    failed_runs,
    failures_text,
    way_on_of,
)
from .folder import is_written_now


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """What a folder of trials holds: the readable ones, newest first, and why others are not."""

    found: tuple[tuple[Path, Manifest], ...]
    unreadable: tuple[StoreError, ...] = ()


def trials_in(folder: Path, campaign: str | None = None) -> Trials:
    """Look at every folder in `folder`, or at those that are named like trials of a campaign."""
    found, unreadable = [], []
    for path in _folders(folder):
        if campaign is not None and not path.name.startswith(f"{campaign}-"):
            continue
        if is_fleet(path) or is_bisection(path) or is_profiles(path):  # its trials are its own
            continue
        try:
            manifest = read_manifest(path)
        except StoreError as error:
            unreadable.append(error)
            continue
        if campaign in (None, manifest.campaign_name):
            found.append((path, manifest))
    newest = sorted(found, key=lambda item: item[1].started, reverse=True)
    return Trials(found=tuple(newest), unreadable=tuple(unreadable))


def unfinished_trial(folder: Path, campaign: str) -> tuple[Path, Manifest] | None:
    """Give the newest trial of a campaign that is unfinished, and that nobody is writing."""
    for path, manifest in trials_in(folder, campaign).found:
        if manifest.status != "complete" and not is_written_now(path):
            return path, manifest
    return None


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(folder / entry.name for entry in entries if _is_folder(entry))
    except FileNotFoundError:
        return []
    except OSError as error:
        what = f"the folder of trials cannot be read: {error.strerror}"
        raise StoreError(what, str(folder), "name one that you may read with --dir DIR") from None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        if entry.name.startswith(".") or not entry.is_dir():
            return False
        return entry.name != CERTIFICATES or os.path.lexists(os.path.join(entry.path, MANIFEST))  # noqa: PTH118 - an entry's path is text
    except OSError:  # a link that leads in a circle
        return False


def misfits_of(trial: Path, manifest: Manifest, done: int) -> Iterator[str]:
    """Say what does not fit, a sentence each; nothing of a trial that is running, or was killed.

    Kept output is evidence and no data: it is left out, and so are samples, which are held against their rows.
    """
    if manifest.status == "running":
        return
    for name, expected in manifest.files.items():
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or PurePosixPath(name).is_absolute():
            yield f"the manifest lists a file outside the trial: {name!r}"
        elif parts[0] not in (OUTPUTS, SAMPLES):
            actual = None
            with contextlib.suppress(OSError, StoreError), opened(trial / name) as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
            if actual != expected:
                fate = "is gone" if actual is None else "changed after the trial ended"
                yield f"{name} {fate}"
    planned = 0 if manifest.origin == "imported" else manifest.needed
    if manifest.status == "complete" and done < planned:
        yield f"{done} of {planned} runs stand in it, though it is complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialProgress:
    """One trial as it stands. `state` is the manifest's status, or "killed".

    `again` is the command that goes on with it, `way_on` the same with what has to be done before; both
    are empty of an imported or a complete trial. `way_on_words` are those of the command that comes next,
    `before` what has to be done before it. `warmups` counts those of `done`, `failed_warmups` those of the
    failed ones, which `failed_how` has by "benchmark / variant" and outcome. `elapsed_s` is the time since
    it began, None where nobody measures. `stage` says what is done before the first run. `seconds` maps
    "benchmark/variant" to the mean time from one run's start to the next one's in the same session,
    pauses and hooks included; where no run followed yet it is that of the runs and their hooks. Under
    the stopping rule `stop`, `planned` and `left_s` are the most that there may be. `disturbances`
    counts the runs that waited for a CPU (None of another tool's runs), `suspended` the executions that
    were discarded because something stood still; `misfits` says what does not fit the manifest.
    """

    trial: str
    campaign: str
    state: str
    reason: str | None
    started: str
    done: int
    planned: int
    failed: dict[str, int]
    failed_how: dict[str, dict[str, int]]
    failed_warmups: int
    warmups: int
    elapsed_s: float | None
    last: str | None
    seconds: dict[str, float]
    left_s: float | None
    again: str
    way_on: str = ""
    way_on_words: tuple[str, ...] = ()
    before: str = ""
    stage: str | None = None
    stop: StopRule | None = None
    session_ends: tuple[SessionEnd, ...] = ()
    given_up: tuple[GivenUp, ...] = ()
    merged_from: tuple[str, ...] = ()
    origin: str = "measured"
    disturbances: Disturbances | None = None
    repeating: bool = False
    suspended: int = 0
    misfits: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the progress as JSON types."""
        ends = [end.to_dict() for end in self.session_ends]
        given_up = [one.to_dict() for one in self.given_up]
        found = {**asdict(self), "session_ends": ends, "given_up": given_up}
        del found["way_on_words"], found["before"]
        over = self._moves or self.misfits  # nothing takes what is damaged
        return found | {"next": [] if over else [command_line(self.way_on_words)]}

    @property
    def _moves(self) -> bool:
        return self.state == "running"

    @property
    def word(self) -> str:
        """How it stands, in a word for a screen."""
        return "measuring" if self._moves else self.state

    @property
    def counts(self) -> str:
        """How many runs there are, of how many."""
        # a session under a stopping rule may end before its most
        most = "at most " if self.stop is not None and self.state != "complete" else ""
        if self.origin == "imported":  # nothing was planned here
            return counted(self.done, "run")
        return f"{self.done:,} of {most}{self.planned:,}"

    @property
    def remarks(self) -> str:
        """What there is to know of it in a few words: times while it moves, else what went wrong."""
        parts = []
        if self._moves:
            times = [] if self.elapsed_s is None else [clock(self.elapsed_s)]
            times += [] if self.left_s is None else [f"about {clock(self.left_s)} left"]
            parts += [", ".join(times)] if times else []
        if self.misfits:
            parts.append("damaged")
        if self.failed:
            parts.append(failed_runs(sum(self.failed.values()), self.failed_warmups))
        what = self.reason or self.stage
        if what and self.state != "complete":
            parts.append(what)
        return "; ".join(parts)

    def next_lines(self) -> list[str]:
        """Say what comes next: go on with it, or judge it; nothing while it is measured."""
        over = self._moves or self.misfits
        return [] if over else next_lines(self.way_on_words, self.before)

    def __str__(self) -> str:
        stage = f"while {self.stage}" if self.stage and self.state == "killed" else self.stage
        what = self.reason or stage
        share = f", {100 * self.done / self.planned:.0f} %" if 0 < self.done < self.planned else ""
        warmups = f" ({self.warmups:,} warm-up)" if self.warmups else ""
        text = f"{self.counts} runs{warmups}{share}, started {moment(self.started)}"
        if self.origin == "imported":  # the time is the import's
            text = f"{self.counts} of another tool, imported {moment(self.started)}"
        known = self.session_ends, self.given_up, self.disturbances, self.suspended
        lines = [
            f"{self.trial} · {self.word}" + (f": {what}" if what else ""),
            f"  {text}",
            *(["  put together from " + ", ".join(self.merged_from)] if self.merged_from else []),
            *ending_lines(*known, repeating=self.repeating),
        ]
        if self._moves and self.left_s is not None:
            most = "at most " if self.stop is not None else "about "
            lines.append(f"  {most}{clock(self.left_s)} left; last: {self.last}")
        if self.failed:
            failed = failed_runs(sum(self.failed.values()), self.failed_warmups)
            lines.append(f"  {failed} ({failures_text(self.failed_how)})")
            lines.append(f"  why: 'detail' in its {MEASUREMENTS}; their output: its {OUTPUTS}/")
        lines += [f"  damaged: {what}" for what in self.misfits]
        if self.misfits:
            lines.append("  restore it from a copy: nothing judges it as it is")
        set_in = [part for line in lines for part in wrapped(line, "", " " * 4, WIDTH)]
        return "\n".join(set_in + self.next_lines())


def listed(trials: Sequence[TrialProgress]) -> list[str]:
    """Set trials in a list, a line each: name, state, runs, and a few words."""
    names = [f"{Name(one.trial):.34}" for one in trials]
    columns = (names, [one.word for one in trials], [one.counts for one in trials])
    wide = [max(map(len, column), default=0) for column in columns]
    heads = [
        "  ".join(f"{text:<{w}}" for text, w in zip(row, wide, strict=True))
        for row in zip(*columns, strict=True)
    ]
    lines = []
    for head, one in zip(heads, trials, strict=True):
        lines += wrapped(f"{head}  {one.remarks}".rstrip(), "", " " * 4, WIDTH)
    return lines


def _since(started: str) -> float | None:
    with contextlib.suppress(ValueError, TypeError):  # a start that is no time with a zone
        return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(started)).total_seconds())
    return None


def time_left(trial: Path, manifest: Manifest) -> float | None:
    """Estimate how long the runs of a manifest take that a trial does not have, in seconds, from those it has."""
    tally = _tally(trial)
    return _left(manifest, tally.done, tally.seconds)


def read_progress(trial: Path) -> TrialProgress:
    """Read how far a trial is; a torn last line is passed over."""
    manifest = read_manifest(trial)
    tally = _tally(trial)
    seconds = tally.seconds
    running = is_written_now(trial)
    imported = manifest.origin == "imported"
    ended = imported or manifest.status == "complete"  # there is nothing to go on with
    done = sum(tally.done.values())
    state = manifest.status if manifest.status != "running" or running else "killed"
    again, before = command_to_continue(manifest, trial), done_first(manifest, trial)
    # where all planned runs are there, disturbed ones may still have to be repeated
    # and where there are warm-ups only, there is nothing to judge
    unfinished = not ended and (
        done < manifest.needed or manifest.repeating or done == tally.warmups
    )
    return TrialProgress(
        trial=manifest.trial,
        campaign=manifest.campaign_name,
        state=state,
        reason=manifest.reason,
        started=manifest.started,
        done=done,
        planned=manifest.needed,
        failed=dict(sum(tally.failed_how.values(), Counter())),
        **tally.fields,
        elapsed_s=_since(manifest.started) if running else None,
        last=_last(tally.last),
        seconds=seconds,
        left_s=_left(manifest, tally.done, seconds) if running else None,
        again="" if ended else command_line(again),
        way_on="" if ended else way_on_of(manifest, trial),
        way_on_words=again if unfinished else ("fairtrial", "verdict", str(trial)),
        before=before if unfinished else "",
        stage=manifest.stage,
        stop=manifest.stop,
        session_ends=manifest.session_ends,
        given_up=manifest.given_up,
        merged_from=tuple(part.trial for part in manifest.merged_from),
        origin=manifest.origin,
        disturbances=None if imported else tally.disturbances.counts,
        repeating=manifest.repeating,
        misfits=tuple(misfits_of(trial, manifest, done)),
    )


class _Tally(RowCounts):
    def __init__(self) -> None:
        super().__init__()
        self.done: Counter[str] = Counter()
        self.gaps: dict[str, tuple[float, int]] = {}
        self.own: dict[str, tuple[float, int]] = {}
        self.last: dict[str, Any] | None = None
        self.last_start: datetime | None = None

    @property
    def seconds(self) -> dict[str, float]:
        """The mean time of a run of each cell, from its start to the next one's where one followed."""
        return {name: total / count for name, (total, count) in {**self.own, **self.gaps}.items()}

    def add(self, row: Mapping[str, Any]) -> None:
        super().add(row)
        cell = _cell(row)
        start = None  # its nanoseconds are cut to microseconds; None where it is no time of ours
        with contextlib.suppress(ValueError, TypeError):
            start = datetime.fromisoformat(str(row.get("started_at")))
        start = start if start is not None and start.tzinfo is not None else None
        if self.last is not None and start is not None and self.last_start is not None:
            self._add_gap(self.last, row, (start - self.last_start).total_seconds())
        self.last, self.last_start = dict(row), start
        self.done[cell] += row["position"] >= 0
        if row.get("wall_ns") is not None:
            hooks = (row.get("before_s") or 0.0) + (row.get("after_s") or 0.0)
            _put(self.own, cell, row["wall_ns"] / 1e9 + hooks)

    def _add_gap(
        self, earlier: Mapping[str, Any], later: Mapping[str, Any], seconds: float
    ) -> None:
        same = all(earlier[key] == later[key] for key in ("session", "segment"))
        if not same or earlier.get("wall_ns") is None:
            return
        if seconds >= earlier["wall_ns"] / 1e9 > 0:  # else the clock was set back in between
            _put(self.gaps, _cell(earlier), seconds)


def _cell(row: Mapping[str, Any]) -> str:
    return f"{row['benchmark']}/{row['variant']}"


def _put(sums: dict[str, tuple[float, int]], cell: str, seconds: float) -> None:
    total, count = sums.get(cell, (0.0, 0))
    if math.isfinite(total + seconds):  # hooks of 1e308 s were never measured
        sums[cell] = (total + seconds, count + 1)


def _tally(trial: Path) -> _Tally:
    tally = _Tally()
    where = trial / MEASUREMENTS
    with opened(where) as file:
        for number, line in enumerate(file, 1):
            if not (line.endswith(b"\n") and checksum_holds(line[:-1])):
                continue
            try:
                row = parse(line[:-1])
                check(RowShape, row)
            except ShapeError as error:
                what = f"the line is damaged: {error}"
                raise StoreError(what, f"{where}:{number}", RESTORE) from None
            tally.add(row)
    return tally


def _left(
    manifest: Manifest, done: Mapping[str, int], seconds: Mapping[str, float]
) -> float | None:
    if not seconds:
        return None
    left_out = manifest.left_out  # of given-up cells, which may take longest
    cells = [(b, v) for b in manifest.benchmarks for v in manifest.variants]
    per_cell = (manifest.needed + sum(left_out.values())) / len(cells)
    typical = sum(seconds.values()) / len(seconds)
    return sum(
        (per_cell - left_out.get((b, v), 0) - done.get(f"{b}/{v}", 0))
        * seconds.get(f"{b}/{v}", typical)
        for b, v in cells
    )


def _last(row: dict[str, Any] | None) -> str | None:
    if row is None:
        return None
    name = f"{Name(row['benchmark'] + ' / ' + row['variant']):.40}"
    if row["outcome"] != "ok" or row.get("wall_ns") is None:
        return f"{name}: {row['outcome']}"
    return f"{name} {duration(row['wall_ns'] / 1e9)}"
