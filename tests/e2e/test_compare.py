"""`fairtrial compare` on virtual times: its JSON, what it leaves, and terminals. Its screens: tests/screens."""

from __future__ import annotations

import json
import os
import pty
import re
import select
from pathlib import Path

from tests.virtual import Times

ANY = ("--cpus", "none")
QUICK = ("--runs", "2", "--sessions", "6", *ANY)


def test_json_is_one_object_with_the_verdicts_keys_and_the_commands(lab):
    done = lab.run_fairtrial("compare", "sleep 0.02", "true", *QUICK, "--json", "-q")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    verdict = lab.run_fairtrial("verdict", lab.trial(), "--json")
    theirs = json.loads(verdict.stdout)
    assert set(theirs) <= set(told)
    line, other = (one["candidates"][0]["multilevel"]["benchmarks"][0] for one in (told, theirs))
    assert line == other  # compare's numbers are the verdict's
    assert told["commands"] == ["sleep 0.02", "true"]
    assert told["stopped_because"] == "runs"
    candidate = told["candidates"][0]
    assert candidate["min"] <= candidate["mean"] <= candidate["max"]
    assert told["sentence"].startswith("'true' ")


def test_prepare_is_executed_before_each_run_in_this_folder(lab):
    hooks = ("--prepare", "echo x >> log; date > made", "--cleanup", "exit 3")
    done = lab.run_fairtrial("compare", "cat made", *QUICK, *hooks)
    assert done.returncode == 0, done.stderr
    assert "hook 'cleanup': failed with exit code 3: exit 3\n" in done.stderr  # it was said nowhere
    rows = lab.read_rows()
    tries = len((lab.folder / "log").read_text().splitlines()) - len(rows)
    assert tries == 2  # it prints: into a pipe and into /dev/null
    assert all(row["before_s"] > 0 for row in rows)


# --- on a terminal ------------------------------------------------------------------------------


def on_terminal(lab, *words, answer_too=False, **variables):
    """Execute a comparison with its standard error on a terminal; give its exit code, that, and the answer."""
    ours, theirs = pty.openpty()
    terminal, out = Path(os.ttyname(theirs)), lab.folder / "answer"
    process = lab._forks.start(
        ["compare", *words],
        cwd=lab.folder,
        environment={**lab.environment, "TERM": "xterm", **variables},
        out=terminal if answer_too else out,
        err=terminal,
        **lab.on_stage(Times()),
    )
    lab.started.append(process)
    seen, ended = b"", False
    while not ended:
        ended = process.poll() is not None  # what it wrote is there by then
        while select.select([ours], [], [], 0 if ended else 0.02)[0]:
            seen += os.read(ours, 65536)
    code = process.wait(60)
    os.close(theirs)
    os.close(ours)
    return code, seen.decode(), "" if answer_too else out.read_text()


def test_one_line_is_rewritten_and_gone_at_the_end(lab):
    code, seen, out = on_terminal(lab, "sleep 0.05", "sleep 0.01", *ANY)
    assert code == 0, seen
    drawn = [part for part in re.split(r"\r\x1b\[K", seen)[1:] if part]
    assert any(part.startswith("measuring, ") for part in drawn)
    assert max(len(part.rstrip("\r\n")) for part in drawn) <= 79
    assert seen.endswith("\r\x1b[K")
    assert out.startswith("'sleep 0.01' ")
    assert "\x1b" not in out


def test_a_plain_terminal_gets_no_escapes(lab):
    code, seen, _ = on_terminal(lab, "true", "true", *QUICK, answer_too=True, TERM="dumb")
    assert code == 0, seen
    assert "\x1b" not in seen
