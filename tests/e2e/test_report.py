"""The installed command writes reports: each form, where nothing may be read, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "tests" / "data" / "sample-0.2.0"


@pytest.fixture
def sample(lab):
    return shutil.copytree(SAMPLE, lab.folder / "runs" / "sample")


def test_forms_of_the_newest_trial(lab, sample):
    for name, start in (("r.md", "### "), ("r.txt", "gzip-1 ")):
        done = lab.run_fairtrial("report", "-o", name)  # of the newest trial
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[0] == name
        assert (lab.folder / name).read_text("utf-8").startswith(start)
    assert sorted(path.name for path in lab.folder.iterdir()) == ["r.md", "r.txt", "runs"]


def test_the_same_bytes_from_another_folder_and_another_time(lab, sample, tmp_path):
    first = lab.run_fairtrial("report", sample, "--format", "html", "-o", "-")
    other = lab.run_fairtrial("report", sample, "--format", "html", "-o", "-", cwd=tmp_path)
    assert first.returncode == 0
    assert first.stdout == other.stdout
    assert not (sample / "report.html").exists()


def test_a_trial_that_was_just_measured(lab):
    done = lab.run_fairtrial("run", lab.write_campaign(), "--quiet")
    assert done.returncode == 0
    done = lab.run_fairtrial("report", "--format", "txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert "over these 2 benchmarks" in done.stdout
