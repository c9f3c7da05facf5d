"""What checking an artifact gives: what was computed anew, number by number and claim by claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ...report import Result
from ..contents import Missing, RedactionRecord
from .documents import Difference
from .surroundings import OtherVersion

__all__ = ["BadgeShown", "ClaimCheck", "Recomputation", "Reproduction", "Standing"]

Standing = Literal["same bytes", "within", "different", "failed", "stopped"]
Outcome = Literal["same bytes", "within", "differs", "unfinished", "nothing stored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputation:
    """A stored result beside what its command prints now.

    Attributes
    ----------
    name, command, result : str, tuple of str, str
        The analysis, the arguments of ``fairtrial``, and the file with the stored result.
    standing : str
        ``same bytes``; ``within``: all numbers the same within 1e-9 and all words the same;
        ``different``; ``failed``: the command gave no answer; ``stopped``: a limit ended it.
    numbers, same, near, different : int
        Numbers in the stored result, and how many of them are the same, the same within 1e-9, and
        another or none.
    differences : tuple of Difference
        Every place that is not the same, up to a thousand; `not_listed` counts the others.
    exit_code, exit_code_now : int or None
        How the command ended when it was stored, and now; None if it failed now.
    reason : str or None
        Why it failed.
    """

    name: str
    command: tuple[str, ...]
    result: str
    standing: Standing
    numbers: int = 0
    same: int = 0
    near: int = 0
    different: int = 0
    differences: tuple[Difference, ...] = ()
    not_listed: int = 0
    exit_code: int = 0
    exit_code_now: int | None = None
    reason: str | None = None

    @property
    def holds(self) -> bool:
        """Whether what was stored comes out now."""
        return self.standing in {"same bytes", "within"}

    @property
    def is_page(self) -> bool:
        """Whether it is a report, most of whose numbers say where something is drawn."""
        return self.command[:1] in {("report",), ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCheck:
    """A sentence of a paper, and whether the value that it rests on comes out.

    Attributes
    ----------
    number : int
        From 1, in the order of the claims.
    text : str
        The sentence.
    command, value : tuple of str, str
        The arguments of ``fairtrial``, and the JSON pointer of the value in what it prints.
    relation, expected, digits : str, JSON value, int or None
        ``at_least``, ``at_most``, ``equals`` or ``word``; what the value is held against; to how
        many digits.
    packed, now : JSON value
        The value in the stored result, and the one that comes out now; None where there is none.
    holds : bool or None
        Whether the claim holds of the value now; None where there is no value.
    reason : str or None
        Why there is none, or why it does not hold.
    is_coarse : bool
        Whether its digits let it hold for half or double of what it expects.
    """

    number: int
    text: str
    command: tuple[str, ...]
    value: str
    relation: str
    expected: Any
    digits: int | None = None
    packed: Any = None
    now: Any = None
    holds: bool | None = None
    reason: str | None = None
    is_coarse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeShown:
    """What was shown here towards a badge of the ACM, and what was not.

    Attributes
    ----------
    badge : str
        ``available``, ``functional``, ``reusable``, ``reproduced`` or ``replicated``.
    shown, open : tuple of str
        In sentences: what this check has shown, and what is left to whoever reviews.
    """

    badge: Literal["available", "functional", "reusable", "reproduced", "replicated"]
    shown: tuple[str, ...]
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Reproduction(Result):
    """An artifact, checked and computed anew from its raw rows.

    Attributes
    ----------
    bundle, sha256 : str
        The file as it was named, and the hash of its bytes.
    title, doi, license : str or None
        What the bundle says of the work.
    packed_by, tool_here : str
        Version of fairtrial that packed it, and the one that answers.
    files, bytes : int
        Files whose checksums hold: all of them, or there would be no answer.
    other_versions : tuple of OtherVersion
        Libraries, Python and fairtrial itself, where their versions differ.
    analyses, report : tuple of Recomputation, Recomputation or None
        Each stored result, and the report.
    claims : tuple of ClaimCheck
        Each claim.
    documents : tuple of Recomputation
        Files that tell of the results (``README.md``, ``claims.json``, the citation, the crate), beside
        what they would be here; without a command.
    missing : tuple of Missing
        What the bundle says that it lacks.
    redacted : RedactionRecord or None
        What was taken out before it was packed.
    measurable : tuple of str
        The trials that came with their campaign, so that they can be measured again.
    badges : tuple of BadgeShown
        What was shown towards each badge.
    """

    method: ClassVar[str] = "reproduce"
    derived: ClassVar[tuple[str, ...]] = ("outcome", "exit_code", "numbers")

    bundle: str
    sha256: str
    title: str | None
    doi: str | None
    license: str | None
    packed_by: str
    tool_here: str
    files: int
    bytes: int
    other_versions: tuple[OtherVersion, ...]
    analyses: tuple[Recomputation, ...]
    report: Recomputation | None
    claims: tuple[ClaimCheck, ...]
    documents: tuple[Recomputation, ...]
    missing: tuple[Missing, ...]
    redacted: RedactionRecord | None
    measurable: tuple[str, ...]
    badges: tuple[BadgeShown, ...]

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
