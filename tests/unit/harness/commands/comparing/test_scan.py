"""Commands of a command line: parameters filled in as hyperfine does, names, the baseline first."""

from __future__ import annotations

import pytest

from analysis.errors import UsageError
from harness.commands.options import wanted_commands


@pytest.fixture
def wanted(compare_line):
    def read(*words):
        return [(one.command, one.name) for one in wanted_commands(compare_line(*words))]

    return read


def test_commands_stand_as_they_were_typed(wanted):
    assert wanted("gzip -6 f", "gzip -1 f") == [("gzip -6 f", None), ("gzip -1 f", None)]


def test_a_list_of_values_fills_the_command_and_names_it(wanted):
    assert wanted("-L", "level", "1,6,9", "gzip -{level} f") == [
        ("gzip -1 f", "level=1"),
        ("gzip -6 f", "level=6"),
        ("gzip -9 f", "level=9"),
    ]


def test_two_lists_give_all_combinations_the_last_changing_first(wanted):
    found = wanted("-L", "a", "x,y", "-L", "b", "1,2", "do {a} {b}")
    assert [command for command, _ in found] == ["do x 1", "do x 2", "do y 1", "do y 2"]
    assert found[1][1] == "a=x b=2"


def test_a_comma_behind_a_backslash_is_none(wanted):
    assert [command for command, _ in wanted("-L", "x", r"a\,b,c", "do {x}")] == ["do a,b", "do c"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("-P", "n", "1", "3"), ["1", "2", "3"]),
        (("-P", "n", "1", "8", "-D", "3"), ["1", "4", "7"]),
        (("-P", "n", "0.1", "0.5", "-D", "0.2"), ["0.1", "0.3", "0.5"]),  # exact decimals
        (("-P", "n", "5", "5"), ["5"]),
    ],
)
def test_a_scan_goes_by_steps(wanted, words, expected):
    assert [command for command, _ in wanted(*words, "do {n}")] == [f"do {n}" for n in expected]


def test_several_commands_with_parameters_are_named_by_themselves(wanted):
    assert wanted("-L", "n", "1,2", "a {n}", "b {n}")[1] == ("a 2", None)


def test_a_parameter_of_the_preparation_makes_commands(compare_line):
    # authority: hyperfine's own example, --prepare 'git checkout {branch}' 'make'
    words = ("-L", "branch", "x,y", "-p", "checkout {branch}", "make")
    found = wanted_commands(compare_line(*words))
    assert [(one.command, one.name, one.prepare) for one in found] == [
        ("make", "branch=x", "checkout x"),
        ("make", "branch=y", "checkout y"),
    ]
    several = wanted_commands(compare_line(*words, "make all"))
    assert several[3].name == "make all branch=y"


@pytest.mark.parametrize("baseline", ["gzip -6 f", "level=6"])
def test_the_baseline_comes_first_and_the_others_keep_their_order(wanted, baseline):
    found = wanted("-L", "level", "1,6,9", "--baseline", baseline, "gzip -{level} f")
    assert [name for _, name in found] == ["level=6", "level=1", "level=9"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-L", "level", "1,2", "gzip -1 f"), "no command has the parameter {level}"),
        (("-L", "n", "1,1", "do {n}"), "stands twice"),
        (("-L", "n", "1,2", "-P", "n", "1", "2", "do {n}"), "given twice"),
        (("-L", "1n", "1,2", "do {1n}"), "cannot be the name"),
        (("-P", "n", "1", "100", "do {n}"), "100 values, more than 50"),
        (("-L", "a", "1,2,3,4,5,6,7,8", "-L", "b", "1,2,3,4,5,6,7", "do {a} {b}"), "56 commands"),
        (("-P", "n", "3", "1", "do {n}"), "no value"),
        (("-P", "n", "1", "3", "-D", "0", "do {n}"), "no value"),
        (("-P", "n", "one", "3", "do {n}"), "not a number"),
        (("-D", "2", "do"), "-P, which is missing"),
        (("--baseline", "c", "a", "b"), "no command is 'c'"),
        (("-p", "x", "-p", "y", "a", "b", "c"), "2 --prepare for 3 commands"),
        (("-S", "sh", "-S", "sh", "-S", "sh", "a", "b"), "3 -S for 2 commands"),
        (("--stdin", "x", "--stdin", "y", "a"), "2 --stdin for 1 command"),
        (("-n", "old", "a", "b"), "1 name for 2 commands"),
        (("-n", "x", "-n", "x", "a", "b"), "two commands are named 'x'"),
    ],
)
def test_what_does_not_fit_is_refused(wanted, words, says):
    with pytest.raises(UsageError) as caught:
        wanted(*words)
    assert says in str(caught.value)
    assert caught.value.fix


def test_variants_are_names_of_files_and_unique(compare_line):
    words = ("gzip -6 -c data", "gzip -6 -c data", "./gzip", "***", "###")
    found = [one.variant for one in wanted_commands(compare_line(*words))]
    assert found[:2] == ["gzip-6-c-data", "gzip-6-c-data-2"]
    assert len(set(found)) == 5
    named = wanted_commands(compare_line("-n", "old one", "-n", "new", "a", "b"))
    assert [(one.name, one.variant) for one in named] == [("old one", "old-one"), ("new", "new")]
