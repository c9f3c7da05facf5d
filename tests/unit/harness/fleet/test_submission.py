"""What stays of a submission that failed. Authority: the queue and the folder."""

from __future__ import annotations

import dataclasses
import fcntl
import os
import pwd
from types import SimpleNamespace

import pytest

from analysis.errors import StoreError, UsageError
from analysis.record.fleet import read_fleet
from harness.campaign.model import Command, Isolation
from harness.campaign.resolve import load_campaign
from harness.errors import HostError, LaunchError
from harness.fleet.status import cancel, resubmission_of
from harness.fleet.submission import Wishes, build_once, submission_of, user_name
from harness.launch.matching import Interrupts

from .conftest import Played


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
