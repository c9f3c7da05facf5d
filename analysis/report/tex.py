"""Texts and numbers as LaTeX reads them: nothing in them is a command."""

from __future__ import annotations

import re
import unicodedata

from ..words import shown

__all__ = ["escaped", "numeral"]

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # a command of babel's in some languages
    "'": r"{'}",  # two of them would be a quotation mark
    "`": r"{`}",
    "-": r"{-}",  # two of them would be a dash
    ",": r"{,}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "×": r"\ensuremath{\times}",
    "±": r"\ensuremath{\pm}",
    "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "≈": r"\ensuremath{\approx}",
    "µ": r"\ensuremath{\mu}",
    "μ": r"\ensuremath{\mu}",
    "·": r"\ensuremath{\cdot}",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "→": r"\ensuremath{\to}",
    "∞": r"\ensuremath{\infty}",
    "²": r"\textsuperscript{2}",
    "’": "'",
    "‘": r"`{}",
    "“": r"``",
    "”": "''",
}
# letters of LaTeX's oldest encoding of fonts, which a paper need not change for us: with one of these
# accents, or whole
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c")
_WHOLE = frozenset("ßæÆœŒøØåÅłŁçÇ§©")
_UNITS = {
    "s": r"\second",
    "ms": r"\milli\second",
    "µs": r"\micro\second",
    "ns": r"\nano\second",
    "%": r"\percent",
    "B": "B",
    "KiB": "KiB",
    "MiB": "MiB",
    "GiB": "GiB",
}
_QUANTITY = re.compile(r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?:\s(\S+))?")


def escaped(text: str) -> str:
    """Escape a text; what pdfLaTeX has no letter for is printed as its number there.

    Each such letter stands as ``ftUnicode{letter}{number}``, a command that the fragment defines.
    """
    joined = re.sub(r"(?<!-)-(?!-)", "\0", shown(text))
    joined = re.sub(r"(?<!,),(?!,)", "\1", joined)  # alone, neither is a ligature
    return "".join(map(_sign, joined))


def _sign(sign: str) -> str:
    if sign in "\0\1":
        return "-" if sign == "\0" else ","
    if sign in _SIGNS:
        return _SIGNS[sign]
    if sign.isascii() or _known(sign):
        return sign
    return rf"\ftUnicode{{{sign}}}{{{ord(sign):04X}}}"


def _known(sign: str) -> bool:
    parts = unicodedata.normalize("NFD", sign)
    accented = len(parts) == 2 and parts[0].isascii() and parts[0].isalpha()
    return sign in _WHOLE or (accented and parts[1] in _ACCENTS)


def numeral(text: str) -> str:
    """Give a number, with or without a unit, to siunitx; what is none is escaped."""
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return f"{{{escaped(text)}}}"
    number, unit = found[1], found[2]
    if unit is None:
        return rf"\num{{{number}}}"
    if unit not in _UNITS:
        return rf"\num{{{number}}}~{escaped(unit)}"
    return rf"\SI{{{number}}}{{{_UNITS[unit]}}}"
