"""How an unfinished trial is gone on with: the words, and a command that really does it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from analysis.record import CAMPAIGN, Manifest

RUN_CAP = "the cap"  # how the reason of a trial begins that has all the runs it may have


def way_on(again: str, must_raise: str | None = None) -> str:
    """Say how to go on by the command `again`; a cap that would stop it at once is raised first.

    A raised cap is a change of the campaign, which the command has to accept (`accepting`).
    """
    if must_raise is None:
        return f"continue: {again}"
    return f"to measure more: raise {must_raise} in the campaign, then {again}"


def accepting(again: str, must_raise: str | None) -> str:
    """Add to a command that it accepts the changed campaign, where one is needed."""
    return again if must_raise is None else f"{again} --accept-drift"


def command_to_continue(manifest: Manifest, trial: Path) -> str:
    """Give the command that goes on with a trial, wherever its campaign is."""
    campaign = shlex.quote(manifest.campaign_path)
    again = f"fairtrial run {campaign} --resume --trial {shlex.quote(str(trial))}"
    return accepting(again, must_raise(manifest))


def way_on_of(manifest: Manifest, trial: Path) -> str:
    """Say how to go on with a trial, from what is stored of it."""
    again = command_to_continue(manifest, trial)
    if not os.path.isfile(manifest.campaign_path):  # noqa: PTH113 - Path.is_file() raises on a name that is too long
        return (
            f"continue: put the campaign back ({trial / CAMPAIGN} is a copy of "
            f"{manifest.campaign_path}), then {again}"
        )
    return way_on(again, must_raise(manifest))


def must_raise(manifest: Manifest) -> str | None:
    """Give the key of the campaign to raise before more can be executed."""
    # The first version does not say it, but its reason does.
    full = manifest.status == "stopped" and (manifest.reason or "").startswith(RUN_CAP)
    return manifest.must_raise or ("protocol.max_runs" if full else None)
