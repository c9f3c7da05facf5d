"""What checking an artifact gives, number by number and claim by claim, and what is said of it."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..pages.model import (
    Block,
    Cell,
    CommandLine,
    Page,
    Sentence,
    Table,
    Value,
    page_of,
    section,
    table_of,
)
from ..pages.number_format import counted
from ..pages.result import Result
from ..words import shorten, shown
from .contents import line_of

if TYPE_CHECKING:
    from .contents import Missing, RedactionRecord
    from .reproduction_documents import Difference, OtherVersion

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
    standing: Standing = "failed"
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
    documents: tuple[Recomputation, ...]  # each file that tells of the results
    missing: tuple[Missing, ...]  # what the bundle says that it lacks
    redacted: RedactionRecord | None  # what was taken out before it was packed
    # the trials that came with their campaign, so that they can be measured again
    measurable: tuple[str, ...]

    @property
    def results(self) -> tuple[Recomputation, ...]:
        """Every stored result, the report last."""
        return self.analyses if self.report is None else (*self.analyses, self.report)

    @property
    def outcome(self) -> Outcome:
        """The worst of what came out; a claim that does not hold counts as a difference."""
        stopped = {one.command for one in self.results if one.standing == "stopped"}
        results = [one for one in self.results if one.standing != "stopped"]
        told = all(one.holds for one in self.documents)
        claims = [one for one in self.claims if one.command not in stopped]
        if not (told and all(one.holds for one in results) and all(one.holds for one in claims)):
            return "differs"
        if stopped:
            return "unfinished"
        if not results:
            return "nothing stored"
        return "same bytes" if all(one.standing == "same bytes" for one in results) else "within"

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
        results = [one for one in self.analyses if one.command[:1] != ("report",)]
        return {key: sum(getattr(one, key) for one in results) for key in keys}


_LISTED = 10  # differences of a result that a page names
_TEXT = 34
_AMISS = {
    "different": "is not what was stored",
    "failed": "gives no answer",
    "stopped": "was not computed to its end",
}
_REPORT = {
    "same bytes": "made again has the same bytes",
    "within": "made again is the same within 1e-9",
    "different": "made again is another one",
    "failed": "cannot be made again",
    "stopped": "was not made again: a limit was reached",
}
_RELATIONS = {"at_least": "at least", "at_most": "at most", "equals": "is", "word": "is"}


@page_of.register(Reproduction)
def _reproduction_page(found: Reproduction) -> Page:
    sections = [section(*_answer(found))]
    if found.claims:
        sections.append(section(_claims(found), title="claims"))
    if found.results:
        sections.append(section(_results(found), title="stored results"))
    sections += [
        section(*_differences(one), title=f"{one.name} {_AMISS[one.standing]}")
        for one in (*found.results, *found.documents)
        if one.standing in _AMISS
    ]
    again = section(
        "to measure it again on this machine, and compare the conclusions:",
        CommandLine(f"fairtrial reproduce --rerun {shown(shlex.quote(found.bundle))}"),
    )
    return Page(
        title=f"Artifact {shown(Path(found.bundle).name)}",
        sections=tuple(sections),
        cautions=found.cautions,
        following=(again,) if found.measurable else (),
    )


def _answer(found: Reproduction) -> Iterator[str]:
    size = f"{found.files:,} files, {found.bytes:,} bytes"
    yield f"{shown(Path(found.bundle).name)} is whole: {size}, each with the checksums that it lists"
    yield f"identity {found.identity}"
    if found.outcome == "nothing stored":
        yield "no result is stored in it: there is nothing to compute again"
        return
    if found.analyses:
        yield f"computed again from its raw rows: {_numbers(found)}"
    if found.report is not None:
        yield f"the report {_REPORT[found.report.standing]}"
    others = [shown(one.name) for one in found.documents if not one.holds]
    if others:
        verb = "says" if len(others) == 1 else "say"
        yield f"{' and '.join(others)} {verb} something else than what comes out"
    wrong = [str(one.number) for one in found.claims if not one.holds]
    if wrong:
        verb = "does" if len(wrong) == 1 else "do"
        many = counted(len(found.claims), "claim")
        yield f"{len(wrong)} of {many} {verb} not hold: {', '.join(wrong)}"
    elif found.claims:
        yield "all claims hold"


def _numbers(found: Reproduction) -> str:
    numbers, count = found.numbers, counted(len(found.analyses), "stored result")
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


def _claims(found: Reproduction) -> Table:
    table = table_of(
        "claims",
        found.claims,
        ("", "number"),
        ("<", lambda one: {True: "holds", False: "FAILS", None: "no value"}[one.holds]),
        ("value now", lambda one: _value(one.now)),
        ("<claimed", _claimed),
        ("<claim", lambda one: shorten(shown(one.text), 60)),
    )
    return replace(table, notes=tuple(_why(one) for one in found.claims))


def _claimed(one: ClaimCheck) -> str:
    digits = "" if one.digits is None else f", to {one.digits} digits"
    return f"{_RELATIONS.get(one.relation, one.relation)} {_text(one.expected)}{digits}"


def _why(one: ClaimCheck) -> str:
    if one.holds:
        return ""
    where = f"{shown(one.value)} of fairtrial {line_of(one.command)}"
    moved = "" if one.packed == one.now else f"; {_text(one.packed)} when it was packed"
    return f"{shown(one.reason) + '; ' if one.reason else ''}{where}{moved}"


def _results(found: Reproduction) -> Table:
    return table_of(
        "results",
        found.results,
        ("<", lambda one: shorten(shown(one.name), 24)),
        ("<", "standing"),
        ("numbers", "numbers", "{:,}".format),
        ("same", "same", "{:,}".format),
        ("within 1e-9", "near", "{:,}".format),
        ("different", "different", "{:,}".format),
        ("<fairtrial", lambda one: shorten(line_of(one.command), 60)),
    )


def _differences(one: Recomputation) -> Iterator[Block]:
    if one.command:
        yield CommandLine(f"fairtrial {line_of(one.command)}")
    if one.reason is not None:
        yield Sentence(shown(one.reason))
    wrong = [each for each in one.differences if each.grade == "different"]
    if wrong:
        yield table_of(
            f"differences-of-{shown(one.name)}",
            wrong[:_LISTED],
            ("<where", lambda each: shorten(shown(each.pointer), 44)),
            ("stored", lambda each: "none" if each.kind == "added" else _value(each.stored)),
            ("now", lambda each: "none" if each.kind == "missing" else _value(each.recomputed)),
            ("by", "relative", lambda share: f"{100 * share:.2g} %", ""),
        )
    left = len(wrong[_LISTED:]) + one.not_listed
    if left > 0:
        yield Sentence(f"and {left:,} more places: see --json, or {shown(one.result)}")


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
