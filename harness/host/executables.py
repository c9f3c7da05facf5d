"""Describes executables without executing them, with their libraries, and the files that runs read.

Nothing is executed: ``ldd`` would start the program's own loader.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import stat
import struct
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .variables import redact_text

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RPATH, _DT_RUNPATH = 1, 5, 10, 15, 29
_MOST_BYTES = 16 * 1024 * 1024  # of one table: a larger one is damage, not a program


@dataclass(frozen=True, slots=True, kw_only=True)
class Elf:
    """What an ELF file asks the loader for. `kind` is (class, byte order, machine)."""

    kind: tuple[int, int, int]
    interpreter: str | None
    needed: tuple[str, ...]
    search: tuple[str, ...]


class _Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


def sha256_file(path: Path) -> str:
    """Give the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_elf(path: Path) -> Elf | None:
    """Read the ELF file at `path`; None when it is none, or is damaged."""
    with path.open("rb") as file:
        head = file.read(64)
        if (
            head[:4] != b"\x7fELF"
            or len(head) < 52
            or head[4] not in {1, 2}
            or head[5] not in {1, 2}
        ):
            return None
        try:
            return _read(file, head)
        except (struct.error, ValueError, OverflowError):
            return None


def _read(file: BinaryIO, head: bytes) -> Elf:
    wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
    (machine,) = struct.unpack_from(f"{order}H", head, 18)
    segments = _segments(file, head, order, wide=wide)
    interpreter = None
    dynamic: list[tuple[int, int]] = []
    for segment in segments:
        if segment.kind == _PT_INTERP:
            interpreter = _at(file, segment.offset, segment.size).split(b"\0")[0].decode("utf-8")
        elif segment.kind == _PT_DYNAMIC:
            table = _at(file, segment.offset, segment.size)
            form = f"{order}qQ" if wide else f"{order}iI"
            step = struct.calcsize(form)
            dynamic = list(struct.iter_unpack(form, table[: len(table) // step * step]))
    values = dict(dynamic)
    strings = b""
    if _DT_STRTAB in values and _DT_STRSZ in values:
        strings = _at(file, _offset(segments, values[_DT_STRTAB]), values[_DT_STRSZ])

    def text(position: int) -> str:
        return strings[position : strings.index(b"\0", position)].decode("utf-8")

    needed = tuple(text(value) for tag, value in dynamic if tag == _DT_NEEDED)
    # DT_RPATH counts only where there is no DT_RUNPATH.
    search = values.get(_DT_RUNPATH, values.get(_DT_RPATH))
    return Elf(
        kind=(head[4], head[5], machine),
        interpreter=interpreter,
        needed=needed,
        search=() if search is None else tuple(filter(None, text(search).split(":"))),
    )


def _segments(file: BinaryIO, head: bytes, order: str, *, wide: bool) -> list[_Segment]:
    (start,) = struct.unpack_from(f"{order}Q" if wide else f"{order}I", head, 32 if wide else 28)
    size, count = struct.unpack_from(f"{order}HH", head, 54 if wide else 42)
    table = _at(file, start, size * count)
    # "x" passes over the flags of a wide segment and over the physical address
    form = struct.Struct(f"{order}I4xQQ8xQ" if wide else f"{order}III4xI")
    return [_Segment(*form.unpack_from(table, index * size)) for index in range(count)]


def _offset(segments: list[_Segment], address: int) -> int:
    for segment in segments:
        inside = segment.address <= address < segment.address + segment.size
        if segment.kind == _PT_LOAD and inside:
            return segment.offset + address - segment.address
    raise ValueError("an address lies in no segment")


def _at(file: BinaryIO, offset: int, size: int) -> bytes:
    if size > _MOST_BYTES:
        raise ValueError("a table is too large")
    try:
        file.seek(offset)
    except OSError as error:
        raise ValueError("an offset is beyond any file") from error
    data = file.read(size)
    if len(data) < size:
        raise ValueError("the file ends too early")
    return data


_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_MOST_LIBRARIES = 500


def sha256_of(path: Path) -> str | None:
    """Give the SHA-256 of a file's bytes, or None when it cannot be read."""
    try:
        return sha256_file(path)
    except OSError:
        return None


def describe_targets(paths: Iterable[Path], variables: Mapping[str, str]) -> dict[Path, Any]:
    """Describe each executable as `describe_target` does; no file is hashed more than once.

    Thousands of cells may share a program, and all programs a C library.
    """
    digest = functools.cache(sha256_of)
    return {path: describe_target(path, variables, digest) for path in dict.fromkeys(paths)}


def describe_target(
    path: Path,
    variables: Mapping[str, str],
    digest: Callable[[Path], str | None] = sha256_of,
) -> dict[str, Any]:
    """Describe the executable at `path` as JSON types."""
    entry: dict[str, Any] = {
        "path": str(path),
        "resolved": None,
        "sha256": None,
        "size_bytes": None,
        "kind": None,
        "interpreter": {},
        "libraries": {},
    }
    try:
        resolved = path.resolve(strict=True)
        entry["resolved"] = str(resolved)
        entry["size_bytes"] = resolved.stat().st_size
        with resolved.open("rb") as file:
            head = file.read(512)
        elf = read_elf(resolved)
    except (OSError, RuntimeError):
        return entry
    entry["sha256"] = digest(resolved)
    if elf is not None:
        entry["kind"] = "elf"
        if elf.interpreter is not None:
            entry["interpreter"] = {elf.interpreter: digest(Path(elf.interpreter))}
        entry["libraries"] = _libraries(resolved, elf, variables, digest)
    elif head.startswith(b"#!"):
        entry["kind"] = "script"
        programs = _shebang(head, variables)
        entry["interpreter"] = {str(program): digest(program) for program in programs}
    else:
        entry["kind"] = "other"
    return entry


def _shebang(head: bytes, variables: Mapping[str, str]) -> tuple[Path, ...]:
    words = head[2:].split(b"\n", 1)[0].decode("utf-8", "replace").split()
    if not words:
        return ()
    programs = [Path(words[0])]
    if programs[0].name == "env":
        # "env python3" or "env -S VAR=1 python3 -u": the first plain word is the program.
        plain = (word for word in words[1:] if not word.startswith("-") and "=" not in word)
        named = shutil.which(next(plain, ""), path=variables.get("PATH", os.defpath))
        programs += [Path(named)] if named else []
    return tuple(programs)


def _libraries(
    program: Path,
    elf: Elf,
    variables: Mapping[str, str],
    digest: Callable[[Path], str | None],
) -> dict[str, dict[str, str | None]]:
    found: dict[str, dict[str, str | None]] = {}
    waiting = [(name, program, elf) for name in elf.needed]
    while waiting and len(found) < _MOST_LIBRARIES:
        name, user, asking = waiting.pop(0)
        if name in found:
            continue
        place = _find(name, user, asking, variables)
        found[name] = {"path": None, "sha256": None}
        if place is None:
            continue
        library = place[0].resolve()
        found[name] = {"path": str(library), "sha256": digest(library)}
        waiting += [(further, library, place[1]) for further in place[1].needed]
    return dict(sorted(found.items()))


def _find(
    name: str, user: Path, asking: Elf, variables: Mapping[str, str]
) -> tuple[Path, Elf] | None:
    """Find a library as the loader would, as far as that is known without asking it."""
    origin = str(user.parent)
    folders = [re.sub(r"\$\{?ORIGIN\}?", lambda _: origin, folder) for folder in asking.search]
    folders += filter(None, variables.get("LD_LIBRARY_PATH", "").split(":"))
    places = [Path(folder) / name for folder in folders]
    places += [Path(path) for path in _loader_cache().get(name, ())]
    places += [Path(folder) / name for folder in _FOLDERS]
    for place in [Path(name)] if "/" in name else places:
        try:
            elf = read_elf(place)
        except OSError:
            continue
        if elf is not None and elf.kind == asking.kind:
            return place, elf
    return None


@functools.cache
def _loader_cache() -> dict[str, tuple[str, ...]]:
    path = f"{os.environ.get('PATH', os.defpath)}:/sbin:/usr/sbin"
    command = shutil.which("ldconfig", path=path)
    if command is None:
        return {}
    try:
        done = subprocess.run(
            [command, "-p"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            check=False,
            env={"LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    cache: dict[str, tuple[str, ...]] = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        match = re.match(r"\s+(\S+) \(.*\) => (\S.*)$", line)
        if match:
            cache[match.group(1)] = (*cache.get(match.group(1), ()), match.group(2))
    return cache


def describe_inputs(paths: Iterable[Path], root: Path) -> dict[str, Any]:
    """Describe files as JSON types: name -> ``sha256`` and ``size_bytes``."""
    home = os.environ.get("HOME")
    found = {}
    for path in dict.fromkeys(paths):
        inside = path.is_relative_to(root)
        name = str(path.relative_to(root)) if inside else redact_text(str(path), home)
        digest, size = digest_of(path)
        found[name] = {"sha256": digest, "size_bytes": size}
    return dict(sorted(found.items()))


def digest_of(path: Path) -> tuple[str | None, int | None]:
    """Give the SHA-256 and the size of a regular file; ``None`` where they cannot be told.

    A file that has not been touched since it was hashed is not read again.
    """
    signature = signature_of(path)
    if signature is None:
        return None, None
    digest = _digest(path, signature)
    return digest, None if digest is None else signature[2]


def signature_of(path: Path) -> tuple[int, ...] | None:
    """Give what changes whenever a regular file is written or replaced; ``None`` if it is none.

    Device, inode, size in bytes, and the times of the last change of content and inode in ns.
    """
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@functools.lru_cache(maxsize=65536)
def _digest(path: Path, _signature: tuple[int, ...]) -> str | None:
    return sha256_of(path)
