"""What to do next about a series of variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...pages.model import Next
from ...record.warmup_iterations import asked_words

if TYPE_CHECKING:
    from .result import OrderedVariants


def next_of(result: OrderedVariants) -> tuple[Next, ...]:
    """Give it, ready to be pasted: the commits to search, the two variants to compare, or more sessions."""
    line = result.answering
    campaign = result.campaign_path
    metric = (*(() if result.metric == "wall" else ("--metric", result.metric)), *asked_words())
    if line.steps:
        step = max(line.steps, key=lambda one: max(one.speedup, 1 / one.speedup))
        if step.after_commit and step.upto_commit:
            words = (
                "fairtrial",
                "bisect",
                step.after_commit,
                step.upto_commit,
                "--campaign",
                campaign,
            )
            benchmark = (
                () if line is result.suite or not result.suite else ("--benchmark", line.name)
            )
            return (Next((*words, *benchmark, *metric), "proves it on fresh sessions"),)
        sides = (f"{result.trial}:{step.upto}", f"{result.trial}:{step.after}")
        return (Next(("fairtrial", "verdict", *sides, *metric), "these two beside each other"),)
    if line.outcome == "undecided":
        more = max(line.sessions, 4)
        words = ("fairtrial", "run", campaign, "--resume", "--trial", result.trial)
        return (Next((*words, "--sessions", f"+{more}"), "more sessions tell"),)
    return (
        Next(
            ("fairtrial", "report", result.trial, *metric, "-o", "report.html"),
            "every run, as a page",
        ),
    )
