from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import HostError
from harness.trial.folder import CpuLock, cpus_in_use

pytestmark = pytest.mark.host
ROOT = Path(__file__).parents[4]
# Numbers that no host of a test has: a real trial may hold the real ones.
CPU = 3900 + os.getpid() % 90


def holder(code, processes=None, *, other_user=False):
    command = [sys.executable, "-c", f"from harness.trial.folder import *\nimport sys\n{code}"]
    if other_user:
        command = processes.as_other_user(command)
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


HOLD = f"lock = CpuLock(({CPU},))\nprint('held', flush=True)\nsys.stdin.read()"
TRY = f"try:\n    CpuLock(({CPU},))\nexcept HostError as error:\n    print(error)"


def test_free_cpus_are_held_and_given_back():
    with CpuLock((CPU, CPU + 1)):
        assert {CPU, CPU + 1} <= set(cpus_in_use())
    assert not {CPU, CPU + 1} & set(cpus_in_use())


def test_no_cpus_need_no_lock():
    with CpuLock(()):
        assert CPU not in cpus_in_use()


def test_second_trial_is_refused_with_the_holders_process():
    with CpuLock((CPU,)):
        with pytest.raises(HostError, match=f"another trial measures on CPU {CPU}") as caught:
            CpuLock((CPU,))
        assert f"process {os.getpid()}, yours" in str(caught.value)
        assert caught.value.exit_code == 3


def test_the_holder_is_named_however_many_were_refused():
    # first use: after a few refusals the holder was "unknown", since each used up a place in a queue
    with CpuLock((CPU,)):
        for _ in range(50):
            with pytest.raises(HostError, match=f"process {os.getpid()}, yours"):
                CpuLock((CPU,))


def test_holder_of_another_container_is_named_as_such(monkeypatch):
    with CpuLock((CPU,)):
        monkeypatch.setattr("harness.trial.folder._namespace", lambda: 1)
        with pytest.raises(HostError, match=f"process {os.getpid()}, yours, in another container"):
            CpuLock((CPU,))


def test_refused_lock_holds_nothing():
    with CpuLock((CPU + 1,)):
        with pytest.raises(HostError):
            CpuLock((CPU, CPU + 1))
        with CpuLock((CPU,)):
            pass


def test_death_releases_the_lock():
    with holder(HOLD) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(HostError, match=f"process {other.pid}, yours"):
            CpuLock((CPU,))
        other.kill()
    with CpuLock((CPU,)):
        pass


@pytest.fixture
def needs_other_user(processes):
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    reason = processes.why_no_other_user()
    if reason:
        pytest.skip(reason)


@pytest.mark.usefixtures("needs_other_user")
def test_lock_of_another_user_is_seen(processes):
    with holder(HOLD, processes, other_user=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(HostError, match=f"of user {processes.OTHER_UID}"):
            CpuLock((CPU,))
        other.kill()


@pytest.mark.usefixtures("needs_other_user")
def test_another_user_sees_our_lock(processes):
    with CpuLock((CPU,)), holder(TRY, processes, other_user=True) as other:
        said = other.communicate()[0]
    assert f"process {os.getpid()}, of user {os.geteuid()}" in said


@pytest.mark.parametrize("number", ["²", "٣"])
def test_a_name_that_somebody_else_made_up_is_no_cpu(number):
    # abstract names are anybody's; "²" is a digit for Python, and no number
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(f"\0fairtrial-cpu-{number}".encode())
        assert cpus_in_use() is not None
