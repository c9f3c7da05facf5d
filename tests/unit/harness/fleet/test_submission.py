"""What stays of a submission that failed. Authority: the queue and the folder."""

from __future__ import annotations

import dataclasses
import fcntl
import math
import os
import pwd
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from analysis.errors import StoreError, UsageError
from analysis.record.fleet import read_fleet
from harness.campaign.model import Command, Isolation
from harness.campaign.resolve import load_campaign
from harness.errors import HostError, LaunchError
from harness.fleet import submission as scripts
from harness.fleet.slurm import Node, Scheduler, checked_arguments
from harness.fleet.status import cancel, resubmission_of
from harness.fleet.submission import (
    Wishes,
    build_once,
    least_limit_s,
    limit_of,
    limit_of_seconds,
    listed,
    places_for,
    require_time,
    script_of,
    seconds_of_limit,
    submission_of,
    user_name,
)
from harness.launch.matching import Interrupted, Interrupts
from tests.unit.harness.fleet.conftest import Played


class Taking(Played):
    """Takes jobs; of the second one it says nothing in time. `deaf`: cancels nothing."""

    deaf = False

    def submit(self, command):
        number = str(len(self.queue) + 100)
        host, comment = (command[command.index(name) + 1] for name in ("-w", "--comment"))
        self.add(number, "PENDING", wanted=host, comment=comment)
        if number == "101":
            raise HostError("Slurm has not answered for 60 s")
        return number

    def end(self, jobs):
        if not self.deaf:
            super().end(jobs)


@pytest.fixture
def taking(played):
    return Taking()


def first(fleet, taking):
    """Give a first submission: the fleet's, into a folder that is still to be made."""
    planned = resubmission_of(fleet, scheduler=taking)
    return dataclasses.replace(planned, folder=fleet.with_name("c-1"), fresh=True, again=None)


def test_a_job_that_slurm_took_without_a_word_is_taken_back_too(fleet, taking):
    planned = first(fleet, taking)
    said = []
    with pytest.raises(HostError, match="60 s"):
        planned.execute(said.append)
    assert [job.state for job in taking.queue.values()] == ["CANCELLED", "CANCELLED"]
    assert not planned.folder.exists()
    assert said == []


def test_ctrl_c_that_ended_sbatch_too_is_no_refusal(fleet, taking, monkeypatch):
    def end_both(_self, _command):
        signal.raise_signal(signal.SIGINT)
        raise LaunchError("Slurm refuses a job: KeyboardInterrupt")

    monkeypatch.setattr(Taking, "submit", end_both)
    planned = first(fleet, taking)
    with pytest.raises(Interrupted):
        planned.execute([].append)
    assert not planned.folder.exists()


def test_a_fleet_of_which_a_job_has_begun_stays_without_a_job_in_the_queue(fleet, taking):
    planned = first(fleet, taking)

    class Begun(Taking):
        def submit(self, command):
            (planned.folder / "lab1.log").touch()
            return super().submit(command)

    begun = Begun()
    with pytest.raises(HostError, match="60 s"):
        dataclasses.replace(planned, scheduler=begun).execute([].append)
    assert {job.state for job in begun.queue.values()} == {"CANCELLED"}
    assert read_fleet(planned.folder).names == ("lab1", "lab2")


def test_a_fleet_whose_jobs_could_not_be_taken_back_stays_and_is_cancelled_later(fleet, taking):
    taking.deaf = True
    planned = first(fleet, taking)
    said = []
    with pytest.raises(HostError, match="60 s"):
        planned.execute(said.append)
    assert "still there: 100, 101" in said[0]
    assert f"fairtrial cancel {planned.folder}" in said[0]
    assert read_fleet(planned.folder).hosts[0].jobs == ("7", "100")
    taking.deaf = False
    assert cancel(planned.folder, said.append, taking).cancelled == ("100", "101")


def test_two_do_not_submit_for_a_fleet_at_once(fleet, taking, leaks):
    planned = resubmission_of(fleet, scheduler=taking)
    before = (fleet / "fleet.json").read_bytes()
    fd = os.open(fleet / "job.sh", os.O_RDWR | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    with pytest.raises(StoreError, match="another 'fairtrial submit'"):
        planned.execute([].append)
    os.close(fd)
    assert not leaks(fleet)
    assert taking.queue == {}
    assert (fleet / "fleet.json").read_bytes() == before


def test_a_resume_that_submits_nothing_lets_a_cancel_hold(fleet, taking):
    for number, host in (("7", "lab1"), ("8", "lab2")):
        taking.add(number, "COMPLETING", wanted=host)
    (fleet / "cancelled").touch()
    assert resubmission_of(fleet, scheduler=taking).execute([].append).jobs == ()
    assert (fleet / "cancelled").exists()


def test_a_folder_may_have_a_name_that_is_no_utf_8(fleet, taking, monkeypatch):
    odd = os.fsdecode(b"caf\xe9")
    moved = fleet.with_name(odd)
    fleet.rename(moved)
    monkeypatch.setattr(Taking, "submit", lambda _self, command: str(len(command)))
    resubmission_of(moved, scheduler=taking).execute([].append)
    assert b"/caf\xe9'\n" in (moved / "job.sh").read_bytes()


def test_a_host_whose_job_was_not_submitted_has_none(fleet, taking):
    planned = resubmission_of(fleet, scheduler=taking)
    for jobs, told in (
        ((), (None, None)),
        (("100",), ("100", None)),
        (("100", "101"), ("100", "101")),
    ):
        hosts = dataclasses.replace(planned, jobs=jobs).to_dict()["hosts"]
        assert [(each["host"], each["job"]) for each in hosts] == list(
            zip(("lab1", "lab2"), told, strict=True)
        )


def test_programs_that_were_built_once_are_looked_for_at_once(make_campaign, make_cell, tmp_path):
    missing = make_cell(command=Command(argv=("./absent",), mark="campaign.yaml:3:1"))
    with Interrupts() as interrupts:
        build_once(make_campaign(), tmp_path, interrupts, [].append)
        with pytest.raises(LaunchError, match="absent"):
            build_once(make_campaign(cells=(missing,)), tmp_path, interrupts, [].append)


LAYOUTS = """\
name: layouts
variants: {old: {build: {run: make, each: %s}}, new: }
benchmarks: {x: {command: [run]}}
"""


def test_what_each_session_builds_is_built_by_no_submission(tmp_path, taking):
    path = tmp_path / "layouts.yaml"

    def submitted(each, build):
        path.write_text(LAYOUTS % each)
        wishes = Wishes(hosts="lab1,lab2", time="10", build=build)
        return submission_of(load_campaign(path), wishes, tmp_path, taking)

    with pytest.raises(UsageError, match="builds of old belong to each session") as refused:
        submitted("session", "once")
    assert refused.value.where == "--build once"
    (told,) = [note for note in submitted("session", "node").notes if "host builds" in note]
    assert told.startswith(f"every host builds its programs before each session in {tmp_path}: ")
    assert "while they are measured" in told
    assert "--build once" not in told
    assert submitted("campaign", "once").campaign is not None
    (told,) = [note for note in submitted("campaign", "node").notes if "host builds" in note]
    assert told.endswith("--build once builds them here, before submission")


def test_a_user_without_a_name_has_a_number(monkeypatch):
    monkeypatch.setattr(pwd, "getpwuid", lambda number: SimpleNamespace(pw_name=f"n{number}"))
    assert user_name() == f"n{os.geteuid()}"

    def unknown(number):
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert user_name() == str(os.geteuid())


def test_only_variables_that_are_kept_by_name_and_are_there_go_with_a_job(
    make_campaign, played, tmp_path, monkeypatch
):
    for name in ("KEPT_A", "KEPT_B", "OTHER"):
        monkeypatch.setenv(name, "x")
    monkeypatch.delenv("GONE", raising=False)
    isolation = Isolation(
        cpus="none", keep_environment=("KEPT_*", "GONE"), set_environment={"KEPT_SET": "y"}
    )
    planned = submission_of(
        make_campaign(isolation=isolation), Wishes(hosts="lab1", time="10"), tmp_path, played
    )
    assert planned.fleet.further["slurm"]["exported"] == ["KEPT_A", "KEPT_B"]


# --- Which hosts a campaign goes to. Authority: the nodes and partitions that are played


def test_named_hosts_keep_their_order(played):
    hosts, partition, notes = places_for(Wishes(hosts="lab2,lab1"), played)
    assert (hosts, partition.name, notes) == (("lab2", "lab1"), "batch", ())


def test_those_that_are_free_now_are_taken_first(played):
    for number, state in enumerate(("allocated", "idle", "drained", "down*", "mixed", "idle"), 1):
        name = f"n{number}"
        played.known[name] = Node(name=name, state=state, reason=None)
    for name in ("lab1", "lab2"):
        del played.known[name]
    assert places_for(Wishes(partition="batch", count=2), played)[0] == ("n2", "n6")
    hosts, _, notes = places_for(Wishes(partition="batch"), played)
    assert hosts == ("n1", "n2", "n5", "n6")
    assert notes == ("left out: n3 is drained", "left out: n4 is down")
    with pytest.raises(UsageError, match="4 hosts that can be used, and 5 are asked for"):
        places_for(Wishes(partition="batch", count=5), played)


def test_without_a_default_partition_one_is_asked_for(played):
    played.parts["batch"] = dataclasses.replace(played.parts["batch"], default=False)
    with pytest.raises(UsageError, match="no default partition") as caught:
        places_for(Wishes(hosts="lab1"), played)
    assert "batch" in caught.value.fix


@pytest.mark.parametrize("sharing", ["FORCE", "FORCE:4", "force:2"])
def test_a_partition_that_shares_cpus_is_refused(played, sharing):
    played.parts["batch"] = dataclasses.replace(played.parts["batch"], oversubscribe=sharing)
    with pytest.raises(UsageError, match="share their CPUs"):
        places_for(Wishes(hosts="lab1"), played)


def test_strangers_are_named_and_not_all_of_them(played):
    many = ",".join(f"x{number}" for number in range(20))
    with pytest.raises(UsageError, match=r"x0, .*x7 and 12 more; nothing was submitted"):
        places_for(Wishes(hosts=f"lab1,{many}"), played)


def test_as_many_names_as_are_shown_leave_none_to_count():
    eight = [f"x{number}" for number in range(8)]
    assert listed(eight) == "x0, x1, x2, x3, x4, x5, x6, x7"
    assert listed([*eight, "x8"]) == "x0, x1, x2, x3, x4, x5, x6, x7 and 1 more"


@pytest.mark.parametrize(
    ("limit", "most", "fits"),
    [("60", "1:00:00", True), ("61", "1:00:00", False), ("7-0", "UNLIMITED", True)],
)
def test_the_partitions_longest_time(played, limit, most, fits):
    partition = dataclasses.replace(played.parts["batch"], max_time=most)
    if fits:
        require_time(limit, partition)
    else:
        with pytest.raises(UsageError, match="at most 1:00:00"):
            require_time(limit, partition)


# --- What may go to sbatch as it is. Authority: getopt_long(3) and the options of sbatch(1)


@pytest.mark.parametrize(
    "words",
    [
        *(("--account=me",), ("-A", "me", "--qos=high"), ("-d", "afterok:1", "-v"), ()),
        *(("--constraint=skylake", "--cpu-freq=Performance"), ("--mem-bind=local", "--time-min=5")),
        ("-QA", "me", "--reservation", "night"),
    ],
)
def test_other_options_go_through(words):
    assert checked_arguments(words) == words


@pytest.mark.parametrize(
    "words",
    [
        *(("--nodes=2",), ("-N2",), ("-N", "2"), ("--exclusive",)),
        ("--excl",),  # getopt takes it for --exclusive
        ("--no-requeue",),
        ("-vt5",),  # -v takes no value: -t follows
        *(("--test-only",), ("--hold",), ("-H",), ("--array=1-3",), ("-A", "me", "--comment=x")),
        *(("other.sh",), ("-A", "me", "other.sh"), ("--account=me", "other.sh")),
        ("-Ame", "other.sh"),  # the value stands there already
        ("--contiguous", "other.sh"),  # takes none
        *(("-Q", "other.sh"), ("-",)),
    ],
)
def test_our_own_options_and_other_scripts_are_refused(words):
    with pytest.raises(UsageError) as caught:
        checked_arguments(words)
    assert caught.value.fix


def test_wishes_become_options_of_run():
    wishes = Wishes(wait_s=math.inf, build="once", seed=4)
    assert wishes.job_options == ("--wait-for-lock", "--built", "--seed=4")
    assert Wishes(wait_s=30.0).job_options == ("--wait-for-lock=30",)
    assert Wishes().job_options == ()


# --- Time limits. Authority: sbatch(1), "Acceptable time formats"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("90", 5400), ("90:30", 5430), ("1:30:00", 5400), ("1-12", 129600)),
        *(("1-12:30", 131400), ("1-12:30:15", 131415), ("00:10:00", 600)),
        *((text, math.inf) for text in ("UNLIMITED", "infinite", "9" * 5000)),
        *((text, None) for text in ("soon", "", "-5", "1:2:3:4", "1.5")),
    ],
)
def test_slurms_notation(text, seconds):
    assert seconds_of_limit(text) == seconds


@given(st.floats(1, 1e7))
def test_what_is_written_reads_back_and_is_never_less(seconds):
    read = seconds_of_limit(limit_of_seconds(seconds))
    assert seconds <= read < seconds + 60.001


@pytest.mark.parametrize(
    ("wanted", "expected", "longest", "limit"),
    [
        ("5", None, None, "5"),  # who names a time gets it
        (None, 60.0, 1.0, "00:10:00"),  # never below ten minutes
        (None, 3600.0, 1.0, "02:00:00"),  # twice the plan
        (None, 60.0, 600.0, "00:36:00"),  # three times (120 s + the longest run)
    ],
)
def test_the_limit_of_a_job(wanted, expected, longest, limit):
    assert limit_of(wanted, expected, longest) == limit


def test_an_unknown_estimate_asks_for_a_time():
    with pytest.raises(UsageError, match="unknown") as caught:
        limit_of(None, None, 5.0)
    assert caught.value.where == "--time"
    assert least_limit_s(None) == 600


@pytest.mark.parametrize("wanted", ["soon", "0", "0:00"])
def test_what_is_no_time_is_refused(wanted):
    with pytest.raises(UsageError, match="notation"):
        limit_of(wanted, 60.0, 1.0)


# --- The batch script, executed by a shell with Slurm's commands played by files
#
# Authority: bash itself, and what the script wrote.


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
