"""Stopped by a person, or killed: nothing lives on, nothing that was measured is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

LAUNCHER = "launcher.py"

# Where a trial is when it is hit: how the campaign is made to wait there, and the rows before.
STAGES = {"build": 0, "setup": 0, "warmup": 0, "run": 5, "before": 5, "between": 5}


def campaign_waiting_at(lab, stage):
    """Write a campaign of 8 runs, two of them warm-ups, that waits at `stage`."""
    count = "echo x >> count; [ $(wc -l < count) = 6 ] || exit 0; "
    wait, run, hooks, build = lab.waiting, ":", {}, None
    protocol = {"sessions": 1, "runs": 3, "warmup": 1}
    # A grandchild with a session of its own: the hard case.
    nasty = f"(setsid sh -c 'while :; do sleep 0.05; done' {lab.marker} &); {wait}"
    if stage == "build":
        build = [lab.sh(nasty)]
    elif stage == "setup":
        hooks = {"setup": [lab.sh(nasty)]}
    elif stage == "warmup":
        run = nasty
    elif stage == "run":
        run = count + nasty
    elif stage == "before":
        hooks = {"before": [lab.sh(count + wait)]}
    elif stage == "between":
        run = "echo x >> count"
        protocol["cooldown"] = "100ms"
    lab.hold()
    return lab.write_campaign(
        benchmarks={"one": {"command": lab.sh(run), "cwd": "."}},
        protocol=protocol,
        hooks=hooks,
        build=build,
    )


def wait_until_there(lab, stage, process, processes):
    if stage != "between":
        lab.wait_until_reached(process)
        return

    def five_rows():
        assert process.poll() is None, process.err_path.read_text()
        return lab.trials() and len(lab.read_rows()) >= STAGES["between"]

    processes.wait_until(five_rows, "five runs are done")


def launchers_of(process, processes):
    """Give the launchers below fairtrial, those that serve first."""
    found = [
        pid
        for pid in processes.descendants(process.pid)
        if any(part.endswith(LAUNCHER) for part in processes.command_line(pid))
    ]
    parents = {processes.parent(pid) for pid in found}
    return sorted(found, key=lambda pid: pid in parents)


def whole_rows(lab):
    return lab.lines() if lab.trials() else []


def finish_by_resume(lab, path, stage, rows_before):
    lab.release()
    done = lab.run_fairtrial("run", path, "--resume")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=8)
    assert lab.lines()[: len(rows_before)] == rows_before
    assert lab.manifest()["status"] == "complete"
    repeated = [row for row in lab.read_rows() if row["position"] < 0]
    if rows_before:
        assert [row["position"] for row in repeated] == [-1, -2]
        assert all(row["warmup"] and row["segment"] == 1 for row in repeated)
    later = lab.read_rows()[len(rows_before) :]
    segments = {row["segment"] for row in later}
    assert segments == ({0} if stage == "build" else {1})
    assert lab.left() == []


@pytest.mark.parametrize("stage", list(STAGES))
def test_killed_orchestrator(lab, processes, stage):
    path = campaign_waiting_at(lab, stage)
    process = lab.start_fairtrial("run", path)
    wait_until_there(lab, stage, process, processes)
    process.kill()
    process.wait()
    lab.wait_until_all_gone()
    rows = whole_rows(lab)
    assert len(rows) >= STAGES[stage]
    assert not lab.trials() or lab.manifest()["status"] == "running"  # nobody could say more
    finish_by_resume(lab, path, stage, rows)


@pytest.mark.parametrize("stage", list(STAGES))
def test_killed_launcher(lab, processes, stage):
    path = campaign_waiting_at(lab, stage)
    process = lab.start_fairtrial("run", path)
    wait_until_there(lab, stage, process, processes)
    # The one that works: the hooks' launcher lives beside the targets' one.
    launchers = launchers_of(process, processes)
    at_work = [pid for pid in launchers if set(processes.descendants(pid)) & set(lab.left())]
    if stage == "before":
        at_work = [pid for pid in at_work if pid in map(processes.parent, lab.left())]
    victim = (at_work or launchers)[0]
    os.kill(victim, signal.SIGKILL)
    lab.release()
    code, err = lab.ended(process)
    lab.wait_until_all_gone()
    assert "Traceback" not in err
    if stage == "before":  # a hook that fails is an outcome, and the trial goes on
        assert code == 1, err
        lab.assert_complete_once_each(planned=8)
        outcomes = [row["outcome"] for row in lab.read_rows()]
        assert sorted(outcomes) == ["hook-failed", *["ok"] * 7]
    elif stage in {"warmup", "run", "between"}:  # the run under way is executed once more
        assert code == 0, err
        lab.assert_complete_once_each(planned=8)
        assert {row["outcome"] for row in lab.read_rows()} == {"ok"}
        assert [f["when"] for f in lab.findings() if f["check"] == "launcher"] == ["during"]
    else:
        assert code == 4, err
        assert "the launcher was killed or crashed" in err
        assert lab.manifest()["status"] == "stopped"
        finish_by_resume(lab, path, stage, whole_rows(lab))


def test_runs_that_kill_their_parent_are_outcomes_and_given_up(lab):
    path = lab.write_campaign(
        benchmarks={
            "parent": {"command": lab.sh("kill -9 $PPID; sleep $0")},
            "asks": {"command": lab.sh("kill -HUP $PPID; sleep $0")},
            "good": {"command": lab.sh(":")},
        },
        protocol={"sessions": 1, "runs": 4, "warmup": 0, "give_up": 2, "never_ok": "go_on"},
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    rows = lab.read_rows()
    assert {(row["outcome"], row["detail"]) for row in rows if row["benchmark"] != "good"} == {
        ("signal", "killed its launcher")
    }
    assert [row["outcome"] for row in rows if row["benchmark"] == "good"] == ["ok"] * 8
    assert len(rows) == 16
    assert len(lab.manifest()["given_up"]) == 4
    assert lab.manifest()["status"] == "complete"
    told = " ".join(done.stderr.split())
    cells, _, why = told.partition("given up in session 1: ")[2].partition(" (")
    assert {*cells.split(", ")} == {f"{b} / {v}" for b in ("parent", "asks") for v in "ab"}
    assert why.startswith("2 runs in a row failed, the last one: signal)")
    shown = lab.run_fairtrial("status").stdout
    assert "16 of 16" in shown
    verdict = lab.run_fairtrial("verdict", lab.trial(), "--all")
    assert "given up after failures in a row" in " ".join(verdict.stdout.split())
    assert lab.left() == []


def test_a_pattern_without_an_end_does_not_keep_a_signal_waiting(lab, processes):
    path = lab.write_campaign(
        benchmarks={
            "one": {
                "command": lab.sh(f"echo {'a' * 45}b; : > {lab.folder}/matching"),
                "expect": {"regex": "^(a+)+$"},
            }
        }
    )
    process = lab.start_fairtrial("run", path)
    processes.wait_until((lab.folder / "matching").exists, "the first run is about to end")
    before = ticks_of(process.pid)  # it waits idly while the program is there, and matches busily
    processes.wait_until(lambda: ticks_of(process.pid) >= before + 30, "the pattern is matched")
    process.send_signal(signal.SIGTERM)
    code, err = lab.ended(process)
    assert code == 130, err
    assert lab.read_rows() == []  # ten seconds had made it unparsable


def ticks_of(pid):
    """Processor time of a process, in hundredths of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.parametrize(
    ("stage", "number"),
    [
        ("run", signal.SIGINT),
        ("run", signal.SIGTERM),
        ("run", signal.SIGHUP),
        ("between", signal.SIGINT),
    ],
)
def test_stopped_by_a_person(lab, processes, stage, number):
    path = campaign_waiting_at(lab, stage)
    process = lab.start_fairtrial("run", path)
    wait_until_there(lab, stage, process, processes)
    process.send_signal(number)
    code, err = lab.ended(process)
    assert code == 130, err
    assert lab.left() == []
    rows = whole_rows(lab)
    assert f"stopped by you after {len(rows)} of 8 runs; all {len(rows)} are kept" in err
    command = f"fairtrial run {path} --resume --trial runs/{lab.trial().name}"
    assert command in " ".join(err.replace("\\\n", "").split())
    manifest = lab.manifest()
    assert (manifest["status"], manifest["reason"]) == ("interrupted", f"signal {number.value}")
    assert {row["outcome"] for row in lab.read_rows()} == {"ok"}  # none was cut short and counted
    finish_by_resume(lab, path, stage, rows)


@pytest.mark.parametrize("stage", ["build", "setup", "before"])
def test_stopped_by_a_person_during_commands(lab, processes, stage):
    path = campaign_waiting_at(lab, stage)
    process = lab.start_fairtrial("run", path)
    wait_until_there(lab, stage, process, processes)
    process.send_signal(signal.SIGINT)
    code, err = lab.ended(process)
    assert code == 130, err
    lab.wait_until_all_gone()
    assert lab.manifest()["status"] == "interrupted"
    finish_by_resume(lab, path, stage, whole_rows(lab))


def test_stopped_during_the_pause_between_sessions(lab, processes):
    path = lab.write_campaign(protocol={"sessions": 2, "runs": 1, "warmup": 0, "pause": "1h"})
    process = lab.start_fairtrial("run", path)
    processes.wait_until(lambda: lab.trials() and len(lab.read_rows()) == 4, "session 1 is done")
    process.send_signal(signal.SIGTERM)
    code, err = lab.ended(process)
    assert code == 130, err
    assert len(lab.read_rows()) == 4


def test_second_signal_ends_a_clean_up_that_hangs(lab):
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh(":")}}, hooks={"cleanup": [lab.sh(lab.waiting)]}
    )
    lab.hold()
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    process.send_signal(signal.SIGINT)
    code, err = lab.ended(process)
    assert code in {0, 130}, err
    lab.wait_until_all_gone()
    assert len(lab.read_rows()) == 6
    assert any("interrupted" in found["what"] for found in lab.findings())
