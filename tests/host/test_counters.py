"""Counters from the campaign to the answers, with page faults and time, which every kernel counts.

Authority: the kernel's account of the same runs (`minor_faults` of each row, wait4(2)). A launcher counts from before
the exec, which costs a few faults (perf stat, tried beside it, is as many apart).
"""

# ruff: noqa: F811 - fixtures

from __future__ import annotations

import grp
import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from harness.errors import LaunchError
from harness.host.counters import look_of
from tests.unit.harness.launch.test_client import (  # noqa: F401
    SH,
    counted as counted_once,
    open_launcher,
    plan,
    request_for,
)

COUNTERS = ["page-faults", "task-clock"]
# b touches more pages: 1,000 of 4 KiB beside what a shell needs
PAGES = "x=$(head -c {bytes} /dev/zero | tr '\\000' x); :"


@pytest.fixture
def counted(lab):
    """Measure a small trial with given counters; give its folder."""

    def measure(counters, *, name="c", sessions=2, runs=4, **sections):
        command = [*lab.sh("")[:2], PAGES, lab.marker]
        path = lab.write_campaign(
            name,
            variants={"a": {"bytes": "1000"}, "b": {"bytes": "4000000"}},
            benchmarks={"one": {"command": command}},
            protocol={"sessions": sessions, "runs": runs, "warmup": 1},
            counters=counters,
            **sections,
        )
        done = lab.run_fairtrial("run", path)
        assert done.returncode == 0, done.stderr
        if "counting is not permitted" in done.stderr:
            pytest.skip("the kernel lets nobody here count events")
        (trial,) = (path for path in (lab.folder / "runs").iterdir() if path.name.startswith(name))
        return trial

    return measure


def rows_of(trial):
    return [json.loads(line) for line in (trial / "measurements.jsonl").read_text().splitlines()]


def test_a_counter_is_judged_like_any_metric(lab, counted):
    trial = counted(COUNTERS)
    for row in rows_of(trial):
        faults = row["minor_faults"] + row["major_faults"]
        # of what the shell's own children touch before their exec as well, nothing is missing
        assert faults - 40 <= row["metrics"]["page-faults"][0] <= faults
        assert 0 < row["metrics"]["task-clock"][0] < row["user_s"] + row["system_s"] + 0.01
    verdict = json.loads(
        lab.run_fairtrial("verdict", trial, "--metric", "page-faults", "--json").stdout
    )
    assert (verdict["metric"], verdict["unit"], verdict["better"]) == ("page-faults", "1", "lower")
    (one,) = verdict["candidates"][0]["multilevel"]["benchmarks"]
    assert one["outcome"] == "slower"  # it needs more of them


def test_counted_blocks_stand_apart(lab, counted):
    trial = counted({"events": COUNTERS, "every": 2})
    rows = rows_of(trial)
    for row in rows:
        assert row["counted"] is (row["block"] in {2, 4})
        assert bool(row["metrics"]) == row["counted"]
    verdict = json.loads(lab.run_fairtrial("verdict", trial, "--json").stdout)
    assert (verdict["runs"], verdict["session_runs"]) == (8, [2, 2])
    faults = lab.run_fairtrial("verdict", trial, "--metric", "page-faults", "--json")
    assert json.loads(faults.stdout)["runs"] == 8


def test_the_doctor_looks_in_general_and_for_a_campaign(lab):
    found = json.loads(lab.run_fairtrial("doctor", "--json").stdout)["findings"]
    (one,) = (finding for finding in found if finding["check"] == "counters")
    assert one["status"] in {"ok", "unknown"}
    plain = lab.write_campaign()
    found = json.loads(lab.run_fairtrial("doctor", plain, "--json").stdout)["findings"]
    assert not [finding for finding in found if finding["check"] == "counters"]


@pytest.mark.usefixtures("other_user", "open_folder")
def test_a_user_without_rights_counts_what_is_his(lab):
    path = lab.write_campaign(counters=["page-faults", "context-switches"])
    done = lab.run_fairtrial("run", path, other_user=True)
    assert done.returncode == 0, done.stderr
    (trial,) = (lab.folder / "runs").iterdir()
    (row, *_) = rows_of(trial)
    text = " ".join(done.stderr.split())
    if "context-switches" in row["metrics"]:
        pytest.skip("this kernel lets everybody count in the kernel")
    assert "it needs the right to count in the kernel; without that it would falsely read 0" in text
    if "page-faults" in row["metrics"]:  # at level 3 and above nobody counts anything
        assert row["metrics"]["page-faults"][0] > 10
        environment = json.loads((trial / "environment.jsonl").read_text().splitlines()[0])
        assert environment["counters"]["page-faults"] == "user"


@pytest.mark.usefixtures("other_user", "open_folder")
def test_a_program_that_changes_its_user_is_not_counted_wrongly(lab, processes):
    program = shutil.which("sg")
    if program is None or not Path(program).stat().st_mode & stat.S_ISUID:
        pytest.skip("no setuid program is installed")
    group = grp.getgrgid(processes.OTHER_UID if os.geteuid() == 0 else os.getgid()).gr_name
    # long enough that the time before the change of the user is the smaller part on a busy host too
    work = "i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done"
    path = lab.write_campaign(
        counters=COUNTERS,
        variants={"a": {}},
        baseline="a",
        benchmarks={"one": {"command": [program, group, "-c", work]}},
        isolation={"cpus": "none", "containment": "none"},  # in a namespace nobody's user changes
    )
    done = lab.run_fairtrial("run", path, other_user=True)
    assert done.returncode == 0, done.stderr
    if "counting is not permitted" in done.stderr:
        pytest.skip("the kernel lets nobody here count events")
    (trial,) = (lab.folder / "runs").iterdir()
    assert {len(row["metrics"]) for row in rows_of(trial)} == {0}
    said = [json.loads(line) for line in (trial / "findings.jsonl").read_text().splitlines()]
    (faults,) = (one for one in said if one["what"].startswith("page-faults was counted for"))
    assert "setuid" in faults["fix"]


# --- one launcher

BEFORE_EXEC = 12  # faults
THREADS = """
import threading
def touch():
    pages = bytearray(1 << 22)
    for k in range(200_000): pass
threads = [threading.Thread(target=touch) for _ in range(3)]
[one.start() for one in threads]; [one.join() for one in threads]
"""


PROGRAMS = {
    "empty": ("/bin/true",),
    "work": (SH, "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"),
    "children": (SH, "-c", "ls / >/dev/null; ls / >/dev/null; (ls / >/dev/null)"),
    "at once": (SH, "-c", "ls / >/dev/null & ls / >/dev/null & wait"),
    "threads": (sys.executable, "-I", "-S", "-c", THREADS),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_faults_and_time_are_those_of_the_kernels_account(open_launcher, request_for, name):
    wanted = plan()
    launcher = open_launcher(wanted)
    request = request_for(*PROGRAMS[name])
    for _ in range(4):  # a launcher that is mistaken for its run counts the first one only
        found, told = counted_once(launcher, wanted, request)
        faults = told["minor_faults"] + told["major_faults"]
        assert 0 < found["page-faults"] <= faults
        if not any(one.user_only for one in look_of(wanted, launcher.counters).counted):
            assert (
                faults - BEFORE_EXEC <= found["page-faults"]
            )  # those of the kernel's own reads, too
        assert found["minor-faults"] <= found["page-faults"]
        time_s = told["user_s"] + told["system_s"]
        assert 0 < found["task-clock"] <= time_s + 0.002  # the kernel accounts in its own steps
        assert found["task-clock"] >= 0.5 * time_s - 0.002


def test_a_program_that_does_not_start_counts_nothing(open_launcher, request_for):
    wanted = plan(("page-faults",))
    launcher = open_launcher(wanted)
    first, _ = counted_once(launcher, wanted, request_for("/bin/true"))
    for _ in range(3):
        with pytest.raises(LaunchError):
            launcher.execute(request_for("/nonexistent/program"), count=True)
    again, _ = counted_once(launcher, wanted, request_for("/bin/true"))
    assert abs(again["page-faults"] - first["page-faults"]) <= BEFORE_EXEC


def test_the_launcher_itself_is_not_counted(open_launcher, request_for, tmp_path):
    wanted = plan(("task-clock",))
    launcher = open_launcher(wanted)
    found, told = counted_once(launcher, wanted, request_for("/bin/sleep", "0.3"))
    assert found["task-clock"] < 0.1 < told["wall_ns"] / 1e9
