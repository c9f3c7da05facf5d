"""The programs of a trial that is gone on with: held against those that it began with, then built.

In this order, so that a program which is still there is never overwritten by a build that nobody
wanted. What a build may overwrite is copied into the trial first.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.record import OUTPUTS

from ...campaign import Build, Campaign
from ...launch import hashes, resolve_all
from ...store import Store, open_inside, sha256_file, storing
from ..files.inputs import Programs
from .resumption import refuse, settle, target_drift

TARGETS_BEFORE = f"{OUTPUTS}/targets-before"


def programs_again(
    campaign: Campaign,
    environment: Mapping[str, str],
    store: Store,
    build: Callable[[Sequence[Build]], None],
    *,
    accept: bool,
) -> Programs:
    """Find what the cells execute; build it only where it is missing or a change is accepted.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    environment : mapping of str to str
        The variables in which programs are looked up.
    store : Store
        The open trial.
    build : callable
        Builds some variants.
    accept : bool
        Whether other programs than those that the trial began with are accepted.

    Raises
    ------
    StoreError
        If a program is another one and that was not accepted; then none was overwritten.
    LaunchError
        If one is missing, or cannot be built; then those that were there are put back.
    """
    then = store.manifest.targets
    if not then:  # it was broken off before all was built: nothing was measured with them
        build(campaign.builds)
    else:
        there = hashes(Path(path) for path in then if os.path.lexists(path))
        changed = target_drift({path: then[path] for path in there}, there)
        missing = [path for path in then if path not in there]
        if not accept:
            refuse(store.path, changed)
        if campaign.builds and (changed or missing):
            wanted = campaign.builds if changed else _builds_of(campaign, missing)
            copies = [_copy(store.path, Path(path), digest) for path, digest in there.items()]
            try:
                build(wanted)
            except BaseException:
                _put_back(copies)
                raise
            if not accept:  # a build of one variant may touch the others'
                _put_back(copies)
    programs = resolve_all(campaign, environment)
    now = hashes(programs.values())
    if then:
        settle(store, target_drift(then, now), accept=accept)
    store.update(targets=now)
    return programs


def _builds_of(campaign: Campaign, missing: Sequence[str]) -> Sequence[Build]:
    """Give the builds of the variants whose programs are missing; all, where that cannot be told."""
    owners: dict[str, set[str]] = {path: set() for path in missing}
    for cell in campaign.cells:
        path = str(cell.cwd / cell.command.argv[0])
        if path in owners:
            owners[path].add(cell.variant)
    variants = set().union(*owners.values())
    builds = [build for build in campaign.builds if build.variant in variants]
    known = all(owners.values()) and variants <= {build.variant for build in builds}
    return builds if known else campaign.builds


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copy:
    """A program, and its copy in the trial."""

    program: Path  # links followed
    place: Path
    digest: str
    mode: int


def _copy(trial: Path, path: Path, digest: str) -> _Copy:
    """Copy a program into the trial, under its hash."""
    program = path.resolve()
    name = f"{TARGETS_BEFORE}/{digest[:16]}-{path.name}"
    with storing(trial / name):
        (trial / TARGETS_BEFORE).mkdir(exist_ok=True)
        fd = open_inside(trial, f"{name}.part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(fd, "wb") as copy, program.open("rb") as original:
            shutil.copyfileobj(original, copy)
            copy.flush()
            os.fsync(fd)
        (trial / f"{name}.part").replace(trial / name)
        mode = program.stat().st_mode & 0o7777
    return _Copy(program=program, place=trial / name, digest=digest, mode=mode)


def _put_back(copies: Sequence[_Copy]) -> None:
    """Put back the programs that a build has changed or removed."""
    for copy in copies:
        with storing(copy.program):
            if copy.program.exists() and sha256_file(copy.program) == copy.digest:
                continue
            fresh = copy.program.with_name(f".{copy.program.name}.before")
            shutil.copyfile(copy.place, fresh)
            fresh.chmod(copy.mode)
            fresh.replace(copy.program)
