"""The closed list of settings: what is on it, what values it takes; authority is the kernel's documentation."""

from __future__ import annotations

import pytest

from harness.tune.proposal import SETTINGS, plain_value, setting_of

CPU = "/sys/devices/system/cpu"


@pytest.mark.parametrize(
    ("path", "text", "plain"),
    [
        (f"{CPU}/cpu3/cpufreq/scaling_governor", "powersave\n", "powersave"),
        (f"{CPU}/cpufreq/policy12/scaling_governor", "performance", "performance"),
        (f"{CPU}/cpu3/cpufreq/energy_performance_preference", "balance_power", "balance_power"),
        (f"{CPU}/cpu3/cpufreq/energy_performance_preference", "128", "128"),
        (f"{CPU}/intel_pstate/no_turbo", "0\n", "0"),
        (f"{CPU}/cpufreq/boost", "1", "1"),
        (f"{CPU}/amd_pstate/cpb_boost", "enabled", "enabled"),
        (f"{CPU}/cpufreq/policy0/boost", "0", "0"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never", "always"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "madvise", "madvise"),
        ("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n", "100000"),
        ("/proc/irq/25/smp_affinity_list", "0,1,2,4-6\n", "0-2,4-6"),
        (f"{CPU}/cpu7/online", "1", "1"),
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
        f"{CPU}/cpu0/online",
        f"{CPU}/cpu3/cpufreq/../../../../../etc/shadow",
        f"{CPU}/cpu3/cpufreq/scaling_governor\n",
        f" {CPU}/cpu3/cpufreq/scaling_governor",
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
        (f"{CPU}/cpu3/cpufreq/scaling_governor", "performance; reboot"),
        (f"{CPU}/cpu3/cpufreq/scaling_governor", "x" * 33),
        (f"{CPU}/cpu3/cpufreq/scaling_governor", ""),
        (f"{CPU}/intel_pstate/no_turbo", "2"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "sometimes"),
        ("/proc/sys/kernel/perf_event_max_sample_rate", "-1"),
        ("/proc/sys/kernel/perf_event_max_sample_rate", "0"),
        ("/proc/irq/25/smp_affinity_list", "all"),
        ("/proc/irq/25/smp_affinity_list", ""),
        ("/proc/irq/25/smp_affinity_list", "0," * 3000 + "1"),
        (f"{CPU}/cpu7/online", "yes"),
        (f"{CPU}/cpu7/online", None),
        # digits of other scripts are none: one reached write() as root
        ("/proc/sys/kernel/perf_event_max_sample_rate", "1٠٠"),
        ("/proc/irq/25/smp_affinity_list", "0-٣"),
        ("/proc/irq/٢٥/smp_affinity_list", "1"),
        (f"{CPU}/cpu٧/online", "1"),
        (f"{CPU}/cpu٣/cpufreq/scaling_governor", "performance"),
    ],
)
def test_a_value_of_another_type_is_none(path, text):
    assert plain_value(path, text) is None


def test_the_items_are_named_once():
    assert len({one.item for one in SETTINGS} - {"partition"}) == len(SETTINGS)
