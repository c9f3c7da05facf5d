"""The campaign of a trial as it was measured: the trial's copy, read where its file lay."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import FairtrialError, UsageError
from analysis.record.shapes import opened
from analysis.record.trial_files import CAMPAIGN

from ..campaign.identity import identity_of
from ..campaign.load import load_campaign
from ..errors import HostError
from ..trial.resume import defaults_of

if TYPE_CHECKING:
    from analysis.record.trial_files import Manifest

    from ..campaign.model import Campaign

_NONE_TO_EXECUTE = {
    "imported": "it was imported from files of another tool, which say no command",
    "merged": "it was put together from others: name one of those",
}


def campaign_then(trial: Path, manifest: Manifest) -> Campaign:
    """Load the campaign of a trial; whoever has changed its file since changes nothing here.

    It is the trial's copy; where the trial went on under a change that was accepted, it is the file, if that still
    holds the campaign of then.

    Raises
    ------
    UsageError
        If the trial was not measured here: it has nothing that could be executed again.
    HostError
        If the folder is gone at which the campaign's paths start.
    """
    why = _NONE_TO_EXECUTE.get(manifest.origin)
    if why is not None:
        fix = "--stored shows what was found where it was measured"
        raise UsageError(f"nothing of this trial can be executed again: {why}", str(trial), fix)
    source = Path(manifest.campaign_path)
    if not source.parent.is_dir():
        what = f"the campaign's folder is gone, where its programs lie: {source.parent}"
        raise HostError(what, str(trial), "put it back, or measure a new trial and ask that one")
    defaults, own = defaults_of(trial, manifest)
    with opened(trial / CAMPAIGN) as file:
        text = file.read()
    loaded = functools.partial(
        load_campaign, source, seed=manifest.seed, defaults=defaults, own=own
    )
    found = loaded(text=text)
    if identity_of(found, manifest.campaign_identity) != manifest.campaign_sha256:
        with contextlib.suppress(FairtrialError):
            accepted = loaded()
            if identity_of(accepted, manifest.campaign_identity) == manifest.campaign_sha256:
                return accepted
    return found
