"""The files behind commands: where each lies, and whether it is the one that was measured."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from analysis.record import Manifest

from ..campaign import Campaign
from ..errors import LaunchError
from ..launch import base_environment, resolve
from ..store import sha256_file
from .intent import Program
from .places import below, is_outside

__all__ = ["programs_of"]


def programs_of(campaign: Campaign, manifest: Manifest, root: Path) -> Iterator[Program]:
    """Find the file behind each command, and those of the bundle among its arguments, each once.

    Parameters
    ----------
    campaign : Campaign
        As `received_campaign` gives it.
    manifest : Manifest
        Of the trial that was measured with it: it knows the hashes of then.
    root : Path
        The folder of the unpacked bundle.
    """
    environment = base_environment(campaign.isolation, os.environ)
    measured = _measured(manifest, campaign.source.parent)
    home, built = campaign.source.parent, {build.variant for build in campaign.builds}
    asked: list[tuple[tuple[str, ...], Path, Mapping[str, str], bool]] = []
    for build in campaign.builds:
        asked += [(one.argv, build.cwd, build.env, False) for one in build.steps]
    hooks = campaign.hooks
    asked += [(one.argv, home, {}, False) for one in (*hooks.setup, *hooks.cleanup, *hooks.finish)]
    for cell in campaign.cells:
        asked += [(one.argv, home, {}, False) for one in (*cell.before, *cell.after)]
        asked.append((cell.command.argv, cell.cwd, cell.env, cell.variant in built))
    seen = set()
    for argv, cwd, more, made in asked:
        path = _found(argv[0], cwd, {**environment, **more})
        if (path or (argv[0], cwd)) not in seen:
            seen.add(path or (argv[0], cwd))
            yield _program(argv[0], cwd, path, root, measured, made=made)
        for place in _arguments(argv, cwd, root):
            if place not in seen:
                seen.add(place)
                yield _program(below(place, root), cwd, place, root, measured)


def _found(name: str, cwd: Path, environment: Mapping[str, str]) -> Path | None:
    try:
        return resolve(name, cwd, environment)
    except (LaunchError, OSError, ValueError):  # such as a name that is too long
        return None


def _program(
    name: str,
    cwd: Path,
    path: Path | None,
    root: Path,
    measured: Mapping[str, str],
    *,
    made: bool = False,
) -> Program:
    if path is None:
        wanted = os.path.normpath(cwd / name) if "/" in name else name
        known = [text for place, text in measured.items() if wanted in {place, Path(place).name}]
        return Program(
            name=name,
            place="made by the build" if made else "missing",
            measured_sha256=known[0] if len(known) == 1 else None,
        )
    told = Program(
        name=name,
        place="this machine" if is_outside(path, root) else "bundle",
        path=below(path, root),
        measured_sha256=measured.get(os.path.normpath(path)),
    )
    try:
        count, digest = path.stat().st_size, sha256_file(path)
    except OSError:  # it may be executed but not read
        return told
    return Program(
        name=told.name,
        place=told.place,
        path=told.path,
        bytes=count,
        sha256=digest,
        measured_sha256=told.measured_sha256,
    )


def _measured(manifest: Manifest, home: Path) -> dict[str, str]:
    """Give the hashes of the authors' programs and inputs, by the path that each has here."""
    there = Path(manifest.campaign_path).parent
    found = {}
    for text, digest in (*manifest.targets.items(), *manifest.arguments.items()):
        if len(digest) != 64:  # it could not be read
            continue
        path = Path(os.path.normpath(text))
        here = home / path.relative_to(there) if path.is_relative_to(there) else path
        found[os.path.normpath(here)] = digest
    return found


def _arguments(argv: Iterable[str], cwd: Path, root: Path) -> Iterator[Path]:
    """Give the files of the bundle among a command's arguments, ``--name=FILE`` too."""
    for argument in list(argv)[1:]:
        for text in dict.fromkeys((argument, argument.partition("=")[2])):
            if not text or "\0" in text or len(text) > 4096:
                continue
            path = Path(os.path.normpath(cwd / text))
            if not is_outside(path, root) and _is_file(path):
                yield path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long
        return False
