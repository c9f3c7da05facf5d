from __future__ import annotations

import io

import pytest

from harness.commands.command_parser import parser_for
from harness.commands.options import Comparing
from tests.unit.analysis.commands.conftest import executed as execute

__all__ = ["Terminal", "execute"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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
