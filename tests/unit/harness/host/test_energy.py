"""Which counters of energy a host has: zones of powercap, on recorded trees.

Authority: Linux, Documentation/power/powercap/powercap.rst (zones, their names, energy_uj and
max_energy_range_uj).
"""

from __future__ import annotations

import pytest

from harness.host.activity import Host
from tests.hosts import trees as hosts

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


def test_the_dies_of_a_package_are_counted_each(read):
    state = read(hosts.powercap({"package-0-die-0": 1, "package-0-die-1": 2}))
    assert [zone.name for zone in state.energy] == ["package-0-die-0", "package-0-die-1"]


def test_a_closed_counter_is_there_and_not_readable(read):
    zones = read(hosts.powercap({"package-0": None, "package-1": 4})).energy
    assert [(zone.name, zone.readable) for zone in zones] == [
        ("package-0", False),
        ("package-1", True),
    ]


@pytest.mark.parametrize("text", ["", "0", "-1", "much"])
def test_an_odd_range_is_no_range(read, text):
    tree = hosts.powercap({"package-0": 1})
    tree["sys/class/powercap/intel-rapl:0/max_energy_range_uj"] = text
    assert read(tree).energy[0].range_uj is None
