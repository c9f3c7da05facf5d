"""Repeats, stop rules, cells given up, counted blocks, in any combination: an interruption changes nothing.

Authority: the same trial that nobody interrupted.
"""

from __future__ import annotations

import dataclasses
import random
import shutil
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import HealthCheck, example, given, settings, strategies as st

from analysis.data.trial import read_trial
from analysis.record import StopRule
from harness.campaign.model import CounterEvent, Counting
from harness.meters.counters.look import Answer
from harness.trial.deciding.repeating import repeats_of

STOPS = st.builds(
    StopRule,
    width=st.sampled_from([0.2, 0.5, 1.0]),
    min_runs=st.sampled_from([2, 3]),
    max_runs=st.just(8),
)


@st.composite
def protocols(draw: st.DrawFn) -> dict[str, Any]:
    stop = draw(st.none() | STOPS)
    orders = ["shuffled"] if stop else ["shuffled", "sequential", "interleaved"]
    return {
        "stop": stop,
        "runs": 8,
        "sessions": draw(st.sampled_from([1, 2])),
        "warmup": draw(st.sampled_from([0, 1])),
        "give_up": draw(st.sampled_from([None, 2, 3])),
        "disturbed": draw(st.sampled_from(["keep", "repeat"])),
        "order": draw(st.sampled_from(orders)),
    }


WIDTH = StopRule(width=0.2, min_runs=2, max_runs=8)
STOPPED = {
    "stop": WIDTH,
    "runs": 8,
    "sessions": 1,
    "warmup": 1,
    "give_up": None,
    "disturbed": "repeat",
    "order": "shuffled",
}


class Fate(NamedTuple):
    """What happens to runs: the same to each attempt at the same place."""

    seed: int
    disturbed: float
    failed: float
    hopeless: tuple[str, str] | None

    def of(self, run: Any, place: int, attempt: int) -> dict[str, Any]:
        draws = random.Random(f"{self.seed} {place} {attempt}")
        told: dict[str, Any] = {"wall_ns": int(1e9 * (1 + draws.random()))}
        often = 0.9 if (run.benchmark, run.variant) == self.hopeless else self.failed
        if draws.random() < often:
            told["exit_code"] = 1
        if draws.random() < self.disturbed:
            told["run_delay_ns"] = 2 * 10**8
        return told


FATES = st.builds(
    Fate,
    seed=st.integers(0, 2**32),
    disturbed=st.sampled_from([0.0, 0.2, 0.5]),
    failed=st.sampled_from([0.0, 0.06, 0.18]),
    hopeless=st.sampled_from([None, ("x", "b"), ("y", "a")]),
)


def target_of(stage: Any, fate: Fate, counts: bool, cut: int | None) -> Callable[..., Any]:
    """Answer by fate, and be interrupted in the execution of that number, warm-ups included."""
    executions = iter(range(10**6))

    def target(_request: object) -> dict[str, Any] | None:
        (run, *_) = stage.watching.of("run_started")[-1]
        if next(executions) == cut:
            stage.interrupt()
        if run.warmup:  # those that an interruption adds have a fate of their own
            told = fate.of(run, run.position, 0)
            return {name: told[name] for name in told if name == "run_delay_ns"}
        again = repeats_of(run)
        place = run.position if again is None else again
        before = sum(place in (row["position"], row["repeats"]) for row in stage.rows)
        told = fate.of(run, place, before)
        if counts and stage.counted[-1]:
            told["counters"] = ((5, 10**9, 10**9),)
        return told

    return target


def measured(stage: Any) -> list[tuple[Any, ...]]:
    """Give what rows say of measured runs; a repeat is named by what it repeats."""
    names = ("repeats", "session", "block", "outcome", "disturbed", "counted", "wall_ns")
    return [
        (row["position"] if row["repeats"] is None else None, *(row[name] for name in names))
        for row in stage.rows
        if not row["warmup"]
    ]


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    protocol=protocols(),
    every=st.sampled_from([None, 1, 3]),
    fate=FATES,
    first=st.floats(0, 1, exclude_max=True),
    others=st.lists(st.integers(0, 11), max_size=3),
)
# Broken off in the last repeat of the block at whose end the stopping rule ends the session, ...
@example(
    protocol=STOPPED,
    every=None,
    fate=Fate(seed=0, disturbed=0.2, failed=0.0, hopeless=None),
    first=0.984375,
    others=[],
)
# ... and so where earlier blocks went without a cell.
@example(
    protocol={**STOPPED, "stop": dataclasses.replace(WIDTH, width=0.5), "give_up": 2},
    every=None,
    fate=Fate(seed=21234601, disturbed=0.2, failed=0.18, hopeless=("x", "b")),
    first=0.98,
    others=[],
)
def test_a_trial_gone_on_with_is_the_one_that_nobody_interrupted(
    stage, campaign, protocol, every, fate, first, others
):
    shutil.rmtree(stage.runs, ignore_errors=True)
    made = campaign(**protocol)
    if every is not None:
        counting = Counting(events=(CounterEvent(name="page-faults"),), every=every)
        made = dataclasses.replace(made, counters=counting)
    stage.answers = [Answer(0, 0, fits=True)]

    stage.target = target_of(stage, fate, every is not None, None)
    assert stage.start(made).status == "complete"
    whole, told = measured(stage), stage.manifest
    executions = len(stage.rows)
    shutil.rmtree(stage.trial)

    stage.target = target_of(stage, fate, every is not None, int(first * executions))
    ending = stage.start(made)
    assert ending.status == "interrupted"
    for cut in (*others, None):
        if ending.status != "complete":
            stage.target = target_of(stage, fate, every is not None, cut)
            ending = stage.resume(made)
    assert ending.status == "complete"
    assert measured(stage) == whole
    for name in ("session_ends", "given_up"):
        assert stage.manifest[name] == told[name]
    assert read_trial(stage.trial).manifest.status == "complete"
