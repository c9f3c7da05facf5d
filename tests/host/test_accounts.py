"""What rows say of a run's time, with the installed command. Authority: the target, and how it spent its time."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest

from harness.campaign.model import Isolation
from harness.launch.client import LauncherClient
from harness.launch.exchange import LaunchRequest
from harness.launch.matching import Interrupts
from tests.unit.harness.launch.test_cgroups import ACCOUNTING_SPIN as SPIN, run  # noqa: F401

NAMES = ("on_cpu_ns", "run_delay_ns", "launcher_delay_ns", "launcher_on_cpu_ns")


def account_is_whole(lab, *, other_user):
    lab.write_campaign(
        benchmarks={
            "spins": {"command": lab.sh("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")},
            "sleeps": {"command": lab.sh("exec sleep 0.1")},
            "has_children": {"command": lab.sh("head -c 30000000 /dev/zero | cksum")},
        },
        protocol={"sessions": 1, "runs": 2, "warmup": 0},
    )
    done = lab.run_fairtrial("run", "c.yaml", "-q", other_user=other_user)
    assert done.returncode == 0, done.stderr
    for row in lab.read_rows():
        account = [row[name] for name in NAMES]
        if row["benchmark"] == "has_children":
            assert account == [None] * 4
            continue
        assert None not in account
        on_cpu, run_delay, launcher_delay, launcher_on_cpu = account
        assert min(account) >= 0
        assert on_cpu + run_delay + launcher_delay <= row["wall_ns"] + launcher_on_cpu
        if row["benchmark"] == "sleeps":
            assert row["wall_ns"] - on_cpu - run_delay - launcher_delay > 90_000_000


@pytest.fixture
def scheduler_tells():
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("the kernel keeps no account of a process's waiting")


@pytest.mark.usefixtures("scheduler_tells")
def test_every_run_has_an_account(lab):
    account_is_whole(lab, other_user=False)


@pytest.mark.usefixtures("scheduler_tells", "other_user", "open_folder")
def test_it_needs_no_rights(lab):
    account_is_whole(lab, other_user=True)


def test_a_program_of_one_thread_has_a_whole_account(run):  # noqa: F811
    for _ in range(50):
        done = run(SPIN.format(0.05))
        # nothing else than the launcher's work is missing from a program that never sleeps; reading the
        # interpreter from a busy disk is a sleep
        waited = done["run_delay_ns"] + done["launcher_delay_ns"] - done["launcher_on_cpu_ns"]
        if abs(done["wall_ns"] - done["on_cpu_ns"] - waited) < 0.5 * done["wall_ns"]:
            break
    else:
        pytest.fail(f"half of the time is missing, always: {done}")
    used = (done["user_s"] + done["system_s"]) * 1e9
    assert 0.98 * used <= done["on_cpu_ns"] <= done["wall_ns"]
    assert done["run_delay_ns"] >= 0
    assert 0 < done["launcher_on_cpu_ns"] < done["wall_ns"]


def _used_ns(pid):
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


@pytest.mark.usefixtures("scheduler_tells")
@pytest.mark.parametrize("stays", [False, True])
def test_a_launcher_that_stays_is_busy_for_a_moment_then_sleeps(processes, stays):
    request = LaunchRequest(path="/bin/true", argv=("true",), env={}, cwd=Path("/"))
    with contextlib.closing(
        LauncherClient(Isolation(), (max(os.sched_getaffinity(0)),), Interrupts(), stays=stays)
    ) as launcher:

        def busy_for_a_moment():
            processes.wait_until(lambda: processes.state(launcher.pid) == "S", "it sleeps")
            before = _used_ns(launcher.pid)
            assert launcher.execute(request).exit_code == 0
            processes.wait_until(lambda: processes.state(launcher.pid) == "S", "it sleeps again")
            return _used_ns(launcher.pid) - before > 3_000_000

        # it polls for 20 ms by the clock, of which others may have most, and spawns in less than 1
        processes.wait_until(lambda: busy_for_a_moment() == stays, "as busy as it should be")
        before = _used_ns(launcher.pid)
        time.sleep(0.05)
        assert _used_ns(launcher.pid) == before
        assert launcher.execute(request).exit_code == 0
