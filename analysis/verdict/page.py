"""The first verdict as plain text: the answer first, evidence below, the next command last."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from ..report import as_text, figures

if TYPE_CHECKING:
    from .result import CandidateVerdict, Verdict

__all__ = ["verdict_text"]

_NAME = 28  # columns for a benchmark's name
_VARIANT = 16


def verdict_text(verdict: Verdict) -> list[str]:
    """Give the lines of the report."""
    lines = as_text.wrapped(_heading(verdict))
    if verdict.candidates:
        lines += ["", *_answers(verdict)]
        for candidate in verdict.candidates:
            lines += ["", *_table(verdict, candidate)]
    else:
        lines += ["", "one variant only: there is nothing to compare", "", *_spread_table(verdict)]
    cautions = as_text.numbered(
        [text for text in verdict.cautions if not text.startswith("one variant only")]
    )
    if cautions:
        lines += ["", *cautions]
    return [*lines, "", *_next(verdict)]


def _heading(verdict: Verdict) -> str:
    sessions = f"{verdict.sessions} session{'s' * (verdict.sessions != 1)}"
    aside = f" ({verdict.warmups} warm-up left out)" if verdict.warmups else ""
    metric = "wall time" if verdict.metric == "wall" else verdict.metric
    parts = [
        f"{verdict.campaign} on {verdict.host}",
        f"{metric}, {verdict.better} is better",
        f"baseline {figures.shorten(verdict.baseline, _NAME)}",
        f"{verdict.runs} runs{aside} in {sessions}",
    ]
    return " · ".join(parts)


def _answers(verdict: Verdict) -> list[str]:
    """Answer in one line for each candidate: over the suite, then benchmark by benchmark."""
    rows = []
    for one in verdict.candidates:
        counts = Counter(row.outcome for row in one.benchmarks)
        total = len(one.benchmarks)
        told = [f"{outcome} on {n}" for outcome, n in counts.items() if outcome != "undecided"]
        single = f"{', '.join(told) or 'nothing told apart'} of {total}"
        result = one.hpt
        if total == 1:  # HPT compares suites; of one benchmark its first stage is the answer
            mean = "" if one.speedup is None else figures.ratio(one.speedup)
            only = one.benchmarks[0].outcome if one.speedup is not None else "not measured"
            rows.append([figures.shorten(one.variant, _NAME), mean, only, ""])
            continue
        if result is None:
            suite = "not compared"
        elif result.outcome == "undecided":
            suite = "undecided"
        else:
            good, bad = ("faster", "slower") if result.faster else ("better", "worse")
            p = result.pvalue if result.outcome == "candidate" else result.pvalue_baseline
            text = figures.reliability(1 - p, result.required)
            suite = f"{good if result.outcome == 'candidate' else bad}, reliability {text}"
        mean = "" if one.speedup is None else figures.ratio(one.speedup)
        rows.append([figures.shorten(one.variant, _NAME), mean, f"over the suite: {suite}", single])
    return as_text.grid(rows, "<><<")


def _table(verdict: Verdict, one: CandidateVerdict) -> list[str]:
    ours = figures.shorten(one.variant, _VARIANT)
    base = figures.shorten(verdict.baseline, _VARIANT)
    rows = [["", base, ours, "speedup", "runs", "outcome"]]
    for row in one.benchmarks:
        rows.append(
            [
                figures.shorten(row.benchmark, _NAME),
                _value(row.median_baseline, verdict.unit, bound="baseline" in row.floored),
                _value(row.median_candidate, verdict.unit, bound="candidate" in row.floored),
                "-" if row.speedup is None else figures.ratio(row.speedup),
                f"{row.runs_baseline}+{row.runs_candidate}",
                row.outcome if row.speedup is not None or row.floored else "not measured",
            ]
        )
    if one.speedup is not None and len(one.benchmarks) > 1:
        known = sum(row.speedup is not None for row in one.benchmarks)
        mean = figures.ratio(one.speedup)
        rows.append([f"geometric mean of {known}", "", "", mean, "", ""])
    lines = as_text.grid(rows, "<>>>><")
    if one.hpt is None:
        return [*lines, "  no benchmark can be compared: the suite was not compared"]
    if len(one.benchmarks) == 1:
        alpha = one.hpt.benchmarks[0].alpha
        test = (
            "medians alone" if alpha is None else f"a rank-sum test in each direction at {alpha:g}"
        )
        said = f"one benchmark: the outcome is by {test}; HPT compares suites of benchmarks"
        return [*lines, *as_text.wrapped(said)]
    return [*lines, *as_text.wrapped(one.hpt.conclusion)]


def _value(value: float | None, unit: str, *, bound: bool) -> str:
    if value is None:
        return "-"
    return ("<= " if bound else "") + figures.quantity(value, unit)


def _spread_table(verdict: Verdict) -> list[str]:
    rows = [["", "median", "half of the runs", "all runs", "runs"]]
    for row in verdict.spreads:
        unit = verdict.unit
        inner = [figures.quantity(x, unit) for x in (row.low_quartile, row.high_quartile)]
        outer = [figures.quantity(x, unit) for x in (row.minimum, row.maximum)]
        rows.append(
            [
                figures.shorten(row.benchmark, _NAME),
                figures.quantity(row.median, unit),
                " to ".join(inner),
                " to ".join(outer),
                str(row.runs),
            ]
        )
    return as_text.grid(rows, "<>>>>")


def _next(verdict: Verdict) -> list[str]:
    if not verdict.finished:
        command = f"fairtrial status {shlex.quote(verdict.path)}"
        return [f"how far it is: {command}"]
    compared = [one for one in verdict.candidates if one.hpt is not None]
    if not compared:
        campaign = shlex.quote(verdict.campaign_path)
        return [f"measure more: fairtrial run {campaign}"]
    sides = " ".join(
        shlex.quote(f"{verdict.path}:{name}") for name in (compared[0].variant, verdict.baseline)
    )
    metric = "" if verdict.metric == "wall" else f" --metric {shlex.quote(verdict.metric)}"
    return ["the whole rank table:", f"  fairtrial hpt {sides}{metric}"]
