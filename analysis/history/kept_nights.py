"""The nights' cache: what was read of each trial, in this user's cache, for the next reading.

What lies beside trials came with them, and is never believed.

A trial's values are taken from it only where its manifest has the same SHA-256, and each file that the
manifest lists with a hash is as it was: by size, inode and the times of its last changes; a file that
was touched is hashed again. So a trial that was tampered with is found, as without the cache. A line
that is damaged, a file that cannot be read or written, or one of another version is passed over.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..data.columns import verify_files
from ..data.merging import StatedCampaign
from ..errors import StoreError
from ..record.fleet import is_fleet
from ..record.manifest import asked_words, read_manifest
from ..record.run_numbers import Better
from ..record.shapes import (
    ShapeError,
    checksum_holds,
    encode_checked,
    lines_of,
    opened,
    parse,
    shaped,
)
from ..record.trial_files import MANIFEST, OUTPUTS, Manifest
from ..version import VERSION

# --- What is kept of a trial once it was read: its values by benchmark and variant, and what it is of.


Share = Callable[[Any], str]  # puts a part that many trials have aside, and gives its name
Shared = Callable[[str], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantValues:
    """The values of one variant, an entry a benchmark; None where there is none.

    `log`: The mean over sessions of its mean log less the baseline's, larger = slower.
    `baseline_log`: The baseline's mean log over the same sessions. `own`: Its own mean log.
    `sessions`, `own_sessions`: How many `log` and `own` rest on. `programs`: The SHA-256 of the
    executable; None where it is unknown or not one over all sessions. `commit`: None likewise.
    """

    log: tuple[float | None, ...]
    baseline_log: tuple[float | None, ...]
    own: tuple[float | None, ...]
    sessions: tuple[int, ...]
    own_sessions: tuple[int, ...]
    programs: tuple[str | None, ...]
    commit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTrial:
    """A trial as series need it.

    `complete`: Whether all of its sessions are. `values`: By variant. `inputs`: For each benchmark the SHA-256 of what the runs read, by its path:
    what the campaign names, and the files among the baseline's arguments. `host_record`: The sections host, cpu, memory,
    kernel of the first session's environment, and the baseline's targets. `unsteady`: Benchmark and variant of cells of
    which too many runs reach no steady state, `cut`: of which a time limit ended some, `totals`: whose totals disagree
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
    values: Mapping[str, VariantValues]
    inputs: tuple[Mapping[str, str], ...]
    campaign: StatedCampaign
    host_record: Mapping[str, Any]
    unsteady: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()

    def to_dict(self, share: Share) -> dict[str, Any]:
        """Give it as JSON types; `share` takes what is the same in many trials."""
        values = {
            variant: _fields_of(one) | {"programs": share(one.programs)}
            for variant, one in self.values.items()
        }
        campaign = self.campaign.to_dict() | {"identity": None}
        shared = {"inputs": self.inputs, "stated": campaign, "host_record": self.host_record}
        return {
            **_fields_of(self),
            "values": values,
            "campaign": list(self.campaign.identity),
            **{name: share(part) for name, part in shared.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], shared: Shared) -> KeptTrial:
        """Make one of what `to_dict` gave; KeyError, TypeError or ValueError for anything else."""
        values = {
            variant: {**found, "programs": shared(found["programs"])}
            for variant, found in data["values"].items()
        }
        parts = {name: shared(data[name]) for name in ("inputs", "stated", "host_record")}
        unsaid: dict[str, Any] = {"identity": [], "stated": {}, "settings": None}
        made = shaped(cls, {**data, **parts, "values": values, "campaign": unsaid})
        of_variants = (_fields_of(one) | {"commit": made.inputs} for one in made.values.values())
        columns = [made.inputs, *(column for one in of_variants for column in one.values())]
        if any(len(column) != len(made.benchmarks) for column in columns):
            raise ValueError("a column has another length")
        stated = {**parts["stated"], "identity": data["campaign"]}
        return replace(made, campaign=StatedCampaign.from_dict(stated))


def _fields_of(one: KeptTrial | VariantValues) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


def plain_campaign(campaign: StatedCampaign) -> StatedCampaign:
    """Give a campaign as one that was kept has it: both are compared with each other."""
    return StatedCampaign.from_dict(campaign.to_dict())


def imported_campaign(name: str, metric: str, unit: str, better: str) -> StatedCampaign:
    """Give what stands for the campaign of another tool's results: what was measured, in which unit."""
    fields = ("variants", "benchmarks", "baseline", "runs", "warmup", "stop")
    stated = {
        "campaign_name": name,
        "metrics": {metric: {"unit": unit, "better": better}},
        **dict.fromkeys(fields),
    }
    return StatedCampaign(identity=(0, ""), stated=stated, settings=None)


_RULE = 3  # how values are made: another one makes them anew
_RACE_NS = 2_000_000_000  # what changed so shortly before may change again without a new time


class Mark(NamedTuple):
    """How a trial was before it was read: what changes later is seen at the next reading."""

    path: Path
    at_ns: int
    manifest: str | None
    files: Mapping[str, list[int] | None]

    @classmethod
    def of(cls, path: Path) -> Mark:
        """Look at a trial; one whose files may still change has none."""
        at_ns, digest, files = time.time_ns(), manifest_hash(path), {}
        with contextlib.suppress(StoreError):
            manifest = read_manifest(path)
            if digest == manifest_hash(path):
                files = _signatures(path, manifest)
        return cls(path, at_ns, digest, files)


@dataclass(slots=True)
class KeptNights:
    """What is kept of the trials of one folder; `look_up` and `keep`, then `write`."""

    folder: Path
    _lines: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    _shared: dict[str, Any] = field(default_factory=dict)
    _changed: bool = False

    def __post_init__(self) -> None:
        """Read what is kept of the trials of the folder; nothing where that cannot be read."""
        path, rows = kept_file(self.folder), []
        if not os.path.lexists(path) or path.is_symlink():
            return
        try:
            lines = [line for _, line in lines_of(path)]
        except StoreError:
            return
        for line in lines:
            with contextlib.suppress(ShapeError):
                if checksum_holds(line) and isinstance(row := parse(line), dict):
                    rows.append(row)
        if not rows or (rows[0].get("rule"), rows[0].get("tool_version")) != (_RULE, VERSION):
            return
        for row in rows[1:]:
            if isinstance(name := row.get("part"), str):
                self._shared[name] = row.get("holds")
            elif isinstance(trial := row.get("folder"), str):
                self._lines[trial, str(row.get("asked"))] = row

    def look_up(self, path: Path, metric: str | None) -> KeptTrial | None:
        """Give what was kept of a trial, if it is still as it was; else None.

        Raises StoreError where a file of it changed after the trial ended.
        """
        row = self._lines.get(self._key(path, metric))
        digest = None if row is None else manifest_hash(path)
        if row is None or digest is None or row.get("manifest") != digest:
            return None
        manifest = read_manifest(path)
        if not manifest.files:
            return None
        now = _signatures(path, manifest)
        if now != row.get("files"):
            data = {name: manifest.files[name] for name in _data_of(manifest)}
            for _ in verify_files(path, replace(manifest, files=data)):
                pass
            if (fresh := _settled(now, time.time_ns())) != row.get("files"):
                row["files"] = fresh
                self._changed = True
        try:
            return KeptTrial.from_dict(row["night"], self._shared.__getitem__)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def keep(self, mark: Mark, metric: str | None, read: KeptTrial) -> None:
        """Keep what was read of a trial; `mark` was taken before it was read.

        A trial whose manifest lists no hashes is not kept: its files may still change.
        """
        if not mark.files:
            return
        name, asked = self._key(mark.path, metric)
        self._lines[name, asked] = {
            "folder": name,
            "asked": asked,
            "manifest": mark.manifest,
            "files": _settled(mark.files, mark.at_ns),
            "night": read.to_dict(self._share),
        }
        self._changed = True

    def write(self) -> bool:
        """Write what is kept, whole, for this user alone.

        Gives False where that was not possible; trials that are gone are left out.
        """
        if not self._changed:
            return True
        path, fresh = kept_file(self.folder), None
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd, fresh = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
            with os.fdopen(fd, "wb") as file:
                file.writelines(encode_checked(row) + b"\n" for row in self._rows())
            Path(fresh).replace(path)
        except OSError:
            if fresh is not None:
                with contextlib.suppress(OSError):
                    Path(fresh).unlink()
            return False
        self._changed = False
        return True

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        """Give the head, what trials share, and the trials that are still there."""
        kept, used = [], set()
        for row in self._lines.values():
            with contextlib.suppress(KeyError, TypeError, AttributeError, OSError, ValueError):
                parts = {*_parts(row["night"])}
                if self._shared.keys() >= parts and (self.folder / row["folder"]).is_dir():
                    kept.append(row)
                    used |= parts
        yield {"rule": _RULE, "tool_version": VERSION, "about": "a cache of fairtrial history"}
        yield from ({"part": name, "holds": self._shared[name]} for name in used)
        yield from kept

    def _share(self, part: Any) -> str:  # noqa: ANN401 - JSON types
        text = json.dumps(part)
        name = hashlib.sha256(text.encode()).hexdigest()[:24]
        self._shared.setdefault(name, json.loads(text))
        return name

    def _key(self, path: Path, metric: str | None) -> tuple[str, str]:
        """Name a trial, and what is read of it: which metric, and which iterations where that was asked."""
        name = PurePosixPath(os.path.relpath(path, self.folder)).as_posix()
        return name, " ".join((f"{metric}", *asked_words()))


def manifest_hash(path: Path) -> str | None:
    """Give the SHA-256 of a trial's manifest; None where it cannot be read."""
    try:
        with opened(path / MANIFEST) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, StoreError):
        return None


def kept_file(folder: Path) -> Path:
    """Give the file of this user's cache for the trials in a folder."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path.home() raises without a home
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
    return Path(home, "fairtrial", f"nights-{name}.jsonl")


def cache_folder(path: Path) -> Path:
    """Give the folder in which a trial, or the fleet that it belongs to, lies."""
    parent = path.absolute().parent
    return parent.parent if is_fleet(parent) else parent


def _parts(night: Mapping[str, Any]) -> Iterable[str]:
    yield from (night["inputs"], night["stated"], night["host_record"])
    yield from (values["programs"] for values in night["values"].values())


def _data_of(manifest: Manifest) -> list[str]:
    """Name the files that values are made of: kept output is evidence, not data."""
    return [name for name in manifest.files if PurePosixPath(name).parts[:1] != (OUTPUTS,)]


def _signatures(path: Path, manifest: Manifest) -> dict[str, list[int] | None]:
    """Give what changes whenever a file is written or replaced."""
    found: dict[str, list[int] | None] = dict.fromkeys(_data_of(manifest))
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
