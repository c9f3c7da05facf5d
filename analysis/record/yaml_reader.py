"""Read YAML strictly, with the place of every value; a mistake is shown in its line.

Every scalar stays a text, whose field decides what it means. Keys given twice, anchors, aliases, merge
keys, tags and further documents are refused. Nothing is expanded: a file costs no more than its length.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from ..errors import CampaignError, Problem
from ..words import command_line, normal

_WIDTH = 92
_INDENT = "  "


def excerpt(line: str, column: int, length: int = 1) -> str:
    """Give the line, indented, and below it carets.

    A long line is cut around the column. Control and format characters are replaced by visible
    ones of the same count, so that neither a terminal nor the alignment is disturbed.
    """
    window, start = _cut(line.rstrip(), max(column - 1, 0))
    shown = "".join(_visible(character) for character in window)
    blank = " " * sum(_cells(character) for character in shown[:start])
    carets = "^" * max(1, sum(_cells(character) for character in shown[start : start + length]))
    return f"{_INDENT}{shown}\n{_INDENT}{blank.ljust(start)}{carets}"


def quote(text: str, limit: int = 40) -> str:
    """Give the text in quotes for a message: one line, shortened, control characters visible."""
    shown = "".join(_visible(character) for character in text[: limit + 1])
    return f"'{shown[: limit - 1]}…'" if len(shown) > limit else f"'{shown}'"


def _cut(line: str, start: int) -> tuple[str, int]:
    if len(line) <= _WIDTH:
        return line, start
    first = max(0, min(start - _WIDTH // 2, len(line) - _WIDTH))
    window = line[first : first + _WIDTH]
    if first:
        window = "…" + window[1:]
    if first + _WIDTH < len(line):
        window = window[:-1] + "…"
    return window, start - first


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return "\ufffd"
    return character


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


Location = tuple[str | int, ...]
Value = None | str | list[Any] | dict[str, Any]

MAX_DEPTH = 20
# PyYAML counts exactly these as line breaks.
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_UNPRINTABLE = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAMED = frozenset({("variants",), ("benchmarks",)})
_FIXES = (
    ("'\\t'", "indent with spaces, not with tabs"),
    ("mapping values are not allowed", "put a text that contains ': ' in quotes"),
    ("could not find expected ':'", "write 'key: value', with a blank after the colon"),
    ("expected ',' or", "close the bracket, and put a text with brackets or commas in quotes"),
    ("expected <block end>", "let keys that belong together begin in the same column"),
    ("expected the node content", "give a value here; close every bracket"),
    ("cannot start any token", "put the text in quotes"),
    ("unexpected end of stream", "close the quotes"),
)


class Plain(str):
    """A scalar that was written without quotes, so that it may be a number or a switch."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a node stands; line and column count from 1, start and end are offsets.

    `width` is the length of the token that begins there: a bracket, or the first line of a text.
    """

    line: int
    column: int
    start: int
    end: int
    width: int = 1


@dataclass(slots=True, kw_only=True)
class Document:
    """One YAML document: its value, and the mark of every value and key by its path.

    `value` consists of `str` (`Plain` when not in quotes), `list`, `dict` and ``None`` (a value
    that is empty, ``~`` or ``null``). `problems` are those that did not keep the rest from being
    read.
    """

    name: str
    text: str
    value: Value = None
    marks: dict[Location, Mark] = field(default_factory=dict)
    keys: dict[Location, Mark] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    lines: list[str] = field(init=False)
    _starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = _BREAK.split(self.text)
        self._starts = [0, *(match.end() for match in _BREAK.finditer(self.text))]

    def mark(self, path: Location, *, key: bool = False, part: str | None = None) -> Mark:
        """Find the mark of a value, of its key, or of the text `part` inside the value.

        What has no mark of its own gets that of the nearest thing around it.
        """
        for end in range(len(path), -1, -1):
            here = path[:end]
            value = self.marks.get(here)
            if (key or end < len(path)) and here in self.keys:
                return self.keys[here]
            if value is None:
                continue
            if value.start == value.end and here in self.keys:
                return self.keys[here]  # an empty value has no token: show its key
            return self._inside(value, part) if part else value
        return Mark(line=1, column=1, start=0, end=0)

    def where(self, path: Location) -> str:
        """Give ``file:line:column`` of the value at `path`."""
        mark = self.mark(path)
        return f"{self.name}:{mark.line}:{mark.column}"

    def problem(
        self,
        path: Location,
        what: str,
        fix: str | None = None,
        *,
        key: bool = False,
        part: str | None = None,
    ) -> Problem:
        """Make the problem of the value (or key) at `path`, with its line and a caret."""
        return self.problem_at(self.mark(path, key=key, part=part), what, fix)

    def problem_at(self, mark: Mark, what: str, fix: str | None = None) -> Problem:
        """Make the problem of what stands at `mark`."""
        line = self.lines[mark.line - 1] if mark.line <= len(self.lines) else ""
        return Problem(
            what=what,
            where=f"{self.name}:{mark.line}:{mark.column}",
            excerpt=excerpt(line, mark.column, mark.width),
            fix=fix,
        )

    def _inside(self, mark: Mark, part: str) -> Mark:
        offset = self.text.find(part, mark.start, mark.end)
        return mark if offset < 0 else self.mark_of(offset, offset + len(part))

    def mark_of(self, start: int, end: int) -> Mark:
        """Make the mark of the text between two offsets."""
        line = bisect_right(self._starts, start)
        column = start - self._starts[line - 1] + 1
        return Mark(line=line, column=column, start=start, end=end, width=max(end - start, 1))


def read_document(text: str, name: str) -> Document:
    """Read one YAML document."""
    document = Document(name=name, text=text)
    bad = _UNPRINTABLE.search(text)
    if bad:
        mark = document.mark_of(bad.start(), bad.end())
        what = f"the character U+{ord(bad.group()):04X} is not allowed in YAML"
        fix = "delete it, or write it as an escape inside double quotes"
        raise CampaignError([document.problem_at(mark, what, fix)])
    try:
        _Walk(document).read()
    except yaml.MarkedYAMLError as error:
        raise CampaignError([_syntax(document, error)]) from None
    return document


class _Walk:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.events: Iterator[Any] = yaml.parse(document.text, Loader=yaml.BaseLoader)
        self.dropped = 0

    def read(self) -> None:
        next(self.events)  # the stream's start
        event = next(self.events)
        if isinstance(event, yaml.StreamEndEvent):
            self._stop(event, "the file holds nothing", "'fairtrial init' writes a campaign")
        if event.tags:
            self._refuse(event, "a %TAG directive is not allowed here", "delete the line")
        self.document.value = self._node(next(self.events), ())
        next(self.events)  # the document's end
        event = next(self.events)
        if not isinstance(event, yaml.StreamEndEvent):
            self._stop(
                event, "a second document begins here", "keep one document in a file; delete '---'"
            )

    def _node(self, event: Any, path: Location) -> Value:  # noqa: ANN401 - yaml has no types here
        self.document.marks[path] = self._mark(event)
        if isinstance(event, yaml.AliasEvent):
            self._stop(event, f"the alias '*{event.anchor}' is not allowed", "write the value out")
        if event.anchor is not None:
            self._refuse(event, f"the anchor '&{event.anchor}' is not allowed", "delete it")
        if event.tag is not None:
            self._refuse(
                event,
                f"the tag {quote(event.tag)} is not allowed",
                "delete it: each key knows the type of its value",
            )
        if isinstance(event, yaml.ScalarEvent):
            text: str = event.value
            if event.style is not None:
                bad = re.search("[\0\ud800-\udfff]", text)
                if bad:
                    self._refuse(
                        event,
                        f"the character U+{ord(bad.group()):04X} is not allowed in a text",
                        "no argument, path or environment variable can hold it",
                    )
                return text
            return None if text in frozenset({"", "~", "null", "Null", "NULL"}) else Plain(text)
        if len(path) >= MAX_DEPTH:
            self._stop(event, f"nested deeper than {MAX_DEPTH} levels", "write it flat")
        if isinstance(event, yaml.SequenceStartEvent):
            value: Value = self._sequence(path)
        else:
            value = self._mapping(path)
        return value

    def _sequence(self, path: Location) -> list[Value]:
        items: list[Value] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self._node(event, (*path, len(items))))
        return items

    def _mapping(self, path: Location) -> dict[str, Value]:
        items: dict[str, Value] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._key(event, path)
            if key is None or key in items:
                # Consumed for its own problems, below a path that nothing else uses.
                self.dropped += 1
                self._node(next(self.events), (*path, -self.dropped))
                continue
            here = (*path, key)
            self.document.keys[here] = self._mark(event)
            items[key] = self._node(next(self.events), here)
        return items

    def _key(self, event: Any, path: Location) -> str | None:  # noqa: ANN401 - see above
        if not isinstance(event, yaml.ScalarEvent):
            if isinstance(event, yaml.AliasEvent):
                self._node(event, path)  # stops
            self._stop(event, "a key must be a text", "write 'key: value'; quote a key with '{'")
        mark = self.document.marks[path]
        key = self._node(event, path)
        self.document.marks[path] = mark  # the key's walk used the mapping's path
        if not isinstance(key, str):
            self._refuse(event, "a key is missing here", "write 'key: value'")
            return None
        text = _named(str(key), path)
        if text == "<<" and event.style is None:
            self._refuse(event, "the merge key '<<' is not allowed", "write the keys out")
            return None
        first = self.document.keys.get((*path, text))
        if first is not None:
            self._refuse(
                event, f"{quote(text)} is given twice (first on line {first.line})", "delete one"
            )
        return text

    def _refuse(self, event: Any, what: str, fix: str) -> None:  # noqa: ANN401 - see above
        self.document.problems.append(self.document.problem_at(self._mark(event), what, fix))

    def _stop(self, event: Any, what: str, fix: str) -> None:  # noqa: ANN401 - see above
        self._refuse(event, what, fix)
        raise CampaignError(self.document.problems)

    def _mark(self, event: Any) -> Mark:  # noqa: ANN401 - yaml has no types here
        start, end = event.start_mark, event.end_mark
        width = 1
        if isinstance(event, yaml.ScalarEvent | yaml.AliasEvent | yaml.DocumentStartEvent):
            # A token of several lines ends, for the caret, with its first line.
            line = self.document.lines[start.line]
            width = max(1, min(end.index - start.index, len(line) - start.column))
        return Mark(
            line=start.line + 1,
            column=start.column + 1,
            start=start.index,
            end=end.index,
            width=width,
        )


def _named(key: str, path: Location) -> str:
    """Give the normal form (NFC) of a key that is a name; two spellings of one name are one key.

    Not of signs that no name may hold; messages repeat those as they stand.
    """
    names = path in _NAMED or path[-1:] == ("metrics",)
    if not names or any(unicodedata.normalize("NFC", sign) != sign for sign in key):
        return key
    return normal(key)


def _syntax(document: Document, error: yaml.MarkedYAMLError) -> Problem:
    at, begin = error.problem_mark or error.context_mark, error.context_mark
    what = f"not valid YAML: {error.problem or error.context}"
    if at is not None and begin is not None and at.index >= len(document.text.rstrip()):
        at = begin  # the end of the file shows nothing: show what is open there
        what += f", {error.context} that begins here"
    elif begin is not None and begin is not at:
        what += f", {error.context} that begins on line {begin.line + 1}"
    fix = next((fix for part, fix in _FIXES if part in str(error.problem)), None)
    if at is None:
        return document.problem((), what, fix)
    mark = Mark(line=at.line + 1, column=at.column + 1, start=at.index, end=at.index + 1)
    return document.problem_at(mark, what, fix)


MAX_BYTES = 1024 * 1024


def read_bytes(path: Path, absent: str | None = None) -> bytes:
    """Read the file's bytes, and no more than a campaign can have; `absent` mends that it is not there."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        begin = command_line(("fairtrial", "init", str(path)))
        fix = absent or f"correct its name; {begin} writes one"
        raise _unusable(path, "there is no such file", fix) from None
    except IsADirectoryError:
        raise _unusable(path, "this is a directory", "name the file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _unusable(path, f"the file cannot be read: {reason}", None) from None
    if len(data) > MAX_BYTES:
        what = "the file is larger than 1 MiB"
        raise _unusable(path, what, "nothing that is read here needs that")
    return data


def decoded(data: bytes, path: Path) -> str:
    """Give the text; a UTF-8 byte order mark is no part of it."""
    data = data.removeprefix(codecs.BOM_UTF8)  # so that an error counts from where the text begins
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8")
        document = Document(name=str(path), text=good)
        mark = document.mark_of(len(good), len(good))
        utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        what = f"byte 0x{data[error.start]:02X} is not UTF-8"
        fix = f"save the file as UTF-8{', not as UTF-16' if utf16 else ''}"
        raise CampaignError([document.problem_at(mark, what, fix)]) from None


def _unusable(path: Path, what: str, fix: str | None) -> CampaignError:
    return CampaignError([Problem(what=what, where=str(path), fix=fix)])


WRONG: Final = object()  # stands where a value would, had the document a good one there


class Faults:
    """Collects all problems of one document: the list is the document's own.

    `places` are the paths of the values that were left out because they, or something that they
    need, are wrong.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems = document.problems
        self._reported: set[tuple[Location, str]] = set()
        self.places: list[Location] = []

    def touch(self, path: Location) -> bool:
        """Tell whether something at or below `path` was left out."""
        return any(place[: len(path)] == path for place in self.places)

    def value(self, at: Location, what: str, fix: str | None) -> Any:  # noqa: ANN401 - `WRONG`
        """Report a wrong value; `what` continues the sentence that its name begins."""
        self.report(at, f"{_label(at)} {what}", fix)
        return WRONG

    def key(self, at: Location, what: str, fix: str) -> None:
        """Report a wrong key."""
        self.report(at, what, fix, key=True)

    def missing(self, name: str, at: Location) -> None:
        """Report that the mapping at `at` lacks a key."""
        self.report(at, f"{quote(name)} is missing{inside(at)}", "add it", key=bool(at))

    def report(
        self,
        at: Location,
        what: str,
        fix: str | None,
        *,
        key: bool = False,
        part: str | None = None,
    ) -> None:
        """Report what is wrong with the value (or key, or `part` of it), once however often it is met."""
        if (at, what) not in self._reported:
            self._reported.add((at, what))
            self.problems.append(self.document.problem(at, what, fix, key=key, part=part))


def inside(at: Location) -> str:
    """Say which mapping a key stands in; of the whole file nothing is said."""
    parts = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    return f" in {parts[1:]}" if at else ""


def _label(at: Location) -> str:
    label = ""
    for step in at:
        label = f"{label}[{step}]" if isinstance(step, int) else step
    return quote(label, 60)
