"""The installed command writes reports: the same bytes from anywhere, and of what was just measured."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "tests" / "data" / "sample-0.2.0"


@pytest.fixture
def sample(lab):
    return shutil.copytree(SAMPLE, lab.folder / "runs" / "sample")


def test_the_same_bytes_from_another_folder_and_another_time(lab, sample, tmp_path):
    first = lab.run_fairtrial("report", sample, "--format", "html", "-o", "-")
    other = lab.run_fairtrial("report", sample, "--format", "html", "-o", "-", cwd=tmp_path)
    assert first.returncode == 0
    assert first.stdout == other.stdout
    assert not (sample / "report.html").exists()
