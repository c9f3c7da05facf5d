"""The meter of energy on trees that move: wraps, two packages, what is gone, closed, or stands still.

Authority: arithmetic. A counter that begins again at 0 behind its range R has used new - old + R.
"""

from __future__ import annotations

import runpy
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from harness.host.activity import Host
from harness.trial.metering import EnergyCounter, EnergyMeter, measure_idle, open_energy

hosts = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[4] / "hosts" / "trees.py")))
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


def test_a_wrap_is_undone_by_the_range(machine):
    one = machine({"package-0": RANGE - 1_000_000})
    meter = one.meter()
    meter.begin()
    one.put(package_0=2_000_000)
    one.now += 0.2
    assert meter.end().joules == pytest.approx(3.0)


def test_several_wraps_are_seen_where_it_is_read_between_them(machine):
    one = machine({"package-0": 0}, range_uj=80_000_000_000)
    meter = one.meter()
    meter.begin()
    total = 0
    for _ in range(4 * 12):  # 12 min at 200 W, a tick every 15 s
        one.now += 15.0
        total += 3_000_000_000
        one.put(package_0=total % 80_000_000_000)
        meter.tick()
    assert total > 80_000_000_000
    assert meter.end().joules == pytest.approx(total / 1e6)


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


def test_a_counter_that_was_set_back_is_unknown(machine):
    one = machine({"package-0": 9_000_000_000})
    meter = one.meter()
    meter.begin()
    one.put(package_0=100)  # after a sleep: 253 kJ in a second are no wrap
    one.now += 1.0
    assert "was set back" in meter.end().why


def test_without_a_range_a_smaller_count_is_unknown(machine):
    one = machine({"package-0": 9_000_000}, range_uj=0)
    meter = one.meter()
    meter.begin()
    one.put(package_0=8_000_000)
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


def test_a_short_span_is_zero_only_of_a_counter_that_ever_moved(machine):
    one = machine({"package-0": 100})
    meter = one.meter()
    meter.begin()
    one.now += 0.001
    assert meter.end().joules is None
    meter.begin()
    one.put(package_0=200)
    one.now += 0.001
    assert meter.end().joules == pytest.approx(1e-4)
    meter.begin()
    one.now += 0.0005
    assert meter.end().joules == 0.0


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
    assert (idle.watts, idle.seconds) == (pytest.approx(10.0), pytest.approx(10.0))
    assert idle.error_w == pytest.approx((10 / 9) ** 0.5 / 10**0.5)  # sd of ten, by hand


def test_a_machine_whose_counters_stand_still_has_no_idle_power(machine):
    one = machine({"package-0": 0})

    def sleep(seconds):
        one.now += seconds

    assert "stands still" in measure_idle(one.meter(), sleep)
