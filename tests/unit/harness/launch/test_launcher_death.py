"""The death of a launcher, of its orchestrator, and their signals: nothing survives, and it is told."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.campaign.model import Isolation
from harness.errors import LauncherDiedError, LaunchError
from harness.launch.client import (
    _SCRIPT as SCRIPT,
    LauncherClient,
)
from harness.launch.exchange import LaunchRequest, message_of
from harness.launch.matching import Interrupted, Interrupts

SH = "/bin/sh"
_Popen = subprocess.Popen


def test_killed_launcher_is_a_launch_error_and_nothing_survives(
    containment, open_launcher, request_for, marker, processes
):
    launcher = open_launcher(containment=containment)
    code = f"(setsid {SH} -c 'sleep $0; :' {marker} &); sleep $0"

    def kill_it():
        if len(processes.processes_with(marker)) >= 2:
            os.kill(launcher.pid, signal.SIGKILL)

    with pytest.raises(LaunchError, match="launcher was killed or crashed"):
        launcher.execute(request_for(SH, "-c", code), kill_it, 0.02)
    processes.wait_until(lambda: not processes.processes_with(marker), "all targets gone")


def test_launcher_killed_between_runs_is_a_launch_error(open_launcher, request_for):
    launcher = open_launcher()
    os.kill(launcher.pid, signal.SIGKILL)
    with pytest.raises(LaunchError, match="launcher was killed or crashed"):
        launcher.execute(request_for("/bin/true"))


def stopped_at_once(*args, **options):
    """Start a process that does not get to read anything."""
    process = _Popen(*args, **options)
    process.send_signal(signal.SIGSTOP)
    return process


class BareLauncher:
    """The launcher script and a socket to it, with nobody who knows what to make of its replies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SCRIPT), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        given = {"cpus": None, "containment": "none", "stay_ns": 0}
        self.send({**dataclasses.asdict(Isolation()), **given})
        assert self.receive() == {"ready": True, "counters": []}

    def send(self, message):
        data = marshal.dumps(message)
        self.socket.sendall(len(data).to_bytes(4, "little") + data)

    def receive(self):
        size = int.from_bytes(self.socket.recv(4, socket.MSG_WAITALL), "little")
        return marshal.loads(self.socket.recv(size, socket.MSG_WAITALL))

    def run(self, path, *rest):
        """Have it execute a program; nobody waits for the reply."""
        env = {b"PATH": b"/usr/bin:/bin"}
        request = LaunchRequest(
            path=path, argv=(path, *rest), env=env, cwd=self.folder, sweep=False
        )
        self.send({**message_of(request), "handle": 0})
        self.send({"op": "run", "handle": 0, "padding": 0, "count": False})

    def serve(self, marker, processes):
        """Have it execute a program that leaves a server behind; the reply is on its way."""
        self.run(SH, "-c", f"setsid {SH} -c 'sleep $0; :' {marker} &")
        processes.wait_until(lambda: processes.processes_with(marker), "the server starts")

    def has_answered(self):
        return select.select([self.socket], [], [], 0)[0]

    def hang_up(self):
        self.socket.close()
        return self.ended()

    def ended(self):
        """Wait for its end: (exit code, what it wrote to stderr)."""
        said = self.process.communicate(timeout=60)[1]
        return self.process.returncode, said


@pytest.fixture
def bare_launcher(tmp_path):
    made = []

    def make():
        made.append(BareLauncher(tmp_path))
        return made[-1]

    yield make
    for launcher in made:
        launcher.socket.close()
        launcher.process.communicate()


_ORCHESTRATOR = """
import fcntl, os, sys, time
from pathlib import Path
from harness.campaign.model import Isolation
from harness.launch.matching import Interrupts
from harness.launch.exchange import LaunchRequest
from harness.launch.client import LauncherClient, kept_locks
for path in sys.argv[1:]:
    kept_locks.add(os.open(path, os.O_RDWR | os.O_CREAT))
    fcntl.flock(*kept_locks, fcntl.LOCK_EX)
containment, shell, marker, code = sys.stdin.readline().rstrip("\\n").split(maxsplit=3)
launcher = LauncherClient(Isolation(containment=containment), None, Interrupts())
print(launcher.containment, launcher.pid, flush=True)
launcher.execute(LaunchRequest(path=shell, argv=(shell, "-c", code, marker),
    env={b"PATH": os.environb[b"PATH"]}, cwd=Path("/")))
"""


@contextlib.contextmanager
def orchestrator(containment, code, marker, *locks):
    """Start a process that has a launcher execute `code`: the process, the launcher's number."""
    with subprocess.Popen(
        [sys.executable, "-c", _ORCHESTRATOR, *map(str, locks)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[4],
    ) as process:
        process.stdin.write(f"{containment} {SH} {marker} {code}\n")
        process.stdin.flush()
        got, pid = process.stdout.readline().split()
        if containment == "auto" and got == "none":
            process.kill()
            pytest.skip("no PID namespace is to be had here")
        yield process, int(pid)


@pytest.mark.parametrize("victims", ["orchestrator", "both"])
def test_no_target_survives_the_orchestrator(containment, marker, processes, victims):
    code = f"(setsid {SH} -c 'sleep $0; :' {marker} &); sleep $0"
    with orchestrator(containment, code, marker) as (process, pid):
        processes.wait_until(lambda: len(processes.processes_with(marker)) >= 2, "targets start")
        if victims == "both":
            os.kill(process.pid, signal.SIGSTOP)  # so that it cannot react to the first death
            os.kill(pid, signal.SIGKILL)
        process.kill()

    def gone():
        left = processes.processes_with(marker)
        if victims == "both" and containment == "none":
            # What the finding "containment" warns of: only a namespace holds that.
            processes.send(left)
        return not left

    processes.wait_until(gone, "all targets gone")


def test_a_lock_is_free_once_every_target_of_its_killed_holder_is_killed(
    containment, marker, processes, tmp_path
):
    with orchestrator(containment, "sleep $0; :", marker, tmp_path / "lock") as (process, _):
        processes.wait_until(lambda: len(processes.processes_with(marker)) >= 2, "targets start")
        (pid, *_) = processes.processes_with(marker)
        held = [
            link for link in Path(f"/proc/{pid}/fd").iterdir() if link.readlink().name == "lock"
        ]
        assert not held
        process.kill()
    with (tmp_path / "lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        # killed by then: the kernel ends the processes of a namespace in any order
        processes.wait_until(lambda: not processes.processes_with(marker), "targets are gone", 20)


def test_a_target_that_stopped_its_launcher_does_not_survive_the_orchestrator(
    containment, marker, processes
):
    with orchestrator(containment, "kill -STOP $PPID; sleep $0", marker) as (process, _):
        processes.wait_until(lambda: processes.processes_with(marker), "the target starts")
        launcher = processes.parent(processes.processes_with(marker)[0])
        processes.wait_until(lambda: processes.state(launcher) == "T", "the launcher is stopped")
        process.kill()
    processes.wait_until(lambda: not processes.processes_with(marker), "the target is gone")


def test_an_interrupt_ends_a_run_that_stopped_its_launcher(
    containment, open_launcher, request_for, marker, processes
):
    with Interrupts() as interrupts:
        launcher = open_launcher(interrupts=interrupts, containment=containment)

        def interrupt():
            if processes.state(launcher.pid) == "T":
                os.kill(os.getpid(), signal.SIGTERM)

        with pytest.raises(Interrupted):
            launcher.execute(request_for(SH, "-c", "kill -STOP $PPID; sleep $0"), interrupt, 0.02)
    assert processes.processes_with(marker) == []


# The control has no reply to lose. Both had passed; with a reply unread the launcher ended with a
# ConnectionResetError, and what a hook had started lived for ever.
@pytest.mark.parametrize("unread", [True, False])
def test_a_hang_up_with_a_reply_unread_is_a_hang_up(bare_launcher, marker, processes, unread):
    launcher = bare_launcher()
    launcher.serve(marker, processes)
    if unread:
        processes.wait_until(launcher.has_answered, "the reply is there")
    else:
        launcher.receive()
    assert launcher.hang_up() == (0, "")
    assert processes.processes_with(marker) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, None])
def test_a_signal_or_an_error_of_the_launcher_is_followed_by_the_last_sweep(
    bare_launcher, marker, processes, number
):
    launcher = bare_launcher()
    launcher.serve(marker, processes)
    launcher.receive()
    if number is None:
        launcher.send({"op": "run"})
    else:
        os.kill(launcher.process.pid, number)
    code, said = launcher.ended()
    assert (code, "KeyError" in said) == ((1, True) if number is None else (0, False))
    assert number is None or said == ""
    assert processes.processes_with(marker) == []


# A batch system sends TERM to every process of a job: the orchestrator decides what follows.
def test_a_launcher_outlives_the_term_that_all_processes_of_a_job_get(
    containment, open_launcher, request_for, marker, processes
):
    with Interrupts() as interrupts:
        launcher = open_launcher(interrupts=interrupts, containment=containment)
        os.kill(launcher.pid, signal.SIGTERM)
        waited = []
        interrupts.sleep = waited.append
        assert launcher.execute(request_for("/bin/true")).exit_code == 0  # it was told alone
        assert waited == [1.0]  # and it was waited whether we are told too
        assert launcher.execute(request_for("/bin/true")).exit_code == 0

        def end_all():
            for pid in (*launcher.targets(), launcher.pid, os.getpid()):
                os.kill(pid, signal.SIGTERM)

        with pytest.raises(Interrupted):
            launcher.execute(request_for(SH, "-c", "sleep $0"), end_all, 0.02)
        assert processes.processes_with(marker) == []
        interrupts.acknowledge()
        assert launcher.execute(request_for("/bin/true")).exit_code == 0


def test_a_launcher_that_was_termed_still_ends_with_its_orchestrator(
    bare_launcher, marker, processes
):
    launcher = bare_launcher()
    launcher.run(SH, "-c", "sleep $0", marker)
    processes.wait_until(lambda: processes.processes_with(marker), "the program runs")
    os.kill(launcher.process.pid, signal.SIGTERM)
    assert launcher.hang_up() == (0, "")
    assert processes.processes_with(marker) == []


@pytest.mark.parametrize("step", ["_send", "_credentials"])
def test_a_launcher_killed_as_it_starts_is_a_launch_error(monkeypatch, step):
    # with the configuration unread in its socket, that is reset
    original = getattr(LauncherClient, step)

    def killed(client, *given):
        client._process.kill()
        client._process.wait()
        return original(client, *given)

    with monkeypatch.context() as patched:
        if step == "_credentials":
            patched.setattr(subprocess, "Popen", stopped_at_once)
        patched.setattr(LauncherClient, step, killed)
        with pytest.raises(LaunchError, match="the launcher was killed or crashed") as caught:
            LauncherClient(Isolation(containment="none"), None, Interrupts())
    assert caught.value.exit_code == 4


def test_interrupt_ends_the_run_and_leaves_nothing(
    containment, open_launcher, request_for, marker, processes
):
    with Interrupts() as interrupts:
        launcher = open_launcher(interrupts=interrupts, containment=containment)

        def interrupt():
            if processes.processes_with(marker):
                os.kill(os.getpid(), signal.SIGTERM)

        with pytest.raises(Interrupted) as caught:
            launcher.execute(request_for(SH, "-c", "sleep $0"), interrupt, 0.02)
        assert caught.value.number == signal.SIGTERM
        assert processes.processes_with(marker) == []
        # The launcher is fit for the hooks that come after.
        interrupts.acknowledge()
        assert launcher.execute(request_for("/bin/true")).exit_code == 0


def test_interrupt_while_the_reply_is_on_its_way_does_not_shift_the_replies(
    open_launcher, request_for
):
    # The kill may reach a launcher that has finished its run: it must not answer to it.
    with Interrupts() as interrupts:
        launcher = open_launcher(interrupts=interrupts)
        for _ in range(5):
            interrupts.received = signal.SIGINT
            with pytest.raises(Interrupted):
                launcher.execute(request_for("/bin/true"))
            interrupts.acknowledge()
            assert launcher.execute(request_for(SH, "-c", "exit 9")).exit_code == 9


def test_the_death_of_a_launcher_ends_no_other_that_the_kernel_did_not_list(
    open_launcher, request_for, containment, monkeypatch
):
    """Authority: proc(5), /proc/PID/task/TID/children: "some children may be skipped" while others end."""
    monkeypatch.setattr("harness.launch.client.children", lambda _pid: ())
    first, second = (open_launcher(containment=containment) for _ in range(2))
    monkeypatch.undo()
    os.kill(first.pid, signal.SIGKILL)
    with pytest.raises(LauncherDiedError):
        first.execute(request_for("/bin/true"))
    assert second.execute(request_for("/bin/true")).exit_code == 0


def test_closed_launcher_is_gone(containment, open_launcher):
    launcher = open_launcher(containment=containment)
    launcher.close()
    with contextlib.suppress(ProcessLookupError):
        os.kill(launcher.pid, 0)
        pytest.fail("the launcher lives on")


def test_children_of_the_caller_are_none_of_the_launchers_business(open_launcher, request_for):
    with subprocess.Popen([SH, "-c", "read line; exit 3"], stdin=subprocess.PIPE) as mine:
        launcher = open_launcher()
        os.kill(launcher.pid, signal.SIGKILL)
        with pytest.raises(LaunchError):
            launcher.execute(request_for("/bin/true"))
        mine.communicate(b"\n")
    assert mine.returncode == 3


def test_the_process_that_only_waits_keeps_nothing_open(open_launcher, processes):
    launcher = open_launcher(containment="auto")
    if launcher.containment == "none":
        pytest.skip("no PID namespace can be had here")
    stat = Path(f"/proc/{launcher.pid}/stat").read_text()
    waiting = int(stat.rpartition(")")[2].split()[1])
    # the socket is the launcher's alone: with a second holder its death would go unnoticed
    fds = Path(f"/proc/{waiting}/fd")
    processes.wait_until(
        lambda: not {fd.name for fd in fds.iterdir()} > {"0", "1", "2"}, "it has closed all else"
    )


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("folder", [False, True])
def test_output_is_not_written_through_a_symbolic_link(
    open_launcher, request_for, tmp_path, stream, folder
):
    # authority: a link planted at outputs/current.stdout let the next run destroy what it names
    victim = tmp_path / "there" / "out"
    victim.parent.mkdir()
    victim.write_text("precious")
    if folder:
        (tmp_path / "outputs").symlink_to(victim.parent)
        place = tmp_path / "outputs" / "out"
    else:
        place = tmp_path / "planted"
        place.symlink_to(victim)
    launcher = open_launcher(containment="none")
    with pytest.raises(LaunchError, match=f"the {stream} of .* through a symbolic link") as caught:
        launcher.execute(request_for("/bin/echo", "x", **{stream: place}))
    assert caught.value.where == str(place)
    assert victim.read_text() == "precious"
    assert launcher.execute(request_for("/bin/echo", "x")).exit_code == 0
