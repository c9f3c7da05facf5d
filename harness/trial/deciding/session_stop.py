"""The stopping rule at work: a session's runs in, the decision between two blocks out.

The arithmetic is the judge's and needs numpy: it is imported here when a session under a rule
begins, before its first run, and never without a rule.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from analysis.record import (
    MEASUREMENTS,
    Finding,
    Measurement,
    SessionEnd,
    StopRule,
    records_of,
)
from analysis.run_numbers import METRIC_NUMBERS, NUMBERS

from ...campaign import Campaign

_WALL = "wall"


class SessionStop:
    """Applies the rule to one session; make it before the session's first run.

    It looks at the first metric that the campaign's `judge` names, else at the wall time.

    What it decides depends on the stored runs alone, so a session that was killed and resumed ends
    where it would have ended.

    Parameters
    ----------
    rule : StopRule
        The campaign's.
    campaign : Campaign
        Names the cells.
    session : int
        The session's number, from 1.
    """

    def __init__(self, rule: StopRule, campaign: Campaign, session: int) -> None:
        from analysis.planning import RunningSuite, decide

        self._rule = rule
        self._metric = next(iter(campaign.judge), None)
        self._counters = campaign.counters is not None and any(
            event.name == self._metric for event in campaign.counters.events
        )
        self._campaign = campaign
        self._session = session
        self._decide = decide
        self._benchmarks = {name: k for k, name in enumerate(campaign.benchmarks)}
        self._variants = {name: k for k, name in enumerate(campaign.variants)}
        self._suite = RunningSuite(len(self._benchmarks), len(self._variants))
        self._runs = 0
        self._mended: set[int] = set()  # positions of disturbed runs with an undisturbed repeat
        self._spans: dict[int, tuple[int, int]] = {}  # segment -> its first start and last end

    def add(self, measurement: Measurement) -> None:
        """Count a run. Warm-ups take time; failed runs, and those without a value, are not judged."""
        if measurement.start_ns is not None and measurement.wall_ns is not None:
            ended = measurement.start_ns + measurement.wall_ns
            begun, _ = self._spans.get(measurement.segment, (measurement.start_ns, ended))
            self._spans[measurement.segment] = (begun, ended)
        if measurement.warmup:
            return
        if measurement.repeats is None:
            self._runs += 1
            self._put(measurement)
        elif measurement.disturbed is False and measurement.repeats not in self._mended:
            self._mended.add(measurement.repeats)  # the first undisturbed row is judged
            self._put(measurement)

    def _put(self, row: Measurement) -> None:
        """Take a row for the value of its run, in place of one that was disturbed."""
        if row.counted is not None and row.counted != self._counters:
            return  # there for its counters alone, or for all else
        value = _value_of(row, self._metric) if row.outcome == "ok" else None
        good = value is not None and 0 < value < math.inf  # a damaged row may say anything
        if good or row.repeats is not None:
            self._suite.add(
                row.block,
                self._benchmarks[row.benchmark],
                self._variants[row.variant],
                value if value is not None and good else math.nan,  # no value that counts
            )

    def give_up(self, benchmark: str, variant: str) -> None:
        """Go on without a cell."""
        self._suite.give_up(self._benchmarks[benchmark], self._variants[variant])

    def pass_over(self) -> None:
        """Count a measured run of a given-up cell, which its block goes without."""
        self._runs += 1

    def end(self) -> SessionEnd | None:
        """Decide whether the session ends here; within a block it never does."""
        blocks, begun = divmod(self._runs, len(self._campaign.cells))
        if begun or not blocks:
            return None
        end = self._decide(
            self._rule,
            self._suite,
            session=self._session,
            blocks=blocks,
            elapsed_s=sum(last - first for first, last in self._spans.values()) / 1e9,
            baseline=self._variants[self._campaign.baseline],
            benchmarks=self._campaign.benchmarks,
            variants=self._campaign.variants,
        )
        if end is None or self._metric is None:
            return end
        return replace(end, text=f"{self._metric}: {end.text}")


def _value_of(row: Measurement, metric: str | None) -> float | None:
    """Give a run's value of a metric, the mean of its iterations; None where it has none.

    A metric that a program prints wins over one of its name that every run has, as for the judge. Where
    none is named it is the wall time.
    """
    printed = () if metric is None else row.metrics.get(metric)
    if printed:
        return sum(printed) / len(printed)
    number = METRIC_NUMBERS.get(metric or _WALL)
    value = None if number is None else getattr(row, number)
    if value is None or number is None:
        return None
    return float(value / 1e9 if NUMBERS[number].unit == "ns" else value)


def finding_of(end: SessionEnd) -> Finding:
    """Make the finding that records how a session ended; a cap is a warning."""
    return Finding(
        check="stop",
        status="ok" if end.why == "width" else "warn",
        what=end.text,
        where="protocol.stop",
        reason=None if end.why == "width" else "the intervals are wider than was asked for",
    )


def stored_runs(trial: Path, ended: Iterable[int] = ()) -> dict[int, list[Measurement]]:
    """Read the measurements of sessions that have not ended; the store has checked the lines."""
    passed = frozenset(ended)
    found: dict[int, list[Measurement]] = defaultdict(list)
    for row, _ in records_of(trial / MEASUREMENTS, Measurement):
        if row.session not in passed:
            found[row.session].append(row)
    return found
