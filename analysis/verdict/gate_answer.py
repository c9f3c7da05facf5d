"""A gate's answer on a screen, and as continuous integration reads it: JUnit, Markdown, GitHub's workflow commands."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ..data.pair import OF_ONE_SIDE
from ..methods.multilevel.page import looks_text
from ..pages.model import Block, Note, Page, Section, Table, Value, section, table_of
from ..pages.number_format import Difference
from .cautions import host_cautions_in
from .gate import WITHOUT, Gate, GatedCandidate, GateLine, Outcome, difference, sentence_of

LABELS: dict[Outcome, str] = {"passed": "PASS", "proven": "STOP", "undecided": "OPEN"}
_REASONS = {
    "fails-more": "fails more often",
    "fails-always": "no run succeeded",
    "below-resolution": "a mean of 0",
    "no-interval": "no interval",
    "no-steady-state": "no steady state",
    "few-sessions": "too few sessions",
    "without-ratio": "no ratio",
    "unequal-values": "unequal numbers of values",
    "cut-off": "stopped at its limit",
    "totals": "totals differ",
}
_MOST = 12  # benchmarks shown of a candidate; those that did not pass come first
_NOTHING = Difference(None, None, None)
_ORDER = {"missing": 0, "proven": 0, "undecided": 1, "passed": 2}


class _Row(NamedTuple):
    """A line at the gate, or a benchmark that the candidate lacks, with its cells."""

    name: str
    outcome: str
    difference: Difference
    remark: str = ""

    @property
    def outcome_text(self) -> str:
        return "ruled out" if self.outcome == "passed" else self.outcome

    @property
    def change(self) -> Value:
        ratio = self.difference.ratio
        return Value(self.difference.cell(), None if ratio is None else ratio - 1)


def _row(gate: Gate, one: GatedCandidate, gated: GateLine) -> _Row:
    remark = _REASONS.get(gated.reason or "", "")
    beyond = gated.line.high is not None and gated.line.high < gate.limit
    if gated.reason is None and gated.outcome == "undecided" and beyond:
        remark = "not after correction"
    return _Row(gated.name, gated.outcome, difference(gate, one, gated), remark)


def _rows(gate: Gate, one: GatedCandidate) -> list[_Row]:
    lacking = f"{one.baseline} has it, {one.candidate} has not"
    return [
        *(_row(gate, one, line) for line in one.benchmarks),
        *(_Row(name, "missing", _NOTHING, lacking) for name in one.missing.candidate),
    ]


def screen(gate: Gate) -> Page:
    """Set the outcome, and for each candidate the lines that explain it."""
    sections = [section(f"{LABELS[gate.outcome]}  {gate.sentence}")]
    several = len(gate.candidates) > 1
    if several:
        rows = [
            _row(gate, one, replace(one.suite, name=one.candidate, outcome=one.outcome))
            if one.suite is not None
            else _Row(one.candidate, one.outcome, _NOTHING, sentence_of(gate, one))
            for one in gate.candidates
        ]
        sections.append(section(_table(gate, "candidates", rows)))
    for number, one in enumerate(gate.candidates, 1):
        if one.benchmarks and (not several or one.outcome != "passed"):
            title = f"{one.candidate} against {one.baseline}" if several else ""
            sections.append(section(*_evidence(gate, one, number), title=title))
    below: tuple[Block, ...] = (*map(Note, notes_of(gate)), *gate.following)
    return Page(
        title=f"The gate {gate.condition}",
        sections=tuple(sections),
        following=(Section(below),) if below else (),
    )


def _table(gate: Gate, name: str, rows: list[_Row]) -> Table:
    noun = Difference(2.0, None, None, **gate.measure_of(gate.candidates[0])).amount()
    noun = noun.removeprefix("100 % more").strip()
    level = "" if gate.confidence is None else f"{100 * gate.confidence:.4g} %"
    return table_of(
        name,
        rows,
        ("@", "name"),
        (noun if noun[:1] not in ("", "(") else f"change {noun}".strip(), "change"),
        (level, lambda row: row.difference.cell_interval()),
        (f"<{gate.condition}", "outcome_text"),
        ("<", "remark"),
    )


def _evidence(gate: Gate, one: GatedCandidate, number: int) -> Iterator[Block | str]:
    noted = {name for caution in gate.shown.cautions for name in caution.about}
    rows = _rows(gate, one)
    ordered = sorted(rows, key=lambda row: (_ORDER[row.outcome], row.name not in noted))
    kept = {row.name for row in ordered[:_MOST]}
    shown = [row for row in rows if row.name in kept]
    if one.suite is not None and one.suite.name == "suite":
        shown.append(_row(gate, one, one.suite))
    yield _table(gate, f"benchmarks-{number}", shown)
    if hidden := ordered[_MOST:]:
        passed = ", all ruled out" * all(row.outcome == "passed" for row in hidden)
        yield f"and {len(hidden)} more benchmarks{passed} (--json has all)"
    if one.found.look.rule != "repeated" and (text := looks_text(one.found.look)):
        yield text


def notes_of(gate: Gate) -> Iterator[str]:
    """Give the notes below the answer: hosts and benchmarks that it lacks, then the cautions of a first screen."""
    yield from (one.text for one in host_cautions_in(gate.cautions))
    yield from (str(one.short) for one in gate.cautions if one.code == WITHOUT)
    refused = [one for one in gate.candidates if one.reason == "missing"]
    texts = {name for one in refused for name in one.missing.candidate}  # by the sentence
    for one in gate.shown.cautions:
        if one.code != OF_ONE_SIDE or texts.isdisjoint(one.about):
            yield one.text
    if refused:
        yield "--allow-missing, or --allow-missing=NAME, lets the gate pass without them"
    if gate.shown.hidden:
        yield f"and {gate.shown.hidden} more (--json has all)"


# --- For builds.

# what XML 1.0 cannot hold, section 2.2
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def summary(gate: Gate) -> str:
    """Give the answer as Markdown, as GitHub shows it in the summary of a job."""
    from ..pages.as_markup import render_markdown

    title = f"gate {gate.condition}: {LABELS[gate.outcome]}"
    return render_markdown(replace(replace(gate, following=()).screen(), title=title))


def junit(gate: Gate) -> str:
    """Give the answer as JUnit XML: a suite for each candidate, a case for each benchmark.

    What is proven is a failure. The candidate's own case, "gate", is an error where it is undecided;
    an undecided benchmark is skipped where the suite decides, an error where each must pass.
    """
    root = ET.Element("testsuites", name=_xml(f"fairtrial gate {gate.condition}"))
    for one in gate.candidates:
        against = "" if one.baseline is None else f" against {one.baseline}"
        suite = ET.SubElement(root, "testsuite", name=_xml(f"{one.candidate}{against}"))
        kinds = {"proven": "failure", "undecided": "error"}
        cases = [("gate", kinds.get(one.outcome), sentence_of(gate, one))]
        if gate.on == "suite":
            kinds["undecided"] = "skipped"
        kinds["missing"] = "error" if one.reason == "missing" else "skipped"
        cases += [(row.name, kinds.get(row.outcome), _text(gate, row)) for row in _rows(gate, one)]
        for name, kind, text in cases:
            case = ET.SubElement(suite, "testcase", classname=_xml(one.candidate), name=_xml(name))
            if kind is None:
                ET.SubElement(case, "system-out").text = _xml(text)
            else:
                ET.SubElement(case, kind, message=_xml(text))
    for element in (*root, root):
        cases_of = [*element.iter("testcase")]
        element.set("tests", str(len(cases_of)))
        for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            element.set(name, str(sum(case.find(kind) is not None for case in cases_of)))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _text(gate: Gate, row: _Row) -> str:
    """Say of a benchmark what was found, and what the condition is on it."""
    if row.outcome == "missing":
        return row.remark
    gap = row.difference
    ends = gap.cell_interval() if gap.too_few else gap.interval()
    interval = f" ({ends})" if ends else ""
    found = "" if gap.ratio is None else f"{gap.phrase()}{interval}: "
    return "; ".join(filter(None, (f"{found}{gate.condition} is {row.outcome_text}", row.remark)))


def workflow_commands(gate: Gate) -> Iterator[str]:
    """Give the answer as GitHub's workflow commands, a line each: what is proven is an error."""
    kinds = {"proven": "error", "undecided": "warning", "passed": "notice"}
    for one in gate.candidates:
        yield _annotation(kinds[one.outcome], one.candidate, sentence_of(gate, one))
        for row in _rows(gate, one):
            if row.outcome == "proven" and len(one.benchmarks) > 1:
                yield _annotation("error", f"{one.candidate}: {row.name}", _text(gate, row))


def _annotation(kind: str, title: str, text: str) -> str:
    name = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={name}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _xml(text: str) -> str:
    """Replace what XML cannot hold, such as an escape sequence in a benchmark's name."""
    return _NO_XML.sub("\ufffd", text)
