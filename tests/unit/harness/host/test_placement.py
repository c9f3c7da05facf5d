from __future__ import annotations

import pytest

from harness.errors import HostError
from harness.host.activity import Host
from harness.host.placement import choose_cpus, with_services
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


# --- Where services run: authority are the rules of the key (disjoint from runs and fairtrial, or said), on recorded hosts


AUTO = ("auto", False)


def service_cpus_plan(tree, wishes, setting="auto", usable=None):
    with Host(hosts.lent(tree)) as host:
        state = host.read()
    allowed = state.usable if usable is None else usable
    before = choose_cpus(setting, state.topology, usable=allowed, isolated=state.isolated)
    return with_services(before, wishes, state.topology, allowed), before


@pytest.mark.parametrize(
    ("tree", "ours", "services"),
    [
        ("intel_pstate", (0, 4), (1, 2, 5, 6)),  # one core with its two threads for fairtrial
        ("amd", (0,), (1, 2, 3, 4, 5)),
        ("arm_biglittle", (0,), (1, 2, 3, 4, 5, 6)),
    ],
)
def test_services_have_what_neither_runs_nor_fairtrial_use(tree, ours, services):
    chosen, before = service_cpus_plan(hosts.TREES[tree](), {"a": AUTO, "b": AUTO})
    assert chosen.services == {"a": services, "b": services}  # no variant has a better place
    assert chosen.housekeeping == ours
    assert chosen.targets == before.targets
    assert set(chosen.reserved) == {*before.reserved, *services}
    assert chosen.cautions == before.cautions
    assert chosen.text.endswith("services on " + chosen.text.rpartition(" on ")[2])


def test_with_two_usable_cpus_they_share_fairtrials_and_that_is_said():
    chosen, before = service_cpus_plan(hosts.TREES["vm_no_cpufreq"](), {"redis/always": AUTO})
    assert (chosen.targets, chosen.housekeeping) == ((1,), (0,))
    assert chosen.services == {"redis/always": (0,)}
    assert chosen.reserved == before.reserved
    assert chosen.cautions[-1] == (
        "no CPU is left for services (redis/always): they share CPU 0 with fairtrial itself"
    )


def test_with_one_usable_cpu_they_run_beside_the_runs_and_that_is_said():
    chosen, _ = service_cpus_plan(hosts.amd(), {"s": AUTO}, usable=(0,))
    assert chosen.services == {"s": (0,)}
    assert "with fairtrial and the measured programs" in chosen.cautions[-1]


def test_cpus_that_are_named_are_taken_from_fairtrial():
    chosen, _ = service_cpus_plan(hosts.amd(), {"s": ((0, 1), False), "t": AUTO})
    assert chosen.services == {"s": (0, 1), "t": (3, 4, 5)}
    assert chosen.housekeeping == (2,)


def test_who_shares_may_have_any():
    wish = ((7, 0), True)
    chosen, before = service_cpus_plan(hosts.amd(), {"s": wish})
    assert chosen.services == {"s": (7, 0)}
    assert chosen.housekeeping == before.housekeeping
    auto, before = service_cpus_plan(hosts.amd(), {"s": ("auto", True)})
    assert auto.services == {"s": before.housekeeping}
    assert auto.reserved == before.reserved


@pytest.mark.parametrize(
    ("cpus", "usable", "what"),
    [
        ((7,), None, "on CPU 7, on a core that is measured"),
        ((11,), None, "on CPU 11, which this process may not use"),
        ((0,), (0, 7), "leave none to fairtrial itself"),
    ],
)
def test_what_cannot_be_is_refused(cpus, usable, what):
    with pytest.raises(HostError, match=what) as caught:
        service_cpus_plan(hosts.amd(), {"s/x": (cpus, False)}, usable=usable)
    assert caught.value.where.startswith("services.")
    assert caught.value.fix


def test_services_of_targets_that_are_not_pinned_are_not_pinned_either():
    chosen, before = service_cpus_plan(hosts.amd(), {"s": AUTO}, setting="none")
    assert chosen.targets is None
    assert chosen.reserved == ()
    assert chosen.services["s"] == before.housekeeping
    assert "services are not pinned" in chosen.cautions[-1]


def test_without_services_nothing_is_other_than_before():
    chosen, before = service_cpus_plan(hosts.amd(), {})
    assert chosen is not before or chosen == before
    assert chosen == before
