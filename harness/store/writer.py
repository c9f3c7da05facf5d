"""The only writer of a trial directory.

A measurement is written with one system call before the next run starts, so it survives any kill;
the session syncs to the disk at block ends and at rests. The measurements file is locked while a
trial is written: status "running" without that lock means that its writer was killed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from itertools import islice
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
    Disturbances,
    DisturbanceTally,
    EnvironmentShape,
    Finding,
    Manifest,
    Measurement,
    PlannedRun,
    TrialStatus,
    encode,
    encode_checked,
    manifest_text,
    opened,
    read_manifest,
    records_of,
    utc_now,
)

from ..errors import StoreError
from .folder import (
    append_synced,
    cut,
    mode_of_files,
    open_inside,
    refuse_links,
    storing,
    sync_folder,
    write_synced,
    write_whole,
)
from .rows import damage_in, failed_runs, require_files, rows_done
from .trial_lock import lock_trial
from .unused import FRESH_MANIFEST, RESERVE

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
        self.done: dict[int, str] = {}  # position -> outcome
        self.counted = 0  # of these, the planned runs
        self._repeats: dict[int, int] = {}  # of these, those that repeat a run, and its position
        self._disturbances = DisturbanceTally()
        self._synced = time.monotonic()
        self._dirty = False
        with storing(path):
            self._fd = open_inside(path, MEASUREMENTS, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            lock_trial(self._fd, path)
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

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        path = runs / manifest.trial
        with storing(path):
            runs.mkdir(parents=True, exist_ok=True)
            mode = 0o777 if share else 0o700
            path.mkdir(mode=mode, exist_ok=True)
            (path / OUTPUTS).mkdir(mode=mode)  # of two that begin at once, one fails here
            for name in (ENVIRONMENT, PLAN, FINDINGS):
                (path / name).touch(mode_of_files(path))
            write_synced(path, CAMPAIGN, campaign_text)
            write_synced(path, RESOLVED, resolved)
            store = cls(path, manifest)
            store.write_manifest()
            sync_folder(runs)
        return store

    @classmethod
    def reopen(cls, path: Path) -> Store:
        """Open a trial to go on with it.

        Raises
        ------
        StoreError
            If it is damaged, if another process is writing it, or if symbolic links lie in it.
        """
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
        """Change fields of the manifest of a trial into which nothing is measured.

        Raises
        ------
        StoreError
            If another process is writing it, if it cannot be written, or if symbolic links lie in it.
        """
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
        """Read which positions are done; cut off a torn last line, and say so."""
        found = rows_done(self.path, self.manifest)
        self.done = found.outcomes
        self._repeats, self._disturbances = found.repeats, found.disturbances
        self.counted = sum(position >= 0 for position in self.done)
        if found.torn is None:
            return None
        with storing(self.path / MEASUREMENTS):
            os.ftruncate(self._fd, found.size)
        return _torn(MEASUREMENTS, *found.torn, "its run is executed again")

    def _mend(self) -> None:
        """Cut off what a power failure left half written in the other files."""
        for name in (FINDINGS, PLAN, ENVIRONMENT):  # what is said of the others is put behind it
            with opened(self.path / name) as file:
                data = file.read()
            size = data.rfind(b"\n") + 1
            lines = data[:size].splitlines(keepends=True)
            if name == PLAN:  # a session is planned as a whole, before its first run
                whole = self.manifest.whole_sessions(len(lines))
                if not any(position >= whole for position in self.done):
                    size = sum(map(len, lines[:whole]))
            if size == len(data):
                continue
            torn = _torn(name, len(lines) + 1, len(data) - size, "the rest is used")
            cut(self.path, name, size)
            self.append_findings("resume", [torn])

    @property
    def executed(self) -> int:
        """How many runs were executed: planned ones, and repeats of those that were disturbed."""
        return self.counted + len(self._repeats)

    @property
    def failed(self) -> int:
        """How many of these were not ok."""
        return failed_runs(self.done, self._repeats)

    @property
    def disturbances(self) -> Disturbances:
        """How many measured runs were disturbed."""
        return self._disturbances.counts

    def append_measurement(self, measurement: Measurement) -> None:
        """Write one row; it is whole or not there.

        Raises
        ------
        StoreError
            If the disk is full or fails; what was written before is intact.
        """
        row = measurement.to_dict()
        line = encode_checked(row) + b"\n"
        with storing(self.path / MEASUREMENTS):
            write_whole(self._fd, line)
        self.done[measurement.position] = measurement.outcome
        self.counted += measurement.position >= 0
        if measurement.repeats is not None:
            self._repeats[measurement.position] = measurement.repeats
        self._disturbances.add(row)
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
        return damage_in(self.path, self.manifest, self.done)

    def update(self, **changes: Any) -> None:  # noqa: ANN401 - fields of the manifest
        """Change fields of the manifest and replace it atomically."""
        self.manifest = dataclasses.replace(self.manifest, **changes)
        self.write_manifest()

    def write_manifest(self) -> None:
        """Replace ``manifest.json`` atomically."""
        with storing(self.path / MANIFEST):
            write_synced(self.path, FRESH_MANIFEST, manifest_text(self.manifest))
            with contextlib.suppress(FileNotFoundError):  # who changed its mode meant it
                (self.path / FRESH_MANIFEST).chmod((self.path / MANIFEST).stat().st_mode & 0o777)
            (self.path / FRESH_MANIFEST).replace(self.path / MANIFEST)
            sync_folder(self.path)

    def finish(
        self, status: TrialStatus, reason: str | None, must_raise: str | None = None
    ) -> None:
        """Sync everything, hash every file, write the last manifest and release the lock."""
        self.free_reserve()
        self.sync()
        names = [ENVIRONMENT, PLAN, MEASUREMENTS, FINDINGS, CAMPAIGN, RESOLVED]
        # the first version has no RESOLVED; what else is missing has been said
        names = [name for name in names if (self.path / name).exists()]
        with storing(self.path):
            kept = (self.path / OUTPUTS).rglob("*")  # hooks may have made folders there
            files = [path for path in kept if path.is_file() and not path.is_symlink()]
            names += sorted(str(path.relative_to(self.path)) for path in files)
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
        with contextlib.suppress(OSError):
            (self.path / RESERVE).unlink(missing_ok=True)

    def release(self) -> None:
        """Close the trial without a word, as a kill would."""
        with contextlib.suppress(OSError):
            os.close(self._fd)

    def _append(self, name: str, data: bytes) -> None:
        with storing(self.path / name):
            append_synced(self.path, name, data)


def sha256_file(path: Path) -> str:
    """Give the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _torn(name: str, number: int, size: int, fate: str) -> Finding:
    return Finding(
        check="store",
        status="warn",
        what=f"the last line was torn ({size} bytes) and is cut off; {fate}",
        where=f"{name}:{number}",
        reason="the writer or the machine died while that line was being written",
    )
