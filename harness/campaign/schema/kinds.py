"""How each kind of value is spelled in a campaign file.

A kind reads the text of a scalar and describes the same spellings as JSON Schema, so that the
loader and the editor agree. Numbers and switches are written without quotes and as in JSON: no
underscores, no leading zeros, no other bases, nothing that is not finite.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from ..source.excerpt import quote
from ..source.yaml_marks import Plain

JsonSchema = dict[str, Any]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


def wrong(what: str, fix: str | None = None, path: Sequence[str | int] = ()) -> PydanticCustomError:
    """Make the error of a value; `what` continues the sentence that its key's name begins.

    `path` leads from the validated value to the wrong one inside it.
    """
    return PydanticCustomError("campaign", "{what}", {"what": what, "fix": fix, "path": [*path]})


def described(value: object) -> str:
    """Say in a message what was found instead."""
    if value is None:
        return "an empty value"
    if isinstance(value, str):
        return quote(value)
    return "a list" if isinstance(value, list) else "a mapping"


@dataclass(frozen=True)
class Kind(ABC):
    """One kind of scalar; put it beside the type of a field in ``Annotated``."""

    @property
    @abstractmethod
    def needs(self) -> str:
        """Say what is allowed, as the end of 'must be ...'."""

    @abstractmethod
    def read(self, text: str) -> Any:  # noqa: ANN401 - each kind has its own type
        """Give the value of the text, or raise ValueError."""

    @abstractmethod
    def schema(self) -> JsonSchema:
        """Describe the spellings as JSON Schema."""

    def parse(self, value: object) -> Any:  # noqa: ANN401 - see above
        """Give the value of what the file holds."""
        try:
            if not isinstance(value, str):
                raise ValueError  # noqa: TRY004 - one way out for every wrong value
            return self.read(value)
        except ValueError:
            raise wrong(f"must be {self.needs}, not {described(value)}", self.fix(value)) from None

    def fix(self, value: object) -> str | None:
        """Give a remedy for a wrong value, where there is one that its `needs` does not say."""
        return "give a value; put the text 'null' in quotes" if value is None else None

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Tell pydantic how to read the value."""
        return core_schema.no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchema:
        """Tell pydantic how editors shall check the value."""
        return self.schema()


@dataclass(frozen=True)
class Text(Kind):
    """Any text; numbers and switches count as the text that was written."""

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        return "a text"

    def read(self, text: str) -> str:
        """Give the text."""
        return str(text)

    def schema(self) -> JsonSchema:
        """Describe the spellings."""
        return {"type": ["string", "number", "boolean"], "pattern": "^[^\\u0000]*$"}


@dataclass(frozen=True)
class Unquoted(Kind):
    """A kind whose values are written without quotes."""

    def fix(self, value: object) -> str | None:
        """Point at quotes that hide a good value, or at an empty value."""
        if value is None:
            return "give a value, or delete the key"
        if not isinstance(value, str):
            return None
        bare = re.sub("[ _,]", "", value)
        try:
            self.read(Plain(bare))
        except ValueError:
            return None
        return f"write {bare} without quotes" if not isinstance(value, Plain) else f"write {bare}"


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        return one_of(self.words) if len(self.words) < 8 else "a known name"

    def read(self, text: str) -> str:
        """Give the word."""
        if text not in self.words:
            raise ValueError
        return str(text)

    def fix(self, value: object) -> str | None:
        """Give the nearest word."""
        near = nearest(value, self.words) if isinstance(value, str) else None
        fix = f"did you mean '{near}'? " if near else ""
        if len(self.words) >= 8:
            fix += ("Known here: " if near else "known here: ") + ", ".join(self.words)
        return fix.strip() or None

    def schema(self) -> JsonSchema:
        """Describe the spellings."""
        return {"enum": list(self.words)}


@dataclass(frozen=True)
class Name(Kind):
    """A name of a campaign, a variant, a benchmark or a metric."""

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        return "a name of at most 100 letters, digits and . _ + -, beginning with a letter or digit"

    def read(self, text: str) -> str:
        """Give the name."""
        if not NAME.fullmatch(text):
            raise ValueError
        return str(text)

    def schema(self) -> JsonSchema:
        """Describe the spellings."""
        return {
            "anyOf": [
                {"type": "string", "pattern": f"^{NAME.pattern}$"},
                {"type": "number", "minimum": 0},
                {"type": "boolean"},
            ]
        }


@dataclass(frozen=True)
class Pattern(Kind):
    """A text of a given shape."""

    pattern: str
    meaning: str

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        return self.meaning

    def read(self, text: str) -> str:
        """Give the text."""
        if not re.fullmatch(self.pattern, text):
            raise ValueError
        return str(text)

    def schema(self) -> JsonSchema:
        """Describe the spellings."""
        return {"type": "string", "pattern": f"^({self.pattern})$"}


@dataclass(frozen=True)
class Either(Unquoted):
    """The first of several kinds that reads the text."""

    kinds: tuple[Kind, ...]

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        return " or ".join(kind.needs for kind in self.kinds)

    def read(self, text: str) -> Any:  # noqa: ANN401 - of the kind that reads it
        """Give the value."""
        for kind in self.kinds:
            try:
                return kind.read(text)
            except ValueError:
                continue
        raise ValueError

    def schema(self) -> JsonSchema:
        """Describe the spellings."""
        return {"anyOf": [kind.schema() for kind in self.kinds]}


@dataclass(frozen=True)
class Key(Kind):
    """A key of a mapping; which keys are allowed stands in the mapping's own schema."""

    kind: Kind

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        return self.kind.needs

    def read(self, text: str) -> Any:  # noqa: ANN401 - of the kind that reads it
        """Give the key."""
        return self.kind.read(text)

    def schema(self) -> JsonSchema:
        """Describe any key."""
        return {"type": "string"}


class Given:
    """Beside an optional type: the key may be missing, but not be there without a value."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Take ``None`` out of what may stand in the file."""
        schema = handler(source)
        return schema["schema"] if schema["type"] == "nullable" else schema


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
