"""Claims: sentences of a paper, each bound to a command and a value of what it prints; ``claims.yaml`` and ``bundle.yaml``."""

from __future__ import annotations

import difflib
import json
import math
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any, Literal, cast, get_args

from ..errors import CampaignError, StoreError, UsageError
from ..pages.model import Caution
from ..pages.result import plain
from ..record.shapes import ShapeError, parse
from ..record.yaml_reader import Faults, Location, Plain, decoded, quote, read_document
from .recomputing import fault_of_command

# --- ``bundle.yaml`` and ``claims.yaml``, by the reader of campaigns: it reports all their mistakes at
# once.
#
# A value is what was written, not what YAML makes of it: a title ``2026`` or ``no`` is a text.


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_SWITCHES = {"true": True, "false": False}


class YamlFile(Faults):
    """A file that was read, and what was found to be wrong in it; a value is named by its path."""

    def __init__(self, data: bytes, where: str) -> None:
        super().__init__(read_document(decoded(data, Path(where)), where))

    def finish(self) -> None:
        """Raise a `CampaignError` with all mistakes that were noted, if there are any."""
        if self.problems:
            raise CampaignError(sorted(self.problems, key=lambda one: one.place))

    def at(self, path: Location) -> Any:  # noqa: ANN401 - a value of YAML
        """Give the value at a path."""
        found: Any = self.document.value
        for step in path:
            found = found[step]
        return found

    def keys(
        self, path: Location, known: Collection[str], required: Collection[str] = ()
    ) -> dict[str, Location]:
        """Give the paths of a mapping's values by its keys; what is unknown or lacking is noted."""
        value = self.at(path)
        if not isinstance(value, dict):
            self.value(path, f"must be a mapping with the keys {', '.join(known)}", None)
            return {}
        for name in value.keys() - set(known):
            near = difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            self.key((*path, name), f"there is no key {quote(name)} here; {meant}", "mend it")
        for name in required:
            if name not in value:
                self.missing(name, path)
        return {name: (*path, name) for name in value if name in known}

    def items(self, path: Location) -> list[Location]:
        """Give the paths of a list's values."""
        value = self.at(path)
        if isinstance(value, list):
            return [(*path, k) for k in range(len(value))]
        self.value(path, "must be a list", None)
        return []

    def text(self, path: Location) -> str | None:
        """Give a text that is not empty, and has no control characters but line ends."""
        value = self.at(path)
        if not isinstance(value, str) or not value.strip():
            self.value(path, "must be a text", None)
        elif re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", value.strip()):
            self.value(path, "holds a control character", None)
        else:
            return str(value).strip()
        return None

    def texts(self, path: Location) -> list[str]:
        """Give a list of texts."""
        return [text for one in self.items(path) if (text := self.text(one)) is not None]

    def number(self, path: Location) -> Decimal | None:
        """Give a number as it is written."""
        value = self.at(path)
        if _reads_as_number(value):
            return Decimal(value)
        self.value(path, "must be a number", None)
        return None

    def whole(self, path: Location, least: int, most: int) -> int | None:
        """Give a whole number between two bounds."""
        value = self.at(path)
        written = isinstance(value, str) and re.fullmatch(r"\d{1,9}", value)
        if written and least <= int(value) <= most:
            return int(value)
        self.value(path, f"must be a whole number from {least} to {most}", None)
        return None

    def scalar(self, path: Location) -> Decimal | str | bool | None:
        """Give a number, true, false, null or a text: what is quoted is a text."""
        value = self.at(path)
        if isinstance(value, dict | list):
            self.value(path, "must be one value", None)
            return None
        if not isinstance(value, Plain):
            return None if value is None else str(value)
        return Decimal(value) if _reads_as_number(value) else _SWITCHES.get(value, str(value))


def _reads_as_number(value: object) -> bool:
    written = isinstance(value, Plain) and _NUMBER.fullmatch(value)
    return bool(written) and math.isfinite(float(str(value)))


# --- What a claim says, and whether a result holds it.


Relation = Literal["at_least", "at_most", "equals", "word"]
Expected = float | int | str | bool | None

SCHEMA = 1
_KEYS = ("text", "command", "value", "is", "expected", "digits")
_ABSENT = object()
_WORDS = {"at_least": "at least", "at_most": "at most", "equals": "equal to", "word": "the word"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence and what it rests on."""

    text: str  # the sentence
    command: tuple[str, ...]  # arguments of ``fairtrial``; in a bundle, with paths in it
    value: str  # JSON pointer (RFC 6901) into what the command prints
    relation: Relation  # how the value must stand to `expected`; ``is`` in files
    expected: Expected  # a number, or a text for "word"; "equals" takes any
    # how many decimals of a number count: it is rounded to them (half to even) before it is
    # compared
    digits: int | None = None
    line: int | None = None  # of the file that it stands in


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """Whether a claim holds of a document."""

    holds: bool  # whether it does
    found: Any  # the value that stands there, any JSON type; None where there is none
    why: str  # why it does not hold; "" where it does


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredClaim:
    """A claim in a bundle: which stored result it looks at, and what was found when it was packed."""

    claim: Claim
    result: str
    found: Any
    holds: bool

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        about = plain(self.claim) | plain(self) | {"is": self.claim.relation}
        return {key: about[key] for key in (*_KEYS, "result", "found", "holds")}


def pointed(document: object, pointer: str) -> object:
    """Give the value that a JSON pointer names."""
    if pointer and not pointer.startswith("/"):
        what = "a JSON pointer begins with a slash"
        raise UsageError(what, pointer, "write it as /candidates/0/these/speedup")
    found = document
    gone = ""
    for raw in pointer.split("/")[1:]:
        part = raw.replace("~1", "/").replace("~0", "~")
        inside: object = _ABSENT
        if isinstance(found, dict):
            inside = found.get(part, _ABSENT)
            known = f"it has {', '.join(list(found)[:12]) or 'no keys'}"
        elif isinstance(found, list):
            if part.isascii() and part.isdigit() and (part == "0" or part[0] != "0"):
                inside = found[int(part)] if len(part) < 9 and int(part) < len(found) else _ABSENT
            known = f"it is a list of {len(found)}, counted from 0"
        else:
            known = "it is a value, with nothing inside"
        if inside is _ABSENT:
            what = f"there is no {part!r} at {gone or 'the top'}: {known}"
            fix = "execute the command with --json, and follow its keys"
            raise UsageError(what, pointer, fix)
        found = inside
        gone += f"/{raw}"
    return found


def weigh_claim(claim: Claim, document: object) -> Weighing:
    """Tell whether a claim holds of what its command printed."""
    try:
        found = pointed(document, claim.value)
    except UsageError as error:
        return Weighing(holds=False, found=None, why=f"{error.what} ({claim.value})")
    text = f"{claim.value} is {_shown(found)}"
    if isinstance(found, dict | list):
        return Weighing(holds=False, found=None, why=f"{claim.value} is not a single value")
    if claim.relation == "word":
        holds = isinstance(found, str) and found == claim.expected
    elif _is_number(claim.expected):
        if not _is_number(found):
            return Weighing(holds=False, found=found, why=f"{text}, no number")
        holds = _stands(found, claim)
    else:
        holds = type(found) is type(claim.expected) and found == claim.expected
    why = "" if holds else f"{text}, not {said_of(claim)}"
    return Weighing(holds=holds, found=found, why=why)


def said_of(claim: Claim) -> str:
    """Say what a claim's value must be, in words."""
    expected = claim.expected
    if claim.digits is not None and _is_number(expected):
        shown = f"{expected:.{claim.digits}f} (to {claim.digits} decimals)"
    else:
        shown = _shown(expected)
    return f"{_WORDS[claim.relation]} {shown}"


def claims_text(claims: Sequence[StoredClaim]) -> bytes:
    """Give the bytes of ``claims.json``."""
    document = {"schema": SCHEMA, "claims": [one.to_dict() for one in claims]}
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def read_stored_claims(data: bytes, where: str) -> tuple[StoredClaim, ...]:
    """Read ``claims.json``."""
    try:
        document = parse(data.strip(), "claims.json")
        if not isinstance(document, dict) or not isinstance(document.get("claims"), list):
            raise ShapeError("claims.json holds no list of claims")
        if document.get("schema") != SCHEMA:
            raise ShapeError(f"claims.json has another schema than {SCHEMA}")
        return tuple(_stored(one, f"claim {k}") for k, one in enumerate(document["claims"], 1))
    except ShapeError as error:
        raise StoreError(str(error), where, "fetch the bundle again") from None


def _stored(one: object, name: str) -> StoredClaim:
    if not isinstance(one, dict):
        raise ShapeError(f"{name} is not an object")
    command, digits, expected = one.get("command"), one.get("digits"), one.get("expected")
    words = command if isinstance(command, list) else [None]
    bound = one.get("is") in ("at_least", "at_most")
    for right, what in (
        (all(isinstance(one.get(key), str) for key in ("text", "value", "result")), "lacks a text"),
        (all(isinstance(word, str) for word in words), "has no command"),
        (one.get("is") in get_args(Relation), "is compared in an unknown way"),
        (digits is None or (type(digits) is int and 0 <= digits <= 15), "has no number of digits"),
        (type(one.get("holds")) is bool, "does not say whether it held"),
        (_is_single(expected), "expects more than one value, or a number that none can be"),
        (_is_single(one.get("found")), "found more than one value, or a number that none can be"),
        (not bound or _is_number(expected), "expects no number"),
    ):
        if not right:
            raise ShapeError(f"{name} of claims.json {what}")
    about: dict[str, Any] = {key: one.get(key) for key in ("text", "value", "expected", "digits")}
    found: dict[str, Any] = {key: one.get(key) for key in ("result", "found", "holds")}
    return StoredClaim(
        claim=Claim(**about, command=tuple(one["command"]), relation=one["is"]), **found
    )


def _is_number(value: object) -> bool:
    """Tell whether it is a number that a result can be: finite, and of 64 bits where it is whole."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -(2**63) <= value < 2**63 if isinstance(value, int) else math.isfinite(value)


def _is_single(value: object) -> bool:
    return value is None or isinstance(value, str | bool) or _is_number(value)


def is_coarse(claim: Claim) -> bool:
    """Tell whether its digits let a claim hold for half of what it expects, or for double of it.

    "Twice as fast, to 0 digits" holds of 1.5, which is another sentence.
    """
    if claim.digits is None or not _is_number(claim.expected):
        return False
    expected = Decimal(str(claim.expected))
    step = Decimal(1).scaleb(-claim.digits)
    rounded = _rounded(expected, step)
    # what is nearer than this to the rounded number is taken for it
    ends = [rounded - step / 2] * (claim.relation != "at_most")
    ends += [rounded + step / 2] * (claim.relation != "at_least")
    if expected < 0:
        expected, ends = -expected, [-end for end in ends]
    if expected == 0:
        return False  # half and double of nothing are nothing
    return any(end <= expected / 2 or end >= 2 * expected for end in ends)


def coarse_cautions(numbers: Iterable[int]) -> Iterator[Caution]:
    """Say which claims that is true of."""
    names = tuple(map(str, numbers))
    if names:
        one = len(names) == 1
        yield Caution(
            "claim-coarse",
            f"claim{'' if one else 's'} {', '.join(names)}: rounded to {'its' if one else 'their'} digits, "
            f"half or double of what {'it expects' if one else 'they expect'} would do as well; "
            "write more digits, or none",
            names,
        )


def _stands(found: Any, claim: Claim) -> bool:  # noqa: ANN401 - a number of JSON
    ours, theirs = Decimal(found), Decimal(str(claim.expected))
    if claim.digits is not None:
        step = Decimal(1).scaleb(-claim.digits)
        ours, theirs = _rounded(ours, step), _rounded(theirs, step)
    elif isinstance(found, float):
        ours, theirs = Decimal(found), Decimal(float(theirs))
    holds = {"at_least": ours >= theirs, "at_most": ours <= theirs}
    return holds.get(claim.relation, ours == theirs)


def _rounded(value: Decimal, step: Decimal) -> Decimal:
    # more digits than any double has before and behind the point
    import decimal

    with decimal.localcontext(decimal.Context(prec=400)):
        return value.quantize(step, rounding=ROUND_HALF_EVEN)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def read_claims(data: bytes, where: str) -> tuple[Claim, ...]:
    """Read ``claims.yaml``."""
    file = YamlFile(data, where)
    top = file.keys((), ("claims",), ("claims",))
    found: list[Claim | None] = []
    if "claims" in top:
        items = file.items(top["claims"])
        if not items:
            file.value(top["claims"], "holds no claim", None)
        found = [_claim(file, item) for item in items]
    file.finish()
    return tuple(filter(None, found))


def _claim(file: YamlFile, at: Location) -> Claim | None:
    keys = file.keys(at, _KEYS, _KEYS[:-1])
    if not {*_KEYS[:-1]} <= keys.keys():
        return None
    text = file.text(keys["text"])
    command = _command(file, keys["command"])
    value = file.text(keys["value"])
    if value is not None and not value.startswith("/"):
        what = "must be a JSON pointer, which begins with a slash"
        file.value(keys["value"], what, "such as /candidates/0/multilevel/these/speedup")
    relation, known = file.text(keys["is"]), get_args(Relation)
    if relation is not None and relation not in known:
        file.value(keys["is"], f"must be one of {', '.join(known)}, not {relation!r}", None)
    if relation is None or relation not in known:
        return None
    digits = file.whole(keys["digits"], 0, 15) if "digits" in keys else None
    written = keys["expected"]
    reader = {"word": file.text, "equals": file.scalar}.get(relation, file.number)
    raw = reader(written)
    expected: Expected = None if isinstance(raw, Decimal) else raw
    if isinstance(raw, Decimal):
        whole = _decimals(raw) == 0 and abs(raw) < 2**53
        expected = int(raw) if whole else float(raw)
        if relation == "equals" and digits is None:
            digits = _decimals(raw) or None  # 1.50 is meant to two decimals, 2 to the last digit
    if digits is not None and (isinstance(expected, str | bool) or expected is None):
        file.value(keys.get("digits", written), "has digits, which are for numbers", None)
    if text is None or command is None or value is None:
        return None
    return Claim(
        text=" ".join(text.split()),
        command=command,
        value=value,
        relation=cast("Relation", relation),
        expected=expected,
        digits=digits,
        line=file.document.mark(at).line,
    )


def _command(file: YamlFile, at: Location) -> tuple[str, ...] | None:
    if isinstance(file.at(at), list):
        words = file.texts(at)
    else:
        text = file.text(at)
        if text is None:
            return None
        try:
            words = shlex.split(text)
        except ValueError as error:
            file.value(at, f"cannot be split into words: {error}", None)
            return None
    if words[:1] == ["fairtrial"]:
        words = words[1:]
    if words[:1] == ["report"]:
        if "--format" not in words:
            words += ["--format", "json"]
    elif "--json" not in words:
        words.append("--json")
    # where its paths lead is known when they are those of the bundle
    fault = fault_of_command([word.lstrip("/~") or "." for word in words if ".." not in word])
    if fault is not None:
        file.value(at, f"cannot be one of a bundle: {fault}", None)
        return None
    return tuple(words)


def _decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return min(15, max(0, -exponent)) if isinstance(exponent, int) else 0
