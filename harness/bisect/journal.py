"""What a bisection has measured so far: trial and number of each session, in the order of the search.

The search is a function of what its sessions gave. So these two files and the trials are all that is needed to
go on after a kill: ``bisect.json`` says what was asked, and ``sessions.jsonl`` lists the sessions.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from analysis.errors import StoreError, UsageError
from analysis.record.manifest import BISECTION, WarmupIterations, read_manifest, sync_place
from analysis.record.shapes import (
    ShapeError,
    checksum_holds,
    encode_checked,
    opened,
    parse,
    records_of,
    shaped,
)
from analysis.record.trial_files import MANIFEST, PLAN, LooksPlan, PlannedRun

from ..trial.ending import Ending
from ..trial.execution import Begun, Options, begins_there, opened_new, readied, resume
from ..trial.folder import (
    append_synced,
    cut,
    is_written_now,
    lock_or_holder,
    open_inside,
    storing,
    write_synced,
    written_by_another,
)
from ..trial.preparation import Watcher
from ..trial.writer import rows_done

if TYPE_CHECKING:
    from ..campaign.model import Campaign

STATE, SESSIONS = BISECTION, "sessions.jsonl"
SCHEMA = 1
_FRESH, _LOCK = ".bisect.json.new", ".lock"
_RESTORE = "restore it from a copy, or begin anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSession:
    """One session: its trial (a folder below the bisection's), its number there, and its places."""

    trial: str
    session: int
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a bisection was asked: it may not change while sessions are added.

    `campaign_sha256` is that of the campaign's text. `sessions_max` may be raised: more sessions of the same
    search change none of those before. `warmup_iterations` takes the place of what the campaign
    says of the metric.
    """

    good: str
    bad: str
    good_sha: str
    bad_sha: str
    root: str
    campaign: str
    campaign_sha256: str
    variant: str | None
    benchmarks: tuple[str, ...]
    metric: str
    margin: float
    risk: float
    looks: tuple[int, ...]
    work_dir: str | None
    sessions_max: int | None = None
    every: bool = False
    warmup_iterations: WarmupIterations | None = None

    def refuse_another(self, now: Terms, where: Path) -> None:
        """Refuse to go on where something else is asked now.

        Raises UsageError if commits, campaign or what is judged differ; it names the first difference.
        """
        named = {
            "good_sha": "GOOD",
            "bad_sha": "BAD",
            "root": "the repository",
            "campaign": "the campaign's file",
            "campaign_sha256": "the campaign's text (SHA-256)",
            "benchmarks": "the benchmarks",
            "metric": "the metric",
        }
        for name in (*named, "variant", "margin", "risk", "looks", "warmup_iterations"):
            then, asked = getattr(self, name), getattr(now, name)
            if then != asked:
                option = named.get(name) or f"--{name.replace('_', '-')}"
                raise UsageError(
                    f"{option} of this bisection was {_shown(then)}, and now it is {_shown(asked)}: sessions of "
                    "both would be one search",
                    str(where),
                    "put it back, or begin a new bisection without --resume",
                )


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "not given" if value is None else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What of ``bisect.json`` a bisection goes on with."""

    store_schema: int
    asked: Terms
    state: str | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Journal:
    """An open bisection's folder, locked for this process; a context manager that gives the lock back."""

    folder: Path
    asked: Terms
    sessions: list[MeasuredSession] = field(default_factory=list)
    _lock: int = -1

    @classmethod
    def begin(cls, folder: Path, asked: Terms, *, share: bool = False) -> Self:
        """Make the folder of a new bisection.

        Raises StoreError if it is there already, or cannot be written.
        """
        with storing(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o777 if share else 0o700)
        journal = cls(folder, asked)
        journal._take()
        journal.store({})
        with storing(folder):
            write_synced(folder, SESSIONS, b"")
            sync_place(folder.parent)
        return journal

    @classmethod
    def reopen(cls, folder: Path) -> Self:
        """Open the folder of a bisection to go on with it.

        Raises StoreError if it is none, is damaged, has a newer schema, or another process writes it.
        """
        journal = cls(folder, read_state(folder).asked)
        journal._take()
        try:
            journal._read()
        except BaseException:
            journal.close()
            raise
        return journal

    def _take(self) -> None:
        with storing(self.folder / _LOCK):
            fd = open_inside(self.folder, _LOCK, os.O_RDWR | os.O_CREAT)
        if (pid := lock_or_holder(fd)) is not None:
            os.close(fd)
            what = f"another process is writing this bisection (process {pid or 'unknown'})"
            fix = "wait until it is done, or begin a new one without --resume"
            raise StoreError(what, str(self.folder), fix)
        self._lock = fd

    def _read(self) -> None:
        """Read the list of sessions; a torn last line is cut off, since its session stands in its trial."""
        where = self.folder / SESSIONS
        if not os.path.lexists(where):  # it was killed before the first
            return
        with opened(where) as file:
            data = file.read()
        whole = 0
        for number, line in enumerate(data.splitlines(keepends=True), 1):
            if whole + len(line) == len(data) and not line.endswith(b"\n"):
                break
            try:
                if not (line.endswith(b"\n") and checksum_holds(line[:-1])):
                    raise ShapeError("the line does not have its checksum")
                one = shaped(MeasuredSession, parse(line), "the line")
                if Path(one.trial).is_absolute() or ".." in Path(one.trial).parts:
                    what = f"the trial {one.trial!r} lies outside of the bisection's folder"
                    raise ShapeError(what)
            except ShapeError as error:
                what = f"{error}: the file was changed or is damaged"
                raise StoreError(what, f"{where}:{number}", _RESTORE) from None
            self.sessions.append(one)
            whole += len(line)
        if whole < len(data):
            with storing(where):
                cut(self.folder, SESSIONS, whole)

    def append(self, one: MeasuredSession) -> None:
        """List a session that is complete in its trial, and bring the line to the disk."""
        row = {"trial": one.trial, "session": one.session, "places": list(one.places)}
        with storing(self.folder / SESSIONS):
            append_synced(self.folder, SESSIONS, encode_checked(row) + b"\n")
        self.sessions.append(one)

    def store(self, bisection: Mapping[str, Any]) -> None:
        """Replace ``bisect.json``: what was asked, and the `bisection` so far."""
        state = {**bisection, "store_schema": SCHEMA, "asked": asdict(self.asked)}
        data = json.dumps(state, indent=1, allow_nan=False).encode() + b"\n"
        with storing(self.folder / STATE):
            write_synced(self.folder, _FRESH, data)
            (self.folder / _FRESH).replace(self.folder / STATE)
            sync_place(self.folder)

    def close(self) -> None:
        """Give the lock back."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        """Do nothing more: the lock is held."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_state(folder: Path) -> State:
    """Read ``bisect.json``.

    Raises StoreError if it is not there, cannot be read, or a newer version wrote it.
    """
    where = folder / STATE
    if not os.path.lexists(where):
        fix = "name the folder that 'fairtrial bisect' printed, such as runs/bisect-NAME"
        raise StoreError("there is no bisection", str(folder), fix)
    try:
        with opened(where) as file:
            state = shaped(State, parse(file.read()))
    except (OSError, ShapeError) as error:
        raise StoreError(f"it cannot be read: {error}", str(where), _RESTORE) from None
    if state.store_schema > SCHEMA:
        what = f"it has the schema {state.store_schema}, and {SCHEMA} is the newest known here"
        raise StoreError(
            what, str(where), "use the fairtrial version that wrote it, or a newer one"
        )
    return state


def newest_unfinished(folder: Path, campaign: str | None) -> Path:
    """Give the newest bisection below a folder that is not ended, of a campaign's file if that is given.

    Raises UsageError if there is none.
    """
    found: list[tuple[float, Path]] = []
    ended: list[tuple[float, Path]] = []
    for path in folder.glob(f"*/{STATE}"):
        with contextlib.suppress(StoreError):
            state = read_state(path.parent)
            if campaign in (None, state.asked.campaign):
                aged = (path.stat().st_mtime, path.parent)
                (ended if state.state == "ended" else found).append(aged)
    if not found:
        what = "there is no bisection to go on with"
        if ended:
            what += f": {max(ended)[1]} is complete"
        fix = "name its folder (--resume FOLDER), or leave out --resume to begin a new one"
        raise UsageError(what, str(folder), fix)
    return max(found)[1]


# --- Sessions that are added to a trial one by one, by somebody who decides after each what is measured next. Each is
# an ordinary session: host, programs and plan are looked at as by a resumption, since other things are built and
# measured between two of them.


def whole_sessions(trial: Path) -> int:
    """Count the sessions of a trial whose planned runs are all stored; 0 where there is no trial yet.

    Raises StoreError if the trial is damaged.
    """
    if not (trial / MANIFEST).exists():
        return 0
    manifest = read_manifest(trial)
    done = rows_done(trial, manifest).outcomes
    given_up = {(one.session, one.benchmark, one.variant) for one in manifest.given_up}
    left: Counter[int] = Counter()
    for run, _ in records_of(trial / PLAN, PlannedRun):
        cell = (run.session, run.benchmark, run.variant)
        left[run.session] += run.position not in done and cell not in given_up
    open_sessions = [session for session, count in left.items() if count]
    return min(open_sessions) - 1 if open_sessions else max(left, default=0)


def add_session(
    campaign: Campaign, options: Options, watcher: Watcher, looks_plan: LooksPlan | None = None
) -> Ending:
    """Measure one more session of the trial `options.name`, or finish the one that was broken off.

    The trial is begun where nothing was measured. With a `looks_plan`, which a new trial keeps, the sessions
    stand in that plan; without one each is noted as appended. Of `options` the number of sessions does not count.

    Raises HostError if a required check of the host fails; DriftError if host, programs or campaign are not those
    with which the trial began; StoreError if the trial cannot be written, or another process writes it.
    """
    assert options.name is not None, "its place is chosen by whoever adds to it"
    path = options.folder / options.name
    if begins_there(path, campaign.name):
        with readied(campaign, options, 1, watcher) as trial:
            return opened_new(trial, options, 1, looks_plan) or trial.execute()
    if is_written_now(path):
        raise written_by_another(path)
    manifest = read_manifest(path)
    if manifest.looks_plan is None and looks_plan is not None:
        what = "its sessions stand in no plan of looks, and further ones would"
        raise StoreError(what, str(path), "move it away")
    sessions = max(manifest.sessions, whole_sessions(path) + 1)
    begun = Begun(path=path, manifest=manifest, campaign=campaign, sessions=sessions)
    return resume(begun, options, watcher)
