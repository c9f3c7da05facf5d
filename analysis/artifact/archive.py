"""Bundles as files: zip archives that store their files as they are, and tar archives of outputs.

Names and contents are what counts: they are what `SHA256SUMS` of a bundle lists. Other bytes may differ
between versions of Python. A reader takes plain files alone. It refuses links, packed and encrypted files,
names that lead elsewhere or stand for one place, and more files or bytes than it allows, before it writes.

Source: PKWARE, "APPNOTE.TXT - .ZIP File Format Specification", 6.3.10; GNU tar manual, "Basic Tar Format".
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shlex
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal

from ..errors import StoreError, UsageError
from ..record.shapes import ShapeError, parse, shaped
from ..words import shown

# --- Names of files in a bundle: which may stand in one, and which cannot be unpacked into one
# folder.


LONGEST = 1024  # bytes of a path
_LONGEST_PART = 255  # bytes of a part of it, on every common file system
# and what turns the direction of the letters behind it, so that another name is seen
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_HALF = re.compile("[\ud800-\udfff]")  # of a pair: bytes that were no UTF-8
_DRIVE = re.compile("[A-Za-z]:")


def fault_of_name(name: str) -> str | None:
    """Say why a path must not stand in a bundle; None where it may."""
    parts, raw = name.split("/"), name.encode("utf-8", "surrogatepass")
    long = len(raw) > LONGEST or max(map(len, raw.split(b"/"))) > _LONGEST_PART
    faults = (
        (not name, "a name is empty"),
        (name[:1] == "/" or _DRIVE.match(name), "a name is an absolute path"),
        (".." in parts, "a name leads out of its folder (..)"),
        (name[-1:] == "/", "an entry is a folder; a bundle holds files only"),
        ({"", "."} & {*parts}, "a name has an empty part, or a single dot"),
        ("\\" in name, "a name holds a backslash, which some systems take for a separator"),
        (_HALF.search(name), "a name is not UTF-8"),
        (_CONTROL.search(name), "a name holds a control character"),
        (long, "a name is too long to be unpacked"),
    )
    return next((what for wrong, what in faults if wrong), None)


def folded(name: str) -> str:
    """Give what two names share that some file systems take for one: letters' case, and accents' form."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class TakenNames:
    """The names that are taken already, as file systems see them that fold letters' case."""

    def __init__(self) -> None:
        # of each file and folder: folded -> as it is written, and the file, or one in the folder
        self._taken: dict[str, tuple[str, str]] = {}

    def clash(self, name: str) -> str | None:
        """Take a name; where an earlier one keeps it from being unpacked, give that instead.

        Two names, or two folders of them, that differ in case only, and a file where another has a
        folder.
        """
        new = {}
        for path in (name, *(name[: slash.start()] for slash in re.finditer("/", name))):
            key = folded(path)
            written, other = self._taken.get(key, ("", ""))
            if other and (written != path or path in (name, other)):  # spelled otherwise, or a file
                return other
            new[key] = path, other or name
        self._taken |= new
        return None


# --- The archives themselves.


MOST_ENTRIES = 10_000
MOST_BYTES = 10 * 10**9
MOST_FILES = 250_000  # of a trial's outputs

Pieces = Callable[[], Iterator[bytes]]  # a content, from its beginning each time that it is called

_PIECE = 1024**2
_BLOCK = 512  # of a tar archive
_LISTS = 4 * 1024**2  # bytes of what a bundle says of itself, but for its list of files
_LINE = 512  # bytes of an archive's directory for each file, as most names have it
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe without a writer must not wait
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_FIX = "use a bundle as 'fairtrial bundle' wrote it: fetch it again, or ask who made it"
_PLAIN, _EXECUTABLE = stat.S_IFREG | 0o644, stat.S_IFREG | 0o755
_ZIP64 = 4 + 3 * 8  # bytes of the field with numbers of more than 32 bits
_UTF8 = 0x0800  # the flag of a name that is not ASCII
_PACKED = 0x0006  # flags of how thoroughly it was compressed
_TIMES_DEFLATED = 1032  # no byte of deflate holds more
# what `zipfile` raises on bytes that are no archive
_DAMAGE = (
    *(zipfile.BadZipFile, struct.error, EOFError, ValueError, OverflowError),
    *(RuntimeError, OSError, zlib.error),  # encryption, and seeking to a place that cannot be
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A file that is to be packed, read once."""

    name: str  # its path in the archive
    pieces: Pieces
    executable: bool
    bytes: int
    sha256: str


def weigh(name: str, content: bytes | Path | Pieces, *, executable: bool = False) -> Weighed:
    """Read a content once: bytes, or that of a file, which must be there until it was packed."""

    def pieces() -> Iterator[bytes]:
        if isinstance(content, bytes):
            yield content
        elif isinstance(content, Path):
            with content.open("rb") as file:
                yield from iter(lambda: file.read(_PIECE), b"")
        else:
            yield from content()

    digest, size = hashlib.sha256(), 0
    for piece in pieces():
        digest.update(piece)
        size += len(piece)
    return Weighed(
        name=name, pieces=pieces, executable=executable, bytes=size, sha256=digest.hexdigest()
    )


def write_archive(file: IO[bytes], files: Iterable[Weighed]) -> None:
    """Write a zip archive of some files; their names must be what `fault_of_name` allows."""
    with zipfile.ZipFile(file, "w") as archive:
        for one in sorted(files, key=lambda one: one.name.encode()):
            info = zipfile.ZipInfo(one.name)  # of 1980-01-01, the first day that the format knows
            info.create_system = 3
            info.external_attr = (_EXECUTABLE if one.executable else _PLAIN) << 16
            info.file_size = one.bytes
            digest = hashlib.sha256()
            with archive.open(info, "w") as out:
                for piece in one.pieces():
                    digest.update(piece)
                    out.write(piece)
            if digest.hexdigest() != one.sha256:
                raise _changed(one.name)


def _changed(where: str) -> StoreError:
    what = "the file changed while it was packed"
    return StoreError(what, where, "pack again when nothing writes to it")


class Archive:
    """An open archive of plain files; their contents are checked as they are read.

    Attributes
    ----------
    path : Path
        Where it lies.
    entries : mapping of str to int
        The sizes of its files, in bytes, by their names.
    """

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self.path = path
        self._infos = {info.filename: info for info in file.infolist() if not _is_folder(info)}
        self.entries: Mapping[str, int] = {name: one.file_size for name, one in self._infos.items()}
        self._file = file

    @contextmanager
    def stream(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file; raises a `StoreError` where it is damaged, at the latest at its end."""
        info = self._infos.get(name)
        if info is None:
            raise StoreError(f"it holds no file {name}", str(self.path), _FIX)
        try:
            with self._file.open(info) as file:
                yield file
        except _DAMAGE:
            what = f"the file {name} is damaged: its content does not have its checksum"
            raise StoreError(what, str(self.path), "fetch the bundle again") from None

    def pieces(self, name: str) -> Iterator[bytes]:
        """Give a file's content in pieces; raises as `stream` does."""
        with self.stream(name) as file:
            yield from iter(lambda: file.read(_PIECE), b"")

    def read(self, name: str, *, most: int | None = None) -> bytes:
        """Give a file's content at once; without `most` it may list all files, and say little else."""
        if self.entries.get(name, 0) > (most or _LISTS + len(self.entries) * LONGEST):
            what = f"the file {name} is larger than any such file of a bundle is"
            raise StoreError(what, str(self.path), _FIX)
        return b"".join(self.pieces(name))

    def sha256(self, name: str) -> str:
        """Give the SHA-256 of a file's content; raises as `stream` does."""
        digest = hashlib.sha256()
        for piece in self.pieces(name):
            digest.update(piece)
        return digest.hexdigest()

    def unpack(self, folder: Path) -> None:
        """Write all files below a folder that is there and empty; modes are 0644 or 0755, less the umask."""
        if any(folder.iterdir()):
            raise UsageError("the folder is not empty", str(folder), "name a new one")
        for name, info in self._infos.items():
            mode = _EXECUTABLE if info.external_attr >> 16 & 0o100 else _PLAIN
            _write(folder / name, self.pieces(name), stat.S_IMODE(mode))


@contextmanager
def open_archive(
    path: Path, *, max_entries: int = MOST_ENTRIES, max_bytes: int = MOST_BYTES
) -> Iterator[Archive]:
    """Open an archive after its directory was checked: names, kinds, number and sizes of its files."""
    fix = "name a file that 'fairtrial bundle' wrote"
    try:
        fd = os.open(path, _OPEN)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"the bundle cannot be read: {reason}", str(path), fix) from None
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise UsageError("this is not a regular file", str(path), fix)
    with _Bounded(fd) as file:
        file.most = max_entries * _LINE + _PIECE
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise StoreError(f"this is not a whole bundle: {error}", str(path), _FIX) from None
        with archive:
            _accept(archive.infolist(), status.st_size, str(path), max_entries, max_bytes)
            yield Archive(path, archive)


class _Bounded(io.FileIO):
    """A file that gives no more at once than the directory of a bundle has, whatever size it claims."""

    most = _PIECE

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self.most:
            raise zipfile.BadZipFile("its directory is too large for the number of its files")
        return super().read(size) or b""


def _accept(
    infos: Sequence[zipfile.ZipInfo], size: int, where: str, max_entries: int, max_bytes: int
) -> None:
    """Refuse an archive of `size` bytes that may not be unpacked; nothing of its files was read yet.

    Somebody may have packed it again: compressed, with folders, and with the modes of the files there.
    """

    def refused(what: str, fix: str = _FIX) -> StoreError:
        return StoreError(f"the archive is refused: {what}", where, fix)

    total, taken = sum(info.file_size for info in infos), TakenNames()
    for number, most, noun, option in (
        (len(infos), max_entries, "entries", "--max-entries"),
        (total, max_bytes, "bytes", "--max-bytes"),
    ):
        if number > most:
            what = f"it has {number:,} {noun}, more than {most:,}"
            raise refused(what, f"if that is expected, allow it with {option}")
    infos = [info for info in infos if not _is_folder(info)]
    for info in infos:
        name = info.orig_filename
        fault = fault_of_name(name)
        marked = name.isascii() or info.flag_bits & _UTF8
        if fault is None and (info.filename != name or not marked):
            fault = "a name is not UTF-8, or a file has two"
        if fault is not None:
            raise refused(f"{fault}: {name[:80]!r}")
        other = taken.clash(name)
        if other is not None:
            raise refused(_clash_of(name, other))
        fault = _fault_of_kind(info)
        if fault is not None:
            raise refused(f"{name} {fault}")
    packed = sum(info.compress_size for info in infos)
    if packed > size:
        raise refused(f"its files claim {packed:,} bytes, more than it has: they overlap, or lie")


def _fault_of_kind(info: zipfile.ZipInfo) -> str | None:
    most = info.compress_size
    if info.compress_type == zipfile.ZIP_DEFLATED:
        most *= _TIMES_DEFLATED
    elif info.compress_type or info.file_size != info.compress_size:
        return "is compressed in a way that no bundle is"
    if info.flag_bits & ~(_UTF8 | _PACKED) or info.file_size > most:
        return "is encrypted, or claims more than it holds"
    if info.comment or len(info.extra) > _ZIP64:
        return "has a comment, or fields that no bundle has"
    if stat.S_IFMT(info.external_attr >> 16) not in {0, stat.S_IFREG}:
        return "is a link, a device or a folder; a bundle holds no others than files"
    return None


def _is_folder(info: zipfile.ZipInfo) -> bool:
    """Tell whether a line of the directory is a folder, which follows from the names of its files."""
    return info.is_dir() and not info.file_size and stat.S_ISDIR(info.external_attr >> 16)


def _clash_of(name: str, other: str) -> str:
    both = f"{name} and {other} cannot be unpacked into one folder"
    return f"it holds {name} twice" if name == other else both


def tar_of(files: Mapping[str, Path]) -> Pieces:
    """Give the tar archive of some files, by their names in it."""

    def pieces() -> Iterator[bytes]:
        for name in sorted(files, key=str.encode):
            with files[name].open("rb") as file:
                info = tarfile.TarInfo(name)
                left = info.size = os.fstat(file.fileno()).st_size
                yield info.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")
                while piece := file.read(min(_PIECE, left)):
                    left -= len(piece)
                    yield piece
                if left or file.read(1):
                    raise _changed(str(files[name]))
            yield bytes(-info.size % _BLOCK)
        yield bytes(2 * _BLOCK)

    return pieces


def read_tar(
    file: IO[bytes], where: str, *, max_files: int = MOST_FILES, max_bytes: int = MOST_BYTES
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Read a tar archive of plain files: each one's name and content, which is taken before the next.

    `tarfile` reads the headers, and no more: what else it reads may take any memory.
    """
    taken = TakenNames()
    for count, (name, info) in enumerate(_members(file, where, max_bytes), 1):
        if count > max_files:
            raise _refused(f"they are more than {max_files:,} files", where)
        fault = fault_of_name(name)
        if fault is not None:
            raise _refused(f"{fault}: {name[:80]!r}", where)
        if info.type != tarfile.REGTYPE:
            raise _refused(f"{name} is a link, a device or a folder; only files are held", where)
        other = taken.clash(name)
        if other is not None:
            raise _refused(_clash_of(name, other), where)
        content = _content(file, info.size, where)
        yield name, content
        for _ in chain(content, _content(file, -info.size % _BLOCK, where)):  # what nobody wanted
            pass
    for piece in chain(_content(file, _BLOCK, where), iter(lambda: file.read(_PIECE), b"")):
        if piece.strip(b"\0"):
            raise _refused("there are bytes behind their end", where)


def _members(file: IO[bytes], where: str, max_bytes: int) -> Iterator[tuple[str, tarfile.TarInfo]]:
    """Read name and header of each file; one with a long name has a block of it before."""
    left, long_name = max_bytes, None
    while (block := b"".join(_content(file, _BLOCK, where))).strip(b"\0"):
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, ValueError) as error:
            raise _refused(f"a header is damaged: {error}", where) from None
        if not 0 <= info.size <= left:
            raise _refused(f"they are more than {max_bytes:,} bytes", where)
        left -= info.size
        if info.type != tarfile.GNUTYPE_LONGNAME or long_name is not None:
            yield info.name if long_name is None else long_name, info
            long_name = None
            continue
        if info.size > LONGEST + 1:
            raise _refused("a name is too long to be unpacked", where)
        raw = b"".join(_content(file, info.size + -info.size % _BLOCK, where))[: info.size]
        long_name = raw.rstrip(b"\0").decode("utf-8", "surrogateescape")
    if long_name is not None:
        raise _refused("they are cut off", where)


def _content(file: IO[bytes], size: int, where: str) -> Iterator[bytes]:
    while size:
        piece = file.read(min(_PIECE, size))
        if not piece:
            raise _refused("they are cut off", where)
        size -= len(piece)
        yield piece


def _refused(what: str, where: str) -> StoreError:
    return StoreError(f"the outputs are refused: {what}", where, _FIX)


def unpack_tar(file: IO[bytes], folder: Path, where: str, *, max_bytes: int = MOST_BYTES) -> None:
    """Write the files of a tar archive below a folder that is there; raises as `read_tar` does."""
    for name, content in read_tar(file, where, max_bytes=max_bytes):
        _write(folder / name, content, 0o644)


def _write(place: Path, pieces: Iterable[bytes], mode: int) -> None:
    """Write a new file, and the folders above it; what cannot be written whole is not there."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(place, _NEW, mode)
        try:
            with os.fdopen(fd, "wb") as file:
                file.writelines(pieces)
        except BaseException:
            place.unlink(missing_ok=True)
            raise
    except OSError as error:
        what = f"the file cannot be written: {error.strerror or error}"
        fix = "name another folder, or free some space"
        raise StoreError(what, str(error.filename or place), fix) from error


# --- ``bundle.json``: what a bundle says of itself, written by who packs and read by who checks.


def steps_of(campaign: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Give every command of a resolved campaign with its folder, in the order in which they come."""
    hooks = campaign.get("hooks", {})
    for build in campaign.get("builds", ()):
        yield from ((step, build.get("cwd") or ".") for step in build["steps"])
    yield from ((step, ".") for step in hooks.get("setup", ()))
    for service in campaign.get("services", ()):
        for step in (service["command"], service.get("ready", {}).get("command")):
            if step is not None:
                yield step, service.get("cwd") or "."
    for cell in campaign.get("cells", ()):
        for step in (*cell.get("before", ()), cell["command"], *cell.get("after", ())):
            yield step, cell.get("cwd") or "."
    yield from ((step, ".") for kind in ("cleanup", "finish") for step in hooks.get(kind, ()))


def line_of(argv: Iterable[str]) -> str:
    """Write a command as one line, as a shell would take it; a line feed in it becomes its picture."""
    return shown(shlex.join(argv))


BUNDLE = "bundle.json"
FLEET_PLACE = "trials"  # the folder of all trials is that of the fleet, if there is one
SUMS = "SHA256SUMS"
KIND = "fairtrial-bundle"
SCHEMA = 3  # of older bundles 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleSource:
    """A SOURCE of the bundle."""

    name: str  # as it is called in sentences: the trial's name, or the file's
    kind: Literal["trial", "fleet", "file"]  # what it is
    path: str  # its folder, or its file, in the bundle
    trial: str | None = None  # the name that the trial's manifest says
    # the campaign file in the bundle; None where there is none, or it could not be packed
    campaign: str | None = None
    # SHA-256 of the manifest (of the file) before anything was redacted
    identity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A stored result: what was asked, and where the answer lies."""

    name: str  # short, unique in the bundle
    # arguments of ``fairtrial``, executed in the root of the unpacked bundle
    command: tuple[str, ...]
    seed: int | None  # of its random draws; None where it has none
    result: str  # the file with the exact bytes that it printed
    exit_code: int = 0  # how it ended: 0, or the answer of a gate (1, 7)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMade:
    """The report: the arguments of ``fairtrial`` that print it, and its file."""

    command: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeRun:
    """A small run that shows whether everything is there."""

    # arguments of ``fairtrial``, executed in the root of the unpacked bundle
    command: tuple[str, ...]
    time_s: float | None = None  # about how long it takes, as the trial's times say


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a rerun takes; None is unknown."""

    disk_bytes: int  # of the unpacked bundle
    run_s: float | None = None  # how long the trials took, builds and pauses included, in seconds
    cpus: int | None = None  # how many CPUs the host had online
    memory_bytes: int | None = None  # the host's memory
    max_rss_bytes: int | None = None  # the largest resident memory of a run
    cpu_model: str | None = None  # of the host
    architecture: str | None = None
    kernel: str | None = None
    distribution: str | None = None
    compilers: Mapping[str, str]  # as each said of itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What a reader might look for in the bundle, and does not find."""

    what: str  # the file, as the campaign or the command line names it, or the thing in words
    why: str  # why it is not there
    sha256: str | None = None  # of the file, where it is known
    bytes: int | None = None  # its size, where it is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """A person who is responsible for the work."""

    name: str
    orcid: str | None = None
    affiliation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a ``bundle.yaml`` says of the work; None and nothing where it does not."""

    title: str | None = None
    authors: tuple[Author, ...] = ()
    license: str | None = None
    doi: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionRecord:
    """What was taken out before the hashes were made."""

    what: tuple[str, ...]  # the kinds: ``user``, ``host``, ``paths``, ``env``
    replaced: Mapping[str, int]  # how often each kind was replaced
    files: Mapping[str, str]  # each altered file -> the SHA-256 that it had before
    left: tuple[str, ...] = ()  # where names were left on purpose, in words


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """A file of the bundle: its size and its SHA-256."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """All that ``bundle.json`` holds; docs/artifacts.md explains every key."""

    schema: int
    kind: str
    tool_version: str
    python: str
    libraries: Mapping[str, str]
    sources: tuple[BundleSource, ...]
    analyses: tuple[Analysis, ...]
    report: ReportMade | None
    claims: str | None
    smoke: SmokeRun | None
    needs: Needs
    missing: tuple[Missing, ...]
    redacted: RedactionRecord | None
    metadata: Metadata
    files: Mapping[str, FileRecord]


def contents_text(contents: Contents) -> bytes:
    """Give the bytes of ``bundle.json``."""
    text = json.dumps(asdict(contents), indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"  # halves of pairs become JSON's escapes


def read_contents(data: bytes, where: str) -> Contents:
    """Read ``bundle.json``."""
    try:
        value = parse(data.strip(), BUNDLE)
        if not isinstance(value, dict) or value.get("kind") != KIND:
            raise ShapeError(f"{BUNDLE} does not say that this is a bundle of fairtrial")
        schema = value.get("schema")
        if type(schema) is int and schema > SCHEMA:
            raise StoreError(
                f"the bundle has schema {schema}, newer than {SCHEMA}, the newest known here",
                where,
                "use the fairtrial version that packed it (its wheel is in software/), or a "
                "newer one",
            )
        return shaped(Contents, value, BUNDLE)
    except ShapeError as error:
        what = f"{BUNDLE} is not a description of a bundle: {error}"
        raise StoreError(what, where, "fetch the bundle again") from None
