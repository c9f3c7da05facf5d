"""A named folder in which a trial may begin: absent, empty, or left by a start without any run."""

from __future__ import annotations

import os
from pathlib import Path

from analysis.record import CAMPAIGN, MANIFEST, read_manifest

from ...campaign import campaign_name
from ...errors import CampaignError, StoreError
from ...store import holds_only_a_start


def begins_there(folder: Path, campaign: str) -> bool:
    """Tell whether a new trial of a campaign may begin in a folder: nothing was measured there.

    Parameters
    ----------
    folder : Path
        Absent, empty, or a trial of that campaign without any row, such as one that was killed
        while it built its programs. Everything else is no place for a new trial.
    campaign : str
        The campaign's name.
    """
    if not os.path.lexists(folder):
        return True
    try:
        if not holds_only_a_start(folder):
            return False
        if (folder / MANIFEST).exists():
            manifest = read_manifest(folder)
            return manifest.origin == "measured" and manifest.campaign_name == campaign
        # killed while it was made: the manifest comes last, the campaign's text before it
        text = folder / CAMPAIGN
        if not text.exists() or not text.stat().st_size:
            kept = (path for path in folder.rglob("*") if not path.is_dir())
            return not any(path.parent != folder or path.stat().st_size for path in kept)
        return campaign_name(text) == campaign
    except (OSError, StoreError, CampaignError):
        return False  # whoever reads it as a trial says why
