"""Which file a command really executes, and whether it is still the same file."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..campaign import Campaign, Cell, Isolation
from ..errors import LaunchError
from ..store import sha256_file


def base_environment(isolation: Isolation, inherited: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that every command starts from: those kept, then those set."""
    keep = isolation.keep_environment
    if keep == "all":
        kept = dict(inherited)
    elif keep == "none":
        kept = {}
    else:
        kept = {name: text for name, text in inherited.items() if _kept(name, keep)}
    kept.update(isolation.set_environment)
    return kept


def _kept(name: str, patterns: Iterable[str]) -> bool:
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
    )


def resolve(argv0: str, cwd: Path, environment: Mapping[str, str]) -> Path:
    """Find the file that `argv0` names, as a shell in `cwd` would.

    Raises
    ------
    LaunchError
        If there is none, or it is not executable.
    """
    if "/" in argv0:
        path = cwd / argv0
        if not path.exists():
            raise LaunchError(f"command '{argv0}' not found", str(path), "check the path")
        if path.is_dir() or not os.access(path, os.X_OK):
            raise LaunchError(
                f"'{argv0}' is not executable", str(path), f"chmod +x {shlex.quote(str(path))}"
            )
        return path
    search = environment.get("PATH", os.defpath)
    # A relative entry, and an empty one, mean the command's folder and not fairtrial's.
    entries = search.split(os.pathsep) if search else []
    places = (cwd.absolute() / entry / argv0 for entry in entries)
    found = next((place for place in places if shutil.which(place)), None)
    if found is None:
        raise LaunchError(
            f"command '{argv0}' not found",
            f"PATH={search}",
            "install it, correct its name, or write a path such as './NAME'",
        )
    return found


def check_stdin(path: Path) -> None:
    """Refuse an input that cannot be opened again for every run.

    Raises
    ------
    LaunchError
        If it cannot be read, or is neither a regular file nor a character device: opening a FIFO
        waits for a writer, and a folder or socket holds nothing to read.
    """
    if not os.access(path, os.R_OK):
        raise LaunchError("the stdin file cannot be read", str(path), "create it")
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
        raise LaunchError(
            "stdin is neither a regular file nor a character device",
            str(path),
            "write what it gives to a file and name that one",
        )


def check_input(path: Path) -> None:
    """Refuse an input that cannot be held against what it was.

    Raises
    ------
    LaunchError
        If it is no regular file, or cannot be read.
    """
    if path.is_dir():
        raise LaunchError("an input is a folder", str(path), "name the files in it")
    if not path.is_file() or not os.access(path, os.R_OK):
        raise LaunchError("an input is no file that can be read", str(path), "create it")


def resolve_all(campaign: Campaign, environment: Mapping[str, str]) -> dict[tuple[str, str], Path]:
    """Find the executable of every cell.

    Raises
    ------
    LaunchError
        If some cannot be executed; names all of them.
    """
    found: dict[tuple[str, str], Path] = {}
    problems: list[LaunchError] = []
    for cell in campaign.cells:
        try:
            found[cell.benchmark, cell.variant] = _resolve_cell(cell, environment)
        except LaunchError as error:
            problems.append(error)
    if not problems:
        return found
    unique = {str(problem): problem for problem in problems}
    if len(unique) == 1:
        raise problems[0]
    text = "\n".join(unique)
    raise LaunchError(f"{len(unique)} commands cannot be executed:\n{text}", str(campaign.source))


def _resolve_cell(cell: Cell, environment: Mapping[str, str]) -> Path:
    """Find the executable of one cell; the error names its place in the campaign file."""
    try:
        if not cell.cwd.is_dir():
            raise LaunchError("the working folder does not exist", str(cell.cwd), "create it")
        if cell.stdin is not None:
            check_stdin(cell.stdin)
        for path in cell.inputs:
            check_input(path)
        return resolve(cell.command.argv[0], cell.cwd, {**environment, **cell.env})
    except LaunchError as error:
        raise LaunchError(error.what, f"{cell.command.mark} ({error.where})", error.fix) from None


def hashes(paths: Iterable[Path]) -> dict[str, str]:
    """Give the SHA-256 of each executable."""
    result: dict[str, str] = {}
    for path in sorted(set(paths)):
        try:
            result[str(path)] = sha256_file(path)
        except OSError as error:
            # Executable but not readable (mode 0111): that it cannot be told is recorded too.
            result[str(path)] = f"unreadable: {error.strerror}"
    return result
