"""Describes an executable without executing it: its hash, its interpreter, its libraries."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from .elf import Elf, read_elf

_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_MOST_LIBRARIES = 500


def sha256_of(path: Path) -> str | None:
    """Give the SHA-256 of a file's bytes, or None when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
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
    """Describe the executable at `path` as JSON types.

    Parameters
    ----------
    path : Path
        The executable; it is not executed.
    variables : mapping
        Its environment; ``PATH`` and ``LD_LIBRARY_PATH`` matter.
    digest : callable
        Gives the SHA-256 of a file, None when it cannot be read.

    Returns
    -------
    dict
        ``path`` as given, ``resolved`` (None when missing), ``sha256``, ``size_bytes``, ``kind``
        ("elf", "script", "other", None when unreadable), ``interpreter`` (path -> sha256: the
        loader, or what a script's first line names) and ``libraries`` (name -> path and sha256).
    """
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
    """Ask ``ldconfig`` what the loader's cache holds; empty where there is none (musl)."""
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
