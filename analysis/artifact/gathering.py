"""The sources of a bundle, each copied whole into the folder in which it takes shape."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path

from ..data.host_record import without_homes
from ..errors import StoreError, UsageError
from ..importers.reader import is_file, is_foreign, trial_and_variant
from ..record.fleet import (
    FLEET,
    FLEET_SCHEMA,
    fleet_text,
    is_fleet,
    is_held,
    read_fleet,
    trial_place,
)
from ..record.manifest import read_manifest
from ..record.shapes import SAMPLES, file_hash
from ..record.trial_files import (
    BUILDS,
    CAMPAIGN,
    CERTIFICATES,
    ENVIRONMENT,
    FINDINGS,
    IMPORT,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
    Manifest,
)
from ..words import normal
from .archive import FLEET_PLACE, BundleSource, Missing, TakenNames, fault_of_name

_PIECE = 1024**2
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class Staging:
    """Files on their way into a bundle.

    Attributes
    ----------
    gone : list of str
        Records of trials that have ended, which their manifests list and nobody has any more.
    """

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self.bytes = 0
        self.names: list[str] = []
        self.gone: list[str] = []
        self._sources: set[str] = set()
        self._taken = TakenNames()
        self._missing: dict[tuple[str, str], Missing] = {}

    @property
    def missing(self) -> tuple[Missing, ...]:
        """What is not there, in one order whatever was found first."""
        return tuple(self._missing[key] for key in sorted(self._missing))

    def name_of(self, wanted: str) -> str:
        """Give a source a name that is safe on every system, and that no other one has."""
        ending = "".join(Path(wanted).suffixes[-2:])
        cut = _SAFE.sub("_", normal(wanted)).lstrip(".-")[:150].encode()[:200]
        plain = cut.decode("utf-8", "ignore") or "source"
        name, number = plain, 1
        while name.casefold() in self._sources:
            number += 1
            stem = plain.removesuffix(ending)
            name = f"{stem}-{number}{plain[len(stem) :]}"
        self._sources.add(name.casefold())
        return name

    def miss(
        self, what: str, why: str, *, sha256: str | None = None, size: int | None = None
    ) -> None:
        """List something as missing; home directories are written as ``~``."""
        what, why = (  # bytes of a name that are no UTF-8 are written out
            without_homes(text).encode("utf-8", "backslashreplace").decode() for text in (what, why)
        )
        self._missing[what, why] = Missing(what=what, why=why, sha256=sha256, bytes=size)

    def write(self, name: str, data: bytes) -> None:
        """Put a text of ours into the bundle."""
        self._accept(name, len(data))
        self._create(name, iter((data,)), executable=False)

    def copy(self, name: str, source: Path, *, missed: str | None = None) -> str | None:
        """Put a file into the bundle, and give its SHA-256; one that cannot be is listed if it may be `missed`."""
        with contextlib.ExitStack() as opened:
            try:
                file = opened.enter_context(_opened(source))
                status = os.fstat(file.fileno())
                self._accept(name, status.st_size)
            except StoreError as error:
                if missed is None:
                    raise
                self.miss(missed, error.what)
                return None
            except UsageError as error:
                if missed is None:
                    raise
                why = f"it is too large: {error.what} ({error.fix})"
                self.miss(missed, why, sha256=file_hash(source), size=status.st_size)
                return None
            pieces = iter(lambda: file.read(_PIECE), b"")
            return self._create(name, pieces, executable=bool(status.st_mode & stat.S_IXUSR))

    def _accept(self, name: str, size: int) -> None:
        """Take a name and `size` bytes; raises StoreError for the name, UsageError where it is too much."""
        fault = fault_of_name(name)
        if fault is not None:
            what = f"it cannot be named in a bundle: {fault}"
            raise StoreError(what, name, "give it another name")
        if self.bytes + size > self.max_bytes:
            what = f"the bundle would have more than {self.max_bytes:,} bytes"
            raise UsageError(what, name, "allow more with --max-bytes")
        other = self._taken.clash(name)
        if other is not None:
            what = f"it cannot be unpacked together with {other} on every system"
            raise StoreError(what, name, "give it another name")
        self.bytes += size

    def _create(self, name: str, pieces: Iterator[bytes], *, executable: bool) -> str:
        place = self.root / name
        digest = hashlib.sha256()
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(place, _NEW, 0o700 if executable else 0o600)
            with os.fdopen(fd, "wb") as file:
                for piece in pieces:
                    digest.update(piece)
                    file.write(piece)
        except OSError as error:
            what = f"the file cannot be copied: {error.strerror or error}"
            fix = "free some space in the folder for temporary files ($TMPDIR)"
            raise StoreError(what, str(error.filename or name), fix) from error
        self.names.append(name)
        return digest.hexdigest()


def _opened(path: Path) -> BufferedReader:
    """Open a plain file; a pipe, which nobody may write to, is none."""
    try:
        fd = os.open(path, _READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StoreError(f"it cannot be read: {reason}", str(path), "make it readable") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise StoreError("it is not a regular file", str(path), "put a file in its place")
    return os.fdopen(fd, "rb")


_RECORDS = (CAMPAIGN, RESOLVED, ENVIRONMENT, PLAN, MEASUREMENTS, FINDINGS, BUILDS, IMPORT)
_SAFE = re.compile(r"[^\w.+-]+")
_MOST_FILES = 20_000  # of a folder of another tool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # a key, each for itself
class CopiedSource:
    """A source that was copied."""

    given: tuple[str, ...]  # how the command line named it, by which claims may name it too
    origin: Path  # where it lies outside
    source: BundleSource  # what the bundle says of it
    manifest: Manifest | None = None  # of a trial


def gather(
    sources: Sequence[str], staging: Staging, *, hide_hosts: bool = False
) -> list[CopiedSource]:
    """Copy all sources."""
    found: list[CopiedSource] = []
    for given in sources:
        ways = (Path(given), Path(given.rpartition(":")[0] or given))
        fleet = next(filter(is_fleet, ways), None)
        if fleet is not None:
            found += _fleet(given, fleet, found, staging, hide_hosts=hide_hosts)
            continue
        for path in _paths(given):
            again = next((one for one in found if _same(one.origin, path)), None)
            if again is not None:
                if given in again.given:
                    raise UsageError("the source is there twice", given, "name it once")
                found[found.index(again)] = replace(again, given=(*again.given, given))
                continue
            shut = path.is_dir() and not os.access(path, os.X_OK, effective_ids=True)
            if shut or (path / MANIFEST).is_file():  # who reads a shut one says so
                found.append(_trial(given, path, staging))
            else:
                name = staging.name_of(path.name or "source")
                root = f"sources/{name}"
                if path.is_dir():
                    for file in _files_in(path):
                        staging.copy(f"{root}/{file}", path / file)
                    identity = None
                else:
                    with _opened(path) as plain:
                        if plain.read(4) == b"PK\3\4":
                            what = "this is an archive, and no file of runs"
                            fix = "unpack it, and name the trials or files in it"
                            raise UsageError(what, given, fix)
                    staging.copy(root, path)
                    identity = file_hash(path)
                source = BundleSource(name=name, kind="file", path=root, identity=identity)
                found.append(CopiedSource(given=(given,), origin=path, source=source))
    return found


def _paths(given: str) -> Iterator[Path]:
    named = trial_and_variant(given)
    path = named[0] if named is not None else Path(given)
    if os.path.isdir(path) and not is_file(str(path / MANIFEST)):  # noqa: PTH112 - Path.is_dir() raises where nothing may be searched
        trials = sorted(place.parent for place in path.glob(f"*/{MANIFEST}"))
        if trials:
            yield from trials
            return
    if not (is_file(str(path)) or is_file(str(path / MANIFEST)) or is_foreign(path)):
        what = "this is not a trial, a folder of trials or a file"
        fix = "name runs/NAME as 'fairtrial run' printed it, or a file of runs"
        raise UsageError(what, given, fix)
    yield path


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _fleet(
    given: str, path: Path, found: Sequence[CopiedSource], staging: Staging, *, hide_hosts: bool
) -> list[CopiedSource]:
    """Copy the trials of a fleet; the folder of all trials is the fleet in the bundle.

    What only the scheduler of the author's cluster understands stays behind.
    """
    if any(_same(one.origin, path) for one in found):
        raise UsageError("the source is there twice", given, "name it once")
    if any(one.source.kind == "fleet" for one in found):
        what = "a bundle holds one fleet, and this is another one"
        fix = "pack each fleet by itself, or name the trials of its hosts: FLEET/HOST"
        raise UsageError(what, given, fix)
    fleet = read_fleet(path)
    name = staging.name_of(path.resolve().name)
    packed: list[CopiedSource] = []
    hosts = []
    for number, host in enumerate(fleet.hosts, 1):
        place = trial_place(path, host)
        wanted = f"{name}-{number}"
        if not (place / MANIFEST).is_file():
            staging.miss(f"{given}/{host.trial}", f"{host.host} has no trial: it is missing")
            hosts.append(replace(host, jobs=(), trial=staging.name_of(wanted), further={}))
            continue
        if any(_same(one.origin, place) for one in found):
            what = "the trial is packed already, by itself"
            raise UsageError(what, str(place), "name the fleet alone: it holds the trial")
        one = _trial(str(place), place, staging, wanted=wanted if hide_hosts else None)
        packed.append(one)
        hosts.append(replace(host, jobs=(), trial=one.source.name, further={}))
    if not packed:
        raise UsageError("no host of this fleet has a trial", given, "measure it first")
    bare = replace(fleet, schema=FLEET_SCHEMA, script=None, hosts=tuple(hosts), further={})
    staging.write(f"{FLEET_PLACE}/{FLEET}", fleet_text(bare))
    source = BundleSource(
        name=name, kind="fleet", path=FLEET_PLACE, identity=file_hash(path / FLEET)
    )
    return [CopiedSource(given=(given, str(path)), origin=path, source=source), *packed]


def _trial(given: str, path: Path, staging: Staging, *, wanted: str | None = None) -> CopiedSource:
    """Copy a trial; `wanted` names its folder where its own name may be that of a host."""
    manifest = read_manifest(path)
    if manifest.status == "running" and is_held(path):  # by its runner
        raise StoreError("the trial is being measured", str(path), "pack it when it has ended")
    name = staging.name_of(wanted or manifest.trial)
    root = f"trials/{name}"
    there = _listed(path, manifest)
    for file in sorted(there):
        sha256 = staging.copy(f"{root}/{file}", path / file)
        if manifest.files.get(file, sha256) != sha256:
            what = "the file is not what it was when the trial ended"
            fix = "restore it from a copy; what was changed by hand is not a measurement"
            raise StoreError(what, str(path / file), fix)
    for file in sorted(manifest.files.keys() - there):
        if not file.startswith(f"{OUTPUTS}/"):  # kept output is evidence, not a record
            staging.gone.append(f"{root}/{file}")
        why, sha256 = "the trial does not hold it any more", manifest.files[file]
        staging.miss(f"{root}/{file}", why, sha256=sha256)
    for file in sorted(_strays(path, there)):
        staging.miss(f"{root}/{file}", "it is in the trial's folder and not part of the trial")
    if (path.parent / CERTIFICATES).is_dir() and any((path.parent / CERTIFICATES).iterdir()):
        why = "certificates of calibrations are not packed: what they say depends on today's date"
        staging.miss(f"{CERTIFICATES}/", why)
    if manifest.origin == "imported":
        why = "the trial was imported from it; name it as a SOURCE too to pack it"
        staging.miss(manifest.campaign_path, why)
    of_host = wanted is not None and manifest.trial in (manifest.node, manifest.host)
    source = BundleSource(
        name=name,
        kind="trial",
        path=root,
        trial=None if of_host else manifest.trial,
        identity=file_hash(path / MANIFEST),
    )
    return CopiedSource(given=(given,), origin=path, source=source, manifest=manifest)


def _listed(path: Path, manifest: Manifest) -> set[str]:
    """Name the trial's own files that are there: no link, no folder, nothing that was put there."""
    if manifest.files:
        named = {MANIFEST, *manifest.files}
    else:  # it runs, or was killed: all that its runner writes
        folders = (f for f in (path / OUTPUTS, path / SAMPLES) if not f.is_symlink())
        found = (p for folder in folders for p in folder.rglob("*"))
        inside = (p for p in found if not p.name.startswith("current."))
        named = {MANIFEST, *_RECORDS, *(p.relative_to(path).as_posix() for p in inside)}
    return _plain_files(path, named)


def _plain_files(path: Path, named: Iterable[str]) -> set[str]:
    found: set[str] = set()
    folders: dict[str, bool] = {"": True}  # whether one is a folder, and no link
    root = str(path)
    for name in named:
        if name.startswith("/") or ".." in name.split("/"):
            continue
        parent = ""
        for part in name.split("/")[:-1]:
            folder = f"{parent}/{part}" if parent else part
            if folder not in folders:
                folders[folder] = folders[parent] and _is_kind(f"{root}/{folder}", stat.S_ISDIR)
            parent = folder
        if folders[parent] and _is_kind(f"{root}/{name}", stat.S_ISREG):
            found.add(name)
    return found


def _is_kind(path: str, kind: Callable[[int], bool]) -> bool:
    """Tell whether something is there and, without following a link, of a kind such as `stat.S_ISREG`."""
    try:
        return kind(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _strays(path: Path, known: set[str]) -> Iterator[str]:
    start = len(str(path)) + 1
    for folder, folders, files in os.walk(path):
        inside = folder[start:]
        links = [one for one in folders if _is_kind(f"{folder}/{one}", stat.S_ISLNK)]
        for one in (*files, *links):
            name = f"{inside}/{one}" if inside else one
            if name not in known:
                yield name.encode("utf-8", "backslashreplace").decode()


def _files_in(folder: Path) -> list[str]:
    found: list[str] = []
    for place, _, files in os.walk(folder):
        for file in files:
            path = Path(place) / file
            if stat.S_ISREG(path.lstat().st_mode):
                found.append(path.relative_to(folder).as_posix())
        if len(found) > _MOST_FILES:
            what = f"the folder has more than {_MOST_FILES:,} files"
            fix = "name the folder of the results, not one above it"
            raise UsageError(what, str(folder), fix)
    return sorted(found)
