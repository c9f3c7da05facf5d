"""What `bundle` says of the archive that it wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ...report import Result, plain
from ..claims import StoredClaim
from ..contents import Contents

__all__ = ["Bundled"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bundled(Result):
    """An archive that was written.

    Attributes
    ----------
    output : str
        The file.
    bytes : int
        Its size.
    sha256 : str
        Of the file, to be published beside it.
    contents : Contents
        What stands in its ``bundle.json``.
    claims : tuple of StoredClaim
        In the author's order, with what was found.
    """

    method: ClassVar[str] = "bundle"
    unlisted: ClassVar[frozenset[str]] = frozenset({"contents", "claims"})

    output: str
    bytes: int
    sha256: str
    contents: Contents
    claims: tuple[StoredClaim, ...] = ()

    @property
    def all_hold(self) -> bool:
        """Whether no claim fails."""
        return all(one.holds for one in self.claims)

    @property
    def whole(self) -> bool:
        """Whether the trials in it have all the records with which they ended."""
        return all(one.code != "record-missing" for one in self.cautions)

    def body(self) -> dict[str, Any]:
        """Give what stands below the head: the archive, and the parts of ``bundle.json`` but its files."""
        found = Result.body(self)
        last = {key: found.pop(key) for key in ("cautions", "caution_codes", "references")}
        contents = self.contents
        return {
            **found,
            "entries": len(contents.files) + 2,
            "sources": plain(contents.sources),
            "analyses": plain(contents.analyses),
            "report": plain(contents.report),
            "claims": [one.to_dict() for one in self.claims],
            "smoke": plain(contents.smoke),
            "needs": plain(contents.needs),
            "container": plain(contents.container),
            "missing": plain(contents.missing),
            "redacted": plain(contents.redacted),
            "metadata": plain(contents.metadata),
            **last,
        }
