"""The net below every command (`make unchanged`): it finds what is planted.

What it compares is executed by `make unchanged` only.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from command_lines import line
from execution import Execution
from text_comparison import differences

ANSWER = {
    "speedup": 1.2041666666666666,
    "runs": 24,
    "ratio": 2.0,
    "outcome": "faster",
    "reason": None,
    "benchmarks": [{"name": "text", "pvalue": 0.00012345}, {"name": "logs", "pvalue": 0.5}],
}
SCREEN = """\
made on lab07 · wall time · baseline old · 6 sessions x 4 runs, paired · margin 1 %

new                   old      new  spread  speedup  95 %
text              20.0 ms  16.7 ms   1.5 %    1.20x  [1.19, 1.21]  faster
logs              40.1 ms  33.3 ms   1.2 %    1.20x  [1.19, 1.21]  faster
[1] caution: trial of 2024-05-01T04:12:00Z, id 0123456789abcdef0123
"""
RECORDED = Execution(
    code=0,
    out=SCREEN + json.dumps(ANSWER, indent=1),
    err="caution: 2 runs failed\n  fix: look at them\n",
    files={"report.md": SCREEN, "table.csv": "name,value\ntext,0.5\n"},
    begun=1_800_000_000.0,
    ended=1_800_000_001.0,
    cpu=0.5,
    paths={"/somewhere/installed/0123456789ab": "<installation>"},
)


def changed(old, new, place="out"):
    text = getattr(RECORDED, place)
    assert old in text
    return replace(RECORDED, **{place: text.replace(old, new, 1)})


def written(name, text):
    files = {key: value for key, value in RECORDED.files.items() if key != name}
    return replace(RECORDED, files=files if text is None else files | {name: text})


PLANTED = {
    "a digit": changed("16.7 ms", "16.8 ms"),
    "the last digit of a double": changed("1.2041666666666666", "1.2041666666666667"),
    "a word": changed("faster", "slower"),
    "an exit code": replace(RECORDED, code=1),
    "a key's order": changed(
        '"speedup": 1.2041666666666666,\n "runs": 24,',
        '"runs": 24,\n "speedup": 1.2041666666666666,',
    ),
    "a missing line": changed(SCREEN.splitlines(keepends=True)[4], ""),
    "an int that became a float": changed('"runs": 24', '"runs": 24.0'),
    "a float that became an int": changed('"ratio": 2.0', '"ratio": 2'),
    "null for a missing key": changed('\n "reason": null,', ""),
    "a blank": changed("  speedup", " speedup"),
    "a newline at the end": replace(RECORDED, out=RECORDED.out + "\n"),
    "the other stream": replace(RECORDED, out=RECORDED.out + RECORDED.err, err=""),
    "a sentence on stderr": changed("look at them", "look at it", "err"),
    "a file that is not written": written("table.csv", None),
    "a further file": written("more.csv", ""),
    "a cell of a file": written("table.csv", "name,value\ntext,0.6\n"),
    "another day": changed("2024-05-01", "2024-05-02"),
    "an id of the inputs": changed("0123456789abcdef0123", "0123456789abcdef0124"),
}


def found(other, *, measured=False, relative=0.0):
    one, two = (made.outcome(measured=measured) for made in (RECORDED, other))
    return differences(one, two, relative=relative)


def test_equal_outputs_are_equal():
    assert found(replace(RECORDED)) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_change_is_found(name):
    assert len(found(PLANTED[name])) >= 1
    if name != "the last digit of a double":
        assert len(found(PLANTED[name], relative=1e-12)) >= 1


def test_a_tolerance_takes_last_digits_alone():
    assert found(PLANTED["the last digit of a double"], relative=1e-12) == []
    assert len(found(changed("0.00012345", "0.00012346"), relative=1e-12)) == 1


@pytest.mark.parametrize(
    "name", ["a word", "an exit code", "a missing line", "null for a missing key"]
)
def test_of_a_measurement_all_but_numbers_count(name):
    assert len(found(PLANTED[name], measured=True)) >= 1
    assert found(PLANTED["a digit"], measured=True) == []


def test_what_belongs_to_one_execution_is_taken_out():
    first = "at 2027-01-15T08:00:00.5Z in runs/c-20270115-080000-3f2a, /tmp/tmpab12cd_9, pid 17\n"
    first += "/somewhere/installed/0123456789ab/lib\n"
    second = (
        "at 2027-01-15T09:00:00.7Z in runs/c-20270115-090000-77aa, /tmp/tmpzz12cd_9, pid 4711\n"
    )
    second += "/elsewhere/installed/ba9876543210/lib\n"
    later = replace(
        RECORDED,
        out=second,
        begun=RECORDED.begun + 3600,
        ended=RECORDED.ended + 3600,
        paths={"/elsewhere/installed/ba9876543210": "<installation>"},
    )
    one = replace(RECORDED, out=first).outcome(measured=False)
    assert differences(one, later.outcome(measured=False)) == []
    assert "runs/c-<now>-<drawn>" in one.out


def test_a_line_says_what_it_reads():
    one = line("~COLUMNS=60 verdict @pair:new +runs <old.csv '' --x '@'")
    assert one.words == ("verdict", "pair:new", "", "--x", "@")
    assert one.inputs == ("pair", "runs", "old.csv", "hosts/vm_no_cpufreq")
    assert (one.stdin, one.measured, one.environment) == ("old.csv", True, (("COLUMNS", "60"),))
