"""What the host did while a run lasted, on recorded trees.

Authority: proc_stat(5), proc_loadavg(5) and Documentation/accounting/psi.rst: columns, units, and that
counters only grow.
"""

from __future__ import annotations

import os
import time

import pytest

from harness.host.activity import Host, Surroundings
from tests.hosts import trees as hosts

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
