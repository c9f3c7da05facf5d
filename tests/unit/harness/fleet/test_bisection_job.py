"""A bisection as the one job of a fleet: its script, how it stands, and how it is gone on with.

Authority: a shell that executes the script with Slurm's commands played by files; the folder of the bisection.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from analysis.errors import UsageError
from analysis.record.fleet import read_fleet
from harness.campaign.load import load_campaign
from harness.fleet import sbatch as scripts
from harness.fleet.bisection_job import BisectionJob
from harness.fleet.resubmission import resubmission_of
from harness.fleet.sbatch import Wishes
from harness.fleet.status import cancel, read_standing, trials_standing
from harness.fleet.submission import submission_of

from .conftest import Played

GOOD, BAD = "1" * 40, "2" * 40
JOB = BisectionJob(good=GOOD, bad=BAD, words=("--benchmark", "a b", "--margin", "0.02"))
WISHES = Wishes(hosts="lab1", time="1:00:00", wait_s=5.0)
TEXT = """\
name: app
build: [[make]]
variants: {tip: {}}
benchmarks: {x: {command: ["./app"]}}
"""


class Taking(Played):
    """Takes every job."""

    def submit(self, command):
        number = str(len(self.queue) + 100)
        host, comment = (command[command.index(name) + 1] for name in ("-w", "--comment"))
        self.add(number, "PENDING", wanted=host, comment=comment)
        return number

    def release(self, jobs):
        pass


@pytest.fixture
def campaign(tmp_path):
    path = tmp_path / "it's one" / "c.yaml"
    path.parent.mkdir()
    path.write_text(TEXT)
    return load_campaign(path)


@pytest.fixture
def taking(played):
    return Taking()


@pytest.fixture
def submitted(campaign, taking, tmp_path):
    """Submit a bisection to one host; give the folder of the fleet."""
    planned = submission_of(campaign, WISHES, tmp_path / "runs", taking, bisects=JOB)
    return planned.execute([].append).folder


def state(folder, **values):
    place = folder / "lab1"
    place.mkdir(exist_ok=True)
    (place / "bisect.json").write_text(json.dumps(values))
    return place


def standing(folder, taking):
    (one,) = read_standing(folder, taking).hosts
    return one.state, one.done, one.why


def test_it_is_one_job_in_a_folder_of_its_own(campaign, taking, tmp_path):
    planned = submission_of(campaign, WISHES, tmp_path / "runs", taking, bisects=JOB)
    assert planned.folder.name.startswith("bisect-app-")
    (command,) = planned.commands
    assert "-w" in command
    assert command[-2:] == (str(planned.folder / "job.sh"), "lab1")
    assert planned.notes == ()  # each commit is built in a clone: nobody overwrites anything
    done = planned.execute([].append)
    fleet = read_fleet(done.folder)
    assert fleet.further["slurm"]["bisect"] == {"good": GOOD, "bad": BAD}
    assert done.jobs == fleet.hosts[0].jobs == ("100",)


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        (Wishes(hosts="lab1,lab2", time="10"), "one job on one host, and these are 2"),
        (Wishes(hosts="lab1", time="10", build="once"), "--build once does not go with --bisect"),
        (Wishes(hosts="lab1", time="10", scratch=Path("/s")), "--scratch does not go with"),
        (Wishes(hosts="lab1", time="10", seed=3), "--seed does not go with --bisect"),
        (Wishes(hosts="lab1"), "it is unknown how long a host needs"),
    ],
)
def test_what_a_search_on_one_host_has_no_use_for_is_refused(
    campaign, taking, tmp_path, wishes, said
):
    with pytest.raises(UsageError, match=said):
        submission_of(campaign, wishes, tmp_path / "runs", taking, bisects=JOB)
    assert not (tmp_path / "runs").exists()


def test_the_limit_follows_from_what_it_is_expected_to_take(campaign, taking, tmp_path):
    job = BisectionJob(good=GOOD, bad=BAD, expected_s=1200.0)
    planned = submission_of(campaign, Wishes(hosts="lab1"), tmp_path / "runs", taking, bisects=job)
    assert planned.to_dict()["time"] == "00:40:00"


@pytest.fixture
def play(campaign, tmp_path, monkeypatch):
    """Execute the script of a bisection with programs that note how they are called."""
    programs = tmp_path / "bin"
    programs.mkdir()
    calls = tmp_path / "calls"

    def program(name, text):
        (programs / name).write_text(f"#!/bin/bash\n{text}\n")
        (programs / name).chmod(0o755)

    class Placed(Taking):
        def place(self, name):
            return str(programs / name)

    monkeypatch.setattr(scripts, "own_command", lambda: [str(programs / "fairtrial")])
    scheduler = Placed()
    planned = submission_of(campaign, WISHES, tmp_path / "the runs", scheduler, bisects=JOB)
    folder = planned.execute([].append).folder
    program("squeue", "echo RUNNING")
    program("scontrol", 'echo "$@" >> "$CALLS"')

    def execute(fairtrial):
        program("fairtrial", fairtrial)
        calls.write_text("")
        done = subprocess.run(
            ["bash", str(folder / "job.sh"), "lab1"],
            env=os.environ | {"CALLS": str(calls), "SLURM_JOB_ID": "42"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return done.returncode, done.stdout, calls.read_text().splitlines()

    execute.folder, execute.campaign = folder, campaign.source
    return execute


def test_one_command_begins_it_and_goes_on_with_it(play):
    code, _, words = play('printf "%s\\n" "$@" > "$CALLS"')
    assert code == 0
    assert words == [
        *("bisect", GOOD, BAD, "--benchmark", "a b", "--margin", "0.02", "--wait-for-lock=5"),
        *("--campaign", str(play.campaign), f"--resume={play.folder / 'lab1'}"),
    ]


ROW = 'last="${@: -1}"; place="${last#--resume=}/search/0064-8c1f0aa"; mkdir -p "$place"; echo row >> "$place/measurements.jsonl"'


def test_a_start_that_measured_comes_back_after_the_limit_and_no_other(play):
    code, out, calls = play(f"{ROW}; exit 130")
    assert (code, calls) == (130, ["requeue 42"])
    code, out, calls = play("exit 130")  # the rows of before are no progress
    assert (code, calls) == (130, [])
    assert "this start measured nothing" in out
    for ended in (0, 1, 4, 7):
        assert play(f"{ROW}; exit {ended}") == (ended, "", [])
    (play.folder / "cancelled").touch()
    assert play(f"{ROW}; exit 130")[2] == []


def test_its_folder_tells_how_far_it_is(submitted, taking):
    assert standing(submitted, taking) == ("missing", 0, "its bisection has not begun")
    place = state(submitted, state="under-way", store_schema=1)
    (place / "sessions.jsonl").write_text("{}\n{}\n")
    assert standing(submitted, taking) == ("partial", 2, "it was interrupted, or killed")
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert standing(submitted, taking)[:2] == ("running", 2)
    taking.queue["100"] = taking.queue["100"].__class__(
        **{name: getattr(taking.queue["100"], name) for name in taking.queue["100"].__slots__}
        | {"state": "RUNNING"}
    )
    assert standing(submitted, taking)[0] == "running"  # where its lock is not seen from here
    state(submitted, state="ended", sentence="2222222 made it slower by 5.0 %.")
    assert standing(submitted, taking) == ("complete", 2, "2222222 made it slower by 5.0 %.")
    (place / "bisect.json").write_text("{")
    assert standing(submitted, taking)[0] == "failed"


def test_status_says_it_in_a_few_lines_and_the_list_of_trials_too(submitted, taking):
    name = submitted.name
    place = state(submitted, state="under-way")
    (place / "sessions.jsonl").write_text("{}\n")
    taking.queue.clear()
    text = str(read_standing(submitted, taking))
    assert text.startswith(f"{name} · lab1: partial, 1 session;")
    assert "from 111111111111 to 222222222222, submitted" in text
    assert f"fairtrial submit {shlex.quote(str(submitted))}" in " ".join(
        text.replace("\\\n", " ").split()
    )
    state(submitted, state="ended", sentence="2222222 made it slower by 5.0 %.")
    text = str(read_standing(submitted, taking))
    assert "complete, 1 session\n" in text
    assert "2222222 made it slower by 5.0 %." in text
    assert "--resume" not in text
    assert max(map(len, text.splitlines())) <= 80
    (listed,), _ = trials_standing(submitted.parent)
    assert listed.to_dict()["bisect"] == {"good": GOOD, "bad": BAD}


def test_cancel_and_a_new_submission_know_it(submitted, taking):
    state(submitted, state="under-way")
    again = resubmission_of(submitted, scheduler=taking)
    assert again.hosts == ()  # its job is in the queue
    assert cancel(submitted, [].append, taking).cancelled == ("100",)
    again = resubmission_of(submitted, scheduler=taking)
    assert again.hosts == ("lab1",)
    assert again.script == (submitted / "job.sh").read_text()  # the same words
    state(submitted, state="ended", sentence="nothing")
    assert resubmission_of(submitted, scheduler=taking).hosts == ()


def test_a_fleet_of_trials_says_that_it_bisects_nothing(fleet, played):
    """The negative control."""
    assert read_standing(fleet, played).to_dict()["bisect"] is None
