"""Cgroups of runs, by the installed command: on this host's kernel, as root and as somebody else."""

from __future__ import annotations

import json
import os
import signal
import statistics
import sys
from pathlib import Path

import pytest

from harness.host.activity import Host

DELEGATED = "systemd-run --user --scope -p Delegate=yes fairtrial run"


def trial_of(lab):
    (trial,) = (lab.folder / "runs").iterdir()
    return trial


def rows_of(lab):
    text = (trial_of(lab) / "measurements.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def held(group):
    """Tell whether a group has processes; it may be removed meanwhile."""
    try:
        return bool((group / "cgroup.procs").read_text())
    except OSError:
        return False


@pytest.mark.host_chance(0.01)  # the kernel counts in ticks on some machines
def test_a_row_tells_of_all_processes_and_the_verdict_takes_it(lab, own_group):
    command = lab.sh("i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; :")
    path = lab.write_campaign(benchmarks={"one": {"command": command}})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    rows = rows_of(lab)
    # a run that the host takes its CPU from is counted by both, a tick apart: most are not
    apart = [abs(row["tree_cpu_s"] - row["user_s"] - row["system_s"]) for row in rows]
    assert statistics.median(apart) <= 60e-6, apart
    assert max(apart) < 10e-3, apart  # a tick of the slowest clock
    record = json.loads((trial_of(lab) / "environment.jsonl").read_text().splitlines()[0])
    assert record["process"]["cgroup"]["entry"] in {"moved", "spawned"}
    verdict = lab.run_fairtrial("verdict", trial_of(lab), "--metric", "tree_cpu", "--json")
    assert verdict.returncode == 0, verdict.stderr
    assert json.loads(verdict.stdout)["metric"] == "tree_cpu"


@pytest.mark.host_chance(0.05)  # the launcher itself may wait for a CPU while it is in the group
def test_a_run_that_waits_for_a_cpu_says_so_and_one_that_sleeps_does_not(lab, own_group):
    if not Path("/proc/pressure/cpu").exists():
        pytest.skip("the kernel measures no pressure")
    spin = "import os, time\nos.fork()\nwhile time.process_time() < .05: pass"
    path = lab.write_campaign(
        benchmarks={
            "together": {"command": [sys.executable, "-c", spin]},
            "sleeps": {"command": lab.sh("exec sleep 0.05")},
        },
        isolation={"cpus": [min(os.sched_getaffinity(0))]},
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    for row in rows_of(lab):
        if row["benchmark"] == "sleeps":  # what it waits for, it does at its start and end
            assert row["tree_stall_s"] <= row["wall_ns"] / 1e9 - 0.05 + 0.002
        else:
            assert row["tree_stall_s"] > 0.01


def test_without_containment_there_is_no_group(lab, own_group):
    path = lab.write_campaign(isolation={"cpus": "none", "containment": "none"})
    assert lab.run_fairtrial("run", path).returncode == 0
    assert {row["tree_cpu_s"] for row in rows_of(lab)} == {None}


@pytest.mark.parametrize("limit", [{"memory": "2GiB"}, {"pids": 64}])
def test_a_limit_that_nothing_holds_here_is_never_ignored(lab, limit):
    with Host() as host:
        found = host.own_group()
    (name,) = limit
    if found is not None and found.writable and name in found.controllers:
        pytest.skip("the limit can be held here")
    path = lab.write_campaign(isolation={"cpus": "none", "limits": limit})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 3
    assert f"isolation.limits.{name}" in done.stderr
    assert DELEGATED in done.stderr
    assert not (lab.folder / "runs").exists() or not list((lab.folder / "runs").iterdir())


def test_after_a_kill_the_next_one_cleans_up(lab, own_group, processes):
    path = lab.write_campaign(benchmarks={"one": {"command": lab.sh("sleep 600")}})
    process = lab.start_fairtrial("run", path)
    (folder,) = processes.wait_until(
        lambda: list(Path(own_group.path).glob(f"fairtrial-{process.pid}-*")), "it has a group"
    )
    processes.wait_until(lambda: any(map(held, folder.glob("run-*"))), "the program runs")
    process.send_signal(signal.SIGKILL)
    process.wait()
    quick = lab.write_campaign("quick")

    def cleaned():  # its launcher holds the lock as long as it sweeps
        assert lab.run_fairtrial("run", quick).returncode == 0
        return not folder.exists()

    processes.wait_until(cleaned, "the next one removes the group")


def test_doctor_names_the_line_for_whoever_may_make_no_groups(lab):
    if os.geteuid() != 0:
        pytest.skip("only root may execute as another user")
    with Host() as host:
        found = host.own_group()
    if found is None:
        pytest.skip("no cgroup of version 2 can be had here")
    done = lab.run_fairtrial("doctor", "--json", other_user=True)
    (check,) = (one for one in json.loads(done.stdout)["findings"] if one["check"] == "cgroup")
    assert check["status"] == "unknown"
    assert DELEGATED in check["fix"]
