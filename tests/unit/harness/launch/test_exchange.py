"""What a launcher replies fits the table of a run's numbers."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import subprocess
import sys
import threading
import time

import pytest

from analysis.record.run_numbers import LAUNCHER_NUMBERS
from harness.campaign.model import Command, Isolation
from harness.errors import LauncherDiedError, LaunchError
from harness.launch import client, exchange as standstill
from harness.launch.commands import CommandFailedError, SideCommands
from harness.launch.exchange import (
    Lookout,
    Standstill,
    children,
    execution_of,
    is_stopped,
    not_permitted,
)
from harness.launch.in_launcher.serving import Launcher
from harness.launch.matching import Interrupts


def reply(**numbers):
    return {
        "started_ns": 5,
        "status": 7 << 8,
        "reason": None,
        "survivors": 0,
        "numbers": dict.fromkeys(LAUNCHER_NUMBERS, 1) | numbers,
    }


def test_a_reply_is_read():
    found = execution_of(reply(wall_ns=12))
    assert (found.started_ns, found.exit_code, found.signal, found.killed) == (5, 7, None, None)
    assert found.wall_ns == found.numbers["wall_ns"] == 12


def test_a_signal_is_no_exit_code():
    found = execution_of(reply() | {"status": 11, "reason": "timeout", "survivors": 2})
    assert (found.exit_code, found.signal, found.killed, found.survivors) == (
        None,
        11,
        "timeout",
        2,
    )


@pytest.mark.parametrize("key", ["wall_ns", "instructions"])
def test_numbers_that_the_table_does_not_have_are_refused(key):
    odd = reply()
    if odd["numbers"].pop(key, None) is None:
        odd["numbers"][key] = 1
    with pytest.raises(LaunchError, match=f"run_numbers.*do not agree on {key}\n") as error:
        execution_of(odd)
    assert error.value.fix.startswith("install fairtrial anew")


@pytest.mark.parametrize(
    ("setting", "key", "what"),
    [
        ("nice", "nice", "nice -5 is not permitted: "),
        ("scheduling", "scheduling", "scheduling class 'fifo' is not permitted: "),
        ("cpus", "cpus", "the CPUs (0, 3) cannot be used: "),
        ("cgroup", "containment", "the cgroup of a run cannot be used: "),
        ("containment", "containment", "the setting 'containment' is not permitted: "),
    ],
)
def test_a_refused_setting_is_named_by_its_key_in_the_campaign(setting, key, what):
    isolation = Isolation(nice=-5, scheduling="fifo")
    error = not_permitted(setting, errno.EPERM, isolation, (0, 3))
    assert (error.what, error.where) == (f"{what}Operation not permitted", f"isolation.{key}")
    assert "ulimit -n" in not_permitted(setting, errno.EMFILE, isolation, (0, 3)).fix


# --- What /proc tells of processes: from planted files, and of this very one


def plant(proc, files):
    for name, text in files.items():
        path = proc / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return proc


def test_children_are_read_from_the_list_of_each_thread(tmp_path):
    proc = plant(tmp_path, {"7/task/7/children": "8 9 \n", "7/task/70/children": "5\n"})
    assert sorted(children(7, proc)) == [5, 8, 9]
    assert children(6, proc) == ()


def test_children_are_found_by_their_parent_where_there_is_no_list(tmp_path):
    files = {
        "7/task/7/stat": "7 (x) S 1\n",
        "8/stat": "8 (a) b) (c) S 7 8 8\n",  # a name may hold blanks and brackets
        "9/stat": "9 (sh) S 8 9\n",
        "10/task": "ended while we looked: it has no stat",
        "uptime": "1 1\n",
    }
    assert children(7, plant(tmp_path, files)) == (8,)


def test_a_child_of_this_very_process_is_found():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as child:
        assert child.pid in children(os.getpid())
        child.communicate(b"\n")


def test_a_process_is_stopped_by_a_signal_or_by_who_traces_it(tmp_path):
    # authority: the states of proc(5); a name may hold blanks and brackets
    for number, state in enumerate("RSDTtZ", 1):
        plant(tmp_path, {f"{number}/stat": f"{number} (a) T (b) {state} 1 2\n"})
    assert [is_stopped(number, tmp_path) for number in range(1, 7)] == [0, 0, 0, 1, 1, 0]
    assert not is_stopped(99, tmp_path)  # which has ended: nobody knows


# --- Stopped and continued, or stopped for good: with real processes, and by clocks that tests move
#
# Authority: an attack in which a launcher that was stopped for 8 s gave a row `ok` of 8 s for a program
# of 0.2 s; SIGSTOP and SIGCONT of signal(7); CLOCK_BOOTTIME of clock_gettime(2), which alone goes on while a
# machine is suspended.


SH = "/bin/sh"
S = 1_000_000_000


@pytest.fixture
def beside():
    """Do something in a thread while a program runs; what fails there fails the test."""
    failed, threads = [], []

    def do(act):
        def kept():
            try:
                act()
            except BaseException as error:  # noqa: BLE001 - raised at the end
                failed.append(error)

        threads.append(threading.Thread(target=kept))
        threads[-1].start()

    yield do
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


@pytest.fixture
def until_released(tmp_path):
    """Give shell code that says that it runs, and runs until somebody releases it."""
    return f": > {tmp_path}/runs; while [ ! -e {tmp_path}/release ]; do sleep 0.02; done"


@pytest.fixture
def looks(monkeypatch):
    """Keep what looks at launchers find: whether they are stopped."""
    (is_stopped,) = Lookout.__init__.__defaults__
    found = []

    def look(pid):
        found.append(is_stopped(pid))
        return found[-1]

    monkeypatch.setattr(Lookout.__init__, "__defaults__", (look,))
    return found


def stopped_and_continued(processes, tmp_path, pid, looks):
    """Stop a launcher once the program runs, and continue it after a look; then let it end."""
    processes.wait_until((tmp_path / "runs").exists, "the program runs")
    os.kill(pid, signal.SIGSTOP)
    try:
        processes.wait_until(lambda: True in looks, "it is seen that it is stopped")
    finally:
        os.kill(pid, signal.SIGCONT)
        (tmp_path / "release").touch()


# --- with real processes ----------------------------------------------------------------------


def test_a_launcher_that_was_stopped_and_continued_tells(
    containment, open_launcher, request_for, beside, processes, tmp_path, until_released, looks
):
    launcher = open_launcher(containment=containment)
    beside(lambda: stopped_and_continued(processes, tmp_path, launcher.pid, looks))
    done = launcher.execute(request_for(SH, "-c", until_released))
    assert done.exit_code == 0
    # as far as looks at it show; how long is the machine's affair, which may hold this process, too
    assert done.standstill.what in {"the launcher", "fairtrial and its launcher"}
    assert done.standstill.seconds > 0
    assert "launcher stood still for " in str(done.standstill)
    assert launcher.execute(request_for("/bin/true")).standstill is None


def test_a_program_that_sends_cont_to_its_launcher_is_seen_without_a_length(
    containment, open_launcher, request_for
):
    launcher = open_launcher(containment=containment)
    done = launcher.execute(request_for(SH, "-c", "kill -CONT $PPID"))
    assert done.standstill == Standstill(what="the launcher", seconds=0.0)
    assert "less than 0.25 s" in str(done.standstill)


def test_what_happens_between_two_runs_is_no_matter_of_either(open_launcher, request_for):
    launcher = open_launcher()
    for _ in range(3):
        assert launcher.execute(request_for("/bin/true")).standstill is None
        os.kill(launcher.pid, signal.SIGCONT)


def test_the_cont_that_wakes_a_launcher_to_end_a_run_is_our_own(open_launcher, request_for):
    launcher = open_launcher()
    done = launcher.execute(request_for(SH, "-c", "exec sleep 60"), lambda: "output-limit", 0.02)
    assert (done.killed, done.standstill) == ("output-limit", None)


@pytest.mark.parametrize("timeout_s", [None, 1.0])
def test_a_launcher_that_is_stopped_for_good_is_given_up(
    containment, open_launcher, request_for, processes, marker, monkeypatch, timeout_s
):
    # authority: `kill -STOP $PPID` held a trial for ever, timeout or not
    monkeypatch.setattr(standstill, "PATIENCE_S", 0.6)
    launcher = open_launcher(containment=containment)
    request = request_for(SH, "-c", "kill -STOP $PPID; exec sleep 60", timeout_s=timeout_s)
    with pytest.raises(LauncherDiedError, match="was stopped, and not continued"):
        launcher.execute(request)
    assert launcher.dead
    launcher.close()
    assert processes.processes_with(marker) == []
    with pytest.raises(ProcessLookupError):
        os.kill(launcher.pid, 0)


def test_one_that_only_does_not_answer_is_given_up_after_the_timeout(
    open_launcher, request_for, monkeypatch
):
    # where nobody sees that it is stopped: without /proc, or in a frozen group
    monkeypatch.setattr(standstill, "_UNSEEN_S", 0.5)
    monkeypatch.setattr(standstill.Lookout.__init__, "__defaults__", (lambda pid: False,))
    launcher = open_launcher()
    request = request_for(SH, "-c", "kill -STOP $PPID; sleep 60", timeout_s=0.2, grace_s=0.1)
    with pytest.raises(LauncherDiedError, match="did not answer for 1 s"):
        launcher.execute(request)


def test_a_stopped_launcher_ends_when_it_is_closed(containment, open_launcher, processes):
    launcher = open_launcher(containment=containment)
    os.kill(launcher.pid, signal.SIGSTOP)
    processes.wait_until(lambda: processes.state(launcher.pid) == "T", "it is stopped")
    launcher.close()
    with pytest.raises(ProcessLookupError):
        os.kill(launcher.pid, 0)


def test_a_launcher_that_does_not_end_is_killed_when_it_is_closed(
    open_launcher, processes, monkeypatch
):
    # as one that somebody stops again whenever it goes on
    launcher = open_launcher(containment="none")
    os.kill(launcher.pid, signal.SIGSTOP)
    processes.wait_until(lambda: processes.state(launcher.pid) == "T", "it is stopped")
    send, wait = signal.pidfd_send_signal, launcher._process.wait
    monkeypatch.setattr(client, "_ENDING_S", 0.05)
    monkeypatch.setattr(launcher._process, "wait", lambda: wait(timeout=5))
    monkeypatch.setattr(
        signal,
        "pidfd_send_signal",
        lambda pidfd, number: None if number == signal.SIGCONT else send(pidfd, number),
    )
    try:
        launcher.close()
        assert launcher._process.returncode == -signal.SIGKILL
    finally:
        launcher._process.kill()


def test_a_launcher_has_its_own_time_behind_that_of_the_program(
    open_launcher, request_for, monkeypatch
):
    launcher, waits, real = open_launcher(containment="none"), [], select.poll

    class Poll:
        def __init__(self):
            self.register, self._poll = (of := real()).register, of.poll

        def poll(self, milliseconds):
            waits.append(milliseconds)
            return self._poll()

    launcher.begin(request_for(SH, "-c", "exit 0"))
    monkeypatch.setattr(client, "_ENDING_S", 2.0)
    monkeypatch.setattr(select, "poll", Poll)
    assert launcher.end(0.5).exit_code == 0
    launcher.close()
    assert waits == [2500, 2000]


def test_a_hook_that_stops_its_launcher_fails_and_holds_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(standstill, "PATIENCE_S", 0.6)
    command = Command(argv=(SH, "-c", "kill -STOP $PPID"), mark="campaign.yaml:3:1")
    said = r"hook 'setup' cannot be executed: .*stopped"
    with (
        contextlib.closing(SideCommands(None, Interrupts())) as side,
        pytest.raises(CommandFailedError, match=said),
    ):
        side.execute(
            "hook 'setup'",
            command,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin"},
            log=tmp_path / "log",
            timeout_s=60.0,
        )


class Waits:
    """A poller whose waits take what they are told to, in turns of a clock."""

    def __init__(self, *took_ms):
        self.took_ms, self.asked = list(took_ms), []

    def poll(self, timeout):
        self.asked.append(timeout)
        took = self.took_ms.pop(0) if self.took_ms else timeout
        return [(1, 1)] if took < timeout else []


def test_what_stands_still_costs_a_hook_one_slice_of_its_timeout():
    # a wait that took ten minutes is one of 250 ms; negative control: by the clock it is over at once
    waits = Waits(600_000, 250, 250, 10)
    assert Launcher._wait_on(None, waits, 1000)
    assert waits.asked == [250] * 4
    assert Launcher._wait_on(None, Waits(*[250] * 9), 600) == []


def test_only_what_is_not_measured_is_waited_for_in_slices(request_for):
    from harness.launch.exchange import message_of

    measured = message_of(request_for("/bin/true", timeout_s=7.0))
    hook = message_of(request_for("/bin/true", timeout_s=7.0, sweep=False))
    assert (measured["timeout_ms"], measured["patience_ms"]) == (7000, 0)
    assert (hook["timeout_ms"], hook["patience_ms"]) == (250, 6750)
    endless = message_of(request_for("/bin/true", sweep=False))
    assert (endless["timeout_ms"], endless["patience_ms"]) == (-1, 0)


# --- by clocks that the test moves ------------------------------------------------------------


class Clocks:
    """The clocks of a machine: `asleep` only one of them goes on."""

    CLOCK_BOOTTIME = time.CLOCK_BOOTTIME

    def __init__(self):
        self.now, self.slept = 1000 * S, 5 * S

    def monotonic_ns(self):
        return self.now

    def clock_gettime_ns(self, clock):
        assert clock == self.CLOCK_BOOTTIME
        return self.now + self.slept


@pytest.fixture
def clocks(monkeypatch):
    made = Clocks()
    monkeypatch.setattr(standstill, "time", made)
    return made


def reply_of(started, wall, *, continued=False, late_ms=0):
    numbers = {"start_ns": started, "wall_ns": wall}
    return {"numbers": numbers, "continued": continued, "late_ms": late_ms}


def waits(lookout, clocks, *took_s, asked=0.25, in_vain=True):
    """Let waits pass that took so long; give what the last one came to."""
    given_up = None
    for seconds in took_s:
        began = clocks.now
        clocks.now += round(seconds * S)
        given_up = lookout.waited(began, asked, in_vain=in_vain)
    return given_up


def test_an_ordinary_run_has_no_standstill(clocks):
    lookout = Lookout(7, None, stopped=lambda pid: False)
    began = clocks.now
    waits(lookout, clocks, *[0.25] * 9, 0.9)  # a busy machine is late by less than a second
    assert lookout.standstill(reply_of(began, clocks.now - began), woken=False) is None


@pytest.mark.parametrize("seconds", [1.25, 8.0, 3600.0])
def test_a_wait_that_is_late_by_a_second_is_one(clocks, seconds):
    lookout = Lookout(7, None, stopped=lambda pid: False)
    began = clocks.now
    waits(lookout, clocks, 0.25, seconds, 0.1)
    found = lookout.standstill(reply_of(began, clocks.now - began), woken=False)
    assert found.seconds == pytest.approx(seconds - 0.25)
    assert found.what == "fairtrial"
    both = lookout.standstill(reply_of(began, clocks.now - began, continued=True), woken=False)
    assert both.what == "fairtrial and its launcher"


def test_a_run_that_had_ended_before_is_right(clocks):
    # fairtrial alone was stopped: the launcher had taken the time of a program of 0.1 s
    lookout = Lookout(7, None, stopped=lambda pid: False)
    began = clocks.now
    waits(lookout, clocks, 0.25, 8.0, in_vain=False)
    assert lookout.standstill(reply_of(began, 350_000_000), woken=False) is None
    assert lookout.standstill(reply_of(began, 600_000_000), woken=False) is not None


def test_a_suspended_machine_is_told_by_the_clock_that_goes_on(clocks):
    lookout = Lookout(7, 3.0, stopped=lambda pid: False)
    began = clocks.now
    clocks.slept += 3600 * S
    assert waits(lookout, clocks, 0.25) is None
    found = lookout.standstill(reply_of(began, clocks.now - began), woken=False)
    assert found == Standstill(what="the machine", seconds=3600.0)


def test_a_timeout_that_came_late_is_one(clocks):
    lookout = Lookout(7, 3.0, stopped=lambda pid: False)
    found = lookout.standstill(reply_of(clocks.now, 8 * S, late_ms=5000), woken=False)
    assert found.seconds == 5.0
    assert lookout.standstill(reply_of(clocks.now, 4 * S, late_ms=999), woken=False) is None


def test_how_long_a_run_took_plays_no_part(clocks):
    # or quiet runs would be preferred: the same evidence, whatever the time
    for wall in (1, S, 10_000 * S):
        lookout = Lookout(7, None, stopped=lambda pid: False)
        assert lookout.standstill(reply_of(clocks.now, wall), woken=False) is None
        told = reply_of(clocks.now, wall, continued=True)
        assert lookout.standstill(told, woken=False) == Standstill(what="the launcher", seconds=0.0)


def test_who_traces_the_launcher_for_a_moment_at_a_time_stops_nothing(clocks):
    # strace -p: a look may find it in one of its stops, and no signal tells
    states = iter([True, False] * 20)
    lookout = Lookout(7, None, stopped=lambda pid: next(states))
    began = clocks.now
    waits(lookout, clocks, *[0.25] * 40)
    assert lookout.standstill(reply_of(began, clocks.now - began), woken=False) is None
    lookout = Lookout(7, None, stopped=lambda pid: True)  # a debugger, for a second and more
    waits(lookout, clocks, *[0.25] * 5)
    assert lookout.standstill(reply_of(began, S), woken=False).seconds == pytest.approx(1.25)


def test_what_stood_still_does_not_count_against_the_launcher(clocks):
    # stopped together and continued, or suspended: a deadline of its own has not come nearer
    lookout = Lookout(7, 3.0, stopped=lambda pid: False)
    assert waits(lookout, clocks, *[3600.0] * 3, *[0.25] * 12) is None
    # the launcher is continued some seconds after fairtrial
    states = iter([True] * 38 + [False] * 9)
    lookout = Lookout(7, 3.0, stopped=lambda pid: next(states))
    assert waits(lookout, clocks, 3600.0, *[0.25] * 46) is None


def test_one_that_stays_stopped_is_given_up_by_time_in_which_fairtrial_ran(clocks):
    lookout = Lookout(7, None, stopped=lambda pid: True)
    assert waits(lookout, clocks, *[0.25] * 39) is None
    assert "not continued for 10 s" in waits(lookout, clocks, 0.25)
    lookout = Lookout(7, 3.0, stopped=lambda pid: False)
    assert waits(lookout, clocks, *[0.25] * 131) is None
    assert "did not answer for 33 s" in waits(lookout, clocks, 0.25)
    endless = Lookout(7, None, stopped=lambda pid: False)
    assert waits(endless, clocks, *[0.25] * 4000) is None
