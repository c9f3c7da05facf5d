"""Trials that somebody stops and continues, in part or as a whole, and programs that stop their launcher.

Authority: an attack on an earlier version. A launcher that was stopped for 8 s gave a row `ok`, undisturbed, of
8.1 s for `sleep 0.2`; a whole tree that was stopped gave `timeout`; and `kill -STOP $PPID` held a trial for ever.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

LAUNCHER = "launcher.py"
LONG_S = 2.0  # longer than a second, by which a wait is late, and than the timeout
TIMEOUT_S = 1.5


def waiting(lab, *, timeout=None):
    """Write a campaign whose first measured run waits, once: its repeat finds nothing to wait for."""
    lab.hold()
    one = {"command": lab.sh(f"echo x >> {lab.folder}/count; {lab.waiting}")}
    if timeout is not None:
        one["timeout"] = timeout
    return lab.write_campaign(
        variants={"a": {}},
        benchmarks={"one": one},
        protocol={"sessions": 1, "runs": 2, "warmup": 1},
        hooks={"before": {"shell": ":"}},
    )


def stop_and_continue(pids, processes, seconds=LONG_S):
    processes.send(pids, signal.SIGSTOP)
    running = list(pids)

    def stopped():  # each was seen so once: the number of one that has ended may be another's soon
        running[:] = [pid for pid in running if processes.state(pid) not in {"T", "Z", ""}]
        return not running

    processes.wait_until(stopped, "stopped")
    time.sleep(seconds)
    processes.send(pids, signal.SIGCONT)


def assert_discarded_once(lab, err, code, executions):
    assert code == 0, err
    rows = lab.read_rows()
    assert [row["position"] for row in rows] == [0, 1, 2]
    assert [(row["outcome"], row["suspended"]) for row in rows] == [("ok", 1), ("ok", 0), ("ok", 0)]
    (found,) = [one for one in lab.findings() if one["check"] == "suspended"]
    assert (found["session"], found["when"], found["status"]) == (1, "during", "warn")
    assert "position 0: " in found["what"]
    assert "stood still for " in found["what"]
    assert (lab.folder / "count").read_text().count("x") == executions
    assert "suspended: 1 execution was discarded" in err
    assert "suspended: 1 execution was discarded" in lab.run_fairtrial("status", lab.trial()).stdout


@pytest.mark.parametrize("timeout", [None, f"{TIMEOUT_S}s"])
@pytest.mark.parametrize("who", ["launcher", "launcher and fairtrial", "all"])
def test_a_run_that_was_stopped_and_continued_is_discarded(lab, processes, who, timeout):
    path = waiting(lab, timeout=timeout if who == "all" else None)
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    below = processes.descendants(process.pid)
    launchers = [
        pid for pid in below if any(part.endswith(LAUNCHER) for part in processes.command_line(pid))
    ]
    pids = {"launcher": launchers, "launcher and fairtrial": [process.pid, *launchers]}
    chosen = pids.get(who, [process.pid, *below])
    stop_and_continue(chosen, processes)
    lab.release()
    code, err = lab.ended(process)
    assert_discarded_once(lab, err, code, executions=4)
    assert lab.left() == []


def test_a_frozen_trial_gets_no_signal_and_is_seen_by_its_waits(lab, processes, own_group):
    # the cgroup freezer, as a container that is paused: nobody is told when it goes on
    path = waiting(lab)
    group = Path(own_group.path.lstrip("/"))
    top = Path("/") / group / f"frozen-{os.getpid()}"
    top.mkdir()
    try:
        if not (top / "cgroup.freeze").exists():
            pytest.skip("the kernel freezes no cgroup")
        process = lab.start_fairtrial("run", path)
        lab.wait_until_reached(process)
        for pid in (process.pid, *processes.descendants(process.pid)):
            with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                (top / "cgroup.procs").write_text(str(pid))
        (top / "cgroup.freeze").write_text("1")
        frozen = top / "cgroup.events"
        processes.wait_until(lambda: "frozen 1" in frozen.read_text(), "all of it is frozen")
        time.sleep(LONG_S)
        (top / "cgroup.freeze").write_text("0")
        lab.release()
        code, err = lab.ended(process)
        assert_discarded_once(lab, err, code, executions=4)
    finally:
        processes.send(map(int, (top / "cgroup.procs").read_text().split()))
        processes.wait_until(lambda: not (top / "cgroup.procs").read_text(), "nobody is in it")
        top.rmdir()


def test_fairtrial_stopped_alone_loses_no_run_that_had_ended(lab, processes):
    # the launcher took the time of a short run by itself: its row is right
    lab.hold()
    path = lab.write_campaign(
        variants={"a": {}},
        benchmarks={"one": {"command": lab.sh(lab.waiting)}},
        protocol={"sessions": 1, "runs": 2, "warmup": 1},
    )
    begun = time.monotonic_ns()
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    os.kill(process.pid, signal.SIGSTOP)
    processes.wait_until(lambda: processes.state(process.pid) == "T", "it is stopped")
    lab.release()
    processes.wait_until(lambda: not lab.left(), "the run has ended")
    most = time.monotonic_ns() - begun
    time.sleep(LONG_S)
    os.kill(process.pid, signal.SIGCONT)
    code, err = lab.ended(process)
    assert code == 0, err
    rows = lab.read_rows()
    assert all(row["outcome"] == "ok" for row in rows)
    assert rows[0]["suspended"] in {0, 1}  # 1: it was just looking when it was stopped
    assert rows[0]["wall_ns"] < most


def test_a_program_that_stops_its_launcher_is_an_outcome_and_the_trial_goes_on(lab):
    path = lab.write_campaign(
        variants={"a": {}},
        benchmarks={
            "stops": {"command": lab.sh("kill -STOP $PPID; sleep 0.2"), "timeout": "1s"},
            "good": {"command": lab.sh(":")},
        },
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    rows = {row["benchmark"]: row for row in lab.read_rows()}
    assert (rows["stops"]["outcome"], rows["stops"]["detail"]) == ("signal", "killed its launcher")
    assert rows["stops"]["padding_bytes"] is not None
    assert rows["good"]["outcome"] == "ok"
    found = [one for one in lab.findings() if one["check"] == "launcher"]
    assert ["was stopped, and not continued for 10 s" in one["what"] for one in found] == [True] * 2
    assert {one["session"] for one in found} == {1}
    assert lab.left() == []


def test_a_program_that_continues_its_launcher_is_measured(lab):
    path = lab.write_campaign(
        variants={"a": {}},
        benchmarks={"one": {"command": lab.sh("kill -CONT $PPID")}},
        protocol={"sessions": 1, "runs": 1, "warmup": 1},
    )
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    assert [(row["outcome"], row["suspended"]) for row in lab.read_rows()] == [("ok", 2)] * 2


def test_killed_while_a_run_is_repeated_then_resumed(lab, processes):
    lab.hold()
    count = f"{lab.folder}/count"
    first = f"echo x >> {count}; [ $(wc -l < {count}) != 1 ] || exec kill -CONT $PPID; "
    path = lab.write_campaign(
        variants={"a": {}},
        benchmarks={"one": {"command": lab.sh(first + lab.waiting)}},
        protocol={"sessions": 1, "runs": 2, "warmup": 0},
    )
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)  # by the repeat
    process.kill()
    process.wait()
    lab.wait_until_all_gone()
    assert lab.read_rows() == []
    lab.release()
    done = lab.run_fairtrial("run", path, "--resume")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=2)
    assert len([one for one in lab.findings() if one["check"] == "suspended"]) == 1


@pytest.mark.host
def test_a_program_that_moves_its_launcher_is_found_and_mended(lab):
    # without a namespace everybody may do that to processes of his own; in one, root may
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU only")
    cpu, other = sorted(os.sched_getaffinity(0))[-1], sorted(os.sched_getaffinity(0))[0]
    code = (
        "import os; parent = os.getppid(); "
        f"os.path.exists('{lab.folder}/moved') or ("
        f"open('{lab.folder}/moved', 'w'), os.sched_setaffinity(parent, [{other}]), "
        "os.setpriority(os.PRIO_PROCESS, parent, 19))"
    )
    tells = "import os; print(sorted(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, 0))"
    path = lab.write_campaign(
        variants={"a": {}},
        benchmarks={
            "moves": {"command": ["/usr/bin/env", "python3", "-c", code]},
            "tells": {"command": ["/usr/bin/env", "python3", "-c", tells], "stdout": "keep"},
        },
        protocol={"sessions": 1, "runs": 2, "warmup": 1},
        isolation={"cpus": [cpu], "containment": "none"},
    )
    done = lab.run_fairtrial("run", path, "--wait-for-lock")
    assert done.returncode == 0, done.stderr
    (found,) = [one for one in lab.findings() if one["check"] == "placement"]
    assert f"CPUs {cpu} became {other}, nice {os.nice(0)} became 19" in found["what"]
    assert "rows from position 0 to 1 " in found["what"]
    later = [row for row in lab.read_rows() if row["benchmark"] == "tells" and row["block"] > 0]
    for row in later:
        text = (lab.trial() / "outputs" / f"{row['position']:04d}.stdout").read_text()
        assert text == f"[{cpu}] {os.nice(0)}\n"
