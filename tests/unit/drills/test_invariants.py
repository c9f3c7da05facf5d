"""A drill must be able to fail: every loss that it looks for is made here once, by hand."""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import cases
import pytest
import row
import soak
from arena import Arena
from invariants import of_a_command, of_a_finished_trial, whole_rows

SAMPLE = Path(__file__).parents[3] / "tests" / "data" / "sample-0.2.0"


@pytest.fixture
def trial(tmp_path):
    return Path(shutil.copytree(SAMPLE, tmp_path / "trial"))


def change(trial, edit):
    path = trial / "measurements.jsonl"
    path.write_bytes(b"".join(edit(path.read_bytes().splitlines(keepends=True))))


def rewritten(line, **values):
    """Give a row with other values and a right checksum."""
    fields = json.loads(line) | values
    del fields["crc32"]
    body = json.dumps(fields, separators=(",", ":")).encode()
    return body[:-1] + b',"crc32":%d}\n' % zlib.crc32(body)


def kinds(violations):
    return {text.partition(":")[0] for text in violations}


def test_a_good_trial_violates_nothing(trial):
    rows = whole_rows(trial)
    assert len(rows) > 10
    assert of_a_finished_trial(trial, before=rows[:5], executed=len(rows) + 1, interrupted=1) == []


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda lines: lines[:3] + lines[4:], {"row missing", "row lost"}),
        (lambda lines: [*lines, lines[5]], {"row twice"}),
        (lambda lines: [*lines[:-1], lines[-1][:40]], {"row torn", "row missing"}),
        (lambda lines: [lines[1], lines[0], *lines[2:]], {"rows changed their places"}),
        (lambda lines: [*lines[:-1], rewritten(lines[-1], variant="x")], {"row not as planned"}),
        (lambda lines: [*lines, rewritten(lines[-1], position=9999)], {"row not planned"}),
    ],
)
def test_a_wrong_row_is_found(trial, edit, said):
    before = whole_rows(trial)[:5]
    change(trial, edit)
    assert kinds(of_a_finished_trial(trial, before=before)) == said | {"manifest"}


def test_a_program_that_ran_without_a_row_is_found(trial):
    ran = len(whole_rows(trial)) + 2
    found = of_a_finished_trial(trial, executed=ran, interrupted=1)
    assert kinds(found) == {"row lost"}


def test_a_trial_that_did_not_end_is_found(trial):
    path = trial / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"status": "running", "planned": 3}))
    assert kinds(of_a_finished_trial(trial)) == {"manifest", "plan"}


def test_a_torn_last_row_does_not_count_as_one(trial):
    rows = whole_rows(trial)
    change(trial, lambda lines: [*lines[:-1], lines[-1][:-2]])
    assert whole_rows(trial) == rows[:-1]


@pytest.mark.parametrize(
    ("code", "said", "kind"),
    [
        (70, "", "exit code 70"),
        (-11, "", "exit code -11"),
        (None, "", "hang"),
        (0, "x\nTraceback (most recent call last):\n", "traceback"),
    ],
)
def test_a_command_that_ends_badly_is_found(code, said, kind):
    assert kinds(of_a_command(code, said)) == {kind}
    assert of_a_command(0, "done") == []


def test_a_process_that_lives_on_is_found_and_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("arena._LAST_BREATH_S", 0.05)
    arena = Arena(tmp_path)
    started = [
        subprocess.Popen(["sleep", "100"], env=arena.environment),
        # an argument will do too, where the environment was thrown away
        subprocess.Popen(["/bin/sh", "-c", "sleep 100; :", arena.marker], env={}),
        subprocess.Popen(["sleep", "100"], env={}),  # no process of the drill's
    ]
    try:
        while not {process.pid for process in started[:2]} <= {*arena.alive()}:
            assert all(process.poll() is None for process in started)
        arena.bury()
        assert [process.poll() for process in started[2:]] == [None]
        assert [process.wait(20) for process in started[:2]] == [-9, -9]
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert arena.left == 2
    assert kinds(arena.violations) == {"left alive"}


def losing(case, folder):
    """Stand in for a drill in which a row is lost, or nothing."""
    arena = Arena(folder)
    Path(shutil.copytree(SAMPLE, folder / "runs" / "c-1"))
    arena.interrupted()
    arena.faults = 1
    if case["lost"]:
        change(folder / "runs" / "c-1", lambda lines: lines[:-1])
    arena.finish()
    return arena


def test_a_drill_tells_what_was_lost_and_keeps_the_case(tmp_path):
    good = cases.row_of("kills", [{"lost": False}], losing, keep=tmp_path)
    assert good.clean
    assert (good.tried, good.runs, good.wrong) == (1, len(whole_rows(SAMPLE)), 0)
    assert list(tmp_path.iterdir()) == []
    bad = cases.row_of("kills", [{"lost": True}, {"lost": True}], losing, keep=tmp_path)
    assert not bad.clean
    assert bad.wrong >= 2
    (kept,) = tmp_path.iterdir()
    assert re.fullmatch(r"kills--[0-9a-f]{8}\.case", kept.name)
    assert json.loads(kept.read_text()) == {"lost": True}


def test_memory_that_grows_is_found():
    flat = [(k, 44.0 + (k < 20), 7.4) for k in range(100)]
    assert soak.growth(flat, 100) == []
    (said,) = soak.growth([(k, 44.0 + 0.1 * k, 7.4) for k in range(100)], 100)
    assert said.startswith("memory of the orchestrator: 47")
    (said,) = soak.growth([(k, 44.0, 0.0) for k in range(100)], 100)
    assert said == "memory: too few looks at the launcher"


def test_the_table_has_a_line_a_drill_and_one_a_violation():
    pieces = [
        row.Row(drill="kills", tried=2, runs=24, left=0, failed={"row lost: x": 1}, wrong=1),
        row.Row(drill="kills", tried=3, runs=36, left=1, failed={"row lost: x": 2}, wrong=2),
    ]
    slow = [row.Row(drill="damaged x", tried=1, most={"s": s, "MB": 9 - s}) for s in (0.5, 0.25)]
    assert row.merged(slow).cells()[-1] == "at most 0.5 s, 8.75 MB"
    both = row.merged(pieces)
    assert (both.tried, both.runs, both.wrong, both.left) == (5, 60, 3, 1)
    assert both.failed == {"row lost: x": 3}
    head, line, violation = row.table([both]).splitlines()
    assert head.split()[0] == "drill"
    assert line.split()[:6] == ["kills", "5", "60", "3", "1", "3"]
    assert violation.strip() == "3 x row lost: x"


def test_the_command_fails_when_anything_was_violated(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(str(cases.FOUND.parent))
    source = cases.FOUND.with_name("__main__.py").read_text()
    main = {"__name__": "drills", "__file__": str(cases.FOUND.with_name("__main__.py"))}
    exec(compile(source, main["__file__"], "exec"), main)
    main["PAGE"] = tmp_path / "drills.md"
    main["PAGE"].write_text(f"before\n{main['BEGIN']}\nold\n{main['END']}\nafter\n")
    for rows, code in (
        ([row.Row(drill="disk", note="no")], 0),
        ([row.Row(drill="disk", wrong=1)], 1),
    ):
        main["_executed"] = lambda *_, rows=rows: rows
        assert main["main"](["disk", "--write"]) == code
    text = main["PAGE"].read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert f"{datetime.datetime.now(datetime.UTC).date()}" in text
    assert "violated by: disk" in capsys.readouterr().out
    assert "drills" not in sys.modules


def test_the_virtual_machine_says_why_it_is_not_tried(tmp_path):
    drill = Path(__file__).parents[2] / "drills" / "vm"
    done = subprocess.run(
        [sys.executable, str(drill), "--kernel", str(tmp_path / "absent")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": "/nonexistent"},
    )
    assert done.returncode == 0
    assert done.stdout.startswith("drill-vm: nothing was tried: ")
    assert "apt-get" in done.stdout or "x86-64" in done.stdout
