"""How numbers, switches, durations and sizes are spelled in a campaign file.

Numbers are written without quotes and as in JSON: no underscores, no leading zeros, no other
bases, nothing that is not finite. So the loader and the schema for editors agree on each of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..source.yaml_marks import Plain
from .kinds import JsonSchema, Unquoted, described, wrong

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


@dataclass(frozen=True)
class Whole(Unquoted):
    """A whole number between two bounds."""

    minimum: int
    maximum: int

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        if self.maximum >= 10**6:
            return f"a whole number of at least {self.minimum}"
        return f"a whole number from {self.minimum} to {self.maximum}"

    def parse(self, value: object) -> int:
        """Give the number; one that is too large is told its bound."""
        if isinstance(value, Plain) and _number(value) > self.maximum >= 10**6:
            raise wrong(f"must be at most {self.maximum:,}, not {described(value)}")
        return int(super().parse(value))

    def read(self, text: str) -> int:
        """Give the number."""
        number = _number(text)
        if not self.minimum <= number <= self.maximum or number != int(number):
            raise ValueError
        return int(number)

    def schema(self) -> JsonSchema:
        """Describe the spellings."""
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


@dataclass(frozen=True)
class Share(Unquoted):
    """A number above 0, and at most a bound: a part of a whole such as 0.015."""

    maximum: int

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        return f"a number such as 0.015, more than 0 and at most {self.maximum}"

    def read(self, text: str) -> float:
        """Give the number."""
        number = float(_number(text))
        if not 0 < number <= self.maximum:
            raise ValueError
        return number

    def schema(self) -> JsonSchema:
        """Describe the spellings."""
        return {"type": "number", "exclusiveMinimum": 0, "maximum": self.maximum}


@dataclass(frozen=True)
class Switch(Unquoted):
    """``on`` or ``off``, ``true`` or ``false``."""

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        return "on or off"

    def read(self, text: str) -> bool:
        """Tell whether it is on."""
        if text in {"on", "off"}:
            return text == "on"
        if isinstance(text, Plain) and text in {"true", "false"}:
            return text == "true"
        raise ValueError

    def schema(self) -> JsonSchema:
        """Describe the spellings."""
        return {"enum": [True, False, "on", "off"]}


@dataclass(frozen=True)
class Duration(Unquoted):
    """Seconds, or a number with a unit: ``500ms``, ``60s``, ``2min``, ``1h``."""

    positive: bool = False

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        more = "more than 0" if self.positive else "0 or more"
        return f"a duration such as 500ms, 60s, 2min or 1h, {more} and at most {MAX_SECONDS:,} s"

    def read(self, text: str) -> float:
        """Give the seconds."""
        scaled = re.fullmatch(_DURATION, text)
        seconds = float(_scaled(text, _SECONDS) if scaled else _number(text))
        if not 0 <= seconds <= MAX_SECONDS or (self.positive and seconds == 0):
            raise ValueError
        return seconds

    def schema(self) -> JsonSchema:
        """Describe the spellings."""
        number: JsonSchema = {"type": "number", "maximum": MAX_SECONDS}
        number["exclusiveMinimum" if self.positive else "minimum"] = 0
        return {"anyOf": [number, {"type": "string", "pattern": _anchored(self, _DURATION)}]}


@dataclass(frozen=True)
class Size(Unquoted):
    """Bytes, or a number with a unit: ``64MB`` is 64,000,000, ``64MiB`` is 67,108,864."""

    positive: bool = False

    @property
    def needs(self) -> str:
        """Say what is allowed."""
        least = "at least 1" if self.positive else "0 or more"
        return f"a size such as 4096, 64MB or 1GiB, {least}"

    def read(self, text: str) -> int:
        """Give the bytes."""
        if re.fullmatch(_SIZE, text):
            size = round(_scaled(text, _BYTES))
        else:
            size = Whole(0, 2**62).read(text)
        if self.positive and size == 0:
            raise ValueError
        return size

    def schema(self) -> JsonSchema:
        """Describe the spellings."""
        number = Whole(int(self.positive), 2**62).schema()
        return {"anyOf": [number, {"type": "string", "pattern": _anchored(self, _SIZE)}]}


def _number(text: str) -> int | float:
    """Read a number as JSON spells it; a fraction that is none makes a whole number."""
    if not isinstance(text, Plain) or not _NUMBER.fullmatch(text):
        return float("nan")
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _scaled(text: str, units: Mapping[str, int | Fraction]) -> Fraction:
    match = _UNIT.fullmatch(text)
    assert match is not None  # the caller's pattern is narrower
    return Fraction(match["number"]) * units[match["unit"]]


def _anchored(kind: Duration | Size, pattern: str) -> str:
    return f"^{_NOT_ZERO if kind.positive else ''}({pattern})$"
