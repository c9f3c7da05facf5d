"""Show the offending line of a file with a caret under the offending token."""

from __future__ import annotations

import unicodedata

_WIDTH = 92
_INDENT = "  "


def excerpt(line: str, column: int, length: int = 1) -> str:
    """Give the line, indented, and below it carets.

    A long line is cut around the column. Control and format characters are replaced by visible
    ones of the same count, so that neither a terminal nor the alignment is disturbed.

    Parameters
    ----------
    line : str
        The line without its line break.
    column : int
        The token's first column, from 1.
    length : int
        The token's length in characters; cut where the shown line ends.
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
    """Cut a long line to a window that shows the column `start`."""
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
    """Tell how many columns of a terminal a character takes."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
