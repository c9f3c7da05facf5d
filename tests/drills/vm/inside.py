"""Executed inside the machine, as its only program: each check prints one line.

Authorities: the programs know how much memory they took; /proc and the kernel's own files for the rest.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

from trials import CGROUPS, EMPTY, MB, USER, Trial, enter, python, told

# n processes that take so many MB each and touch every page; the first ends when all have, as each
# tells: what the kernel calls resident has the interpreter in it.
TAKE = """
import os, sys
n, mb = int(sys.argv[1]), int(sys.argv[2])
r, w = os.pipe()
full, tell = os.pipe()
pids = []
for _ in range(n - 1):
    pid = os.fork()
    if not pid:
        os.close(w)
        held = bytearray(os.urandom(1000)) * (mb * 1000)
        os.write(tell, b"1")
        os.read(r, 1)
        os._exit(0)
    pids.append(pid)
os.close(tell)
held = bytearray(os.urandom(1000)) * (mb * 1000)
for p in pids:
    os.read(full, 1)
os.close(w)
for p in pids:
    os.waitpid(p, 0)
"""
DAEMON = """
import os, time
if not os.fork():
    os.setsid()
    held = bytearray(os.urandom(1000)) * 30000
    t = time.process_time()
    while time.process_time() - t < 0.5: pass
    open("ready", "w").close()
    time.sleep(600)
while not os.path.exists("ready"): time.sleep(0.05)
os.unlink("ready")
"""
FORKS = """
import os, time
n = 0
try:
    for _ in range(50):
        if not os.fork():
            time.sleep(600)
        n += 1
except OSError as error:
    print("forks:", n, error.strerror)
"""


def left():
    return [str(path) for path in CGROUPS.rglob("fairtrial-*")]


def check_memory():
    """Peaks of one process and of four at once, against what the programs took."""
    trial = Trial(
        {
            "empty": [EMPTY],
            "python": python("pass"),
            "one": python(TAKE, "1", "20"),
            "four": python(TAKE, "4", "20"),
        },
        runs=3,
    )
    rows = trial.lines("measurements.jsonl")
    peaks = {
        name: sorted(r["peak_memory_tree_bytes"] for r in rows if r["benchmark"] == name)
        for name in ("empty", "python", "one", "four")
    }
    rss = {name: trial.row(name)["max_rss_bytes"] for name in peaks}
    base = peaks["python"][1]
    told(
        "memory of all processes",
        trial.code == 0
        and trial.entry == {"controllers": "memory pids", "entry": "moved"}
        and 100_000 < peaks["empty"][0] <= peaks["empty"][2] < MB
        and peaks["one"][0] >= 20 * MB and peaks["one"][2] < base + 22 * MB
        and peaks["four"][0] >= 80 * MB and peaks["four"][2] < base + 90 * MB
        and not any(r["oom"] for r in rows),
        peaks=peaks, max_rss=rss, entry=trial.entry, exit=trial.code, said=trial.said,
    )  # fmt: skip
    off = [
        round(1e6 * (r["tree_cpu_s"] - r["user_s"] - r["system_s"]), 1)
        for r in rows if r["benchmark"] != "four"
    ]  # fmt: skip
    told(
        "processor time is the kernel's of one process",
        sorted(map(abs, off))[len(off) // 2] < 1000,
        off_us=off,
    )
    leave = sorted(r["group_leave_ns"] for r in rows)
    told("the way back, emulated", True, median_us=leave[len(leave) // 2] / 1000)
    told(
        "nothing is left, the controllers are as before",
        not left() and not handed_down(),
        left=left(),
    )


def handed_down():
    return (CGROUPS / "cgroup.subtree_control").read_text().split()


def check_limits():
    """Runs above their limits, and one after them."""
    trial = Trial(
        {"big": python(TAKE, "1", "60"), "four": python(TAKE, "4", "20"), "small": [EMPTY]},
        isolation={"cpus": "none", "limits": {"memory": "40MB"}},
    )
    big, four, small = (trial.row(name) for name in ("big", "four", "small"))
    told(
        "out of memory limit",
        all(
            (r["outcome"], r["detail"], r["oom"], r["signal"]) == ("signal", "out of memory limit", True, 9)
            for r in (big, four)
        )
        and (small["outcome"], small["oom"]) == ("ok", False)
        and big["peak_memory_tree_bytes"] <= 40 * MB,
        big=[big[k] for k in ("outcome", "detail", "oom", "peak_memory_tree_bytes")],
        four=[four[k] for k in ("outcome", "detail", "oom", "orphans")],
        small=[small["outcome"], small["oom"]],
    )  # fmt: skip
    trial = Trial(
        {"forks": python(FORKS)}, isolation={"cpus": "none", "limits": {"pids": 5}},
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
    )  # fmt: skip
    row = trial.row("forks")
    told(
        "a limit of processes",
        row["outcome"] == "ok" and row["orphans"] == 4 and row["stdout_bytes"] > 0,
        outcome=row["outcome"], orphans=row["orphans"], said=trial.said,
    )  # fmt: skip


def check_daemon():
    """A daemon that is left behind is known, and killed."""
    for containment in ("auto", "none"):
        trial = Trial(
            {"daemon": python(DAEMON)},
            isolation={"cpus": "none", "containment": containment, "limits": {"pids": 30}},
        )
        row = trial.row("daemon")
        told(
            f"a daemon left behind, containment {containment}",
            row["outcome"] == "ok" and row["orphans"] == 1
            and row["tree_cpu_s"] > row["user_s"] + row["system_s"] + 0.45
            and row["peak_memory_tree_bytes"] > 30 * MB,
            tree_cpu=row["tree_cpu_s"], rusage=row["user_s"] + row["system_s"],
            peak=row["peak_memory_tree_bytes"],
        )  # fmt: skip


def delegated(name, *, controllers=True):
    if controllers:
        (CGROUPS / "cgroup.subtree_control").write_text("+memory +pids")
    group = CGROUPS / name
    group.mkdir()
    for path in (
        group,
        group / "cgroup.procs",
        group / "cgroup.subtree_control",
        group / "cgroup.threads",
    ):
        os.chown(path, USER, USER)
    return group


def check_user():
    """A user in a group of his own, as `Delegate=yes` gives it, and in one that is not his."""
    group = delegated("scope")
    trial = Trial({"one": python(TAKE, "1", "20")}, group=group, user=True)
    row = trial.row("one") if trial.code == 0 else {}
    record = (trial.lines("environment.jsonl") or [{}])[0]
    told(
        "a delegated group of a user",
        trial.code == 0 and 20 * MB < row["peak_memory_tree_bytes"] < 60 * MB
        and trial.entry["controllers"] == "memory pids",
        peak=row.get("peak_memory_tree_bytes"), containment=record.get("containment"),
        exit=trial.code, said=trial.said,
    )  # fmt: skip
    told(
        "nothing is left of it",
        not left() and not (group / "cgroup.procs").read_text(),
        left=left(),
    )
    trial = Trial(
        {"big": python(TAKE, "1", "60")}, group=group, user=True,
        isolation={"cpus": "none", "limits": {"memory": "40MB"}},
    )  # fmt: skip
    row = trial.row("big")
    told("a user's limit", row["detail"] == "out of memory limit", detail=row["detail"])
    other = subprocess.Popen(["/bin/sleep", "600"], preexec_fn=enter(group, user=True))  # noqa: PLW1509
    time.sleep(1)
    trial = Trial({"empty": [EMPTY]}, group=group, user=True)
    row = trial.row("empty")
    findings = [f for f in trial.lines("findings.jsonl") if f["check"] == "containment"]
    told(
        "another process in the group keeps the controllers",
        row["peak_memory_tree_bytes"] is None and row["tree_cpu_s"] > 0
        and any("it holds processes other than fairtrial" in f["what"] for f in findings),
        said=[f["what"] for f in findings], cpu=row["tree_cpu_s"],
    )  # fmt: skip
    trial = Trial(
        {"empty": [EMPTY]}, group=group, user=True,
        isolation={"cpus": "none", "limits": {"memory": "40MB"}},
    )  # fmt: skip
    told(
        "then a limit is refused", trial.code == 3 and "Delegate=yes" in trial.err, said=trial.said
    )
    other.kill()
    other.wait()
    group.rmdir()
    foreign = CGROUPS / "foreign"
    foreign.mkdir()
    trial = Trial({"empty": [EMPTY]}, group=foreign, user=True)
    row = trial.row("empty")
    told(
        "a group of somebody else: nothing is known, and the trial goes on",
        trial.code == 0 and row["tree_cpu_s"] is None and trial.entry is None, exit=trial.code,
    )  # fmt: skip
    foreign.rmdir()
    (CGROUPS / "cgroup.subtree_control").write_text("-memory -pids")


def check_killed():
    """Killed in the middle of a run: the next one cleans up."""
    for containment in ("auto", "none"):
        trial = Trial(
            {"long": ["/bin/sleep", "600"]}, start_only=True,
            isolation={"cpus": "none", "containment": containment, "limits": {"pids": 30}},
        )  # fmt: skip
        end = time.monotonic() + 120
        while not any(p.read_text() for p in CGROUPS.glob("fairtrial-*/run-*/cgroup.procs")):
            assert time.monotonic() < end, "the run does not begin"
            time.sleep(0.2)
        pids = [
            int(pid)
            for p in CGROUPS.glob("fairtrial-*/**/cgroup.procs")
            for pid in p.read_text().split()
        ]
        for pid in sorted(pids, key=lambda pid: pid == trial.process.pid):
            if Path(f"/proc/{pid}/comm").read_text().strip() != "sleep":
                os.kill(pid, signal.SIGKILL)  # orchestrator and launcher, at one instant
        trial.process.communicate()
        time.sleep(1)
        lives = [p for p in pids if Path(f"/proc/{p}").exists()]
        after = Trial({"empty": [EMPTY]})
        told(
            f"killed with its launcher, containment {containment}",
            after.code == 0 and not left() and not any(Path(f"/proc/{p}").exists() for p in lives),
            lived_on=len(lives), left=left(),
        )  # fmt: skip


def check_partition():
    """The isolated partition of `tune`: everybody else is off its CPUs, and is back afterwards."""
    before = os.sched_getaffinity(0)
    code = (
        "import os, time; from pathlib import Path; "
        "print('inside', sorted(os.sched_getaffinity(0)), "
        "Path('/proc/self/cgroup').read_text().strip(), flush=True); time.sleep(3)"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "tune", "--yes", "--", sys.executable, "-c", code],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/tmp",
    )  # fmt: skip
    during = set(before)
    end = time.monotonic() + 120
    shown = ""
    while process.poll() is None and time.monotonic() < end:
        for path in CGROUPS.glob("*/cpuset.cpus.partition"):
            with contextlib.suppress(OSError):
                shown = path.read_text().strip() if "isolated" in path.read_text() else shown
        during = min(during, os.sched_getaffinity(0), key=len)
        time.sleep(0.1)
    out, err = process.communicate(timeout=60)
    told(
        "an isolated partition for a command",
        process.returncode == 0 and shown == "isolated" and during < before
        and os.sched_getaffinity(0) == before and not list(CGROUPS.glob("fairtrial*")),
        shown=shown, others=sorted(during), before=sorted(before),
        after=sorted(os.sched_getaffinity(0)), out=out.strip().splitlines()[-6:], err=err.strip().splitlines()[-4:],
    )  # fmt: skip


def check_tuned_trial():
    """A trial inside the partition: its runs have groups there, and all of it is gone afterwards."""
    trial = Trial(
        {"empty": [EMPTY]},
        isolation={"cpus": "auto"},
        command=[sys.executable, "-m", "harness", "tune", "--yes", "--for", "c.yaml", "--"],
    )
    row = trial.row("empty") if trial.code == 0 else {}
    told(
        "a trial inside the partition",
        trial.code == 0
        and row["tree_cpu_s"] > 0
        and not left()
        and not list(CGROUPS.glob("fairtrial*")),
        exit=trial.code,
        cpus=row.get("cpus"),
        entry=trial.entry if trial.code == 0 else None,
        said=trial.err.strip().splitlines()[-4:],
    )


def main():
    kernel = os.uname().release
    told(
        "the machine", True, kernel=kernel, controllers=(CGROUPS / "cgroup.controllers").read_text()
    )
    for check in (
        check_memory,
        check_limits,
        check_daemon,
        check_user,
        check_killed,
        check_partition,
        check_tuned_trial,
    ):
        began = time.monotonic()
        try:
            check()
        except Exception:  # noqa: BLE001 - what breaks is told, and the others go on
            told(check.__name__, ok=False, broke=traceback.format_exc()[-1500:])
        print(f"{check.__name__}: {time.monotonic() - began:.0f} s", flush=True)
    told("end", True)


main()
