"""What has changed under a trial that is gone on with: refused, or recorded where that is accepted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.record.manifest import read_manifest
from analysis.record.trial_files import CAMPAIGN, Finding

from ...campaign.load import load_campaign
from ...errors import DriftError

if TYPE_CHECKING:
    from ..writer import Store


def drift(what: str, old: object, new: object) -> Finding:
    """Make the finding of one difference between the trial as it began and now."""
    return Finding(
        check="drift",
        status="warn",
        what=what,
        where=f"{old} -> {new}",
        reason="runs before and after a change are not samples of the same thing",
    )


def target_drift(old: Mapping[str, str], new: Mapping[str, str]) -> list[Finding]:
    """Compare the executables' hashes."""
    drifts = []
    for path in sorted(old.keys() | new.keys()):
        before, now = old.get(path, "not used"), new.get(path, "not used")
        if before != now:
            what = f"the program {path} has changed: sha256 {before[:12]}… is now {now[:12]}…"
            if path not in old:
                what = f"the program {path} is executed now, and was not when the trial began"
            elif path not in new:
                what = f"the program {path} was executed when the trial began, and is not now"
            drifts.append(drift(what, before, now))
    return drifts


def settle(store: Store, drifts: list[Finding], *, accept: bool) -> None:
    """Refuse a trial that has drifted, or record the drift when it is accepted."""
    if not accept:
        refuse(store.path, drifts)
    store.append_findings("resume", drifts)


def refuse(path: Path, drifts: Sequence[Finding], *, complete: bool = False) -> None:
    """Stop if anything has drifted; the way out is another one of a trial that is `complete`."""
    if drifts:
        manifest = read_manifest(path)
        again: list[str] = []
        if manifest.looks_plan is not None:  # its description is the command that measured it
            again = shlex.split(load_campaign(path / CAMPAIGN).description)
        said = [one.what for one in drifts]
        raise DriftError(str(path), said, manifest.campaign_path, complete=complete, again=again)
