"""Trials that count: which runs, what their rows and manifest say, what is refused, how they go on."""

from __future__ import annotations

import dataclasses
import errno

import pytest

from analysis.data.trial import read_trial
from analysis.record.trial_files import StopRule
from harness.campaign.model import CheckPolicy, CounterEvent, Counting, MetricRule
from harness.errors import HostError
from harness.host.counters import EventAnswer

GOOD = EventAnswer(0, 0, fits=True)
GONE = EventAnswer(errno.ENOENT, 0, fits=False)


@pytest.fixture
def counting(campaign):
    """Make a campaign of the stage that counts."""

    def make(*events, every=1, **given):
        names = events or ("cycles", "page-faults")
        counters = Counting(events=tuple(CounterEvent(name=name) for name in names), every=every)
        return dataclasses.replace(campaign(**given), counters=counters)

    return make


def answering(stage, *values, every_run=True):
    """Let each counted run give these values, all of the time."""

    def target(request):
        if not every_run and not stage.counted[-1]:
            return None
        return {"counters": tuple(None if v is None else (v, 100, 100) for v in values)}

    stage.target = target


def test_counters_are_metrics_of_the_rows_and_of_the_manifest(stage, counting):
    stage.answers = [GOOD, GOOD]
    answering(stage, 1000, 7)
    stage.start(counting())
    assert stage.manifest["metrics"] == {
        name: {"unit": "1", "better": "lower", "source": "counters"}
        for name in ("cycles", "page-faults")
    }
    assert all(row["metrics"] == {"cycles": [1000], "page-faults": [7]} for row in stage.rows)
    assert {row["counted"] for row in stage.rows} == {None}  # all runs are alike
    assert all(stage.counted)
    trial = read_trial(stage.trial)
    assert trial.metric("cycles").unit == "1"
    assert (trial.values("cycles") == 1000).all()
    assert stage.lines("environment.jsonl")[0]["counters"] == {
        "cycles": "all",
        "page-faults": "all",
    }


def test_without_the_key_nothing_is_counted_or_said(stage, campaign):
    stage.start(campaign())
    assert not any(stage.counted)
    assert stage.manifest["metrics"] == {}
    assert not stage.findings("counters")
    assert "counters" not in stage.lines("environment.jsonl")[0]
    assert {row["counted"] for row in stage.rows} == {None}


def test_what_cannot_be_had_is_absent_and_told(stage, counting):
    stage.answers = [GONE, GOOD]
    answering(stage, None, 7)
    ending = stage.start(counting())
    assert ending.status == "complete"
    assert list(stage.manifest["metrics"]) == ["page-faults"]
    assert all(row["metrics"] == {"page-faults": [7]} for row in stage.rows)
    (finding,) = stage.findings("counters", "before")[:1]
    assert finding["status"] == "fail"
    assert "cycles: this processor does not count it" in finding["what"]
    assert stage.lines("environment.jsonl")[0]["counters"]["cycles"].startswith("none: ")


def test_who_requires_counters_stops_without_them(stage, counting):
    stage.answers = [GONE, GOOD]
    with pytest.raises(HostError, match="required check 'counters': cycles: ") as caught:
        stage.start(counting(checks=CheckPolicy(require=("counters",))))
    assert caught.value.exit_code == 3
    assert not list(stage.runs.glob("*/measurements.jsonl"))


def test_each_so_many_th_block_is_counted_and_stays_out_of_wall(stage, counting):
    stage.answers = [GOOD]
    answering(stage, 1000, every_run=False)
    stage.start(counting("cycles", every=3, sessions=2, runs=6, warmup=1))
    for row, counted in zip(stage.rows, stage.counted, strict=True):
        assert counted == (row["block"] in {3, 6}) == row["counted"]
        assert row["metrics"] == ({"cycles": [1000]} if counted else {})
    trial = read_trial(stage.trial)
    matrix = trial.matrix(trial.manifest.variants[0])
    assert [sample.size for sample in matrix.samples] == [8] * len(matrix.samples)  # 2 x 4 of 6
    assert [one.code for one in matrix.cautions if one.code != "warm-up-left-out"] == [
        "counted-left-out"
    ]
    cycles = trial.matrix(trial.manifest.variants[0], "cycles")
    assert [sample.size for sample in cycles.samples] == [4] * len(cycles.samples)


def test_a_block_that_could_not_be_counted_keeps_its_times(stage, counting):
    stage.answers = [GONE]  # nothing is open then
    stage.start(counting("cycles", every=2, sessions=1, runs=4, warmup=0))
    assert {row["counted"] for row in stage.rows} == {False}
    trial = read_trial(stage.trial)
    assert trial.matrix(trial.manifest.variants[0]).samples[0].size == 4


@pytest.mark.parametrize("moved", [None, (1000, 1, 1), (1000, 100, 50)])
def test_a_run_beside_open_events_stays_out_of_wall_whatever_they_told(stage, counting, moved):
    # unread, cut at the exec of a setuid program, or shared: it was as slow as any that was counted
    stage.answers = [GOOD]

    def target(request):
        return {"user_s": 1.0, "counters": (moved,)} if stage.counted[-1] else None

    stage.target = target
    stage.start(counting("cycles", every=2, sessions=1, runs=4, warmup=0))
    assert all(row["metrics"] == {} for row in stage.rows)
    assert [row["counted"] for row in stage.rows] == [row["block"] in {2, 4} for row in stage.rows]
    trial = read_trial(stage.trial)
    assert trial.matrix(trial.manifest.variants[0]).samples[0].size == 2


def test_a_stopping_rule_looks_at_runs_that_are_not_counted(stage, counting):
    stage.answers = [GOOD]

    def target(request):
        counted = stage.counted[-1]
        moved = {"counters": ((5, 9, 9),)} if counted else {}
        # a counted run takes ten times as long: the rule would never be content with both
        return {"wall_ns": 10_000_000 if counted else 1_000_000, **moved}

    stage.target = target
    rule = StopRule(width=0.01, min_runs=3, max_runs=40)
    ending = stage.start(counting("cycles", every=2, runs=40, warmup=0, stop=rule))
    (end,) = ending.session_ends
    assert (end.why, end.runs) == ("width", 5)  # blocks 1, 3 and 5
    assert read_trial(stage.trial).cautions is not None


def test_strange_counters_are_told_at_the_end_of_a_session(stage, counting):
    stage.answers = [GOOD, GOOD]
    answering(stage, 0, 7)
    stage.start(counting())
    found = stage.findings("counters", "after")
    assert found
    assert all("cycles read 0 in all" in one["what"] for one in found)
    assert all(row["metrics"] == {"page-faults": [7]} for row in stage.rows)


@pytest.mark.parametrize("every", [1, 2])
def test_events_that_open_before_the_trial_and_never_in_it_are_told(stage, counting, every):
    # the kernel became stricter meanwhile, or another program has every counter
    stage.answers = [GOOD, GOOD]
    stage.start(counting(every=every, sessions=1, runs=2, warmup=0))
    assert all(row["metrics"] == {} for row in stage.rows)
    wanted = sum(stage.counted)
    assert [one["what"] for one in stage.findings("counters", "after")] == [
        f"{name} was not counted in {wanted} of {wanted} runs: these rows are without it"
        for name in ("cycles", "page-faults")
    ]
    # nothing was open beside them: their times are as good as those of the others
    assert {row["counted"] for row in stage.rows} == {None if every == 1 else False}


def test_a_resumed_trial_declares_what_can_be_had_by_then(stage, counting):
    stage.answers = [GONE, GOOD]
    answering(stage, None, 7)
    stage.target, plain = stage.at(3, stage.interrupt), stage.target
    one = counting()
    stage.start(one)
    stage.answers, stage.target = [GOOD, GOOD], plain
    answering(stage, 5, 7)
    stage.resume(one)
    assert set(stage.manifest["metrics"]) == {"cycles", "page-faults"}
    trial = read_trial(stage.trial)
    assert trial.manifest.status == "complete"
    values = trial.values("cycles")
    assert (values[values == values] == 5).all()
    changed = [row["what"] for row in stage.findings("environment")]
    assert any("counters.cycles" in what for what in changed)


def test_a_launcher_that_can_count_more_than_the_trial_began_with_adds_no_metric(stage, counting):
    stage.answers = [GONE, GOOD]
    answering(stage, 5, 7)
    stage.start(counting())
    assert all(list(row["metrics"]) == ["page-faults"] for row in stage.rows)
    read_trial(stage.trial)


def test_counts_of_a_failed_run_are_stored_and_not_judged(stage, counting):
    stage.answers = [GOOD, GOOD]

    def target(request):
        return {"exit_code": 3, "counters": ((5, 9, 9), (7, 9, 9))}

    stage.target = target
    stage.start(counting())
    assert stage.rows[0]["outcome"] == "exit"
    assert stage.rows[0]["metrics"] == {"cycles": [5], "page-faults": [7]}
    assert not read_trial(stage.trial).measured.any()


def test_metrics_of_the_output_stand_beside_counters(stage, counting):
    stage.answers = [GOOD, GOOD]

    def target(request):
        request.stdout.write_text("loops: 12\n")
        return {"counters": ((5, 9, 9), (7, 9, 9))}

    stage.target = target
    one = counting()
    rule = MetricRule(name="loops", regex="loops: ([0-9]+)", unit="1", better="higher")
    cells = tuple(dataclasses.replace(cell, metrics=(rule,)) for cell in one.cells)
    stage.start(dataclasses.replace(one, cells=cells))
    assert stage.rows[-1]["metrics"] == {"loops": [12.0], "cycles": [5], "page-faults": [7]}
    assert "source" not in stage.manifest["metrics"]["loops"]
