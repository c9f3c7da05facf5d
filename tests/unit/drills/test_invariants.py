"""A drill must be able to fail: every loss that it looks for is made here once, by hand."""

from __future__ import annotations

import json
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest
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
