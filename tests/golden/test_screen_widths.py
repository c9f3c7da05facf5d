"""No screen is wider than 80 columns: the stored answers of all commands, executed with COLUMNS=80.

Left out is what is no screen: files that were written, forms that other programs read, messages of errors (whose
lines a terminal breaks), and single words, such as paths, that are longer than a line.
"""

from __future__ import annotations

import re

import pytest
from answers import ANSWERS, stored

FORMS = re.compile(r"--json|--format (?!txt)|--to |-o -|--help|--csv|--annotations|--summary")
WIDTH = 80


def screens() -> list[tuple[str, str]]:
    return [
        (command, text)
        for path in sorted(ANSWERS.glob("*.txt"))
        if path.name not in {"lines.txt", "export.txt", "help.txt"}
        for command, text in stored(path).items()
        if not FORMS.search(command)
    ]


def on_the_screen(text: str) -> list[str]:
    """Give the lines that a command prints on standard output."""
    shown = re.split(r"(?m)^\[(?:stderr|file |exit code )", text)[0]
    return shown.replace("<version>", "0.2.1").split("\n")


def held(line: str) -> bool:
    """Tell whether a line is no wider than a screen, or is one word that cannot be broken."""
    return len(line) <= WIDTH or len(line.split()) == 1


@pytest.mark.parametrize(("command", "text"), screens(), ids=lambda one: one[:40])
def test_no_line_is_wider_than_80_columns(command: str, text: str) -> None:
    wide = [line for line in on_the_screen(text) if not held(line)]
    assert wide == [], command


def test_a_wide_line_is_found() -> None:
    assert not held("word " * 17)
    assert held("runs/" + "y" * 90)
    assert len(screens()) > 100
