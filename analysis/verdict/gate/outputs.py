"""The gate's answer for machines that build: JUnit's XML, GitHub's summary and annotations."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from .result import Gate, GatedCandidate, GateLine
from .wording import SAID, answer, bounds, conclusion, multiple, why

__all__ = ["junit", "summary", "workflow_commands"]

# what XML 1.0 cannot hold, section 2.2
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKS = re.compile(r"([\\`*_{}\[\]<>|~&#!])")


def junit(gate: Gate) -> str:
    """Give the answer as JUnit XML: a suite for each candidate, a case for each benchmark.

    What is proven is a failure. The candidate's own case, "gate", is an error where it is undecided;
    an undecided benchmark is skipped where the suite decides, an error where each must pass.

    Parameters
    ----------
    gate : Gate
        The answer.

    Returns
    -------
    str
        XML 1.0 with its declaration.
    """
    root = ET.Element("testsuites", name=_xml(f"fairtrial gate {gate.condition}"))
    for one in gate.candidates:
        root.append(_suite(gate, one))
    _count(root, list(root.iter("testcase")))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(gate: Gate, one: GatedCandidate) -> ET.Element:
    against = "" if one.baseline is None else f" against {one.baseline}"
    suite = ET.Element("testsuite", name=_xml(f"{one.candidate}{against}"))
    kinds = {"proven": "failure", "undecided": "error"}
    _case(suite, one, "gate", kinds.get(one.outcome), answer(gate, one))
    if gate.on == "suite":
        kinds["undecided"] = "skipped"
    for line in one.benchmarks:
        said = f"{gate.condition} is {SAID[line.outcome]}: {_figures(line)}, {why(gate, line)}"
        _case(suite, one, line.name, kinds.get(line.outcome), said)
    _count(suite, list(suite))
    return suite


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
    """Give the answer as Markdown, as GitHub shows it in the summary of a job.

    Parameters
    ----------
    gate : Gate
        The answer.

    Returns
    -------
    str
        A heading, the answer, and a table for each candidate; names cannot break out of their cells.
    """
    lines = [f"### {_mark(f'gate {gate.condition}')}", "", _mark(conclusion(gate)), ""]
    for one in gate.candidates:
        lines += _section(gate, one)
    if gate.cautions:
        lines += ["Cautions:", "", *(f"- {_mark(caution.text)}" for caution in gate.cautions), ""]
    return "\n".join(lines)


def _section(gate: Gate, one: GatedCandidate) -> list[str]:
    if not one.benchmarks:
        return [f"{_mark(one.candidate)}: {_mark(answer(gate, one))}", ""]
    shown = list(one.benchmarks)
    if one.suite is not None and one.suite.name == "suite":
        shown.append(one.suite)
    title = f"{one.candidate} against {one.baseline}"
    level = "interval" if gate.confidence is None else f"{100 * gate.confidence:g} %"
    return [
        f"| {_mark(title)} | speedup | {level} | {_mark(gate.condition)} | |",
        "|---|---:|---|---|---|",
        *(
            f"| {_mark(line.name)} | {multiple(line.speedup)} | {_mark(bounds(line))} "
            f"| {SAID[line.outcome]} | {_mark(why(gate, line))} |"
            for line in shown
        ),
        "",
    ]


def workflow_commands(gate: Gate) -> Iterator[str]:
    """Give the answer as GitHub's workflow commands, a line each: what is proven is an error.

    Parameters
    ----------
    gate : Gate
        The answer.

    Yields
    ------
    str
        ``::error``, ``::warning`` (undecided) or ``::notice`` (passed), escaped as GitHub asks.
    """
    kinds = {"proven": "error", "undecided": "warning", "passed": "notice"}
    for one in gate.candidates:
        yield _annotation(kinds[one.outcome], one.candidate, answer(gate, one))
        for line in one.benchmarks:
            if line.outcome == "proven" and len(one.benchmarks) > 1:
                title = f"{one.candidate}: {line.name}"
                said = f"{gate.condition} is proven: {_figures(line)}, {why(gate, line)}"
                yield _annotation("error", title, said)


def _annotation(kind: str, title: str, text: str) -> str:
    name = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={name}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _figures(line: GateLine) -> str:
    return f"{multiple(line.speedup)} {bounds(line)}"


def _mark(text: str) -> str:
    """Escape what Markdown would obey."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


def _xml(text: str) -> str:
    """Replace what XML cannot hold, such as an escape sequence in a benchmark's name."""
    return _NO_XML.sub("\ufffd", text)
