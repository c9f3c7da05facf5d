"""Where the campaigns of trials lie with their files, and the packing of each, once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import UsageError
from ...record import CAMPAIGN, Manifest
from ...report import Caution
from .about import ABOUT, About, read_about
from .campaign import Wanted, pack_campaign
from .gathering import Gathered
from .request import Request
from .staging import Staging

__all__ = ["pack_campaigns"]


def pack_campaigns(
    request: Request,
    found: Sequence[Gathered],
    staging: Staging,
    *,
    named: About | None,
    output: Path,
) -> tuple[list[Gathered], About, list[Caution]]:
    """Pack the campaign of each trial, once where several trials share it."""
    campaigns = {one.manifest.campaign_sha256 for one in found if one.manifest is not None}
    if request.campaign is not None and len(campaigns) > 1:
        raise UsageError(
            "the trials are of different campaigns, and one file is named for them",
            str(request.campaign),
            "leave out --campaign, or pack each campaign's trials on their own",
        )
    cautions: list[Caution] = []
    packed: dict[tuple[str, str], str | None] = {}
    about = named
    avoid = frozenset(os.path.realpath(path) for path in (output, *(one.origin for one in found)))
    told: list[Gathered] = []
    for one in found:
        if one.manifest is None:
            told.append(one)
            continue
        folder, caution = _folder_of(one, one.manifest, request)
        if caution is not None:
            cautions.append(caution)
        beside = None if folder is None else folder / ABOUT
        its = named or (read_about(beside) if beside is not None and beside.is_file() else About())
        about = about or its
        key = (str(folder), one.manifest.campaign_sha256)
        if key not in packed or folder is None:
            packed[key] = pack_campaign(
                Wanted(
                    trial=one.origin,
                    manifest=one.manifest,
                    folder=folder,
                    root=f"campaigns/{one.source.name}",
                    about=its,
                    binaries=request.binaries,
                    avoid=avoid,
                ),
                staging,
            )
        told.append(replace(one, source=replace(one.source, campaign=packed[key])))
    if about is None or about.path is None:
        where = "beside the campaign" if told and any(one.manifest for one in told) else "named"
        staging.miss(ABOUT, f"none is {where}: title, authors, licence and DOI are not known")
    return told, about or About(), cautions


def _folder_of(
    one: Gathered, manifest: Manifest, request: Request
) -> tuple[Path | None, Caution | None]:
    """Find where a campaign lies with its files; say so if its file is another one by now."""
    file = request.campaign or Path(manifest.campaign_path)
    try:
        # where it lay is a whole path; another one would depend on who packs, and where
        there = file.is_file() and (file.is_absolute() or request.campaign is not None)
        stored = one.origin / CAMPAIGN
        same = there and stored.is_file() and file.read_bytes() == stored.read_bytes()
    except OSError:
        there = same = False
    if not there:
        if request.campaign is not None:
            raise UsageError("there is no such campaign", str(file), "name its file")
        return (None if request.about is None else request.about.parent), None
    if same:
        return file.parent, None
    what = f"{file} is not what was measured any more; the trial's own copy is packed"
    return file.parent, Caution("campaign-changed", what, (one.source.name,))
