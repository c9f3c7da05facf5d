"""Describes executables without executing them, with their libraries, and the files that runs read.

Nothing is executed: ``ldd`` would start the program's own loader.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import re
import shutil
import stat
import struct
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from analysis.record.manifest import NO_PROGRAMS, for_reading, is_cut_off, remedy_in, with_settings

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


def opened_file(path: Path, flags: int = 0) -> BufferedReader:
    """Open a regular file; a pipe would be waited for, and a device may have no end."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return os.fdopen(fd, "rb")
    os.close(fd)
    raise OSError(errno.EINVAL, "it is no regular file", str(path))


def sha256_file(path: Path) -> str:
    """Give the SHA-256 of a regular file's bytes."""
    with opened_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_elf(path: Path) -> Elf | None:
    """Read the ELF file at `path`; None when it is none, or is damaged."""
    with opened_file(path) as file:
        head = file.read(64)
        if head[:4] != b"\x7fELF" or len(head) < 52 or not {head[4], head[5]} <= {1, 2}:
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
    with contextlib.suppress(OSError):
        return sha256_file(path)
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
    unknown = dict.fromkeys(("resolved", "sha256", "size_bytes", "kind"))
    entry: dict[str, Any] = {"path": str(path), **unknown, "interpreter": {}, "libraries": {}}
    try:
        resolved = path.resolve(strict=True)
        entry["resolved"] = str(resolved)
        entry["size_bytes"] = resolved.stat().st_size
        with opened_file(resolved) as file:
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
    """Give the SHA-256 and the size of a regular file; ``None`` where they cannot be read.

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


# --- Finds the commits of programs, by asking git for the work trees in which they lie.
#
# Nothing is executed but git, without hooks, and nothing is written: no lock, no index, no fetch.


_PATIENCE_S = 10.0
_AT_ONCE = 500  # paths of one call: a command line has room for them
# a path is a path, whatever signs are in it
_PLAIN = ("--literal-pathspecs", *with_settings(*NO_PROGRAMS))
NO_GIT = "git is not installed"
NO_TREE = "its program lies in no git work tree"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantCommit:
    """The commit of a variant, or of a program.

    Where it is not known (None), `unknown` says why, and `fix` the command that mends it; `another` where git says
    that the program is another one than the commit's.
    """

    commit: str | None = None
    unknown: str | None = None
    fix: str | None = None
    another: bool = False

    def to_dict(self) -> dict[str, str | None]:
        """Give it as the keys of a target; the reason only where there is one."""
        return {"commit": self.commit} | (
            {"commit_unknown": self.unknown} if self.commit is None else {}
        )


class _GitError(Exception):
    """Git gave no answer; its text says why, and `fix` what mends it."""

    fix: str | None = None


def commits_of_programs(
    programs: Mapping[tuple[str, str], Path], environment: Mapping[str, str] = os.environ
) -> dict[str, VariantCommit]:
    """Find the commit of each variant from the programs of its cells, (benchmark, variant) -> path.

    It is that of the work tree in which a program lies, links followed. It is unknown of a program that lies in
    none, or that git tracks there as another file than this one; of a variant whose programs are of
    several commits; and of all where one commit would be that of different programs.
    """
    files = {path: Path(os.path.realpath(path)) for path in programs.values()}
    answers = dict(_ask(dict.fromkeys(files.values()), environment))
    found: dict[str, VariantCommit] = {}
    for variant in dict.fromkeys(variant for _, variant in programs):
        own = [answers[files[path]] for (_, name), path in programs.items() if name == variant]
        found[variant] = _of_variant(own)
    commits = {one.commit for one in found.values()}
    if len(found) > 1 and len(commits) == 1 and None not in commits and _differ(programs, files):
        why = "the programs of all variants lie in a work tree of one commit, and they differ"
        return dict.fromkeys(found, VariantCommit(unknown=why))
    return found


def _of_variant(answers: Sequence[VariantCommit]) -> VariantCommit:
    commits = {one.commit for one in answers if one.commit is not None}
    for one in answers:
        if one.another:
            return one
    if len(commits) > 1:
        return VariantCommit(unknown=f"its programs are of {len(commits)} commits")
    if commits:
        return VariantCommit(commit=commits.pop())
    return next((one for one in answers if one.fix is not None), answers[0])


def _differ(programs: Mapping[tuple[str, str], Path], files: Mapping[Path, Path]) -> bool:
    """Tell whether some benchmark executes different programs; of a file that cannot be read it is its place."""
    of_benchmark: dict[str, set[str]] = {}
    for (benchmark, _), path in programs.items():
        digest, _ = digest_of(files[path])
        of_benchmark.setdefault(benchmark, set()).add(digest or str(files[path]))
    return any(len(digests) > 1 for digests in of_benchmark.values())


def _ask(
    files: Iterable[Path], environment: Mapping[str, str]
) -> Iterator[tuple[Path, VariantCommit]]:
    """Give the answer of each file, asking git once for all files of a work tree."""
    of_tree: dict[Path | None, list[Path]] = {}
    for file in files:
        # the nearest folder above it with a `.git`, as git finds it
        tree = next((one for one in file.parents if os.path.lexists(one / ".git")), None)
        of_tree.setdefault(tree, []).append(file)
    nowhere = of_tree.pop(None, [])
    yield from ((file, VariantCommit(unknown=NO_TREE)) for file in nowhere)
    git = shutil.which("git", path=environment.get("PATH", os.defpath)) if of_tree else None
    for folder, inside in of_tree.items():
        if git is None or folder is None:
            yield from ((file, VariantCommit(unknown=NO_GIT)) for file in inside)
            continue
        try:
            yield from _Tree(git, folder, environment).answers(inside)
        except _GitError as error:
            yield from ((file, VariantCommit(unknown=str(error), fix=error.fix)) for file in inside)


class _Tree:
    """One work tree, as git tells of it."""

    def __init__(self, git: str, folder: Path, environment: Mapping[str, str]) -> None:
        self._git = git
        self._folder = folder
        self._environment = for_reading(environment)
        self._home = environment.get("HOME")

    def answers(self, files: Sequence[Path]) -> Iterator[tuple[Path, VariantCommit]]:
        """Give the answer of each of the files, which lie in this folder."""
        found = self._call("rev-parse", "--show-toplevel", "--verify", "HEAD^{commit}")
        place, _, commit = found.decode("utf-8", "surrogateescape").rstrip("\n").rpartition("\n")
        root = Path(place)
        inside = [one for one in files if one.is_relative_to(root)]
        inside = [one for one in inside if ".git" not in one.relative_to(root).parts]
        names = {file: os.fsencode(file.relative_to(root)) for file in inside}
        listed = dict(self._tracked(names.values(), "ls-files", "-z", "--stage", "--"))
        held = dict(self._tracked(names.values(), "ls-tree", "-z", commit, "--"))
        for file in files:
            if file not in names:
                yield file, VariantCommit(unknown="its program lies outside of the work tree")
                continue
            blob = held.get(names[file])
            built = blob is None and names[file] not in listed
            if built or (blob is not None and is_blob(file, blob)):
                yield file, VariantCommit(commit=commit)
            else:
                name = redact_text(str(file), self._home)
                why = f"git tracks its program {name}, and the commit has another file there"
                yield file, VariantCommit(unknown=why, another=True)

    def _tracked(self, names: Iterable[bytes], *words: str) -> Iterator[tuple[bytes, str]]:
        """Give the names of files that git lists, each with the hash of its content."""
        left = list(names)
        while left:
            some, left = left[:_AT_ONCE], left[_AT_ONCE:]
            for entry in self._call(*words, *some).split(b"\0"):
                about, tab, name = entry.partition(b"\t")
                fields = about.split(b" ")
                if tab:  # MODE HASH STAGE of the index, MODE TYPE HASH of a commit
                    yield name, fields[2 if words[0] == "ls-tree" else 1].decode("ascii")

    def _call(self, *words: str | bytes) -> bytes:
        try:
            done = subprocess.run(
                [self._git, *_PLAIN, "-C", self._folder, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PATIENCE_S,
                check=False,
                env=self._environment,
            )
        except subprocess.TimeoutExpired:
            raise _GitError(f"git gave no answer within {_PATIENCE_S:g} s") from None
        except OSError as error:
            raise _GitError(f"git cannot be executed: {error.strerror or error}") from None
        if done.returncode == 0:
            if is_cut_off(done.stdout):
                raise _GitError("git's answer is cut off")
            return done.stdout
        errors = done.stderr.decode("utf-8", "replace")
        lines = errors.strip().splitlines() or ["nothing"]
        text = redact_text(lines[0].removeprefix("fatal: "), self._home)
        if text == "Needed a single revision":
            text = "there is no commit yet"
        refused = _GitError(f"git says of its work tree: {text}")
        refused.fix = remedy_in(errors)
        raise refused


def is_blob(file: Path, name: str) -> bool:
    """Tell whether a file has the content that git calls by this name, without any of its filters."""
    algorithm = "sha1" if len(name) == 40 else "sha256"
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with contextlib.suppress(OSError), opened_file(file) as content:
        digest.update(b"blob %d\0" % os.fstat(content.fileno()).st_size)
        return hashlib.file_digest(content, lambda: digest).hexdigest() == name
    return False
