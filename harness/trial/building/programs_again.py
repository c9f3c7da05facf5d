"""Whether a trial that is gone on with has the programs that it was measured with; what is missing is built again.

What a build may overwrite is copied into the trial first.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analysis.record.environment_records import segments_of
from analysis.record.trial_files import OUTPUTS

from ...host.executables import sha256_file
from ...launch.commands import hashes
from ..folder import open_inside, storing
from ..stopping import Earlier, SessionRules
from .drift import refuse, settle, target_drift

if TYPE_CHECKING:
    from ...campaign.model import Build, Campaign
    from ..context import TrialContext


TARGETS_BEFORE = f"{OUTPUTS}/targets-before"


def programs_again(context: TrialContext, *, builds: bool, accept: bool) -> None:
    """Find what the cells execute; build it only where it is missing or a change is accepted.

    Without `builds` nothing is built: what is missing is then missed.
    """
    campaign, store = context.campaign, context.store
    then = store.manifest.targets
    if not then:  # it was broken off before all was built: nothing was measured with them
        if builds:
            context.builds.build_once(context.builds.once)
    else:
        there = hashes(Path(path) for path in then if os.path.lexists(path))
        changed = target_drift({path: then[path] for path in there}, there)
        missing = [path for path in then if path not in there]
        if not accept:
            refuse(store.path, changed)
        once = context.builds.once
        if once and (changed or missing):
            wanted = once if changed else _builds_of(campaign, once, missing)
            copies = [_copy(store.path, Path(path), digest) for path, digest in there.items()]
            try:
                if builds:
                    context.builds.build_once(wanted)
            except BaseException:
                _put_back(copies)
                raise
            if not accept:  # a build of one variant may touch the others'
                _put_back(copies)
    context.find_programs(of_sessions=False)
    now = context.builds.lasting()
    if then:
        settle(store, target_drift(then, now), accept=accept)
    store.update(targets=now)


def builds_again(context: TrialContext, *, accept: bool) -> None:
    """Have the builds of a session that has some of its runs as they were: the same files, from the same seed.

    A session that has none is built when it begins.
    """
    store = context.store
    session = _session_under_way(context) if context.builds.of_sessions else None
    if session is None:
        return
    segments = segments_of(store.environments(), store.manifest.sessions)
    made, drifts = context.builds.build_again(session, segments.get(session, -1) + 1)
    settle(store, drifts, accept=accept)
    for record in made:
        store.append_build(record)


def _session_under_way(context: TrialContext) -> int | None:
    """Give the session that has some of its runs, and is to have more."""
    store, done = context.store, context.store.rows.outcomes
    last = max((run.session for run in store.planned() if run.position in done), default=None)
    if last is None:
        return None
    rules = SessionRules(context.campaign, store, last, Earlier.of_trial(store, context.campaign))
    return last if rules.end() is None and rules.is_left() else None


def _builds_of(
    campaign: Campaign, once: Sequence[Build], missing: Sequence[str]
) -> Sequence[Build]:
    """Give those of the builds whose variants' programs are missing; all, where that cannot be told."""
    owners: dict[str, set[str]] = {path: set() for path in missing}
    for cell in campaign.cells:
        path = str(cell.cwd / cell.command.argv[0])
        if path in owners:
            owners[path].add(cell.variant)
    variants = set().union(*owners.values())
    builds = [build for build in once if build.variant in variants]
    known = all(owners.values()) and variants <= {build.variant for build in once}
    return builds if known else once


class _Copy(NamedTuple):
    program: Path  # links followed
    place: Path
    digest: str
    mode: int


def _copy(trial: Path, path: Path, digest: str) -> _Copy:
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
    return _Copy(program, trial / name, digest, mode)


def _put_back(copies: Sequence[_Copy]) -> None:
    for copy in copies:
        with storing(copy.program):
            if copy.program.exists() and sha256_file(copy.program) == copy.digest:
                continue
            fresh = copy.program.with_name(f".{copy.program.name}.before")
            shutil.copyfile(copy.place, fresh)
            fresh.chmod(copy.mode)
            fresh.replace(copy.program)
