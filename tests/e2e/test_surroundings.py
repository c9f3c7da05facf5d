"""What the surroundings may do to fairtrial: how it was started, what targets and hooks leave."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from tests.virtual import Times


def test_metric_file_of_an_earlier_run_does_not_count(lab):
    metric = {"t": {"regex": "([0-9.]+)", "from": "m.txt", "unit": "s", "better": "lower"}}
    path = lab.write_campaign(
        variants={"a": {"code": "echo 1.5 > m.txt"}, "b": {"code": ":"}},
        benchmarks={"one": {"command": ["/bin/sh", "-c", "{code}"], "metrics": metric}},
        protocol={"sessions": 1, "runs": 5, "warmup": 1},
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 1
    outcomes = {(row["variant"], row["outcome"]) for row in lab.read_rows()}
    assert outcomes == {("a", "ok"), ("b", "unparsable")}


def test_ignored_child_signal_loses_no_run(lab):
    path = lab.write_campaign()
    done = lab.run_fairtrial("run", path, prefix=["env", "--ignore-signal=CHLD"])
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=12)


def test_hangup_that_nohup_ignores_does_not_stop_a_trial(lab):
    lab.hold()
    path = lab.write_campaign(benchmarks={"one": {"command": lab.sh(lab.waiting)}})
    command = ["nohup", *lab._command(["run", path], other_user=False)]
    with (lab.folder / "err").open("wb") as err:
        process = subprocess.Popen(
            command,
            cwd=lab.folder,
            env=lab.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
        )
    process.err_path = lab.folder / "err"
    lab.wait_until_reached(process)
    process.send_signal(signal.SIGHUP)
    lab.release()
    assert process.wait(60) == 0
    assert lab.manifest()["status"] == "complete"


def test_closed_standard_streams(lab):
    path = lab.write_campaign(
        benchmarks={
            "one": {
                "command": lab.sh("echo out; echo err >&2"),
                "stdout": "keep",
                "stderr": "discard",
            }
        }
    )
    shell = ["/bin/sh", "-c", 'exec "$@" <&- 1>&- 2>&-', "sh"]
    done = lab.run_fairtrial("run", path, prefix=shell)
    assert done.returncode == 0, done.stderr
    kept = sorted((lab.trial() / "outputs").glob("*.stdout"))
    assert kept
    assert {entry.read_text() for entry in kept} == {"out\n"}


def test_reader_that_goes_away_changes_no_exit_code(lab):
    path = lab.write_campaign(benchmarks={"one": {"command": lab.sh("exit 3")}})
    command = " ".join(map(str, lab._command(["run", path, "--json", "-q"], other_user=False)))
    script = f"set -o pipefail; {{ {command}; echo $? > code; }} | true"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=lab.folder,
        env=lab.environment,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (lab.folder / "code").read_text() == "1\n"
    assert b"Traceback" not in done.stderr


def test_terminal_that_knows_only_ascii(lab):
    path = lab.write_campaign()
    done = lab.run_fairtrial("run", path, "--dry-run", prefix=["env", "PYTHONIOENCODING=ascii"])
    assert done.returncode == 0, done.stderr


def test_hook_may_make_folders_in_outputs(lab):
    make = [
        "/bin/sh",
        "-c",
        'mkdir -p "$FAIRTRIAL_TRIAL/outputs/deep"; echo x > "$FAIRTRIAL_TRIAL/outputs/deep/f"',
    ]
    path = lab.write_campaign(hooks={"setup": [make]})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    assert "outputs/deep/f" in lab.manifest()["files"]
    assert lab.run_fairtrial("verdict", lab.trial()).returncode == 0


def test_target_may_delete_what_it_writes_to(lab):
    code = f"echo x; rm -f {lab.folder}/runs/*/outputs/current.*"
    path = lab.write_campaign(benchmarks={"one": {"command": lab.sh(code)}})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    assert {row["stdout_bytes"] for row in lab.read_rows()} == {0}


def test_leftovers_of_a_sessions_hooks_end_with_the_session(lab):
    # It is counted as soon as it sleeps: before, its forks show its shell's arguments too.
    stay = 'setsid sleep "$0" & until grep -qa ^sleep /proc/$!/cmdline; do :; done; echo $! >> left'
    leave = ["/bin/sh", "-c", stay, lab.marker]
    seek = "for pid in $(cat left); do grep -la . /proc/$pid/cmdline; done | wc -l >> counts; :"
    count = ["/bin/sh", "-c", seek]
    path = lab.write_campaign(
        hooks={"setup": [leave, count]}, protocol={"sessions": 3, "runs": 1, "warmup": 0}
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    counts = (lab.folder / "counts").read_text().split()
    assert counts == ["1", "1", "1"]  # no session finds the former one's


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_comparison_interrupted_while_probing(lab, number):
    lab.hold()
    script = lab.script("tool", f"#!/bin/sh\n{lab.waiting}\n")
    process = lab.start_fairtrial("compare", f"{script} {lab.marker}", "true", "--cpus", "none")
    lab.wait_until_reached(process)
    process.send_signal(number)
    code, err = lab.ended(process)
    assert code == 130
    assert "bug" not in err
    lab.release()
    lab.wait_until_all_gone()


def test_refused_resume_leaves_the_trial_readable(lab):
    path = lab.write_campaign(protocol={"sessions": 1, "runs": 4, "warmup": 0, "max_runs": 5})
    assert lab.run_fairtrial("run", path).returncode == 0
    path = lab.write_campaign(protocol={"sessions": 1, "runs": 5, "warmup": 0, "max_runs": 5})
    refused = lab.run_fairtrial("run", path, "--resume", "--accept-drift")
    assert refused.returncode == 5, refused.stderr
    assert lab.run_fairtrial("verdict", lab.trial()).returncode == 0
    assert not (lab.trial() / ".reserve").exists()


def test_time_cap_ends_a_run_under_way_and_the_seed_is_remembered_on_resume(lab):
    path = lab.write_campaign(
        protocol={"sessions": 1, "runs": 2, "warmup": 0, "max_time": "1s"},
        benchmarks={"one": {"command": lab.sh("exec sleep 60")}},
    )
    done = lab.run_fairtrial("run", path, "--seed", "77", virtual=Times())
    assert done.returncode == 1, done.stderr
    assert "time cap" in done.stderr
    assert lab.manifest()["status"] == "stopped"
    assert lab.read_rows() == []
    done = lab.run_fairtrial("run", path, "--resume", virtual=Times(effects={"one": 0.001}))
    assert done.returncode == 0, done.stderr
    assert lab.manifest()["seed"] == 77
    lab.assert_complete_once_each(planned=4)


def test_accepted_drift_stays_accepted(lab):
    path = lab.write_campaign(protocol={"sessions": 1, "runs": 4, "warmup": 0, "max_runs": 2})
    assert lab.run_fairtrial("run", path).returncode == 1  # not all cells have a run
    path = lab.write_campaign(protocol={"sessions": 1, "runs": 4, "warmup": 0, "max_runs": 4})
    assert lab.run_fairtrial("run", path, "--resume").returncode == 5
    assert lab.run_fairtrial("run", path, "--resume", "--accept-drift").returncode == 0
    assert len(lab.read_rows()) == 4
    assert lab.run_fairtrial("run", path, "--resume").returncode == 0


def test_cap_in_runs_promises_no_continuation_and_an_edited_last_row_is_no_torn_line(lab):
    path = lab.write_campaign(protocol={"sessions": 1, "runs": 4, "warmup": 0, "max_runs": 3})
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 1
    assert "continue:" not in done.stderr
    assert "max_runs" in done.stderr
    rows = lab.trial() / "measurements.jsonl"
    lines = rows.read_bytes().splitlines(keepends=True)
    edited = lines[-1].replace(b'"wall_ns":', b'"wall_ns":1', 1)
    rows.write_bytes(b"".join(lines[:-1]) + edited)
    refused = lab.run_fairtrial("run", path, "--resume")
    assert refused.returncode == 5
    assert "checksum" in refused.stderr
    assert rows.read_bytes().endswith(edited)


def test_quick_trial_names_its_own_campaign(lab):
    done = lab.run_fairtrial(
        "compare", "true", "true", "--runs", "2", "--cpus", "none", "--dir", "d e"
    )
    assert done.returncode == 0, done.stderr
    (trial,) = (lab.folder / "d e").iterdir()
    assert json.loads((trial / "manifest.json").read_text())["campaign_path"] == os.fspath(
        trial / "campaign.yaml"
    )
