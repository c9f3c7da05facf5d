from __future__ import annotations

import argparse

import pytest

from harness.commands.command_parser import CommandParser
from harness.commands.compare import add


@pytest.fixture(scope="session")
def compare_options():
    """Give the options of 'fairtrial compare' with these commands; the others have their defaults."""
    parser = CommandParser(prog="fairtrial")
    add(parser.add_subparsers())

    def make(*commands, **given):
        args = parser.parse_args(["compare", "--", "true"])
        for name in {"prepare", "shell", "stdin"} & given.keys():
            given[name] = given[name] if isinstance(given[name], list) else [given[name]]
        return argparse.Namespace(**vars(args) | {"commands": list(commands)} | given)

    return make


@pytest.fixture(scope="session")
def compare_line():
    """Read a command line of 'fairtrial compare'."""
    parser = CommandParser(prog="fairtrial")
    add(parser.add_subparsers())

    def read(*words):
        return parser.parse_args(["compare", *words])

    return read
