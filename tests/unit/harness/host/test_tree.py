"""What a tree of files says that cannot be read. Authority: open(2), EMFILE and ENFILE are about the process and the host."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from harness.host.state import Tree


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_that_no_more_files_can_be_opened_is_not_said_of_a_file(tmp_path, monkeypatch, number):
    def refused(*_):
        raise OSError(number, os.strerror(number))

    (tmp_path / "there").write_text("1\n")
    tree = Tree(tmp_path)
    monkeypatch.setattr(Path, "read_bytes", refused)
    monkeypatch.setattr(os, "listdir", refused)
    for look in (tree.text, tree.cpus, tree.names, tree.number):
        with pytest.raises(OSError, match=os.strerror(number)):
            look("/there")


def test_a_file_that_may_not_be_read_is_unknown(tmp_path):
    tree = Tree(tmp_path)
    assert (tree.text("/none"), tree.cpus("/none"), tree.names("/none")) == (None, None, None)
