from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from harness.host.activity import Host
from harness.host.facts import own_group
from harness.host.state import IN_FILES, OwnGroup, Tree, format_cpus, parse_cpus, path_of
from tests.hosts import trees as hosts

CPU = hosts.CPU


@pytest.fixture
def host():
    opened = []

    def make(tree, folder=None):
        made = Host(hosts.lent(tree) if folder is None else hosts.plant(folder, tree))
        opened.append(made)
        return made

    yield make
    for made in opened:
        made.close()


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0-2,5\n", (0, 1, 2, 5)),
        ("", ()),
        ("7", (7,)),
        ("3,1,2", (1, 2, 3)),
        ("0-8:2/4", (0, 1, 4, 5, 8)),
        (" 0 , 2-3 ", (0, 2, 3)),
    ],
)
def test_a_cpu_list_is_read_as_the_kernel_writes_it(text, cpus):
    assert parse_cpus(text) == cpus


@pytest.mark.parametrize(
    "text", ["a", "3-1", "0-", "-1", "0-3:1/0", "1 2", "(null)", "0x1", "٣", "1-²"]
)
def test_what_is_no_cpu_list_is_refused(text):
    with pytest.raises(ValueError, match=r"CPU number|empty range"):
        parse_cpus(text)


@pytest.mark.parametrize(
    ("cpus", "text"), [((0, 1, 2, 5), "0-2,5"), ((), ""), ((5, 4), "4-5"), ((3, 3), "3")]
)
def test_a_cpu_list_is_written_as_the_kernel_does(cpus, text):
    assert format_cpus(cpus) == text


def test_an_intel_laptop_is_read(host):
    state = host(hosts.intel_pstate()).read((3,))
    assert state.cpu_model == "Intel(R) Core(TM) i7-8565U CPU @ 1.80GHz"
    assert state.cpus == (3,)
    assert state.usable == tuple(range(8))
    assert (state.topology.cores, state.topology.nodes) == (4, (0,))
    third = state.topology.cpu(3)
    assert (third.siblings, third.governor, third.highest) == ((3, 7), "powersave", 4_200_000)
    assert (state.turbo.on, state.turbo.value) == (True, "0")
    assert state.virtual == "none"
    assert state.smt_active is True
    assert [supply.name for supply in state.supplies] == ["AC", "BAT0"]  # the mouse is not ours
    assert [(zone.name, zone.readable) for zone in state.energy] == [("package-0", False)]
    assert state.vulnerabilities == {"meltdown": "Mitigation: PTI"}
    assert state.nohz_full is None  # "(null)" is no list


def test_the_package_sensor_counts_and_not_the_board_or_one_core(host):
    made = host(hosts.intel_pstate())
    assert made.temperature_c() == 93.0
    assert made.read().temperature_limit_c == 100.0


def test_tdie_is_preferred_to_tctl_and_the_hottest_of_two_packages_counts(host):
    assert host(hosts.amd()).temperature_c() == 41.5
    assert host(hosts.numa()).temperature_c() == 46.0


@pytest.mark.parametrize("text", ["-128000", "0", "255000", "N/A", ""])
def test_a_broken_sensor_is_unknown(host, text):
    tree = hosts.amd() | {"sys/class/hwmon/hwmon1/temp2_input": text}
    assert host(tree).temperature_c() is None


def test_an_arm_board_is_named_by_its_numbers(host):
    state = host(hosts.arm_biglittle()).read()
    assert state.cpu_model == "Radxa ROCK 5B (implementer 0x41 part 0xd05, 0xd0b)"
    assert [cpu.capacity for cpu in state.topology.cpus] == [381] * 4 + [1024] * 4
    assert state.topology.cpu(0).package is None
    assert (state.temperature_limit_c, state.virtual, state.turbo.on) == (85.0, None, None)


def test_a_guest_knows_its_hypervisor_and_without_firmware_its_clock_tells(host):
    tree = hosts.vm_no_cpufreq()
    state = host(tree).read()
    assert (state.virtual, state.virtual_path) == ("kvm or qemu", "/sys/class/dmi/id/sys_vendor")
    assert state.topology.cpu(0).governor is None
    del tree["sys/class/dmi/id/sys_vendor"]
    assert host(tree).read().virtual == "kvm"


def test_a_container_with_a_quota_is_read(host):
    made = host(hosts.container())
    state = made.read()
    assert (state.container, state.quota_cpus, state.quota_path) == (
        "podman",
        1.5,
        "/sys/fs/cgroup/cpu.max",
    )
    assert state.usable == (2, 3)
    assert made.counters().quota_throttled == 41
    assert made.machine_id() is None  # an empty file names no machine


def test_a_quota_of_a_parent_group_counts(host):
    tree = hosts.amd() | {"sys/fs/cgroup/user.slice/cpu.max": "50000 100000\n"}
    state = host(tree).read()
    assert (state.quota_cpus, state.quota_path) == (0.5, "/sys/fs/cgroup/user.slice/cpu.max")


def test_a_quota_of_cgroup_version_1_is_read(host):
    tree = hosts.amd() | {
        "proc/self/cgroup": "4:cpu,cpuacct:/box\n0::/\n",
        "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": "25000\n",
        "sys/fs/cgroup/cpu/box/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }
    assert host(tree).read().quota_cpus == 0.25


def test_nodes_packages_and_isolation_are_read(host):
    state = host(hosts.numa()).read()
    assert (state.topology.nodes, state.topology.cores) == ((0, 1), 16)
    assert state.topology.cpu(15).siblings == (15, 31)
    assert (state.topology.cpu(7).node, state.topology.cpu(8).node) == (0, 1)
    assert state.isolated == (14, 15, 30, 31)


def test_partitions_of_cpusets_are_isolated_too(host):
    tree = hosts.numa() | {"sys/fs/cgroup/cpuset.cpus.isolated": "4\n"}
    assert host(tree).read().isolated == (4, 14, 15, 30, 31)


def test_a_kernel_that_shows_nothing_gives_nothing(host):
    made = host(hosts.bare())
    state, counters = made.read(), made.counters()
    assert state.topology.cpus == ()
    assert state.usable == ()
    for name in ("cpu_model", "aslr", "thp", "isolated", "supplies", "energy", "virtual", "smt"):
        assert getattr(state, name) is None, name
    for name in ("steal_s", "load_1min", "irqs", "swapped_in_pages", "kernel_alarms", "throttled"):
        assert getattr(counters, name) is None, name
    assert (made.steal_s((0,)), made.frequency_khz(0), made.temperature_c()) == (None, None, None)


@pytest.mark.parametrize("word", ["unknown", "<unsupported>", "", "\0\xff", "-", "1e9", "9" * 30])
@pytest.mark.parametrize("name", sorted(hosts.TREES))
def test_garbage_is_unknown_and_never_a_crash(host, name, word):
    made = host(hosts.garbage(hosts.TREES[name](), word))
    state, counters = made.read((0,)), made.counters((0,))
    assert state.aslr is None
    assert state.memory_total_bytes is None
    assert counters.steal_s is None
    assert counters.load_1min is None or word == "9" * 30
    assert made.temperature_c() is None


@pytest.mark.parametrize("name", sorted(set(hosts.TREES) - {"bare"}))
def test_files_that_cannot_be_read_are_unknown(host, name):
    tree = {
        path: None if text != "EMPTY FOLDER" else text for path, text in hosts.TREES[name]().items()
    }
    made = host(tree)
    assert made.read().topology.cpus == ()
    assert made.counters().uptime_s is None


def test_256_cpus_are_read(host):
    tree = hosts.base(256, threads=2, nodes=4)
    made = host(tree | {"proc/stat": hosts.stat(256, steal=3)})
    state = made.read((255,))
    assert len(state.topology.cpus) == 256
    assert (state.topology.cores, state.topology.nodes) == (128, (0, 1, 2, 3))
    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert made.steal_s((1, 255)) == pytest.approx(6 * tick)


def test_cpus_are_found_without_sys(host):
    tree = hosts.amd()
    del tree[f"{CPU}/online"]
    assert host(tree).read().topology.numbers == tuple(range(8))


def test_a_sibling_list_without_the_cpu_itself_is_no_list(host):
    tree = hosts.amd() | {f"{CPU}/cpu3/topology/thread_siblings_list": "1-2\n"}
    state = host(tree).read()
    assert state.topology.cpu(3).siblings is None
    assert state.topology.cores is None


def test_hybrid_cores_are_told_apart(host):
    tree = hosts.amd() | {
        "sys/devices/cpu_core/cpus": "0-3\n",
        "sys/devices/cpu_atom/cpus": "4-7\n",
    }
    cpus = host(tree).read().topology.cpus
    assert [cpu.performance for cpu in cpus] == [True] * 4 + [False] * 4


@pytest.mark.parametrize(
    ("files", "on"),
    [
        ({f"{CPU}/intel_pstate/no_turbo": "1"}, False),
        ({f"{CPU}/intel_pstate/no_turbo": "0"}, True),
        ({f"{CPU}/cpufreq/boost": "1"}, True),
        ({f"{CPU}/amd_pstate/cpb_boost": "disabled"}, False),
        ({f"{CPU}/cpu2/cpufreq/boost": "1"}, True),
        (
            {f"{CPU}/cpu2/cpufreq/boost": "0", f"{CPU}/cpu3/cpufreq/boost": "1"},
            True,
        ),  # on one is on
        ({f"{CPU}/cpu2/cpufreq/cpb": "0"}, False),
        ({f"{CPU}/cpu1/cpufreq/boost": "1"}, None),  # of another CPU than the one asked about
        ({f"{CPU}/intel_pstate/no_turbo": "5"}, None),
        ({}, None),
    ],
)
def test_turbo_is_read_from_each_vendors_switch(host, files, on):
    assert host(hosts.base(4) | files).read((2, 3)).turbo.on is on


def test_counters_belong_to_the_cpus_asked_for(host):
    tree = hosts.amd() | {"proc/interrupts": hosts.interrupts([5, 6, 7, 0, 0, 0, 0, 0])}
    made = host(tree)
    assert made.counters((1, 2)).irqs == {"25 nvme0q1": 13}  # neither the timer nor silent ones
    assert made.counters((3,)).irqs == {}
    assert made.counters((3,)).runnable == 0  # the reader itself is not counted
    assert made.counters((3,)).frequency_khz == {3: 2_849_000}


def test_package_throttle_counts_are_not_added_up(host):
    counters = host(hosts.intel_pstate()).counters((0, 1))
    assert counters.throttled == 3 + 3 + 12


def test_steal_follows_the_file_that_stays_open(host, tmp_path):
    made = host(hosts.vm_no_cpufreq(), tmp_path)
    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert made.steal_s((1,)) == pytest.approx(70000 * tick)
    (tmp_path / "proc/stat").write_text(hosts.stat(2, steal=70001))
    assert made.steal_s((1,)) == pytest.approx(70001 * tick)
    assert made.steal_s((5,)) is None


def test_a_missing_file_is_tried_once_only(host, tmp_path):
    made = host(hosts.bare(), tmp_path)
    assert made.frequency_khz(0) is None
    hosts.plant(tmp_path, {f"{CPU}/cpu0/cpufreq/scaling_cur_freq": "1000\n"})
    assert made.frequency_khz(0) is None
    with Host(tmp_path) as fresh:
        assert fresh.frequency_khz(0) == 1000


def test_alarms_of_the_kernel_log_are_collected_once_and_in_order(host, tmp_path):
    made = host(hosts.vm_no_cpufreq(), tmp_path)
    first = made.counters().kernel_alarms
    assert first == ("[4.000] Out of memory: Killed process 77 (cc1plus)",)
    with (tmp_path / "dev/kmsg").open("a") as log:
        log.write("6,10,5000000,-;eth0: link up\n")
        log.write("2,11,6000000,-;mce: [Hardware Error]: Machine check events logged\n")
    assert made.counters().kernel_alarms == (
        *first,
        "[6.000] mce: [Hardware Error]: Machine check events logged",
    )


@pytest.mark.parametrize(
    ("line", "alarming"),
    [
        ("CPU0: Core temperature above threshold, cpu clock throttled (total events = 1)", True),
        ("INFO: task jbd2:88 blocked for more than 120 seconds.", True),
        ("watchdog: BUG: soft lockup - CPU#1 stuck for 22s!", True),
        ("clocksource: Marking clocksource 'tsc' as unstable because the skew is too large", True),
        ("EDAC MC0: 1 CE memory read error on CPU_SrcID#0", True),
        ("sched: RT throttling activated", True),
        ("mce: CPU supports 10 MCE banks", False),
        ("MCE: In-kernel MCE decoding enabled.", False),
        ("EDAC MC: Ver: 3.0.0", False),
        ("clocksource: Switched to clocksource tsc", False),
    ],
)
def test_which_kernel_messages_alarm(host, line, alarming):
    made = host({"dev/kmsg": f"4,1,1000000,-;{line}\n"})
    assert bool(made.counters().kernel_alarms) is alarming


def test_the_machine_id_is_hashed_and_never_shown(host):
    made = host(hosts.amd())
    assert made.machine_id() == hashlib.sha256(hosts.MACHINE_ID.encode()).hexdigest()
    assert hosts.MACHINE_ID not in str(made.read())
    assert made.boot_id() == "11111111-2222-3333-4444-555555555555"
    assert made.umask() == "0022"


def test_a_value_in_a_file_of_its_own_is_read_from_where_it_is_said_to_stand(host):
    for name, (path, how) in IN_FILES.items():
        text, value = {"number": ("7", 7), "cpus": ("1-2", (1, 2))}.get(how, ("[word]", "[word]"))
        state = host({path.lstrip("/"): text}).read()
        assert getattr(state, name) == (value.strip("[]") if how == "chosen" else value), name
        assert path_of(name) == path


def test_this_very_process_is_read():
    with Host() as here:
        assert here.thread_count(os.getpid()) >= 1
        state = here.read()
        assert set(state.usable) == os.sched_getaffinity(0)
        assert here.steal_s(state.usable[:1]) is not None
    with Host() as here:
        assert here.thread_count(2**30) is None


def test_close_gives_the_files_back(leaks):
    place = hosts.lent(hosts.amd())
    before = leaks(place)
    with Host(place) as made:
        made.counters()
        assert leaks(place) > before
    assert leaks(place) == before


def test_a_partition_around_this_process_isolates_where_the_kernel_lists_none():
    # Linux 6.1 has no cpuset.cpus.isolated, and its cpu/isolated stays empty
    group = "sys/fs/cgroup/user.slice/session.scope"
    tree = hosts.amd() | {
        f"{hosts.CPU}/isolated": "\n",
        f"{group}/cpuset.cpus.partition": "isolated\n",
        f"{group}/cpuset.cpus.effective": "2,6\n",
    }
    with Host(hosts.lent(tree)) as host:
        assert host.read().isolated == (2, 6)
    tree[f"{group}/cpuset.cpus.partition"] = "isolated invalid (no reason)\n"
    with Host(hosts.lent(tree)) as host:
        assert host.read().isolated == ()


# --- What a tree of files says that cannot be read. Authority: open(2), EMFILE and ENFILE are about the process and the host.


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_that_no_more_files_can_be_opened_is_not_said_of_a_file(tmp_path, monkeypatch, number):
    def refused(*_):
        raise OSError(number, os.strerror(number))

    (tmp_path / "there").write_text("1\n")
    tree = Tree(tmp_path)
    monkeypatch.setattr(Path, "read_bytes", refused)
    monkeypatch.setattr(os, "listdir", refused)
    for look in (tree.text, tree.cpus, tree.names, tree.number):
        with pytest.raises(OSError, match=os.strerror(number)):
            look("/there")


def test_a_file_that_may_not_be_read_is_unknown(tmp_path):
    tree = Tree(tmp_path)
    assert (tree.text("/none"), tree.cpus("/none"), tree.names("/none")) == (None, None, None)


# --- The own cgroup, read from trees that are written as cgroups(7) and proc(5) describe them


MOUNT = "36 35 0:30 {root} {place} rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"


@pytest.fixture
def plant(tmp_path):
    def make(
        *,
        own="0::/user.slice/a.scope\n",
        mounts=None,
        group="sys/fs/cgroup/user.slice/a.scope",
        **files,
    ):
        mounts = MOUNT.format(root="/", place="/sys/fs/cgroup") if mounts is None else mounts
        tree = {"proc/self/cgroup": own, "proc/self/mountinfo": mounts}
        given = {
            "cgroup.procs": "17\n",
            "cgroup.controllers": "cpu memory pids\n",
            "cgroup.subtree_control": "\n",
            "cgroup.type": "domain\n",
        } | {name.replace("_", ".", 1): text for name, text in files.items()}
        tree |= {f"{group}/{name}": text for name, text in given.items() if text is not None}
        for name, text in tree.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Tree(tmp_path)

    return make


def test_a_group_of_version_2_is_described(plant):
    assert own_group(plant()) == OwnGroup(
        path="/sys/fs/cgroup/user.slice/a.scope",
        top=False,
        controllers=("cpu", "memory", "pids"),
        handed_down=(),
        others=0,
        writable=True,
    )


def test_others_in_the_group_are_counted(plant):
    assert own_group(plant(cgroup_procs="17\n18\n4711\n")).others == 2


def test_only_the_root_of_all_groups_has_no_type(plant):
    tree = plant(own="0::/\n", group="sys/fs/cgroup", cgroup_type=None)
    assert own_group(tree).top
    assert own_group(tree).path == "/sys/fs/cgroup"


def test_version_2_beside_version_1_is_found_where_it_is_mounted(plant):
    mounts = "30 29 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    mounts += MOUNT.format(root="/", place="/sys/fs/cgroup/unified")
    own = "4:memory:/jobs/8\n1:name=systemd:/\n0::/a.scope\n"
    tree = plant(own=own, mounts=mounts, group="sys/fs/cgroup/unified/a.scope")
    assert own_group(tree).path == "/sys/fs/cgroup/unified/a.scope"


def test_a_mount_that_begins_below_the_root_is_taken_off_the_path(plant):
    mounts = MOUNT.format(root="/docker/1f", place="/sys/fs/cgroup")
    tree = plant(own="0::/docker/1f/inner\n", mounts=mounts, group="sys/fs/cgroup/inner")
    assert own_group(tree).path == "/sys/fs/cgroup/inner"
    assert own_group(plant(own="0::/docker/1fff\n", mounts=mounts)) is None


def test_blanks_in_a_place_are_escaped_by_the_kernel(plant):
    mounts = MOUNT.format(root="/", place="/mnt/my\\040groups")
    tree = plant(mounts=mounts, group="mnt/my groups/user.slice/a.scope")
    assert own_group(tree).path == "/mnt/my groups/user.slice/a.scope"


@pytest.mark.parametrize(
    "seen",
    [
        {"own": "4:memory:/a\n"},  # version 1 alone
        {"own": "0::/../other\n"},  # outside of what this namespace shows
        {"mounts": ""},
        {"cgroup_procs": None},  # mounted, but not what it claims to be
    ],
)
def test_what_cannot_be_seen_is_none(plant, seen):
    assert own_group(plant(**seen)) is None


@pytest.mark.powerless
@pytest.mark.usefixtures("unreadable_files")
def test_a_group_of_somebody_else_is_not_writable(plant, tmp_path):
    tree = plant()
    group = tmp_path / "sys/fs/cgroup/user.slice/a.scope"
    (group / "cgroup.subtree_control").chmod(0o444)
    assert not own_group(tree).writable


def test_this_host_is_read_without_an_error():
    own = own_group(Tree(Path("/")))
    assert own is None or Path(own.path, "cgroup.procs").exists()
