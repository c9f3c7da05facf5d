"""Which files the builds of sessions make, as far as their campaign tells: they are others in each session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .model import Campaign, Each


@dataclass(frozen=True, slots=True)
class SessionBuilds:
    """Of each variant that each session builds: the files and folders in which lies what its build makes.

    That are its `artifacts`, the programs that its commands name by a path of the campaign (``build/prog``), and
    all below the campaign's folder and the build's. A program of the host (``/usr/bin/python3``) is made by nobody.
    """

    places: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, campaign: Campaign, each: Each = "session") -> SessionBuilds:
        """Take them from a loaded campaign; nothing is looked for on the disk but where links lead.

        With `each` "campaign" they are those of the builds that are made once for all sessions.
        """
        found: dict[str, set[Path]] = {}
        for build in campaign.builds:
            if build.each == each:
                found[build.variant] = {campaign.source.parent, build.cwd, *build.artifacts}
        for cell in campaign.cells:
            name = cell.command.argv[0]
            if cell.variant in found and "/" in name and not Path(name).is_absolute():
                found[cell.variant].add(cell.cwd / name)
        return cls({variant: frozenset(map(_real, paths)) for variant, paths in found.items()})

    def __bool__(self) -> bool:
        return bool(self.places)

    def made(self, path: Path, variant: str) -> bool:
        """Tell whether the build of a variant makes the file, in each session anew."""
        real = Path(_real(path))
        places = self.places.get(variant, frozenset())
        return any(str(place) in places for place in (real, *real.parents))


def _real(path: Path) -> str:
    return os.path.realpath(path)
