"""The answer of a gate in one sentence, in the unit of its question.

The screen, a build's annotation, its summary, JUnit and JSON all say this sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...pages import number_format as figures
from ...pages.difference import Difference
from ...words import shorten, shown
from ..screen.sentence import REASONS, counted_sentence

if TYPE_CHECKING:
    from ...pages.number_format import Word
    from ..gate import Gate, GatedCandidate, GateLine, Outcome

LABELS: dict[Outcome, str] = {"passed": "PASS", "proven": "STOP", "undecided": "OPEN"}
_ORDER: tuple[Outcome, ...] = ("proven", "undecided", "passed")
_NAME = 28  # columns of a variant's name, and of a benchmark's
_NAMED = 3
_APART = 0.5  # points between the limit as it was asked for and as the screen counts, from which it is said
_DESIGNS = REASONS | {
    "confounded": "{noun} and variant cannot be told apart",
    "depends": "{noun}s resemble the ones before them; measure again later",
    "one-build": "each was built once, and one value has no interval",
    "one-session": "all runs stem from one {noun}, and another may answer otherwise",
}


def sentence_of(gate: Gate) -> str:
    """Say the whole answer: that of the only candidate, or of the one that decides, and how many pass."""
    worst = next(one for one in gate.candidates if one.outcome == gate.outcome)
    told = sentence_of_candidate(gate, worst)
    count = len(gate.candidates)
    if count == 1:
        return told
    passed = sum(one.outcome == "passed" for one in gate.candidates)
    return f"{told} ({passed} of {count} candidates {'passes' if passed == 1 else 'pass'})"


def sentence_of_candidate(gate: Gate, one: GatedCandidate) -> str:
    """Say what was found of a candidate, and what the condition makes of it."""
    ours, base = _name(one.candidate), _name(one.baseline or "the baseline")
    if one.reason is not None and not one.benchmarks:
        return f"no run of {ours} succeeded"
    if one.reason in ("fails-more", "fails-always"):
        return _of_failures(gate, one, ours, base)
    if one.reason == "missing":
        lacking = one.missing.candidate
        count = len(lacking) + len(one.benchmarks)
        said = f"{len(lacking)} of {figures.counted(count, 'benchmark')} of {base}"
        were = "was" if len(lacking) == 1 else "were"
        return f"{said} {were} not measured in {ours}: {figures.listed([*map(_name, lacking)], 8)}"
    if one.reason is not None:
        noun = "host" if one.outermost == "host" else "session"
        why = _DESIGNS.get(one.reason, one.reason).format(noun=noun)
        return f"nothing is decided for {ours} against {base}: {why}"
    lines = _deciding(gate, one)
    if not lines:
        return f"nothing could be compared of {ours} and {base}"
    return _of_line(gate, one, lines)


def difference(gate: Gate, one: GatedCandidate, line: GateLine) -> Difference:
    """Give a line's difference in the unit of the metric."""
    return Difference.of(
        line,
        metric=gate.metric or "wall",
        unit="s" if one.unit is None else one.unit,
        better=one.better or "lower",
    )


def _name(name: str) -> str:
    return shorten(shown(name), _NAME)


def _deciding(gate: Gate, one: GatedCandidate) -> tuple[GateLine, ...]:
    """Give the lines that made the outcome what it is: the suite alone where it did."""
    if one.suite is not None and gate.on == "suite" and one.suite.outcome == one.outcome:
        return (one.suite,)
    found = tuple(line for line in one.benchmarks if line.outcome == one.outcome)
    if one.outcome == "passed" and one.suite is not None:  # each passes, and the suite sums them up
        return (one.suite,)
    # the farthest from the limit tells most
    return tuple(sorted(found, key=lambda line: line.speedup or 1.0))


def _of_line(gate: Gate, one: GatedCandidate, lines: tuple[GateLine, ...]) -> str:
    line, ours, base = lines[0], _name(one.candidate), _name(one.baseline or "the baseline")
    told = difference(gate, one, line)
    where = "" if line is one.suite or len(one.benchmarks) == 1 else f" on {_name(line.name)}"
    if one.design == "hosts" or one.outermost == "host":
        where += " on hosts like these"
    also = f", and on {len(lines) - 1} more" if len(lines) > 1 else ""
    word: Word = "undecided" if line.outcome == "undecided" else "slower"
    counted = counted_sentence(line, told, (ours, base), word, where)
    if line.outcome != "undecided" and told.low is None:  # what does not vary, and suites of it
        same = f"{ours} {told.same()} as {base}{where}"
        counted = counted or (told.sentence(ours, base) + where if line.speedup != 1 else same)
        return f"{counted}{also}: {_verdict(gate, one, line)}"
    if counted:
        return f"{counted}{also}: {_limit(gate, one)} is neither proven nor ruled out"
    if told.low is None or told.high is None:
        return f"nothing is decided for {ours} against {base}{where}: there is no interval"
    if line.outcome == "undecided" and told.too_few:
        return f"nothing is decided for {ours} against {base}{where}{also}: too few values"
    if line.reason == "totals":
        found = f"{told.sentence(ours, base)}{where} ({told.interval()}){also}"
        return f"{found}: but in all it lies on the other side of {_limit(gate, one)}"
    if line.outcome == "undecided":
        limit = _limit(gate, one)
        what = f"the wanted gain of {limit}" if gate.asked.kind == "faster" else limit
        return (
            f"{ours} {told.verb} {told.between()} than {base}{where}{also}: {what} is neither "
            "proven nor ruled out"
        )
    return (
        f"{told.sentence(ours, base)}{where} ({told.interval()}){also}: {_verdict(gate, one, line)}"
    )


def _verdict(gate: Gate, one: GatedCandidate, line: GateLine) -> str:
    """Hold the difference against what is allowed, or wanted."""
    limit = _limit(gate, one)
    if gate.asked.kind == "faster":
        return f"the wanted gain of {limit} is {'' if line.outcome == 'passed' else 'not '}there"
    if line.outcome == "proven":
        return f"more than the {limit} allowed"
    worse = line.speedup is not None and line.speedup < 1
    return f"less than the {limit} allowed" if worse else f"within the {limit} allowed"


def _limit(gate: Gate, one: GatedCandidate) -> str:
    """Write the limit as it was asked for; where it is another share of the baseline's value, that too."""
    asked = f"{gate.asked.percent:.12g} %"
    ratio = gate.limit if one.better == "higher" else 1 / gate.limit
    points = 100 * abs(ratio - 1)
    if abs(points - gate.asked.percent) < _APART:
        return asked
    return f"{asked} ({points:.0f} % {'more' if ratio > 1 else 'less'})"


def _of_failures(gate: Gate, one: GatedCandidate, ours: str, base: str) -> str:
    """Say what failing runs make of a candidate: whether they stop it, or keep it from passing."""

    def on(names: list[str]) -> str:
        return "" if len(one.benchmarks) == 1 else f" on {figures.listed(names, _NAMED)}"

    def named(reason: str, outcome: str) -> list[str]:
        found = [x for x in one.benchmarks if (x.reason, x.outcome) == (reason, outcome)]
        return [_name(line.name) for line in found]

    more, never = named("fails-more", "proven"), named("fails-always", "proven")
    told = [f"{ours} fails more often than {base}{on(more)}"] if more else []
    told += [f"no run of {ours} succeeded{on(never)}"] if never else []
    if told:
        return ", and ".join(told)
    dead = f"no run of {ours} succeeded{on(named('fails-always', 'undecided'))}"
    if one.outcome == "proven":
        return f"{_of_line(gate, one, _deciding(gate, one))}; {dead}"
    return f"{dead}, which proves nothing yet"
