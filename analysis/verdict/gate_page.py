"""The answer of a gate in words, and the files that continuous integration reads."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from ..methods.multilevel.page import looks_text
from ..pages import number_format as figures
from ..pages.model import Page, Section, Sentence, Table, columns_of, page_of, value_of
from ..words import shorten
from .gate import Gate, GatedCandidate, GateLine, Outcome

SAID: dict[Outcome, str] = {"passed": "ruled out", "proven": "proven", "undecided": "undecided"}
_REASONS = {
    "fails-more": "fails more (its speed is undecided in the verdict)",
    "fails-always": "no run succeeded",
    "confounded": "session and variant cannot be told apart",
    "one-session": "within one session; the next one may differ",
    "depends": "sessions resemble the ones before them; measure again later",
    "below-resolution": "below the clock's resolution",
    "no-interval": "no interval: too few sessions, or they do not differ",
}
_FAILS = {"fails-more": "it fails more often", "fails-always": "no run succeeded"}
_DIGITS = 4  # a bound and the limit often share three


def multiple(value: float | None) -> str:
    """Write a speedup or a limit."""
    return "-" if value is None else f"{figures.significant(value, _DIGITS)}x"


def bounds(line: GateLine) -> str:
    """Write the interval."""
    if line.low is None or line.high is None:
        return "-"
    return f"[{figures.significant(line.low, _DIGITS)}, {figures.significant(line.high, _DIGITS)}]"


def why(gate: Gate, line: GateLine) -> str:
    """Say what decided a line, or keeps it undecided, and how many runs failed."""
    return "; ".join(text for text in (_why(gate, line), line.failures) if text)


def _why(gate: Gate, line: GateLine) -> str:
    if line.reason is not None:
        return _REASONS.get(line.reason, line.reason)
    if line.outcome == "passed":
        return f"above {multiple(gate.limit)}"
    p = line.pvalue_condition_adjusted or line.pvalue_condition
    told = "" if p is None else f"p {figures.pvalue(p)}"
    if line.outcome == "proven":
        return told
    below = line.high is not None and line.high < gate.limit
    return (
        f"not after correction, {told}" if below else f"the interval holds {multiple(gate.limit)}"
    )


def answer(gate: Gate, one: GatedCandidate) -> str:
    """Say a candidate's outcome and its ground, in one clause."""
    if one.reason is not None and not one.benchmarks:
        return f"{gate.condition} counts as proven: no run of the candidate succeeded"
    if one.reason in _FAILS:
        return _of_failures(gate, one)
    if one.reason is not None:
        return f"{gate.condition} is undecided: {_REASONS.get(one.reason, one.reason)}"
    proven = one.named("proven")
    if one.outcome == "proven" and proven:
        return f"{gate.condition} is proven on {figures.listed(proven)}"
    if gate.on == "benchmarks" and one.outcome == "undecided":
        return f"{gate.condition} is undecided on {figures.listed(one.named('undecided'))}"
    if gate.on == "benchmarks":
        return f"{gate.condition} is ruled out on all {len(one.benchmarks)} benchmarks"
    if one.suite is None:
        return f"{gate.condition} is undecided: nothing could be compared"
    found = f"{multiple(one.suite.speedup)} {bounds(one.suite)}"
    told = {"passed": "ruled out for", "proven": "proven of", "undecided": "undecided for"}
    return f"{gate.condition} is {told[one.outcome]} the suite, {found}: {why(gate, one.suite)}"


def _of_failures(gate: Gate, one: GatedCandidate) -> str:
    """Say what failing runs make of a candidate: whether they stop it, or keep it from passing."""
    stopped = [
        f"{told} on {figures.listed(names)}"
        for reason, told in _FAILS.items()
        if (
            names := [x.name for x in one.benchmarks if (x.reason, x.outcome) == (reason, "proven")]
        )
    ]
    if stopped:
        return f"{gate.condition} counts as proven: {', and '.join(stopped)}"
    dead = figures.listed([x.name for x in one.benchmarks if x.reason == "fails-always"])
    slower = [x.name for x in one.benchmarks if x.outcome == "proven"]
    if one.outcome == "proven":
        of = f"on {figures.listed(slower)}" if slower else "of the suite"
        return f"{gate.condition} is proven {of}; no run succeeded on {dead}"
    return f"{gate.condition} is undecided: no run succeeded on {dead}, which proves nothing yet"


def conclusion(gate: Gate) -> str:
    """Say the whole answer in one sentence."""
    head = {"passed": "passed", "proven": "not passed", "undecided": "undecided"}[gate.outcome]
    if gate.metric not in (None, "wall"):
        head += f" by {gate.metric}"
    if len(gate.candidates) == 1:
        (one,) = gate.candidates
        return f"{head}: {shorten(one.candidate, 40)}: {answer(gate, one)}"
    counts = [
        f"{SAID[outcome]} of {n}"
        for outcome in SAID
        if (n := sum(one.outcome == outcome for one in gate.candidates))
    ]
    return f"{head}: of {len(gate.candidates)} candidates, {gate.condition} is {', '.join(counts)}"


_NAME = 28  # columns for a name
_MOST = 12  # benchmarks shown of a candidate; those that did not pass come first
_SAID_DESIGNS = {"hosts": "hosts above them"}
_ORDER = {"proven": 0, "undecided": 1, "passed": 2}


@page_of.register(Gate)
def _gate_page(gate: Gate) -> Page:
    head = Section((Sentence(conclusion(gate)), Sentence(_rule(gate))))
    several = len(gate.candidates) > 1
    sections = [head]
    if several:
        rows = tuple(
            (
                shorten(one.candidate, _NAME),
                value_of(getattr(one.suite, "speedup", None), multiple),
                bounds(one.suite) if one.suite else "-",
                SAID[one.outcome],
                answer(gate, one).removeprefix(f"{gate.condition} ").removeprefix("is "),
            )
            for one in gate.candidates
        )
        columns = columns_of("<candidate", "speedup", "<interval", f"<{gate.condition}", "<")
        sections.append(Section((Table(name="candidates", columns=columns, rows=rows),)))
    for k, one in enumerate(gate.candidates, 1):
        if one.benchmarks and (not several or one.outcome != "passed"):
            title = f"{one.candidate} against {one.baseline}" if several else ""
            sections.append(Section(tuple(_evidence(gate, one, k)), title=title))
    return Page(
        title=f"The gate {gate.condition}", sections=tuple(sections), cautions=gate.cautions
    )


def _rule(gate: Gate) -> str:
    wanted = {
        "suite": "the suite must lie above, no benchmark be proven below",
        "benchmarks": "every benchmark must lie above",
    }[gate.on]
    told = [f"limit {multiple(gate.limit)}: {wanted}"]
    if gate.risk is not None:
        told.append(f"confidence {_percent(gate.confidence)}, risk {_percent(gate.risk)}")
    if len(gate.candidates) == 1 and (one := gate.candidates[0]).design is not None:
        told.append(_design(one))
    return " · ".join(told)


def _design(one: GatedCandidate) -> str:
    told = one.design or ""
    if one.sessions > 1:
        noun = "session" if told == "hosts" else one.outermost  # those of all hosts are counted
        told = f"{one.sessions} {noun}s, {_SAID_DESIGNS.get(told, told)}"
    if one.always_valid:
        return f"{told}, always-valid"
    return ", ".join(text for text in (told, looks_text(one)) if text)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.4g} %"


def _evidence(gate: Gate, one: GatedCandidate, number: int) -> list[Table | Sentence]:
    lines = sorted(one.benchmarks, key=lambda line: _ORDER[line.outcome])[:_MOST]
    shown = [line for line in one.benchmarks if line in lines]
    if one.suite is not None and one.suite.name == "suite":
        shown.append(one.suite)
    table = Table(
        name=f"benchmarks-{number}",
        columns=columns_of(
            "<", "speedup", f"<{_percent(gate.confidence)}", f"<{gate.condition}", "<"
        ),
        rows=tuple(
            (
                shorten(line.name, _NAME),
                value_of(line.speedup, multiple),
                bounds(line),
                SAID[line.outcome],
                why(gate, line),
            )
            for line in shown
        ),
    )
    rest = len(one.benchmarks) - len(lines)
    if not rest:
        return [table]
    hidden = [line for line in one.benchmarks if line not in lines]
    passed = all(line.outcome == "passed" for line in hidden)
    said = f"and {rest} more benchmarks{', all ruled out' if passed else ''} (--json has all)"
    return [table, Sentence(said)]


# what XML 1.0 cannot hold, section 2.2
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKS = re.compile(r"([\\`*_{}\[\]<>|~&#!])")


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
        _case(suite, one, "gate", kinds.get(one.outcome), answer(gate, one))
        if gate.on == "suite":
            kinds["undecided"] = "skipped"
        for line in one.benchmarks:
            said = f"{gate.condition} is {SAID[line.outcome]}: {_figures(line)}, {why(gate, line)}"
            _case(suite, one, line.name, kinds.get(line.outcome), said)
        _count(suite, list(suite))
        root.append(suite)
    _count(root, list(root.iter("testcase")))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


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
    """Give the answer as GitHub's workflow commands, a line each: what is proven is an error."""
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
