"""How each kind of value is spelled in a campaign file.

A kind reads what the file holds and describes the same spellings as JSON Schema, so that the loader
and the editor agree. Numbers and switches are written without quotes and as in JSON: no
underscores, no leading zeros, no other bases, nothing that is not finite.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.words import normal

from ..source.excerpt import quote
from ..source.yaml_marks import Location, Plain
from .faults import Faults
from .letters import NAME, NAME_NEEDS

JsonSchema = dict[str, Any]

NAMES: JsonSchema = {"$ref": "#/$defs/Name"}  # for editors; it is long, and stands there once
EMPTY = "give a value, or delete the key"


class Refusal(ValueError):  # noqa: N818 - becomes a problem, not an error
    """A value that is refused in words of its own; `what` continues the sentence of its key."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Kind(ABC):
    """What may stand at a key."""

    @abstractmethod
    def read(self, value: object, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - each kind has its own type
        """Give the value of what the file holds at `at`, or `WRONG` once the faults are told."""

    @abstractmethod
    def schema(self, sections: dict[str, JsonSchema]) -> JsonSchema:
        """Describe the spellings as JSON Schema; `sections` collects those that are referred to."""

    def inner(self, _step: str | int) -> Kind | None:
        """Give what may stand one step further inside."""
        return None

    def spelled(self, value: Any) -> Any:  # noqa: ANN401 - see above
        """Write a value as a file could hold it, as a JSON type."""
        return value


def _fix_of_text(value: object) -> str | None:
    return "give a value; put the text 'null' in quotes" if value is None else None


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
    fix: Callable[[object], str | None] = _fix_of_text
    spell: Callable[[Any], Any] = lambda value: value

    def read(self, value: object, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - as the base
        """Give the value of a text."""
        try:
            if not isinstance(value, str):
                raise ValueError  # noqa: TRY004 - one way out for every wrong value
            return self.parse(value)
        except Refusal as refusal:
            return faults.value(at, f"{refusal.what}, not {described(value)}", None)
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


def pattern(regex: str, meaning: str) -> Scalar:
    """Take a text of a given shape."""

    def parse(given: str) -> str:
        if not re.fullmatch(regex, given):
            raise ValueError
        return str(given)

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

    def parse(given: str) -> str:
        if given not in words:
            raise ValueError
        return str(given)

    def fix(value: object) -> str | None:
        near = nearest(value, words) if isinstance(value, str) else None
        said = f"did you mean '{near}'? " if near else ""
        if many:
            said += ("Known here: " if near else "known here: ") + ", ".join(words)
        return said.strip() or None

    needs = "a known name" if many else one_of(words)
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
    return unquoted(needs, parse, {"anyOf": [kind.form for kind in kinds]})


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
