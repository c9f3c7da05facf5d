"""The gate in words: the answer, then what it rests on, line by line."""

from __future__ import annotations

from ...methods.multilevel import looks_text
from ...report import Column, Page, Section, Sentence, Table, Value, figures, page_of
from .result import Gate, GatedCandidate, GateLine
from .wording import SAID, answer, bounds, conclusion, multiple, why

__all__: list[str] = []

_NAME = 28  # columns for a name
_MOST = 12  # benchmarks shown of a candidate; those that did not pass come first
_SAID_DESIGNS = {"hosts": "hosts above them"}
_ORDER = {"proven": 0, "undecided": 1, "passed": 2}


@page_of.register
def _(gate: Gate) -> Page:
    head = Section((Sentence(conclusion(gate)), Sentence(_rule(gate))))
    several = len(gate.candidates) > 1
    sections = [head]
    if several:
        sections.append(Section((_table_of_candidates(gate),)))
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


def _table_of_candidates(gate: Gate) -> Table:
    return Table(
        name="candidates",
        columns=(
            Column("candidate", "left"),
            Column("speedup"),
            Column("interval", "left"),
            Column(gate.condition, "left"),
            Column("", "left"),
        ),
        rows=tuple(
            (
                figures.shorten(one.candidate, _NAME),
                _speedup(one.suite),
                bounds(one.suite) if one.suite else "-",
                SAID[one.outcome],
                _ground(gate, one),
            )
            for one in gate.candidates
        ),
    )


def _ground(gate: Gate, one: GatedCandidate) -> str:
    return answer(gate, one).removeprefix(f"{gate.condition} ").removeprefix("is ")


def _evidence(gate: Gate, one: GatedCandidate, number: int) -> list[Table | Sentence]:
    lines = sorted(one.benchmarks, key=lambda line: _ORDER[line.outcome])[:_MOST]
    shown = [line for line in one.benchmarks if line in lines]
    if one.suite is not None and one.suite.name == "suite":
        shown.append(one.suite)
    table = Table(
        name=f"benchmarks-{number}",
        columns=(
            Column("", "left"),
            Column("speedup"),
            Column(_percent(gate.confidence), "left"),
            Column(gate.condition, "left"),
            Column("", "left"),
        ),
        rows=tuple(_row(gate, line) for line in shown),
    )
    rest = len(one.benchmarks) - len(lines)
    if not rest:
        return [table]
    hidden = [line for line in one.benchmarks if line not in lines]
    passed = all(line.outcome == "passed" for line in hidden)
    said = f"and {rest} more benchmarks{', all ruled out' if passed else ''} (--json has all)"
    return [table, Sentence(said)]


def _row(gate: Gate, line: GateLine) -> tuple[str | Value, ...]:
    return (
        figures.shorten(line.name, _NAME),
        _speedup(line),
        bounds(line),
        SAID[line.outcome],
        why(gate, line),
    )


def _speedup(line: GateLine | None) -> Value:
    value = None if line is None else line.speedup
    return Value(multiple(value), value)
