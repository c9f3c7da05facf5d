"""The screen of a gate: its answer in one sentence, a row a benchmark, notes, what comes next."""

from __future__ import annotations

from collections.abc import Iterator

from ...data.pair import OF_ONE_SIDE
from ...methods.multilevel.page import looks_text
from ...pages.difference import Difference
from ...pages.model import Block, Note, Page, Section, Sentence, Table, Value, columns_of, page_of
from ...words import shorten, shown
from ..cautions import host_cautions_in
from ..gate import WITHOUT, Gate, GatedCandidate, GateLine, Outcome
from .sentence import LABELS, difference, sentence_of, sentence_of_candidate

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
    return _LESS[gate.asked.kind] != (one.better == "higher")


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
    for one in gate.candidates:
        cells = ("-", "-") if one.suite is None else cells_of(gate, one, one.suite)
        told = "" if one.suite is not None else sentence_of_candidate(gate, one)
        rows.append((shorten(shown(one.candidate), _NAME), *cells, SAID[one.outcome], told))
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
    yield Table(
        name=f"benchmarks-{number}",
        columns=columns_of("<", heading_of(gate, one), level_of(gate), f"<{gate.condition}", "<"),
        rows=tuple(
            (
                shorten(shown(line.name), _NAME),
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
