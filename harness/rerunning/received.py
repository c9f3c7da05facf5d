"""The campaign that came with a trial: only the one that was measured is executed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from analysis.record import RESOLVED, Manifest, opened, parse, read_manifest

from ..campaign import NO_IDENTITY, Campaign, identity_of, load_campaign
from ..errors import StoreError
from ..trial import defaults_of
from .intent import Intent
from .places import leads_out

__all__ = ["received_campaign", "refuse_unsaid", "stays_inside"]

_KERNEL = ("/proc", "/sys")  # live files: metrics read from there are not removed


def received_campaign(file: Path, trial: Path, root: Path, *, redacted: bool) -> Campaign:
    """Read the campaign of a trial that somebody else measured, to execute it as it was.

    Parameters
    ----------
    file : Path
        The campaign.
    trial : Path
        The trial that was measured with it.
    root : Path
        The folder that holds both; nothing outside of it may be worked in.
    redacted : bool
        Whether names in it were replaced: then its identity is not the measured one's, and its
        content is held against the trial's instead.

    Raises
    ------
    StoreError
        If the campaign is not the one that was measured, or would work outside of `root`.
    CampaignError
        If it cannot be read.
    """
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
        raise StoreError(
            f"the campaign would work outside of its folder: {'; '.join(outside[:5])}",
            str(file),
            "nothing was executed; read the campaign, and execute it by hand if you trust it",
        )
    return campaign


def refuse_unsaid(intent: Intent, trial: Path, page: str) -> None:
    """Refuse to execute what the bundle's README does not name.

    Raises
    ------
    StoreError
        If there is such a command. A trial of the first version did not store what its campaign came
        to, so no page could name it; then the campaign's identity is all there is.
    """
    unsaid = intent.unsaid(page) if (trial / RESOLVED).exists() else []
    if unsaid:
        more = f" and {len(unsaid) - 3} more" if len(unsaid) > 3 else ""
        raise StoreError(
            f"the campaign would execute what README.md does not say: {'; '.join(unsaid[:3])}{more}",
            str(trial),
            "nothing was executed; ask who packed it",
        )


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
        raise StoreError(
            f"the campaign says another thing than the one {told}: {', '.join(other[:8])}",
            str(campaign.source),
            fix,
        )


def stays_inside(campaign: Campaign, root: Path) -> Iterator[str]:
    """Say where a campaign would work or remove files outside of a folder.

    Parameters
    ----------
    campaign : Campaign
        Resolved, with absolute paths.
    root : Path
        The folder.
    """
    for build in campaign.builds:
        if leads_out(build.cwd, root):
            yield f"the build of {build.variant} in {build.cwd}"
    for cell in campaign.cells:
        of = f"{cell.benchmark} / {cell.variant}"
        if leads_out(cell.cwd, root):
            yield f"{of} in {cell.cwd}"
        for rule in cell.metrics:
            path = rule.source
            if isinstance(path, Path) and leads_out(path, root) and not _live(path):
                yield f"the metric {rule.name} of {of} is read from {path}, which is removed first"


def _live(path: Path) -> bool:
    return any(Path(os.path.normpath(path)).is_relative_to(place) for place in _KERNEL)
