"""The locks of this machine's CPUs, taken by trials that are measured on them."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.host


def test_a_lock_is_waited_for_until_the_time_is_up(lab, processes):
    hold = (
        "import sys; from harness.trial.folder import CpuLock\n"
        "lock = CpuLock(tuple(range(1024)))\nprint('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        path = lab.write_campaign(isolation={"cpus": "auto"})
        refused = lab.run_fairtrial("run", path, "--wait-for-lock=0.2")
        assert refused.returncode == 3
        assert "waiting for another trial on CPU" in refused.stderr
        waits = lab.start_fairtrial("run", path, "--wait-for-lock")
        processes.wait_until(lambda: "waiting" in waits.err_path.read_text(), "it waits")
        holder.communicate()
    code, err = lab.ended(waits)
    assert code == 0, err
    lab.assert_complete_once_each()


def test_trial_does_not_take_itself_for_another(lab):
    path = lab.write_campaign(
        isolation={"cpus": "auto"},
        checks={"probe": "0s"},  # that takes every CPU for a while, and looks at no process
        protocol={"sessions": 2, "runs": 1, "warmup": 0},
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    assert "other-trials" not in {finding["check"] for finding in lab.findings()}
