"""What the doctor says of settings that are tuned, kept, or left behind."""

from __future__ import annotations

import os

import pytest

from analysis.record.shapes import encode_checked
from harness.tune.journal import NAME, finding_of_tuning
from harness.tune.tuner import tune


def test_a_host_that_is_not_tuned_is_no_finding(laptop):
    assert finding_of_tuning(laptop) is None
    (laptop / "run/fairtrial").mkdir(mode=0o700)
    assert finding_of_tuning(laptop) is None  # an empty folder tells of nothing


def test_settings_that_are_kept_are_in_order_and_said(laptop, proposed):
    tune(proposed(), laptop)
    found = finding_of_tuning(laptop)
    assert (found.check, found.status, found.fix) == ("tune", "ok", "sudo fairtrial tune --undo")
    assert "changed 6 settings of this host since 20" in found.what


@pytest.mark.parametrize("lines", [[], [{"change": 0}], [{"change": 0}, {"took": 0}]])
def test_a_tune_that_died_is_a_warning(laptop, lines):
    folder = laptop / "run/fairtrial"
    folder.mkdir(mode=0o700)
    text = [{"journal": 1, "kept": True, "started": "2026-01-01T00:00:00Z"}, *lines]
    (folder / NAME).write_bytes(b"".join(encode_checked(line) + b"\n" for line in text))
    found = finding_of_tuning(laptop)
    assert found.status == "warn"
    assert f"left changed {len(lines) > 0:d} setting" in found.what


def test_a_folder_of_others_is_not_believed(laptop):
    folder = laptop / "run/fairtrial"
    folder.mkdir()
    folder.chmod(0o777)
    found = finding_of_tuning(laptop)
    assert (found.status, "not trusted" in found.what) == ("warn", True)


def test_who_may_not_look_knows_nothing(laptop, monkeypatch):
    (laptop / "run/fairtrial").mkdir(mode=0o700)
    monkeypatch.setattr(os, "access", lambda *_: False)
    found = finding_of_tuning(laptop)
    assert (found.status, found.fix) == ("unknown", "sudo fairtrial doctor")
