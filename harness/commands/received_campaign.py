"""The campaign that came with a trial: only the one that was measured is executed, and shown before."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator
from pathlib import Path

from analysis.errors import StoreError
from analysis.record.manifest import read_manifest
from analysis.record.shapes import opened, parse
from analysis.record.trial_files import RESOLVED, Manifest

from ..campaign.defaults import identity_of
from ..campaign.model import NO_IDENTITY, Campaign
from ..campaign.resolve import load_campaign
from ..trial.plan import planned_runs
from ..trial.resume import defaults_of
from .rerun_preview import Intent, below, commands_of, is_outside, leads_out, programs_of


def received_campaign(file: Path, trial: Path, root: Path, *, redacted: bool) -> Campaign:
    """Read the campaign of a trial that somebody else measured, to execute it as it was."""
    manifest = read_manifest(trial)
    if manifest.origin != "measured":
        raise StoreError(
            f"the trial was {manifest.origin}, not measured by a campaign: nothing can be executed",
            str(trial),
            "check it without --rerun",
        )
    defaults, own = defaults_of(trial, manifest)
    campaign = load_campaign(file, seed=manifest.seed, defaults=defaults, own=own)
    _hold_against(campaign, manifest, trial, redacted=redacted)
    outside = list(stays_inside(campaign, root))
    if outside:
        what = f"the campaign would work outside of its folder: {'; '.join(outside[:5])}"
        fix = "nothing was executed; read the campaign, and execute it by hand if you trust it"
        raise StoreError(what, str(file), fix)
    return campaign


def _hold_against(campaign: Campaign, manifest: Manifest, trial: Path, *, redacted: bool) -> None:
    """Refuse a campaign that is not the one with which the trial was measured."""
    told = "which was measured; nothing was executed"
    fix = "ask who packed it for the campaign of the trial"
    if not redacted and (
        identity_of(campaign, manifest.campaign_identity) != manifest.campaign_sha256
    ):
        raise StoreError(f"this is not the campaign {told}", str(campaign.source), fix)
    if not (trial / RESOLVED).exists():  # of the first version: the identity is all there is
        if redacted:
            what = "names in this campaign were replaced, and nothing tells whether it is the one"
            raise StoreError(f"{what} {told}", str(campaign.source), fix)
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
        what = f"the campaign says another thing than the one {told}: {', '.join(other[:8])}"
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
