from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path


def test_running_trial_is_seen_from_another_terminal(lab):
    lab.hold()
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh(lab.waiting)}},
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
    )
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    done = lab.run_fairtrial("status")
    assert done.returncode == 0
    assert "measuring  0 of 2" in done.stdout
    assert "0 of 2" in done.stdout
    assert json.loads(lab.run_fairtrial("status", "--json").stdout)[0]["state"] == "running"
    process.send_signal(signal.SIGKILL)
    process.wait()
    lab.wait_until_all_gone()
    assert "killed" in lab.run_fairtrial("status", lab.trial()).stdout


def test_no_trials_and_no_trial(lab):
    assert "no trials in runs" in lab.run_fairtrial("status").stdout
    done = lab.run_fairtrial("status", "absent")
    assert done.returncode == 5
    assert "not a trial directory" in done.stderr


def test_one_damaged_trial_does_not_hide_the_others(lab):
    assert lab.run_fairtrial("run", lab.write_campaign()).returncode == 0
    bad = lab.folder / "runs" / "bad"
    bad.mkdir()
    (bad / "manifest.json").write_text("{")
    done = lab.run_fairtrial("status")
    assert lab.trials()[-1].name in done.stdout
    assert "bad" in done.stdout + done.stderr


def _on_terminal(lab, args):
    """Start the command with a terminal as its stderr; give the process and our end."""
    ours, theirs = os.openpty()
    try:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "fairtrial"), *map(str, args)],
            cwd=lab.folder,
            env=lab.environment | {"TERM": "xterm", "COLUMNS": "120"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
        )
    finally:
        os.close(theirs)
    return process, ours


def _read_all(fd):
    data = b""
    try:
        while more := os.read(fd, 65536):
            data += more
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(fd)
    return data.decode()


def test_terminal_shows_a_bar_that_goes_away(lab):
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh("sleep 0.15")}},
        protocol={"sessions": 1, "runs": 4, "warmup": 0},
    )
    process, terminal = _on_terminal(lab, ["run", path])
    text = _read_all(terminal)
    assert process.wait(60) == 0, text
    assert "session 1 of 1" in text
    assert "/8" in text
    assert "one / a" in text
    assert "done: 8 runs in " in text


def test_no_bar_where_there_is_no_terminal(lab):
    done = lab.run_fairtrial("run", lab.write_campaign(), "--verbose")
    assert "\x1b" not in done.stderr
    assert "\r" not in done.stderr
    assert done.stderr.count("  run ") == 12


def test_terminal_that_is_closed_ends_the_trial_cleanly(lab, processes):
    lab.hold()
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh(lab.waiting)}},
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
    )
    process, terminal = _on_terminal(lab, ["run", path])
    processes.wait_until((lab.folder / "reached").exists, "the target starts to wait")
    os.close(terminal)
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 130
    assert lab.manifest()["status"] == "interrupted"
    assert lab.left() == []


def test_a_damaged_trial_is_no_success(lab):
    assert lab.run_fairtrial("run", lab.write_campaign()).returncode == 0
    trial = lab.trial()
    assert lab.run_fairtrial("status", trial).returncode == 0
    (trial / "plan.jsonl").unlink()
    done = lab.run_fairtrial("status", trial, "--json")
    assert done.returncode == 5
    (found,) = json.loads(done.stdout)
    assert (found["misfits"], found["again"]) == (["plan.jsonl is gone"], "")
    assert lab.run_fairtrial("status").returncode == 0  # of all trials: it is one of them
