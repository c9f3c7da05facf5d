"""The answer of a gate as continuous integration reads it: JUnit, Markdown, GitHub's workflow commands."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from ...pages.as_markup import markdown_line as mark
from ..gate import Gate, GatedCandidate, GateLine
from .page import SAID, cells_of, heading_of, level_of, notes_of, why
from .sentence import LABELS, difference, sentence_of, sentence_of_candidate

# what XML 1.0 cannot hold, section 2.2
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(gate: Gate) -> str:
    """Give the answer as JUnit XML: a suite for each candidate, a case for each benchmark.

    What is proven is a failure. The candidate's own case, "gate", is an error where it is undecided;
    an undecided benchmark is skipped where the suite decides, an error where each must pass.
    """
    root = ET.Element("testsuites", name=_xml(f"fairtrial gate {gate.condition}"))
    for one in gate.candidates:
        against = "" if one.baseline is None else f" against {one.baseline}"
        suite = ET.Element("testsuite", name=_xml(f"{one.candidate}{against}"))
        kinds = {"proven": "failure", "undecided": "error"}
        _case(suite, one, "gate", kinds.get(one.outcome), sentence_of_candidate(gate, one))
        if gate.on == "suite":
            kinds["undecided"] = "skipped"
        for line in one.benchmarks:
            _case(suite, one, line.name, kinds.get(line.outcome), _said(gate, one, line))
        kind = "error" if one.reason == "missing" else "skipped"
        for name in one.missing.candidate:
            _case(suite, one, name, kind, _lacking(one))
        _count(suite, list(suite))
        root.append(suite)
    _count(root, list(root.iter("testcase")))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _said(gate: Gate, one: GatedCandidate, line: GateLine) -> str:
    """Say of a benchmark what was found, and what the condition is on it."""
    told = difference(gate, one, line)
    interval = f" ({told.interval()})" if told.interval() else ""
    found = "" if told.ratio is None else f"{told.phrase()}{interval}: "
    said = [f"{found}{gate.condition} is {SAID[line.outcome]}", why(gate, line), line.failures]
    return "; ".join(text for text in said if text)


def _lacking(one: GatedCandidate) -> str:
    return f"{one.baseline} has it, and {one.candidate} does not"


def _case(suite: ET.Element, one: GatedCandidate, name: str, kind: str | None, said: str) -> None:
    case = ET.SubElement(suite, "testcase", classname=_xml(one.candidate), name=_xml(name))
    if kind is None:
        ET.SubElement(case, "system-out").text = _xml(said)
    else:
        ET.SubElement(case, kind, message=_xml(said))


def _count(element: ET.Element, cases: list[ET.Element]) -> None:
    element.set("tests", str(len(cases)))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(kind) is not None for case in cases)))


def summary(gate: Gate) -> str:
    """Give the answer as Markdown, as GitHub shows it in the summary of a job."""
    head = f"gate {gate.condition}: {LABELS[gate.outcome]}"
    lines = [f"### {mark(head)}", "", mark(sentence_of(gate)), ""]
    for one in gate.candidates:
        lines += _section(gate, one)
    notes = [f"- {mark(text)}" for text in notes_of(gate)]
    return "\n".join([*lines, *notes, *([""] if notes else [])])


def _section(gate: Gate, one: GatedCandidate) -> list[str]:
    if not one.benchmarks:
        return [f"{mark(one.candidate)}: {mark(sentence_of_candidate(gate, one))}", ""]
    shown = list(one.benchmarks)
    if one.suite is not None and one.suite.name == "suite":
        shown.append(one.suite)
    title = f"{one.candidate} against {one.baseline}"
    headings = (title, heading_of(gate, one), level_of(gate) or "interval", gate.condition)
    return [
        f"| {' | '.join(map(mark, headings))} | |",
        "|---|---:|---:|---|---|",
        *(_row(gate, one, line) for line in shown),
        *(
            f"| {mark(name)} | - | - | missing | {mark(_lacking(one))} |"
            for name in one.missing.candidate
        ),
        "",
    ]


def _row(gate: Gate, one: GatedCandidate, line: GateLine) -> str:
    change, interval = cells_of(gate, one, line)
    told = "; ".join(text for text in (why(gate, line), line.failures) if text)
    return (
        f"| {' | '.join(map(mark, (line.name, change.text, interval, SAID[line.outcome], told)))} |"
    )


def workflow_commands(gate: Gate) -> Iterator[str]:
    """Give the answer as GitHub's workflow commands, a line each: what is proven is an error."""
    kinds = {"proven": "error", "undecided": "warning", "passed": "notice"}
    for one in gate.candidates:
        yield _annotation(kinds[one.outcome], one.candidate, sentence_of_candidate(gate, one))
        for line in one.benchmarks:
            if line.outcome == "proven" and len(one.benchmarks) > 1:
                yield _annotation("error", f"{one.candidate}: {line.name}", _said(gate, one, line))


def _annotation(kind: str, title: str, text: str) -> str:
    name = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={name}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _xml(text: str) -> str:
    """Replace what XML cannot hold, such as an escape sequence in a benchmark's name."""
    return _NO_XML.sub("\ufffd", text)
