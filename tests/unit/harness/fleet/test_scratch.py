"""A trial in two places. Authority: the bytes of its files."""

from __future__ import annotations

import os
import shutil

import pytest

from analysis.errors import StoreError
from harness.fleet import node_trial as scratches
from harness.fleet.node_trial import Scratch


@pytest.fixture
def trial(tmp_path, request):
    """Give a trial that was measured, as any reader finds it: the sample trial."""
    sample = next(
        (request.config.rootpath / "tests" / "data" / "sample-0.2.0").parent.glob("sample*")
    )
    shutil.copytree(sample, tmp_path / "fleet" / "lab1")
    return tmp_path / "fleet" / "lab1"


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_is_there_is_brought_and_a_complete_trial_is_removed(trial, tmp_path):
    before = contents(trial)
    scratch = Scratch(tmp_path / "disk", trial)
    scratch.fetch()
    assert contents(scratch.local) == before
    scratch.settle()
    assert contents(trial) == before
    assert not scratch.local.exists()


def test_the_longer_copy_is_gone_on_with(trial, tmp_path):
    scratch = Scratch(tmp_path / "disk", trial)
    scratch.fetch()
    rows = (trial / "measurements.jsonl").read_bytes()
    half = rows[: rows.index(b"\n") + 1]
    (trial / "measurements.jsonl").write_bytes(half)  # the node died before it copied the rest
    scratch.fetch()
    assert (scratch.local / "measurements.jsonl").read_bytes() == rows
    scratch.copy_out()
    assert (trial / "measurements.jsonl").read_bytes() == rows
    (scratch.local / "measurements.jsonl").write_bytes(half)  # the disk was cleaned up
    scratch.fetch()
    assert (scratch.local / "measurements.jsonl").read_bytes() == rows


def test_other_rows_are_no_copy(trial, tmp_path):
    scratch = Scratch(tmp_path / "disk", trial)
    scratch.fetch()
    with (scratch.local / "measurements.jsonl").open("r+b") as file:
        file.write(b"X")
    with pytest.raises(
        StoreError, match="rows of this trial on the node are not those of"
    ) as caught:
        scratch.fetch()
    assert caught.value.fix


def test_a_trial_that_is_not_there_yet(tmp_path):
    scratch = Scratch(tmp_path / "disk", tmp_path / "fleet" / "lab1")
    scratch.fetch()
    assert not scratch.local.exists()
    scratch.settle()  # nothing was measured
    assert not (tmp_path / "fleet").exists()


def test_a_job_that_comes_back_finds_what_it_measured(trial, tmp_path):
    disk = tmp_path / "disk"
    first = Scratch(disk, trial)
    first.fetch()
    with (first.local / "findings.jsonl").open("ab") as file:
        file.write(b"\n")
    again, other = Scratch(disk, trial), Scratch(disk, trial.with_name("lab2"))
    again.fetch()
    other.fetch()
    assert again.local == first.local
    assert (again.local / "findings.jsonl").read_bytes().endswith(b"\n\n")
    assert other.local.parent != first.local.parent  # of two nodes each has its own


def test_a_job_that_was_killed_while_it_fetched_leaves_no_half_of_a_trial(
    trial, tmp_path, monkeypatch
):
    copy = scratches._replace
    left = 0

    def until_killed(path, place):
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt  # of it nothing is cleaned up here
        left -= 1
        copy(path, place)

    monkeypatch.setattr(scratches, "_replace", until_killed)
    for at in range(len(contents(trial))):
        left = at
        with pytest.raises(KeyboardInterrupt):
            Scratch(tmp_path / "disk", trial).fetch()
        left = 10**6
        again = Scratch(tmp_path / "disk", trial)
        again.fetch()
        assert contents(again.local) == contents(trial)
        again.settle()
        assert not any((tmp_path / "disk").iterdir())


def test_an_empty_folder_is_no_trial_yet(tmp_path):
    trial = tmp_path / "fleet" / "lab1"
    trial.mkdir(parents=True)
    scratch = Scratch(tmp_path / "disk", trial)
    scratch.fetch()
    assert not scratch.local.exists()


@pytest.mark.parametrize("made", ["guessed", "open to all", "a link", "of another user"])
def test_a_place_that_somebody_else_made_is_not_taken(trial, tmp_path, made, monkeypatch):
    disk, theirs = tmp_path / "disk", tmp_path / "theirs"
    (theirs / "lab1").mkdir(parents=True)
    disk.mkdir()
    theirs.chmod(0o700)
    name = disk / "fairtrial-fleet-abc"
    if made == "guessed":
        name = disk / "fairtrial-fleet"  # as the fleet is called, which everybody can see
    if made == "a link":
        name.symlink_to(theirs)
    else:
        theirs.rename(name)
    if made == "open to all":
        name.chmod(0o777)
    if made == "of another user":
        monkeypatch.setattr("os.geteuid", lambda: name.stat().st_uid + 1)
    scratch = Scratch(disk, trial)
    scratch.fetch()
    assert scratch.local.parent.resolve() not in {name.resolve(), theirs.resolve()}
    assert scratch.local.parent.stat().st_mode & 0o777 == 0o700
    assert contents(scratch.local) == contents(trial)
    assert not any((name / "lab1").iterdir())


def test_nothing_is_left_on_the_disk_but_a_trial_that_goes_on(trial, tmp_path):
    done = Scratch(tmp_path / "disk", trial)
    done.fetch()
    done.settle()
    none = Scratch(tmp_path / "disk", trial.with_name("lab2"))
    none.fetch()
    none.settle()
    assert not any((tmp_path / "disk").iterdir())


@pytest.mark.powerless
def test_a_folder_that_cannot_be_written_says_where_the_rows_are(trial, tmp_path, unreadable_files):
    scratch = Scratch(tmp_path / "disk", trial)
    scratch.fetch()
    with (scratch.local / "findings.jsonl").open("ab") as file:
        file.write(b"\n")
    trial.chmod(0o500)
    try:
        with pytest.raises(StoreError) as caught:
            scratch.copy_out()
    finally:
        trial.chmod(0o700)
    assert str(scratch.local) in caught.value.what


def test_a_copy_is_on_the_disk_before_it_takes_its_name(trial, tmp_path, monkeypatch):
    scratch = Scratch(tmp_path / "disk", trial)
    scratch.fetch()
    (scratch.local / "findings.jsonl").write_bytes(b"{}\n")
    stored = []
    monkeypatch.setattr(os, "fsync", lambda fd: stored.append(os.pread(fd, 10**6, 0)))
    scratch.copy_out()
    assert stored == [b"{}\n"]
