"""How names, numbers, durations, sizes and CPUs are spelled in a campaign file, also as JSON Schema.

The table of signs (`name_signs.txt`) is that of Unicode 14.0 (categories L, Nd, Mn and Mc) whatever Python
executes this, without signs that have no glyph of their own or another normal form (NFC). Numbers and
switches are written without quotes and as in JSON.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from analysis.record.yaml_reader import Faults, Location, Plain, quote
from analysis.registry import shipped
from analysis.words import normal

from .model import Command


def _signs() -> Iterator[str]:
    """Give the insides of two character classes: letters and digits, and their marks."""
    text = shipped("harness/campaign/name_signs.txt").read_text(encoding="ascii")
    for table in text.split("\n\n"):
        ranges = table.partition("\n")[2].split()
        yield "".join("-".join(chr(int(end, 16)) for end in part.split("-")) for part in ranges)


_ASCII = "A-Za-z0-9"
_LETTERS, _MARKS = _signs()
_ALL = f"{_ASCII}{_LETTERS}{_MARKS}._+-"
# a file system counts bytes: fifty signs of four bytes, and what a trial's name has behind them, fit
NAME = re.compile(f"(?![._+-]|[{_MARKS}])(?:[{_ASCII}._+-]{{1,100}}|[{_ALL}]{{1,50}})")
NAME_NEEDS = (
    "a name of letters, digits and . _ + -, beginning with a letter or digit: at most 100 characters,"
    " or 50 where not all are ASCII"
)


JsonSchema = dict[str, Any]

NAMES: JsonSchema = {"$ref": "#/$defs/Name"}  # for editors; it is long, and stands there once
EMPTY = "give a value, or delete the key"


class Refusal(ValueError):  # noqa: N818 - becomes a problem, not an error
    """A value that is refused in words of its own, which continue the sentence of its key."""


class Kind:
    """What may stand at a key."""

    def read(self, value: object, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - each kind has its own type
        """Give the value of what the file holds at `at`, or `WRONG` once the faults are reported."""
        raise NotImplementedError

    def schema(self, sections: dict[str, JsonSchema]) -> JsonSchema:
        """Describe the spellings as JSON Schema; `sections` collects those that are referred to."""
        raise NotImplementedError

    def spelled(self, value: Any) -> Any:  # noqa: ANN401 - see above
        """Write a value as a file could hold it, as a JSON type."""
        return value


@dataclass(frozen=True, kw_only=True)
class Scalar(Kind):
    """A kind that is written as one text.

    `needs` says what is allowed, as the end of 'must be ...'. `parse` gives the value of a text or
    raises ValueError. `form` describes the spellings; `fix` gives a remedy for a wrong value, where
    there is one that `needs` does not say; `spell` is the way back.
    """

    needs: str
    parse: Callable[[str], Any]
    form: JsonSchema
    fix: Callable[[object], str | None] = lambda value: (
        "give a value; put the text 'null' in quotes" if value is None else None
    )
    spell: Callable[[Any], Any] = lambda value: value

    def read(self, value: object, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - as the base
        """Give the value of a text."""
        try:
            if not isinstance(value, str):
                raise ValueError  # noqa: TRY004 - one way out for every wrong value
            return self.parse(value)
        except Refusal as refusal:
            return faults.value(at, f"{refusal}, not {described(value)}", None)
        except ValueError:
            what = f"must be {self.needs}, not {described(value)}"
            return faults.value(at, what, self.fix(value))

    def schema(self, sections: dict[str, JsonSchema]) -> JsonSchema:  # noqa: ARG002 - as the base
        """Describe the spellings."""
        return self.form

    def spelled(self, value: Any) -> Any:  # noqa: ANN401 - as the base
        """Write a value as a file could hold it."""
        return self.spell(value)


def text() -> Scalar:
    """Take any text; numbers and switches count as the text that was written."""
    form = {"type": ["string", "number", "boolean"], "pattern": "^[^\\u0000]*$"}
    return Scalar(needs="a text", parse=str, form=form)


def holding(
    holds: Callable[[Any], object], give: Callable[[str], Any] = str
) -> Callable[[str], Any]:
    """Make what parses a text and refuses a value that breaks a rule."""

    def parse(given: str) -> Any:  # noqa: ANN401 - as `give` gives it
        value = give(given)
        if not holds(value):
            raise ValueError
        return value

    return parse


def pattern(regex: str, meaning: str) -> Scalar:
    """Take a text of a given shape."""
    parse = holding(lambda given: re.fullmatch(regex, given))
    return Scalar(needs=meaning, parse=parse, form={"type": "string", "pattern": f"^({regex})$"})


def name() -> Scalar:
    """Take the name of a campaign, a variant, a benchmark or a metric, and give its normal form."""

    def parse(given: str) -> str:
        if not NAME.fullmatch(given):
            raise ValueError
        return normal(str(given))

    texts = {"type": "string", **NAMES}
    return Scalar(
        needs=NAME_NEEDS,
        parse=parse,
        form={"anyOf": [texts, {"type": "number", "minimum": 0}, {"type": "boolean"}]},
    )


def choice(*words: str) -> Scalar:
    """Take one of a few words."""
    many = len(words) >= 8

    def fix(value: object) -> str | None:
        near = nearest(value, words) if isinstance(value, str) else None
        text = f"did you mean '{near}'? " if near else ""
        if many:
            text += ("Known here: " if near else "known here: ") + ", ".join(words)
        return text.strip() or None

    needs = "a known name" if many else one_of(words)
    parse = holding(words.__contains__)
    return Scalar(needs=needs, parse=parse, form={"enum": list(words)}, fix=fix)


def unquoted(
    needs: str,
    parse: Callable[[str], Any],
    form: JsonSchema,
    spell: Callable[[Any], Any] = lambda value: value,
) -> Scalar:
    """Take something that is written without quotes."""

    def fix(value: object) -> str | None:
        """Point at quotes that hide a good value, or at an empty value."""
        if value is None:
            return EMPTY
        if not isinstance(value, str):
            return None
        bare = re.sub("[ _,]", "", value)
        try:
            parse(Plain(bare))
        except ValueError:
            return None
        return f"write {bare} without quotes" if not isinstance(value, Plain) else f"write {bare}"

    return Scalar(needs=needs, parse=parse, form=form, fix=fix, spell=spell)


def either(*kinds: Scalar) -> Scalar:
    """Take the first of several kinds that reads the text."""

    def parse(given: str) -> Any:  # noqa: ANN401 - of the kind that reads it
        for kind in kinds:
            try:
                return kind.parse(given)
            except ValueError:
                continue
        raise ValueError

    needs = " or ".join(kind.needs for kind in kinds)
    found = unquoted(needs, parse, {"anyOf": [kind.form for kind in kinds]})
    return replace(found, fix=lambda value: found.fix(value) or kinds[0].fix(value))


def described(value: object) -> str:
    """Say in a message what was found instead."""
    if value is None:
        return "an empty value"
    if isinstance(value, str):
        return quote(value)
    return "a list" if isinstance(value, list) else "a mapping"


def one_of(words: Sequence[str]) -> str:
    """Join words as a choice: 'a, b or c'."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def nearest(word: str, known: Sequence[str]) -> str | None:
    """Find the known word that `word` is probably meant to be."""
    from difflib import get_close_matches

    if len(word) > 60:
        return None
    folded = {name.lower(): name for name in reversed(known)}
    near = get_close_matches(word.lower(), folded, n=1, cutoff=0.7)
    return folded[near[0]] if near else None


def known_here(word: str, known: Sequence[str], listed: Sequence[str] | None = None) -> str:
    """Say as a remedy which word was probably meant, and which there are."""
    near = nearest(word, known)
    begin = f"did you mean '{near}'? Known here: " if near else "known here: "
    return begin + ", ".join(known if listed is None else listed)


MAX_SECONDS = 1_000_000
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,24})(?:\.[0-9]{1,25})?(?:[eE][+-]?[0-9]{1,3})?")
_NOT_ZERO = r"(?!0+(\.0+)?[A-Za-z])"
_DURATION = (
    r"(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?ms|(0|[1-9][0-9]{0,5})(\.[0-9]{1,9})?s"
    r"|(0|[1-9][0-9]{0,3})(\.[0-9]{1,9})?min|([1-9]?[0-9]|1[0-9]{2}|2[0-6][0-9])(\.[0-9]{1,9})?h"
)
_SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60), "h": Fraction(3600)}
_SIZE = r"(0|[1-9][0-9]{0,17})B|(0|[1-9][0-9]{0,5})(\.[0-9]{1,3})?(kB|KiB|MB|MiB|GB|GiB|TB|TiB)"
_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_UNIT = re.compile(r"(?P<number>[0-9.]+)(?P<unit>[A-Za-z]+)")
_MOST_BYTES = 2**62


def whole(minimum: int, maximum: int) -> Scalar:
    """Take a whole number between two bounds."""
    large = maximum >= 10**6

    def parse(given: str) -> int:
        if large and _number(given) > maximum:
            raise Refusal(f"must be at most {maximum:,}")
        return _whole(given, minimum, maximum)

    needs = f"at least {minimum}" if large else f"from {minimum} to {maximum}"
    needs = f"a whole number {'of ' if large else ''}{needs}"
    return unquoted(needs, parse, _whole_form(minimum, maximum))


def share(maximum: int) -> Scalar:
    """Take a number above 0, at most a bound: a part of a whole such as 0.015."""
    parse = holding(lambda number: 0 < number <= maximum, lambda given: float(_number(given)))
    form = {"type": "number", "exclusiveMinimum": 0, "maximum": maximum}
    return unquoted(f"a number such as 0.015, more than 0 and at most {maximum}", parse, form)


def quantile() -> Scalar:
    """Take a number between 0 and 1, such as 0.99; a percentage is pointed out."""
    parse = holding(lambda number: 0 < number < 1, lambda given: float(_number(given)))

    def fix(value: object) -> str | None:
        text = str(value).removeprefix("p").removesuffix("%").strip()
        try:
            share = Fraction(str(_number(Plain(text)))) / 100
        except ValueError:
            return usual(value)
        return f"write {float(share)}" if Fraction(1, 100) <= share < 1 else usual(value)

    form = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
    kind = unquoted("a number between 0 and 1, such as 0.99", parse, form)
    usual = kind.fix
    return replace(kind, fix=fix)


def switch() -> Scalar:
    """Take ``on`` or ``off``, ``true`` or ``false``."""

    def parse(given: str) -> bool:
        if given in {"on", "off"}:
            return given == "on"
        if isinstance(given, Plain) and given in {"true", "false"}:
            return given == "true"
        raise ValueError

    form = {"enum": [True, False, "on", "off"]}
    return unquoted("on or off", parse, form, lambda value: "on" if value else "off")


def duration(*, positive: bool = False) -> Scalar:
    """Take seconds, or a number with a unit: ``500ms``, ``60s``, ``2min``, ``1h``."""

    def parse(given: str) -> float:
        scaled = re.fullmatch(_DURATION, given)
        seconds = float(_scaled(given, _SECONDS) if scaled else _number(given))
        if not 0 <= seconds <= MAX_SECONDS or (positive and seconds == 0):
            raise ValueError
        return seconds

    least = "more than 0" if positive else "0 or more"
    needs = f"a duration such as 500ms, 60s, 2min or 1h, {least} and at most {MAX_SECONDS:,} s"
    number: JsonSchema = {"type": "number", "maximum": MAX_SECONDS}
    number["exclusiveMinimum" if positive else "minimum"] = 0
    form = {"anyOf": [number, _unit_form(_DURATION, positive=positive)]}
    return unquoted(
        needs, parse, form, lambda seconds: f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"
    )


def seconds_of(text: str) -> float | None:
    """Read a duration that stands elsewhere than in a campaign; None when it is none."""
    try:
        seconds: float = duration().parse(Plain(text))
    except ValueError:
        return None
    return seconds


def size(*, positive: bool = False) -> Scalar:
    """Take bytes, or a number with a unit: ``64MB`` is 64,000,000, ``64MiB`` is 67,108,864."""

    def parse(given: str) -> int:
        if re.fullmatch(_SIZE, given):
            count = round(_scaled(given, _BYTES))
        else:
            count = _whole(given, 0, _MOST_BYTES)
        if positive and count == 0:
            raise ValueError
        return count

    def spell(count: int) -> str | int:
        units = [(unit, factor) for unit, factor in _BYTES.items() if count and count % factor == 0]
        unit, factor = max(units, key=lambda item: item[1], default=("B", 1))
        return count if unit == "B" else f"{count // factor}{unit}"

    needs = f"a size such as 4096, 64MB or 1GiB, {'at least 1' if positive else '0 or more'}"
    number = _whole_form(int(positive), _MOST_BYTES)
    form = {"anyOf": [number, _unit_form(_SIZE, positive=positive)]}
    return unquoted(needs, parse, form, spell)


def _number(given: str) -> int | float:
    """Read a number as JSON spells it; a fraction that is none makes a whole number."""
    if not isinstance(given, Plain) or not _NUMBER.fullmatch(given):
        return float("nan")
    return int(given) if given.lstrip("-").isdigit() else float(given)


def _whole(given: str, minimum: int, maximum: int) -> int:
    number = _number(given)
    if not minimum <= number <= maximum or number != int(number):
        raise ValueError
    return int(number)


def _whole_form(minimum: int, maximum: int) -> JsonSchema:
    return {"type": "integer", "minimum": minimum, "maximum": maximum}


def _scaled(given: str, units: Mapping[str, int | Fraction]) -> Fraction:
    match = _UNIT.fullmatch(given)
    assert match is not None  # the caller's pattern is narrower
    return Fraction(match["number"]) * units[match["unit"]]


def _unit_form(regex: str, *, positive: bool) -> JsonSchema:
    return {"type": "string", "pattern": f"^{_NOT_ZERO if positive else ''}({regex})$"}


# --- What the texts of a campaign may hold: placeholders and what fills them in.


VALUE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
PORT_NAME = re.compile(rf"({VALUE_NAME.pattern})\.port")
SEED_NAME = "layout_seed"  # has a value in builds of each session and in variables alone
_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}|[{}]")


class TemplateError(ValueError):
    """A text is no template; `part` is what is wrong in it."""

    def __init__(self, what: str, part: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.part, self.fix = what, part, fix


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A parsed template: texts and names in turn, beginning and ending with a text."""

    texts: tuple[str, ...]
    names: tuple[str, ...]

    def fill(self, values: Mapping[str, str]) -> str:
        """Put the values in; what is filled in is not looked at again."""
        parts = [self.texts[0]]
        for name, text in zip(self.names, self.texts[1:], strict=True):
            parts += (values[name], text)
        return "".join(parts)


def parse_template(text: str) -> Template:
    """Parse a text with placeholders."""
    texts = [""]
    names: list[str] = []
    end = 0
    for match in _TOKEN.finditer(text):
        texts[-1] += text[end : match.start()]
        end = match.end()
        token, name = match.group(), match["name"]
        if name is not None:
            if not VALUE_NAME.fullmatch(name) and not PORT_NAME.fullmatch(name):
                raise TemplateError(
                    f"{quote(token)} is not a placeholder",
                    token,
                    "write {name}, or double the braces where they stand for themselves:"
                    f" {{{token}}}",
                )
            names.append(name)
            texts.append("")
        elif len(token) == 2:
            texts[-1] += token[0]
        else:
            what = f"the brace '{token}' stands alone"
            raise TemplateError(what, token, f"write '{token * 2}' for a brace")
    texts[-1] += text[end:]
    return Template(texts=tuple(texts), names=tuple(names))


def names_in(part: object) -> Iterator[str]:
    """Give the names in all texts of a part of a campaign's file; what is no template is reported where it is filled in."""
    if isinstance(part, str):
        with contextlib.suppress(TemplateError):
            yield from parse_template(part).names
    elif isinstance(part, Mapping | list):
        for one in part.values() if isinstance(part, Mapping) else part:
            yield from names_in(one)


_SHELL_SIGNS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "2>", "2>&1", "&>"})

# A text, a list of arguments, or a text for the shell.
_Command = str | list[str] | Mapping[str, str]


_PARTS = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.""", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_IN_QUOTES = {"\n": "", "$": "$", "`": "`"}


def words_of(command: str) -> list[str]:
    r"""Split a command into arguments as a shell does; raises ValueError where a quote is left open.

    `shlex` keeps what continues a line, and the backslash of ``\$`` and of ``\` `` within double quotes.
    """

    def mended(part: re.Match[str]) -> str:
        if part[0].startswith('"'):
            return _ESCAPED.sub(lambda one: _IN_QUOTES.get(one[1], one[0]), part[0])
        return "" if part[0] == "\\\n" else part[0]

    return shlex.split(_PARTS.sub(mended, command))


class Filler:
    """Fills templates for one campaign; each template is parsed and reported once.

    `notes` collects what is only odd; `misplaced` says of names that stand for something
    elsewhere what is wrong with them at a place where they have no value, and the remedy.
    """

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.notes: list[str] = []
        self.misplaced: dict[str, tuple[str, str]] = {}
        self._parsed: dict[Location, list[Template]] = {}
        # By place, and by place and name: in which cells (dicts, used as ordered sets).
        self._seen: dict[Location, dict[str, None]] = {}
        self._missing: dict[tuple[Location, str], dict[str, None]] = {}
        self._known: dict[tuple[Location, str], tuple[str, ...]] = {}

    def text(self, path: Location, text: str, values: Mapping[str, str], who: str) -> str:
        """Fill in the text that stands at `path`; `who` names the variant and benchmark."""
        template = self._templates(path, [text])[0]
        return self._fill(path, template, values, who)

    def command(
        self, path: Location, given: _Command, values: Mapping[str, str], who: str
    ) -> Command:
        """Make the command that stands at `path`."""
        argv: list[str]
        if isinstance(given, list):
            argv = [
                self.text((*path, index), argument, values, who)
                for index, argument in enumerate(given)
            ]
        elif isinstance(given, str):
            argv = [self._fill(path, part, values, who) for part in self._split(path, given)]
        else:
            argv = ["/bin/sh", "-c", self.text((*path, "shell"), given["shell"], values, who)]
        if argv and not argv[0]:
            place = (*path, 0) if isinstance(given, list) else path
            self.faults.report(place, "the command begins with an empty text", "name a program")
        return Command(argv=tuple(argv), mark=self.faults.document.where(path))

    def steps(
        self,
        path: Location,
        given: str | Mapping[str, str] | Sequence[_Command] | None,
        values: Mapping[str, str],
        who: str,
    ) -> tuple[Command, ...]:
        """Make the commands that stand at `path`: a list of them, one, or none."""
        if isinstance(given, str | Mapping):
            return (self.command(path, given, values, who),)
        return tuple(
            self.command((*path, index), step, values, who)
            for index, step in enumerate(given or ())
        )

    def finish(self, silent: Collection[str]) -> None:
        """Report the placeholders that have no value, but for the names in `silent`."""
        for (path, name), missing in self._missing.items():
            if name in silent:
                continue
            known = self._known[path, name]
            misplaced = _misplaced_seed(path) if name == SEED_NAME else self.misplaced.get(name)
            if misplaced is not None:
                self.faults.report(path, *misplaced, part=f"{{{name}}}")
                continue
            near = nearest(name, known)
            fix = f"did you mean '{{{near}}}'? Known here: " if near else "known here: "
            fix += ", ".join(known)
            if not known:
                fix = "no variant and no benchmark belongs to it; a brace is written '{{'"
            what = f"unknown placeholder '{{{name}}}'"
            if len(missing) < len(self._seen[path]):
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                what = f"'{{{name}}}' has no value {next(iter(missing))}{more}"
            self.faults.report(path, what, fix, part=f"{{{name}}}")

    def _fill(self, path: Location, template: Template, values: Mapping[str, str], who: str) -> str:
        self._seen.setdefault(path, {})[who] = None
        missing = [name for name in dict.fromkeys(template.names) if name not in values]
        for name in missing:
            self._missing.setdefault((path, name), {})[who] = None
            self._known.setdefault((path, name), tuple(values))
        return "-" if missing else template.fill(values)

    def _split(self, path: Location, text: str) -> list[Template]:
        """Split a command into arguments first, so that a value with blanks stays one."""
        if path in self._parsed:
            return self._parsed[path]
        try:
            words = words_of(text)
        except ValueError as error:
            self.faults.report(
                path, f"the command cannot be split: {error}".lower(), "close the quotes"
            )
            words = ["-"]
        if not words:
            self.faults.report(path, "the command is empty", "name a program")
            words = ["-"]
        signs = [word for word in words if word in _SHELL_SIGNS]
        if signs:
            self.notes.append(
                f"{self.faults.document.where(path)}: '{signs[0]}' is an argument here;"
                " for a shell write {shell: TEXT}"
            )
        return self._templates(path, words)

    def _templates(self, path: Location, texts: Sequence[str]) -> list[Template]:
        if path not in self._parsed:
            templates = []
            for text in texts:
                try:
                    templates.append(parse_template(text))
                except TemplateError as error:
                    self.faults.report(path, error.what, error.fix, part=error.part)
                    templates.append(Template(texts=("-",), names=()))
            self._parsed[path] = templates
        return self._parsed[path]


def _misplaced_seed(path: Location) -> tuple[str, str]:
    """Say where the seed of a session may stand: what is wrong at a place, and the remedy."""
    text = f"'{{{SEED_NAME}}}' is the seed of a session"
    if "build" in (path[0], *path[2:3]) and "artifacts" not in path:
        fix = "write build: {each: session, run: ...}, or delete it"
        return f"{text}, and this build is executed once for all of them", fix
    fix = "it may stand in 'env', and in the 'run' of a build with 'each: session'"
    return f"{text}, and cannot stand here", fix
