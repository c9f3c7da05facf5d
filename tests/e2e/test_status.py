"""What is said of trials while they run, after a kill and after damage, of runs that waited, and what a terminal sees.

That the kernel's account of waiting is true of a real neighbour: tests/host/test_disturbed.py.
"""

from __future__ import annotations

import json
import os
import signal

import pytest

from analysis.data.trial import read_trial
from tests.virtual import Times

WAITED = {"factor": 1.5, "run_delay_ns": 40_000_000}


@pytest.fixture
def waiting(lab):
    lab.hold()
    return lab.write_campaign(
        benchmarks={"one": {"command": lab.sh(lab.waiting)}},
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
    )


def test_a_running_trial_is_seen_from_another_terminal(lab, waiting):
    process = lab.start_fairtrial("run", waiting)
    lab.wait_until_reached(process)
    done = lab.run_fairtrial("status")
    assert (done.returncode, "measuring  0 of 2" in done.stdout) == (0, True)
    assert json.loads(lab.run_fairtrial("status", "--json").stdout)[0]["state"] == "running"
    process.send_signal(signal.SIGKILL)
    process.wait()
    lab.wait_until_all_gone()
    assert "killed" in lab.run_fairtrial("status", lab.trial()).stdout


def test_no_trials_and_no_trial(lab):
    assert "no trials in runs" in lab.run_fairtrial("status").stdout
    done = lab.run_fairtrial("status", "absent")
    assert done.returncode == 5
    assert "there is no such trial" in done.stderr


def test_a_damaged_trial_is_no_success(lab):
    done = lab.run_fairtrial("run", lab.write_campaign(), "--verbose")
    assert done.returncode == 0
    assert ("\x1b" in done.stderr, "\r" in done.stderr) == (False, False)  # no terminal, no bar
    assert done.stderr.count("  run ") == 12
    trial = lab.trial()
    assert lab.run_fairtrial("status", trial).returncode == 0
    (trial / "plan.jsonl").unlink()
    done = lab.run_fairtrial("status", trial, "--json")
    assert done.returncode == 5
    (found,) = json.loads(done.stdout)
    assert found["next"] == []  # every judge refuses it
    assert "next  " not in lab.run_fairtrial("status").stdout
    assert (found["misfits"], found["again"]) == (["plan.jsonl is gone"], "")
    assert lab.run_fairtrial("status").returncode == 0  # of all trials: it is one of them


def test_the_runs_beside_a_neighbour_are_flagged_and_only_those(lab):
    path = lab.write_campaign(
        benchmarks={"work": {"command": lab.sh(":")}},
        protocol={"sessions": 1, "warmup": 1, "runs": 12},
    )
    times = Times(runs={f"#{position}": WAITED for position in range(3, 26, 2)})
    done = lab.run_fairtrial("run", path, virtual=times)
    assert done.returncode == 0, done.stderr
    rows = [row for row in lab.read_rows() if not row["warmup"]]
    assert [row["disturbed"] for row in rows] == [row["position"] % 2 == 1 for row in rows]
    waited = "12 of 24 runs waited for a CPU"
    assert f"disturbed: {waited}, and are kept" in done.stderr
    trial = read_trial(lab.trial())
    assert trial.manifest.schema == 1
    assert {*trial.waited_ns[trial.measured]} == {0, WAITED["run_delay_ns"]}
    status = lab.run_fairtrial("status", lab.trial())
    assert f"disturbed: {waited}, and are kept" in status.stdout
    verdict = json.loads(lab.run_fairtrial("verdict", lab.trial(), "--json").stdout)
    assert "waited-for-cpu" in verdict["caution_codes"]
    assert any(
        text.startswith(f"{waited} and are judged like the others") for text in verdict["cautions"]
    )
    found = lab.run_fairtrial("diagnose", lab.trial()).stdout
    assert "waited-for-cpu: work / a" in found


# --- on a terminal ------------------------------------------------------------------------------


@pytest.fixture
def terminal(lab):
    """Give our end of the terminal that is the standard error of the next command that is started."""
    ours, theirs = os.openpty()
    (lab.folder / f"err-{len(lab.started)}").symlink_to(os.ttyname(theirs))
    lab.environment |= {"TERM": "xterm", "COLUMNS": "120"}
    os.set_blocking(ours, False)
    end = os.fdopen(ours, "rb", buffering=0)
    with os.fdopen(theirs), end:
        yield end


def test_a_terminal_shows_a_bar_that_goes_away(lab, processes, terminal):
    process = lab.start_fairtrial("run", lab.write_campaign())
    seen = []

    def drained():
        ended = process.poll() is not None
        seen.append(terminal.read(65536) or b"")
        return ended and not seen[-1]

    processes.wait_until(drained, "it has written all", 60)
    assert process.wait() == 0
    bar, _, end = b"".join(seen).decode().rpartition("\x1b[2K")
    for said in ("session 1 of 1", "/12", "one / a"):
        assert (said in bar, said in end) == (True, False)
    assert end.startswith("done: 12 runs")


def test_a_terminal_that_is_closed_ends_the_trial_cleanly(lab, waiting, terminal):
    process = lab.start_fairtrial("run", waiting)
    lab.wait_until_reached(process)
    terminal.close()
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 130
    assert lab.manifest()["status"] == "interrupted"
    assert lab.left() == []
