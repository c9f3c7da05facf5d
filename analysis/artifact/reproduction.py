"""What came out, in words: the answer first, then each claim, each result, and where they differ."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..pages.model import (
    Block,
    Cell,
    Column,
    CommandLine,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    page_of,
    table_of,
)
from ..pages.result import Result
from ..words import shorten, shown
from .contents import line_of
from .rerun import Rerun, RerunTrial

if TYPE_CHECKING:
    from .archive import Archive
    from .contents import Contents, Missing, RedactionRecord
    from .reproduction_documents import Difference, DocumentComparison, OtherVersion

# --- What checking an artifact gives, number by number and claim by claim, and towards which badges.
#
# Source: ACM, "Artifact Review and Badging", version 1.1, August 24, 2020. A badge is given by people;
# here stands what they need not look at again, and what is left to them.


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


_LISTED = 10  # differences of a result that a page names
_COMMAND = 60
_TEXT = 34


_AMISS = {
    "different": "is not what was stored",
    "failed": "gives no answer",
    "stopped": "was not computed to its end",
}


@page_of.register(Reproduction)
def _reproduction_page(found: Reproduction) -> Page:
    sections = [Section(tuple(Sentence(text) for text in _answer(found)))]
    if found.claims:
        sections.append(Section(tuple(_claims(found)), "claims"))
    if found.results:
        sections.append(Section((_results(found),), "stored results"))
    sections += [
        Section(tuple(_differences(one)), f"{one.name} {_AMISS[one.standing]}")
        for one in found.all
        if one.standing in {"different", "failed", "stopped"}
    ]
    return Page(
        title=f"Artifact {shown(Path(found.bundle).name)}",
        sections=tuple(sections),
        cautions=found.cautions,
        following=(Section(tuple(_next(found))),) if found.measurable else (),
    )


@page_of.register(Rerun)
def _rerun_page(found: Rerun) -> Page:
    several = len(found.trials) > 1
    sections: list[Section] = []
    following: list[Section] = []
    if several:
        words = "; ".join(f"{shown(one.name)} {one.word}" for one in found.trials)
        sections.append(Section((Sentence(f"{found.word}: {words}"),)))
    for one in found.trials:
        title = shown(one.name) if several else ""
        if one.comparison is None:
            why = Sentence(f"cannot tell: {shown(one.reason or '')}")
            sections.append(Section((why,), title))
            continue
        page = page_of(one.comparison)
        sections += [Section(page.sections, title)] if several else page.sections
        following += page.following
    told = f"both trials and their joint report are in one folder: {shown(found.folder)}/rerun.html"
    following += [Section(tuple(_more(one))) for one in found.trials if one.word == "cannot tell"]
    last = Section((Sentence(told),))
    return Page(
        title=f"{shown(found.bundle)}, measured again",
        sections=tuple(sections),
        cautions=found.cautions,
        following=(*following, last),
    )


def _more(one: RerunTrial) -> Iterator[Block]:
    """Say how more sessions are measured, where that may tell."""
    more = one.more_sessions
    known = "more sessions may tell" if more is None else f"{more} more would probably tell"
    yield Sentence(f"to add sessions ({known}), and compare again:")
    campaign, old, new = (shown(shlex.quote(text)) for text in (one.campaign, one.old, one.new))
    yield CommandLine(f"fairtrial run {campaign} --resume --trial {new} --sessions +{more or 2}")
    yield CommandLine(f"fairtrial diff {old} {new}")


def review_page(found: Reproduction) -> Page:
    """Fill the page for a review form: what was shown for each badge, and what the reviewer decides."""
    page = page_of(found)
    answer, *rest = page.sections
    lines = [
        ("artifact", f"{shown(Path(found.bundle).name)}, identity {found.identity}"),
        ("title", shown(found.title or "not said")),
        ("DOI", shown(found.doi or "not said")),
        ("licence", shown(found.license or "not said")),
        ("packed by", f"fairtrial {shown(found.packed_by)}"),
        ("checked by", f"fairtrial {found.tool_here}"),
        ("result", {"within": "the same within 1e-9"}.get(found.outcome, found.outcome)),
    ]
    left = (Column("", "left"), Column("", "left"))
    about = Table(name="about", columns=left, rows=tuple(lines), headed=False)
    badges = table_of(
        "badges",
        found.badges,
        ("<badge", "badge"),
        ("<shown by this check", lambda one: "; ".join(one.shown) or "nothing"),
        ("<left to the reviewer", lambda one: "; ".join(one.open)),
    )
    return Page(
        title=page.title,
        sections=(Section((about, *answer.blocks, badges)), *rest),
        cautions=page.cautions,
        following=page.following,
    )


def _answer(found: Reproduction) -> Iterator[str]:
    size = f"{found.files:,} files, {found.bytes:,} bytes"
    yield f"{shown(Path(found.bundle).name)} is whole: {size}, each with the checksums that it lists"
    if found.outcome == "nothing stored":
        yield "no result is stored in it: there is nothing to compute again"
        return
    if found.analyses:
        yield f"computed again from its raw rows: {_numbers(found)}{_because(found)}"
    if found.report is not None:
        stated = any(one.grade == "surroundings" for one in found.report.differences)
        but = ", but for the versions that it states" * (stated and found.report.holds)
        yield f"the report {_REPORT[found.report.standing]}{but}"
    others = [shown(one.name) for one in found.documents if not one.holds]
    if others:
        verb = "says" if len(others) == 1 else "say"
        yield f"{' and '.join(others)} {verb} something else than what comes out"
    if found.claims:
        wrong = [one for one in found.claims if not one.holds]
        if wrong:
            which = ", ".join(str(one.number) for one in wrong)
            verb = "does" if len(wrong) == 1 else "do"
            yield f"{len(wrong)} of {_counted(len(found.claims), 'claim')} {verb} not hold: {which}"
        else:
            many = len(found.claims)
            yield "the claim holds" if many == 1 else f"all {many:,} claims hold"


_REPORT = {
    "same bytes": "made again has the same bytes",
    "within": "made again is the same within 1e-9",
    "different": "made again is another one",
    "failed": "cannot be made again",
    "stopped": "was not made again: a limit was reached",
}


def _numbers(found: Reproduction) -> str:
    numbers, count = found.numbers, _counted(len(found.analyses), "stored result")
    bad = sum(not one.holds for one in found.analyses)
    if bad:
        return (
            f"{bad} of {count} {'comes' if bad == 1 else 'come'} out differently; "
            f"{numbers['different']:,} of {numbers['numbers']:,} numbers differ by more than 1e-9"
        )
    if all(one.standing == "same bytes" for one in found.analyses):
        return f"all {numbers['numbers']:,} numbers of {count} are the same bytes"
    return (
        f"{numbers['same']:,} of {numbers['numbers']:,} numbers of {count} are the same, the other "
        f"{numbers['near']:,} the same within 1e-9"
    )


def _because(found: Reproduction) -> str:
    """Say what may be the reason where something is not the same."""
    if all(one.standing == "same bytes" for one in found.analyses):
        return ""
    if found.other_versions:
        return f"; other versions here: {_versions(found.other_versions)}"
    return "; all versions are the same, so this is another processor, or another text was stored"


def _versions(others: tuple[OtherVersion, ...]) -> str:
    return ", ".join(
        f"{shown(one.name)} {shown(one.packed or 'none')} -> {one.here or 'none'}" for one in others
    )


def _claims(found: Reproduction) -> Iterator[Block]:
    yield Table(
        name="claims",
        columns=(
            *(Column(""), Column("", "left"), Column("value now")),
            *(Column("claimed", "left"), Column("claim", "left")),
        ),
        rows=tuple(
            (
                Value(str(one.number), one.number),
                {True: "holds", False: "FAILS", None: "no value"}[one.holds],
                _value(one.now),
                f"{_RELATIONS.get(one.relation, one.relation)} {_text(one.expected)}"
                + (f", to {one.digits} digits" if one.digits is not None else ""),
                shorten(shown(one.text), 60),
            )
            for one in found.claims
        ),
        notes=tuple(_why(one) for one in found.claims),
    )


_RELATIONS = {"at_least": "at least", "at_most": "at most", "equals": "is", "word": "is"}


def _why(one: ClaimCheck) -> str:
    where = f"{shown(one.value)} of fairtrial {line_of(one.command)}"
    if one.holds:
        return ""
    moved = "" if one.packed == one.now else f"; {_text(one.packed)} when it was packed"
    return f"{shown(one.reason) + '; ' if one.reason else ''}{where}{moved}"


def _results(found: Reproduction) -> Table:
    heads = ("numbers", "same", "within 1e-9", "different")
    left = (Column("", "left"), Column("", "left"))
    rows: list[tuple[Cell, ...]] = []
    for one in found.results:
        counts = (one.numbers, one.same, one.near, one.different)
        values = (Value(f"{count:,}", count) for count in counts)
        command = shorten(line_of(one.command), _COMMAND)
        rows.append((shorten(shown(one.name), 24), one.standing, *values, command))
    columns = (*left, *map(Column, heads), Column("fairtrial", "left"))
    return Table(name="results", columns=columns, rows=tuple(rows))


def _differences(one: Recomputation) -> Iterator[Block]:
    if one.command:
        yield CommandLine(f"fairtrial {line_of(one.command)}")
    if one.reason is not None:
        yield Sentence(shown(one.reason))
    wrong = [each for each in one.differences if each.grade == "different"]
    if wrong:
        yield _table(one, wrong[:_LISTED])
    left = len(wrong) - _LISTED + one.not_listed
    if left > 0:
        yield Sentence(f"and {left:,} more places: see --json, or {shown(one.result)}")


def _table(one: Recomputation, wrong: list[Difference]) -> Table:
    return table_of(
        f"differences-of-{shown(one.name)}",
        wrong,
        ("<where", lambda each: shorten(shown(each.pointer), 44)),
        ("stored", lambda each: "none" if each.kind == "added" else _value(each.stored)),
        ("now", lambda each: "none" if each.kind == "missing" else _value(each.recomputed)),
        ("by", "relative", lambda share: f"{100 * share:.2g} %", ""),
    )


def _next(found: Reproduction) -> Iterator[Block]:
    yield Sentence("to measure it again on this machine, and compare the conclusions:")
    yield CommandLine(f"fairtrial reproduce --rerun {shown(shlex.quote(found.bundle))}")


def _value(value: Any) -> Cell:  # noqa: ANN401 - JSON
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Value(_text(value), value)
    return _text(value)


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return shorten(shown(value), _TEXT)
    if isinstance(value, int | float) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):  # a whole number that no double can be
            return f"{value:.10g}"
    return shorten(json.dumps(value), _TEXT)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
