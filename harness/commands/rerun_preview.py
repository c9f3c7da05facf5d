"""All that a received campaign would execute, with the files behind it, as a person is shown before it acts."""

from __future__ import annotations

import datetime
import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from analysis.announcing import about
from analysis.errors import StoreError
from analysis.record.manifest import read_manifest
from analysis.record.shapes import opened, parse
from analysis.record.trial_files import RESOLVED, Manifest
from analysis.words import shown

from ..campaign.model import NO_IDENTITY, Campaign, shown as with_placeholders
from ..campaign.resolve import load_campaign
from ..campaign.schema import identity_of
from ..errors import LaunchError, counted, size
from ..host.executables import sha256_file
from ..launch.commands import base_environment, resolve
from ..trial.execution import defaults_of
from ..trial.plan import planned_runs
from ..trial.run_files import argument_files

Kind = Literal[
    "build",
    "build before each session",
    "setup",
    "service",
    "is the service ready",
    "before each run",
    "run",
    "after each run",
    "cleanup",
    "finish",
]
Place = Literal["bundle", "this machine", "made by the build", "missing"]

_SHORT = 12  # digits of a hash on a screen


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedCommand:
    """A command that would be executed."""

    kind: Kind  # what for, such as ``build`` or ``run``
    # the variants (of a build) or cells, ``BENCHMARK:VARIANT``; empty of what belongs to all
    of: tuple[str, ...]
    argv: tuple[str, ...]  # its arguments
    cwd: str  # where, below the new folder or whole
    stdin: str | None  # what it reads
    variables: Mapping[str, str]  # environment variables that the campaign sets for it


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedFile:
    """A file that would be executed, or is named by a command that would be."""

    name: str  # as the command names it
    place: Place  # ``bundle``, ``this machine``, ``made by the build`` or ``missing``
    path: str | None = None  # where it lies: below the new folder, or whole
    bytes: int | None = None  # its size and hash now; None where it is not there, or cannot be read
    sha256: str | None = None
    # the hash that the authors' program had when it was measured, where that is known
    measured_sha256: str | None = None

    def __str__(self) -> str:
        where = f" {self.path}" if self.path not in {None, self.name} else ""
        text = f"{self.name}: {self.place}{where}"
        if self.bytes is not None:
            text += f", {size(self.bytes)}"
        if self.sha256 is not None:
            text += f", SHA-256 {self.sha256[:_SHORT]}…"
        if self.measured_sha256 is None:
            return text
        if self.sha256 == self.measured_sha256:
            return f"{text}, the same as was measured"
        return f"{text}; SHA-256 {self.measured_sha256[:_SHORT]}… was measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What the rerun of one trial would do."""

    trial: str  # the trial that was measured, and its campaign's file below the new folder
    campaign: str
    # sessions that would be measured, and that were; runs that would be, warm-ups included
    sessions: int
    sessions_measured: int
    runs: int
    # how long the runs took the authors, scaled to these sessions; None where unknown
    seconds: float | None
    steps: tuple[PreviewedCommand, ...]  # every command, in the order in which they come
    programs: tuple[PreviewedFile, ...]  # the file behind each, and the files among their arguments
    variables: Mapping[str, str]  # environment variables that are set for all of them
    # which of your own variables they see: ``all``, ``none``, or names
    keeps: str | tuple[str, ...]
    reads: tuple[str, ...]  # files outside of the bundle that would be read

    def __str__(self) -> str:
        return "\n".join(map(shown, self.lines()))

    def lines(self) -> Iterator[str]:
        """Say everything that would be executed, a line each."""
        took = "" if self.seconds is None else f", {about(self.seconds)} as it took the authors"
        yield (
            f"{self.trial}: {counted(self.sessions, 'session')} of {self.sessions_measured}, "
            f"{counted(self.runs, 'run')}{took}"
        )
        yield f"  campaign    {self.campaign}"
        seen = self.keeps if isinstance(self.keeps, str) else ", ".join(self.keeps)
        yield f"  they see    {seen} of your environment variables"
        if self.variables:
            yield f"  variables   {_set(self.variables)}"
        yield "  commands"
        for step in self.steps:
            more = f" and {len(step.of) - 3} more" if len(step.of) > 3 else ""
            whose = f" of {', '.join(step.of[:3])}{more}" if step.of else ""
            yield f"    {step.kind}{whose}, in {step.cwd}"
            env = f"{_set(step.variables)} " if step.variables else ""
            read = f" < {step.stdin}" if step.stdin else ""
            yield f"        {env}{shlex.join(step.argv)}{read}"
        yield "  files behind them"
        for program in self.programs:
            yield f"    {program}"
        for path in self.reads:
            yield f"    reads {path}, which is not in the bundle"


def _set(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}={shlex.quote(text)}" for name, text in variables.items())


def is_outside(path: Path, root: Path) -> bool:
    """Tell whether a path names a place that is not below a folder; links are not followed."""
    return not Path(os.path.normpath(path)).is_relative_to(root)


def below(path: Path, root: Path) -> str:
    """Write a path as it is seen from the new folder, which has no name yet."""
    place = Path(os.path.normpath(path))
    return str(place.relative_to(root)) if place.is_relative_to(root) else str(place)


def leads_out(path: Path, root: Path) -> bool:
    """Tell whether a path leads out of a folder by its name, or through links."""
    return is_outside(path, root) or not path.resolve().is_relative_to(root.resolve())


class CampaignCommand(NamedTuple):
    """A command of a campaign: what for, of what, where, with which variables; whether a build makes it."""

    kind: Kind
    of: tuple[str, ...]
    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str] = {}
    stdin: Path | None = None
    made: bool = False


def every_command(campaign: Campaign) -> Iterator[CampaignCommand]:
    """Give every command that a campaign executes, in the order in which they come."""
    home, hooks = campaign.source.parent, campaign.hooks
    built = {build.variant for build in campaign.builds}
    for build in campaign.builds:
        kind: Kind = "build before each session" if build.each == "session" else "build"
        for one in build.steps:
            yield CampaignCommand(kind, (build.variant,), one.argv, build.cwd, build.env)
    yield from (CampaignCommand("setup", (), one.argv, home) for one in hooks.setup)
    for service in campaign.services:
        of, (cwd, env) = (service.label,), (service.cwd, service.env)
        made = bool(built) if service.variant is None else service.variant in built
        yield CampaignCommand("service", of, service.command.argv, cwd, env, made=made)
        if service.ready.command is not None:
            yield CampaignCommand("is the service ready", of, service.ready.command.argv, cwd, env)
    for cell in campaign.cells:
        of = (f"{cell.benchmark}:{cell.variant}",)
        yield from (CampaignCommand("before each run", of, one.argv, home) for one in cell.before)
        made, argv = cell.variant in built, cell.command.argv
        yield CampaignCommand("run", of, argv, cell.cwd, cell.env, cell.stdin, made)
        yield from (CampaignCommand("after each run", of, one.argv, home) for one in cell.after)
    yield from (CampaignCommand("cleanup", (), one.argv, home) for one in hooks.cleanup)
    yield from (CampaignCommand("finish", (), one.argv, home) for one in hooks.finish)


def commands_of(campaign: Campaign, root: Path) -> tuple[PreviewedCommand, ...]:
    """Preview every command; what is the same for several cells stands once, at the place of the first."""
    found: dict[object, PreviewedCommand] = {}
    for one in every_command(campaign):
        step = PreviewedCommand(
            kind=one.kind,
            of=one.of,
            argv=tuple(with_placeholders(one.argv)),
            cwd=below(one.cwd, root),
            stdin=None if one.stdin is None else below(one.stdin, root),
            variables=with_placeholders(one.env),
        )
        key = (step.kind, step.argv, step.cwd, step.stdin, tuple(step.variables.items()))
        first = found.setdefault(key, step)
        found[key] = replace(first, of=tuple(dict.fromkeys((*first.of, *step.of))))
    return tuple(found.values())


def programs_of(campaign: Campaign, manifest: Manifest, root: Path) -> Iterator[PreviewedFile]:
    """Find the file behind each command, and those of the bundle among its arguments, each once."""
    environment = base_environment(campaign.isolation, os.environ)
    measured = _measured(manifest, campaign.source.parent)
    seen: set[object] = set()
    for one in every_command(campaign):
        name, cwd = one.argv[0], one.cwd
        path = _found(name, cwd, {**environment, **one.env})
        if (path or (name, cwd)) not in seen:
            seen.add(path or (name, cwd))
            yield _program(name, cwd, path, root, measured, made=one.made)
        for place in map(Path, map(os.path.normpath, argument_files(one.argv, cwd))):
            if place not in seen and not is_outside(place, root):
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
) -> PreviewedFile:
    if path is None:
        wanted = os.path.normpath(cwd / name) if "/" in name else name
        known = [text for place, text in measured.items() if wanted in {place, Path(place).name}]
        return PreviewedFile(
            name=name,
            place="made by the build" if made else "missing",
            measured_sha256=known[0] if len(known) == 1 else None,
        )
    found = PreviewedFile(
        name=name,
        place="this machine" if is_outside(path, root) else "bundle",
        path=below(path, root),
        measured_sha256=measured.get(os.path.normpath(path)),
    )
    try:
        count, digest = path.stat().st_size, sha256_file(path)
    except OSError:  # it may be executed but not read
        return found
    return replace(found, bytes=count, sha256=digest)


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


# --- The campaign that came with a trial: only the one that was measured is executed, and shown
# before.


def received_campaign(file: Path, trial: Path, root: Path, *, redacted: bool) -> Campaign:
    """Read the campaign of a trial that somebody else measured, to execute it as it was."""
    manifest = read_manifest(trial)
    if manifest.origin != "measured":
        raise StoreError(
            f"the trial was {manifest.origin}, not measured by a campaign: nothing can be executed",
            str(trial),
            "check it without --rerun",
        )
    campaign = load_campaign(file, seed=manifest.seed, **defaults_of(trial, manifest))
    _hold_against(campaign, manifest, trial, redacted=redacted)
    outside = list(stays_inside(campaign, root))
    if outside:
        what = f"the campaign would work outside of its folder: {'; '.join(outside[:5])}"
        fix = "nothing was executed; read the campaign, and execute it by hand if you trust it"
        raise StoreError(what, str(file), fix)
    return campaign


def _hold_against(campaign: Campaign, manifest: Manifest, trial: Path, *, redacted: bool) -> None:
    """Refuse a campaign that is not the one with which the trial was measured."""
    text = "which was measured; nothing was executed"
    fix = "ask who packed it for the campaign of the trial"
    if not redacted and (
        identity_of(campaign, manifest.campaign_identity) != manifest.campaign_sha256
    ):
        raise StoreError(f"this is not the campaign {text}", str(campaign.source), fix)
    if not (trial / RESOLVED).exists():  # of the first version: the identity is all there is
        if redacted:
            what = "names in this campaign were replaced, and nothing tells whether it is the one"
            raise StoreError(f"{what} {text}", str(campaign.source), fix)
        return
    with opened(trial / RESOLVED) as resolved:
        stored = parse(resolved.read().strip())
    ours = json.loads(json.dumps(campaign.to_dict()))
    theirs = stored.get("campaign") if isinstance(stored, dict) else None
    if not isinstance(theirs, dict):
        raise StoreError("it holds no campaign", str(trial / RESOLVED), fix)
    free = NO_IDENTITY[Campaign]
    other = [key for key, value in theirs.items() if ours.get(key) != value and key not in free]
    if other:
        what = f"the campaign says another thing than the one {text}: {', '.join(other[:8])}"
        raise StoreError(what, str(campaign.source), fix)


def stays_inside(campaign: Campaign, root: Path) -> Iterator[str]:
    """Say where a campaign would work or remove files outside of a folder."""
    for build in campaign.builds:
        if leads_out(build.cwd, root):
            yield f"the build of {build.variant} in {build.cwd}"
    for service in campaign.services:
        if leads_out(service.cwd, root):
            yield f"the service {service.label} in {service.cwd}"
    for cell in campaign.cells:
        of = f"{cell.benchmark} / {cell.variant}"
        if leads_out(cell.cwd, root):
            yield f"{of} in {cell.cwd}"
        for rule in cell.metrics:
            path = rule.source
            if isinstance(path, Path) and leads_out(path, root) and not _live(path):
                removed = "" if rule.when == "build" else ", which is removed first"
                yield f"the metric {rule.name} of {of} is read from {path}{removed}"


def _live(path: Path) -> bool:
    return any(Path(os.path.normpath(path)).is_relative_to(place) for place in ("/proc", "/sys"))


def intent_of(campaign: Campaign, trial: Path, root: Path, *, sessions: int | None) -> Intent:
    """Gather what a received campaign would execute. Nothing is executed to know it."""
    manifest = read_manifest(trial)
    count = manifest.sessions if sessions is None else sessions
    asked = ((cell.stdin, cell.expect.stdout_file, *cell.inputs) for cell in campaign.cells)
    named = [path for paths in asked for path in paths if path is not None]
    named += [path for build in campaign.builds for path in build.artifacts]
    return Intent(
        trial=trial.name,
        campaign=below(campaign.source, root),
        sessions=count,
        sessions_measured=manifest.sessions,
        runs=planned_runs(campaign, count),
        seconds=_seconds(manifest, count),
        steps=commands_of(campaign, root),
        programs=tuple(programs_of(campaign, manifest, root)),
        variables=dict(campaign.isolation.set_environment),
        keeps=campaign.isolation.keep_environment,
        reads=tuple(dict.fromkeys(str(path) for path in named if is_outside(path, root))),
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
