"""The nights' cache: what was read of each trial, in this user's cache, for the next reading.

What lies next to trials came with them, and is never believed.

A trial's values are taken from it only where its manifest has the same SHA-256, and each file that the
manifest lists with a hash is as it was: by size, inode and the times of its last changes; a file that
was touched is hashed again. So a trial that was tampered with is found, as without the cache. A file of
it that is damaged, cannot be read or written, or is of another version is passed over.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ..data.columns import verify_files
from ..data.merging import StatedCampaign
from ..errors import StoreError
from ..record.fleet import is_fleet
from ..record.manifest import judge_words, read_manifest
from ..record.run_numbers import Better
from ..record.shapes import ShapeError, checksum_holds, encode_checked, opened, parse, shaped
from ..record.trial_files import MANIFEST, OUTPUTS, Manifest
from ..version import VERSION

# --- What is kept of a trial once it was read: its values by benchmark and variant, and what it is of.


class Cell(NamedTuple):
    """The values of one benchmark and variant; None where there is none.

    `log`: The mean over sessions of its mean log less the baseline's, larger = slower.
    `baseline_log`: The baseline's mean log over the same sessions. `own`: Its own mean log.
    `sessions`, `own_sessions`: How many `log` and `own` rest on. `program`: The SHA-256 of the
    executable; None where it is unknown or not one over all sessions. `commit`: None likewise. `cut`: Whether a time
    limit ended runs of it.
    """

    log: float | None = None
    baseline_log: float | None = None
    own: float | None = None
    sessions: int = 0
    own_sessions: int = 0
    program: str | None = None
    commit: str | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTrial:
    """A trial as series need it.

    `complete`: Whether all of its sessions are. `values`: By variant, one a benchmark. `inputs`: For each benchmark the SHA-256 of what the runs read, by its path:
    what the campaign names, and the files among the baseline's arguments. `host_record`: The sections host, cpu, memory,
    kernel of the first session's environment, and the baseline's targets. `unsteady`: Benchmark and variant of cells with
    too many runs that reach no steady state, `cut`: with runs that a time limit ended, `totals`: whose totals disagree
    with typical runs.
    """

    trial: str
    host: str
    host_id: str
    origin: str
    baseline: str
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    metric: str
    unit: str
    better: Better
    complete: bool
    values: Mapping[str, tuple[Cell, ...]]
    inputs: tuple[Mapping[str, str], ...]
    campaign: StatedCampaign
    host_record: Mapping[str, Any]
    unsteady: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()

    def cell(self, variant: str, benchmark: str) -> Cell | None:
        """Give what one variant has of one benchmark; None where the trial has nothing of it."""
        cells, there = self.values.get(variant), benchmark in self.benchmarks
        return cells[self.benchmarks.index(benchmark)] if there and cells is not None else None

    def inputs_of(self, benchmark: str) -> Mapping[str, str]:
        """Give the SHA-256 of what the runs of a benchmark read, by its path."""
        there = benchmark in self.benchmarks
        return self.inputs[self.benchmarks.index(benchmark)] if there else {}

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types; what many trials share stands as a text."""
        found = {name: getattr(self, name) for name in self.__slots__}
        found["campaign"] = self.campaign.to_dict()
        return found | {name: json.dumps(found[name]) for name in _SHARED}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> KeptTrial:
        """Make one of what `to_dict` gave; KeyError, TypeError or ValueError for anything else."""
        unwritten: dict[str, Any] = {"identity": [], "stated": {}, "settings": None}
        campaign, *parts = (_parsed(data[name]) for name in _SHARED)
        made = shaped(cls, {**data, **dict(zip(_SHARED, (unwritten, *parts), strict=True))})
        columns = (made.inputs, *made.values.values())
        if any(len(column) != len(made.benchmarks) for column in columns):
            raise ValueError("a column has another length")
        return replace(made, campaign=StatedCampaign.from_dict(campaign))


def imported_campaign(name: str, metric: str, unit: str, better: str) -> StatedCampaign:
    """Give what stands for the campaign of another tool's results: what was measured, in which unit."""
    fields = ("variants", "benchmarks", "baseline", "runs", "warmup", "stop")
    stated = {
        "campaign_name": name,
        "metrics": {metric: {"unit": unit, "better": better}},
        **dict.fromkeys(fields),
    }
    return StatedCampaign(identity=(0, ""), stated=stated, settings=None)


_RULE = 6  # how values are made: another one makes them anew
_SHARED = ("campaign", "inputs", "host_record")  # often the same in many trials: kept as texts
_RACE_NS = 2_000_000_000  # what changed so shortly before may change again without a new time


def kept_or_read(
    path: Path, metric: str | None, read: Callable[[Path, str | None], KeptTrial]
) -> tuple[KeptTrial, bool, bool]:
    """Give what was kept of a trial, else what `read` gives; whether it was read, and whether it could be written.

    It is kept for this user alone, with how its files were before: what changes later is seen at the next reading. A
    trial whose manifest lists no hashes is not kept: its files may still change.
    """
    if (kept := look_up(path, metric)) is not None:
        return kept, False, True
    at_ns, digest, files = time.time_ns(), manifest_hash(path), {}
    with contextlib.suppress(StoreError):
        manifest = read_manifest(path)
        if digest == manifest_hash(path):
            files = _settled(_signatures(path, manifest), at_ns)
    found = read(path, metric)
    known = {"rule": _RULE, "tool_version": VERSION, "manifest": digest, "files": files}
    if not files:
        return found, True, True
    return found, True, _write(kept_file(path, metric), known | {"night": found.to_dict()})


def look_up(path: Path, metric: str | None) -> KeptTrial | None:
    """Give what was kept of a trial, if it is still as it was; else None.

    Raises StoreError where a file of it changed after the trial ended.
    """
    place, row = kept_file(path, metric), None
    with contextlib.suppress(OSError, StoreError, ShapeError):
        if not place.is_symlink():
            with opened(place) as file:
                line = file.read()
            row = parse(line) if checksum_holds(line) else None
    known = {"rule": _RULE, "tool_version": VERSION, "manifest": manifest_hash(path)}
    if not isinstance(row, dict) or not row.items() >= known.items():
        return None
    manifest = read_manifest(path)
    if not manifest.files:
        return None
    now = _signatures(path, manifest)
    if now != row.get("files"):
        data = {name: manifest.files[name] for name in now}
        for _ in verify_files(path, replace(manifest, files=data)):
            pass
        if (fresh := _settled(now, time.time_ns())) != row.get("files"):
            _write(place, row | {"files": fresh})
    try:
        return KeptTrial.from_dict(row["night"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> Any:  # noqa: ANN401 - JSON types
    return parse(text.encode())


def _write(place: Path, row: Mapping[str, Any]) -> bool:
    fresh = None
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, fresh = tempfile.mkstemp(dir=place.parent)
        with os.fdopen(fd, "wb") as file:
            file.write(encode_checked({k: one for k, one in row.items() if k != "crc32"}))
        Path(fresh).replace(place)
    except OSError:
        with contextlib.suppress(OSError):
            Path(fresh or "").unlink()
        return False
    return True


def forget_gone(folders: Iterable[Path]) -> None:
    """Delete what is kept of trials that are no longer in these folders."""
    for folder in folders:
        with contextlib.suppress(OSError):
            for kept in kept_folder(folder).iterdir():
                if not (folder / unquote(kept.name.partition(" ")[0])).is_dir():
                    kept.unlink()


def folder_of(path: Path) -> Path:
    """Give the folder in which a trial, or the fleet that it belongs to, lies."""
    parent = path.absolute().parent
    return parent.parent if is_fleet(parent) else parent


def kept_folder(folder: Path) -> Path:
    """Give the folder of this user's cache for the trials in a folder."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path.home() raises without a home
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return Path(home, "fairtrial", f"nights-{name}")


def kept_file(path: Path, metric: str | None) -> Path:
    """Give the file of a trial, and of what is read of it: which metric, and which iterations where that was asked."""
    asked, folder = " ".join((f"{metric}", *judge_words())).encode(), folder_of(path)
    name = quote(os.path.relpath(path, folder), safe="")
    return kept_folder(folder) / f"{name} {hashlib.sha256(asked).hexdigest()[:8]}.json"


def manifest_hash(path: Path) -> str | None:
    """Give the SHA-256 of a trial's manifest; None where it cannot be read."""
    try:
        with opened(path / MANIFEST) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, StoreError):
        return None


def _signatures(path: Path, manifest: Manifest) -> dict[str, list[int] | None]:
    """Give what changes whenever a file that values are made of is written or replaced: kept output is evidence, not data."""
    names = (name for name in manifest.files if PurePosixPath(name).parts[:1] != (OUTPUTS,))
    found: dict[str, list[int] | None] = dict.fromkeys(names)
    for name in found:
        with contextlib.suppress(OSError, ValueError):
            state = os.stat(path / name, follow_symlinks=False)  # noqa: PTH116 - the same
            found[name] = [state.st_size, state.st_ino, state.st_mtime_ns, state.st_ctime_ns]
    return found


def _settled(
    signatures: Mapping[str, list[int] | None], now_ns: int
) -> dict[str, list[int] | None]:
    """Leave out what changed just now: it could change again within one tick of the file's clock."""
    return {
        name: one if one is not None and max(one[2:]) < now_ns - _RACE_NS else None
        for name, one in signatures.items()
    }
