"""What builds read: XML that parses, Markdown and annotations that no name can break out of.

Authority: XML 1.0 section 2.2; GitHub's documentation of workflow commands (escapes of properties
and data); CommonMark section 2.4 (backslash escapes).
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from analysis.verdict.gate import gate
from analysis.verdict.gate_page import answer, junit, summary, why, workflow_commands

EVIL = "a|b\x1b[31m<i>`\n::error::x, y: 100 %"
LINES = {"fast": (0.1, 0.004, 5), "bad": (-0.1, 0.004, 5), EVIL: (0.0, 0.03, 5)}


@pytest.fixture
def mixed(compared):
    return gate(compared(LINES, (0.0, 0.002, 5), candidate=f"v2 {EVIL}"), "slower>2%")


def kinds(found):
    root = ET.fromstring(junit(found))
    cases = {case.get("name"): case for case in root.iter("testcase")}
    told = {
        name: next((k for k in ("failure", "error", "skipped") if case.find(k) is not None), None)
        for name, case in cases.items()
    }
    return root, told


def test_junit_fails_what_is_proven_and_skips_what_the_suite_forgives(mixed):
    root, told = kinds(mixed)
    assert list(told.values()) == ["failure", None, "failure", "skipped"]
    assert [root.get(k) for k in ("tests", "failures", "errors", "skipped")] == ["4", "2", "0", "1"]
    assert [root[0].get(k) for k in ("tests", "failures")] == ["4", "2"]
    said = root.find(".//testcase[@name='bad']/failure").get("message")
    assert said.startswith("slower>2% is proven: 0.9048x [")


def test_junit_counts_the_undecided_as_errors_where_they_decide(compared):
    made = compared({"a": (0.0, 0.03, 5), "b": (0.1, 0.004, 5)}, (0.0, 0.03, 5))
    assert kinds(gate(made, "slower>2%"))[1] == {"gate": "error", "a": "skipped", "b": None}
    strict = kinds(gate(made, "slower>2%", on="benchmarks"))[1]
    assert strict == {"gate": "error", "a": "error", "b": None}


def test_no_name_breaks_out_of_the_xml(mixed):
    text = junit(mixed)
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<testsuites ')
    assert "\x1b" not in text
    assert "\ufffd[31m<i>" in "".join(
        case.get("name") for case in ET.fromstring(text).iter("testcase")
    )


def test_no_name_breaks_out_of_the_markdown(mixed):
    lines = summary(mixed).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + 3 + 1
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {6}
    assert not re.search(r"(?<!\\)[<`]", summary(mixed))
    assert lines[0] == r"### gate slower\>2%"


def test_no_name_breaks_out_of_an_annotation(mixed):
    lines = list(workflow_commands(mixed))
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::error"]
    assert not any("\n" in line or "\r" in line for line in lines)
    properties = lines[0].split("::")[1]
    assert properties.count("=") == 1
    assert "," not in properties
    assert "100 %25" in properties
    assert "slower>2%25 is proven" in lines[0]


@pytest.mark.parametrize(("x", "kind"), [(0.0, "notice"), (-0.02, "warning"), (-0.1, "error")])
def test_one_annotation_for_one_benchmark(compared, x, kind):
    (line,) = workflow_commands(gate(compared({"b": (x, 0.004, 5)}), "slower>2%"))
    assert line.startswith(f"::{kind} title=v2::slower>2%25 is ")


def test_the_page_says_the_answer_first_and_hides_no_proof(compared):
    lines = {f"b{k}": (0.0, 0.004, 5) for k in range(40)} | {"bad": (-0.1, 0.0004, 5)}
    text = str(gate(compared(lines, (0.0, 0.002, 5)), "slower>2%"))
    assert text.startswith("not passed: v2: slower>2% is proven on bad\n")
    assert "and 29 more benchmarks, all ruled out (--json has all)" in text
    assert re.search(r"(?m)^bad +0\.9048x +\[.*\] +proven +p = ", text)
    assert len(text.splitlines()) <= 25


def test_each_line_says_what_decided_it(compared):
    lines = {"good": (0.0, 0.004, 5), "bad": (-0.1, 0.004, 5), "open": (0.0, 0.03, 5)}
    found = gate(compared(lines, (0.0, 0.002, 5)), "slower>2%")
    (one,) = found.candidates
    told = {line.name: why(found, line) for line in one.benchmarks}
    assert told["good"] == "above 0.9804x"  # 1 / 1.02
    assert told["bad"].startswith("p = ")
    assert told["open"] == "the interval holds 0.9804x"


def test_nothing_that_could_be_compared_is_undecided(compared):
    found = gate(compared({"a": None, "b": None}), "slower>2%")
    (one,) = found.candidates
    assert (found.outcome, one.suite) == ("undecided", None)
    assert answer(found, one) == "slower>2% is undecided: nothing could be compared"
    assert "nothing could be compared" in str(found)


def test_a_page_of_several_candidates_has_a_line_each(compared):
    good = compared({"b": (0.0, 0.004, 5)}, candidate="good")
    bad = compared({"b": (-0.1, 0.004, 5)}, candidate="bad")
    text = str(gate([good, bad], "slower>2%", failing=["gone"]))
    assert text.startswith(
        "not passed: of 3 candidates, slower>2% is ruled out of 1, proven of 2\n"
    )
    assert re.search(r"(?m)^good +1\.000x +\[.*\] +ruled out", text)
    assert "good against v1" not in text
    assert "bad against v1" in text
