"""Repeats, stop rules, cells given up, counted blocks, in any combination: breaking off changes nothing.

Authority: the same trial that nobody interrupted or killed.
"""

from __future__ import annotations

import dataclasses
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from analysis.data.trial import read_trial
from analysis.errors import StoreError
from analysis.record.trial_files import GivenUp, PlannedRun, StopRule
from harness.campaign.model import CounterEvent, Counting
from harness.errors import LauncherDiedError, LaunchError
from harness.host.counters import EventAnswer
from harness.trial.ending import given_up_lines
from harness.trial.outcomes import repeats_of
from harness.trial.progress import read_progress
from harness.trial.stopping import Hopeless
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


# --- Runs that kill their launcher, and cells whose runs fail one after the other
#
# The authority is the project's list of what attacks showed: a run that kills its parent stopped the
# trial at each resumption, for ever, although failures are outcomes; and one cell that always timed out
# made every session run to its cap.


def dies():
    raise LauncherDiedError("the launcher was killed or crashed")


def fails_in(stage, position_of, *cells):
    """Let every run of some cells fail; what runs next is known from the plan."""

    def target(request):
        run = position_of()
        return {"exit_code": 1} if (run.benchmark, run.variant) in cells else None

    stage.target = target


@pytest.fixture
def next_run(stage):
    """Tell which run is under way: what the watcher heard last."""

    def tell():
        return stage.watching.of("run_started")[-1][0]

    return tell


@pytest.fixture
def hopeless_campaign(campaign):
    """Make campaigns whose cells may fail from the first warm-up on: they are given up in sessions alone."""
    return lambda **given: campaign(**{"never_ok": "go_on", **given})


def cells_of(rows, session=1):
    found = {}
    for row in rows:
        if row["session"] == session and not row["warmup"]:
            found.setdefault((row["benchmark"], row["variant"]), []).append(row["outcome"])
    return found


# --- a launcher that dies -------------------------------------------------------------------------


def test_a_run_whose_launcher_died_is_executed_once_more(stage, hopeless_campaign):
    stage.target = stage.at(5, dies)
    ending = stage.start(hopeless_campaign())
    assert (ending.status, ending.failed, ending.done) == ("complete", 0, 12)
    assert {row["outcome"] for row in stage.rows} == {"ok"}
    (found,) = stage.findings("launcher")
    assert "was killed or crashed" in found["what"]
    assert found["session"] == 1
    targets = [one for one in stage.launchers if one.requests and one.cpus is None]
    assert all(one.closed for one in targets)


def test_only_the_second_death_is_an_outcome_and_the_trial_goes_on(
    stage, hopeless_campaign, next_run
):
    def target(request):
        if next_run().position == 5:
            dies()

    stage.target = target
    ending = stage.start(hopeless_campaign())
    assert (ending.status, ending.failed, ending.done) == ("complete", 1, 12)
    (row,) = [row for row in stage.rows if row["outcome"] != "ok"]
    assert (row["position"], row["outcome"]) == (5, "signal")
    assert (row["detail"], row["wall_ns"]) == ("killed its launcher", None)
    assert row["padding_bytes"] is not None  # what it was executed with is known
    assert len(stage.findings("launcher")) == 2
    trial = read_trial(stage.trial)
    assert [run.position for run in trial.failures()] == [5]


def test_without_a_new_launcher_the_trial_stops(stage, hopeless_campaign, monkeypatch):
    stage.target = stage.at(5, dies)
    made = iter(range(100))

    def launcher(isolation, cpus, interrupts, **given):
        if next(made):
            raise LaunchError("there can be none")
        return stage.launcher("target", cpus)

    monkeypatch.setattr("harness.trial.measure.LauncherClient", launcher)
    with pytest.raises(LaunchError, match="there can be none"):
        stage.start(hopeless_campaign())
    assert stage.manifest["status"] == "stopped"
    assert len(stage.rows) == 5


def test_a_hooks_launcher_that_dies_is_no_runs_outcome(stage, hopeless_campaign, commands):
    made = hopeless_campaign()
    made = replace(made, cells=tuple(replace(c, before=commands("true")) for c in made.cells))
    stage.command = stage.at(4, dies)
    stage.start(made)
    (row,) = [row for row in stage.rows if row["outcome"] != "ok"]
    assert row["outcome"] == "hook-failed"
    assert stage.findings("launcher") == []


# --- cells that are given up ----------------------------------------------------------------------


def test_a_session_goes_on_without_a_cell_that_fails_in_a_row(stage, hopeless_campaign, next_run):
    fails_in(stage, next_run, ("x", "b"))
    ending = stage.start(hopeless_campaign(runs=5, sessions=2, give_up=3))
    for session in (1, 2):  # the next session tries it again
        found = cells_of(stage.rows, session)
        assert found.pop(("x", "b")) == ["exit"] * 3
        assert set(map(len, found.values())) == {5}
    given_up = stage.manifest["given_up"]
    assert [(g["benchmark"], g["variant"], g["session"], g["runs"]) for g in given_up] == [
        ("x", "b", 1, 3),
        ("x", "b", 2, 3),
    ]
    assert given_up[0]["why"] == "3 runs in a row failed, the last one: exit"
    positions = {row["position"] for row in stage.rows}
    assert {g["position"] for g in given_up} <= positions
    # what was left out is not missing
    assert (ending.status, ending.done, ending.planned) == ("complete", 44, 44)
    assert "given up in session 1: x / b" in "\n".join(ending.lines(("again",)))
    codes = [caution.code for caution in read_trial(stage.trial).cautions]
    assert "given-up" in codes
    assert "runs-missing" not in codes


def test_failures_between_good_runs_give_nothing_up(stage, hopeless_campaign, next_run):
    count = iter(range(10**6))

    def target(request):
        if (next_run().benchmark, next_run().variant) == ("x", "b") and next(count) % 3:
            return {"exit_code": 1}
        return None

    stage.target = target
    stage.start(hopeless_campaign(runs=8, give_up=3))
    assert stage.manifest["given_up"] == []
    assert len(cells_of(stage.rows)["x", "b"]) == 8


def test_without_the_key_nothing_is_given_up(stage, hopeless_campaign, next_run):
    fails_in(stage, next_run, ("x", "b"))
    stage.start(hopeless_campaign(runs=5))
    assert stage.manifest["given_up"] == []
    assert cells_of(stage.rows)["x", "b"] == ["exit"] * 5


def test_a_cell_whose_record_a_kill_kept_back_gets_it_on_resume(
    stage, hopeless_campaign, next_run, monkeypatch
):
    made = hopeless_campaign(runs=5, give_up=3)
    fails_in(stage, next_run, ("x", "b"))

    def killed(self, one):
        raise StoreError("the host died here")

    with monkeypatch.context() as patched:
        patched.setattr("harness.trial.session.TrialRun._give_up", killed)
        with pytest.raises(StoreError, match="died"):
            stage.start(made)
    assert stage.manifest["given_up"] == []
    stage.resume(made)
    assert [g["why"] for g in stage.manifest["given_up"]] == [
        "3 runs in a row failed, the last one: exit"
    ]
    assert cells_of(stage.rows)["x", "b"] == ["exit"] * 3


@pytest.mark.parametrize("cut", [27, 33, 38])
def test_a_rule_that_is_given_to_a_begun_trial_counts_what_was_executed_before(
    stage, hopeless_campaign, next_run, cut
):
    # a cell that only fails was met, and the campaign then told to give it up
    made = {"sessions": 3, "runs": 5, "order": "interleaved"}

    def target(request):
        if len(stage.rows) == cut:  # in the second session, whose runs begin at 28
            stage.interrupt()
        return (
            {"exit_code": 1} if (next_run().benchmark, next_run().variant) == ("x", "b") else None
        )

    stage.target = target
    assert stage.start(hopeless_campaign(**made)).status == "interrupted"
    fails_in(stage, next_run, ("x", "b"))
    ending = stage.resume(hopeless_campaign(**made, give_up=2), accept_drift=True)
    executed = {n: len(cells_of(stage.rows, n)["x", "b"]) for n in (1, 2, 3)}
    assert executed == {1: 5, 2: 2 if cut < 38 else 3, 3: 2}
    assert {one.session: one.runs for one in ending.given_up} == executed
    assert ending.done == ending.planned == sum(row["position"] >= 0 for row in stage.rows)


RULE = StopRule(width=0.5, min_runs=4, max_runs=9)


@pytest.mark.parametrize("cells", [[("x", "b")], [("x", "a")], [("x", "b"), ("y", "a")]])
def test_a_stopping_rule_goes_on_without_the_cell(stage, hopeless_campaign, next_run, cells):
    fails_in(stage, next_run, *cells)
    made = hopeless_campaign(stop=RULE, runs=RULE.max_runs, warmup=0, give_up=3)
    ending = stage.start(made)
    (end,) = ending.session_ends
    assert (end.why, end.runs) == ("width", 4)  # it would have run to the cap for ever
    found = cells_of(stage.rows)
    for cell in cells:
        assert len(found.pop(cell)) == 3
    assert set(map(len, found.values())) == {4}
    assert (ending.done, ending.planned) == (len(stage.rows), len(stage.rows))


@pytest.mark.parametrize("min_runs", [2, 4, 7])
def test_a_session_without_any_cell_left_ends_as_it_would_have_ended(
    stage, hopeless_campaign, next_run, monkeypatch, min_runs
):
    # blocks without a run are looked at too, though no row says that they were
    rule = StopRule(width=0.5, min_runs=min_runs, max_runs=7)
    made = hopeless_campaign(stop=rule, runs=rule.max_runs, give_up=2)
    fails_in(stage, next_run, *((b, v) for b in "xy" for v in "ab"))
    stage.start(made)
    executed, ends = len(stage.rows), stage.manifest["session_ends"]
    assert [end["runs"] for end in ends] == [min_runs]
    shutil.rmtree(stage.trial)

    def killed(self, end):
        raise StoreError("the host died here")

    with monkeypatch.context() as patched:
        patched.setattr("harness.trial.session.TrialRun._session_ended", killed)
        with pytest.raises(StoreError, match="died"):
            stage.start(made)
    assert stage.resume(made).status == "complete"
    assert (len(stage.rows), stage.manifest["session_ends"]) == (executed, ends)


def test_a_stopping_rule_without_giving_up_runs_to_its_cap(stage, hopeless_campaign, next_run):
    # the negative control
    fails_in(stage, next_run, ("x", "b"))
    ending = stage.start(hopeless_campaign(stop=RULE, runs=RULE.max_runs, warmup=0))
    (end,) = ending.session_ends
    assert (end.why, end.runs) == ("max_runs", 9)


def test_warm_ups_count_neither_way():
    runs = [
        PlannedRun(position=k, session=1, block=k, benchmark="x", variant="a", warmup=k == 0)
        for k in range(4)
    ]
    hopeless = Hopeless(2, runs, {}, (), 1)
    outcomes = ["exit", "exit", "exit", "exit"]
    found = [hopeless.add(run, what) for run, what in zip(runs, outcomes, strict=True)]
    assert [one is not None for one in found] == [False, False, True, False]


# --- What is said of cells that a trial goes on without: each named once, those of one reason together


def cell(variant, session, why="exit", *, never_ok=False):
    return GivenUp(
        benchmark="t", variant=variant, session=session, position=1, runs=0, why=why, never_ok=never_ok
    )  # fmt: skip


def test_cells_of_one_reason_stand_together_and_each_once() -> None:
    left = [cell("a", k, never_ok=True) for k in (1, 2)] + [cell("b", 1, never_ok=True)]
    assert given_up_lines([*left, cell("c", 1), cell("c", 2), cell("d", 2, "timeout")]) == [
        "  left out: t / a, t / b (exit)",
        "  given up in session 1: t / c (exit)",
        "  given up in session 2: t / c (exit)",
        "  given up in session 2: t / d (timeout)",
    ]


def test_the_last_reasons_are_shown_and_the_other_cells_counted() -> None:
    many = [cell(name, session) for session in range(1, 11) for name in ("a", "b")]
    told = given_up_lines(many)
    assert told[0] == "  4 more given up: see given_up in manifest.json"
    assert told[1:] == [f"  given up in session {k}: t / a, t / b (exit)" for k in range(3, 11)]
    (one,) = given_up_lines([cell(f"v{k}", 1) for k in range(10)])
    assert one.endswith("t / v7 and 2 more cells (exit)")
