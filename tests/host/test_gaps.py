"""The look at the clock, from the host to the verdict: with a neighbour on the CPU that is measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from harness.host.activity import look_for_gaps

pytestmark = pytest.mark.host

SPIN = "while True: pass"


@pytest.fixture
def cpu():
    return max(os.sched_getaffinity(0))


@pytest.fixture
def neighbour(cpu):
    """A program that wants the same CPU all the time."""
    pin = f"import os; os.sched_setaffinity(0, {{{cpu}}}); print(flush=True)\n"
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", pin + SPIN], stdout=-1) as spinning:
        spinning.stdout.readline()
        try:
            yield
        finally:
            spinning.kill()


@pytest.mark.host_chance(0.001)
def test_a_neighbour_that_spins_takes_a_good_part(cpu, neighbour):
    # two equals share a CPU: a half; other programs only take more
    (gaps,) = look_for_gaps((cpu,), 0.2).gaps
    assert gaps.share > 0.25
    assert gaps.longest_s > 0.0005


@pytest.mark.host_chance(0.01)
def test_the_class_of_the_targets_counts(cpu, neighbour):
    # negative control: an ordinary neighbour cannot take the CPU from a real-time program
    look = look_for_gaps((cpu,), 0.2, priority=1)
    if look.problem is not None:
        pytest.skip("this process may not use SCHED_FIFO")
    assert look.gaps[0].share < 0.25


@pytest.mark.host_chance(0.001)
def test_a_neighbour_is_found_before_the_runs_and_told_by_the_verdict(lab, cpu, neighbour):
    path = lab.write_campaign(
        protocol={"sessions": 2, "runs": 2, "warmup": 1}, isolation={"cpus": cpu}
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    (trial,) = (lab.folder / "runs").iterdir()
    rows = [json.loads(line) for line in (trial / "findings.jsonl").read_text().splitlines()]
    looks = [row for row in rows if row["check"] == "gaps"]
    assert [(row["when"], row["session"], row["status"]) for row in looks] == [
        ("before", 1, "fail"),
        ("before", 2, "fail"),
    ]
    assert looks[0]["what"].startswith(f"cpu{cpu} lost ")
    verdict = lab.run_fairtrial("verdict", trial, "--all")
    assert f"cpu{cpu} lost " in " ".join(verdict.stdout.split())
    codes = json.loads(lab.run_fairtrial("verdict", trial, "--json").stdout)["caution_codes"]
    assert "cpu-lost" in codes
