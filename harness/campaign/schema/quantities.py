"""How numbers, switches, durations and sizes are spelled in a campaign file.

Numbers are written without quotes and as in JSON: no underscores, no leading zeros, no other
bases, nothing that is not finite. So the loader and the schema for editors agree on each of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from ..source.yaml_marks import Plain
from .kinds import JsonSchema, Refusal, Scalar, unquoted

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

    def parse(given: str) -> float:
        number = float(_number(given))
        if not 0 < number <= maximum:
            raise ValueError
        return number

    form = {"type": "number", "exclusiveMinimum": 0, "maximum": maximum}
    return unquoted(f"a number such as 0.015, more than 0 and at most {maximum}", parse, form)


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
