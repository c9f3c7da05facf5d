"""The energy of a trial's runs: when it is read, what is stored, and what is said where it is not known.

Authority: arithmetic on a machine whose counter a test moves: so many watts idle, more in a run.
"""

from __future__ import annotations

import dataclasses
import json

import pytest

from analysis.record.manifest import read_manifest
from harness.campaign.model import CheckPolicy, Command
from harness.errors import HostError

IDLE_W = 10.0
PLACE = "sys/class/powercap/intel-rapl:0"


class Machine:
    """A package that uses `watts` while nothing is executed, and `run_w` while something is."""

    def __init__(self, stage) -> None:
        self.stage, self.watts, self.run_w, self.count = stage, IDLE_W, 25.0, 0.0
        self.stands_still = False
        self.show()

    def show(self) -> None:
        self.stage.tree({f"{PLACE}/energy_uj": f"{round(self.count)}\n"})

    def pass_time(self, seconds: float, watts: float) -> None:
        if not self.stands_still:
            self.count += seconds * watts * 1e6
        self.show()


@pytest.fixture
def machine(stage, hosts, monkeypatch):
    """A stage with a counter: time that passes on its clock is energy."""
    stage.tree(hosts.powercap({"package-0": 0}))
    made = Machine(stage)
    monkeypatch.setattr("harness.trial.metering.time", stage.clock)
    monkeypatch.setattr("harness.trial.metering.time", stage.clock)

    class Sleeps(list):
        def append(self, seconds):
            made.pass_time(seconds, made.watts)
            super().append(seconds)

    stage.slept = Sleeps()
    made.wall_s = 0.5

    def target(request):
        made.pass_time(made.wall_s, made.run_w)
        return {"wall_ns": round(made.wall_s * 1e9)}

    stage.target = target
    return made


@pytest.fixture
def asking(campaign):
    """Make a campaign that asks for energy."""
    return lambda **given: dataclasses.replace(campaign(**given), energy=True)


def said(stage):
    return [row["what"] for row in stage.findings("energy") if row["status"] == "warn"]


def test_each_run_has_its_energy_and_what_is_left_of_it_without_the_idle_power(
    stage, machine, asking
):
    ending = stage.start(asking())
    assert ending.status == "complete"
    assert len(stage.rows) == 12
    for row in stage.rows:  # warm-ups too
        assert row["metrics"]["energy_package_j"] == [pytest.approx(12.5)]
        assert row["metrics"]["energy_net_j"] == [pytest.approx(7.5)]
    assert stage.manifest["metrics"] == {
        name: {"unit": "J", "better": "lower", "source": "powercap"}
        for name in ("energy_package_j", "energy_net_j")
    }
    assert said(stage) == []


def test_idle_segments_stand_around_the_runs_of_each_session(stage, machine, asking):
    stage.start(asking(sessions=2, runs=1, warmup=0))
    assert stage.slept == [1.0] * 40  # 10 s four times, in seconds
    found = stage.manifest["idle_power"]
    assert [(one["session"], one["segment"], one["when"]) for one in found] == [
        (1, 0, "before"), (1, 0, "after"), (2, 0, "before"), (2, 0, "after"),
    ]  # fmt: skip
    for one in found:
        assert (one["watts"], one["seconds"]) == (pytest.approx(IDLE_W), pytest.approx(10))
        assert one["error_w"] == pytest.approx(0, abs=1e-6)
    assert read_manifest(stage.trial).idle_power[2].session == 2
    (line,) = (words for (words,) in stage.watching.of("say") if words.startswith("energy"))
    assert "10 s pass without a run" in line


def test_who_does_not_ask_waits_for_nothing_and_stores_nothing(stage, machine, campaign):
    stage.start(campaign())
    assert stage.slept == []
    assert stage.manifest["metrics"] == {}
    assert stage.manifest["idle_power"] == []
    assert all(row["metrics"] == {} for row in stage.rows)


def test_without_counters_the_trial_goes_on_and_a_finding_says_why(stage, asking, monkeypatch):
    monkeypatch.setattr("harness.trial.metering.time", stage.clock)
    assert stage.start(asking()).status == "complete"
    assert stage.slept == []
    assert stage.manifest["metrics"] == {}
    row = stage.findings("energy", "before")[0]
    assert row["status"] == "fail"
    assert row["what"].endswith("/sys/class/powercap: energy will not be recorded")


def test_who_requires_it_is_stopped_before_anything_is_executed(stage, asking):
    campaign = dataclasses.replace(asking(), checks=CheckPolicy(require=("energy",)))
    with pytest.raises(
        HostError, match=r"required check 'energy': no .*: energy will not be recorded"
    ):
        stage.start(campaign)
    assert [word for word, _ in stage.executed] == []
    assert list(stage.runs.glob("*/manifest.json")) == []


def warmed_by(stage, machine, factor):
    """Let the machine use more of its idle power from the first run on."""
    target = stage.target

    def warms(request):
        machine.watts = IDLE_W * factor
        return target(request)

    stage.target = warms


def test_idle_powers_that_differ_are_a_finding_with_the_way_on(stage, machine, asking):
    warmed_by(stage, machine, 1.051)
    stage.start(asking(runs=1, warmup=0))
    (what,) = said(stage)
    assert what == (
        "the machine used 10.00 W idle before the runs of session 1 and 10.51 W after them, more than "
        "5% apart: its energy_net_j is not judged"
    )
    assert len(stage.watching.of("findings")) >= 1
    assert "energy_package_j" in stage.findings("energy", "after")[0]["fix"]


def test_within_five_percent_they_are_one(stage, machine, asking):
    warmed_by(stage, machine, 0.9501)
    stage.start(asking(runs=1, warmup=0))
    assert said(stage) == []


def test_counters_that_stand_still_are_unknown_in_every_row(stage, machine, asking):
    machine.stands_still = True
    machine.wall_s = 0.001  # of which 0 would be believed of a counter that moves
    stage.start(asking(runs=1, warmup=0))
    assert all(row["metrics"] == {} for row in stage.rows)
    assert stage.manifest["idle_power"] == []
    (what,) = said(stage)
    assert what.startswith(
        "energy_package_j and energy_net_j are not known of the runs of session 1: "
    )
    assert "stands still: a virtual machine" in what
    assert stage.slept == [1.0]  # one second has shown it


def test_a_zone_that_vanishes_leaves_out_the_runs_from_then_on_and_counts_them(
    stage, machine, asking
):
    target, runs = stage.target, iter(range(100))

    def vanishes(request):
        told = target(request)
        if next(runs) >= 5:
            stage.tree({f"{PLACE}/energy_uj": ""})
        return told

    stage.target = vanishes
    stage.start(asking(runs=2, warmup=0))
    known = ["energy_package_j" in row["metrics"] for row in stage.rows]
    assert known == [True] * 5 + [False] * 3
    assert said(stage)[0] == (
        "the energy of 3 runs of session 1 is not known: the energy of package-0 cannot be read any more"
    )


def test_a_failed_run_keeps_its_energy(stage, machine, asking):
    target = stage.target
    stage.target = lambda request: {**target(request), "exit_code": 3}
    stage.start(asking(runs=1, warmup=0))
    assert {row["outcome"] for row in stage.rows} == {"exit"}
    assert stage.rows[0]["metrics"]["energy_package_j"] == [pytest.approx(12.5)]


def test_a_metric_of_the_program_stands_beside_it(stage, machine, asking, make_cell):
    from harness.campaign.model import MetricRule

    rule = MetricRule(name="score", regex="([0-9]+)", unit="points", better="higher")
    cell = make_cell("x", "a", metrics=(rule,), command=Command(argv=("true",), mark="c:1:1"))
    target = stage.target

    def writes(request):
        request.stdout.write_text("7\n")
        return target(request)

    stage.target = writes
    stage.start(asking(benchmarks=("x",), variants=("a",), cells=(cell,), runs=1, warmup=0))
    assert stage.rows[0]["metrics"]["score"] == [7.0]
    assert set(stage.manifest["metrics"]) == {"score", "energy_package_j", "energy_net_j"}


def test_a_long_run_is_read_between_its_ends(stage, machine, asking):
    # at 1 kW, the most that is believed, 40.5 s are more than the range, and 40 s are not: the look
    # in between makes the difference
    stage.tree({f"{PLACE}/max_energy_range_uj": "40510000000\n"})
    target = stage.target

    def long(request):
        stage.clock.now += 40.0  # then the launcher's client looks, as it does within a run
        machine.pass_time(40.0, 25.0)
        return target(request)

    stage.target = long
    stage.start(asking(runs=1, warmup=0))
    found = [row["metrics"]["energy_package_j"] for row in stage.rows]
    assert found == [[pytest.approx(40 * 25 + 12.5)]] * 4


def test_a_time_cap_that_comes_first_leaves_out_the_net_energy_alone(stage, machine, asking):
    stage.start(asking(runs=1, warmup=0, max_time_s=9.0))
    assert stage.slept == []
    assert set(stage.rows[0]["metrics"]) == {"energy_package_j"}
    (what, *_) = said(stage)
    assert what.startswith("energy_net_j is not known of the runs of session 1: the time cap comes")


def test_a_signal_ends_the_wait(stage, machine, asking):
    class Signal:
        def append(self, _seconds):
            stage.interrupts.received = 2

    stage.slept = Signal()
    ending = stage.start(asking())
    assert (ending.status, ending.done) == ("interrupted", 0)
    assert stage.manifest["idle_power"] == []


def test_a_resumed_session_measures_its_own_idle_power(stage, machine, asking):
    target, runs = stage.target, iter(range(100))

    def stops(request):
        if next(runs) == 6:
            stage.interrupt()
        return target(request)

    stage.target = stops
    stage.start(asking())
    assert [(one["segment"], one["when"]) for one in stage.manifest["idle_power"]] == [
        (0, "before")
    ]
    machine.watts = 12.0
    stage.resume(asking())
    assert [(one["segment"], one["when"]) for one in stage.manifest["idle_power"]] == [
        (0, "before"), (1, "before"), (1, "after"),
    ]  # fmt: skip
    nets = {row["segment"]: row["metrics"]["energy_net_j"][0] for row in stage.rows}
    assert nets == {0: pytest.approx(7.5), 1: pytest.approx(6.5)}


def test_a_trial_that_began_without_counters_goes_on_with_them(stage, asking, hosts, monkeypatch):
    stage.target = stage.at(3, stage.interrupt)
    stage.start(asking())
    assert stage.manifest["metrics"] == {}
    monkeypatch.setattr("harness.trial.metering.time", stage.clock)
    stage.tree(hosts.powercap({"package-0": 0}))
    machine = Machine(stage)

    class Sleeps(list):
        def append(self, seconds):
            machine.pass_time(seconds, machine.watts)

    stage.slept = Sleeps()

    def target(request):
        machine.pass_time(0.5, 25.0)
        return {"wall_ns": 500_000_000}

    stage.target = target
    assert stage.resume(asking()).status == "complete"
    assert "energy_package_j" in stage.manifest["metrics"]
    assert json.loads(json.dumps(stage.rows[-1]))["metrics"]["energy_package_j"] == [
        pytest.approx(12.5)
    ]


def test_a_run_that_is_discarded_is_none_of_those_whose_energy_is_not_known(
    stage, machine, asking, monkeypatch
):
    monkeypatch.setattr("harness.trial.measure.time", stage.clock)
    target, runs = stage.target, iter(range(100))

    def vanishes(request):
        told = target(request)
        number = next(runs)
        if number >= 1:
            stage.tree({f"{PLACE}/energy_uj": ""})
        return {**told, "killed": "time-cap"} if number == 3 else told

    stage.target = vanishes
    assert stage.start(asking(runs=2, warmup=0, max_time_s=1000.0)).status == "stopped"
    unknown = sum("energy_package_j" not in row["metrics"] for row in stage.rows)
    assert (len(stage.rows), unknown) == (3, 2)
    assert said(stage)[0].startswith("the energy of 2 runs of session 1 is not known: ")
