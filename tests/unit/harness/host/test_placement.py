from __future__ import annotations

import pytest

from harness.errors import HostError
from harness.host.activity import Host
from harness.host.placement import choose_cpus
from harness.host.state import Cpu, Topology
from tests.hosts import trees as hosts


def plan(tree, setting="auto", usable=None):
    with Host(hosts.lent(tree)) as host:
        state = host.read()
    allowed = state.usable if usable is None else usable
    return choose_cpus(setting, state.topology, usable=allowed, isolated=state.isolated)


@pytest.mark.parametrize(
    ("tree", "targets", "reserved", "housekeeping"),
    [
        # the last core, whole; its other thread stays free
        ("intel_pstate", (3,), (3, 7), (0, 1, 2, 4, 5, 6)),
        # isolated CPUs first, and fairtrial stays off the other isolated one
        ("amd", (7,), (7,), (0, 1, 2, 3, 4, 5)),
        # the fast cores
        ("arm_biglittle", (7,), (7,), (0, 1, 2, 3, 4, 5, 6)),
        ("vm_no_cpufreq", (1,), (1,), (0,)),
        ("container", (3,), (3,), (2,)),
        # isolated and whole, on the second node
        ("numa", (15,), (15, 31), (*range(14), *range(16, 30))),
    ],
)
def test_auto_chooses_a_core_away_from_cpu_0(tree, targets, reserved, housekeeping):
    chosen = plan(hosts.TREES[tree]())
    assert (chosen.targets, chosen.reserved) == (targets, reserved)
    assert chosen.housekeeping == housekeeping


def test_the_plan_is_one_readable_line():
    chosen = plan(hosts.intel_pstate())
    assert chosen.text == "targets on 3 (whole core, node 0), fairtrial on 0-2,4-6"
    assert chosen.cautions == ()


def test_the_thread_beside_cpu_0_is_not_away_from_it():
    chosen = plan(hosts.intel_pstate(), usable=(0, 4))
    assert (chosen.targets, chosen.housekeeping) == ((4,), (0,))
    assert "away from CPU 0" in chosen.cautions[0]
    assert "no core is left for fairtrial" in chosen.cautions[1]


def test_one_usable_cpu_is_enough_with_a_caution():
    chosen = plan(hosts.amd(), usable=(0,))
    assert (chosen.targets, chosen.housekeeping) == ((0,), (0,))
    assert chosen.cautions == ("only cpu0 is usable: fairtrial itself runs there too",)


def test_isolated_cpus_outside_the_affinity_are_left_alone():
    assert plan(hosts.amd(), usable=(0, 1, 2)).targets == (2,)


def test_a_core_that_is_wholly_ours_is_preferred():
    # CPU 3's other thread (7) belongs to somebody else, CPU 2's (6) to us.
    chosen = plan(hosts.intel_pstate(), usable=(0, 2, 3, 6))
    assert (chosen.targets, chosen.reserved) == ((2,), (2, 6))


def test_fast_cores_of_a_hybrid_processor_are_preferred():
    tree = hosts.base(8) | {"sys/devices/cpu_core/cpus": "0-3\n"}
    assert plan(tree).targets == (3,)


def test_an_unknown_topology_is_said():
    chosen = plan(hosts.container())
    assert chosen.cautions == (
        "the kernel does not show which CPUs share a core: threads may share one",
    )


def test_none_pins_nothing():
    chosen = plan(hosts.amd(), "none")
    assert (chosen.targets, chosen.reserved) == (None, ())
    assert chosen.housekeeping == tuple(range(8))
    assert "not pinned" in chosen.cautions[0]


@pytest.mark.parametrize(
    ("tree", "setting", "caution"),
    [
        ("numa", (7, 8), "nodes 0-1"),
        ("numa", (3, 19), "CPUs 3,19 are threads of one core"),
        ("arm_biglittle", (3, 4), "fast and slow"),
        ("numa", (14, 15), "does not spread threads over isolated CPUs"),
        ("amd", (0,), "CPU 0"),
        ("amd", tuple(range(8)), "no core is left for fairtrial"),
    ],
)
def test_named_cpus_are_used_with_a_caution(tree, setting, caution):
    chosen = plan(hosts.TREES[tree](), setting)
    assert chosen.targets == setting
    assert any(caution in text for text in chosen.cautions), chosen.cautions


def test_good_named_cpus_need_no_caution():
    chosen = plan(hosts.amd(), (5, 4, 5))
    assert (chosen.targets, chosen.cautions) == ((4, 5), ())
    assert chosen.text == "targets on 4-5 (node 0), fairtrial on 0-3"


@pytest.mark.parametrize(
    ("setting", "usable", "words"),
    [
        ((9,), tuple(range(8)), "CPU 9 is not online"),
        ((2, 5), (0, 1, 2), "may not use CPU 5: its affinity is 0-2"),
        ((), (0, 1, 2), "no CPU is named"),
    ],
)
def test_cpus_that_cannot_be_used_are_an_error_with_a_remedy(setting, usable, words):
    with pytest.raises(HostError) as error:
        plan(hosts.amd(), setting, usable)
    assert words in error.value.what
    assert "isolation.cpus" in error.value.where
    assert "or auto, under isolation.cpus" in error.value.fix


def test_no_cpu_at_all_is_an_error():
    with pytest.raises(HostError, match="no CPU that this process may use"):
        plan(hosts.bare())


@pytest.mark.parametrize("count", [1, 2, 3, 64, 256])
@pytest.mark.parametrize("threads", [1, 2])
def test_targets_are_usable_and_fairtrial_has_a_place_on_any_machine(count, threads):
    total = count * threads
    cpus = tuple(
        Cpu(number=n, siblings=tuple(range(n % count, total, count)), node=0) for n in range(total)
    )
    usable = tuple(range(total))
    chosen = choose_cpus("auto", Topology(cpus=cpus), usable=usable)
    assert set(chosen.targets) <= set(chosen.reserved) <= set(usable)
    assert chosen.housekeeping
    assert (0 in chosen.reserved) == (count == 1)
    assert bool(set(chosen.housekeeping) & set(chosen.reserved)) == (count == 1)
