"""Model hosts, as {path: text}: what the checks meet on typical kinds of machines.

They are composed by hand after the kernel's documented formats, not copied from real machines, and
hold only what is read. `plant` writes a tree below a folder; `lent` gives one only to read, `borrowed` one
to change. A text of None makes a file that cannot be read (a folder in its place: that fails for root too).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

CPU = "sys/devices/system/cpu"
MACHINE_ID = "0123456789abcdef0123456789abcdef"


def plant(root: Path, tree: dict[str, str | None]) -> Path:
    for folder in {name.rpartition("/")[0] for name in tree}:
        os.makedirs(f"{root}/{folder}", exist_ok=True)  # noqa: PTH103 - 140 files a tree: this is quick
    for name, text in tree.items():
        if text is None:
            (root / name).mkdir()
        elif text == "EMPTY FOLDER":
            (root / name).mkdir(exist_ok=True)
        else:
            with open(f"{root}/{name}", "w", encoding="utf-8") as file:  # noqa: PTH123 - as above
                file.write(text)
    return root


_lent: dict[Path, dict[str, str | None]] = {}


def lent(tree: dict[str, str | None]) -> Path:
    """Give a folder with a tree, only to read and until the next is asked for.

    A tree has 140 files, and most differ in one or two from another: those alone are written.
    """
    root = min(_lent, key=lambda one: len(_lent[one].items() ^ tree.items()), default=None)
    if root is None or len(_lent[root].items() ^ tree.items()) > len(tree):
        root = Path(tempfile.mkdtemp(dir=_folder().name))
        _lent[root] = {}
    there = _lent.pop(root)
    for name, _ in sorted(there.items() - tree.items(), reverse=True, key=lambda one: one[0]):
        _remove(root, name, tree)
    plant(root, dict(tree.items() - there.items()))
    _lent[root] = dict(tree)
    return root


@contextmanager
def borrowed(tree: dict[str, str | None]) -> Iterator[Path]:
    """Give a folder with a tree to change, but no modes; the next finds what it asks for."""
    root = lent(tree)
    there, left = _lent.pop(root), {}
    yield root
    for folder, folders, files in os.walk(root, topdown=False):
        for path in (Path(folder, name) for name in (*files, *folders)):
            name = path.relative_to(root).as_posix()
            if path.is_symlink():
                path.unlink()
            elif path.is_file():
                left[name] = path.read_text("utf-8")
            elif there.get(name, "") in {None, "EMPTY FOLDER"}:
                left[name] = there[name]
            else:
                with suppress(OSError):  # there is something in it
                    path.rmdir()
    _lent[root] = left


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="hosts-")


def _remove(root: Path, name: str, kept: dict[str, str | None]) -> None:
    """Remove a file, and the folders that it leaves empty."""
    path = root / name
    with suppress(OSError):  # there is something else in it
        path.rmdir() if path.is_dir() else path.unlink()
        while (path := path.parent) != root and path.relative_to(root).as_posix() not in kept:
            path.rmdir()


def ranged(numbers) -> str:
    return ",".join(map(str, numbers))


def base(count: int, *, threads: int = 1, nodes: int = 1) -> dict[str, str | None]:
    """A bare machine: `count` CPUs, sibling threads half the machine apart, as Linux numbers them."""
    cores = count // threads
    tree: dict[str, str | None] = {
        f"{CPU}/online": f"0-{count - 1}\n",
        f"{CPU}/isolated": "\n",
        f"{CPU}/nohz_full": "(null)\n",
        f"{CPU}/smt/control": "on\n" if threads > 1 else "notsupported\n",
        f"{CPU}/smt/active": f"{int(threads > 1)}\n",
        "proc/self/status": f"Name:\tpython\nUmask:\t0022\nThreads:\t1\nCpus_allowed_list:\t0-{count - 1}\n",
        "proc/self/cgroup": "0::/user.slice/session.scope\n",
        "sys/fs/cgroup/user.slice/session.scope/cpu.max": "max 100000\n",
        "sys/fs/cgroup/user.slice/session.scope/cpu.stat": "usage_usec 5\nnr_throttled 0\n",
        "proc/1/cgroup": "0::/init.scope\n",
        "proc/loadavg": "0.03 0.05 0.01 1/345 6789\n",
        "proc/uptime": "10000.00 19000.00\n",
        "proc/meminfo": "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:   12000000 kB\n"
        "SwapTotal:       2000000 kB\nSwapFree:        2000000 kB\n",
        "proc/vmstat": "nr_free_pages 1\npswpin 7\npswpout 9\n",
        "proc/cmdline": "BOOT_IMAGE=/vmlinuz-6.1.0 root=UUID=1 ro quiet\n",
        "proc/sys/kernel/hostname": "lab07\n",
        "proc/sys/kernel/osrelease": "6.1.0\n",
        "proc/sys/kernel/version": "#1 SMP Debian 6.1.0\n",
        "proc/sys/kernel/arch": "x86_64\n",
        "proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555\n",
        "proc/sys/kernel/randomize_va_space": "2\n",
        "proc/sys/kernel/numa_balancing": "0\n",
        "proc/sys/kernel/perf_event_max_sample_rate": "1\n",
        "proc/sys/kernel/sched_rt_runtime_us": "950000\n",
        "proc/sys/kernel/sched_rt_period_us": "1000000\n",
        "proc/sys/vm/swappiness": "60\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "sys/kernel/mm/transparent_hugepage/defrag": "always defer defer+madvise [madvise] never\n",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
        "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm \n",
        "sys/class/power_supply": "EMPTY FOLDER",
        "etc/machine-id": MACHINE_ID + "\n",
        "etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
        "dev/kmsg": "6,1,100,-;Linux version 6.1.0\n6,2,200,-;mce: CPU supports 10 MCE banks\n",
        "proc/stat": stat(count),
        "proc/interrupts": interrupts([100] * count),
        "proc/irq/24/smp_affinity_list": "0\n",
        "proc/irq/25/smp_affinity_list": f"0-{count - 1}\n",
        "proc/irq/25/effective_affinity_list": f"{count - 1}\n",
    }
    for cpu in range(count):
        core = cpu % cores
        siblings = [core + thread * cores for thread in range(threads)]
        tree[f"{CPU}/cpu{cpu}/topology/thread_siblings_list"] = ranged(siblings) + "\n"
        tree[f"{CPU}/cpu{cpu}/topology/core_id"] = f"{core}\n"
        tree[f"{CPU}/cpu{cpu}/topology/physical_package_id"] = f"{core * nodes // cores}\n"
    for node in range(nodes):
        members = [cpu for cpu in range(count) if cpu % cores * nodes // cores == node]
        tree[f"sys/devices/system/node/node{node}/cpulist"] = ranged(members) + "\n"
    return tree


def stat(count: int, *, steal: int = 0, user: int = 1000, running: int = 1) -> str:
    lines = [f"cpu  {user * count} 0 {500 * count} 900000 10 0 20 {steal * count} 0 0"]
    lines += [f"cpu{cpu} {user} 0 500 900000 10 0 20 {steal} 0 0" for cpu in range(count)]
    return "\n".join([*lines, "intr 5 0 0", "ctxt 1", f"procs_running {running}", ""])


def interrupts(counts: list[int]) -> str:
    header = "      " + " ".join(f"CPU{cpu}" for cpu in range(len(counts)))
    zeros = " ".join("0" for _ in counts)
    values = " ".join(map(str, counts))
    return (
        f"{header}\n  24: {zeros}  IO-APIC 5-edge acpi\n  25: {values}  PCI-MSIX 0-edge nvme0q1\n"
        f" LOC: {' '.join('999999' for _ in counts)}  Local timer interrupts\n ERR: 0\n"
    )


def cpuinfo(model: str, flags: str, microcode: str = "0xf0") -> str:
    return (
        f"processor\t: 0\nvendor_id\t: x\nmodel name\t: {model}\nmicrocode\t: {microcode}\n"
        f"flags\t\t: {flags}\n\nprocessor\t: 1\nmodel name\t: {model}\n"
    )


def with_cpufreq(
    tree: dict[str, str | None],
    cpus: range,
    *,
    governor: str,
    driver: str,
    low: int,
    high: int,
    hardware_high: int | None = None,
) -> None:
    for cpu in cpus:
        place = f"{CPU}/cpu{cpu}/cpufreq"
        tree[f"{place}/scaling_governor"] = f"{governor}\n"
        tree[f"{place}/scaling_driver"] = f"{driver}\n"
        tree[f"{place}/scaling_min_freq"] = f"{low}\n"
        tree[f"{place}/scaling_max_freq"] = f"{high}\n"
        tree[f"{place}/cpuinfo_min_freq"] = f"{low}\n"
        tree[f"{place}/cpuinfo_max_freq"] = f"{hardware_high or high}\n"
        tree[f"{place}/scaling_cur_freq"] = f"{high - 1000}\n"


def powercap(counts: dict[str, int | None], range_uj: int = 262143328850) -> dict[str, str | None]:
    """Zones of powercap by their names, as Linux numbers them: psys is one beside the packages.

    Subzones are named PACKAGE/NAME; a zone whose name begins with ``mmio `` is of the other driver.
    """
    tree: dict[str, str | None] = {"sys/class/powercap/intel-rapl/enabled": "1\n"}
    numbers: dict[str, str] = {}
    for name, count in counts.items():
        above, _, own = name.rpartition("/")
        kind = "intel-rapl-mmio" if own.startswith("mmio ") else "intel-rapl"
        folder = f"{numbers[above]}:" if above else f"{kind}:"
        folder += str(sum(other.rpartition(":")[0] + ":" == folder for other in numbers.values()))
        numbers[name] = folder
        place = f"sys/class/powercap/{folder}"
        tree[f"{place}/name"] = own.removeprefix("mmio ") + "\n"
        tree[f"{place}/energy_uj"] = None if count is None else f"{count}\n"
        tree[f"{place}/max_energy_range_uj"] = f"{range_uj}\n"
    return tree


def intel_pstate() -> dict[str, str | None]:
    """A laptop as it comes: powersave, turbo, SMT, THP always, on battery, warm."""
    tree = base(8, threads=2)
    with_cpufreq(
        tree, range(8), governor="powersave", driver="intel_pstate", low=400000, high=4200000
    )
    tree |= {
        "proc/cpuinfo": cpuinfo("Intel(R) Core(TM) i7-8565U CPU @ 1.80GHz", "fpu sse2 avx2"),
        f"{CPU}/intel_pstate/no_turbo": "0\n",
        f"{CPU}/intel_pstate/status": "active\n",
        f"{CPU}/vulnerabilities/meltdown": "Mitigation: PTI\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
        "proc/sys/kernel/perf_event_max_sample_rate": "100000\n",
        "sys/class/power_supply/AC/type": "Mains\n",
        "sys/class/power_supply/AC/online": "0\n",
        "sys/class/power_supply/BAT0/type": "Battery\n",
        "sys/class/power_supply/BAT0/status": "Discharging\n",
        "sys/class/power_supply/BAT0/capacity": "57\n",
        "sys/class/power_supply/hidpp_battery_0/type": "Battery\n",
        "sys/class/power_supply/hidpp_battery_0/scope": "Device\n",
        "sys/class/hwmon/hwmon0/name": "acpitz\n",
        "sys/class/hwmon/hwmon0/temp1_input": "25000\n",
        "sys/class/hwmon/hwmon4/name": "coretemp\n",
        "sys/class/hwmon/hwmon4/temp1_label": "Package id 0\n",
        "sys/class/hwmon/hwmon4/temp1_input": "93000\n",
        "sys/class/hwmon/hwmon4/temp1_max": "100000\n",
        "sys/class/hwmon/hwmon4/temp1_crit": "100000\n",
        "sys/class/hwmon/hwmon4/temp2_label": "Core 0\n",
        "sys/class/hwmon/hwmon4/temp2_input": "99000\n",
        "sys/class/powercap/intel-rapl:0/name": "package-0\n",
        "sys/class/powercap/intel-rapl:0/energy_uj": None,
        "sys/class/powercap/intel-rapl:0:0/name": "core\n",
    }
    for cpu in range(8):
        tree[f"{CPU}/cpu{cpu}/thermal_throttle/core_throttle_count"] = "3\n"
        tree[f"{CPU}/cpu{cpu}/thermal_throttle/package_throttle_count"] = "12\n"
    return tree


def amd() -> dict[str, str | None]:
    """A prepared server: performance, boost off, SMT off, energy readable."""
    tree = base(8)
    with_cpufreq(
        tree, range(8), governor="performance", driver="acpi-cpufreq", low=1500000, high=2850000
    )
    tree |= {
        "proc/cpuinfo": cpuinfo("AMD EPYC 7443P 24-Core Processor", "fpu sse2 avx2", "0xa0011d1"),
        f"{CPU}/cpufreq/boost": "0\n",
        f"{CPU}/smt/control": "off\n",
        "sys/class/hwmon/hwmon1/name": "k10temp\n",
        "sys/class/hwmon/hwmon1/temp1_label": "Tctl\n",
        "sys/class/hwmon/hwmon1/temp1_input": "60000\n",
        "sys/class/hwmon/hwmon1/temp2_label": "Tdie\n",
        "sys/class/hwmon/hwmon1/temp2_input": "41500\n",
        "sys/class/powercap/intel-rapl:0/name": "package-0\n",
        "sys/class/powercap/intel-rapl:0/energy_uj": "123456\n",
        f"{CPU}/isolated": "6-7\n",
        f"{CPU}/nohz_full": "6-7\n",
    }
    return tree


def arm_biglittle() -> dict[str, str | None]:
    """A board with four slow and four fast cores, and a processor that tells numbers only."""
    tree = base(8)
    with_cpufreq(
        tree, range(4), governor="schedutil", driver="cpufreq-dt", low=408000, high=1800000
    )
    with_cpufreq(
        tree, range(4, 8), governor="schedutil", driver="cpufreq-dt", low=408000, high=2208000,
        hardware_high=2400000,
    )  # fmt: skip
    parts = "".join(
        f"processor\t: {cpu}\nFeatures\t: fp asimd aes\nCPU implementer\t: 0x41\n"
        f"CPU part\t: {'0xd05' if cpu < 4 else '0xd0b'}\n\n"
        for cpu in range(8)
    )
    for name in list(tree):
        # No SMT control and no package ids there; nodes are not shown without NUMA.
        if name.startswith(("sys/devices/system/node", f"{CPU}/smt")):
            del tree[name]
    tree |= {
        "proc/cpuinfo": parts,
        "proc/sys/kernel/arch": "aarch64\n",
        "proc/device-tree/model": "Radxa ROCK 5B\0",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "arch_sys_counter\n",
        "sys/devices/system/clocksource/clocksource0/available_clocksource": "arch_sys_counter \n",
        "sys/class/thermal/thermal_zone0/type": "soc-thermal\n",
        "sys/class/thermal/thermal_zone0/temp": "66000\n",
        "sys/class/thermal/thermal_zone0/trip_point_0_type": "passive\n",
        "sys/class/thermal/thermal_zone0/trip_point_0_temp": "85000\n",
        "sys/class/thermal/thermal_zone1/type": "gpu-thermal\n",
        "sys/class/thermal/thermal_zone1/temp": "99000\n",
        "sys/class/thermal/cooling_device0/type": "cpufreq-cpu4\n",
        "sys/class/thermal/cooling_device0/cur_state": "0\n",
    }
    for cpu in range(8):
        tree[f"{CPU}/cpu{cpu}/cpu_capacity"] = f"{381 if cpu < 4 else 1024}\n"
        tree[f"{CPU}/cpu{cpu}/topology/physical_package_id"] = "-1\n"
    return tree


def vm_no_cpufreq() -> dict[str, str | None]:
    """A small guest: no cpufreq, no sensors, no node, steal, and a log that is not for us."""
    tree = base(2)
    for name in ("sys/class/power_supply", f"{CPU}/nohz_full", "proc/sys/kernel/numa_balancing"):
        del tree[name]
    tree |= {
        "proc/cpuinfo": cpuinfo("AMD EPYC", "fpu sse2 hypervisor avx2"),
        "sys/class/dmi/id/sys_vendor": "QEMU\n",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "kvm-clock\n",
        "sys/devices/system/clocksource/clocksource0/available_clocksource": "kvm-clock tsc \n",
        "proc/stat": stat(2, steal=70000),
        "dev/kmsg": "6,1,100,-;Linux version 6.1.0\n"
        "3,9,4000000,-;Out of memory: Killed process 77 (cc1plus)\n SUBSYSTEM=mm\n",
    }
    return tree


def container() -> dict[str, str | None]:
    """A container with a CPU quota and two of eight CPUs; /sys is mostly masked."""
    tree = base(8)
    kept = ("proc/", f"{CPU}/online", "etc/")
    tree = {name: text for name, text in tree.items() if name.startswith(kept)}
    tree |= {
        "proc/cpuinfo": cpuinfo("Intel(R) Xeon(R) Gold 6248", "fpu sse2"),
        "proc/1/cgroup": "0::/\n",
        "proc/self/cgroup": "0::/\n",
        "proc/self/status": "Umask:\t0022\nCpus_allowed_list:\t2-3\n",
        "sys/fs/cgroup/cpu.max": "150000 100000\n",
        "sys/fs/cgroup/cpu.stat": "usage_usec 5\nnr_periods 900\nnr_throttled 41\n",
        "run/.containerenv": "",
        "etc/machine-id": "",
    }
    del tree["proc/irq/24/smp_affinity_list"]
    return tree


def numa() -> dict[str, str | None]:
    """Two sockets, SMT, CPUs 14, 15 and their threads isolated, memory balancing on."""
    tree = base(32, threads=2, nodes=2)
    with_cpufreq(
        tree, range(32), governor="performance", driver="intel_pstate", low=2100000, high=2100000
    )
    tree |= {
        "proc/cpuinfo": cpuinfo("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "fpu sse2 avx512f"),
        f"{CPU}/intel_pstate/no_turbo": "1\n",
        f"{CPU}/isolated": "14-15,30-31\n",
        "proc/sys/kernel/numa_balancing": "1\n",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
        "proc/loadavg": "40.00 30.00 20.00 3/345 6789\n",
    }
    for package in range(2):
        place = f"sys/class/hwmon/hwmon{package}"
        tree[f"{place}/name"] = "coretemp\n"
        tree[f"{place}/temp1_label"] = f"Package id {package}\n"
        tree[f"{place}/temp1_input"] = f"{45 + package}000\n"
        tree[f"{place}/temp1_crit"] = "94000\n"
    return tree


def bare() -> dict[str, str | None]:
    """A kernel that shows nothing at all."""
    return {"proc": "EMPTY FOLDER", "sys": "EMPTY FOLDER"}


def garbage(tree: dict[str, str | None], word: str) -> dict[str, str | None]:
    """The same files, each with a text that means nothing."""
    return {
        name: word if text not in {None, "EMPTY FOLDER"} else text for name, text in tree.items()
    }


TREES = {
    "intel_pstate": intel_pstate,
    "amd": amd,
    "arm_biglittle": arm_biglittle,
    "vm_no_cpufreq": vm_no_cpufreq,
    "container": container,
    "numa": numa,
    "bare": bare,
}
