from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from harness.host import activity as processes
from harness.host.activity import (
    Host,
    Surroundings,
    busiest,
    look_for_gaps,
    processor_times,
)
from harness.host.state import Busy, GapLook, Gaps
from tests.hosts import trees as hosts
from tests.processes import wait_until

TICKS = os.sysconf("SC_CLK_TCK")


def plant(root, **programs):
    """Record processes as (pid, processor seconds, begin in seconds after boot)."""
    (root / "proc").mkdir(parents=True, exist_ok=True)
    (root / "proc" / "stat").write_text("cpu  1 0 1 1 0 0 0 0 0 0\nbtime 1700000000\n")
    for name, (pid, seconds, began) in programs.items():
        folder = root / "proc" / str(pid)
        folder.mkdir(exist_ok=True)
        ticks = int(seconds * TICKS)
        fields = ["S", "1", *["0"] * 9, str(ticks), "0", "0", "0", "20", "0", "1", "0"]
        fields += [str(int(began * TICKS)), *["0"] * 30]
        (folder / "stat").write_text(f"{pid} ({name.replace('_', ' ')}) {' '.join(fields)}\n")
    return root


@pytest.fixture
def recorded(monkeypatch):
    def read(root, **programs):
        monkeypatch.setattr(psutil, "PROCFS_PATH", str(plant(root, **programs) / "proc"))
        return processor_times()

    return read


def test_recorded_processes_are_read_by_name_time_and_begin(recorded, tmp_path):
    found = recorded(tmp_path, cc1=(10, 1.5, 5), a_b=(12, 0.25, 7))
    assert sorted(found.values()) == [("a b", 0.25), ("cc1", 1.5)]
    assert {pid for pid, _ in found} == {10, 12}


def test_what_cannot_be_read_is_left_out(recorded, tmp_path):
    recorded(tmp_path, cc1=(10, 1.5, 5))
    (tmp_path / "proc" / "7").mkdir()  # has ended
    (tmp_path / "proc" / "8").mkdir()
    (tmp_path / "proc" / "8" / "stat").write_text("8 (x\n")
    assert list(recorded(tmp_path).values()) == [("cc1", 1.5)]


def test_who_used_most_is_named_first(recorded, tmp_path):
    before = recorded(tmp_path, cc1=(10, 1.0, 5), make=(11, 2.0, 5), idle=(12, 9, 1))
    after = recorded(tmp_path, cc1=(10, 1.5, 5), make=(11, 2.25, 5), ld=(13, 0.75, 9))
    assert busiest(before, after, 0.5) == (
        Busy(name="ld", share=1.5),
        Busy(name="cc1", share=1.0),
        Busy(name="make", share=0.5),
    )
    assert busiest(before, after, 0.5, most=1) == (Busy(name="ld", share=1.5),)
    assert busiest(before, before, 0.5) == ()


def test_a_number_that_came_again_is_another_process(recorded, tmp_path):
    before = recorded(tmp_path, old=(10, 100.0, 5))
    after = recorded(tmp_path, new=(10, 0.5, 900))
    assert busiest(before, after, 1.0) == (Busy(name="new", share=0.5),)


def test_a_program_that_spins_is_found_and_this_one_is_not():
    code = "import time\nwhile time.process_time() < 60: pass"
    spinning = subprocess.Popen([sys.executable, "-I", "-S", "-c", code])
    try:
        process = psutil.Process(spinning.pid)
        before = processor_times()
        used = process.cpu_times().user
        wait_until(lambda: process.cpu_times().user >= used + 0.05, "it has spun")
        found = processor_times()
        named = busiest(before, found, 1.0, most=len(found))
        assert process.name() in {one.name for one in named}
        assert os.getpid() not in {pid for pid, _ in found}
    finally:
        spinning.kill()
        spinning.wait()


@pytest.mark.parametrize(
    ("names", "others"), [((), 0), (("me", "me"), 0), (("me", "ada", "ada", "bob"), 2)]
)
def test_other_users_are_counted_once_each(monkeypatch, tmp_path, names, others):
    (tmp_path / "utmp").touch()
    monkeypatch.setattr(processes, "LOGINS", str(tmp_path / "utmp"))
    monkeypatch.setattr(processes.getpass, "getuser", lambda: "me")
    monkeypatch.setattr(psutil, "users", lambda: [SimpleNamespace(name=name) for name in names])
    assert processes.Host().others_logged_in() == others
    assert processes.Host(tmp_path).others_logged_in() is None  # psutil knows no other host's


def test_without_a_list_nobody_knows_who_is_logged_in(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "LOGINS", str(tmp_path / "utmp"))
    assert processes.Host().others_logged_in() is None


# --- What a look at the clock says on every machine; what it sees of a neighbour: tests/host/test_gaps.py


@pytest.fixture
def cpu():
    return max(os.sched_getaffinity(0))


def test_a_look_tells_how_long_it_took_and_what_was_lost(cpu):
    (gaps,) = look_for_gaps((cpu,), 0.05).gaps
    assert gaps.cpu == cpu
    assert gaps.looked_s >= 0.05
    assert 0 <= gaps.longest_s <= gaps.lost_s <= gaps.looked_s
    assert (gaps.count == 0) == (gaps.lost_s == 0)
    assert gaps.lost_s <= gaps.count * gaps.longest_s + 1e-9
    assert 0 <= gaps.share <= 1


def test_several_cpus_are_looked_at_at_the_same_time():
    cpus = tuple(sorted(os.sched_getaffinity(0)))[:2]
    look = look_for_gaps(cpus, 0.05)
    assert tuple(one.cpu for one in look.gaps) == cpus
    assert look.worst in look.gaps


def test_the_one_who_looks_stays_where_it_was(cpu):
    before = os.sched_getaffinity(0)
    look_for_gaps((cpu,), 0.01)
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(
    ("cpus", "words"),
    [(None, "not pinned"), ((), "not pinned"), ((4000,), "nothing may be pinned to cpu4000")],
)
def test_where_it_cannot_be_measured_it_is_unknown(cpus, words):
    look = look_for_gaps(cpus, 0.01)
    assert (look.gaps, look.worst) == ((), None)
    assert words in look.problem


def test_an_interpreter_that_cannot_be_started_makes_it_unknown(cpu, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "No such file" in look_for_gaps((cpu,), 0.01).problem
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert "ended with 1" in look_for_gaps((cpu,), 0.01).problem


def test_a_recorded_host_has_no_cpus_to_look_at(tmp_path):
    with Host(tmp_path) as host:
        assert "recorded" in host.gaps((0,), 0.01).problem


def test_the_worst_cpu_lost_the_largest_share():
    def lost(cpu, seconds):
        return Gaps(cpu=cpu, looked_s=1.0, lost_s=seconds, count=1, longest_s=seconds)

    assert GapLook(gaps=(lost(1, 0.1), lost(2, 0.3), lost(3, 0.2))).worst.cpu == 2


# --- Which counters of energy a host has: zones of powercap, on recorded trees
#
# Authority: Linux, Documentation/power/powercap/powercap.rst (zones, their names, energy_uj and
# max_energy_range_uj).


SERVER = {
    "package-1": 5, "package-1/dram": 7, "package-0": 11, "package-0/core": 13, "package-0/uncore": 17,
    "psys": 19, "mmio package-0": 23,
}  # fmt: skip


@pytest.fixture
def read():
    def make(tree):
        with Host(hosts.lent(hosts.bare() | tree)) as host:
            return host.read()

    return make


def test_packages_are_found_once_and_nothing_that_is_inside_or_around_them(read):
    state = read(hosts.powercap(SERVER))
    assert [(zone.name, zone.path) for zone in state.energy] == [
        ("package-0", "/sys/class/powercap/intel-rapl:1/energy_uj"),
        ("package-1", "/sys/class/powercap/intel-rapl:0/energy_uj"),
    ]
    assert {zone.range_uj for zone in state.energy} == {262143328850}
    assert all(zone.readable for zone in state.energy)


def test_the_other_driver_counts_where_it_is_the_only_one(read):
    (zone,) = read(hosts.powercap({"mmio package-0": 3})).energy
    assert zone.path == "/sys/class/powercap/intel-rapl-mmio:0/energy_uj"


@pytest.mark.parametrize(
    "counts", [{"package-0-die-0": 1, "package-0-die-1": 2}, {"package-0": None, "package-1": 4}]
)
def test_the_dies_of_a_package_count_each_and_a_closed_counter_is_not_readable(read, counts):
    zones = read(hosts.powercap(counts)).energy
    assert [(zone.name, zone.readable) for zone in zones] == [
        (k, bool(v)) for k, v in counts.items()
    ]


@pytest.mark.parametrize("text", ["", "0", "-1", "much"])
def test_an_odd_range_is_no_range(read, text):
    tree = hosts.powercap({"package-0": 1})
    tree["sys/class/powercap/intel-rapl:0/max_energy_range_uj"] = text
    assert read(tree).energy[0].range_uj is None


# --- What the host did while a run lasted, on recorded trees
#
# Authority: proc_stat(5), proc_loadavg(5) and Documentation/accounting/psi.rst: columns, units, and that
# counters only grow.


TICK = 1 / os.sysconf("SC_CLK_TCK")
PRESSURE = "some avg10=0.18 avg60=1.15 avg300=10.54 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9999\n"


def pressed(cpu=0, memory=0, io=0):
    each = {"cpu": cpu, "memory": memory, "io": io}
    return {f"proc/pressure/{name}": PRESSURE.format(us) for name, us in each.items()}


def stat(*cpus, whole=None):
    """Write /proc/stat with (user, steal) of each CPU, and of all together as the kernel adds them up."""
    total = whole or (sum(user for user, _ in cpus), sum(steal for _, steal in cpus))
    lines = [("cpu ", *total), *((f"cpu{n}", *one) for n, one in enumerate(cpus))]
    return "".join(f"{name} {user} 0 5 900 10 1 2 {steal} 0 0\n" for name, user, steal in lines)


@pytest.fixture
def around(tmp_path):
    """Give what a run was told between two states of a host."""
    opened = []

    def make(before, after, *, cpus=(0,), services=()):
        hosts.plant(tmp_path, before)
        host = Host(tmp_path)
        opened.append(host)
        watched = Surroundings(host, cpus)
        watched.begin()
        hosts.plant(tmp_path, after)
        return watched.end(services)

    yield make
    for host in opened:
        host.close()


def test_pressure_and_load_of_a_run(around):
    """The load is that before the run, of which it is no part; of pressure it is the difference of `some`."""
    found = around(
        {"proc/loadavg": "1.50 0.05 0.01 1/345 6789\n", **pressed(1_000_000, 5, 20)},
        {"proc/loadavg": "9.00 0.05 0.01 1/345 6789\n", **pressed(1_250_000, 5, 1020)},
    )
    assert found["load_1min"] == 1.5
    assert found["pressure_cpu_s"] == 0.25
    assert found["pressure_memory_s"] == 0
    assert found["pressure_io_s"] == pytest.approx(0.001)


def test_what_each_cpu_lost_and_how_busy_the_services_cpus_were(around):
    found = around(
        {"proc/stat": stat((100, 7), (50, 0), (10, 3))},
        {"proc/stat": stat((110, 7), (65, 2), (30, 8))},
        services=(1, 2),
    )
    assert found["steal_s"] == 0
    assert found["cpu_steal_s"] == pytest.approx({"1": 2 * TICK, "2": 5 * TICK})
    assert found["service_cpus_busy_s"] == pytest.approx(35 * TICK)


def test_the_measured_cpus_steal_is_their_own(around):
    before, after = stat((0, 1), (0, 0), (0, 0)), stat((0, 4), (0, 2), (0, 0))
    found = around({"proc/stat": before}, {"proc/stat": after}, cpus=(0, 2))
    assert found["steal_s"] == pytest.approx(3 * TICK)
    unpinned = around({"proc/stat": before}, {"proc/stat": after}, cpus=())
    assert unpinned["steal_s"] == pytest.approx(5 * TICK)
    assert "service_cpus_busy_s" not in unpinned  # a run without services


def test_a_host_that_lost_nothing_has_no_cpu_to_name(around):
    quiet = {"proc/stat": stat((1, 5), (1, 5))}
    assert around(quiet, quiet)["cpu_steal_s"] == {}


def test_a_cpu_that_went_or_came_in_between_is_not_named(around):
    after = {"proc/stat": stat((0, 3), whole=(0, 9))}
    found = around({"proc/stat": stat((0, 1), (0, 5))}, after)
    assert found["cpu_steal_s"] == pytest.approx({"0": 2 * TICK})


@pytest.mark.parametrize(
    "text", [None, "", "garbage", "some avg10=0.00\n", "full avg10=0 total=5\n", "some total=-5\n"]
)
def test_what_a_kernel_does_not_tell_is_unknown(around, text):
    """Kernels before 4.20, or booted with psi=0, have no pressure; not all have a column of steal."""
    said = {} if text is None else {f"proc/pressure/{n}": text for n in ("cpu", "memory", "io")}
    tree = {"proc/stat": "cpu  1 2 3 4\ncpu0 1 2 3 4\n", "proc/version": "x", **said}
    found = around(tree, tree, services=(0,))
    assert {*found.values()} == {None}
    assert {"load_1min", "pressure_io_s", "steal_s", "cpu_steal_s"} < found.keys()


def test_a_host_without_proc_tells_nothing(around):
    found = around({"proc/version": "x"}, {"proc/version": "x"})
    assert {*found.values()} == {None}
    assert "steal_s" not in found


def test_the_real_kernel_is_read_anew_each_time():
    """Processor time that this process has used on one CPU is time in which that CPU was busy."""
    allowed = os.sched_getaffinity(0)
    cpu = min(allowed)
    with Host() as host:
        watched = Surroundings(host, (cpu,))
        os.sched_setaffinity(0, {cpu})
        try:
            watched.begin()
            begin = time.thread_time()
            while time.thread_time() - begin < 8 * TICK:
                pass
            found = watched.end((cpu,))
        finally:
            os.sched_setaffinity(0, allowed)
        assert found["service_cpus_busy_s"] >= 4 * TICK
        assert found["load_1min"] >= 0
        if host.pressure_us("cpu") is not None:
            assert found["pressure_cpu_s"] >= 0
