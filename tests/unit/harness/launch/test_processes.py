"""What /proc tells of processes: from planted files, and of this very one."""

from __future__ import annotations

import os
import subprocess
import sys

from harness.launch.exchange import children, is_stopped


def plant(proc, files):
    for name, text in files.items():
        path = proc / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return proc


def test_children_are_read_from_the_list_of_each_thread(tmp_path):
    proc = plant(tmp_path, {"7/task/7/children": "8 9 \n", "7/task/70/children": "5\n"})
    assert sorted(children(7, proc)) == [5, 8, 9]
    assert children(6, proc) == ()


def test_children_are_found_by_their_parent_where_there_is_no_list(tmp_path):
    files = {
        "7/task/7/stat": "7 (x) S 1\n",
        "8/stat": "8 (a) b) (c) S 7 8 8\n",  # a name may hold blanks and brackets
        "9/stat": "9 (sh) S 8 9\n",
        "10/task": "ended while we looked: it has no stat",
        "uptime": "1 1\n",
    }
    assert children(7, plant(tmp_path, files)) == (8,)


def test_a_child_of_this_very_process_is_found():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as child:
        assert child.pid in children(os.getpid())
        child.communicate(b"\n")


def test_a_process_is_stopped_by_a_signal_or_by_who_traces_it(tmp_path):
    # authority: the states of proc(5); a name may hold blanks and brackets
    for number, state in enumerate("RSDTtZ", 1):
        plant(tmp_path, {f"{number}/stat": f"{number} (a) T (b) {state} 1 2\n"})
    assert [is_stopped(number, tmp_path) for number in range(1, 7)] == [0, 0, 0, 1, 1, 0]
    assert not is_stopped(99, tmp_path)  # which has ended: nobody knows
