"""How a gate's answer is said: on the page, in a report of tests, in a build's log."""

from __future__ import annotations

from ...report import figures
from .result import Gate, GatedCandidate, GateLine, Outcome

__all__ = ["SAID", "answer", "bounds", "conclusion", "multiple", "why"]

SAID: dict[Outcome, str] = {"passed": "ruled out", "proven": "proven", "undecided": "undecided"}
_REASONS = {
    "fails-more": "the candidate fails significantly more often",
    "confounded": "session and variant cannot be told apart",
    "one-session": "within one session; the next one may differ",
    "below-resolution": "below the clock's resolution",
    "no-interval": "no interval: too few sessions, or they do not differ",
}
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
    """Say what decided a line, or keeps it undecided."""
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
    if one.reason == "fails-more":
        names = [line.name for line in one.benchmarks if line.reason == "fails-more"]
        return f"{gate.condition} counts as proven: it fails more often on {figures.listed(names)}"
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


def conclusion(gate: Gate) -> str:
    """Say the whole answer in one sentence."""
    head = {"passed": "passed", "proven": "not passed", "undecided": "undecided"}[gate.outcome]
    if gate.metric not in (None, "wall"):
        head += f" by {gate.metric}"
    if len(gate.candidates) == 1:
        (one,) = gate.candidates
        return f"{head}: {figures.shorten(one.candidate, 40)}: {answer(gate, one)}"
    counts = [
        f"{SAID[outcome]} of {n}"
        for outcome in SAID
        if (n := sum(one.outcome == outcome for one in gate.candidates))
    ]
    return f"{head}: of {len(gate.candidates)} candidates, {gate.condition} is {', '.join(counts)}"
