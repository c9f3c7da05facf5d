"""What a bundle's page and its crate tell, from its description and its files alone.

The packer writes it, and whoever checks a bundle makes it anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ...errors import StoreError
from ...record import RESOLVED, read_manifest
from ..claims import StoredClaim
from ..contents import BundleSource, Contents
from ..executed import executed_lines
from .documents import Told, crate_text, readme_text
from .wheel import WHEEL

__all__ = ["README", "crate_of", "page_of_bundle"]

README = "README.md"
_WHEEL = f"software/{WHEEL}"


def page_of_bundle(
    contents: Contents, claims: Sequence[StoredClaim], description: str | None, root: Path
) -> bytes:
    """Give the bytes of ``README.md``.

    Parameters
    ----------
    contents : Contents
        The bundle's description of itself; of its files only the wheel is looked at.
    claims : sequence of StoredClaim
        With what was found.
    description : str or None
        What the authors say of the work.
    root : Path
        The bundle's folder, with the trials in it.
    """
    told = Told(
        metadata=contents.metadata,
        description=description,
        sources=contents.sources,
        analyses=contents.analyses,
        report=contents.report,
        claims=claims,
        smoke=contents.smoke,
        whole=_whole(contents.sources, root),
        needs=contents.needs,
        container=contents.container,
        missing=contents.missing,
        redacted=contents.redacted,
        executed=_executed(contents.sources, root),
        python=contents.python,
        wheel=_wheel(contents),
    )
    return readme_text(told).encode("utf-8", "backslashreplace")


def crate_of(contents: Contents, description: str | None, day: str | None) -> bytes:
    """Give the bytes of the crate, with words of its own where the authors have none.

    Parameters
    ----------
    contents : Contents
        With the files that the crate lists.
    description : str or None
        What the authors say of the work.
    day : str or None
        Of publication.
    """
    names = ", ".join(one.name for one in contents.sources)
    return crate_text(
        name=contents.metadata.title or f"Artifact: {names}",
        description=description
        or "Raw measurements, what was measured, and every result with the command that gives it.",
        date=day,
        metadata=contents.metadata,
        files=contents.files,
        analyses=contents.analyses,
        wheel=_wheel(contents),
        python=contents.python,
    )


def _wheel(contents: Contents) -> str | None:
    return _WHEEL if _WHEEL in contents.files else None


def _executed(sources: Sequence[BundleSource], root: Path) -> list[str]:
    """Give the commands of all campaigns that can be measured again, each once."""
    found: dict[str, None] = {}
    for source in sources:
        resolved = root / source.path / RESOLVED
        if source.campaign is not None and resolved.is_file():  # the first version stored none
            try:
                stored = json.loads(resolved.read_bytes())
                found |= dict.fromkeys(executed_lines(stored["campaign"]))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise StoreError(
                    "what the campaign came to cannot be read",
                    f"{source.name}/{RESOLVED}",
                    "restore the file from a copy of the trial",
                ) from error
    return list(found)


def _whole(sources: Sequence[BundleSource], root: Path) -> list[tuple[str, ...]]:
    """Give the commands that measure all trials again: the command line may have changed the file's."""
    found: list[tuple[str, ...]] = []
    for one in sources:
        if one.kind == "trial" and one.campaign is not None:
            manifest = read_manifest(root / one.path)
            numbers = ("--sessions", str(manifest.sessions), "--seed", str(manifest.seed))
            found.append(("run", one.campaign, *numbers))
    return found
