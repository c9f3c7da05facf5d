from __future__ import annotations

import io

import pytest

from harness.cli import main
from harness.commands.command_parser import parser_for
from harness.commands.options import Comparing


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def execute(*words: object) -> tuple[int, str, str]:
    """Be the command line; give its exit code and what it says."""
    out, err = io.StringIO(), io.StringIO()
    return main([*map(str, words)], out, err), out.getvalue(), err.getvalue()


@pytest.fixture(scope="session")
def compare_line():
    """Read a command line of 'fairtrial compare'."""
    parser = parser_for("compare")

    def read(*words):
        return Comparing(**vars(parser.read(["compare", *words])))

    return read


@pytest.fixture(scope="session")
def compare_options(compare_line):
    """Give the options of 'fairtrial compare' with these commands; the others have their defaults."""

    def make(*commands, **given):
        for name in {"prepare", "shell", "stdin"} & given.keys():
            given[name] = given[name] if isinstance(given[name], list) else [given[name]]
        return Comparing(**vars(compare_line("true")) | {"commands": list(commands)} | given)

    return make
