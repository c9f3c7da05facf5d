"""The numbers of the compact table as LaTeX commands, one for each, so that a paper cannot mistype them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..pages.as_markup import escaped
from ..words import shown

if TYPE_CHECKING:
    from ..pages.model import Value
    from .brief import Brief

__all__ = ["macros_of"]

_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_LONGEST = 40  # letters of a name's part
_HEAD = """\
% One command for each number of the report; a word is the candidate's, over the baseline.
% Read by \\input{numbers}; inside of siunitx: \\num{\\ftSpeedup...}. A command that is defined already
% is an error: two reports that name the same variants are not to be mixed.
"""


def macros_of(briefs: Sequence[Brief]) -> str:
    """Give ``numbers.tex``: a line for each number, with a remark that says what it is.

    A command is called ``ft``, what it is, the candidate, ``On`` and the benchmark (nothing for these
    benchmarks together, ``OnSimilar`` for others like them), in letters only: digits are written out,
    other signs part words, and a number is put behind a name that is taken. Further metrics have their
    name behind ``ft``. The same report gives the same commands.
    """
    taken: set[str] = set()
    lines = [_HEAD]
    for k, brief in enumerate(briefs):
        metric = _letters(brief["metric"]) if k else ""
        for name, text, remark in _commands(brief):
            told = _free(f"ft{metric}{name}", taken)
            lines.append(f"\\newcommand{{\\{told}}}{{{text}}}% {shown(remark)}\n")
    return "".join(lines)


def _commands(brief: Brief) -> Iterator[tuple[str, str, str]]:
    """Give each number's name, its text, and what it is."""
    yield "Metric", escaped(brief["metric"]), "what was judged"
    yield "Baseline", escaped(brief["baseline"]), "the side that all others are compared with"
    level = brief["level"].text.removesuffix("\N{NO-BREAK SPACE}%")
    yield "Level", level, "of each interval, in percent"
    for name, side, runs in brief["alone"]:
        of = _letters(name)
        yield from _quantity(f"Mean{of}", side["mean"], f"{name}: geometric mean")
        yield f"Runs{of}", runs.text, f"{name}: runs that count"
    for one in brief["candidates"]:
        for row in one["rows"]:
            if row["candidate"] is not None:
                line = f"On{_letters(row['name'])}"
            else:
                line = "OnSimilar" if row["name"] == "similar" else ""
            of = _letters(one["variant"]) + line
            about = f"{one['variant']}, {row['label']}"
            for what in ("Speedup", "Low", "High"):
                if text := row[what.lower()].text:
                    yield f"{what}{of}", text, f"{about}: {what.lower()}"
            yield f"Word{of}", row["word"], f"{about}: the answer"
            if row["candidate"] is not None:
                yield from _quantity(f"Mean{of}", row["candidate"]["mean"], f"{about}: its mean")
                base = f"{about}: the baseline's mean"
                yield from _quantity(f"Base{of}", row["baseline"]["mean"], base)


def _quantity(name: str, value: Value, remark: str) -> Iterator[tuple[str, str, str]]:
    """Give a quantity's number and its unit apart, as siunitx wants them."""
    if not value.text:
        return
    number, _, unit = value.text.partition(" ")
    yield name, number, remark + (f", in {unit}" if unit else "")


def _letters(name: str) -> str:
    """Write a name in letters: words begin with a capital, digits are written out."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.findall("[A-Za-z]+|[0-9]", plain)
    told = "".join(_DIGITS[int(w)] if w.isdigit() else w[0].upper() + w[1:] for w in words)
    return told[:_LONGEST] or "Unnamed"


def _free(name: str, taken: set[str]) -> str:
    """Put a number behind a name that is taken."""
    told, count = name, 1
    while told in taken:
        count += 1
        told = name + "No" + "".join(_DIGITS[int(digit)] for digit in str(count))
    taken.add(told)
    return told
