"""The screen of a gate: its answer in one sentence, a row a benchmark, notes, what comes next."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..data.pair import OF_ONE_SIDE
from ..methods.multilevel.advice import rounded, sessions_needed
from ..methods.multilevel.law import ErrorLaw
from ..methods.multilevel.page import looks_text
from ..methods.multilevel.result import MOST_TOLD, BenchmarkLine
from ..pages.as_markup import markdown_line as mark
from ..pages.difference import Difference
from ..pages.model import (
    Block,
    Next,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    page_of,
)
from ..record.manifest import asked_words
from ..words import shortened
from .cautions import host_cautions_in
from .gate import (
    LABELS,
    WITHOUT,
    Gate,
    GatedCandidate,
    GateLine,
    Outcome,
    difference,
    sentence_of,
    sentence_of_candidate,
)

if TYPE_CHECKING:
    from ..methods.multilevel.result import Line, Multilevel
    from ..record.trial_files import Manifest
    from .result import Verdict

SAID: dict[Outcome, str] = {"passed": "ruled out", "proven": "proven", "undecided": "undecided"}
_REASONS = {
    "fails-more": "fails more often",
    "fails-always": "no run succeeded",
    "below-resolution": "below the clock's step",
    "no-interval": "no interval",
    "no-steady-state": "no steady state",
    "few-sessions": "too few sessions",
    "without-ratio": "no ratio",
    "unequal-values": "unequal numbers of values",
    "cut-off": "stopped at its limit",
    "totals": "totals differ",
}
_NAME = 24  # columns for a name
_MOST = 12  # benchmarks shown of a candidate; those that did not pass come first
_ORDER = {"proven": 0, "undecided": 1, "passed": 2}
# whether the question is about less of a time
_LESS = {"slower": False, "worse": False, "faster": True}


def why(gate: Gate, line: GateLine) -> str:
    """Say in few words what keeps a line from being decided, where it is not its interval."""
    if line.reason is not None:
        return _REASONS.get(line.reason, "")
    beyond = line.high is not None and line.high < gate.limit
    return "not after correction" if line.outcome == "undecided" and beyond else ""


def heading_of(gate: Gate, one: GatedCandidate) -> str:
    """Name the difference that is asked for: ``more time``, ``more memory (max_rss)``, ``less (rps)``."""
    ratio = 0.5 if _asks_for_less(gate, one) else 2.0
    unit = "s" if one.unit is None else one.unit
    told = Difference(ratio, None, None, gate.metric or "wall", unit, one.better or "lower")
    return told.amount().partition(" % ")[2]


def level_of(gate: Gate) -> str:
    """Write the confidence of the intervals; "" where nothing could be compared."""
    return "" if gate.confidence is None else f"{100 * gate.confidence:.4g} %"


def cells_of(gate: Gate, one: GatedCandidate, line: GateLine) -> tuple[Value, str]:
    """Give a line's difference and its interval, counted in the direction of the question."""
    told = difference(gate, one, line)
    less = _asks_for_less(gate, one)
    change = None if told.ratio is None else (1 - told.ratio if less else told.ratio - 1)
    ends = [told.cell_interval()] if told.low is None or told.too_few else _ends(told)
    if less:
        ends = [_negated(end) for end in reversed(ends)]
    if len(ends) == 2 and not any(end.startswith("-") for end in ends):
        ends = [end.removeprefix("+") for end in ends]
    cell = told.cell() if told.ratio is not None else "-"
    cell = _negated(cell) if less else cell
    interval = ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[1]} %"
    return Value(cell.removeprefix("+"), change), interval


def _ends(told: Difference) -> list[str]:
    return told.cell_interval().removesuffix(" %").split(" to ")


def _negated(text: str) -> str:
    turned = {"-": "+", "+": "-"}.get(text[:1]) if len(text) > 1 else None
    return text if turned is None else f"{turned}{text[1:]}"


def _asks_for_less(gate: Gate, one: GatedCandidate) -> bool:
    """Tell whether the condition is about less of the metric: of a rate, what is worse is less."""
    return _LESS[gate.parsed_condition.kind] != (one.better == "higher")


@page_of.register(Gate)
def _gate_page(gate: Gate) -> Page:
    label = LABELS[gate.outcome]
    sections = [Section((Sentence(f"{label}  {sentence_of(gate)}"),))]
    several = len(gate.candidates) > 1
    if several:
        sections.append(Section((_candidates(gate),)))
    for number, one in enumerate(gate.candidates, 1):
        if one.benchmarks and (not several or one.outcome != "passed"):
            title = f"{one.candidate} against {one.baseline}" if several else ""
            sections.append(Section(tuple(_evidence(gate, one, number)), title=title))
    below: tuple[Block, ...] = (*map(Note, notes_of(gate)), *gate.following)
    return Page(
        title=f"The gate {gate.condition}",
        sections=tuple(sections),
        following=(Section(below),) if below else (),
    )


def notes_of(gate: Gate) -> Iterator[str]:
    """Give the notes below the answer: hosts and benchmarks that it lacks, then the cautions of a first screen."""
    yield from (one.text for one in host_cautions_in(gate.cautions))
    yield from (str(one.short) for one in gate.cautions if one.code == WITHOUT)
    refused = [one for one in gate.candidates if one.reason == "missing"]
    told = {name for one in refused for name in one.missing.candidate}  # by the sentence
    for one in gate.shown.cautions:
        if one.code != OF_ONE_SIDE or told.isdisjoint(one.about):
            yield one.text
    if refused:
        yield "--allow-missing, or --allow-missing=NAME, lets the gate pass without them"
    if gate.shown.hidden:
        yield f"and {gate.shown.hidden} more: fairtrial verdict --explain"


def _candidates(gate: Gate) -> Table:
    rows = []
    called = shortened([one.candidate for one in gate.candidates], _NAME)
    for one in gate.candidates:
        cells = ("-", "-") if one.suite is None else cells_of(gate, one, one.suite)
        told = "" if one.suite is not None else sentence_of_candidate(gate, one)
        rows.append((called[one.candidate], *cells, SAID[one.outcome], told))
    heading = heading_of(gate, gate.candidates[0])
    columns = columns_of("<", heading, level_of(gate), f"<{gate.condition}", "<")
    return Table(name="candidates", columns=columns, rows=tuple(rows))


def _evidence(gate: Gate, one: GatedCandidate, number: int) -> Iterator[Block]:
    noted = {name for caution in gate.shown.cautions for name in caution.about}
    ordered = sorted(
        one.benchmarks, key=lambda line: (_ORDER[line.outcome], line.name not in noted)
    )
    kept = ordered[:_MOST]
    lines = [line for line in one.benchmarks if line in kept]
    if one.suite is not None and one.suite.name == "suite":
        lines.append(one.suite)
    called = shortened([line.name for line in lines], _NAME)
    yield Table(
        name=f"benchmarks-{number}",
        columns=columns_of("<", heading_of(gate, one), level_of(gate), f"<{gate.condition}", "<"),
        rows=tuple(
            (
                called[line.name],
                *cells_of(gate, one, line),
                SAID[line.outcome],
                _remark(gate, line),
            )
            for line in lines
        ),
    )
    if hidden := ordered[_MOST:]:
        passed = all(line.outcome == "passed" for line in hidden)
        said = f"and {len(hidden)} more benchmarks{', all ruled out' if passed else ''} (--json has all)"
        yield Sentence(said)
    if one.looks_rule != "repeated" and (told := looks_text(one)):
        yield Sentence(told)


def _remark(gate: Gate, line: GateLine) -> str:
    failed = line.failures.partition(";")[0]
    return "; ".join(text for text in (why(gate, line), failed) if text)


# --- The answer of a gate as continuous integration reads it: JUnit, Markdown, GitHub's workflow commands.


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


# --- What to do after a gate: go on where it is open, and ask again; else look at every run.


_FEW = 6  # sessions that a trial has by default
_REPORT = "every run, as a page"


def next_of(
    gate: Gate, verdict: Verdict, manifest: Manifest, again: Sequence[str] = ()
) -> tuple[Next, ...]:
    """Give what to do next, ready to be pasted.

    `again`: The options with which the gate was asked, but for its looks.
    """
    path = verdict.path
    assert path is not None  # of a trial
    report = (Next(("fairtrial", "report", path, *_metric(verdict), "-o", "report.html"), _REPORT),)
    plan = manifest.looks_plan
    once = any(one.reason == "one-build" for one in gate.candidates)
    if gate.outcome != "undecided" or manifest.origin == "imported" or once:
        return report
    if any(one.reason in ("fails-more", "fails-always", "missing") for one in gate.candidates):
        return next_of_failing(path)
    if plan is not None and plan.rule == "planned":
        return report  # its one look has all the risk: it does not go on
    campaign = verdict.campaign_path or f"{path}/campaign.yaml"
    if verdict.looks_rule == "planned" and len(manifest.appended) + 1 >= verdict.looks:
        why = "a new trial: all looks that were planned at this one are used"
        return (Next(("fairtrial", "run", campaign), why),)
    asked = ("fairtrial", "gate", gate.condition, path, *again, *_metric(verdict), *_looks(verdict))
    then = Next(asked, "then the gate again")
    if plan is not None:
        return (Next(("fairtrial", "compare", "--resume", path), "goes on measuring"), then)
    more, why = _sessions(gate, verdict)
    if more is None:
        return (Next(("fairtrial", "sources", path, *_metric(verdict)), why),)
    resume = ("fairtrial", "run", campaign, "--resume", "--trial", path, "--sessions", f"+{more}")
    return (Next(resume, why), then)


def next_of_failing(path: str) -> tuple[Next, ...]:
    """Give what to do next where runs failed, and no speed is the question."""
    return (Next(("fairtrial", "status", path), "which runs failed"),)


def next_of_others(verdict: Verdict, sources: Sequence[str]) -> tuple[Next, ...]:
    """Give what to do next for a fleet, or for two sides that are no trial's campaign."""
    if any(one.state != "complete" for one in verdict.hosts):
        return (Next(("fairtrial", "status", *sources), "what is missing, and how to go on"),)
    words = ("fairtrial", "report", *sources, *_metric(verdict), "-o", "report.html")
    return (Next(words, _REPORT),)


def _metric(verdict: Verdict) -> tuple[str, ...]:
    metric = () if verdict.usual else ("--metric", verdict.metric)
    return (*metric, *asked_words())


def _looks(verdict: Verdict) -> tuple[str, ...]:
    """Ask at the next look as at this one: what was planned stays, and a growing trial counts its looks itself."""
    if verdict.looks_rule == "always-valid":
        return ("--always-valid",)
    return ("--looks", f"{verdict.looks}") if verdict.looks_rule == "planned" else ()


def _sessions(gate: Gate, verdict: Verdict) -> tuple[int | None, str]:
    """Give how many more sessions would decide, of the open lines that need at most 1,000, and why so many."""
    counts = [
        count
        for one in verdict.candidates
        if one.multilevel is not None
        for count in _needed(gate, one.multilevel)
    ]
    within = [count for count in counts if count is not None]
    if within:
        return max(within), "decides with a chance of 3 in 4 at least"
    least = min((one.sessions for one in gate.candidates), default=0)
    if least < _FEW:
        return _FEW - least, "an answer rests on sessions"
    return None, f"where it varies: {MOST_TOLD:,} more sessions would not decide it"


def _needed(gate: Gate, result: Multilevel) -> Iterator[int | None]:
    """Give it for each line that keeps a candidate undecided; None beyond 1,000."""
    if result.design not in ("paired", "separate") or result.sessions < 2:
        return
    gated = next(one for one in gate.candidates if one.candidate == result.candidate)
    by_name = {line.name: line for line in result.benchmarks}
    if gate.on == "suite" and gated.suite is not None:
        found = result.these or by_name[gated.suite.name]
        opened: list[Line] = [found] if gated.suite.outcome == "undecided" else []
    else:
        opened = [by_name[line.name] for line in gated.benchmarks if line.outcome == "undecided"]
    law = ErrorLaw(alpha=_next_alpha(result), always_valid=result.always_valid)
    limit = gate.parsed_condition.log_limit
    for line in opened:
        if line.speedup is None or not line.error or not result.benchmarks:
            continue
        # the distance to the limit takes the place of the one to equal speed
        apart = math.exp(math.log(line.speedup) - limit)
        asked = replace(
            result.benchmarks[0],
            speedup=apart,
            error=line.error,
            sessions=line.sessions if isinstance(line, BenchmarkLine) else result.sessions,
            step_added=line.step_added,
        )
        more = sessions_needed(asked, law, 0.0, limit=MOST_TOLD)
        yield None if more is None else rounded(more)


def _next_alpha(result: Multilevel) -> float:
    """Give the risk of the next look: of a growing trial, the look i has alpha / (i (i + 1))."""
    looks = result.looks
    if result.looks_rule == "single":
        return result.look_alpha / 6
    return result.look_alpha * (looks / (looks + 2) if result.looks_rule == "growing" else 1.0)
