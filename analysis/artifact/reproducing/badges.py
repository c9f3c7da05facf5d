"""What a check has shown towards the badges that conferences give to artifacts.

Source: ACM, "Artifact Review and Badging", version 1.1, August 24, 2020. A badge is given by people;
here stands what they need not look at again, and what is left to them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..archive import Archive
from ..contents import Contents
from .result import BadgeShown, ClaimCheck, Recomputation

__all__ = ["SOURCE", "badges_of"]

SOURCE = "ACM, Artifact Review and Badging, version 1.1, 2020"


def badges_of(
    archive: Archive,
    contents: Contents,
    results: Sequence[Recomputation],
    claims: Sequence[ClaimCheck],
) -> tuple[BadgeShown, ...]:
    """Say for each badge what was shown, and what is left open.

    Parameters
    ----------
    archive, contents : Archive, Contents
        A bundle that was checked.
    results : sequence of Recomputation
        Its stored results, computed anew.
    claims : sequence of ClaimCheck
        Its claims, held against those.
    """
    doi = contents.metadata.doi
    return (
        BadgeShown(
            badge="available",
            shown=(f"the bundle names the DOI {doi}",) if doi else (),
            open=(
                "whether it lies in a public archive that keeps it: nothing was fetched here"
                if doi
                else "the bundle names no DOI; whether it lies in a public archive that keeps it",
            ),
        ),
        _functional(archive, contents, results),
        _reusable(archive, contents),
        _reproduced([one for one in results if not one.is_page], claims),
        BadgeShown(
            badge="replicated",
            shown=(),
            open=("needs a study without the authors' artifacts, which no check of them can be",),
        ),
    )


def _functional(
    archive: Archive, contents: Contents, results: Sequence[Recomputation]
) -> BadgeShown:
    answered = sum(one.standing != "failed" for one in results)
    count = len(archive.entries)
    shown = [f"all {count:,} files are whole: each has the checksums that the bundle lists"]
    if "README.md" in archive.entries:
        shown.append("it is documented by a README.md")
    if results:
        shown.append(f"{answered} of {len(results)} commands gave an answer here")
    lacks = [f"the bundle says that it lacks {one.what}: {one.why}" for one in contents.missing]
    if any(source.campaign for source in contents.sources):
        lacks.append("whether it can be measured again: fairtrial reproduce --rerun tries it")
    else:
        lacks.append("it holds no campaign, so nothing can be measured again")
    return BadgeShown(badge="functional", shown=tuple(shown), open=tuple(lacks))


def _reusable(archive: Archive, contents: Contents) -> BadgeShown:
    told = {
        "LICENSE": "a licence"
        + (f" ({contents.metadata.license})" if contents.metadata.license else ""),
        "CITATION.cff": "how it is cited",
        "ro-crate-metadata.json": "a description of each file that machines read (RO-Crate)",
        "software/requirements.txt": "the exact version of every library of the judge",
    }
    shown = [f"it holds {what}: {name}" for name, what in told.items() if name in archive.entries]
    if any(source.campaign for source in contents.sources):
        shown.append("it holds the campaign, from which another experiment can be made")
    lacks = [
        f"it lacks {what}: there is no {name}"
        for name, what in told.items()
        if name not in archive.entries
    ]
    lacks.append("whether what it documents is enough to use it for something else")
    return BadgeShown(badge="reusable", shown=tuple(shown), open=tuple(lacks))


def _reproduced(results: Sequence[Recomputation], claims: Sequence[ClaimCheck]) -> BadgeShown:
    shown = []
    numbers = sum(one.numbers for one in results)
    if numbers:
        good = sum(one.same + one.near for one in results)
        shown.append(
            f"{good:,} of {numbers:,} stored numbers come out of the authors' raw rows here"
        )
    if claims:
        good = sum(bool(one.holds) for one in claims)
        shown.append(f"{good} of {len(claims)} claims hold of what comes out here")
    return BadgeShown(
        badge="reproduced",
        shown=tuple(shown),
        open=(
            "the rows are those that the authors measured; fairtrial reproduce --rerun measures here",
        ),
    )
