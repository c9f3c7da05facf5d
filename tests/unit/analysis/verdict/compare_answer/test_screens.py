"""What of the screens of `compare` needs made trials; whole ones in 80 columns: tests/screens."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from analysis.commands.compared import write_exports
from analysis.verdict.compare import Standing, answer_sentence, screen_of

GZIPS = (("gzip -6 -k -c data", 0.1, 0.05), ("gzip -1 -k -c data", 0.055, 0.08))
FIVE = (
    ("gzip -6 f", 0.242, 0.02),
    ("gzip -1 f", 0.053, 0.05),
    ("gzip -2 f", 0.062, 0.04),
    ("gzip -7 f", 0.310, 0.03),
    ("pigz f", 0.244, 0.09),
)


def test_a_tie_at_the_top_is_named(compared):
    found = compared(FIVE, standing=Standing(leader="v1", beside=("v2",)))
    assert screen_of(found, short=True) == (
        """\
fastest of 5: 'gzip -1 f' or 'gzip -2 f' (undecided between them); 'gzip -6 f'
takes 4.6 times as long as 'gzip -1 f'; 'gzip -7 f' takes 28 % more time than
'gzip -6 f'; 'pigz f' is slower than one of them
(36 runs each in 6 sessions, 1.2 s)"""
    )


def test_what_is_decided_of_three_is_said_beside_what_is_not(compared):
    # authority: rules-2, section 10 (C1): who cannot be the fastest is told, and nobody else
    commands = (("old", 0.1, 0.003), ("new", 0.11, 0.003), ("noisy", 0.1, 0.3))
    found = compared(commands, standing=Standing(leader="v2", beside=("v0",)))
    assert found.possible == ("v0", "v2")
    assert found.to_dict()["standing"]["possible"] == ["v0", "v2"]
    assert answer_sentence(found) == (
        "fastest of 3: 'noisy' or 'old' (undecided between them); 'new' takes 9.8 % more time than 'old'"
    )


def test_narrow_terminals_lose_columns_and_keep_the_answer(compared):
    told = screen_of(compared(FIVE, standing=Standing(leader="v1")), 50)
    assert told.partition("\nnext")[0] == (
        """\
'gzip -1 f' is the fastest of 5: 4.6 times as fast
as 'gzip -6 f' (4.5 to 4.8)
(36 runs each in 6 sessions, 1.2 s)

             mean  against gzip -6 f
gzip -6 f  244 ms  -
gzip -1 f   53 ms  4.6 times as fast
gzip -2 f   62 ms  3.9 times as fast
gzip -7 f  311 ms  28 % more time
pigz f     242 ms  ? -4 to +3 %

note  each interval is at 98.75 %, and they hold
      together in 95 %"""
    )


@pytest.mark.parametrize(
    ("means", "shown"),
    [
        ((0.0304, 0.0309), ("30.4", "30.9")),
        ((0.00205, 0.00209), ("2.05", "2.09")),
        ((0.0304, 0.0459), ("30", "46")),
        ((0.0304, 0.0305), ("30", "31")),
    ],
)
def test_means_have_the_digits_that_separate_what_is_decided(compared, means, shown):
    told = compared([(name, mean, 1e-4) for name, mean in zip("ab", means, strict=True)])
    rows = [line.split() for line in screen_of(told, 80).splitlines()]
    assert tuple(row[1] for row in rows if row[:1] in (["a"], ["b"])) == shown


def test_heads_that_parameters_share_stand_above_their_values_where_room_is_short(compared):
    names = [f"mode={mode} size={size}" for mode in ("equal", "notequal") for size in (10, 20)]
    found = compared([("c", 0.1 * k, 0.01) for k in range(1, 5)], names=names)
    rows = screen_of(found, 80).splitlines()[3:8]
    assert [row[:12].rstrip() for row in rows] == [
        *("mode size", "equal 10", "equal 20", "notequal 10", "notequal 20")
    ]
    assert screen_of(found, 120).splitlines()[4].startswith("mode=equal size=10 ")


def test_names_stand_without_quotes(compared):
    found = compared(GZIPS, names=("old", "new"))
    assert screen_of(found, short=True) == (
        """\
new takes 47 % less time than old
(44 to 49 %; 36 runs each in 6 sessions, 1.2 s)"""
    )


def test_some_failed_runs_are_noted_and_the_answer_stands(compared, failing):
    told = screen_of(compared(GZIPS, change=failing("v1", {3, 9})))
    assert told.partition("\nnext")[0] == (
        """\
'gzip -1 -k -c data' takes 47 % less time than 'gzip -6 -k -c data'
(44 to 50 %; 70 runs in 6 sessions, 1.2 s)

                      mean  spread   user  system    min … max
gzip -6 -k -c data  102 ms     4 %  92 ms   10 ms  94 … 113 ms
gzip -1 -k -c data   54 ms     9 %  49 ms    5 ms   42 … 66 ms  47 % less time

note  2 of 36 runs of 'gzip -1 -k -c data' failed and are left out (exit code
      137)"""
    )


def test_at_most_three_notes(compared, failing):
    found = compared(FIVE, change=failing("v1", {3}), notes=("one", "two"))
    assert screen_of(found, notes=("three", "four")).count("note  ") == 3


@pytest.mark.parametrize("noted", [True, False])
def test_a_mean_of_other_sessions_that_contradicts_the_answer_is_noted(compared, noted):
    """The slower command leaves after three sessions; then the host slows down, or does not."""

    def change(row):
        slow = 2 if noted and row.session > 3 else 1
        left = row.session > 3 and row.variant == "v1"
        return None if left else replace(row, wall_ns=row.wall_ns * slow)

    commands = [("a", 0.1, 0.01), ("b", 0.12, 0.01), ("c", 0.1, 0.01)]
    told = " ".join(screen_of(compared(commands, change=change), 80).split())
    assert "19 % more time" in told
    text = (
        "note 'b' has runs in 3 of 6 sessions: the last column compares in these, the means do not"
    )
    assert (text in told) is noted


def test_counters_and_memory_are_columns_where_they_are_asked_for(compared):
    found = compared(GZIPS, counters=True, names=("old", "new"))
    assert screen_of(found).splitlines()[3].split()[-1] == "max_rss"
    assert "50.0 MiB" in screen_of(found)


def test_few_failures_that_are_no_chance_leave_no_answer(compared, failing):
    # Fisher's exact test of 6 of 72 against 0 of 72: p = 0.028 (scipy.stats.fisher_exact)
    found = compared(GZIPS, runs=12, change=failing("v1", set(range(6))))
    assert screen_of(found, short=True).startswith("no answer: 6 of 72 runs of ")
    # and of 5 of 72: p = 0.058
    found = compared(GZIPS, runs=12, change=failing("v1", set(range(5))))
    assert " less time than " in screen_of(found, short=True)
    assert "5 of 72 runs of 'gzip -1 -k -c data' failed and are left out" in " ".join(
        screen_of(found).split()
    )


def test_of_several_only_the_one_that_fails_has_no_answer(compared, failing):
    found = compared(FIVE, change=failing("v2", set(range(9))), standing=Standing(leader="v1"))
    text = screen_of(found)
    assert text.startswith("'gzip -1 f' is the fastest of 5")
    (row,) = (line for line in text.splitlines() if line.startswith("gzip -2 f"))
    assert row.endswith("9 of 36 failed")
    assert "note  no answer for 'gzip -2 f': 9 of 36 runs failed (exit code 137)" in text


def test_where_the_baseline_fails_nothing_is_answered(compared, failing):
    found = compared(FIVE, change=failing("v0", set(range(9)), code=1))
    assert screen_of(found, short=True).startswith(
        "no answer: 9 of 36 runs of 'gzip -6 f' failed (exit code 1)"
    )


def test_exports_have_the_names_and_columns_of_hyperfines(compared, tmp_path):
    # authority: hyperfine 1.15.0, -n a 'sleep 0.01' and -L t 0.01,0.02 with --export-csv
    made = compared([("sort a", 0.1, 0.01), ("sort b", 0.2, 0.01)], names=("first", None))
    filled = [
        replace(one, name=f"n={k}", parameters={"n": k})
        for k, one in zip("12", made.commands, strict=True)
    ]
    head = "command,mean,stddev,median,user,system,min,max"
    for answer, commands, more in (
        (made, ["first", "sort b"], ""),
        (replace(made, commands=tuple(filled)), ["sort a", "sort b"], ",parameter_n"),
    ):
        files, said = {"csv": "-", "json": str(tmp_path / "json")}, io.StringIO()  # issue 640: "-"
        write_exports(answer, files, said)
        lines = said.getvalue().splitlines()
        assert [lines[0], *(line.split(",")[0] for line in lines[1:])] == [head + more, *commands]
        assert [line.rpartition(",")[2] for line in lines[1:]] == ["1", "2"] or not more
        found = json.loads((tmp_path / "json").read_text())["results"]
        assert [one["command"] for one in found] == commands
