"""The screens of `compare`, whole, on made trials, in 80 columns."""

from __future__ import annotations

import pytest

from analysis.verdict.compare_answer.answer import Standing
from analysis.verdict.compare_answer.page import screen_of

GZIPS = (("gzip -6 -k -c data", 0.1, 0.05), ("gzip -1 -k -c data", 0.055, 0.08))
FIVE = (
    ("gzip -6 f", 0.242, 0.02),
    ("gzip -1 f", 0.053, 0.05),
    ("gzip -2 f", 0.062, 0.04),
    ("gzip -7 f", 0.310, 0.03),
    ("pigz f", 0.244, 0.09),
)


def test_two_commands(compared):
    assert screen_of(compared(GZIPS)) == (
        """\
'gzip -1 -k -c data' takes 47 % less time than 'gzip -6 -k -c data'
(44 to 49 %; 36 runs each in 6 sessions, 1.2 s)

                      mean  spread   user  system    min … max
gzip -6 -k -c data  102 ms     4 %  92 ms   10 ms  94 … 113 ms
gzip -1 -k -c data   54 ms     9 %  49 ms    5 ms   42 … 66 ms  47 % less time

next  fairtrial report -o report.html    every run, as a page"""
    )


def test_undecided_tells_the_cap_and_what_would_settle_it(compared):
    commands = (("sort a", 0.0081, 0.09), ("./sort a", 0.0081, 0.09))
    found = compared(commands, sessions=10, seconds=20.0, wanted_s=80.0, stopped_because="cap")
    assert screen_of(found) == (
        """\
no difference found between './sort a' and 'sort a': if there is one, it lies
between 3 % less and 4 % more time (60 runs each in 10 sessions, 20 s)

            mean  spread    user  system      min … max
sort a    8.1 ms    10 %  7.3 ms  0.8 ms   6.1 … 9.9 ms
./sort a  8.1 ms    11 %  7.3 ms  0.8 ms  6.1 … 10.0 ms  undecided

next  fairtrial compare --resume --for 90s    settles it with a chance of 80 %"""
    )


def test_equivalent(compared):
    commands = (("sort a", 0.0081, 0.002), ("./sort a", 0.0081, 0.002))
    assert screen_of(compared(commands, sessions=20)) == (
        """\
'./sort a' takes the same time as 'sort a', within 1 %
(0.06 % less to 0.04 % more; 120 runs each in 20 sessions, 1.2 s)

            mean  spread    user  system     min … max
sort a    8.1 ms   0.2 %  7.3 ms  0.8 ms  8.0 … 8.3 ms
./sort a  8.1 ms   0.2 %  7.3 ms  0.8 ms  8.0 … 8.3 ms  same within 1 %

next  fairtrial report -o report.html    every run, as a page"""
    )


def test_five_commands(compared):
    assert screen_of(compared(FIVE, standing=Standing(leader="v1"))) == (
        """\
'gzip -1 f' is the fastest of 5: 4.6 times as fast as 'gzip -6 f' (4.5 to 4.8)
(36 runs each in 6 sessions, 1.2 s)

             mean  spread    user  system     min … max  against gzip -6 f
gzip -6 f  244 ms     2 %  219 ms   24 ms  236 … 256 ms  -
gzip -1 f   53 ms     6 %   47 ms    5 ms    44 … 60 ms  4.6 times as fast
gzip -2 f   62 ms     4 %   56 ms    6 ms    57 … 67 ms  3.9 times as fast
gzip -7 f  311 ms     3 %  281 ms   31 ms  279 … 335 ms  28 % more time
pigz f     242 ms     8 %  219 ms   24 ms  199 … 281 ms  ? 3 % less to 2 more

note  5 commands: each interval is at 98.75 %, so all four hold together in 95 %
next  fairtrial compare --resume --for 60s    more sessions for 'pigz f'"""
    )


def test_one_command(compared):
    assert screen_of(compared(GZIPS[:1], sessions=6, runs=2, seconds=0.9)) == (
        """\
'gzip -6 -k -c data' takes 101 ms
(97.2 to 104.3; 12 runs in 6 sessions, 0.9 s)

                      mean  spread   user  system    min … max
gzip -6 -k -c data  101 ms     4 %  91 ms   10 ms  96 … 112 ms

next  fairtrial report -o report.html    every run, as a page"""
    )


def test_a_tie_at_the_top_is_named(compared):
    found = compared(FIVE, standing=Standing(leader="v1", beside=("v2",)))
    assert screen_of(found, short=True) == (
        """\
fastest of 5: 'gzip -1 f' or 'gzip -2 f' (undecided between them)
(36 runs each in 6 sessions, 1.2 s)"""
    )


def test_narrow_terminals_lose_columns_and_keep_the_answer(compared):
    assert screen_of(compared(FIVE, standing=Standing(leader="v1")), 50) == (
        """\
'gzip -1 f'
is the fastest of 5: 4.6 times as fast as 'gzip -6
f' (4.5 to 4.8)
(36 runs each in 6 sessions, 1.2 s)

             mean     min … max  against gzip -6 f
gzip -6 f  244 ms  236 … 256 ms  -
gzip -1 f   53 ms    44 … 60 ms  -78.4 % faster
gzip -2 f   62 ms    57 … 67 ms  -74.5 % faster
gzip -7 f  311 ms  279 … 335 ms  +28 % slower
pigz f     242 ms  199 … 281 ms  ? -3 to +2 %

note  5 commands: each interval is at 98.75 %, so
      all four hold together in 95 %
next  fairtrial compare --resume --for 60s
      more sessions for 'pigz f'"""
    )


def test_commands_too_long_for_a_line_are_shortened_by_what_they_share(compared):
    long = tuple((name + " and-much-more" * 8, mean, sd) for name, mean, sd in GZIPS)
    assert screen_of(compared(long)) == (
        """\
'gzip -1 …' takes 47 % less time than 'gzip -6 …'
(44 to 49 %; 36 runs each in 6 sessions, 1.2 s)

             mean  spread   user  system    min … max
gzip -6 …  102 ms     4 %  92 ms   10 ms  94 … 113 ms
gzip -1 …   54 ms     9 %  49 ms    5 ms   42 … 66 ms  47 % less time

next  fairtrial report -o report.html    every run, as a page"""
    )


def test_one_program_named_twice_is_numbered(compared):
    found = compared((("sort a", 0.01, 0.09), ("sort a", 0.01, 0.09)), wanted_s=1e5)
    assert screen_of(found) == (
        """\
no difference found between 'sort a' [2] and 'sort a': if there is one, it lies
between 8.3 % less and 0.4 % more time (36 runs each in 6 sessions, 1.2 s)

               mean  spread    user  system      min … max
sort a      10.3 ms     8 %  9.3 ms  1.0 ms  8.9 … 12.2 ms
sort a [2]   9.9 ms    11 %  8.9 ms  1.0 ms  7.4 … 12.3 ms  undecided

next  fairtrial compare --margin 9% 'sort a' 'sort a'
      nothing within an hour would settle it: a wider margin, or longer runs"""
    )


def test_names_stand_without_quotes(compared):
    found = compared(GZIPS, names=("old", "new"))
    assert screen_of(found, short=True) == (
        """\
new takes 47 % less time than old
(44 to 49 %; 36 runs each in 6 sessions, 1.2 s)"""
    )


@pytest.mark.parametrize("others", [(), (("b", 0.05, 0.05),)])
def test_what_a_terminal_would_obey_is_written_out(compared, others):
    first, *_ = screen_of(compared((("a\x1b[31m", 0.1, 0.05), *others))).split("\n")
    assert "'a␛[31m'" in first


def test_some_failed_runs_are_noted_and_the_answer_stands(compared, failing):
    assert screen_of(compared(GZIPS, change=failing("v1", {3, 9}))) == (
        """\
'gzip -1 -k -c data' takes 47 % less time than 'gzip -6 -k -c data'
(44 to 49 %; 70 runs in 6 sessions, 1.2 s)

                      mean  spread   user  system    min … max
gzip -6 -k -c data  102 ms     4 %  92 ms   10 ms  94 … 113 ms
gzip -1 -k -c data   54 ms     9 %  49 ms    5 ms   42 … 66 ms  47 % less time

note  2 of 36 runs of 'gzip -1 -k -c data' failed and are left out (exit code
      137)
next  fairtrial report -o report.html    every run, as a page"""
    )


def test_many_failed_runs_leave_no_answer(compared, failing, tmp_path):
    found = compared(GZIPS, change=failing("v1", set(range(9))))
    assert screen_of(found).partition("\n\nnext")[0] == (
        """\
no answer: 9 of 36 runs of 'gzip -1 -k -c data' failed (exit code 137), 0 of 36
of 'gzip -6 -k -c data'
(63 runs in 6 sessions, 1.2 s)

                      mean  spread   user  system    min … max
gzip -6 -k -c data  102 ms     4 %  92 ms   10 ms  94 … 113 ms
gzip -1 -k -c data   55 ms     9 %  50 ms    6 ms   44 … 66 ms  9 of 36 failed"""
    )
    assert found.to_dict()["next"] == [f"fairtrial status {tmp_path / 't'}"]


def test_runs_of_a_millisecond_are_noted(compared):
    commands = (("true", 0.001, 0.1), ("/bin/true", 0.0015, 0.1))
    assert screen_of(compared(commands)) == (
        """\
'/bin/true' takes 43 % more time than 'true'
(36 to 51 %; 36 runs each in 6 sessions, 1.2 s)

              mean  spread     user   system       min … max
true       1.03 ms     9 %  0.93 ms  0.10 ms  0.87 … 1.24 ms
/bin/true  1.48 ms    12 %  1.34 ms  0.15 ms  1.07 … 1.88 ms  43 % more time

note  a run is 1.03 ms: starting a process is most of it
next  fairtrial report -o report.html    every run, as a page"""
    )


def test_runs_of_a_minute(compared):
    commands = (("make -j2", 61.0, 0.01), ("make -j4", 34.0, 0.01))
    assert screen_of(compared(commands, sessions=3, runs=1, seconds=290.0)) == (
        """\
'make -j4' takes 45 % less time than 'make -j2'
(43 to 47 %; 3 runs each in 3 sessions, 4.8 min)

          mean  spread  user  system  min … max
make -j2  61 s       -  55 s     6 s  61 … 62 s
make -j4  34 s       -  30 s     3 s  33 … 34 s  45 % less time

next  fairtrial report -o report.html    every run, as a page"""
    )


def test_colour_repeats_the_word_and_says_nothing_else(compared):
    found = compared(GZIPS)
    plain, painted = screen_of(found), screen_of(found, coloured=True)
    assert painted.replace("\x1b[34m", "").replace("\x1b[0m", "") == plain
    assert "\x1b[34m47 % less time\x1b[0m" in painted
    assert painted.count("\x1b") == 2


def test_at_most_three_notes(compared, failing):
    found = compared(FIVE, change=failing("v1", {3}), said=("one", "two"))
    assert screen_of(found, notes=("three", "four")).count("note  ") == 3


def test_counters_and_memory_are_columns_where_they_are_asked_for(compared):
    found = compared(GZIPS, counted=("max_rss",), names=("old", "new"))
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
    assert found.failed == 9


def test_where_the_baseline_fails_nothing_is_answered(compared, failing):
    found = compared(FIVE, change=failing("v0", set(range(9)), code=1))
    assert screen_of(found, short=True).startswith(
        "no answer: 9 of 36 runs of 'gzip -6 f' failed (exit code 1)"
    )


def test_a_margin_that_answers_no_question_is_not_proposed(compared):
    found = compared((("a", 0.01, 0.9), ("b", 0.01, 0.9)), wanted_s=float("inf"))
    assert found.to_dict()["next"] == ["fairtrial doctor"]
