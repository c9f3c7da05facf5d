"""What builds read: XML that parses, Markdown and annotations that no name can break out of.

Authority: XML 1.0 section 2.2; GitHub's documentation of workflow commands (escapes of properties
and data); CommonMark section 2.4 (backslash escapes). All of them carry the screen's first sentence.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from analysis.verdict.gate import gate
from analysis.verdict.gate_answer import junit, summary, workflow_commands

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
    # exp(.1) = 1.1052, exp(.1 -+ 2.5706 * .004) = 1.0939, 1.1166
    assert said == "takes 10.5 % more time (9.3 to 11.7 %): slower>2% is proven"


def test_junit_counts_the_undecided_as_errors_where_they_decide(compared):
    made = compared({"a": (0.0, 0.03, 5), "b": (0.1, 0.004, 5)}, (0.0, 0.03, 5))
    assert kinds(gate(made, "slower>2%"))[1] == {"gate": "error", "a": "skipped", "b": None}
    strict = kinds(gate(made, "slower>2%", on="benchmarks"))[1]
    assert strict == {"gate": "error", "a": "error", "b": None}


def test_all_forms_carry_the_first_sentence(compared):
    found = gate(compared({"b": (-0.1, 0.004, 5)}), "slower>2%")
    said = "v2 takes 10.5 % more time than v1 (9.3 to 11.7 %): more than the 2 % allowed"
    assert " ".join(str(found).split()).startswith(f"STOP {said} time 95 %")
    assert found.to_dict()["sentence"] == said
    assert list(workflow_commands(found)) == [f"::error title=v2::{said.replace('%', '%25')}"]
    assert f"STOP  {said}" in summary(found).splitlines()
    case = ET.fromstring(junit(found)).find(".//testcase[@name='gate']/failure")
    assert case.get("message") == said


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
    assert not re.search(r"(?<!\\)[<`@\x1b]", summary(mixed))
    assert lines[0] == "### gate slower&gt;2%: STOP"


def test_no_name_breaks_out_of_an_annotation(mixed):
    lines = list(workflow_commands(mixed))
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::error"]
    assert not any("\n" in line or "\r" in line for line in lines)
    properties = lines[0].split("::")[1]
    assert properties.count("=") == 1
    assert "," not in properties
    assert "100 %25" in properties
    assert "more than the 2 %25 allowed" in lines[0]


@pytest.mark.parametrize(("x", "kind"), [(0.0, "notice"), (-0.02, "warning"), (-0.1, "error")])
def test_one_annotation_for_one_benchmark(compared, x, kind):
    (line,) = workflow_commands(gate(compared({"b": (x, 0.004, 5)}), "slower>2%"))
    assert line.startswith(f"::{kind} title=v2::v2 takes ")
