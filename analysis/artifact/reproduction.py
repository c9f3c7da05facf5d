"""What checking an artifact gives, number by number and claim by claim, and what is said of it."""

from __future__ import annotations

import contextlib
import json
import math
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar, Literal

from ..pages.model import (
    Block,
    Cell,
    CommandLine,
    Page,
    Sentence,
    Value,
    section,
    table_of,
)
from ..pages.number_format import counted
from ..pages.result import Result
from ..version import VERSION
from ..words import command_line, shorten
from .archive import Contents, Missing, RedactionRecord, line_of

Standing = Literal["same bytes", "within", "different", "failed", "stopped"]
Outcome = Literal["same bytes", "within", "differs", "unfinished", "nothing stored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputation:
    """A stored result and what its command prints now."""

    # the analysis, the arguments of ``fairtrial``, and the file with the stored result
    name: str = ""
    command: tuple[str, ...] = ()
    result: str = ""
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
        standings = {one.standing for one in self.results}
        found = all(one.holds for one in (*self.documents, *self.reached(self.claims)))
        if not found or not standings.isdisjoint({"different", "failed"}):
            return "differs"
        if "stopped" in standings:
            return "unfinished"
        if not standings:
            return "nothing stored"
        return "within" if "within" in standings else "same bytes"

    def reached(self, some: Iterable[Any]) -> list[Any]:
        """Give those whose command no limit ended."""
        stopped = {one.command for one in self.results if one.standing == "stopped"}
        return [one for one in some if one.command not in stopped]

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

    def screen(self) -> Page:
        """Set the answer, claims and stored results, then what differs in each."""
        sections = [section(*_answer(self))]
        if self.claims:
            table = table_of(
                "claims",
                self.claims,
                ("", "number"),
                ("<", lambda one: {True: "holds", False: "FAILS", None: "no value"}[one.holds]),
                ("value now", lambda one: _value(one.now)),
                ("<claimed", _claimed),
                ("<claim", "text"),
            )
            table = replace(table, notes=tuple(map(_why, self.claims)))
            sections.append(section(table, title="claims"))
        if self.results:
            table = table_of(
                "results",
                self.results,
                ("@", "name"),
                ("<", "standing"),
                ("numbers", "numbers", "{:,}".format),
                ("same", "same", "{:,}".format),
                ("within 1e-9", "near", "{:,}".format),
                ("different", "different", "{:,}".format),
            )
            columns = ("@", "name"), ("<fairtrial", lambda one: line_of(one.command))
            commands = table_of("commands", self.results, *columns)
            sections.append(section(table, commands, title="stored results"))
        sections += [
            section(*_differences(one), title=f"{one.name} {_AMISS[one.standing]}")
            for one in (*self.results, *self.documents)
            if one.standing in _AMISS
        ]
        again = section(
            "to measure it again on this machine, and compare the conclusions:",
            CommandLine(command_line(("fairtrial", "reproduce", "--rerun", self.bundle))),
        )
        return Page(
            title=f"Artifact {Path(self.bundle).name}",
            sections=tuple(sections),
            cautions=self.cautions,
            following=(again,) if self.measurable else (),
        )


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


def _answer(found: Reproduction) -> Iterator[str]:
    size = f"{found.files:,} files, {found.bytes:,} bytes"
    yield f"{Path(found.bundle).name} is whole: {size}, each with the checksums that it lists"
    yield f"identity {found.identity}"
    if found.outcome == "nothing stored":
        yield "no result is stored in it: there is nothing to compute again"
        return
    if analyses := found.reached(found.analyses):
        yield f"computed again from its raw rows: {_numbers(found, analyses)}"
    if found.report is not None:
        yield f"the report {_REPORT[found.report.standing]}"
    others = [one.name for one in found.documents if not one.holds]
    if others:
        say = "say" if others[1:] else "says"
        yield f"{' and '.join(others)} {say} something else than what comes out"
    claims, many = found.reached(found.claims), counted(len(found.claims), "claim")
    wrong = [str(one.number) for one in claims if not one.holds]
    if wrong:
        yield f"{len(wrong)} of {many} {'do' if wrong[1:] else 'does'} not hold: {', '.join(wrong)}"
    elif len(claims) < len(found.claims):
        yield f"{len(claims)} of {many} looked at: a limit was reached"
    elif claims:
        yield "all claims hold"


def _numbers(found: Reproduction, analyses: Sequence[Recomputation]) -> str:
    numbers, count = found.numbers, counted(len(analyses), "stored result")
    bad = sum(not one.holds for one in analyses)
    if bad:
        return (
            f"{bad} of {count} {'comes' if bad == 1 else 'come'} out differently; "
            f"{numbers['different']:,} of {numbers['numbers']:,} numbers differ by more than 1e-9"
        )
    if all(one.standing == "same bytes" for one in analyses):
        return f"all {numbers['numbers']:,} numbers of {count} are the same bytes"
    return (
        f"{numbers['same']:,} of {numbers['numbers']:,} numbers of {count} are the same, the other "
        f"{numbers['near']:,} the same within 1e-9"
    )


def _claimed(one: ClaimCheck) -> str:
    digits = "" if one.digits is None else f", to {one.digits} digits"
    return f"{_RELATIONS.get(one.relation, one.relation)} {_text(one.expected)}{digits}"


def _why(one: ClaimCheck) -> str:
    where = f"{one.value} of fairtrial {line_of(one.command)}"
    moved = "" if one.packed == one.now else f"; {_text(one.packed)} when it was packed"
    return "" if one.holds else f"{one.reason + '; ' if one.reason else ''}{where}{moved}"


def _differences(one: Recomputation) -> Iterator[Block]:
    if one.command:
        yield CommandLine(f"fairtrial {line_of(one.command)}")
    if one.reason is not None:
        yield Sentence(one.reason)
    wrong = [each for each in one.differences if each.grade == "different"]
    if wrong:
        yield table_of(
            f"differences-of-{one.name}",
            wrong[:_LISTED],
            ("@where", "pointer"),
            ("stored", lambda each: "none" if each.kind == "added" else _value(each.stored)),
            ("now", lambda each: "none" if each.kind == "missing" else _value(each.recomputed)),
            ("by", "relative", lambda share: f"{100 * share:.2g} %", ""),
        )
    left = len(wrong[_LISTED:]) + one.not_listed
    if left > 0:
        yield Sentence(f"and {left:,} more places: see --json, or {one.result}")


def _value(value: Any) -> Cell:  # noqa: ANN401 - JSON
    return Value(_text(value), value) if _is_number(value) else _text(value)


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return shorten(value, _TEXT)
    if _is_number(value):
        with contextlib.suppress(OverflowError):  # a whole number that no double can be
            return f"{value:.10g}"
    return shorten(json.dumps(value), _TEXT)


# --- Two documents side by side, stored and computed now, and what computes here.
#
# A JSON document is compared value by value, each at its JSON pointer (RFC 6901). What is no JSON
# (a page, a table) is compared as text between its numbers, and number by number. Nothing is
# forgiven but the last digits of a number, the versions of Python and of libraries that a page
# states, and what another version of the tool may word anew.


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherVersion:
    """A program or a library whose version here is another one; None where there is none."""

    name: str
    packed: str | None
    here: str | None


def other_versions(contents: Contents) -> tuple[OtherVersion, ...]:
    """Give what the bundle was packed with and is of another version here, or not there."""
    from importlib.metadata import PackageNotFoundError, version

    found = [
        OtherVersion(name="fairtrial", packed=contents.tool_version, here=VERSION),
        OtherVersion(name="Python", packed=contents.python, here=platform.python_version()),
    ]
    for name, packed in sorted(contents.libraries.items()):
        here = None
        with contextlib.suppress(PackageNotFoundError, ValueError):
            here = version(name)
        found.append(OtherVersion(name=name, packed=packed, here=here))
    return tuple(one for one in found if one.packed != one.here)


# between the name of a fact and its text: two cells of a table, or two values of a JSON object. One
# blank is none, as "numpy 2.4.6" is part of a text
_GAP = rb"[{}\s]*(?:(?:<[^<>]*>|[|&]|\s\s)[|&{}\s]*)+|\"\s*,\s*\"text\"\s*:\s*\""


def _without_versions(data: bytes, stated: Iterable[tuple[str, str | None]]) -> bytes:
    for name, version in stated:
        if name != "fairtrial" and version is not None:
            fact, words = (
                ("judged under", f"Python {version}") if name == "Python" else (name, version)
            )
            one, two = (re.escape(part.encode()) for part in (fact, words))
            pattern = rb"(?<![\w.-])(" + one + rb"(?:" + _GAP + rb"))" + two + rb"(?![\w.-])"
            data = re.sub(pattern, rb"\1as installed", data)
    return data


NEAR = 1e-9  # relative to the larger of two numbers

# another ``type`` of value, ``missing`` now
Kind = Literal["number", "text", "type", "missing", "added"]
# the same ``within`` 1e-9; ``wording`` and ``added`` are what another version of fairtrial may change
Degree = Literal["within", "wording", "added", "different"]
_MOST_TIMES, _MOST_MORE = 16, 1024**2  # bytes of what is compared with a document, at most
_MOST_LISTED = 1000  # differences that are listed one by one; all are counted
_SHOWN = 200  # characters of a text
_NUMBER = re.compile(rb"-?(?:\d+\.\d+|\d+|\.\d+)(?:[eE][+-]?\d+)?")
_LONGEST = 400  # digits of a number in a text: more is no number that anybody computed
_REWORDED = frozenset({"cautions", "references"})  # docs/json.md: their sentences may change
_ABSENT = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where two documents differ."""

    pointer: str  # the JSON pointer, or line and column of a text
    kind: Kind
    grade: Degree
    # both values; a long text is shortened, and a list or an object is only named
    stored: Any = None
    recomputed: Any = None
    relative: float | None = None  # of two numbers: their difference, relative to the larger one


def compare_documents(
    stored: bytes, fresh: bytes, *, same_tool: bool, others: Sequence[OtherVersion] = ()
) -> Recomputation:
    """Compare what was stored with what comes out now, but for the `others` that a page states."""
    same_bytes = stored == fresh
    if not same_bytes:
        stored = stored[: _MOST_TIMES * len(fresh) + _MOST_MORE]  # cut off it differs as much
        stored = _without_versions(stored, [(one.name, one.packed) for one in others])
        fresh = _without_versions(fresh, [(one.name, one.here) for one in others])
    one, two = _parsed(stored), _parsed(fresh)
    walk = _DocumentWalk(same_tool)
    if one is None or two is None:
        walk.texts(stored, fresh)
    else:
        walk.values("", *((one[0], two[0]) if len(one) == len(two) == 1 else (one, two)))
    return Recomputation(
        standing="same bytes" if same_bytes else "different" if walk.wrong else "within",
        numbers=walk.same + walk.near + walk.different,
        same=walk.same,
        near=walk.near,
        different=walk.different,
        differences=tuple(walk.listed),
        not_listed=walk.total - len(walk.listed),
    )


def document_of(text: bytes) -> Any:  # noqa: ANN401 - JSON
    """Read what a command printed: a JSON value, a list of several, None where it is no JSON."""
    found = _parsed(text)
    return found[0] if found is not None and len(found) == 1 else found


@dataclass(slots=True)
class _DocumentWalk:
    """Both documents are walked once; what is found is counted here."""

    same_tool: bool
    same: int = 0
    near: int = 0
    different: int = 0
    wrong: bool = False
    total: int = 0
    listed: list[Difference] = field(default_factory=list)

    def values(self, pointer: str, stored: Any, fresh: Any) -> None:  # noqa: ANN401 - JSON
        """Compare two values; lists of what is left instead of calls, for documents of any depth."""
        left = [(pointer, stored, fresh)]
        while left:
            place, old, new = left.pop()
            if isinstance(old, dict) and isinstance(new, dict):
                for key in reversed([*old, *(key for key in new if key not in old)]):
                    inside = f"{place}/{key.replace('~', '~0').replace('/', '~1')}"
                    left.append((inside, old.get(key, _ABSENT), new.get(key, _ABSENT)))
            elif isinstance(old, list) and isinstance(new, list):
                both = enumerate(zip_longest(old, new, fillvalue=_ABSENT))
                left += reversed([(f"{place}/{n}", a, b) for n, (a, b) in both])
            else:
                self.leaves(place, old, new)

    def leaves(self, place: str, old: Any, new: Any) -> None:  # noqa: ANN401 - JSON
        if _is_number(old) and _is_number(new):
            self.numbers(place, old, new)
        elif type(old) is type(new) and old == new:
            pass
        elif new is _ABSENT:
            self.different += sum(1 for _ in _numbers_in(old))
            self.tell(place, "missing", "different", old, None)
        elif old is _ABSENT:
            in_list = place.rpartition("/")[2].isdecimal()
            grown = not self.same_tool and not in_list
            self.tell(place, "added", "added" if grown else "different", None, new)
        elif isinstance(old, str) and isinstance(new, str):
            self.tell(place, "text", self.worded(place), old, new)
        else:
            self.different += sum(1 for _ in _numbers_in(old))
            self.tell(place, "type", "different", old, new)

    def numbers(self, place: str, old: float, new: float) -> None:
        if old == new:
            self.same += 1
            return
        one, two = Fraction(old), Fraction(new)
        relative = float(abs(one - two) / max(abs(one), abs(two)))
        near = relative <= NEAR
        self.near += near
        self.different += not near
        self.tell(place, "number", "within" if near else "different", old, new, relative=relative)

    def worded(self, place: str) -> Literal["wording", "different"]:
        """Say whether a text may be another one in another version of the tool."""
        keys = place.split("/")
        free = keys[-1] == "tool_version" or (len(keys) > 1 and keys[-2] in _REWORDED)
        return "wording" if free and not self.same_tool else "different"

    def texts(self, stored: bytes, fresh: bytes) -> None:
        """Compare what is no JSON: the text between numbers must be the same."""
        old, new = list(_pieces(stored)), list(_pieces(fresh))
        for (between, number, at), other in zip_longest(old, new, fillvalue=(None, None, 0)):
            if between != other[0] or (number is None) != (other[1] is None):
                self.different += sum(1 for *_, n, at_n in old if n is not None and at_n >= at)
                lines = zip_longest(stored.split(b"\n"), fresh.split(b"\n"), fillvalue=b"")
                apart = ((n, a, b) for n, (a, b) in enumerate(lines, 1) if a != b)
                line, *both = next(apart, (1, b"", b""))
                was, is_now = (text.decode("utf-8", "replace") for text in both)
                self.tell(f"line {line}", "text", "different", was, is_now)
                return
            if number is None or other[1] is None or number == other[1]:
                self.same += number is not None
            else:
                line, column = stored.count(b"\n", 0, at) + 1, at - stored.rfind(b"\n", 0, at)
                self.numbers(f"line {line}, column {column}", number, other[1])

    def tell(
        self,
        pointer: str,
        kind: Kind,
        grade: Degree,
        *values: object,
        relative: float | None = None,
    ) -> None:
        self.wrong = self.wrong or grade == "different"
        self.total += 1
        if len(self.listed) < _MOST_LISTED:
            stored, now = map(_shown, values)
            place = {"pointer": _short(pointer), "stored": stored, "recomputed": now}
            self.listed.append(Difference(**place, kind=kind, grade=grade, relative=relative))


def _parsed(text: bytes) -> list[Any] | None:
    """Read one or more JSON values, None if the text is none that everybody reads alike."""
    try:
        rest = text.decode("utf-8").strip(" \t\r\n")
        found = []
        while rest:
            value, end = _DECODER.raw_decode(rest)
            found.append(value)
            rest = rest[end:].lstrip(" \t\r\n")
    except (ValueError, RecursionError):
        return None
    return found or None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("no finite number")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_float=_finite, parse_constant=_finite)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _numbers_in(value: Any) -> Iterator[float]:  # noqa: ANN401 - JSON
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list):
            left += one
        elif _is_number(one):
            yield one


def _shown(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return _short(value)
    if isinstance(value, dict):
        return f"an object of {len(value)} keys"
    return f"a list of {len(value)} values" if isinstance(value, list) else value


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"


def _pieces(text: bytes) -> Iterator[tuple[bytes, float | None, int]]:
    """Cut a text into what stands before each number, the number, and where it stands."""
    start = 0
    for found in _NUMBER.finditer(text):
        if len(found[0]) > _LONGEST or not math.isfinite(float(found[0])):
            continue  # it is left in the text, and compared as that
        yield text[start : found.start()], float(found[0]), found.start()
        start = found.end()
    yield text[start:], None, len(text)
