"""What somebody accepts of an artifact: how many files of which size, how much time and memory."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.artifact import reproduce as reproduction
from analysis.artifact.recomputing import Limits
from analysis.artifact.reproduce import USUAL
from analysis.commands.share import write_reproduction
from analysis.errors import StoreError

USUALLY = {
    "as_json": True,
    "markdown": False,
    "folder": None,
    "max_entries": 10_000,
    "max_bytes": 1_000_000,
    "timeout_s": None,
    "max_memory": None,
    "quiet": True,
}


def test_more_entries_than_accepted_are_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in "abc":
            archive.writestr(name, "123")
    with pytest.raises(StoreError, match="it has 3 entries, more than 2"):
        write_reproduction(path, io.StringIO(), io.StringIO(), **{**USUALLY, "max_entries": 2})


@pytest.mark.parametrize(
    ("given", "total_s", "memory_bytes"),
    [
        ({}, USUAL.total_s, USUAL.memory_bytes),
        ({"timeout_s": 7.0}, 7.0, USUAL.memory_bytes),
        ({"max_memory": 10**9}, USUAL.total_s, 10**9),
    ],
)
def test_limits_that_are_not_given_are_the_usual_ones(monkeypatch, given, total_s, memory_bytes):
    seen = []

    def reproduce(_path, *, limits, **_more):
        seen.append(limits)
        return SimpleNamespace(exit_code=0, to_dict=dict)

    monkeypatch.setattr(reproduction, "reproduce", reproduce)
    write_reproduction(Path("a"), io.StringIO(), io.StringIO(), **USUALLY | given)
    assert seen == [Limits(total_s=total_s, memory_bytes=memory_bytes)]
