"""The batch script, executed by a shell with Slurm's commands played by files.

Authority: bash itself, and what the script wrote.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness.fleet import submission as scripts
from harness.fleet.slurm import Scheduler
from harness.fleet.submission import script_of

ODD = "a b'c\"d$(touch INJECTED)&;*"


@pytest.fixture
def play(tmp_path, monkeypatch):
    """Make a fleet in a folder with an odd name, and programs that note how they are called."""
    place = tmp_path / ODD
    fleet, programs = place / "fleet", place / "bin"
    (fleet / "lab1").mkdir(parents=True)
    programs.mkdir()

    def program(name, text):
        path = programs / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)
        return path

    program("squeue", 'echo "$@" >> "$CALLS"; echo RUNNING')
    program("scontrol", 'echo "$@" >> "$CALLS"')
    monkeypatch.setattr(Scheduler, "place", lambda _self, name: str(programs / name))
    monkeypatch.setattr(scripts, "own_command", lambda: [str(programs / "fairtrial")])
    calls = tmp_path / "calls"
    calls.touch()

    def execute(fairtrial, queue="RUNNING", told_after=None):
        program("fairtrial", fairtrial)
        program("squeue", f'echo squeue "$@" >> "$CALLS"; echo {queue}')
        text = script_of(fleet, place / "c.yaml", "c", ["--wait-for-lock"], Scheduler())
        job = fleet / "job.sh"
        job.write_text(text)
        process = subprocess.Popen(
            ["bash", str(job), "lab1"],
            env=os.environ | {"CALLS": str(calls), "SLURM_JOB_ID": "42"},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        if told_after is not None:
            while not told_after.exists():
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
        assert not (tmp_path / "INJECTED").exists()
        return process.returncode, out, calls.read_text().splitlines()

    execute.fleet = fleet
    return execute


ROW = 'echo row >> "${@: -1}/measurements.jsonl"'


def test_the_command_is_that_of_start_and_of_every_continuation(play):
    code, _, _ = play('printf "%s\\n" "$@" > "$CALLS.args"')
    assert code == 0
    args = Path(f"{play.fleet.parents[1]}/calls.args").read_text().splitlines()
    assert args[0] == "run"
    assert args[1] == str(play.fleet.parent / "c.yaml")
    assert args[2:4] == ["--resume", "--wait-for-lock"]
    assert args[4:] == ["--trial", str(play.fleet / "lab1")]


@pytest.mark.parametrize("code", [0, 1, 2, 3, 4, 5, 70, 143])
def test_only_an_interrupted_start_comes_back(play, code):
    assert play(f"{ROW}; exit {code}") == (code, "", [])


def test_an_interrupted_start_that_measured_is_requeued(play):
    code, out, calls = play(f"{ROW}; exit 130")
    assert code == 130
    assert "requeued after 1 rows" in out
    assert calls == ["squeue -h -j 42 -o %T", "requeue 42"]


@pytest.mark.parametrize("state", ["COMPLETING", "CANCELLED", "PENDING", "''"])
def test_a_job_that_was_cancelled_or_requeued_by_others_is_left_alone(play, state):
    code, _, calls = play(f"{ROW}; exit 130", queue=state)
    assert (code, calls) == (130, ["squeue -h -j 42 -o %T"])


def test_a_start_that_measured_nothing_ends(play):
    (play.fleet / "lab1" / "measurements.jsonl").write_text("a row of before\n")
    code, out, calls = play("exit 130")
    assert (code, calls) == (130, [])
    assert "measured nothing" in out


def test_a_cancelled_fleet_stays_so(play):
    (play.fleet / "cancelled").touch()
    assert play(f"{ROW}; exit 130")[2] == []


def test_the_warning_is_handed_on_and_the_exit_code_kept(play, tmp_path):
    mark = tmp_path / "ready"
    code, _, calls = play(
        f"file=${{@: -1}}/measurements.jsonl\n"
        'end() { sleep 0.2; echo row >> "$file"; exit 130; }\n'
        f"trap end TERM\ntouch '{mark}'\nwhile :; do sleep 0.05; done",
        told_after=mark,
    )
    assert code == 130
    assert calls[-1] == "requeue 42"


def test_a_warning_that_comes_while_it_starts_is_handed_on(play, tmp_path, monkeypatch):
    early = tmp_path / "early"  # executed by the shell before each command
    early.write_text("trap 'if [[ $BASH_COMMAND = run=?!* ]]; then kill -TERM $$; fi' DEBUG\n")
    monkeypatch.setenv("BASH_ENV", str(early))
    monkeypatch.setenv("run", "1")
    code, _, calls = play("unset BASH_ENV; exec sleep 100")
    assert (code, calls) == (143, [])


def test_a_shell_reads_it(play):
    play("exit 0")
    subprocess.run(["bash", "-n", str(play.fleet / "job.sh")], check=True)
