"""The meter of energy on trees that move: wraps, two packages, what is gone, closed, or stands still.

Authority: arithmetic. A counter that begins again at 0 behind its range R has used new - old + R.
"""

from __future__ import annotations

import dataclasses
import json
import runpy
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from analysis.record.manifest import read_manifest
from harness.campaign.model import CheckPolicy, Command
from harness.errors import HostError
from harness.host.activity import Host
from harness.trial.metering import EnergyCounter, EnergyMeter, measure_idle, open_energy

hosts = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[3] / "hosts" / "trees.py")))
RANGE = 262143328850
MODULE = "harness.trial.metering.time"


class Machine:
    """A host whose counters a test moves, and a clock beside them."""

    def __init__(self, root: Path, counts: dict[str, int | None], range_uj: int = RANGE) -> None:
        hosts.plant(root, hosts.bare() | hosts.powercap(counts, range_uj))
        self.host = Host(root)
        self.now = 50.0
        names = [name for name in counts if "/" not in name and name.startswith("package")]
        self.files = {
            name: root / f"sys/class/powercap/intel-rapl:{k}/energy_uj"
            for k, name in enumerate(names)
        }

    def monotonic(self) -> float:
        return self.now

    def put(self, **counts: int) -> None:
        for name, count in counts.items():
            self.files[name.replace("_", "-")].write_text(f"{count}\n")

    def meter(self) -> EnergyMeter:
        return open_energy(self.host, self.host.read())


@pytest.fixture
def machine(tmp_path, monkeypatch):
    made = []

    def make(*args, **given):
        made.append(Machine(tmp_path, *args, **given))
        monkeypatch.setattr(MODULE, made[-1])
        return made[-1]

    yield make
    for one in made:
        one.host.close()


def test_the_energy_of_a_span_is_what_all_packages_used(machine):
    two = machine({"package-0": 1000, "package-1": 5_000_000})
    meter = two.meter()
    meter.begin()
    two.put(package_0=3_001_000, package_1=5_500_000)
    two.now += 0.25
    spent = meter.end()
    assert (spent.joules, spent.seconds, spent.why) == (pytest.approx(3.5), 0.25, None)


def test_the_time_that_reads_take_is_on_neither_side(machine):
    # 12 W, and a read that takes 5 ms: the power of a tenth of a second is still 12 W
    one = machine({"package-0": 0})
    meter = one.meter()
    (counter,) = meter._counters
    read = counter.read

    def slow():
        one.now += 0.0025
        one.put(package_0=round((one.now - 50) * 12e6))
        value = read()
        one.now += 0.0025
        return value

    counter.read = slow
    meter.begin()
    one.now += 0.1
    spent = meter.end()
    assert spent.joules / spent.seconds == pytest.approx(12.0)


def test_a_tick_reads_every_thirty_seconds_and_not_more_often(machine):
    one = machine({"package-0": 0})
    meter = one.meter()
    reads = []
    (counter,) = meter._counters
    counter.read, read = lambda: reads.append(one.now) or read(), counter.read
    meter.begin()
    for _ in range(400):  # 100 s of looks
        one.now += 0.25
        meter.tick()
    assert reads == [50.0, 80.0, 110.0, 140.0]


def test_what_nobody_read_for_long_is_unknown(machine):
    one = machine({"package-0": 0})
    meter = one.meter()
    meter.begin()
    one.put(package_0=500_000_000)
    one.now += 270.0  # 262 kJ at 1 kW are 262 s
    spent = meter.end()
    assert spent.joules is None
    assert "may have begun again at 0 more than once" in spent.why


@pytest.mark.parametrize(
    ("before", "after", "known"),
    # after a sleep: 253 kJ in a second are no wrap; without a range no smaller count is one
    [(9_000_000_000, 100, {}), (9_000_000, 8_000_000, {"range_uj": 0})],
)
def test_a_counter_that_was_set_back_is_unknown(machine, before, after, known):
    one = machine({"package-0": before}, **known)
    meter = one.meter()
    meter.begin()
    one.put(package_0=after)
    one.now += 1.0
    assert "was set back" in meter.end().why


@pytest.mark.parametrize(("seconds", "known"), [(0.1, False), (5.0, False), (0.05, True)])
def test_a_counter_that_stands_still_is_unknown_and_never_zero(machine, seconds, known):
    one = machine({"package-0": 100, "package-1": 100})
    meter = one.meter()
    meter.begin()
    one.put(package_0=900_000, package_1=900_000)  # both have moved once
    one.now += 0.05
    assert meter.end().joules > 0
    meter.begin()
    one.put(package_0=1_800_000)
    one.now += seconds
    spent = meter.end()
    assert (spent.joules is not None) is known
    assert known or "package-1 stands still: a virtual machine" in spent.why


@pytest.mark.parametrize("seconds", [0.001, 0.02, 0.09])
def test_a_counter_that_stops_is_unknown_of_short_spans_too(machine, seconds):
    # each of them alone might be 0 between two moves; together they are longer than any two are apart
    one = machine({"package-0": 100})
    meter = one.meter()
    meter.begin()
    one.put(package_0=900_000)
    one.now += 0.05
    assert meter.end().joules > 0
    told = []
    while one.now < 51.0:
        meter.begin()
        one.now += seconds
        told.append((one.now, meter.end().joules))
    assert {joules for now, joules in told if now < 50.15 - 1e-9} <= {0.0}
    assert {joules for now, joules in told if now > 50.15 + 1e-9} == {None}
    meter.begin()
    one.put(package_0=1_800_000)  # it moves again
    one.now += seconds
    assert meter.end().joules == pytest.approx(0.9)


def test_a_package_that_vanishes_makes_the_whole_unknown(machine):
    two = machine({"package-0": 1, "package-1": 1})
    meter = two.meter()
    meter.begin()
    two.put(package_0=1_000_000)
    two.files["package-1"].write_text("")  # as a zone whose driver is gone: nothing to read
    two.now += 0.5
    spent = meter.end()
    assert (spent.joules, spent.why) == (None, "the energy of package-1 cannot be read any more")
    two.put(package_0=2_000_000, package_1=1)
    meter.begin()
    two.put(package_0=3_000_000, package_1=1_000_001)
    two.now += 0.5
    assert meter.end().joules == pytest.approx(2.0)  # it came back


def test_of_no_package_alone_is_the_energy_told(machine):
    one = machine({"package-0": 1, "package-1": None})
    meter = one.meter()
    assert not meter.available
    assert meter.metrics == {}
    meter.begin()
    assert meter.end().joules == 0  # of no counter: nobody asks


@given(
    st.integers(1_000_000, 300_000_000_000),
    st.lists(st.integers(0, 900_000), min_size=1, max_size=30),
    st.floats(0.001, 20),
)
def test_whatever_the_range_the_energy_is_the_sum_of_what_was_used(range_uj, used, every):
    # the counter of microjoules is a sum modulo its range; no read may miss a whole round of it
    shown = [12_345]
    counter = EnergyCounter("package-0", 1e-6, range_uj, lambda: sum(shown) % range_uj)
    clock = Machine.__new__(Machine)
    clock.now = 0.0
    meter = EnergyMeter([counter])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, clock)
        meter.begin()
        for step in used:
            clock.now += every
            shown.append(step)
            meter._take()
        clock.now += 0.2
        shown.append(7)
        spent = meter.end()
    ambiguous = 1000 * (max(every, 0.2) + 0.01) * 1e6 >= range_uj
    assert (spent.joules is None) is ambiguous
    assert ambiguous or spent.joules == pytest.approx((sum(used) + 7) / 1e6)


def test_a_thread_that_moves_the_counter_is_followed(tmp_path):
    one = Machine(tmp_path, {"package-0": RANGE - 300_000, "package-1": 0})
    stop, used = threading.Event(), [0]

    def move():
        while not stop.wait(0.002):
            used[0] += 30_000  # about 15 W
            one.put(package_0=(RANGE - 300_000 + used[0]) % RANGE, package_1=used[0])

    thread = threading.Thread(target=move)
    meter = one.meter()
    meter.begin()
    thread.start()
    try:
        while used[0] <= 300_000:  # until it has begun again at 0
            time.sleep(0.01)
    finally:
        stop.set()
        thread.join()
    spent = meter.end()
    one.host.close()
    assert spent.joules == pytest.approx(2 * used[0] / 1e6)


# --- the idle power ----------------------------------------------------------------------------


def test_the_idle_power_is_a_mean_with_its_standard_error(machine):
    one = machine({"package-0": 0})
    meter, powers = one.meter(), iter([9.0, 11.0] * 5)
    total = [0]

    def sleep(seconds):
        total[0] += round(next(powers) * seconds * 1e6)
        one.put(package_0=total[0])
        one.now += seconds

    idle = measure_idle(meter, sleep)
    # as docs/energy.md says: 10 s
    assert (idle["watts"], idle["seconds"]) == (pytest.approx(10.0), pytest.approx(10.0))
    assert idle["error_w"] == pytest.approx((10 / 9) ** 0.5 / 10**0.5)  # sd of ten, by hand


def test_a_machine_whose_counters_stand_still_has_no_idle_power(machine):
    one = machine({"package-0": 0})

    def sleep(seconds):
        one.now += seconds

    assert "stands still" in measure_idle(one.meter(), sleep)


# --- The energy of a trial's runs: when it is read, what is stored, and what is said where it is not known
#
# Authority: arithmetic on a machine whose counter a test moves: so many watts idle, more in a run.


IDLE_W = 10.0
PLACE = "sys/class/powercap/intel-rapl:0"


class EnergyMachine:
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
def energy_machine(stage, hosts, monkeypatch):
    """A stage with a counter: time that passes on its clock is energy."""
    stage.tree(hosts.powercap({"package-0": 0}))
    made = EnergyMachine(stage)
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
    stage, energy_machine, asking
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


def test_idle_segments_stand_around_the_runs_of_each_session(stage, energy_machine, asking):
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


def test_who_does_not_ask_waits_for_nothing_and_stores_nothing(stage, energy_machine, campaign):
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


def test_idle_powers_that_differ_are_a_finding_with_the_way_on(stage, energy_machine, asking):
    warmed_by(stage, energy_machine, 1.051)
    stage.start(asking(runs=1, warmup=0))
    (what,) = said(stage)
    assert what == (
        "the machine used 10.00 W idle before the runs of session 1 and 10.51 W after them, more than "
        "5% apart: its energy_net_j is not judged"
    )
    assert len(stage.watching.of("findings")) >= 1
    assert "energy_package_j" in stage.findings("energy", "after")[0]["fix"]


def test_within_five_percent_they_are_one(stage, energy_machine, asking):
    warmed_by(stage, energy_machine, 0.9501)
    stage.start(asking(runs=1, warmup=0))
    assert said(stage) == []


def test_counters_that_stand_still_are_unknown_in_every_row(stage, energy_machine, asking):
    energy_machine.stands_still = True
    energy_machine.wall_s = 0.001  # of which 0 would be believed of a counter that moves
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
    stage, energy_machine, asking
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


def test_a_failed_run_keeps_its_energy(stage, energy_machine, asking):
    target = stage.target
    stage.target = lambda request: {**target(request), "exit_code": 3}
    stage.start(asking(runs=1, warmup=0))
    assert {row["outcome"] for row in stage.rows} == {"exit"}
    assert stage.rows[0]["metrics"]["energy_package_j"] == [pytest.approx(12.5)]


def test_a_metric_of_the_program_stands_beside_it(stage, energy_machine, asking, make_cell):
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


def test_a_long_run_is_read_between_its_ends(stage, energy_machine, asking):
    # at 1 kW, the most that is believed, 40.5 s are more than the range, and 40 s are not: the look
    # in between makes the difference
    stage.tree({f"{PLACE}/max_energy_range_uj": "40510000000\n"})
    target = stage.target

    def long(request):
        stage.clock.now += 40.0  # then the launcher's client looks, as it does within a run
        energy_machine.pass_time(40.0, 25.0)
        return target(request)

    stage.target = long
    stage.start(asking(runs=1, warmup=0))
    found = [row["metrics"]["energy_package_j"] for row in stage.rows]
    assert found == [[pytest.approx(40 * 25 + 12.5)]] * 4


def test_a_time_cap_that_comes_first_leaves_out_the_net_energy_alone(stage, energy_machine, asking):
    stage.start(asking(runs=1, warmup=0, max_time_s=9.0))
    assert stage.slept == []
    assert set(stage.rows[0]["metrics"]) == {"energy_package_j"}
    (what, *_) = said(stage)
    assert what.startswith("energy_net_j is not known of the runs of session 1: the time cap comes")


def test_a_signal_ends_the_wait(stage, energy_machine, asking):
    class Signal:
        def append(self, _seconds):
            stage.interrupts.received = 2

    stage.slept = Signal()
    ending = stage.start(asking())
    assert (ending.status, ending.done) == ("interrupted", 0)
    assert stage.manifest["idle_power"] == []


def test_a_resumed_session_measures_its_own_idle_power(stage, energy_machine, asking):
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
    energy_machine.watts = 12.0
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
    machine = EnergyMachine(stage)

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
    stage, energy_machine, asking, monkeypatch
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
