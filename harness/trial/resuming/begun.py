"""A trial that has begun, and its campaign with the defaults that held then."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from analysis.record import MANIFEST, RESOLVED, Manifest, opened, read_manifest

from ...campaign import (
    RULE,
    Campaign,
    OwnDefaults,
    Table,
    campaign_name,
    first_defaults,
    load_campaign,
    stored_defaults,
    stored_own_defaults,
)
from ...errors import StoreError
from .resumption import refuse_imported, trial_to_resume
from .trials import trials_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A trial to go on with, and its campaign as the version that began it would read it now.

    `sessions` is how many there are to be in all; `passed_over` says which folders may hold a
    newer trial of the campaign that cannot be read.
    """

    path: Path
    manifest: Manifest
    campaign: Campaign
    sessions: int
    passed_over: tuple[StoreError, ...] = ()


def trial_begun(
    file: Path,
    folder: Path,
    *,
    named: Path | None = None,
    sessions: int | None = None,
    more: int = 0,
    seed: int | None = None,
) -> Begun:
    """Find the trial to go on with, and read the campaign file under the defaults of then.

    Parameters
    ----------
    file : Path
        The campaign.
    folder : Path
        The folder of trials.
    named : Path, optional
        The trial; otherwise it is the newest unfinished one.
    sessions : int, optional
        How many there are to be in all, if these are more than the trial has.
    more : int, optional
        How many are added to those that are planned.
    seed : int, optional
        In place of the trial's.

    Raises
    ------
    FairtrialError
        If there is no such trial, or if it or the file cannot be used.
    """
    if (file / MANIFEST).is_file():
        refuse_imported(file, read_manifest(file))  # else the file is missed, not the reason told
    name = campaign_name(file)
    path, manifest = trial_to_resume(folder, name, named)
    defaults, own = defaults_of(path, manifest)
    return Begun(
        path=path,
        manifest=manifest,
        campaign=load_campaign(
            file,
            seed=manifest.seed if seed is None else seed,  # it may not be the file's
            defaults=defaults,
            own=own,
        ),
        sessions=max(manifest.sessions, sessions or 0) + more,
        passed_over=trials_in(folder, name).unreadable if named is None else (),
    )


def defaults_of(path: Path, manifest: Manifest) -> tuple[Table, OwnDefaults]:
    """Give the defaults with which a trial began, and those of the person who began it.

    Raises
    ------
    StoreError
        If a later version began it, or if what it stored of them is not there.
    """
    if manifest.campaign_identity == 1:
        return first_defaults(), OwnDefaults()
    if manifest.campaign_identity > RULE:
        raise StoreError(
            f"the campaign's identity is made by rule {manifest.campaign_identity}, and {RULE} is "
            "the newest known here",
            str(path / MANIFEST),
            "use the fairtrial version that wrote it, or a newer one",
        )
    try:
        with opened(path / RESOLVED) as file:
            text = file.read()
        digest = hashlib.sha256(text).hexdigest()
        if manifest.files.get(RESOLVED, digest) != digest:  # of a killed trial none is known
            raise ValueError("it has changed since the trial ended")
        return stored_defaults(text), OwnDefaults(values=stored_own_defaults(text))
    except (OSError, ValueError, StoreError) as error:
        reason = getattr(error, "what", None) or getattr(error, "strerror", None) or str(error)
        raise StoreError(
            f"the defaults with which the trial began cannot be read: {reason}",
            str(path / RESOLVED),
            "restore the file from a copy, or start a new trial",
        ) from error
