"""What checking an artifact gives, number by number and claim by claim, and towards which badges.

Source: ACM, "Artifact Review and Badging", version 1.1, August 24, 2020. A badge is given by people;
here stands what they need not look at again, and what is left to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ...pages.result import Result

if TYPE_CHECKING:
    from ..archive import Archive
    from ..contents import Contents, Missing, RedactionRecord
    from .documents import Difference, DocumentComparison, OtherVersion

Standing = Literal["same bytes", "within", "different", "failed", "stopped"]
Outcome = Literal["same bytes", "within", "differs", "unfinished", "nothing stored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputation:
    """A stored result beside what its command prints now."""

    name: str  # the analysis, the arguments of ``fairtrial``, and the file with the stored result
    command: tuple[str, ...]
    result: str
    # ``same bytes``; ``within``: all numbers the same within 1e-9 and all words the same;
    # ``different``; ``failed``: the command gave no answer; ``stopped``: a limit ended it
    standing: Standing
    # numbers in the stored result, and how many of them are the same, the same within 1e-9, and
    # another or none
    numbers: int = 0
    same: int = 0
    near: int = 0
    different: int = 0
    # every place that is not the same, up to a thousand; `not_listed` counts the others
    differences: tuple[Difference, ...] = ()
    not_listed: int = 0
    exit_code: int = 0  # how the command ended when it was stored, and now; None if it failed now
    exit_code_now: int | None = None
    reason: str | None = None  # why it failed

    @property
    def holds(self) -> bool:
        """Whether what was stored comes out now."""
        return self.standing in {"same bytes", "within"}

    @property
    def is_page(self) -> bool:
        """Whether it is a report, most of whose numbers say where something is drawn."""
        return self.command[:1] in {("report",), ()}


def recomputation_of(found: DocumentComparison, **about: Any) -> Recomputation:  # noqa: ANN401 - its fields
    """Make a recomputation of what a comparison counted, and of the other fields."""
    counts = {one.name: getattr(found, one.name) for one in fields(found) if one.name != "grade"}
    return Recomputation(standing=found.grade, **counts, **about)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCheck:
    """A sentence of a paper, and whether the value that it rests on comes out."""

    number: int  # from 1, in the order of the claims
    text: str  # the sentence
    # the arguments of ``fairtrial``, and the JSON pointer of the value in what it prints
    command: tuple[str, ...]
    value: str
    # ``at_least``, ``at_most``, ``equals`` or ``word``; what the value is held against; to how many
    # digits
    relation: str
    expected: Any
    digits: int | None = None
    # the value in the stored result, and the one that comes out now; None where there is none
    packed: Any = None
    now: Any = None
    # whether the claim holds of the value now; None where there is no value
    holds: bool | None = None
    reason: str | None = None  # why there is none, or why it does not hold
    is_coarse: bool = False  # whether its digits let it hold for half or double of what it expects


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeShown:
    """What was shown here towards a badge of the ACM, and what was not."""

    # ``available``, ``functional``, ``reusable``, ``reproduced`` or ``replicated``
    badge: Literal["available", "functional", "reusable", "reproduced", "replicated"]
    # in sentences: what this check has shown, and what is left to whoever reviews
    shown: tuple[str, ...]
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Reproduction(Result):
    """An artifact, checked and computed anew from its raw rows."""

    method: ClassVar[str] = "reproduce"
    derived: ClassVar[tuple[str, ...]] = ("outcome", "exit_code", "numbers")

    # the file as it was named, the hash of its bytes, and that of its ``SHA256SUMS``: of its contents
    bundle: str
    sha256: str
    identity: str
    title: str | None  # what the bundle says of the work
    doi: str | None
    license: str | None
    packed_by: str  # version of fairtrial that packed it, and the one that answers
    tool_here: str
    files: int  # files whose checksums hold: all of them, or there would be no answer
    bytes: int
    # libraries, Python and fairtrial itself, where their versions differ
    other_versions: tuple[OtherVersion, ...]
    analyses: tuple[Recomputation, ...]  # each stored result, and the report
    report: Recomputation | None
    claims: tuple[ClaimCheck, ...]  # each claim
    # files that tell of the results (``README.md``, ``claims.json``, the citation, the crate),
    # beside what they would be here; without a command
    documents: tuple[Recomputation, ...]
    missing: tuple[Missing, ...]  # what the bundle says that it lacks
    redacted: RedactionRecord | None  # what was taken out before it was packed
    # the trials that came with their campaign, so that they can be measured again
    measurable: tuple[str, ...]
    badges: tuple[BadgeShown, ...]  # what was shown towards each badge

    @property
    def all(self) -> tuple[Recomputation, ...]:
        """Every stored result, and what tells of them."""
        return (*self.results, *self.documents)

    @property
    def results(self) -> tuple[Recomputation, ...]:
        """Every stored result, the report last."""
        return self.analyses if self.report is None else (*self.analyses, self.report)

    @property
    def outcome(self) -> Outcome:
        """The worst of what came out; a claim that does not hold counts as a difference."""
        stopped = {one.command for one in self.all if one.standing == "stopped"}
        results = [one for one in self.all if one.standing != "stopped"]
        claims = [one for one in self.claims if one.command not in stopped]
        if not all(one.holds for one in results) or any(not one.holds for one in claims):
            return "differs"
        if stopped:
            return "unfinished"
        if not self.results:
            return "nothing stored"
        return "same bytes" if all(one.standing == "same bytes" for one in self.all) else "within"

    @property
    def exit_code(self) -> int:
        """What the command ends with: 1 where something differs or a claim fails, 7 where a limit ended it."""
        return {"differs": 1, "unfinished": 7}.get(self.outcome, 0)

    @property
    def numbers(self) -> Mapping[str, int]:
        """Numbers of the stored results, reports aside: how many, and how they came out.

        A page is full of numbers that only say where something is drawn.
        """
        keys = ("numbers", "same", "near", "different")
        results = [one for one in self.analyses if not one.is_page]
        return {key: sum(getattr(one, key) for one in results) for key in keys}


SOURCE = "ACM, Artifact Review and Badging, version 1.1, 2020"


def badges_of(
    archive: Archive,
    contents: Contents,
    results: Sequence[Recomputation],
    claims: Sequence[ClaimCheck],
) -> tuple[BadgeShown, ...]:
    """Say for each badge what was shown, and what is left open."""
    doi = contents.metadata.doi
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
        lacks.append("it contains no campaign, so nothing can be measured again")
    return (
        BadgeShown(
            badge="available",
            shown=(f"the bundle names the DOI {doi}",) if doi else (),
            open=(
                "whether a public archive keeps it: nothing was fetched here"
                if doi
                else "the bundle names no DOI; whether a public archive keeps it",
            ),
        ),
        BadgeShown(badge="functional", shown=tuple(shown), open=tuple(lacks)),
        _reusable(archive, contents),
        _reproduced([one for one in results if not one.is_page], claims),
        BadgeShown(
            badge="replicated",
            shown=(),
            open=("needs a study without the authors' artifacts, which no check of them can be",),
        ),
    )


def _reusable(archive: Archive, contents: Contents) -> BadgeShown:
    told = {
        "LICENSE": "a licence"
        + (f" ({contents.metadata.license})" if contents.metadata.license else ""),
        "CITATION.cff": "how it is cited",
        "ro-crate-metadata.json": "a description of each file that machines read (RO-Crate)",
        "software/requirements.txt": "the version of each library that fairtrial requires",
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
