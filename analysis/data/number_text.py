"""Numbers as files write them: the decimal sign, and the separator between the cells of a line.

``1,234`` is 1.234 where a comma is the decimal sign, and 1234 where commas group thousands. A column
in which every comma may be either says nothing of itself, and the wrong choice is wrong by a factor
of 1000.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from ..errors import AnalysisError

Decimal = Literal["comma", "point"]
Layout = Literal["rows", "columns"]

# each character has one way to match: a wrong one at the end is found in one pass
NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_NO_NUMBER = re.compile(r"[-+]?(nan|inf|infinity)", re.IGNORECASE)
_COMMA = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?", re.ASCII)
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?([eE][-+]?\d+)?", re.ASCII)
_POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+,\d+", re.ASCII)
_EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}", re.ASCII)
_NOT_ZERO = re.compile(r"[1-9]")
_FORMS = (NUMBER, _COMMA, _GROUPED, _POINTS, _NO_NUMBER)


class Commas(NamedTuple):
    """What the commas in the numbers of one column are.

    `decimal`: The decimal sign; None where both readings fit every number with a comma. `example`:
    A number with a comma, "" where there is none.
    """

    decimal: Decimal | None
    example: str = ""


def is_numeric(text: str) -> bool:
    """Tell whether a text is a number in any notation, with a point, a comma, or groups of thousands."""
    return any(form.fullmatch(text) for form in _FORMS)


def commas_of(texts: Iterable[str], found: Decimal | None = None) -> Commas:
    """Tell what the commas in a column of numbers are, where no comma parts its cells.

    A comma that does not stand before exactly three digits, or that stands behind 0 or more than
    three digits, groups no thousands: it decides for the whole column.
    """
    if found is not None:
        return Commas(found)
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


Line = tuple[int, str]

SAY = "say which with --decimal comma or --decimal point (decimal= in Python)"
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_REMARK = re.compile(r'(\s*"?[-+.,\deE]+"?\s*)#', re.ASCII)  # behind one number
_WIDE = ", "  # parts cells whose numbers have decimal commas
_BETWEEN = re.compile(r"(?:^|, +)((?:[^,]|,(?! ))*)")


class PlacedText(NamedTuple):
    """A text with its place."""

    text: str
    line: int
    column: int


_ABOVE = re.compile(r"((?:[ \t]*(?:#.*)?\n)*[ \t]*)(#+)[ \t]*(.*\n)([^#\s].*)")


def headed(text: str) -> str:
    """Give a text whose columns a comment names, ``# size time_ms`` right above the first row, with it as headings."""
    if (found := _ABOVE.match(text)) is None:
        return text
    mark = next((sign for sign in "\t;|," if sign in found[4]), None)
    words, cells = found[3].split(mark), found[4].split(mark)
    named = len({*words}) == len(words) and all(re.search(r"[^\W\d]", word) for word in words)
    if not (
        named and len(words) == len(cells) > 1 and any(is_numeric(one.strip()) for one in cells)
    ):
        return text
    return f"{found[1]}{' ' * len(found[2])}{text[found.end(2) :]}"


def lines_of(text: str) -> Iterator[Line]:
    """Give the lines that hold something; one that opens a quoted cell goes on in the next."""
    waiting, begun = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if waiting:
            waiting += f"\n{line}"
            if waiting.count('"') % 2 == 0:
                yield begun, waiting
                waiting = ""
            continue
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line.count('"') % 2 and re.search(r'(?:^|[,;\t])[ ]*"(?:[^"]|"")*$', line):
            waiting, begun = line, number
            continue
        remark = _REMARK.match(line)
        yield number, line if remark is None else remark[1]
    if waiting:
        yield begun, waiting


def _bare(line: str) -> str:
    return _QUOTED.sub('""', line) if '"' in line else line


def separator_of(lines: Sequence[Line], source: str, decimal: Decimal | None) -> str:
    """Find what parts the cells: a tab, ``;``, ``,``, a comma and a blank, or "" for blanks."""
    first = _bare(lines[0][1])
    if "\t" in first:
        return "\t"
    commas = any("," in _bare(line) for _, line in lines)
    if ";" in first and not (commas and _fitting(lines, ",") > _fitting(lines, ";")):
        return ";"
    return _comma(lines, source, decimal) if commas else ""


def _fitting(lines: Sequence[Line], mark: str) -> int:
    return sum(
        all(is_numeric(one.text) or not one.text for one in row[1:])
        for row in (cells_of(line, 0, mark) for _, line in lines)
        if len(row) > 1
    )


def _comma(lines: Sequence[Line], source: str, decimal: Decimal | None) -> str:
    """Tell whether commas part the cells, or are in numbers that blanks, or lines, part."""
    mark, inside = "", _inside_numbers(lines, "")
    if inside is None and any(_WIDE in _bare(line) for _, line in lines):
        mark, inside = _WIDE, _inside_numbers(lines, _WIDE)
    if inside is None:
        return ","
    number, token, apart = inside
    if not apart:
        return mark
    if decimal is not None:
        return mark if decimal == "comma" else ","
    point = " and ".join(part.strip() for part in token.split(","))
    fix = f"{SAY}; a comma that parts two values may have a blank behind it"
    if _GROUPED.fullmatch(token):
        fix += ", and a number needs no commas between its thousands"
    raise AnalysisError(
        f"{token!r} may be one number, {token.replace('.', '').replace(',', '.')} (--decimal comma), or "
        f"{point}, parted by a comma (--decimal point)"
        if number_in(token, "comma") is not None
        else f"{token!r} may be one number of thousands, or {point}, parted by commas (--decimal point)",
        f"{source}:{number}",
        fix,
    )


def _inside_numbers(lines: Sequence[Line], mark: str) -> tuple[int, str, bool] | None:
    """Find a number with a comma in it, where every line can be read so, its cells parted by `mark`.

    Gives its line, the number, and whether the lines can be parted at their commas as well; None where
    commas can be separators only.
    """
    found: tuple[int, str] | None = None
    apart = True
    for k, (number, line) in enumerate(lines):
        if '"' in line:
            return None
        head, *rest = (one.text for one in cells_of(line, number, mark))
        numbers = [head, *rest] if is_numeric(head) else rest
        if (
            not numbers
            or ("," in head and not is_numeric(head))
            or not all(map(is_numeric, numbers))
        ):
            if k == 0 and "," not in line.replace(mark or " ", ""):
                continue  # headings
            return None
        with_comma = next((one for one in numbers if "," in one), None)
        if with_comma is not None and found is None:
            found = (number, with_comma)
        values = cells_of(line, number, ",")[1:]
        apart = apart and all(NUMBER.fullmatch(one.text) for one in values)
    return None if found is None else (*found, apart)


def cells_of(line: str, number: int, mark: str) -> list[PlacedText]:
    """Part a line at a separator; quotes and blanks around a cell are left out."""
    if mark == _WIDE:
        return [_cell(m[1], number, m.start(1)) for m in _BETWEEN.finditer(line)]
    if not mark:
        pattern = re.compile(r'"(?:[^"]|"")*"(?=[ ]|$)|[^ \t]+')
        return [_cell(m.group(), number, m.start()) for m in pattern.finditer(line)]
    pattern = re.compile(rf'(?:^|{mark})([^\S\t]*"(?:[^"]|"")*"[^\S\t]*(?={mark}|$)|[^{mark}]*)')
    return [_cell(m.group(1), number, m.start(1)) for m in pattern.finditer(line)]


def _cell(raw: str, line: int, start: int) -> PlacedText:
    text = raw.strip()
    lead = len(raw) - len(raw.lstrip())
    if len(text) >= 2 and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"').strip()
    return PlacedText(text, line, start + lead + 1)
