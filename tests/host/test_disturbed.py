"""Runs that really waited: a neighbour spins on their CPU, and the kernel's account is the authority.

Everything is executed in the real-time class, so that what else this machine does has little part in it: the
neighbour above the target, in every other run only. What is told of them: tests/e2e/test_status.py. The kernel's own threads stand above both, so that a quiet
run may wait by chance: how many may is bounded.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from analysis.data.trial import read_trial

pytestmark = pytest.mark.host

NEIGHBOUR = """
import os, sys, time
cpu, busy = int(sys.argv[1]), sys.argv[2]
elsewhere = os.sched_getaffinity(0) - {cpu}
os.sched_setaffinity(0, elsewhere)  # to look is to take a CPU, too
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(60))
print("there", flush=True)
while True:
    if os.path.exists(busy):
        os.sched_setaffinity(0, {cpu})
        until = time.monotonic() + 0.002
        while time.monotonic() < until:
            pass
        time.sleep(0.002)
    else:
        os.sched_setaffinity(0, elsewhere)
        time.sleep(0.03)
"""
BY_CHANCE = 3  # quiet runs of twelve that may have waited, too
WORK = "x = 0\nfor k in range(300_000):\n    x += k\n"


@pytest.fixture
def cpu():
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        pytest.skip("one CPU only")
    return usable[-1]


@pytest.fixture
def neighbour(cpu, tmp_path):
    """Start a process that takes half of the CPU while a file is there; give the file."""
    busy = tmp_path / "busy"
    command = [sys.executable, "-I", "-S", "-c", NEIGHBOUR, str(cpu), str(busy)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if process.stdout.readline() != "there\n":
        process.wait()
        pytest.skip("no real-time class is to be had here")
    yield busy
    process.kill()
    process.wait()


@pytest.fixture
def campaign(lab, cpu, neighbour):
    """Write a campaign in every other run of which the neighbour spins."""

    def make(when, **protocol):
        program = lab.script("work.py", WORK)
        command = [sys.executable, "-I", "-S", str(program), "{level}"]
        return lab.write_campaign(
            variants={"a": {"level": "1"}, "b": {"level": "2"}},
            benchmarks={"work": {"command": command}},
            hooks={
                "before": {"shell": f"if {when}; then : > {neighbour}; fi; sleep 0.06"},
                "after": {"shell": f"rm -f {neighbour}; sleep 0.005"},
            },
            protocol={"sessions": 1, "warmup": 1, **protocol},
            isolation={"cpus": cpu, "scheduling": "fifo", "priority": 10},
        )

    return make


def test_the_runs_beside_a_spinning_neighbour_are_flagged_and_only_those(lab, campaign):
    path = campaign("[ $((FAIRTRIAL_POSITION % 2)) -eq 1 ]", runs=12)
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    rows = [row for row in lab.read_rows() if not row["warmup"]]
    assert all(row["disturbed"] for row in rows if row["position"] % 2 == 1)
    by_chance = sum(row["disturbed"] for row in rows if row["position"] % 2 == 0)
    assert by_chance <= BY_CHANCE
    trial = read_trial(lab.trial())
    # the account closes: what they took longer for is that waiting, and nothing else
    flagged = trial.measured & (trial.position % 2 == 1)
    rest = trial.numbers["wall_ns"] - trial.numbers["on_cpu_ns"] - trial.waited_ns
    assert np.median(abs(rest[flagged])) < np.median(trial.waited_ns[flagged])


def test_they_are_executed_again_and_the_quiet_rows_are_judged(lab, campaign):
    # repeats have negative positions: there the neighbour is silent
    path = campaign('[ "$FAIRTRIAL_POSITION" -ge 2 ]', runs=2, disturbed="repeat")
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    rows = [row for row in lab.read_rows() if not row["warmup"]]
    planned, repeats = (
        [row for row in rows if (row["repeats"] is None) is one] for one in (True, False)
    )
    assert [row["disturbed"] for row in planned] == [True] * 4
    mended = {row["repeats"] for row in repeats if not row["disturbed"]}
    assert len(repeats) == 4
    assert len(mended) >= 2
    quiet, beside = ([row["run_delay_ns"] for row in some] for some in (repeats, planned))
    assert max(quiet) < min(beside)
