"""The profiles that lie beside packed trials: in a bundle where they are wanted, listed where they are not."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...importers.trials import is_file
from ...record.manifest import read_manifest
from ...record.profiles import BESIDE, PROFILE, SAMPLES, TIMED, profiles_of
from ...record.trial_files import MANIFEST
from .gathering import copy_records, is_kind, plain_files, strays

if TYPE_CHECKING:
    from pathlib import Path

    from .gathering import CopiedSource, Staging

__all__ = ["pack_profiles"]


def pack_profiles(
    found: Sequence[CopiedSource], staging: Staging, *, wanted: bool
) -> list[CopiedSource]:
    """Copy the profiles of all trials, or say that they are left out.

    Raises
    ------
    UsageError
        If they are wanted, and no trial has one.
    StoreError
        If a file is damaged, or cannot be copied.
    """
    packed = []
    for one in found:
        profiled = False
        beside = profiles_of(one.origin)
        if one.manifest is not None and os.path.lexists(beside):
            place = f"{one.source.path}{BESIDE}"
            if not is_kind(str(beside), stat.S_ISDIR):
                staging.miss(f"{place}/", "it is a link, or no folder")
            elif wanted:
                profiled = _copied(beside, place, staging)
            else:
                staging.miss(f"{place}/", "profiles are packed on request only: --why")
        packed.append(replace(one, profiled=profiled))
    if wanted and not any(one.profiled for one in packed):
        raise UsageError(
            "no profile lies beside what is packed",
            " ".join(given for one in found for given in one.given),
            "leave out --why, or record one: fairtrial why TRIAL",
        )
    return packed


def _copied(profiles: Path, place: str, staging: Staging) -> bool:
    """Copy each profile: its files, and its timed runs as the trial that they are; tell whether there is one."""
    found = False
    for folder in sorted(profiles.iterdir()):
        if folder.name.startswith(".") or not is_kind(str(folder), stat.S_ISDIR):
            staging.miss(f"{place}/{folder.name}", "it is no finished profile")
            continue
        found = True
        inside, timed = f"{place}/{folder.name}", folder / TIMED
        known = plain_files(folder, (PROFILE, SAMPLES))
        for file in sorted(known):
            staging.copy(f"{inside}/{file}", folder / file)
        if is_file(str(timed / MANIFEST)):
            files = copy_records(timed, f"{inside}/{TIMED}", read_manifest(timed), staging)
            known |= {f"{TIMED}/{file}" for file in files}
        for file in sorted(strays(folder, known)):
            if not file.startswith(f"{TIMED}/"):  # those are listed already
                staging.miss(f"{inside}/{file}", "it is in the profile's folder and not part of it")
    return found
