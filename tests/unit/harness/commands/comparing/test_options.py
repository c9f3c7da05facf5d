"""Options of `compare`: those of hyperfine mean the same or are answered; none eats a command."""

from __future__ import annotations

import argparse

import pytest

from analysis.errors import UsageError
from harness.commands.options import duration, margin, remarks, wanted_commands


@pytest.mark.parametrize(
    ("words", "shell"),
    [
        ((), None),
        (("--shell",), "/bin/sh"),
        (("--shell=bash",), "bash"),
        (("-S", "bash"), "bash"),
        (("--shell=none",), None),
        (("-S", "none"), None),
        (("-N",), None),
    ],
)
def test_a_shell_is_asked_for_by_name_or_by_a_flag_that_eats_no_command(compare_line, words, shell):
    # the flag stands before commands in the first examples: it may not take one
    args = compare_line(*words, "sort f | uniq", "sort -u f")
    assert args.commands == ["sort f | uniq", "sort -u f"]
    assert [one.shell for one in wanted_commands(args)] == [shell] * 2


@pytest.mark.parametrize("option", ["--wait-for-lock", "--counters"])
def test_options_whose_value_stands_behind_equals_eat_no_command(compare_line, option):
    assert compare_line(option, "true", "false").commands == ["true", "false"]


def test_hyperfines_short_options(compare_line):
    words = "-w 3 -r 10 -i -p prep -s setup -c clean -n a -u ms -N -L x 1,2"
    args = compare_line(*words.split(), "do {x}")
    assert (args.warmup, args.runs, args.ignore_failure, args.time_unit) == (3, 10, True, "ms")
    assert (args.prepare, args.setup, args.cleanup) == (["prep"], "setup", "clean")
    assert args.name == ["a"]
    words = "-m 5 -M 50 -S zsh -P x 1 3 -D 1"
    args = compare_line(*words.split(), "do {x}")
    assert (args.min_runs, args.max_runs, args.shell) == (5, 50, ["zsh"])
    assert args.parameter_step_size == "1"
    long = "--warmup 1 --runs 2 --min-runs 1 --max-runs 3 --command-name n --input f -i"
    assert compare_line(*long.split(), "true").name == ["n"]


def test_what_has_nothing_to_do_is_said(compare_line):
    words = ("--style", "full", "--sort", "command", "-N", "true")
    assert list(remarks(compare_line(*words))) == [
        "-N: no shell is started anyway",
        "--style: not needed; -q prints the answer only",
        "--sort: not needed; commands stand as they were typed",
    ]
    assert list(remarks(compare_line("true"))) == []


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--export-orgmode=f", "--export-markdown FILE"),
        ("--export-asciidoc=f", "--export-markdown FILE"),
        ("--show-output", "fairtrial compare --try COMMAND"),
        ("--reference=x", "--baseline"),
        ("--marign", "did you mean --margin?"),
    ],
)
def test_what_is_not_here_is_answered(compare_line, option, says):
    with pytest.raises(UsageError) as caught:
        compare_line(option, "true")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("5m", 300), ("1h", 3600), ("500ms", 0.5), ("20", 20)]
)
def test_times(text, seconds):
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "-1", "0", "nan", "soon", "1e9"])
def test_what_is_no_time(text):
    with pytest.raises(argparse.ArgumentTypeError, match="90s"):
        duration(text)


@pytest.mark.parametrize(("text", "share"), [("3%", 0.03), ("3 %", 0.03), ("0.03", 0.03)])
def test_margins(text, share):
    assert margin(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["3", "0", "-1%", "60%", "x"])
def test_what_is_no_margin(text):
    with pytest.raises(argparse.ArgumentTypeError, match="3%"):
        margin(text)
