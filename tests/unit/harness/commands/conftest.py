from __future__ import annotations

import argparse

import pytest

from harness.commands.compare import add


@pytest.fixture(scope="session")
def compare_options():
    """Give the options of 'fairtrial compare' with these commands; the others have their defaults."""
    parser = argparse.ArgumentParser()
    add(parser.add_subparsers())

    def make(*commands, **given):
        args = parser.parse_args(["compare", "--", "true"])
        return argparse.Namespace(**vars(args) | {"commands": list(commands)} | given)

    return make
