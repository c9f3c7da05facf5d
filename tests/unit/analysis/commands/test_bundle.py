"""Artifacts with more in them than somebody accepts."""

from __future__ import annotations

import io
import zipfile

import pytest

from analysis.commands.bundle import write_reproduction
from analysis.errors import StoreError


def test_more_entries_than_accepted_are_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in "abc":
            archive.writestr(name, "123")
    with pytest.raises(StoreError, match="it has 3 entries, more than 2"):
        write_reproduction(
            path,
            io.StringIO(),
            io.StringIO(),
            form="txt",
            folder=None,
            max_entries=2,
            max_bytes=1_000_000,
            timeout_s=None,
            timeout_each_s=None,
            max_memory=None,
            quiet=True,
        )
