"""Counts are compared exactly: the authority is their own sums."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.why.instructions.result import InstructionsAnswer, compare_counts

BASE = {("visit", "app"): 50, ("weigh", "app"): 100, ("puts", "libc.so.6"): 7}
CAND = {("visit", "app"): 50, ("weigh.isra.0", "app"): 400, ("puts", "libc.so.6"): 7}


def compared(baseline=(BASE, BASE), candidate=(CAND, CAND), **more):
    return compare_counts(
        baseline,
        candidate,
        trial="runs/x",
        benchmark="keys",
        names=("old", "new"),
        valgrind="3.19.0",
        **more,
    )


def test_rows_are_sorted_by_the_size_of_the_difference_and_add_up():
    told = compared()
    assert [row.function for row in told.rows] == ["weigh", "puts", "visit"]
    assert told.rows[0].difference == 300
    assert told.total.baseline == sum(BASE.values())
    assert told.total.difference == sum(row.difference for row in told.rows)
    assert told.cautions == ()


def test_what_is_not_alike_in_two_executions_is_said():
    told = compared(candidate=(CAND, {**CAND, ("puts", "libc.so.6"): 9}))
    assert [row.same_twice for row in told.rows] == [True, False, True]
    (caution,) = told.cautions
    assert caution.code == "counts-differ"
    assert "1 of 3 functions, most in puts by 2" in caution.text
    assert "less than the difference" in caution.text
    assert "not alike" in str(told)


def test_what_varies_as_much_as_it_differs_concludes_nothing():
    told = compared(candidate=(CAND, BASE))
    assert "nothing can be concluded" in told.cautions[0].text


def test_a_rename_that_was_told_makes_one_row_of_two():
    renamed = {("visit", "app"): 50, ("weigh_keys", "app"): 400, ("puts", "libc.so.6"): 7}
    assert len(compared(candidate=(renamed, renamed)).rows) == 4
    told = compared(candidate=(renamed, renamed), renames={"weigh": "weigh_keys"})
    assert (told.rows[0].function, told.rows[0].baseline, told.rows[0].candidate) == (
        "weigh_keys",
        100,
        400,
    )


@pytest.mark.parametrize(
    ("many", "said"),
    [
        (457, "new executes 2.91 times the instructions of old, most in weigh"),
        (190, "new executes 21 % more instructions than old, most in weigh"),
        (157, "new executes as many instructions as old"),
        (117, "new executes 25 % fewer instructions than old, most in weigh"),
    ],
)
def test_the_first_line_says_how_many_more(many, said):
    counts = {**BASE, ("weigh", "app"): many - 57}
    lines = str(InstructionsAnswer(answers=(compared(candidate=(counts, counts)),))).splitlines()
    assert lines[0] == f"keys: {said}"
    assert max(map(len, lines)) <= 80
    assert lines[-1].startswith("next  fairtrial why runs/x:new --benchmark keys")


def test_programs_whose_files_have_different_names_are_one_object():
    old, new = ({(name, f"app-{v}"): 9 for name in ("f", "g")} for v in ("old", "new"))
    assert len(compared((old, old), (new, new)).rows) == 4
    told = compared((old, old), (new, new), programs=("app-old", "app-new"))
    assert [row.difference for row in told.rows] == [0, 0]


def test_the_documentation_shows_this_screen():
    """The counts are those of `weigh`, once with 1,000 and once with 6,000 rounds in a call (tests/why_programs.py)."""
    own = {("parse", "keys"): 18_005_000, ("visit", "keys"): 13_005}
    others = {(f"_dl_{number}", "ld-linux-x86-64.so.2"): 577 for number in range(200)}
    old, new = ({**own, **others, ("weigh", "keys"): many} for many in (6_005_000, 36_005_000))
    told = compare_counts(
        (old, old),
        (new, new),
        trial="runs/NAME",
        benchmark="keys",
        names=("old", "new"),
        valgrind="3.19.0",
    )
    page = Path(__file__).parents[4] / "docs" / "why.md"
    assert f"```\n{InstructionsAnswer(answers=(told,))}\n```\n" in page.read_text()
