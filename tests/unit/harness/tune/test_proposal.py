"""What would be changed: only what a check named, each by its own file, in an order that can be undone."""

from __future__ import annotations

import json

import pytest

from harness.tune.proposal import SETTINGS, Wish, plain_value, setting_of
from harness.tune.tuner import survey
from tests.unit.harness.tune.conftest import CPU, V1, V2, hosts

POLICY = f"/{CPU}/cpu3/cpufreq"


def items(proposal):
    return [one.item for one in proposal.changes]


def left(proposal, item):
    return [one.what for one in proposal.left if one.item == item]


def test_a_laptop_as_it_comes(proposed):
    proposal = proposed()
    assert [(one.item, one.path, one.before, one.after) for one in proposal.changes] == [
        ("preference", f"{POLICY}/energy_performance_preference", "balance_performance", "performance"),
        ("governor", f"{POLICY}/scaling_governor", "powersave", "performance"),
        ("turbo", f"/{CPU}/intel_pstate/no_turbo", "0", "1"),
        ("thp", "/sys/kernel/mm/transparent_hugepage/enabled", "always", "madvise"),
        ("perf_rate", "/proc/sys/kernel/perf_event_max_sample_rate", "100000", "1"),
        ("irq", "/proc/irq/25/smp_affinity_list", "0-7", "0-2,4-6"),
    ]  # fmt: skip
    assert (proposal.cpus, proposal.count, proposal.partition) == ((3,), 6, None)
    assert json.loads(json.dumps(proposal.to_dict())) == proposal.to_dict()


def test_a_host_in_order_has_nothing_to_change(proposed):
    # negative control: every check that tuning serves is ok there
    proposal = proposed(hosts.lent(hosts.amd() | {f"{CPU}/isolated": "7"}))
    assert (proposal.changes, proposal.partition, proposal.left) == ((), None, ())


def test_a_kernel_that_shows_nothing_is_left_alone(proposed):
    assert proposed(hosts.lent(hosts.vm_no_cpufreq())).count == 0


def test_cpus_of_one_policy_are_one_file(laptop, proposed):
    shared = laptop / f"{CPU}/cpufreq/policy2"
    (laptop / f"{CPU}/cpu2/cpufreq").rename((laptop / f"{CPU}/cpufreq").mkdir() or shared)
    for cpu in (2, 3):
        place = laptop / f"{CPU}/cpu{cpu}/cpufreq"
        for old in place.glob("*") if place.exists() else ():
            old.unlink()
        if place.exists():
            place.rmdir()
        place.symlink_to(shared)
    proposal = proposed(setting=(2, 3))
    paths = [one.path for one in proposal.changes if one.item == "governor"]
    assert paths == [f"/{CPU}/cpufreq/policy2/scaling_governor"]


def test_a_driver_without_the_governor_gets_the_preference_only(laptop, proposed):
    (laptop / POLICY.lstrip("/") / "scaling_available_governors").write_text("powersave\n")
    assert "governor" not in items(proposed())
    assert "preference" in items(proposed())
    (laptop / POLICY.lstrip("/") / "energy_performance_available_preferences").unlink()
    proposal = proposed()
    assert "preference" not in items(proposal)
    assert left(proposal, "governor") == ["cpu3 has no governor 'performance', only powersave"]


@pytest.mark.parametrize(
    ("path", "value", "after"),
    [
        (f"{CPU}/cpufreq/boost", "1", "0"),
        (f"{CPU}/amd_pstate/cpb_boost", "enabled", "disabled"),
        (f"{CPU}/cpu3/cpufreq/boost", "1", "0"),
        (f"{CPU}/cpu3/cpufreq/cpb", "1", "0"),
    ],
)
def test_each_switch_of_boost_is_turned_its_own_way(laptop, proposed, path, value, after):
    (laptop / f"{CPU}/intel_pstate/no_turbo").unlink()
    (laptop / path).parent.mkdir(exist_ok=True)
    (laptop / path).write_text(f"{value}\n")
    (turbo,) = (one for one in proposed().changes if one.item == "turbo")
    assert (turbo.path, turbo.before, turbo.after) == (f"/{path}", value, after)


def test_interrupts_stay_where_every_cpu_is_measured(laptop, proposed):
    proposal = proposed(setting=tuple(range(8)))
    assert "irq" not in items(proposal)
    assert "all CPUs are measured" in left(proposal, "irq")[0]


def test_who_spreads_interrupts_is_named(laptop, proposed):
    hosts.plant(laptop, {"proc/77/comm": "irqbalance\n", "proc/78/comm": None})
    (what,) = left(proposed(), "irq")
    assert "irqbalance is running" in what
    hosts.plant(laptop, {"proc/interrupts": hosts.interrupts([100] * 8)})
    assert left(proposed(), "irq") == []


@pytest.mark.parametrize("rise", [0, 1_000])
def test_interrupts_that_come_while_it_looks_are_moved_away(laptop, monkeypatch, rise):
    # few since the host was started, and now many: 1000 within a hundredth of a second
    hosts.plant(laptop, {"proc/interrupts": hosts.interrupts([100] * 8)})

    def work(_seconds):
        hosts.plant(laptop, {"proc/interrupts": hosts.interrupts([100 + rise] * 8)})

    monkeypatch.setattr("harness.tune.tuner.time.sleep", work)
    assert ("irq" in items(survey(Wish(), laptop, look_s=0.01))) is bool(rise)


# --- siblings ----------------------------------------------------------------------------------


def test_a_sibling_stays_online_unless_it_is_asked_for(proposed):
    assert "sibling" not in items(proposed())
    assert left(proposed(), "sibling") == [
        "cpu 7 shares a measured core: --offline-sibling takes it offline meanwhile"
    ]


def test_a_sibling_goes_offline_last(proposed):
    last = proposed(offline_sibling=True).changes[-1]
    assert (last.item, last.path, last.after) == ("sibling", f"/{CPU}/cpu7/online", "0")


def test_an_interrupt_of_a_sibling_alone_is_moved_and_so_comes_back(laptop, proposed):
    # the kernel would break its affinity for good; one that may go elsewhere it leaves as it is
    hosts.plant(
        laptop, {"proc/irq/31/smp_affinity_list": "7\n", "proc/irq/32/smp_affinity_list": "6-7\n"}
    )
    moved = [one for one in proposed(offline_sibling=True).changes if one.check == "smt"]
    assert [(one.item, one.path, one.before, one.after) for one in moved] == [
        ("irq", "/proc/irq/31/smp_affinity_list", "7", "0-2,4-6"),
        ("sibling", f"/{CPU}/cpu7/online", "1", "0"),
    ]
    assert "/proc/irq/31/smp_affinity_list" not in {one.path for one in proposed().changes}


@pytest.mark.parametrize(
    ("table", "own", "words"),
    [
        (V1["proc/cgroups"], "0::/\n", "cgroup version 1 cpusets forget"),
        (None, "4:cpuset:/\n0::/\n", "cgroup version 1 cpusets forget"),
        (None, None, "does not tell which cpusets"),
    ],
)
def test_a_sibling_stays_online_under_cpusets_of_version_1(laptop, proposed, table, own, words):
    for name, text in (("proc/cgroups", table), ("proc/self/cgroup", own)):
        (laptop / name).unlink()
        if text is not None:
            (laptop / name).write_text(text)
    proposal = proposed(offline_sibling=True)
    assert "sibling" not in items(proposal)
    assert words in left(proposal, "sibling")[0]


@pytest.mark.parametrize("busy", [(5,), None])
def test_a_sibling_stays_online_under_the_trial_of_another(monkeypatch, proposed, busy):
    monkeypatch.setattr("harness.tune.tuner.cpus_in_use", lambda: busy)
    proposal = proposed(offline_sibling=True)
    assert "sibling" not in items(proposal)
    assert "other trials measure" in left(proposal, "sibling")[0]
    assert proposal.busy == busy


def test_a_sibling_without_a_switch_stays_online(laptop, proposed):
    (laptop / f"{CPU}/cpu7/online").unlink()
    assert "no switch" in left(proposed(offline_sibling=True), "sibling")[0]


# --- the partition -----------------------------------------------------------------------------


def test_a_command_gets_a_partition_with_a_cpu_for_fairtrial(proposed):
    proposal = proposed(inside=True)
    partition = proposal.partition
    assert partition.cpus == (2, 3, 7) or partition.cpus == (3, 6, 7)
    assert (partition.home, partition.branch) == ("/user.slice/session.scope", True)
    assert set(proposal.cpus) < set(partition.cpus)
    assert 0 not in partition.cpus


@pytest.mark.parametrize(
    ("changes", "wish", "words"),
    [
        ({}, {}, "only what 'tune -- COMMAND' executes"),
        (V1, {"inside": True}, "offers no cpusets of cgroup version 2"),
        ({"sys/fs/cgroup/cgroup.controllers": "cpu\n"}, {"inside": True}, "offers no cpusets"),
        ({}, {"inside": True, "setting": "none"}, "not pinned"),
        ({}, {"inside": True, "setting": (0, 1, 2, 3)}, "one for everything else"),
        ({"sys/fs/cgroup/fairtrial-tune/x": ""}, {"inside": True}, "there is already"),
    ],
)
def test_where_there_is_no_partition_it_is_said_why(laptop, proposed, changes, wish, words):
    hosts.plant(laptop, changes)
    proposal = proposed(**wish)
    assert proposal.partition is None
    assert words in left(proposal, "partition")[0]


def test_a_partition_needs_the_controller_only_once(laptop, proposed):
    hosts.plant(laptop, V2 | {"sys/fs/cgroup/cgroup.subtree_control": "cpuset cpu\n"})
    assert proposed(inside=True).partition.branch is False


# --- The closed list of settings: what is on it, what values it takes; authority is the kernel's documentation


SETTINGS_CPU = "/sys/devices/system/cpu"


@pytest.mark.parametrize(
    ("path", "text", "plain"),
    [
        (f"{SETTINGS_CPU}/cpu3/cpufreq/scaling_governor", "powersave\n", "powersave"),
        (f"{SETTINGS_CPU}/cpufreq/policy12/scaling_governor", "performance", "performance"),
        (
            f"{SETTINGS_CPU}/cpu3/cpufreq/energy_performance_preference",
            "balance_power",
            "balance_power",
        ),
        (f"{SETTINGS_CPU}/cpu3/cpufreq/energy_performance_preference", "128", "128"),
        (f"{SETTINGS_CPU}/intel_pstate/no_turbo", "0\n", "0"),
        (f"{SETTINGS_CPU}/cpufreq/boost", "1", "1"),
        (f"{SETTINGS_CPU}/amd_pstate/cpb_boost", "enabled", "enabled"),
        (f"{SETTINGS_CPU}/cpufreq/policy0/boost", "0", "0"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never", "always"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "madvise", "madvise"),
        ("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n", "100000"),
        ("/proc/irq/25/smp_affinity_list", "0,1,2,4-6\n", "0-2,4-6"),
        (f"{SETTINGS_CPU}/cpu7/online", "1", "1"),
    ],
)
def test_a_setting_has_one_spelling(path, text, plain):
    assert plain_value(path, text) == plain


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/perf_event_max_sample_rate/../core_pattern",
        f"{SETTINGS_CPU}/cpu0/online",
        f"{SETTINGS_CPU}/cpu3/cpufreq/../../../../../etc/shadow",
        f"{SETTINGS_CPU}/cpu3/cpufreq/scaling_governor\n",
        f" {SETTINGS_CPU}/cpu3/cpufreq/scaling_governor",
        "/proc/irq/default_smp_affinity",
        "/proc/irq/25/../1/smp_affinity_list",
        "proc/irq/25/smp_affinity_list",
        "/sys/fs/cgroup/cgroup.procs",
        "",
    ],
)
def test_nothing_else_is_a_setting(path):
    assert setting_of(path) is None
    assert plain_value(path, "0") is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (f"{SETTINGS_CPU}/cpu3/cpufreq/scaling_governor", "performance; reboot"),
        (f"{SETTINGS_CPU}/cpu3/cpufreq/scaling_governor", "x" * 33),
        (f"{SETTINGS_CPU}/cpu3/cpufreq/scaling_governor", ""),
        (f"{SETTINGS_CPU}/intel_pstate/no_turbo", "2"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "sometimes"),
        ("/proc/sys/kernel/perf_event_max_sample_rate", "-1"),
        ("/proc/sys/kernel/perf_event_max_sample_rate", "0"),
        ("/proc/irq/25/smp_affinity_list", "all"),
        ("/proc/irq/25/smp_affinity_list", ""),
        ("/proc/irq/25/smp_affinity_list", "0," * 3000 + "1"),
        (f"{SETTINGS_CPU}/cpu7/online", "yes"),
        (f"{SETTINGS_CPU}/cpu7/online", None),
        # digits of other scripts are none: one reached write() as root
        ("/proc/sys/kernel/perf_event_max_sample_rate", "1٠٠"),
        ("/proc/irq/25/smp_affinity_list", "0-٣"),
        ("/proc/irq/٢٥/smp_affinity_list", "1"),
        (f"{SETTINGS_CPU}/cpu٧/online", "1"),
        (f"{SETTINGS_CPU}/cpu٣/cpufreq/scaling_governor", "performance"),
    ],
)
def test_a_value_of_another_type_is_none(path, text):
    assert plain_value(path, text) is None


def test_the_items_are_named_once():
    assert len({one.item for one in SETTINGS} - {"partition"}) == len(SETTINGS)
