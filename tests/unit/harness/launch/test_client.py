"""The launcher's client beside the launcher: what `test_launcher` cannot see of it."""

from __future__ import annotations

import os
import subprocess
import sys

from harness.launch.client import _children


def plant(proc, files):
    for name, text in files.items():
        path = proc / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return proc


def test_children_are_read_from_the_list_of_each_thread(tmp_path):
    proc = plant(tmp_path, {"7/task/7/children": "8 9 \n", "7/task/70/children": "5\n"})
    assert sorted(_children(7, proc)) == [5, 8, 9]
    assert _children(6, proc) == ()


def test_children_are_found_by_their_parent_where_there_is_no_list(tmp_path):
    files = {
        "7/task/7/stat": "7 (x) S 1\n",
        "8/stat": "8 (a) b) (c) S 7 8 8\n",  # a name may hold blanks and brackets
        "9/stat": "9 (sh) S 8 9\n",
        "10/task": "ended while we looked: it has no stat",
        "uptime": "1 1\n",
    }
    assert _children(7, plant(tmp_path, files)) == (8,)


def test_a_child_of_this_very_process_is_found():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as child:
        assert child.pid in _children(os.getpid())
        child.communicate(b"\n")
