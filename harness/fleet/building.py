"""Programs that are built once, before jobs are submitted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ..campaign import Campaign
from ..launch import Interrupts, SideCommands, base_environment, resolve_all


def build_once(
    campaign: Campaign, folder: Path, interrupts: Interrupts, say: Callable[[str], object]
) -> None:
    """Build every variant on this host, with the logs in `folder`.

    Raises
    ------
    LaunchError
        If a step fails, or a program is missing afterwards.
    Interrupted
        If a signal came.
    """
    environment = base_environment(campaign.isolation, os.environ)
    commands = SideCommands(None, interrupts)
    try:
        for build in campaign.builds:
            say(f"build   {build.variant}")
            commands.build(build, environment, folder, timeout_s=campaign.protocol.build_timeout_s)
    finally:
        commands.close()
    resolve_all(campaign, environment)
