"""``run --resume --trial DIR`` starts a trial there, or goes on with it: one command for a job script."""

from __future__ import annotations

import shutil
import signal

import pytest


@pytest.fixture
def place(lab):
    return lab.folder / "lab" / "one"


def start_or_continue(lab, path, place, *more):
    return lab.run_fairtrial("run", path, "--resume", "--trial", place, *more)


def test_an_absent_folder_is_started_then_gone_on_with(lab, place):
    path = lab.write_campaign(protocol={"sessions": 1, "runs": 2, "warmup": 0, "max_runs": 1})
    first = start_or_continue(lab, path, place)
    assert f"starting a new trial in {place}" in first.stderr
    assert lab.manifest(place)["trial"] == "one"
    rows = lab.lines(place)
    assert len(rows) == 1
    lab.write_campaign(protocol={"sessions": 1, "runs": 2, "warmup": 0, "max_runs": 50})
    second = start_or_continue(lab, path, place, "--accept-drift")
    assert second.returncode == 0, second.stderr
    assert "starting a new trial" not in second.stderr
    assert lab.lines(place)[:1] == rows
    assert lab.manifest(place)["status"] == "complete"


def test_the_verdict_reads_it_like_any_other(lab, place):
    path = lab.write_campaign(protocol={"sessions": 2, "runs": 2, "warmup": 0})
    assert start_or_continue(lab, path, place).returncode == 0
    assert lab.run_fairtrial("verdict", place).returncode == 0


def test_an_empty_folder_is_taken(lab, place):
    place.mkdir(parents=True)
    path = lab.write_campaign()
    done = start_or_continue(lab, path, place)
    assert done.returncode == 0, done.stderr
    assert "starting a new trial" in done.stderr


def test_a_start_that_failed_while_building_is_started_anew(lab, place):
    path = lab.write_campaign(build=[["false"]])
    failed = start_or_continue(lab, path, place)
    assert failed.returncode == 4
    assert place.is_dir()
    lab.write_campaign(build=[["true"]])  # mended: nothing was measured, so nothing has drifted
    done = start_or_continue(lab, path, place)
    assert done.returncode == 0, done.stderr
    assert "starting a new trial" in done.stderr
    lab.assert_complete_once_each(place)


def test_a_start_that_was_killed_is_started_anew(lab, place):
    lab.hold()
    path = lab.write_campaign(build=[["sh", "-c", lab.waiting, lab.marker]])
    process = lab.start_fairtrial("run", path, "--resume", "--trial", place)
    lab.wait_until_reached(process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    lab.wait_until_all_gone()
    lab.release()
    done = start_or_continue(lab, path, place)
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(place)


def test_drift_is_accepted_only_of_a_trial_that_there_is(lab, place):
    path = lab.write_campaign()
    done = start_or_continue(lab, path, place, "--accept-drift")
    assert done.returncode == 5
    assert not place.exists()


def test_a_trial_of_another_campaign_is_refused_and_left_alone(lab, place):
    path = lab.write_campaign(build=[["false"]])
    assert start_or_continue(lab, path, place).returncode == 4
    before = {file.name for file in place.iterdir()}
    other = lab.write_campaign("other")
    done = start_or_continue(lab, other, place)
    assert done.returncode == 5, done.stderr
    assert {file.name for file in place.iterdir()} == before


@pytest.mark.parametrize("name", ["thesis.tex", "outputs/thesis.tex"])
def test_any_other_folder_is_refused_and_left_alone(lab, place, name):
    file = place / name
    file.parent.mkdir(parents=True)
    file.write_text("years of work")
    path = lab.write_campaign()
    done = start_or_continue(lab, path, place)
    assert done.returncode == 5, done.stderr
    assert file.read_text() == "years of work"


def test_links_in_the_folder_are_refused(lab, place):
    path = lab.write_campaign(build=[["false"]])
    assert start_or_continue(lab, path, place).returncode == 4
    aim = lab.folder / "aim"
    aim.mkdir()
    (aim / "kept").touch()
    shutil.rmtree(place / "outputs")
    (place / "outputs").symlink_to(aim)
    done = start_or_continue(lab, path, place)
    assert done.returncode == 5
    assert "symbolic links" in done.stderr
    assert (aim / "kept").exists()


def test_seconds_stand_behind_an_equals_sign_only(lab):
    path = lab.write_campaign()
    done = lab.run_fairtrial("run", "--wait-for-lock", path)
    assert done.returncode == 0, done.stderr
    done = lab.run_fairtrial("run", "--wait-for-lock=soon", path)
    assert done.returncode == 2
    assert "must be a number of seconds, not 'soon'" in done.stderr
