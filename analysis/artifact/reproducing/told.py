"""What a bundle tells of itself, held against what comes out: its page, its claims, its citation.

These files are made of the results. So they are made anew, of the results as they come out here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import FairtrialError
from ...version import VERSION
from ..archive import Archive
from ..claims import StoredClaim, claims_text, read_stored_claims
from ..contents import BUNDLE, SUMS, Contents
from ..packing.documents import CRATE, citation_text
from ..packing.telling import README, crate_of, page_of_bundle
from .documents import compare_documents
from .result import ClaimCheck, Recomputation

__all__ = ["UNHELD", "held_documents"]

_CITATION = "CITATION.cff"
UNHELD = (README, CRATE)  # of another version of fairtrial they are other texts


def held_documents(
    archive: Archive, contents: Contents, folder: Path, checks: Sequence[ClaimCheck]
) -> Iterator[Recomputation]:
    """Give each file that tells of the results, beside what it would be here.

    Parameters
    ----------
    archive, contents, folder : Archive, Contents, Path
        A checked bundle, and where it is unpacked.
    checks : sequence of ClaimCheck
        Its claims with the values that come out.
    """
    claims: Sequence[StoredClaim] = ()
    if contents.claims is not None:
        stored = read_stored_claims(archive.read(contents.claims), str(archive.path))
        claims = [_now(one, check) for one, check in zip(stored, checks, strict=True)]
        yield _held(archive, contents.claims, claims_text(claims))
    citation = citation_text(contents.metadata)
    if _CITATION in archive.entries:
        yield _held(archive, _CITATION, b"" if citation is None else citation.encode())
    if contents.tool_version != VERSION:
        return
    root = _root(archive)
    description = root.get("description")
    described = description if isinstance(description, str) else None
    day = root.get("datePublished")
    listed = {
        name: one for name, one in contents.files.items() if name not in {CRATE, BUNDLE, SUMS}
    }
    if CRATE in archive.entries:
        told = crate_of(
            replace(contents, files=listed), described, day if isinstance(day, str) else None
        )
        yield _held(archive, CRATE, told)
    if README in archive.entries:
        try:
            # the crate has a description also where the authors gave none; the page has none then
            pages = [page_of_bundle(contents, claims, one, folder) for one in (described, None)]
        except (FairtrialError, OSError) as error:
            yield Recomputation(
                name=README, command=(), result=README, standing="failed", reason=str(error)
            )
            return
        both = [_held(archive, README, page) for page in pages]
        yield both[1] if both[1].holds else both[0]


def _now(stored: StoredClaim, check: ClaimCheck) -> StoredClaim:
    """Give a claim as it would be stored now; as it was, where no value came out."""
    if check.holds is None:
        return stored
    return replace(stored, found=check.now, holds=check.holds)


def _root(archive: Archive) -> dict[str, Any]:
    """Give what the crate says of the whole; nothing where it is none."""
    if CRATE not in archive.entries:
        return {}
    try:
        graph = json.loads(archive.read(CRATE))["@graph"]
        return next(dict(one) for one in graph if one.get("@id") == "./")
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, StopIteration):
        return {}


def _held(archive: Archive, name: str, fresh: bytes) -> Recomputation:
    found = compare_documents(archive.read(name), fresh, same_tool=True)
    return Recomputation(
        name=name,
        command=(),
        result=name,
        standing=found.grade,
        numbers=found.numbers,
        same=found.same,
        near=found.near,
        different=found.different,
        differences=found.differences,
        not_listed=found.not_listed,
    )
