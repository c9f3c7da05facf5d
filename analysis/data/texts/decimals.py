"""Numbers as files write them, with a decimal point or a decimal comma: read, or refused, never guessed.

``1,234`` is 1.234 where a comma is the decimal sign, and 1234 where commas group thousands. A column
in which every comma may be either says nothing of itself, and the wrong choice is wrong by a factor
of 1000.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["NUMBER", "Commas", "Decimal", "commas_of", "is_numeric", "number_in", "two_readings"]

Decimal = Literal["comma", "point"]

# each character has one way to match: a wrong one at the end is found in one pass
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_NO_NUMBER = re.compile(r"[-+]?(nan|inf|infinity)", re.IGNORECASE)
_COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?", re.ASCII)
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?([eE][-+]?\d+)?", re.ASCII)
_POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+,\d+", re.ASCII)
_EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}", re.ASCII)
_NOT_ZERO = re.compile(r"[1-9]")
_FORMS = (NUMBER, _COMMA, _GROUPED, _POINTS, _NO_NUMBER)


@dataclass(frozen=True, slots=True)
class Commas:
    """What the commas in the numbers of one column are.

    Attributes
    ----------
    decimal : {"comma", "point"} or None
        The decimal sign; None where both readings fit every number with a comma.
    example : str
        A number with a comma, "" where there is none.
    """

    decimal: Decimal | None
    example: str = ""


def is_numeric(text: str) -> bool:
    """Tell whether a text is a number in any notation, with a point, a comma, or groups of thousands."""
    return any(form.fullmatch(text) for form in _FORMS)


def commas_of(texts: Iterable[str], said: Decimal | None = None) -> Commas:
    """Tell what the commas in a column of numbers are, where no comma parts its cells.

    A comma that does not stand before exactly three digits, or that stands behind 0 or more than
    three digits, groups no thousands: it decides for the whole column.

    Parameters
    ----------
    texts : iterable of str
        The cells; those without a comma, and those that are no numbers, decide nothing.
    said : {"comma", "point"}, optional
        What a person said: then nothing is looked at.
    """
    if said is not None:
        return Commas(said)
    example = ""
    for text in texts:
        if "," in text and _COMMA.fullmatch(text):
            if not _EITHER.fullmatch(text):
                return Commas("comma", text)
            example = example or text
    return Commas(None if example else "point", example)


def two_readings(text: str) -> str:
    """Name what a number such as 1,234 may be, and how a person says which."""
    decimal, thousands = text.replace(",", "."), text.replace(",", "")
    return f"{decimal} (--decimal comma) or {thousands} (--decimal point)"


def number_in(text: str, decimal: Decimal | None = None) -> float | None:
    """Give the number that a text is; None for what is none, or is too small for a float.

    Digits of other scripts and underscores, which Python takes, are refused. With a decimal point that
    somebody stated commas may group thousands; with a decimal comma points may, in front of that comma.

    Parameters
    ----------
    text : str
        The text; blanks around it are left out.
    decimal : {"comma", "point"}, optional
        The decimal sign; a point by default.
    """
    plain = text.strip()
    if _NO_NUMBER.fullmatch(plain):
        return float(plain)
    if decimal == "comma":
        if _POINTS.fullmatch(plain):
            plain = plain.replace(".", "")
        if "." in plain or plain.count(",") > 1:
            return None
        plain = plain.replace(",", ".")
    elif decimal == "point" and _GROUPED.fullmatch(plain):
        plain = plain.replace(",", "")
    if not NUMBER.fullmatch(plain):
        return None
    value = float(plain)
    if value == 0 and _NOT_ZERO.search(re.split("[eE]", plain)[0]):
        return None  # 1e-400
    return value if not math.isnan(value) else None
