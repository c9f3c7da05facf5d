"""What to do after a gate: go on where it is open, and ask again; else look at every run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...methods.multilevel.advice import rounded, sessions_needed
from ...methods.multilevel.law import ErrorLaw
from ...methods.multilevel.result import MOST_TOLD, BenchmarkLine
from ...pages.model import Next
from ...record.warmup_iterations import asked_words

if TYPE_CHECKING:
    from ...methods.multilevel.result import Line, Multilevel
    from ...record.trial_files import Manifest
    from ..gate import Gate
    from ..result import Verdict

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
    limit = gate.asked.log_limit
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
