"""The launcher and its orchestrator's side, with real processes.

Targets are ``sh`` and a small isolated Python; what a target saw of its own setting it writes to
its standard output.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from analysis.record.run_numbers import LAUNCHER_NUMBERS, Measurement
from harness.campaign.model import Isolation
from harness.errors import HostError, LauncherDiedError, LaunchError
from harness.launch.client import LauncherClient
from harness.launch.exchange import limit_numbers
from harness.launch.matching import Interrupts

# For targets the system's own, if there is one: ours may stand in a private folder, which nobody
# enters from a user namespace.
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
SH = "/bin/sh"
OF_A_CGROUP = ("peak_memory_tree_bytes", "tree_cpu_s", "tree_stall_s", "group_leave_ns")
_Popen = subprocess.Popen


@pytest.fixture
def inside(open_launcher, request_for, tmp_path):
    """Evaluate a Python expression in a target and give its value."""

    def evaluate(expression, launcher=None, **changes):
        code = f"import json, os, resource, signal, sys; print(json.dumps({expression}))"
        launcher = launcher or open_launcher(containment="none")
        done = launcher.execute(request_for(PYTHON, "-I", "-S", "-c", code, **changes))
        assert done.exit_code == 0, (tmp_path / "stderr").read_text()
        return json.loads((tmp_path / "stdout").read_text())

    return evaluate


# --- what is measured -------------------------------------------------------------------------


def test_reports_exit_code_times_and_usage(containment, open_launcher, request_for):
    launcher = open_launcher(containment=containment)
    done = launcher.execute(request_for(SH, "-c", "exit 7"))
    assert (done.exit_code, done.signal, done.killed) == (7, None, None)
    assert 0 < done.numbers["spawn_ns"] <= done.wall_ns
    assert done.numbers["minor_faults"] > 0
    assert (done.numbers["orphans"], done.survivors) == (0, 0)


def test_every_number_of_the_table_comes_and_is_of_its_type(open_launcher, request_for):
    launcher = open_launcher()
    first, second = (launcher.execute(request_for("/bin/true")) for _ in range(2))
    assert first.numbers["start_ns"] + first.wall_ns <= second.numbers["start_ns"]
    numbers = first.numbers
    assert numbers.keys() == LAUNCHER_NUMBERS
    kinds = get_type_hints(Measurement)
    for name, value in numbers.items():
        assert isinstance(value, kinds[name])
        assert type(value) in (int, float) or name in OF_A_CGROUP  # no bool


def test_wall_time_contains_a_sleep_and_user_time_a_spin(open_launcher, request_for):
    launcher = open_launcher()
    slept = launcher.execute(request_for(SH, "-c", "sleep 0.1"))
    assert slept.wall_ns / 1e9 >= 0.1 + slept.numbers["user_s"]
    code = "import time\nwhile time.process_time() < 0.1: pass"
    spun = launcher.execute(request_for(PYTHON, "-I", "-S", "-c", code))
    assert spun.numbers["user_s"] + spun.numbers["system_s"] >= 0.1


def test_crash_by_signal_is_reported_as_one(containment, open_launcher, request_for):
    launcher = open_launcher(containment=containment)
    done = launcher.execute(request_for(SH, "-c", "kill -SEGV $$"))
    assert (done.exit_code, done.signal, done.killed) == (None, signal.SIGSEGV, None)


def test_small_program_is_at_the_floor_although_the_orchestrator_is_large(
    open_launcher, request_for
):
    ballast = bytearray(90 << 20)
    ballast[::4096] = b"x" * len(ballast[::4096])  # touch every page
    done = open_launcher().execute(request_for("/bin/true"))
    assert done.numbers["max_rss_bytes"] <= done.numbers["max_rss_floor_bytes"] < 30 << 20
    del ballast
    grow = "x = bytearray(60 << 20); x[::4096] = b'x' * len(x[::4096])"
    grown = open_launcher().execute(request_for(PYTHON, "-I", "-S", "-c", grow))
    assert grown.numbers["max_rss_bytes"] > 60 << 20 > grown.numbers["max_rss_floor_bytes"]


# --- timeouts and process trees ---------------------------------------------------------------


@pytest.mark.parametrize("code", ["sleep $0", "kill -STOP $$"])
def test_timeout_ends_a_program_by_term_first(containment, open_launcher, request_for, code):
    launcher = open_launcher(containment=containment)
    done = launcher.execute(request_for(SH, "-c", code, timeout_s=0.1, grace_s=60))
    assert (done.killed, done.signal) == ("timeout", signal.SIGTERM)
    assert done.wall_ns >= 100_000_000


def test_timeout_kills_a_stubborn_program(containment, open_launcher, request_for, tmp_path):
    # who is ended before its trap stands is no stubborn one: it has more time then
    code = "trap '' TERM INT HUP; : > stubborn; while :; do sleep 0.05; done"
    launcher = open_launcher(containment=containment)
    for timeout_s in (0.2, 2.0, 60.0):
        done = launcher.execute(request_for(SH, "-c", code, timeout_s=timeout_s, grace_s=0.1))
        if (tmp_path / "stubborn").exists():
            break
    assert (done.killed, done.signal) == ("timeout", signal.SIGKILL)


def test_timeout_kills_a_forking_program_whole(
    containment, open_launcher, request_for, marker, processes
):
    code = f"for i in 1 2 3; do {SH} -c 'sleep $0; :' {marker} & done; wait"
    launcher = open_launcher(containment=containment)
    done = launcher.execute(request_for(SH, "-c", code, timeout_s=0.2, grace_s=0.1))
    assert done.killed == "timeout"
    assert processes.processes_with(marker) == []


def test_double_forked_grandchildren_are_gone_and_counted(
    containment, open_launcher, request_for, marker, processes, tmp_path
):
    # Each leaves its parent's session, writes its number and goes on; the target waits for three.
    orphan = "echo x >> born; exec sleep $0"
    code = (
        f"for i in 1 2 3; do (setsid {SH} -c '{orphan}' $0 &); done;"
        ' while [ "$(wc -l < born 2>/dev/null || echo 0)" -lt 3 ]; do sleep 0.01; done'
    )
    launcher = open_launcher(containment=containment)
    done = launcher.execute(request_for(SH, "-c", code))
    assert done.exit_code == 0, (tmp_path / "stderr").read_text()
    assert (done.numbers["orphans"], done.survivors) == (3, 0)
    assert processes.processes_with(marker) == []
    assert launcher.execute(request_for("/bin/true")).numbers["orphans"] == 0


def test_grandchild_that_holds_stdout_does_not_delay_the_run(open_launcher, request_for):
    launcher = open_launcher()
    done = launcher.execute(request_for(SH, "-c", "sleep $0 & echo done", timeout_s=300))
    assert (done.exit_code, done.killed, done.numbers["orphans"]) == (0, None, 1)


def test_sweep_can_be_left_to_later(open_launcher, request_for):
    launcher = open_launcher()
    done = launcher.execute(request_for(SH, "-c", "sleep $0 & :", sweep=False))
    assert done.numbers["orphans"] == 0
    assert launcher.sweep() == 1
    assert launcher.sweep() == 0


def test_fork_bomb_is_swept(containment, open_launcher, request_for, processes, marker):
    # Bounded: every generation doubles, the seventh waits.
    script = (
        "import os, time\n"
        "for _ in range(7):\n    os.fork()\n"
        "os.setsid() if os.getpgrp() != os.getpid() else None\n"
        "time.sleep(1000)\n"
    )
    launcher = open_launcher(containment=containment)
    done = launcher.execute(
        request_for(PYTHON, "-I", "-S", "-c", script, timeout_s=1.0, grace_s=0.1)
    )
    assert done.killed == "timeout"
    assert done.survivors == 0
    assert processes.processes_with(marker) == []


def test_target_that_closes_its_output_is_still_waited_for(open_launcher, request_for, tmp_path):
    done = open_launcher().execute(
        request_for(SH, "-c", "echo before; exec >&- 2>&- <&-; sleep 0.05; exit 5")
    )
    assert done.exit_code == 5
    assert done.wall_ns >= 50_000_000
    assert (tmp_path / "stdout").read_text() == "before\n"


def test_watch_can_end_a_run_and_its_reason_is_told(containment, open_launcher, request_for):
    launcher = open_launcher(containment=containment)
    done = launcher.execute(request_for(SH, "-c", "sleep $0"), lambda: "enough", 0.02)
    assert done.killed == "enough"
    assert launcher.execute(request_for("/bin/true")).exit_code == 0


def test_watch_sees_the_running_target(open_launcher, request_for, processes, marker):
    launcher = open_launcher()
    seen = []

    def look():
        targets = launcher.targets()
        if targets and marker in processes.command_line(targets[0]):
            seen.append(marker)
            return "seen"
        return None

    assert launcher.execute(request_for(SH, "-c", "sleep $0"), look, 0.02).killed == "seen"
    assert seen


# --- what a target sees -----------------------------------------------------------------------


def test_target_leads_a_session_of_its_own_and_has_its_scheduling_class(inside, open_launcher):
    expression = (
        "[os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid(), os.sched_getscheduler(0)]"
    )
    assert inside(expression) == [True, True, os.sched_getscheduler(0)]
    assert inside(expression, open_launcher(scheduling="batch")) == [True, True, os.SCHED_BATCH]


def test_argv0_is_the_word_that_was_written(open_launcher, request_for, tmp_path):
    open_launcher().execute(request_for(SH, "-c", "cat /proc/$$/cmdline", argv0="my-shell"))
    assert (tmp_path / "stdout").read_bytes().startswith(b"my-shell\0-c\0")


def test_working_folder_and_stdin(open_launcher, request_for, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "input").write_text("from the file")
    open_launcher().execute(
        request_for(SH, "-c", "pwd; cat", cwd=tmp_path / "deep", stdin=tmp_path / "input")
    )
    assert (tmp_path / "stdout").read_text() == f"{tmp_path}/deep\nfrom the file"


def test_without_a_file_stdin_is_empty_and_outputs_vanish(open_launcher, request_for, tmp_path):
    code = "read line && exit 1; readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 > links"
    done = open_launcher().execute(request_for(SH, "-c", code, stdout=None, stderr=None))
    assert done.exit_code == 0
    links = (tmp_path / "links").read_text().splitlines()
    assert (links[0], links[2]) == ("/dev/null", "/dev/null")
    assert not (tmp_path / "stdout").exists()


def test_relative_output_paths_are_ours_not_the_launchers(
    open_launcher, request_for, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = open_launcher().execute(request_for(SH, "-c", "echo here", stdout=Path("relative")))
    assert done.exit_code == 0
    assert (tmp_path / "relative").read_text() == "here\n"


def test_output_of_the_run_before_is_gone(open_launcher, request_for, tmp_path):
    launcher = open_launcher()
    launcher.execute(request_for(SH, "-c", "echo a long line of output"))
    launcher.execute(request_for(SH, "-c", "echo short"))
    assert (tmp_path / "stdout").read_text() == "short\n"


def test_environment_is_exactly_what_was_asked_for(open_launcher, request_for, tmp_path):
    env = {b"A": b"1", b"PADDING": b"x" * 3000, b"RAW": b"\xff"}
    code = "import os,sys; sys.stdout.buffer.write(b'\\0'.join(sorted(os.environb)))"
    open_launcher().execute(request_for(PYTHON, "-I", "-S", "-c", code, env=env))
    names = (tmp_path / "stdout").read_bytes().split(b"\0")
    assert [name for name in names if name != b"LC_CTYPE"] == [b"A", b"PADDING", b"RAW"]
    code = "import os; print(len(os.environb[b'PADDING']), os.environb[b'RAW'])"
    open_launcher().execute(request_for(PYTHON, "-I", "-S", "-c", code, env=env))
    assert (tmp_path / "stdout").read_text() == "3000 b'\\xff'\n"


def test_signals_are_at_their_defaults(open_launcher, request_for, tmp_path):
    open_launcher().execute(request_for(SH, "-c", "exec grep ^Sig[IB] /proc/self/status"))
    text = (tmp_path / "stdout").read_text()
    masks = {line.split(":")[0]: int(line.split()[1], 16) for line in text.splitlines()}
    # Python ignores SIGPIPE and SIGXFSZ for itself; 32 and 33 are the C library's own business.
    assert masks["SigIgn"] & (2**31 - 1) == 0
    assert masks["SigBlk"] == 0


def test_no_descriptor_of_ours_reaches_a_target(open_launcher, request_for, tmp_path):
    open_launcher().execute(request_for(SH, "-c", "ls /proc/$$/fd"))
    assert set((tmp_path / "stdout").read_text().split()) <= {"0", "1", "2", "10"}


def test_a_limit_on_open_files_may_be_below_what_the_launcher_has_open(open_launcher, request_for):
    # its own files are no business of the target, which needs three, and one for its loader
    request = request_for("/bin/true", limits=limit_numbers({"nofile": 4}))
    done = open_launcher().execute(request)
    assert (done.exit_code, done.signal) == (0, None)


def test_limits_are_the_targets_and_do_not_stay(containment, open_launcher, inside):
    launcher = open_launcher(containment=containment)
    limits = limit_numbers({"nofile": 64, "core": 0, "cpu": 77})
    expression = "[resource.getrlimit(resource.RLIMIT_NOFILE)[0], resource.getrlimit(resource.RLIMIT_CPU)[0]]"
    assert inside(expression, launcher, limits=limits) == [64, 77]
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    cpu = resource.getrlimit(resource.RLIMIT_CPU)[0]
    assert inside(expression, launcher) == [soft, cpu]
    held = resource.prlimit(launcher.pid, resource.RLIMIT_NOFILE)
    assert held == resource.getrlimit(resource.RLIMIT_NOFILE)


def test_limit_that_ends_a_target_does_not_end_the_launcher(open_launcher, request_for):
    launcher = open_launcher()
    limits = limit_numbers({"fsize": 1000})
    done = launcher.execute(
        request_for(SH, "-c", "exec head -c 5000 /dev/zero > big", limits=limits)
    )
    # The marker is an argument of the shell, so head writes until the limit ends it.
    assert done.signal == signal.SIGXFSZ
    assert launcher.execute(request_for("/bin/true")).exit_code == 0


def test_a_launcher_that_can_open_nothing_more_says_so(tmp_path):
    few = (SH, "-c", 'ulimit -n 6; exec "$@"', "sh")
    with (tmp_path / "said").open("w+b") as said:
        isolation = Isolation(containment="none")
        with pytest.raises(HostError, match="Too many open files") as refused:
            LauncherClient(isolation, None, Interrupts(), under=few, complaints=said.fileno())
        assert said.read() == b""
    assert "ulimit -n" in refused.value.fix


@pytest.mark.powerless
def test_a_launcher_that_refused_and_is_gone_has_said_why(open_launcher, monkeypatch):
    # with SIGCHLD ignored the kernel reaps it, in a namespace its parent does
    def gone(pid):
        raise ProcessLookupError(pid)

    monkeypatch.setattr(os, "pidfd_open", gone)
    with pytest.raises(HostError, match="CPU"):
        open_launcher(cpus=(5000,))
    with pytest.raises(LauncherDiedError):
        open_launcher(containment="none")


def test_limit_above_the_hard_one_is_refused(open_launcher, request_for):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] == resource.RLIM_INFINITY:
        pytest.skip("open files have no hard limit here")
    beyond = resource.getrlimit(resource.RLIMIT_NOFILE)[1] + 1
    launcher = open_launcher()
    if _may_raise(beyond):
        pytest.skip("this process may raise its hard limits")
    with pytest.raises(LaunchError, match=r"limits.*could not be set"):
        launcher.execute(request_for("/bin/true", limits=[(resource.RLIMIT_NOFILE, beyond)]))
    assert launcher.execute(request_for("/bin/true")).exit_code == 0


def _may_raise(soft):
    code = f"import resource as r; r.setrlimit(r.RLIMIT_NOFILE, ({soft}, {soft - 1}))"
    return subprocess.run([PYTHON, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.mark.host
def test_cpu_affinity_and_nice(open_launcher, inside):
    cpu = max(os.sched_getaffinity(0))
    nice = min(os.getpriority(os.PRIO_PROCESS, 0) + 3, 19)
    launcher = open_launcher(cpus=(cpu,), nice=nice)
    expression = "[sorted(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, 0)]"
    assert inside(expression, launcher) == [[cpu], nice]
    assert os.sched_getaffinity(0) != {cpu} or os.cpu_count() == 1  # we stay where we were


def test_aslr_is_on_or_off(containment, open_launcher, inside):
    expression = "int(open('/proc/self/personality').read(), 16) & 0x40000"
    if not os.access("/proc/self/personality", os.R_OK):
        pytest.skip("the kernel does not show personalities")
    assert inside(expression, open_launcher(containment=containment, aslr=False)) == 0x40000
    assert inside(expression, open_launcher(containment=containment, aslr=True)) == 0


@pytest.mark.host
def test_fifo_target_is_one_priority_below_its_launcher(open_launcher, inside):
    try:
        launcher = open_launcher(scheduling="fifo", priority=3)
    except HostError:
        pytest.skip("this process may not use SCHED_FIFO")
    expression = "[os.sched_getscheduler(0), os.sched_getparam(0).sched_priority]"
    assert inside(expression, launcher) == [os.SCHED_FIFO, 3]
    assert os.sched_getscheduler(launcher.pid) == os.SCHED_FIFO
    assert os.sched_getparam(launcher.pid).sched_priority == 4


@pytest.mark.host
def test_spinning_fifo_target_times_out(open_launcher, request_for):
    cpu = max(os.sched_getaffinity(0))
    try:
        launcher = open_launcher(cpus=(cpu,), scheduling="fifo")
    except HostError:
        pytest.skip("this process may not use SCHED_FIFO")
    code = "trap '' TERM; while :; do :; done"
    done = launcher.execute(request_for(SH, "-c", code, timeout_s=0.1, grace_s=0.1))
    assert (done.killed, done.signal) == ("timeout", signal.SIGKILL)


def test_cpu_that_does_not_exist_is_a_host_error(open_launcher):
    with pytest.raises(HostError, match=r"CPUs \(4000,\) cannot be used"):
        open_launcher(cpus=(4000,))


# --- programs that cannot be started ----------------------------------------------------------


def _script(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text, newline="")
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize(
    ("name", "text", "mode", "says"),
    [
        ("missing", None, 0, "not found"),
        ("plain", "\x7fELF", stat.S_IRUSR, "not executable by you"),
        ("garbage", "neither a script nor a program", 0o755, "no program that the kernel"),
        ("foreign", "\x7fELF for another processor", 0o755, "not built for this host"),
        ("folder", "#!/tmp\n", 0o755, "interpreter '/tmp'"),
        ("orphan", "#!/nonexistent/interpreter -x\n", 0o755, "interpreter '/nonexistent/interpreter'"),
        ("windows", "#!/bin/sh\r\nexit 0\r\n", 0o755, "CRLF"),
        ("marked", "\ufeff#!/bin/sh\n", 0o755, "byte order mark"),
    ],
)  # fmt: skip
def test_what_cannot_be_executed_is_named(
    containment, open_launcher, request_for, tmp_path, name, text, mode, says
):
    path = tmp_path / name
    if text is not None:
        _script(path, text, mode)
    launcher = open_launcher(containment=containment)
    with pytest.raises(LaunchError, match=says) as caught:
        launcher.execute(request_for(str(path)))
    assert caught.value.where == str(path)
    assert caught.value.exit_code == 4
    # The launcher has lost nothing by it.
    assert launcher.execute(request_for("/bin/true")).exit_code == 0


def test_too_long_arguments_are_a_launch_error(open_launcher, request_for):
    with pytest.raises(LaunchError, match="too long"):
        open_launcher().execute(request_for("/bin/true", "x" * (1 << 20)))


@pytest.mark.parametrize(
    ("field", "says"), [(name, f"the {name} of") for name in ("stdin", "stdout", "stderr", "cwd")]
)
def test_places_that_are_not_there_are_named(open_launcher, request_for, tmp_path, field, says):
    missing = tmp_path / "no" / "such"
    with pytest.raises(LaunchError, match=says) as caught:
        open_launcher().execute(request_for("/bin/true", **{field: missing}))
    assert caught.value.where == str(missing)


# --- between two runs -------------------------------------------------------------------------


def test_padding_is_what_was_asked_for_run_by_run(open_launcher, request_for, tmp_path):
    launcher = open_launcher()
    code = 'echo "${PAD-none}" | wc -c; env | grep -c ^PAD='
    one = request_for(SH, "-c", code, padded=b"PAD")
    for length in (3, 4000, 17, 0, 9000, 1):  # the text is cut in place, and grows
        launcher.execute(one, padding=length)
        said, there = (int(word) for word in (tmp_path / "stdout").read_text().split())
        assert (said - 1, there) == ((length, 1) if length else (len("none"), 0))


def test_programs_that_take_turns_keep_what_is_theirs(open_launcher, request_for, tmp_path):
    launcher = open_launcher()
    code = 'echo "$OWN $1"'
    cases = [
        request_for(SH, "-c", code, "-", f"word{k}", env={b"OWN": b"%d" % k, b"PATH": b"/bin"})
        for k in range(5)
    ]
    for k in (0, 1, 0, 4, 2, 3, 0):
        launcher.execute(cases[k])
        assert (tmp_path / "stdout").read_text() == f"{k} word{k}\n"
    cases[0].env[b"OWN"] = b"changed"
    launcher.execute(cases[0])
    assert (tmp_path / "stdout").read_text() == "changed word0\n"


def test_an_argument_with_a_nul_is_a_launch_error(open_launcher, request_for):
    launcher = open_launcher()
    for _ in range(2):  # announced once, refused each time
        with pytest.raises(LaunchError, match="Invalid argument"):
            launcher.execute(request_for("/bin/true", "a\0b"))
    assert launcher.execute(request_for("/bin/true")).exit_code == 0


def test_a_launcher_that_stays_notices_that_nobody_is_left(request_for):
    launcher = LauncherClient(Isolation(containment="none"), None, Interrupts(), stays=True)
    launcher.execute(request_for("/bin/true"))
    launcher.close()
    with pytest.raises(ProcessLookupError):
        os.kill(launcher.pid, 0)
