"""Gathers what a received campaign would execute; nothing is executed to know it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from pathlib import Path

from analysis.record import Manifest, read_manifest

from ..campaign import Campaign, Command
from ..trial import planned_runs
from .intent import Intent, Kind, Step
from .places import below, is_outside
from .programs import programs_of

__all__ = ["intent_of"]


def intent_of(campaign: Campaign, trial: Path, root: Path, *, sessions: int | None) -> Intent:
    """Gather what a received campaign would execute. Nothing is executed to know it.

    Parameters
    ----------
    campaign : Campaign
        As `received_campaign` gives it.
    trial : Path
        The trial that was measured with it.
    root : Path
        The folder of the unpacked bundle.
    sessions : int, optional
        How many would be measured; as many as were, without it.
    """
    manifest = read_manifest(trial)
    count = manifest.sessions if sessions is None else sessions
    steps = tuple(_merged(_steps(campaign, root)))
    return Intent(
        trial=trial.name,
        campaign=below(campaign.source, root),
        sessions=count,
        sessions_measured=manifest.sessions,
        runs=planned_runs(campaign, count),
        seconds=_seconds(manifest, count),
        steps=steps,
        programs=tuple(programs_of(campaign, manifest, root)),
        variables=dict(campaign.isolation.set_environment),
        keeps=campaign.isolation.keep_environment,
        reads=tuple(_reads(campaign, root)),
    )


def _seconds(manifest: Manifest, sessions: int) -> float | None:
    """Scale the time from a trial's start to its end; it says nothing of a trial that was resumed."""
    if manifest.finished is None or manifest.appended or manifest.sessions < 1:
        return None
    try:
        begin, end = map(datetime.datetime.fromisoformat, (manifest.started, manifest.finished))
    except ValueError:
        return None
    took = (end - begin).total_seconds()
    return took * sessions / manifest.sessions if took > 0 else None


def _steps(campaign: Campaign, root: Path) -> Iterator[Step]:
    """Give every command, one for each cell that executes it."""
    home = below(campaign.source.parent, root)  # where hooks are executed

    def hooks(kind: Kind, commands: Iterable[Command], *of: str) -> Iterator[Step]:
        for command in commands:
            yield Step(kind=kind, of=of, argv=command.argv, cwd=home, variables={})

    for build in campaign.builds:
        for command in build.steps:
            yield Step(
                kind="build",
                of=(build.variant,),
                argv=command.argv,
                cwd=below(build.cwd, root),
                variables=dict(build.env),
            )
    yield from hooks("setup", campaign.hooks.setup)
    for cell in campaign.cells:
        of = f"{cell.benchmark}:{cell.variant}"
        yield from hooks("before each run", cell.before, of)
        yield Step(
            kind="run",
            of=(of,),
            argv=cell.command.argv,
            cwd=below(cell.cwd, root),
            stdin="" if cell.stdin is None else below(cell.stdin, root),
            variables=dict(cell.env),
        )
        yield from hooks("after each run", cell.after, of)
    yield from hooks("cleanup", campaign.hooks.cleanup)
    yield from hooks("finish", campaign.hooks.finish)


def _merged(steps: Iterable[Step]) -> Iterator[Step]:
    """Put what is the same for several cells together, at the place of the first."""
    whose: dict[object, list[str]] = {}
    first: dict[object, Step] = {}
    for step in steps:
        key = (step.kind, step.argv, step.cwd, step.stdin, tuple(step.variables.items()))
        first.setdefault(key, step)
        whose.setdefault(key, []).extend(step.of)
    for same, step in first.items():
        yield Step(
            kind=step.kind,
            of=tuple(dict.fromkeys(whose[same])),
            argv=step.argv,
            cwd=step.cwd,
            stdin=step.stdin,
            variables=step.variables,
        )


def _reads(campaign: Campaign, root: Path) -> Iterator[str]:
    """Give what is read from outside of the folder, as far as the campaign says it, each once."""
    found: dict[str, None] = {}
    for cell in campaign.cells:
        for path in (cell.stdin, cell.expect.stdout_file, *cell.inputs):
            if path is not None and is_outside(path, root):
                found[str(path)] = None
    yield from found
