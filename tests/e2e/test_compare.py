"""`fairtrial compare` with real programs: the answer, where it goes, what it leaves, and going on."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys

import pytest

ANY = ("--cpus", "none")
QUICK = ("--runs", "2", "--sessions", "6", *ANY)


def test_two_commands_twice_apart_are_decided(lab):
    done = lab.run_fairtrial("compare", "sleep 0.06", "sleep 0.01", *ANY)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"'sleep 0.01' is \d\.\d times as fast as 'sleep 0.06'", lines[0])
    assert re.fullmatch(
        r"\(\d\.\d+ to \d+\.?\d*; \d+ runs each in \d+ sessions, [\d.]+ s\)", lines[1]
    )
    assert lines[3].split() == ["mean", "spread", "user", "system", "min", "…", "max"]
    assert lines[5].startswith("sleep 0.01")
    assert len(lines) <= 14
    assert max(map(len, lines)) <= 80
    assert lines[-1].startswith("next  fairtrial report -o report.html")
    manifest = json.loads((lab.trial() / "manifest.json").read_text())
    assert manifest["looks_plan"]["stopped_because"] == "decided"
    assert manifest["status"] == "complete"


def test_standard_error_holds_the_progress_and_output_the_answer_alone(lab):
    done = lab.run_fairtrial("compare", "sleep 0.02", "true", *QUICK)
    assert done.stderr.splitlines()[0].startswith("comparing 2 commands, 2 runs each a session")
    assert re.search(r"^each takes about .* · no CPU of their own · no shell$", done.stderr, re.M)
    assert done.stdout.startswith("'true' ")
    quiet = lab.run_fairtrial("compare", "sleep 0.02", "true", *QUICK, "-q")
    assert (quiet.stderr, len(quiet.stdout.splitlines())) == ("", 2)
    assert "\x1b" not in done.stdout + done.stderr


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
    assert {"spread", "user", "system", "runs", "sessions", "failed"} <= set(candidate)
    assert told["sentence"].startswith("'true' ")


def test_parameters_are_rows(lab):
    words = ("-L", "s", "0.01,0.03", "sleep {s}", *QUICK, "--export-json", "out")
    done = lab.run_fairtrial("compare", *words)
    assert done.returncode == 0, done.stderr
    results = json.loads((lab.folder / "out").read_text())["results"]
    assert [one["parameters"] for one in results] == [{"s": "0.01"}, {"s": "0.03"}]
    assert re.search(r"^s=0\.01 +\d", done.stdout, re.M)
    assert done.stdout.startswith("s=0.03 takes ")


def test_prepare_is_executed_before_each_run_in_this_folder(lab):
    done = lab.run_fairtrial(
        "compare", "cat made", *QUICK, "--prepare", "echo x >> log; date > made"
    )
    assert done.returncode == 0, done.stderr
    rows = lab.read_rows()
    tries = len((lab.folder / "log").read_text().splitlines()) - len(rows)
    assert tries in {1, 2}  # a short command is tried twice
    assert all(row["before_s"] > 0 for row in rows)


def test_command_that_fails_when_tried_is_exit_4_and_leaves_nothing(lab):
    done = lab.run_fairtrial("compare", "true", "sh -c 'echo no such thing >&2; exit 3'", *ANY)
    assert (done.returncode, done.stdout) == (4, "")
    assert "ends with exit code 3; nothing measured\n    no such thing\n" in done.stderr
    assert lab.trials() == []
    done = lab.run_fairtrial("compare", "true", "no-such-command-here", *QUICK)
    assert done.returncode == 4
    assert "not found" in done.stderr


def test_expected_exit_codes_count_and_are_noted(lab):
    done = lab.run_fairtrial("compare", "sh -c 'exit 3'", *QUICK, "-i")
    assert done.returncode == 0, done.stderr
    assert (
        "12 runs of \"sh -c 'exit 3'\" ended with exit code 3, and count (-i, --exit)"
        in done.stdout
    )


def test_a_command_that_fails_while_it_is_measured_leaves_no_answer(lab):
    script = lab.script(
        "later", "#!/bin/sh\necho x >> n; sleep 0.03; [ $(wc -l < n) -le 1 ] || exit 3\n"
    )
    done = lab.run_fairtrial("compare", "sleep 0.03", f"{script}", *ANY)
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert said.startswith("no answer: 3 of 3 runs of ")
    assert "failed (exit code 3), 0 of " in said
    assert "next fairtrial status " in said


def test_a_comparison_goes_on_in_the_same_trial(lab):
    first = lab.run_fairtrial("compare", "sleep 0.01", "sleep 0.0101", *ANY, "--for", "0.1s")
    assert first.returncode == 0, first.stderr
    before = len(lab.read_rows())
    again = lab.run_fairtrial("compare", "--resume", "--for", "0.1s")
    assert again.returncode == 0, again.stderr
    assert again.stderr.startswith("going on with the newest comparison, at most about 0 s more")
    assert len(lab.trials()) == 1
    assert len(lab.read_rows()) > before
    assert "'sleep 0.0101'" in again.stdout
    done = lab.run_fairtrial("verdict", lab.trial())
    assert done.returncode == 0, done.stderr


def test_one_look_at_a_chosen_number_of_runs_is_no_start_of_more(lab):
    done = lab.run_fairtrial("compare", "sleep 0.01", "true", *QUICK)
    assert done.returncode == 0, done.stderr
    refused = lab.run_fairtrial("compare", "--resume")
    assert (refused.returncode, refused.stdout) == (5, "")
    assert "measure anew" in refused.stderr


@pytest.mark.parametrize(
    ("option", "begins"),
    [
        ("--export-json", '{\n  "results"'),
        ("--export-csv", "command,mean,stddev,median,user,system,min,max\nsleep 0.01,"),
        ("--export-markdown", ""),
    ],
)
def test_files_for_readers_of_hyperfine(lab, option, begins):
    done = lab.run_fairtrial("compare", "sleep 0.01", "true", *QUICK, option, "out", "-q")
    assert done.returncode == 0, done.stderr
    text = (lab.folder / "out").read_text()
    assert re.sub(r"\s+", "", text).startswith(re.sub(r"\s+", "", begins))
    assert "sleep 0.01" in text


# --- on a terminal ------------------------------------------------------------------------------


def on_terminal(folder, *words, answer_too=False, **variables):
    """Execute a comparison with its standard error on a terminal; give its exit code, that, and the answer."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", "compare", *words],
        cwd=folder,
        stdout=theirs if answer_too else subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", **variables},
    )
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(ours, 65536):
            seen += part
    out, _ = process.communicate()
    os.close(ours)
    return process.returncode, seen.decode(), (out or b"").decode()


def test_one_line_is_rewritten_and_gone_at_the_end(lab):
    code, seen, out = on_terminal(lab.folder, "sleep 0.05", "sleep 0.01", *ANY)
    assert code == 0, seen
    drawn = [part for part in re.split(r"\r\x1b\[K", seen)[1:] if part]
    assert any(part.startswith("measuring, ") for part in drawn)
    assert max(len(part.rstrip("\r\n")) for part in drawn) <= 79
    assert seen.endswith("\r\x1b[K")
    assert out.startswith("'sleep 0.01' ")
    assert "\x1b" not in out


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_sees_the_word_in_colour_unless_it_asked_for_none(lab, variables, coloured):
    code, seen, _ = on_terminal(
        lab.folder, "sleep 0.05", "sleep 0.01", *QUICK, answer_too=True, **variables
    )
    assert code == 0, seen
    assert ("\x1b[34m" in seen) == coloured


def test_a_plain_terminal_gets_no_escapes(lab):
    code, seen, _ = on_terminal(lab.folder, "true", "true", *QUICK, answer_too=True, TERM="dumb")
    assert code == 0, seen
    assert "\x1b" not in seen
