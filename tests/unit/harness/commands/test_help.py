"""What --help says of the runner's commands, and what else answers without measuring."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import shutil

import pytest

from analysis.options import COMMANDS as ALL
from harness.cli import main
from harness.commands.catalogue import parser_of as parser_with

COMMANDS = [name for name, one in ALL.items() if one.module.startswith("harness")]


def execute(*words):
    out, err = io.StringIO(), io.StringIO()
    return main(words, out, err), out.getvalue(), err.getvalue()


def parser_of(name):
    return parser_with([name]).commands[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_a_description_an_example_and_every_default(name):
    # first use: no description, no example, no defaults
    parser = parser_of(name)
    assert len(parser.description) > 40
    assert f"fairtrial {name}" in parser.epilog
    for action in parser._actions:
        assert action.help, action.dest
        if action.default not in (None, False, [], argparse.SUPPRESS):
            assert f"(default: {action.default})" in action.help, action.dest


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_accepted_by_the_parser(name, capsys):
    lines = re.findall(rf"^  fairtrial {name} ?(.*)$", parser_of(name).epilog, re.MULTILINE)
    assert lines
    for line in lines:
        words = shlex.split(re.split(r"   +| > ", " " + line if line.startswith(" ") else line)[0])
        assert vars(parser_of(name).parse_args(words)), line


# --- doctor -q ----------------------------------------------------------------------------------


def test_a_quiet_doctor_tells_only_what_is_not_in_order():
    _, whole, _ = execute("doctor")
    _, quiet, _ = execute("doctor", "-q")
    found = re.findall(r"^  (ok|warn|fail|unknown) ", quiet, re.MULTILINE)
    assert "ok" not in found
    assert not quiet or quiet.startswith("  ")  # no head, no last line
    assert len(quiet) < len(whole)


# --- status --diff ------------------------------------------------------------------------------


@pytest.fixture
def two(tmp_path):
    for name in "AB":
        shutil.copytree("tests/data/sample-0.2.0", tmp_path / name)
    return tmp_path / "A", tmp_path / "B"


@pytest.mark.parametrize("order", [("--diff", 0, 1), (0, "--diff", 1)])
def test_two_trials_are_compared_in_the_order_they_are_named(two, order):
    # first use: 'status --diff A B' printed "B -> A"
    words = [str(two[word]) if isinstance(word, int) else word for word in order]
    assert execute("status", *words)[1].startswith("A -> B: ")


@pytest.mark.parametrize("order", [("--diff", 0), (0, "--diff")])
def test_one_trial_is_compared_from_session_to_session(two, order):
    words = [str(two[word]) if isinstance(word, int) else word for word in order]
    code, said, _ = execute("status", *words)
    assert (code, said.startswith("session 1 -> session 2: ")) == (0, True)


def test_three_trials_are_no_pair(two):
    assert execute("status", "--diff", *map(str, (*two, two[0])))[0] == 2
    assert execute("status", "--diff")[0] == 2
