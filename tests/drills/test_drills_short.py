"""A few of each fault of the drills, and every case that once failed: the attacks on 0.1.0, A and B.

The long form is ``python tests/drills``.
"""

from __future__ import annotations

import importlib
import json
from random import Random

import cases
import children
import pytest
import soak
from arena import FAIRTRIAL, Arena

KEPT = sorted(cases.FOUND.glob("*.case"))

pytestmark = pytest.mark.skipif(not FAIRTRIAL.exists(), reason="the command is not installed")


@pytest.fixture(autouse=True)
def _forks(forks, monkeypatch):
    """Start as a fork of the warm process what nobody traces and no terminal controls."""
    fresh = Arena.start

    def start(arena, *args, prefix=(), preexec_fn=None, **streams):
        if prefix or streams:
            return fresh(arena, *args, prefix=prefix, preexec_fn=preexec_fn, **streams)
        # without the bound of memory: it is for damages which only the long form makes
        said = arena.said
        return forks.start(
            list(args), cwd=arena.folder, environment=arena.environment, out=said, err=said
        )

    monkeypatch.setattr(Arena, "start", start)


def attempt(drill, case):
    """Attempt a case; nothing may be violated."""
    module = importlib.import_module(drill)
    reason = getattr(module, "missing", lambda: None)()
    if reason and (drill != "children" or children.CHILDREN[case["child"]].dangerous):
        pytest.skip(reason)
    arena = cases.attempted(module.attempt, case)
    assert (arena.violations, arena.left) == ([], 0)
    return arena


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_once_failed_does_no_more(path):
    attempt(path.name.partition("--")[0], json.loads(path.read_text()))


@pytest.mark.parametrize(
    ("contained", "kills", "of"),
    [
        (True, [["both", "program"]], "run"),
        (True, [["both", "program"]], "services"),
        (True, [["hook launcher", "session"], ["orchestrator", "row 3"]], "run"),
        (True, [["process 1", "row 3"]], "run"),
        (True, [["orchestrator", "row 3"]], "bisect"),
        (False, [["orchestrator", "row 3"]], "run"),
        (False, [["launcher", "row 1"]], "run"),
        (False, [["hook launcher", "row 1"]], "run"),  # in the one warm-up of its cell
    ],
)
def test_killed_at_an_instant(contained, kills, of):
    case = {"contained": contained, "kills": kills, "of": of, "held": True}
    assert attempt("kills", case).faults == len(kills)


@pytest.mark.parametrize(
    ("call", "fault", "when"),
    [
        ("write", "error=ENOSPC", "9"),
        ("fdatasync", "error=EIO", "2+"),
        ("rename", "signal=SIGKILL", "1"),
    ],
)
def test_a_system_call_fails(call, fault, when):
    case = {"call": call, "fault": fault, "when": when, "rows": 0}
    assert attempt("faults", case).faults == 1


@pytest.mark.parametrize("case", [{"bytes": 0, "run": 4}, {"inodes": 10}], ids=str)
def test_a_full_disk(case):
    assert attempt("disk", case).faults == 1


@pytest.mark.parametrize("send", [["^Z", "^C"], ["closed"]], ids=str)
def test_a_signal(send):
    assert attempt("signals", {"send": send, "at": "row 3", "held": True}).faults == 1


@pytest.mark.parametrize(
    ("child", "contained"), [("double fork", False), ("hopper", True), ("kill -9 -1", True)]
)
def test_a_hostile_child(child, contained):
    assert attempt("children", {"child": child, "contained": contained}).faults == 4


def test_a_damaged_trial():
    # others are among those that once failed
    attempt("damage", {"file": "plan.jsonl", "damage": "a list", "finished": False})


def test_a_short_soak(monkeypatch):
    monkeypatch.undo()  # its memory is looked at: that of a process of its own
    (row,) = soak.drill(1, 300)
    assert row.clean, row
    assert row.runs == 300


def test_the_same_seed_makes_the_same_cases():
    for name in ("kills", "signals", "disk", "children", "damage"):
        make = importlib.import_module(name).cases
        first, again, other = (list(make(Random(seed), 40)) for seed in (1, 1, 2))
        assert first == again
        assert first != other
        assert len(first) == 40
    assert {case["child"] for case in children.cases(Random(1), 29)} == {*children.CHILDREN}
