"""The only writer of a trial directory.

A measurement is written with one system call before the next run starts, so it survives any kill;
the session syncs to the disk at block ends and at rests. The measurements file is locked while a
trial is written: status "running" without that lock means that its writer was killed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import errno
import fcntl
import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from analysis.record import (
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
    Finding,
    Manifest,
    Measurement,
    PlannedRun,
    TrialStatus,
    checksum_holds,
    encode,
    encode_checked,
    read_manifest,
)

from ..errors import StoreError

# Kept aside so that a full disk still leaves room for the last manifest.
_RESERVE = ".reserve"
_RESERVE_BYTES = 256 * 1024


def utc_now() -> str:
    """Give the time as RFC 3339, UTC."""
    return (
        datetime.datetime.now(datetime.UTC)
        .isoformat(timespec="microseconds")
        .replace("+00:00", "Z")
    )


def new_trial_name(campaign: str) -> str:
    """Name a trial after its campaign and the UTC time; the suffix makes the name unique."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S")
    return f"{campaign}-{stamp}-{secrets.token_hex(2)}"


class Store:
    """One open trial directory. Make it with `create` or `reopen`."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.done: dict[int, str] = {}  # position -> outcome
        self.counted = 0  # of these, the planned runs
        self._synced = time.monotonic()
        self._dirty = False
        with _storing(path):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._fd = os.open(path / MEASUREMENTS, flags, 0o644)
            _lock(self._fd, path)
            reserve = path / _RESERVE
            if not reserve.exists():
                reserve.write_bytes(b"\0" * _RESERVE_BYTES)

    @classmethod
    def create(
        cls, manifest: Manifest, runs: Path, campaign_text: bytes, resolved: bytes = b"{}\n"
    ) -> Store:
        """Make a new trial directory below `runs`, with its campaign as a file and resolved.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        path = runs / manifest.trial
        with _storing(path):
            (path / OUTPUTS).mkdir(parents=True)
            for name in (ENVIRONMENT, PLAN, FINDINGS):
                (path / name).touch()
            _write_synced(path / CAMPAIGN, campaign_text)
            _write_synced(path / RESOLVED, resolved)
            store = cls(path, manifest)
            store.write_manifest()
            _sync_folder(runs)
        return store

    @classmethod
    def reopen(cls, path: Path) -> Store:
        """Open a trial to go on with it.

        Raises
        ------
        StoreError
            If it is damaged, or if another process is writing it.
        """
        store = cls(path, read_manifest(path))
        store.manifest = read_manifest(path)  # now that nobody else can replace it
        before = store.manifest
        try:
            torn = store._load_done()
            # From here on files change: the hashes of the ended trial hold no more.
            store.update(status="running", files={}, finished=None)
            if torn is not None:
                store.append_findings("resume", [torn])
            store._mend()
        except BaseException:
            store.put_back(before)
            raise
        return store

    def put_back(self, before: Manifest) -> None:
        """Leave a trial as ended as it was, because it is not gone on with."""
        with contextlib.suppress(StoreError):
            if before.status == "running":
                self.free_reserve()
            elif self.manifest != before:
                self.finish(before.status, before.reason)
                self.update(finished=before.finished)
            else:
                self.free_reserve()
        self.release()

    def _load_done(self) -> Finding | None:
        """Read which positions are done; cut off a torn last line, and say so."""
        where = self.path / MEASUREMENTS
        start = 0
        data = where.read_bytes()
        for number, line in enumerate(data.splitlines(keepends=True), 1):
            whole = line.endswith(b"\n") and checksum_holds(line[:-1])
            # A whole row with a wrong checksum was edited; only what is no row was torn.
            row_like = line.startswith(b'{"position"') and line.endswith(b"}\n")
            if not whole and not row_like and start + len(line) == len(data):
                os.ftruncate(self._fd, start)
                return _torn(MEASUREMENTS, number, len(line), "its run is executed again")
            if not whole:
                raise StoreError(
                    "the line does not have its checksum: the file was changed or is damaged",
                    f"{where}:{number}",
                    "restore the file from a copy, or start a new trial",
                )
            row = json.loads(line)
            if row["position"] in self.done:
                raise StoreError(
                    f"position {row['position']} stands there twice",
                    f"{where}:{number}",
                    "restore the file from a copy, or start a new trial",
                )
            self.done[row["position"]] = row["outcome"]
            self.counted += row["position"] >= 0
            start += len(line)
        return None

    def _mend(self) -> None:
        """Cut off what a power failure left half written in the other files."""
        for name in (PLAN, ENVIRONMENT, FINDINGS):
            data = (self.path / name).read_bytes()
            size = data.rfind(b"\n") + 1
            lines = data[:size].splitlines(keepends=True)
            if name == PLAN:  # a session is planned as a whole, before its first run
                each = self.manifest.planned // self.manifest.sessions
                whole = len(lines) // each * each
                if not any(position >= whole for position in self.done):
                    size = sum(map(len, lines[:whole]))
            if size == len(data):
                continue
            torn = _torn(name, len(lines) + 1, len(data) - size, "the rest is used")
            os.truncate(self.path / name, size)
            self.append_findings("resume", [torn])

    def append_measurement(self, measurement: Measurement) -> None:
        """Write one row; it is whole or not there.

        Raises
        ------
        StoreError
            If the disk is full or fails; what was written before is intact.
        """
        line = encode_checked(measurement.to_dict()) + b"\n"
        with _storing(self.path / MEASUREMENTS):
            _write_whole(self._fd, line)
        self.done[measurement.position] = measurement.outcome
        self.counted += measurement.position >= 0
        self._dirty = True

    def sync(self, older_than_s: float = 0.0) -> None:
        """Bring the rows to the disk, if any row has waited for longer than `older_than_s`."""
        now = time.monotonic()
        if self._dirty and now - self._synced >= older_than_s:
            with _storing(self.path / MEASUREMENTS):
                os.fdatasync(self._fd)
            self._dirty = False
        if not self._dirty:
            self._synced = now

    def append_plan(self, runs: Iterable[PlannedRun]) -> None:
        """Append the planned runs of a session."""
        self._append(PLAN, b"".join(encode(run.to_dict()) + b"\n" for run in runs))

    def append_environment(self, record: dict[str, Any]) -> None:
        """Append the environment of a session or segment."""
        self._append(ENVIRONMENT, encode(record) + b"\n")

    def append_findings(
        self, when: str, findings: Iterable[Finding], session: int | None = None
    ) -> None:
        """Append host findings; `when` is "before", "during", "after" or "resume"."""
        at = {"at": utc_now(), "session": session, "when": when}
        self._append(FINDINGS, b"".join(encode(at | f.to_dict()) + b"\n" for f in findings))

    def planned(self) -> list[PlannedRun]:
        """Read the stored plan back."""
        try:
            return [PlannedRun.of_row(row) for row in self._records(PLAN)]
        except TypeError as error:
            raise StoreError(
                f"a line is no planned run, the file was changed or is damaged: {error}",
                str(self.path / PLAN),
                "restore the file from a copy, or start a new trial",
            ) from error

    def environments(self) -> list[dict[str, Any]]:
        """Read the stored environments back."""
        return self._records(ENVIRONMENT)

    def _records(self, name: str) -> list[dict[str, Any]]:
        rows = []
        for number, line in enumerate((self.path / name).read_bytes().splitlines(), 1):
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise StoreError(
                    f"the line is no JSON, the file was changed or is damaged: {error}",
                    f"{self.path / name}:{number}",
                    "restore the file from a copy, or start a new trial",
                ) from error
        return rows

    def update(self, **changes: Any) -> None:  # noqa: ANN401 - fields of the manifest
        """Change fields of the manifest and replace it atomically."""
        self.manifest = dataclasses.replace(self.manifest, **changes)
        self.write_manifest()

    def write_manifest(self) -> None:
        """Replace ``manifest.json`` atomically."""
        text = json.dumps(self.manifest.to_dict(), indent=2, allow_nan=False) + "\n"
        fresh = self.path / f".{MANIFEST}.new"
        with _storing(self.path / MANIFEST):
            _write_synced(fresh, text.encode())
            fresh.replace(self.path / MANIFEST)
            _sync_folder(self.path)

    def finish(self, status: TrialStatus, reason: str | None) -> None:
        """Sync everything, hash every file, write the last manifest and release the lock."""
        self.free_reserve()
        self.sync()
        names = [ENVIRONMENT, PLAN, MEASUREMENTS, FINDINGS, CAMPAIGN]
        names += [RESOLVED] if (self.path / RESOLVED).exists() else []  # the first version has none
        with _storing(self.path):
            kept = (self.path / OUTPUTS).rglob("*")  # hooks may have made folders there
            files = [path for path in kept if path.is_file() and not path.is_symlink()]
            names += sorted(str(path.relative_to(self.path)) for path in files)
            hashes = {name: sha256_file(self.path / name) for name in names}
        self.update(status=status, reason=reason, finished=utc_now(), files=hashes)
        self.release()

    def free_reserve(self) -> None:
        """Give up the space that was kept aside for the end."""
        with contextlib.suppress(OSError):
            (self.path / _RESERVE).unlink(missing_ok=True)

    def release(self) -> None:
        """Close the trial without a word, as a kill would."""
        with contextlib.suppress(OSError):
            os.close(self._fd)

    def _append(self, name: str, data: bytes) -> None:
        where = self.path / name
        with _storing(where), where.open("ab", buffering=0) as file:
            _write_whole(file.fileno(), data)
            os.fdatasync(file.fileno())


def sha256_file(path: Path) -> str:
    """Give the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_written_now(trial: Path) -> bool:
    """Tell whether a process holds the trial's lock."""
    try:
        fd = os.open(trial / MEASUREMENTS, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", str(trial / MEASUREMENTS)) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _lock(fd: int, path: Path) -> None:
    # A reader that asks whether we are alive holds the lock for an instant: try more than once.
    for _ in range(20):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        else:
            return
    os.close(fd)
    raise StoreError(
        "another process is writing this trial",
        str(path),
        "wait until it is done ('fairtrial status' shows it), or start a new trial",
    )


def _torn(name: str, number: int, size: int, fate: str) -> Finding:
    return Finding(
        check="store",
        status="warn",
        what=f"the last line was torn ({size} bytes) and is cut off; {fate}",
        where=f"{name}:{number}",
        reason="the writer or the machine died while that line was being written",
    )


def _write_whole(fd: int, data: bytes) -> None:
    """Append with one system call; what does not fit whole leaves nothing of itself."""
    written = os.write(fd, data)
    if written != len(data):
        os.ftruncate(fd, os.fstat(fd).st_size - written)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class _storing:  # noqa: N801 - reads as a phrase: "with _storing(path):"
    """Turn an operating system error into a `StoreError` that says where and what to do."""

    _FIXES = {  # noqa: RUF012 - a constant table
        errno.ENOSPC: "free some space, then continue with --resume",
        errno.EDQUOT: "your disk quota is used up: free some space, then continue with --resume",
        errno.EACCES: "choose a folder that you may write with --dir DIR",
        errno.EROFS: "choose a folder on a writable file system with --dir DIR",
    }

    def __init__(self, where: Path) -> None:
        self._where = where

    def __enter__(self) -> None:
        """Do nothing yet."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Translate an `OSError`."""
        if isinstance(error, OSError):
            raise StoreError(
                f"cannot be written: {error.strerror}",
                str(self._where),
                self._FIXES.get(error.errno or 0),
            ) from error
