"""Repeats, stop rules, cells given up, counted blocks, in any combination: breaking off changes nothing.

Authority: the same trial that nobody interrupted or killed.
"""

from __future__ import annotations

import dataclasses
import random
import shutil
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from analysis.data.trial import read_trial
from analysis.record.trial_files import StopRule
from harness.campaign.model import CounterEvent, Counting
from harness.errors import LauncherDiedError
from harness.host.counters import EventAnswer
from harness.trial.outcomes import repeats_of
from harness.trial.progress import read_progress
from harness.trial.writer import Store
from tests.examples import examples

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
        "warmup": draw(st.sampled_from([0, 1, 2])),
        "warmup_sessions": draw(st.sampled_from(["all", "first"])),
        "variants": draw(st.sampled_from([("a", "b"), ("a", "b", "c"), ("a",)])),
        "give_up": draw(st.sampled_from([None, 1, 2, 3])),
        "disturbed": draw(st.sampled_from(["keep", "repeat"])),
        "order": draw(st.sampled_from(orders)),
        "never_ok": draw(st.sampled_from(["go_on", "skip", "stop"])),
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
    "never_ok": "go_on",
}


class Fate(NamedTuple):
    """What happens to runs: the same to each attempt at the same place."""

    seed: int
    disturbed: float
    failed: float
    hopeless: frozenset[tuple[str, str]]
    unknown: float = 0.0
    deadly: float = 0.0

    def of(self, run: Any, place: int, attempt: int) -> dict[str, Any]:
        draws = random.Random(f"{self.seed} {place} {attempt}")
        told: dict[str, Any] = {"wall_ns": int(1e9 * (1 + draws.random()))}
        often = 0.9 if (run.benchmark, run.variant) in self.hopeless else self.failed
        if draws.random() < often:
            told["exit_code"] = 1
        if draws.random() < self.disturbed:
            told["run_delay_ns"] = 2 * 10**8
        if draws.random() < self.unknown:
            told["run_delay_ns"] = None
        return told

    def kills(self, place: int, attempt: int) -> bool:
        """Tell whether a run kills its launcher, each time."""
        return random.Random(f"{self.seed} {place} {attempt} dies").random() < self.deadly


XB = ("x", "b")
EVERY_CELL = frozenset((benchmark, variant) for benchmark in "xy" for variant in "abc")
FATES = st.builds(
    Fate,
    seed=st.integers(0, 2**32),
    disturbed=st.sampled_from([0.0, 0.2, 0.5]),
    failed=st.sampled_from([0.0, 0.06, 0.18]),
    hopeless=st.sampled_from([frozenset(), frozenset({XB}), frozenset({("y", "a")}), EVERY_CELL]),
    unknown=st.sampled_from([0.0, 0.0, 0.02]),
    deadly=st.sampled_from([0.0, 0.0, 0.03]),
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
        if fate.kills(place, before):
            raise LauncherDiedError("the launcher died", "its process")
        told = fate.of(run, place, before)
        if counts and stage.counted[-1]:
            told["counters"] = ((5, 10**9, 10**9),)
        return told

    return target


class Kills:
    """Copies a trial before the write of a chosen number: that is what a kill leaves."""

    def __init__(self, stage: Any) -> None:
        self._stage = stage
        self._copy = stage.folder / "killed"
        self.writes = 0
        self._at: int | None = None

    def arm(self, at: int | None) -> None:
        self.writes, self._at = 0, at
        shutil.rmtree(self._copy, ignore_errors=True)

    def write(self) -> None:
        if self.writes == self._at:
            shutil.copytree(self._stage.trial, self._copy)
        self.writes += 1

    def happened(self) -> bool:
        """Put what was left in the place of the trial, if it came so far."""
        if not self._copy.exists():
            return False
        trial = self._stage.trial
        shutil.rmtree(trial)
        self._copy.rename(trial)
        return True


@pytest.fixture
def kills(stage, monkeypatch):
    made = Kills(stage)

    def counted(write: Callable[..., None]) -> Callable[..., None]:
        def counting(self: Store, *given: Any) -> None:
            if (self.path / "manifest.json").exists():
                made.write()
            write(self, *given)

        return counting

    for name in ("append_measurement", "_append", "write_manifest"):
        monkeypatch.setattr(Store, name, counted(getattr(Store, name)))
    return made


def measured(stage: Any) -> list[tuple[Any, ...]]:
    """Give what rows say of measured runs; a repeat is named by what it repeats."""
    names = ("repeats", "session", "block", "outcome", "disturbed", "counted", "wall_ns")
    return [
        (row["position"] if row["repeats"] is None else None, *(row[name] for name in names))
        for row in stage.rows
        if not row["warmup"]
    ]


def told(stage: Any) -> dict[str, Any]:
    """Give what a trial says of its sessions: a kill may leave a finding there twice.

    Of what nobody knows it says at each breaking off as much as it knows by then.
    """
    found = {(one["check"], one["what"]) for one in stage.findings()}
    found = {one for one in found if "is not known" not in one[1]}
    rules = {"stop", "given-up", "never-ok", "disturbed"}
    ends = {name: stage.manifest[name] for name in ("session_ends", "given_up")}
    return ends | {"findings": {one for one in found if one[0] in rules}}


def agrees(stage: Any, ending: Any) -> None:
    """Hold what is said of a trial against its rows."""
    rows = [row for row in stage.rows if row["position"] >= 0 or row["repeats"] is not None]
    planned = sum(row["position"] >= 0 for row in rows)
    failed = sum(row["outcome"] != "ok" for row in rows)
    progress = read_progress(stage.trial)
    assert (progress.done, sum(progress.failed.values())) == (planned, failed)
    assert planned <= progress.planned
    read_trial(stage.trial)
    if ending is not None:
        assert (ending.done, ending.failed, ending.planned) == (planned, failed, progress.planned)


BREAKS = st.sampled_from(["signal", "kill"])


@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    protocol=protocols(),
    every=st.sampled_from([None, 1, 3]),
    fate=FATES,
    first=st.tuples(BREAKS, st.floats(0, 1, exclude_max=True)),
    others=st.lists(st.tuples(BREAKS, st.integers(0, 11)), max_size=3),
)
# Broken off in the last repeat of the block at whose end the stopping rule ends the session, ...
@example(
    protocol=STOPPED,
    every=None,
    fate=Fate(seed=0, disturbed=0.2, failed=0.0, hopeless=frozenset()),
    first=("signal", 0.984375),
    others=[],
)
# ... and so where earlier blocks went without a cell.
@example(
    protocol={**STOPPED, "stop": dataclasses.replace(WIDTH, width=0.5), "give_up": 2},
    every=None,
    fate=Fate(seed=21234601, disturbed=0.2, failed=0.18, hopeless=frozenset({XB})),
    first=("signal", 0.98),
    others=[],
)
# Killed between the last row and the record of the end, in a session that was left without any cell.
@example(
    protocol={**STOPPED, "stop": dataclasses.replace(WIDTH, min_runs=3), "give_up": 1},
    every=None,
    fate=Fate(seed=1, disturbed=0.0, failed=0.0, hopeless=EVERY_CELL),
    first=("kill", 0.9),
    others=[],
)
# The second session has no warm-ups of its own.
@example(
    protocol={**STOPPED, "stop": None, "runs": 2, "sessions": 2, "warmup_sessions": "first"},
    every=None,
    fate=Fate(seed=1, disturbed=0.2, failed=0.0, hopeless=frozenset()),
    first=("signal", 0.9),
    others=[("kill", 3)],
)
# A cell that never succeeds, without warm-ups, which are tried otherwise, and runs that are repeated.
@example(
    protocol={
        **STOPPED,
        "stop": None,
        "runs": 4,
        "sessions": 2,
        "warmup": 0,
        "never_ok": "skip",
        "give_up": 2,
    },
    every=None,
    fate=Fate(seed=3, disturbed=0.5, failed=0.06, hopeless=frozenset({XB, ("y", "a")})),
    first=("kill", 0.2),
    others=[("signal", 1), ("kill", 2)],
)
def test_a_trial_gone_on_with_is_the_one_that_nobody_broke_off(
    stage, campaign, kills, protocol, every, fate, first, others
):
    shutil.rmtree(stage.runs, ignore_errors=True)
    made = campaign(**protocol)
    if every is not None:
        counting = Counting(events=(CounterEvent(name="page-faults"),), every=every)
        made = dataclasses.replace(made, counters=counting)
    stage.answers = [EventAnswer(0, 0, fits=True)]

    def goes(execute: Callable[..., Any], how: str | None = None, at: int | None = None) -> Any:
        stage.target = target_of(stage, fate, every is not None, at if how == "signal" else None)
        kills.arm(at if how == "kill" else None)
        ending = execute(made)
        ending = None if kills.happened() else ending
        agrees(stage, ending)
        return ending

    status = goes(stage.start).status
    assert status == "complete" or made.protocol.never_ok != "go_on"
    whole, said = measured(stage), told(stage)
    number = {"signal": len(stage.rows), "kill": kills.writes}
    shutil.rmtree(stage.trial)

    how, when = first
    ending = goes(stage.start, how, int(when * number[how]))
    assert ending is None or ending.status == "interrupted"
    for how, at in (*others, (None, None)):
        if ending is None or ending.status == "interrupted":
            ending = goes(stage.resume, how, at)
    assert measured(stage) == whole
    assert told(stage) == said
    assert stage.manifest["status"] == status
