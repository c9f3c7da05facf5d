"""One parser for all commands: help in 80 columns, errors that say what to do, values behind '='."""

from __future__ import annotations

import argparse
import math

import pytest

from analysis.errors import UsageError
from analysis.options import COMMANDS, patience
from harness.commands.command_parser import CommandParser, HelpFormatter, parser_of

EVERY = parser_of(list(COMMANDS)).commands


@pytest.mark.parametrize("columns", ["80", "200"])
@pytest.mark.parametrize("name", EVERY)
def test_no_help_is_wider_than_80_columns(name, columns, monkeypatch):
    # first use: examples of up to 115 columns, a description of 360
    monkeypatch.setenv("COLUMNS", columns)
    lines = EVERY[name].format_help().splitlines()
    assert max(map(len, lines)) <= min(int(columns), 80)


@pytest.mark.parametrize("name", EVERY)
def test_no_name_of_an_option_is_broken_at_a_hyphen(name, monkeypatch):
    # first use: '--wait-for-' and 'lock=SECONDS' in two lines
    monkeypatch.setenv("COLUMNS", "80")
    lines = EVERY[name].format_help().splitlines()
    assert [line for line in lines if line.endswith("-") and "--" in line] == []


def formatted(text, width=40):
    return HelpFormatter("p", width=width)._fill_text(text, width, "")


def test_text_is_filled_and_examples_stay_lines():
    text = "one two\nthree\n\nexamples:\n  p a     short\n  p bbb   also\nexit code: 5"
    assert formatted(text).splitlines() == [
        *("one two three", "", "examples:", "  p a      short", "  p bbb    also", "exit code: 5")
    ]


def test_an_example_that_is_too_long_has_its_meaning_below_and_can_be_pasted():
    text = (
        "examples:\n  p a    short\n  p one-long-word another-long-word third-one    what it does"
    )
    assert formatted(text).splitlines() == [
        *("examples:", "  p a", "      short"),
        *("  p one-long-word another-long-word \\", "      third-one", "      what it does"),
    ]


def test_no_example_is_broken_inside_its_quotes():
    text = "examples:\n  p 'one two three' 'four five six seven' \"eight nine\""
    assert formatted(text).splitlines()[1:] == [
        "  p 'one two three' \\",
        "      'four five six seven' \\",
        '      "eight nine"',
    ]


# --- --wait-for-lock=60 ---------------------------------------------------------------------------


@pytest.fixture
def parser():
    made = CommandParser(prog="p")
    waiting = made.add_argument(
        "--wait-for-lock", nargs="?", metavar="SECONDS", type=patience, default=0.0
    )
    waiting.by_equals = True
    made.add_argument("-n", "--name")
    made.add_argument("words", nargs="*")
    return made


@pytest.mark.parametrize(
    ("words", "waits", "rest"),
    [
        (["--wait-for-lock", "60"], math.inf, ["60"]),  # first use: it ate the command
        (["--wait-for-lock", "c.yaml"], math.inf, ["c.yaml"]),
        (["--wait-for-lock=60", "c.yaml"], 60.0, ["c.yaml"]),
        (["c.yaml", "--wait-for-lock"], math.inf, ["c.yaml"]),
        (["--wait", "c.yaml"], math.inf, ["c.yaml"]),  # any beginning of it that is no other's
        (["--wait=1.5"], 1.5, []),
        (["a", "--", "--wait-for-lock", "5"], 0.0, ["a", "--wait-for-lock", "5"]),
        (["a"], 0.0, ["a"]),
    ],
)
def test_what_waits_takes_its_number_behind_the_sign_alone(parser, words, waits, rest):
    args = parser.read(words)
    assert (args.wait_for_lock, args.words) == (waits, rest)


@pytest.mark.parametrize("text", ["x", "-1", "nan", "c.yaml"])
def test_a_wait_that_is_no_number_is_refused(parser, text):
    with pytest.raises(UsageError, match=f"must be a number of seconds, not '{text}'"):
        parser.read([f"--wait-for-lock={text}"])


def test_help_shows_that_the_sign_is_needed(parser):
    help_text = parser.format_help()
    assert help_text.count("--wait-for-lock[=SECONDS]") == 2
    assert "[--wait-for-lock[=SECONDS]]" in help_text


def test_what_argparse_refuses_is_a_usage_error_without_the_whole_usage(tmp_path, monkeypatch):
    parser = CommandParser(prog="p")
    parser.add_argument("--count", type=int)
    with pytest.raises(UsageError) as refused:
        parser.read(["--count", "x"])
    assert str(refused.value).splitlines() == [
        "p: argument --count: invalid int value: 'x'",
        "  fix: p --help shows what it takes",
    ]
    with pytest.raises(UsageError, match="with = where it begins with a dash; p --help"):
        parser.read(["--count", "-x"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--x.csv").touch()
    assert "write ./--x.csv for the file of that name" in str(
        CommandParser(prog="p c").refused("--x.csv")
    )
    assert refused.value.exit_code == 2
    assert isinstance(parser, argparse.ArgumentParser)
