"""What a folder of trials holds; a damaged trial in it hides no other."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from analysis.record import CERTIFICATES, MANIFEST, Manifest, is_fleet, read_manifest

from ...errors import StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """What a folder of trials holds: the readable ones, newest first, and why others are not."""

    found: tuple[tuple[Path, Manifest], ...]
    unreadable: tuple[StoreError, ...] = ()


def trials_in(folder: Path, campaign: str | None = None) -> Trials:
    """Look at every folder in `folder`, or at those that are named like trials of a campaign.

    Raises
    ------
    StoreError
        If `folder` is there and cannot be read.
    """
    found, unreadable = [], []
    for path in _folders(folder):
        if campaign is not None and not path.name.startswith(f"{campaign}-"):
            continue
        if is_fleet(path):  # its trials are its own
            continue
        try:
            manifest = read_manifest(path)
        except StoreError as error:
            unreadable.append(error)
            continue
        if campaign in (None, manifest.campaign_name):
            found.append((path, manifest))
    newest = sorted(found, key=lambda item: item[1].started, reverse=True)
    return Trials(found=tuple(newest), unreadable=tuple(unreadable))


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(folder / entry.name for entry in entries if _is_folder(entry))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(
            f"the folder of trials cannot be read: {error.strerror}",
            str(folder),
            "name one that you may read with --dir DIR",
        ) from None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        if entry.name.startswith(".") or not entry.is_dir():
            return False
        return entry.name != CERTIFICATES or os.path.lexists(os.path.join(entry.path, MANIFEST))  # noqa: PTH118 - an entry's path is text
    except OSError:  # a link that leads in a circle
        return False
