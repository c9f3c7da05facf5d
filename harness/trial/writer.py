"""The only writer of a trial directory; what stands there already is read back first.

A row is written with one system call before the next run starts; the measurements file is locked meanwhile:
status "running" without that lock means that its writer was killed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import secrets
import shutil
import time
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from analysis.errors import StoreError
from analysis.record.manifest import manifest_text, read_manifest, sync_place, utc_now
from analysis.record.run_numbers import MOST_REPEATS, Measurement, Outcome
from analysis.record.shapes import (
    RESTORE,
    ShapeError,
    are_objects,
    check,
    checksum_holds,
    encode,
    encode_checked,
    lines_of,
    opened,
    parse,
    records_of,
)
from analysis.record.trial_files import (
    BUILDS,
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
    BuildRecord,
    EnvironmentShape,
    Finding,
    Manifest,
    PlannedRun,
    RowShape,
    TrialStatus,
    read_builds,
    warning,
)

from ..host.executables import sha256_file
from .ending import RowCounts
from .folder import (
    FRESH_ENVIRONMENT,
    FRESH_MANIFEST,
    RESERVE,
    append_synced,
    cut,
    files_of_runs,
    lock_trial,
    mode_of_files,
    open_inside,
    refuse_links,
    storing,
    write_synced,
    write_whole,
)

_FIRST_KEY = b'{"position":'


class Outcomes(Mapping[int, str]):
    """The outcome of each row by its position, in the order of execution.

    A planned row takes nine bytes, so that an orchestrator hardly grows with its runs.
    """

    _NAMES: tuple[str, ...] = ("", *get_args(Outcome))

    def __init__(self) -> None:
        self._order = array("q")
        self._planned = bytearray()  # by position: the place of its name
        self._others: dict[int, str] = {}  # at negative positions, and names of a later version

    def add(self, position: int, outcome: str) -> None:
        """Append a row."""
        self._order.append(position)
        if position < 0 or outcome not in self._NAMES:
            self._others[position] = outcome
            return
        self._planned.extend(bytes(max(0, position + 1 - len(self._planned))))
        self._planned[position] = self._NAMES.index(outcome)

    def __getitem__(self, position: int) -> str:
        if 0 <= position < len(self._planned) and (name := self._NAMES[self._planned[position]]):
            return name
        return self._others[position]

    def __iter__(self) -> Iterator[int]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)


class Rows(RowCounts):
    """The rows of a trial: `outcomes` by position in the order of execution, and what they add up to.

    `repeats` names of each row that repeats a disturbed run the planned position. They take `size` bytes;
    `torn` is the number and the size of a last line that is not whole, None without one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.outcomes = Outcomes()
        self.size = 0
        self.repeats: dict[int, int] = {}
        self.torn: tuple[int, int] | None = None

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row."""
        super().add(row)
        self.outcomes.add(row["position"], row["outcome"])
        if (repeated := row.get("repeats")) is not None:
            self.repeats[row["position"]] = repeated


def require_files(path: Path) -> None:
    """Refuse a trial with a missing file, before anything is executed for it."""
    for name in (MEASUREMENTS, PLAN, ENVIRONMENT, FINDINGS, CAMPAIGN):
        opened(path / name).close()


def rows_done(path: Path, manifest: Manifest) -> Rows:
    """Read which positions are done."""
    where = path / MEASUREMENTS
    rows = Rows()
    times: Counter[int] = Counter()
    last, repeated = -1, 0
    with opened(where) as file:
        size = os.fstat(file.fileno()).st_size
        for number, line in enumerate(file, 1):
            whole = line.endswith(b"\n") and checksum_holds(line[:-1])
            # A whole row with a wrong checksum was edited; only what is no row was torn.
            row_like = line.startswith(_FIRST_KEY) and line.endswith(b"}\n")
            if not whole and not row_like and rows.size + len(line) == size:
                rows.torn = (number, len(line))
                break
            rows.size += len(line)
            try:
                if not whole:
                    raise ShapeError("the line does not have its checksum")
                row = parse(line[:-1])
                check(RowShape, row)
                position = row["position"]
                if position in rows.outcomes:
                    raise ShapeError(f"position {position} is there twice")
                if repeated <= position <= last:
                    raise ShapeError(
                        f"position {position} stands behind {last if position >= 0 else repeated}: "
                        "the rows are not in the order of execution"
                    )
                _check_row(row, manifest)
                if (again := row.get("repeats")) is not None:
                    times[again] += 1
                    _check_repeat(row, rows.outcomes, times[again])
            except ShapeError as error:
                what = f"{error}: the file was changed or is damaged"
                raise StoreError(what, f"{where}:{number}", RESTORE) from None
            last, repeated = max(last, position), min(repeated, position)
            rows.add(row)
    return rows


def _check_repeat(row: Mapping[str, Any], outcomes: Mapping[int, str], times: int) -> None:
    """Hold a row that repeats a run against those before it."""
    if row["repeats"] not in outcomes or row["position"] >= 0 or row["warmup"]:
        what = f"it repeats position {row['repeats']}, and no measured run stands there before it"
        raise ShapeError(what)
    if times > MOST_REPEATS:
        raise ShapeError(f"position {row['repeats']} is repeated more than {MOST_REPEATS} times")


def _check_row(row: Mapping[str, object], manifest: Manifest) -> None:
    for key, known in (("benchmark", manifest.benchmarks), ("variant", manifest.variants)):
        if row[key] not in known:
            raise ShapeError(f"the trial has no {key} {row[key]!a}")
    for key, most in (
        ("session", manifest.sessions),
        ("block", manifest.runs),
        ("position", manifest.planned - 1),
    ):
        value = row[key]
        assert isinstance(value, int), "its shape was checked"
        again = row["warmup"] or (manifest.repeating and row.get("repeats") is not None)
        if value > most or (value < 0 and not again):
            raise ShapeError(f"its {key} is {value}, and {most} is the last")


def _same_rows(where: Path, written: Mapping[int, str]) -> None:
    """Hold the rows against the positions that were written; nothing is parsed that need not be."""
    fix = "something wrote into the trial while it ran; measure again"
    positions = iter(written)
    number = 0
    for number, line in lines_of(where):
        if not checksum_holds(line):
            raise StoreError("the line is no row that was written here", f"{where}:{number}", fix)
        position = next(positions, None)
        if not line.startswith(b"%b%d," % (_FIRST_KEY, -1 if position is None else position)):
            raise StoreError(
                "a row stands there that was not written"
                if position is None
                else f"the row of position {position} was written there, and another one stands there",
                f"{where}:{number}",
                fix,
            )
    if number < len(written):
        raise StoreError(f"it has {number} of the {len(written)} rows written", str(where), fix)


_RESERVE_BYTES = 256 * 1024
_PART = 100_000  # lines of a plan that are written at once


def new_trial_name(campaign: str) -> str:
    """Name a trial after its campaign and the UTC time; the suffix makes the name unique."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S")
    return f"{campaign}-{stamp}-{secrets.token_hex(2)}"


class Store:
    """One open trial directory. Make it with `create` or `reopen`."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.rows = Rows()
        self._synced = time.monotonic()
        self._dirty = False
        with storing(path):
            self._fd = open_inside(path, MEASUREMENTS, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            lock_trial(self._fd, path)
            self._place = _place_of(path)
            if not (path / RESERVE).exists():
                write_synced(path, RESERVE, b"\0" * _RESERVE_BYTES)

    @classmethod
    def create(
        cls,
        manifest: Manifest,
        runs: Path,
        campaign_text: bytes,
        resolved: bytes = b"{}\n",
        *,
        share: bool = False,
    ) -> Store:
        """Make a new trial directory below `runs`, with its campaign as a file and resolved.

        Nobody else may read it, unless it is shared: then the umask decides. An empty folder of that
        name is taken as it is.
        """
        path = runs / manifest.trial
        with storing(path), contextlib.ExitStack() as failed:
            runs.mkdir(parents=True, exist_ok=True)
            mode = 0o777 if share else 0o700
            new = not path.exists()  # a folder that was there may hold what is not ours
            path.mkdir(mode=mode, exist_ok=True)
            (path / OUTPUTS).mkdir(mode=mode)  # of two that begin at once, one fails here
            failed.callback(shutil.rmtree, path if new else path / OUTPUTS, ignore_errors=True)
            for name in (ENVIRONMENT, PLAN, FINDINGS):
                (path / name).touch(mode_of_files(path))
            write_synced(path, CAMPAIGN, campaign_text)
            write_synced(path, RESOLVED, resolved)
            store = cls(path, manifest)
            store.write_manifest()
            failed.pop_all()
            sync_place(runs)
        return store

    @classmethod
    def reopen(cls, path: Path) -> Store:
        """Open a trial to go on with it."""
        refuse_links(path)
        manifest = read_manifest(path)
        require_files(path)
        store = cls(path, manifest)
        store.manifest = read_manifest(path)  # now that nobody else can replace it
        before = store.manifest
        try:
            torn = store._load_done()
            # From here on files change: the hashes of the ended trial hold no more.
            store.update(status="running", files={}, finished=None)
            store._mend()
            if torn is not None:
                store.append_findings("resume", [torn])
        except BaseException:
            store.put_back(before)
            raise
        return store

    @classmethod
    def note(cls, path: Path, **changes: Any) -> None:  # noqa: ANN401 - fields of the manifest
        """Change fields of the manifest of a trial into which nothing is measured."""
        refuse_links(path)
        require_files(path)
        store = cls(path, read_manifest(path))
        try:
            store.update(**changes)
        finally:
            store.free_reserve()
            store.release()

    def put_back(self, before: Manifest) -> None:
        """Leave a trial as ended as it was, because it is not gone on with."""
        with contextlib.suppress(StoreError):
            if before.status == "running":
                self.free_reserve()
            elif self.manifest != before:
                self.finish(before.status, before.reason, before.must_raise)
                self.update(finished=before.finished)
            else:
                self.free_reserve()
        self.release()

    def _load_done(self) -> Finding | None:
        self.rows = found = rows_done(self.path, self.manifest)
        if found.torn is None:
            return None
        with storing(self.path / MEASUREMENTS):
            os.ftruncate(self._fd, found.size)
        return _torn(MEASUREMENTS, *found.torn, "its run is executed again")

    def _mend(self) -> None:
        """Cut off what a power failure left half written in the other files."""
        # findings first: what is said of others is put behind them
        for name in (FINDINGS, PLAN, ENVIRONMENT, BUILDS):
            if name == BUILDS and not (self.path / name).exists():  # nothing was built
                continue
            with opened(self.path / name) as file:
                data = file.read()
            size = data.rfind(b"\n") + 1
            lines = data[:size].splitlines(keepends=True)
            if name == PLAN and are_objects(lines):  # else who reads it refuses it as it is
                # a session is planned as a whole, before its first run
                whole = self.manifest.whole_sessions(len(lines))
                if not any(position >= whole for position in self.rows.outcomes):
                    size = sum(map(len, lines[:whole]))
            if size == len(data):
                continue
            torn = _torn(name, len(lines) + 1, len(data) - size, "the rest is used")
            cut(self.path, name, size)
            self.append_findings("resume", [torn])

    @property
    def executed(self) -> int:
        """How many runs were executed: planned ones, and repeats of those that were disturbed."""
        return self.rows.counted + len(self.rows.repeats)

    def append_measurement(self, measurement: Measurement) -> None:
        """Write one row; it is whole or not there."""
        row = measurement.to_dict()
        line = encode_checked(row) + b"\n"
        self._refuse_moved()
        with storing(self.path / MEASUREMENTS):
            write_whole(self._fd, line)
        self.rows.add(row)
        self._dirty = True

    def sync(self, older_than_s: float = 0.0) -> None:
        """Bring the rows to the disk, if any row has waited for longer than `older_than_s`."""
        now = time.monotonic()
        if self._dirty and now - self._synced >= older_than_s:
            with storing(self.path / MEASUREMENTS):
                os.fdatasync(self._fd)
            self._dirty = False
        if not self._dirty:
            self._synced = now

    def append_plan(self, runs: Iterable[PlannedRun]) -> None:
        """Append the planned runs of a session, a part at a time: there may be millions."""
        lines = (encode(run.to_dict()) + b"\n" for run in runs)
        while part := b"".join(islice(lines, _PART)):
            self._append(PLAN, part)

    def append_environment(self, record: dict[str, Any]) -> None:
        """Append the environment of a session or segment."""
        self._append(ENVIRONMENT, encode(record) + b"\n")

    def append_build(self, record: BuildRecord) -> None:
        """Append what a build made, before anything is measured with it."""
        self._append(BUILDS, encode_checked(record.to_dict()) + b"\n")

    def end_sitting(self, last: int) -> None:
        """Write into the last environment, of a sitting, which session was its last; nothing of others."""
        records = self.environments()
        sessions = records[-1].get("sessions") if records else None
        if not sessions or sessions[-1] is not None:
            return
        records[-1]["sessions"] = [sessions[0], max(sessions[0], last)]
        with storing(self.path / ENVIRONMENT):
            data = b"".join(encode(record) + b"\n" for record in records)
            write_synced(self.path, FRESH_ENVIRONMENT, data)
            (self.path / FRESH_ENVIRONMENT).replace(self.path / ENVIRONMENT)
            sync_place(self.path)

    def append_findings(
        self, when: str, findings: Iterable[Finding], session: int | None = None
    ) -> None:
        """Append host findings; `when` is "before", "during", "after" or "resume"."""
        at = {"at": utc_now(), "session": session, "when": when}
        lines = b"".join(encode(at | f.to_dict()) + b"\n" for f in findings)
        if lines:
            self._append(FINDINGS, lines)

    def planned(self) -> Iterator[PlannedRun]:
        """Read the stored plan back, run by run."""
        return (run for run, _ in records_of(self.path / PLAN, PlannedRun))

    def environments(self) -> list[dict[str, Any]]:
        """Read the stored environments back."""
        return [row for _, row in records_of(self.path / ENVIRONMENT, EnvironmentShape)]

    def damage(self) -> StoreError | None:
        """Read the whole trial back; give what is not as it was written, None when all is well."""
        path = self.path
        try:
            _same_rows(path / MEASUREMENTS, self.rows.outcomes)
            count = 0
            for run, _ in records_of(path / PLAN, PlannedRun):
                if run.position != count:
                    what = f"position {run.position} stands where {count} was written"
                    return StoreError(what, f"{path / PLAN}:{count + 1}", RESTORE)
                count += 1
            if count != self.manifest.planned:
                what = f"it has {count} lines, and {self.manifest.planned} runs were planned"
                return StoreError(what, str(path / PLAN), RESTORE)
            for name, kind in ((ENVIRONMENT, EnvironmentShape), (FINDINGS, Finding)):
                for _ in records_of(path / name, kind):
                    pass
            opened(path / CAMPAIGN).close()
            read_builds(path)
        except StoreError as damage:
            return damage
        return None

    def update(self, **changes: Any) -> None:  # noqa: ANN401 - fields of the manifest
        """Change fields of the manifest and replace it atomically."""
        self.manifest = dataclasses.replace(self.manifest, **changes)
        self.write_manifest()

    def write_manifest(self) -> None:
        """Replace ``manifest.json`` atomically."""
        self._refuse_moved()
        with storing(self.path / MANIFEST):
            write_synced(self.path, FRESH_MANIFEST, manifest_text(self.manifest))
            fresh = self.path / FRESH_MANIFEST
            with contextlib.suppress(OSError):  # there is none; or only root may give it away
                old = (self.path / MANIFEST).stat()
                fresh.chmod(old.st_mode & 0o777)  # who changed its mode meant it
                os.chown(fresh, old.st_uid, old.st_gid, follow_symlinks=False)
            fresh.replace(self.path / MANIFEST)
            sync_place(self.path)

    def finish(
        self, status: TrialStatus, reason: str | None, must_raise: str | None = None
    ) -> None:
        """Sync everything, hash every file, write the last manifest and release the lock."""
        self.free_reserve()
        self.sync()
        names = [ENVIRONMENT, PLAN, MEASUREMENTS, FINDINGS, CAMPAIGN, RESOLVED, BUILDS]
        # the first version has no RESOLVED, and not all build; what else is missing has been said
        names = [name for name in names if (self.path / name).exists()]
        with storing(self.path):
            names += files_of_runs(self.path)
            hashes = {name: sha256_file(self.path / name) for name in names}
        self.update(
            status=status,
            reason=reason,
            must_raise=must_raise,
            stage=None,
            finished=utc_now(),
            files=hashes,
        )
        self.release()

    def free_reserve(self) -> None:
        """Give up the space that was kept aside for the end."""
        with contextlib.suppress(OSError, StoreError):
            self._refuse_moved()
            (self.path / RESERVE).unlink(missing_ok=True)

    def release(self) -> None:
        """Close the trial without a word, as a kill would."""
        with contextlib.suppress(OSError):
            os.close(self._fd)

    def _append(self, name: str, data: bytes) -> None:
        self._refuse_moved()
        with storing(self.path / name):
            append_synced(self.path, name, data)

    def _refuse_moved(self) -> None:
        """Write nothing where another folder stands, or none: also a row would be of a run that found neither."""
        with contextlib.suppress(OSError):
            if _place_of(self.path) == self._place:
                return
        what = "the trial's folder was moved or replaced while it was measured: nothing more is written"
        fix = "put it back, then continue with --resume; the runs that have a row stay"
        raise StoreError(what, str(self.path), fix)


def _place_of(folder: Path) -> tuple[int, int]:
    found = folder.stat()
    return found.st_dev, found.st_ino


def _torn(name: str, number: int, size: int, fate: str) -> Finding:
    return warning(
        "store",
        f"the last line was torn ({size} bytes) and is cut off; {fate}",
        f"{name}:{number}",
        reason="the writer or the machine died while that line was being written",
    )
