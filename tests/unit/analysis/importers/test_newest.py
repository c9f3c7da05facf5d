"""Without a source the trial that was begun last is meant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.errors import UsageError
from analysis.importers.reader import newest_trial

TIMES = {"a": {"x": [1.0, 1.1]}, "b": {"x": [2.0, 2.1]}}


def test_the_one_begun_last(synthetic, tmp_path):
    for name, started in (("z", "2026-11-21T04:12:00Z"), ("a", "2026-11-22T00:00:00Z")):
        made = synthetic(TIMES)
        made.manifest = replace(made.manifest, started=started)
        made.write(tmp_path / "runs" / name)
    assert newest_trial(tmp_path / "runs") == tmp_path / "runs" / "a"


def test_what_is_no_trial_is_passed_over(synthetic, tmp_path):
    synthetic(TIMES).write(tmp_path / "runs" / "good")
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "manifest.json").write_text("{")
    (tmp_path / "runs" / "README.md").write_text("")
    assert newest_trial(tmp_path / "runs").name == "good"


@pytest.mark.parametrize("there", [True, False])
def test_none_is_an_error_that_says_what_to_do(tmp_path, there):
    folder = tmp_path / "runs"
    if there:
        folder.mkdir()
    with pytest.raises(UsageError, match="no trial is named") as caught:
        newest_trial(folder)
    assert "fairtrial run" in str(caught.value)
