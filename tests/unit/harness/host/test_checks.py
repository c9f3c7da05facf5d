from __future__ import annotations

import subprocess
from dataclasses import replace
from functools import cache

import pytest

from analysis.record.trial_files import Finding
from harness.host.activity import Host
from harness.host.checks import CHECK_NAMES, CHECKS, check_before, check_between, fatal_findings
from harness.host.state import (
    Busy,
    CountedEvent,
    CounterLook,
    GapLook,
    Gaps,
    HostCounters,
    HostState,
    MissingEvent,
    Situation,
    Topology,
)
from tests.hosts import trees as hosts

CPU = hosts.CPU


@cache
def read(files, cpus):
    with Host(hosts.lent(dict(files))) as host:
        return host.read(cpus), host.counters(cpus)


def examine(tree, cpus=(3,), **options):
    state, counters = read(frozenset(tree.items()), cpus)
    findings = check_before(Situation(state=state, counters=counters, cpus=cpus, **options))
    return {finding.check: finding for finding in findings}


SCOPE = "sys/fs/cgroup/user.slice/session.scope"
GROUP = {
    "proc/self/mountinfo": "36 35 0:30 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n",
    f"{SCOPE}/cgroup.type": "domain\n",
    f"{SCOPE}/cgroup.procs": "1\n",
    f"{SCOPE}/cgroup.controllers": "cpu memory pids\n",
    f"{SCOPE}/cgroup.subtree_control": "\n",
}

# check, recorded tree, what is different in it, the answer, a word that must be in its sentence
BEFORE = [
    ("governor", "amd", {}, "ok", "'performance' (driver acpi-cpufreq)"),
    ("governor", "intel_pstate", {}, "warn", "cpu3 runs 'powersave' (driver intel_pstate)"),
    ("governor", "vm_no_cpufreq", {}, "unknown", "host of this virtual machine decides"),
    ("turbo", "amd", {}, "ok", "off"),
    ("turbo", "numa", {}, "ok", "off"),
    ("turbo", "intel_pstate", {}, "warn", "on"),
    ("turbo", "amd", {f"{CPU}/cpufreq/boost": "1"}, "warn", "on"),
    ("turbo", "arm_biglittle", {}, "unknown", "no switch"),
    ("smt", "amd", {}, "ok", "no other thread"),
    ("smt", "numa", {f"{CPU}/isolated": "19"}, "ok", "cpu19 on the core of cpu3 is isolated"),
    ("smt", "intel_pstate", {}, "warn", "cpu3 shares its core with cpu7"),
    ("smt", "vm_no_cpufreq", {}, "unknown", "threads of shared cores"),
    ("smt", "container", {}, "unknown", "does not show which CPUs share a core"),
    ("frequency", "numa", {}, "ok", "fixed at 2.10 GHz"),
    ("frequency", "amd", {}, "ok", "between 1.50 GHz and 2.85 GHz"),
    ("frequency", "arm_biglittle", {f"{CPU}/cpu4/cpufreq/cpuinfo_max_freq": "2208000"}, "warn",
     "different frequency limits"),
    ("frequency", "amd", {f"{CPU}/cpu3/cpufreq/scaling_max_freq": "2000000"}, "warn", "held below 2.00 GHz of 2.85 GHz"),
    ("frequency", "vm_no_cpufreq", {}, "unknown", "no frequency limits"),
    ("aslr", "amd", {}, "ok", "new address layout"),
    ("aslr", "amd", {"proc/sys/kernel/randomize_va_space": "0"}, "warn", "off"),
    ("aslr", "amd", {"proc/sys/kernel/randomize_va_space": "1"}, "warn", "partly"),
    ("aslr", "bare", {}, "unknown", "does not show"),
    ("thp", "amd", {}, "ok", "'madvise'"),
    ("thp", "intel_pstate", {}, "warn", "'always'"),
    ("thp", "container", {}, "unknown", "huge pages"),
    ("numa", "intel_pstate", {}, "ok", "one node"),
    ("numa", "numa", {"proc/sys/kernel/numa_balancing": "0"}, "ok", "no memory between"),
    ("numa", "numa", {}, "warn", "moves memory"),
    ("numa", "bare", {}, "unknown", "does not show"),
    ("swap", "amd", {}, "ok", "12.3 GB of 16.4 GB"),
    (
        "swap",
        "amd",
        {"proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 900000 kB\nSwapTotal: 0 kB\n"},
        "warn",
        "only 922 MB",
    ),
    ("swap", "bare", {}, "unknown", "cannot be read"),
    ("cgroup", "amd", {}, "unknown", "no cgroup of version 2"),
    ("cgroup", "amd", GROUP, "ok", "each run can have a cgroup: memory"),
    ("cgroup", "amd", GROUP | {f"{SCOPE}/cgroup.procs": "1\n2\n"}, "unknown", "other processes"),
    (
        "cgroup",
        "amd",
        GROUP
        | {f"{SCOPE}/cgroup.procs": "1\n2\n", f"{SCOPE}/cgroup.subtree_control": "memory pids\n"},
        "ok",
        "each run can have a cgroup",
    ),
    ("cgroup", "amd", GROUP | {f"{SCOPE}/cgroup.controllers": "cpu\n"}, "unknown", "no controller"),
    ("load", "amd", {}, "ok", "0.03 over 1 min on 8 CPUs, 0 other threads"),
    ("load", "amd", {"proc/loadavg": "1.50 1 1 2/30 9"}, "warn", "1.50"),
    ("load", "amd", {"proc/stat": hosts.stat(8, running=12)}, "warn", "11 other threads"),
    ("load", "numa", {}, "fail", "40.00 over 1 min on 32 CPUs"),
    ("load", "bare", {}, "unknown", "cannot be read"),
    ("steal", "amd", {}, "ok", "no hypervisor"),
    ("steal", "vm_no_cpufreq", {"proc/stat": hosts.stat(2)}, "unknown", "none"),
    ("steal", "vm_no_cpufreq", {"proc/stat": hosts.stat(2, steal=300)}, "ok", "0.03 % of cpu1"),
    ("steal", "vm_no_cpufreq", {"proc/stat": hosts.stat(2, steal=5000)}, "warn", "0.5 % of cpu1"),
    ("steal", "vm_no_cpufreq", {}, "fail", "7 %"),
    ("steal", "bare", {}, "unknown", "does not show"),
    ("throttle", "amd", {f"{CPU}/cpu3/thermal_throttle/core_throttle_count": "0"}, "ok", "never slowed down"),
    ("throttle", "arm_biglittle", {}, "ok", "not slowed down now"),
    ("throttle", "intel_pstate", {}, "warn", "15 times since boot"),
    ("throttle", "container", {}, "warn", "quota stopped this cgroup 41 times"),
    ("throttle", "arm_biglittle", {"sys/class/thermal/cooling_device0/cur_state": "2"}, "fail", "right now"),
    ("throttle", "vm_no_cpufreq", {}, "unknown", "does not count"),
    ("temperature", "amd", {}, "ok", "42 °C"),
    ("temperature", "arm_biglittle", {}, "ok", "66 °C, its limit is 85 °C"),
    ("temperature", "intel_pstate", {}, "warn", "93 °C, its limit is 100 °C"),
    ("temperature", "amd", {"sys/class/hwmon/hwmon1/temp2_input": "86000"}, "warn", "86 °C"),
    ("temperature", "vm_no_cpufreq", {}, "unknown", "no processor temperature"),
    (
        "irq",
        "amd",
        {"proc/interrupts": hosts.interrupts([20_000_000] * 8)},
        "warn",
        "0 device interrupts a second on cpu3",  # never 2e+03
    ),
    ("irq", "amd", {}, "ok", "0.01 device interrupts a second on cpu3"),
    ("irq", "amd", {"proc/interrupts": hosts.interrupts([2_000_000] * 8)}, "warn", "most from 25 nvme0q1"),
    # numbered, and each CPU's own: its timer, on Arm and RISC-V
    ("irq", "amd", {"proc/interrupts": "     CPU3\n 11: 9999999  GICv3  27 Level  arch_timer\n 12: 7  GICv3  42 Level  eth0\n"},
     "ok", "0.0007 device interrupts"),
    ("irq", "amd", {"proc/interrupts": "     CPU3\n 5: 9999999  RISC-V INTC  5 Edge  riscv-timer\n"}, "ok", "0 device interrupts"),
    ("irq", "bare", {}, "unknown", "cannot be read"),
    ("isolation", "amd", {f"{CPU}/isolated": "3", f"{CPU}/nohz_full": "3"}, "ok", "without timer"),
    ("isolation", "amd", {f"{CPU}/isolated": "3"}, "ok", "still ticks"),
    ("isolation", "intel_pstate", {}, "warn", "cpu3 is not isolated"),
    ("isolation", "container", {}, "unknown", "does not show"),
    ("perf_rate", "amd", {}, "ok", "once a second"),
    ("perf_rate", "intel_pstate", {}, "warn", "100,000 times a second"),
    ("perf_rate", "bare", {}, "unknown", "does not show"),
    ("virtual", "amd", {}, "ok", "bare metal"),
    ("virtual", "amd", {"run/.containerenv": ""}, "ok", "container (podman) on bare metal"),
    ("virtual", "vm_no_cpufreq", {}, "warn", "virtual machine (kvm or qemu)"),
    ("virtual", "container", {}, "warn", "quota of 1.5 CPUs"),
    ("virtual", "arm_biglittle", {}, "unknown", "does not show"),
    ("clock", "amd", {}, "ok", "tsc"),
    ("clock", "arm_biglittle", {}, "ok", "arch_sys_counter"),
    ("clock", "numa", {}, "warn", "'hpet' is slow"),
    (
        "clock",
        "amd",
        {
            "sys/devices/system/clocksource/clocksource0/current_clocksource": "refined-jiffies",
            "sys/devices/system/clocksource/clocksource0/available_clocksource": "refined-jiffies",
        },
        "fail",
        "'refined-jiffies' is slow",
    ),
    (
        "clock",
        "amd",
        {"sys/devices/system/clocksource/clocksource0/current_clocksource": "sundial"},
        "unknown",
        "'sundial'",
    ),
    ("clock", "bare", {}, "unknown", "cannot be read"),
    ("kernel_log", "amd", {}, "ok", "no alarming message"),
    ("kernel_log", "vm_no_cpufreq", {}, "warn", "1 alarming message since boot"),
    ("kernel_log", "container", {}, "unknown", "cannot be read"),
    ("battery", "amd", {}, "ok", "there is no battery"),
    ("battery", "intel_pstate", {"sys/class/power_supply/AC/online": "1",
     "sys/class/power_supply/BAT0/status": "Charging"}, "ok", "on mains"),
    ("battery", "intel_pstate", {}, "warn", "runs on its battery, 57 % left"),
    ("battery", "amd", {"sys/firmware/acpi/platform_profile": "low-power"}, "warn", "'low-power'"),
    ("battery", "vm_no_cpufreq", {}, "unknown", "no power supplies"),
    ("energy", "amd", {}, "ok", "package-0"),
    ("energy", "intel_pstate", {}, "unknown", "are closed to this user: energy will not be recorded"),
    ("energy", "numa", {}, "unknown", "no /sys/class/powercap: energy will not be recorded"),
    ("energy", "numa", {"sys/class/powercap/intel-rapl:0/name": "psys",
     "sys/class/powercap/intel-rapl:0/energy_uj": "1"}, "unknown", "no package in /sys/class/powercap"),
    ("energy", "vm_no_cpufreq", {}, "unknown", "the counters belong to its host"),
    ("rt_throttle", "amd", {}, "ok", "not applicable"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "tree", "changes", "status", "words"), BEFORE)
def test_what_a_check_finds_on_a_recorded_host(check, tree, changes, status, words):
    cpus = (1,) if tree == "vm_no_cpufreq" else (3, 4) if tree == "arm_biglittle" else (3,)
    finding = examine(hosts.TREES[tree]() | changes, cpus)[check]
    assert (finding.status, words in finding.what) == (status, True), finding


def test_every_check_is_shown_in_each_of_its_answers():
    answers = {name: set() for name in CHECK_NAMES}
    for check, _, _, status, _ in BEFORE:
        answers[check].add("warn" if status == "fail" else status)
    # disk, gaps and rt_throttle need arguments and are shown below, counters in a file of their own;
    # energy warns nobody, and nothing depends on a cgroup.
    alone = {"disk", "rt_throttle", "energy", "gaps", "users", "counters", "cgroup"}
    for name in set(CHECK_NAMES) - alone:
        assert answers[name] == {"ok", "warn", "unknown"}, name


@pytest.mark.parametrize(
    ("runtime", "status", "words"),
    [
        ("-1", "ok", "not limited"),
        ("1000000", "ok", "not limited"),
        ("950000", "warn", "more than 950 ms in 1000 ms"),
        ("0", "fail", "forbidden"),
        ("soon", "unknown", "does not show"),
    ],
)
def test_real_time_throttling_matters_to_fifo_only(runtime, status, words):
    tree = hosts.amd() | {"proc/sys/kernel/sched_rt_runtime_us": runtime}
    finding = examine(tree, fifo=True)["rt_throttle"]
    assert (finding.status, words in finding.what) == (status, True), finding
    assert examine(tree)["rt_throttle"].status == "ok"
    assert subprocess.run(["sh", "-nc", finding.fix or ":"], check=False).returncode == 0


def gap(cpu, share, count=7):
    return Gaps(cpu=cpu, looked_s=0.2, lost_s=0.2 * share, count=count, longest_s=0.0041)


@pytest.mark.parametrize(
    ("look", "status", "words"),
    [
        (GapLook(gaps=(gap(3, 0.0, 0),)), "ok", "cpu3 lost 0.00 % of 200 ms to others"),
        (GapLook(gaps=(gap(3, 0.0099),)), "ok", "cpu3 lost 0.99 % of 200 ms to others: 7 gaps"),
        (GapLook(gaps=(gap(3, 0.01),)), "warn", "7 gaps, the longest 4.10 ms"),
        (GapLook(gaps=(gap(2, 0.02), gap(3, 0.1))), "fail", "; the worst of cpus 2-3"),
        (GapLook(problem="the targets are not pinned"), "unknown", "the targets are not pinned"),
    ],
)
def test_what_others_take_of_a_cpu_counts_whoever_they_are(look, status, words):
    finding = examine(hosts.amd(), gaps=look)["gaps"]
    assert (finding.status, words in finding.what) == (status, True), finding


def test_the_busiest_programs_are_named_where_something_is_taken():
    busy = (Busy(name="cc1plus", share=0.98), Busy(name="Web Content", share=0.4))
    said = "; busiest meanwhile, in % of a CPU: cc1plus 98 %, Web Content 40 %"
    loaded = hosts.amd() | {"proc/loadavg": "1.50 1 1 2/30 9"}
    look = GapLook(gaps=(gap(3, 0.1),), busiest=busy)
    found = examine(loaded, gaps=look)
    assert found["load"].what.endswith(said)
    assert found["gaps"].what.endswith(said)
    quiet = examine(hosts.amd(), gaps=GapLook(gaps=(gap(3, 0),), busiest=busy))
    assert not any("busiest" in quiet[name].what for name in ("load", "gaps"))


@pytest.mark.parametrize(
    ("others", "status", "words"),
    [
        (None, "unknown", "does not list"),
        (0, "ok", "nobody else"),
        (1, "warn", "1 other user logged in"),
        (3, "warn", "3 other users logged in"),
    ],
)
def test_who_else_is_logged_in(others, status, words):
    finding = examine(hosts.amd(), others_logged_in=others)["users"]
    assert (finding.status, words in finding.what) == (status, True), finding
    assert subprocess.run(["sh", "-nc", finding.fix or ":"], check=False).returncode == 0


@pytest.mark.parametrize(
    ("free", "needed", "status"),
    [
        (81 * 10**9, 10**6, "ok"),
        (3 * 10**9, 2 * 10**9, "warn"),
        (10**8, 10**6, "warn"),
        (10**6, 10**7, "fail"),
        (None, 0, "unknown"),
    ],
)
def test_the_disk_must_hold_the_results(free, needed, status):
    options = {"free_bytes": free, "needed_bytes": needed, "runs_path": "-d $(x)"}
    finding = examine(hosts.amd(), **options)["disk"]
    assert finding.status == status
    assert finding.fix is None or "df -h './-d $(x)';" in finding.fix


@pytest.mark.parametrize(
    ("tree", "fix"),
    [
        ("intel_pstate", "sudo chmod a+r /sys/class/powercap/intel-rapl:0/energy_uj"),
        ("vm_no_cpufreq", "measure on the machine itself"),
        ("container", "measure outside of the container"),
        ("numa", "sudo modprobe intel_rapl_msr"),
    ],
)
def test_who_asks_for_energy_is_failed_where_it_cannot_be_had(tree, fix):
    finding = examine(hosts.TREES[tree](), energy=True)["energy"]
    assert (finding.status, fix in finding.fix) == ("fail", True), finding
    assert examine(hosts.amd(), energy=True)["energy"].status == "ok"


def test_a_campaign_without_aslr_is_not_warned_about_it():
    tree = hosts.amd() | {"proc/sys/kernel/randomize_va_space": "0"}
    assert examine(tree, aslr=False)["aslr"].status == "ok"


def test_cpus_on_two_nodes_are_warned_about():
    finding = examine(hosts.numa(), (7, 8))["numa"]
    assert (finding.status, finding.what[:35]) == ("warn", "the measured CPUs are on nodes 0-1:")


@pytest.mark.parametrize(
    ("check", "tree", "cpus", "where", "fix"),
    [
        (
            "governor",
            "intel_pstate",
            (3,),
            f"/{CPU}/cpu3/cpufreq/scaling_governor = powersave",
            "sudo cpupower -c 3 frequency-set -g performance",
        ),
        ("governor", "intel_pstate", (1, 2, 3), None, "sudo cpupower -c 1-3 frequency-set -g performance"),
        (
            "turbo",
            "intel_pstate",
            (3,),
            f"/{CPU}/intel_pstate/no_turbo = 0",
            f"echo 1 | sudo tee /{CPU}/intel_pstate/no_turbo",
        ),
        ("smt", "intel_pstate", (3,), f"/{CPU}/smt/control = on", f"echo off | sudo tee /{CPU}/smt/control"),
        ("numa", "numa", (3,), "/proc/sys/kernel/numa_balancing = 1", "sudo sysctl kernel.numa_balancing=0"),
        ("clock", "numa", (3,), None,
         "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ("thp", "intel_pstate", (3,), "/sys/kernel/mm/transparent_hugepage/enabled = always",
         "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
        ("isolation", "intel_pstate", (3,), f"/{CPU}/isolated = (none)",
         "add to the boot arguments: isolcpus=3 nohz_full=3 rcu_nocbs=3"),
    ],
)  # fmt: skip
def test_a_finding_says_where_it_was_read_and_the_command_that_mends_it(
    check, tree, cpus, where, fix
):
    finding = examine(hosts.TREES[tree](), cpus)[check]
    assert finding.fix == fix
    assert where is None or finding.where == where


def test_interrupts_are_moved_to_cpus_that_share_no_core_with_the_measured_ones():
    tree = hosts.intel_pstate() | {"proc/interrupts": hosts.interrupts([2_000_000] * 8)}
    assert examine(tree)["irq"].fix == "echo 0-2,4-6 | sudo tee /proc/irq/25/smp_affinity_list"
    assert "doctor" not in str(
        examine(tree, tuple(range(8)))["irq"].fix
    )  # it has said what it knows


def test_a_thread_goes_offline_alone_where_the_kernel_has_no_switch_for_all():
    tree = hosts.intel_pstate() | {f"{CPU}/smt/control": "notimplemented\n"}
    assert examine(tree)["smt"].fix == f"echo 0 | sudo tee /{CPU}/cpu7/online"


def test_boost_is_turned_off_by_the_opposite_value():
    tree = hosts.amd() | {f"{CPU}/cpufreq/boost": "1"}
    assert examine(tree)["turbo"].fix == f"echo 0 | sudo tee /{CPU}/cpufreq/boost"


@pytest.mark.parametrize("name", sorted(hosts.TREES))
def test_every_check_answers_on_every_host_in_whole_sentences(name):
    findings = examine(hosts.TREES[name](), (0,), gaps=GapLook(), events=look(counted=(CYCLES,)))
    assert tuple(findings) == CHECK_NAMES
    for finding in findings.values():
        assert finding.what
        assert finding.reason
        if finding.status in {"warn", "fail"}:
            assert finding.fix, finding


@pytest.mark.parametrize("word", ["unknown", "<unsupported>", "", "-", "\0\xff"])
def test_garbage_never_passes_for_ok(word):
    findings = examine(hosts.garbage(hosts.amd(), word), (0,))
    answered = {check for check, finding in findings.items() if finding.status != "unknown"}
    # The supplies' folder is listed, an empty log holds no alarm, FIFO is not asked for; and an
    # empty list of isolated CPUs is the kernel's way to say that there is none.
    fair = {"battery", "kernel_log", "rt_throttle"} | ({"isolation"} if word == "" else set())
    assert answered <= fair, answered


def test_the_names_are_unique_and_those_that_campaigns_have_used_stay():
    assert len(set(CHECK_NAMES)) == len(CHECK_NAMES)
    assert set(CHECK_NAMES) >= {
        "governor", "turbo", "smt", "frequency", "aslr", "thp", "numa", "swap", "load", "steal",
        "throttle", "temperature", "irq", "isolation", "perf_rate", "virtual", "clock",
        "kernel_log", "disk", "battery", "energy", "rt_throttle",
    }  # fmt: skip


def test_a_row_of_a_table_has_the_functions_of_its_check():
    for check in CHECKS:
        assert check.before.__name__ == check.name
        assert check.between is None or check.between.__name__ == f"{check.name}_between"


@pytest.fixture
def quiet():
    return read(frozenset(hosts.intel_pstate().items()), (3,))[1]


def compare(before, elapsed_s=100.0, **changes):
    after = replace(before, **changes)
    return {f.check: f for f in check_between(before, after, elapsed_s, cpus=(3,))}


def test_nothing_happened_is_ok_everywhere(quiet):
    assert {f.status for f in compare(quiet).values()} == {"ok"}


# check, what is different at the end, the answer, a word that must be in its sentence
BETWEEN = [
    ("governor", {"governors": {3: "performance"}}, "fail", "from 'powersave' to 'performance'"),
    ("turbo", {"turbo": False}, "fail", "switched off"),
    ("swap", {"swapped_in_pages": 10}, "fail", "3 pages swapped in and 0 out"),
    ("swap", {"swapped_out_pages": 10}, "fail", "0 pages swapped in and 1 out"),
    ("load", {"busy_all_s": 1e6}, "warn", "the other CPUs did work for"),
    ("steal", {}, "ok", "counted no steal"),
    ("steal", {"steal_s": 0.02}, "ok", "0.02 %"),
    ("steal", {"steal_s": 0.5}, "warn", "0.5 % of cpu3 during the session"),
    ("steal", {"steal_s": 10.0}, "fail", "10 %"),
    ("throttle", {"throttled": 16}, "fail", "1 event"),
    ("throttle", {"cooling": ("/x",)}, "fail", "heat"),
    ("throttle", {"quota_throttled": 2}, "fail", "quota stopped this cgroup 2 times"),
    ("temperature", {"temperature_c": 60.0}, "warn", "93 °C before, 60 °C after"),
    ("irq", {"irqs": {"25 nvme0q1": 50_100, "26 eth0": 3}}, "warn", "most from 25 nvme0q1"),
    ("kernel_log", {"kernel_alarms": ("[1.0] soft lockup",)}, "fail", "soft lockup"),
    ("governor", {"governors": {}}, "unknown", "no frequency governor"),
    ("turbo", {"turbo": None}, "unknown", "no switch"),
    ("swap", {"swapped_in_pages": None}, "unknown", "cannot be read"),
    ("load", {"busy_s": None}, "unknown", "cannot be read"),
    ("steal", {"steal_s": None}, "unknown", "does not show"),
    ("throttle", {"throttled": None}, "unknown", "does not count"),
    ("temperature", {"temperature_c": None}, "unknown", "no processor temperature"),
    ("irq", {"irqs": None}, "unknown", "cannot be read"),
    ("kernel_log", {"kernel_alarms": None}, "unknown", "cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("check", "changes", "status", "words"), BETWEEN)
def test_what_happened_in_between_is_found(quiet, check, changes, status, words):
    finding = compare(quiet, **changes)[check]
    assert finding.status == status, finding
    assert words in finding.what


def test_every_check_of_what_can_happen_is_shown_in_its_answers():
    answers = {check.name: set() for check in CHECKS if check.between}
    for check, _, status, _ in BETWEEN:
        answers[check].add("bad" if status in {"warn", "fail"} else status)
    for name, seen in answers.items():
        assert seen >= {"bad", "unknown"}, name


def test_the_measured_program_is_not_other_load(quiet):
    busy, total = quiet.busy_s, quiet.busy_all_s
    finding = compare(quiet, busy_s=busy + 95, busy_all_s=total + 100)["load"]
    assert (finding.status, "0.05 CPUs" in finding.what) == ("ok", True)


def test_other_load_is_unknown_when_every_cpu_is_measured(quiet):
    finding = compare(quiet, busy_s=quiet.busy_s + 95, busy_all_s=quiet.busy_all_s + 95)["load"]
    assert finding.status == "unknown"


def test_a_counter_that_went_back_is_no_negative_event(quiet):
    found = compare(quiet, throttled=0, swapped_in_pages=0, steal_s=-1.0)
    assert {found[name].status for name in ("throttle", "swap", "steal")} == {"ok"}


@pytest.mark.parametrize(("there", "fix"), [(True, "sysctl"), (False, "--device /dev/kmsg")])
def test_who_cannot_read_the_kernel_log_gets_what_would_give_it(quiet, there, fix):
    state, counters = read(frozenset(hosts.container().items()), (3,))
    assert not counters.has_log
    situation = Situation(state=state, counters=replace(counters, has_log=there), cpus=(3,))
    before = {one.check: one for one in check_before(situation)}["kernel_log"]
    after = compare(quiet, kernel_alarms=None, has_log=there)["kernel_log"]
    assert fix in before.fix == after.fix


def test_equal_alarms_count_each_time(quiet):
    before = replace(quiet, kernel_alarms=("a", "a"))
    assert compare(before)["kernel_log"].status == "ok"
    assert compare(before, kernel_alarms=("a", "a", "a"))["kernel_log"].status == "fail"


def test_no_time_between_is_unknown_and_no_division_by_zero(quiet):
    found = compare(quiet, elapsed_s=0.0)
    assert {found[name].status for name in ("load", "steal", "irq")} == {"unknown"}


ALL = tuple(
    Finding(check=check, status=status, what=f"{check} {status}")
    for check in ("load", "turbo")
    for status in ("ok", "warn", "fail", "unknown")
)


@pytest.mark.parametrize(
    ("required", "strict", "stopping"),
    [
        (("load",), False, {"load fail"}),
        (("load",), True, {"load fail", "load warn", "load unknown"}),
        ((), True, set()),
        (None, False, {"load fail", "turbo fail"}),
        (None, True, {"load fail", "turbo fail", "load warn", "turbo warn"}),
    ],
)  # fmt: skip
def test_which_findings_stop_a_trial(required, strict, stopping):
    assert {finding.what for finding in fatal_findings(ALL, required, strict=strict)} == stopping


def test_the_work_of_others_stands_with_its_value_where_it_was_read(quiet):
    # docs/trial-format.md: `where` holds the value, for readers that parse no sentence
    finding = compare(quiet, busy_all_s=quiet.busy_all_s + 85.0)["load"]
    assert finding.where == "/proc/stat = 0.85"


@pytest.mark.powerless
@pytest.mark.usefixtures("unreadable_files")
def test_a_group_that_is_not_ours_names_the_line_that_gives_one(tmp_path):
    hosts.plant(tmp_path, hosts.TREES["amd"]() | GROUP)
    (tmp_path / SCOPE / "cgroup.subtree_control").chmod(0o444)
    with Host(tmp_path) as host:
        situation = Situation(state=host.read(), counters=host.counters(), cpus=())
    (finding,) = (found for found in check_before(situation) if found.check == "cgroup")
    assert finding.status == "unknown"
    assert "may not make groups below /sys/fs/cgroup/user.slice/session.scope" in finding.what
    assert "systemd-run --user --scope -p Delegate=yes fairtrial run" in finding.fix


@pytest.mark.parametrize(
    ("groups", "status"), [(("memory", "pids"), "ok"), ((), "unknown"), (("pids",), "unknown")]
)
def test_in_a_trial_what_its_runs_have_counts(groups, status):
    found = examine(hosts.TREES["amd"](), groups=groups)["cgroup"]
    assert found.status == status


@pytest.mark.parametrize(
    ("tree", "limits", "status"),
    [
        (GROUP, {"memory": 10**8}, "ok"),
        (GROUP, {"pids": 10}, "ok"),
        ({}, {"memory": 10**8}, "fail"),
        (GROUP | {f"{SCOPE}/cgroup.controllers": "pids\n"}, {"pids": 10}, "unknown"),
        ({}, {"nofile": 10}, "unknown"),  # the kernel's own: no group is needed
        (GROUP | {f"{SCOPE}/cgroup.controllers": "cpu\n"}, {"memory": 10**8}, "fail"),
        (GROUP | {f"{SCOPE}/cgroup.procs": "1\n2\n"}, {"pids": 10}, "fail"),
    ],
)
def test_a_limit_that_no_group_can_hold_is_said_before_a_trial(tree, limits, status):
    found = examine(hosts.TREES["amd"]() | tree, limits=limits)["cgroup"]
    assert found.status == status
    if status == "fail":
        assert f"the limit '{next(iter(limits))}' cannot be held" in found.what
        assert found.fix.endswith("or drop the limit")


def test_a_campaign_that_wants_no_groups_is_not_told_that_it_has_them():
    told = examine(hosts.TREES["amd"]() | GROUP, ungrouped=True)["cgroup"]
    assert (told.status, told.where) == ("unknown", "isolation.containment = none")
    kept = examine(hosts.TREES["amd"]() | GROUP, ungrouped=True, limits={"pids": 9})
    assert kept["cgroup"].status == "ok"  # a limit asks for one all the same


# --- The check `counters`: fails for a campaign that cannot have what it asks for, is unknown in general


CYCLES = CountedEvent(name="cycles", unit="1", user_only=False)
FAULTS = CountedEvent(name="page-faults", unit="1", user_only=True)
GONE = MissingEvent(name="slots", what="not here", where="/sys/x", fix="measure elsewhere")
ALSO = MissingEvent(name="loads", what="not here", where="/sys/x", fix="measure elsewhere")
FORBIDDEN = MissingEvent(name="misses", what="not you", where="/proc/y", fix="sysctl")


def finding(events):
    state = HostState(cpus=(0,), topology=Topology(cpus=()), usable=(0,))
    situation = Situation(state=state, counters=HostCounters(cpus=(0,)), cpus=(0,), events=events)
    return next((one for one in check_before(situation) if one.check == "counters"), None)


def look(*, counted=(), missing=(), wanted=True):
    return CounterLook(counted=counted, missing=missing, wanted=wanted, paranoid=2)


def test_what_can_be_had_is_ok_and_says_what_is_left_out():
    one = finding(look(counted=(CYCLES, FAULTS)))
    assert one.status == "ok"
    assert one.what == "counted: cycles; counted without what the kernel does: page-faults"
    assert one.where == "/proc/sys/kernel/perf_event_paranoid = 2"


def test_a_campaign_that_cannot_have_an_event_fails_with_each_reason_once():
    one = finding(look(counted=(CYCLES,), missing=(GONE, ALSO, FORBIDDEN)))
    assert one.status == "fail"
    assert one.what == "slots, loads: not here; misses: not you; counted: cycles"
    assert (one.where, one.fix) == ("/sys/x", "measure elsewhere; sysctl")


def test_without_a_campaign_what_is_missing_is_unknown():
    assert finding(look(missing=(GONE,), wanted=False)).status == "unknown"
    assert finding(look(counted=(CYCLES,), wanted=False)).status == "ok"


def test_of_what_nobody_looked_at_nothing_is_said():
    assert finding(None) is None
    assert "gaps" not in examine(hosts.amd(), gaps=None)


def test_only_who_requires_it_is_stopped():
    failed = (finding(look(missing=(GONE,))),)
    assert fatal_findings(failed, ("counters",), strict=False) == failed
    assert not fatal_findings(failed, ("load",), strict=True)
    general = (finding(look(missing=(GONE,), wanted=False)),)
    assert not fatal_findings(general, None, strict=True)
