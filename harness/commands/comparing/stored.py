"""The commands of a comparison that is stored: its campaign's description is the command line that measured it."""

from __future__ import annotations

import shlex
from pathlib import Path

from analysis.errors import StoreError
from analysis.record.manifest import read_manifest
from analysis.record.shapes import RESTORE
from analysis.record.trial_files import CAMPAIGN
from analysis.words import shown

from ...campaign.load import load_campaign
from ...campaign.model import Campaign
from .scan import WantedCommand, named_variants


def stored_commands(trial: Path) -> tuple[tuple[WantedCommand, ...], tuple[str, ...]]:
    """Give the commands of a comparison's trial as they were typed, and the words that measure them anew.

    A trial whose description was changed gives its arguments, set as a shell would read them.
    """
    manifest = read_manifest(trial)
    campaign = load_campaign(trial / CAMPAIGN, seed=manifest.seed)
    words = _words(campaign)
    typed = _typed(words, len(manifest.variants))
    if typed is not None and tuple(one.variant for one in typed) == manifest.variants:
        return typed, words[2:]
    found = {cell.variant: shlex.join(cell.command.argv) for cell in campaign.cells}
    if lacking := [name for name in manifest.variants if name not in found]:
        what = f"its manifest names commands that its campaign has not: {', '.join(map(shown, lacking))}"
        raise StoreError(what, str(trial), RESTORE)
    wanted = tuple(WantedCommand(command=found[name], variant=name) for name in manifest.variants)
    return wanted, tuple(one.command for one in wanted)


def _words(campaign: Campaign) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(campaign.description))
    except ValueError:
        return ()


def _typed(words: tuple[str, ...], count: int) -> tuple[WantedCommand, ...] | None:
    """Take the commands and names from the end of a command line; None where it is none of ours."""
    if words[:2] != ("fairtrial", "compare") or len(words) < 2 + count:
        return None
    names = [words[k + 1] for k, word in enumerate(words[:-count]) if word == "-n"]
    given = names if len(names) == count else [None] * count
    commands = words[-count:]
    return named_variants(
        [
            WantedCommand(command=command, name=name)
            for command, name in zip(commands, given, strict=True)
        ]
    )
