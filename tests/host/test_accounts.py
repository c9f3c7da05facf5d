"""What rows say of a run's time, with the installed command. Authority: the target, and how it spent its time."""

from __future__ import annotations

from pathlib import Path

import pytest

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
