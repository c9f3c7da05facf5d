"""Patterns that find no end: the run is unparsable, and the trial hears who asks it to stop."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from harness.launch import matching
from harness.launch.matching import Interrupted, Interrupts, Matching, NotMatched

# What `re` needs centuries for (the runner under attack, B13), and what it reads one step at a time
# with no look at signals: 4096 scans of all that follows.
ENDLESS = {
    "nested": (r"^(a+)+$", "a" * 45 + "b"),
    "alternatives": (r"^(a|aa)+$", "a" * 60 + "b"),
    "look-ahead": (r"(?=(a+)+$)b?", "a" * 40 + "c"),
    "long scans": (r"x*y", "x" * 8_000_000),
}


@pytest.mark.parametrize("which", ENDLESS)
@pytest.mark.parametrize("first", [True, False])
def test_a_pattern_without_an_end_is_given_up(which, first):
    regex, text = ENDLESS[which]
    one = Matching(seconds=0.01)
    with pytest.raises(NotMatched, match=r"the pattern was too slow: .* found no end in 0.01 s"):
        one.matches(regex, text) if first else one.spans(f"({regex})", text)


def test_the_patterns_of_a_run_share_their_time(monkeypatch):
    given = []
    moments = iter([0.0, 6.0, 6.0, 9.0, 9.0, 30.0, 30.0, 31.0])
    monkeypatch.setattr(matching, "time", SimpleNamespace(process_time=lambda: next(moments)))
    monkeypatch.setattr(matching, "_deadline", lambda s: given.append(s) or nullcontext())
    one = Matching()
    for _ in range(4):
        one.matches("a", "a")
    assert given == pytest.approx([10.0, 4.0, 1.0, 1e-3])


@pytest.mark.parametrize(
    ("which", "number"),
    [("nested", signal.SIGINT), ("nested", signal.SIGHUP), ("long scans", signal.SIGTERM)],
)
def test_a_signal_ends_a_pattern_at_once(which, number):
    # a process, because `re` lets no other thread of ours do anything; again and again, because a signal that
    # comes before the pattern begins is for `check`
    signals = f"while sleep 0.02; do kill -{number.value} {os.getpid()}; done"
    with Interrupts() as interrupts, subprocess.Popen(["/bin/sh", "-c", signals]) as sender:
        try:
            with pytest.raises(Interrupted) as caught:
                Matching(interrupts, 30.0).matches(*ENDLESS[which])
        finally:
            sender.kill()
    assert caught.value.number == number


def test_lines_are_looked_at_one_by_one_up_to_what_can_be_ended():
    lines = ["a" * (1 << 22) + "b", "up"]  # 4096 scans of 4 million letters would hear nobody
    assert Matching(seconds=5.0).any_line("^up$", lines)
    assert not Matching(seconds=5.0).any_line("^down$|b$", lines)


def test_a_signal_outside_of_such_a_block_only_sets_the_flag():
    with Interrupts() as interrupts:
        with interrupts.at_once():
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.received == signal.SIGTERM
        with interrupts.at_once():
            interrupts.drain()  # what came before is for `check`


@pytest.mark.parametrize("padding", [0, 100_000])
@pytest.mark.parametrize(
    ("regex", "values"),
    [
        (r"t=(\d+)", ["1", "22"]),
        (r"(t)=(?P<value>\d+)", ["1", "22"]),
        (r"^t=(\d)(?=2)", ["2"]),  # Python's own: a look-ahead, and a line's begin
        (r"t=(\d+)(?:;|(x))", ["1"]),
        (r"nothing(\d)", []),
        (r"é(x)?", [None]),
    ],
)
def test_a_long_text_gives_what_a_short_one_does(regex, values, padding):
    text = "t=1;\nt=22\né\n" + "-" * padding
    found = [None if start < 0 else text[start:end] for start, end in Matching().spans(regex, text)]
    assert found == values
    assert Matching().matches(regex, text) is bool(values)


def test_a_handler_that_was_there_is_put_back():
    before = signal.getsignal(signal.SIGALRM)
    Matching().matches("a", "a")
    with pytest.raises(NotMatched):
        Matching(seconds=0.01).matches(*ENDLESS["nested"])
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_no_child_is_left(processes):
    with pytest.raises(NotMatched):
        Matching(seconds=0.01).matches(*ENDLESS["long scans"])
    mine = [
        pid for pid in processes.descendants(os.getpid()) if processes.parent(pid) == os.getpid()
    ]
    assert [
        pid for pid in mine if processes.command_line(pid) == processes.command_line(os.getpid())
    ] == []


def test_a_child_that_dies_says_nothing(monkeypatch):
    def die(*_, **__):
        os._exit(9)

    monkeypatch.setattr(matching, "_answer", die)
    with pytest.raises(NotMatched, match="cannot be matched"):
        Matching().matches("a", "a" * 100_000)


_FOR_EVER_S = 1e6
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_becomes_a_flag_and_wakes_a_wait(number):
    with Interrupts() as interrupts:
        interrupts.check()
        os.kill(os.getpid(), number)
        assert select.select([interrupts.fd], [], [], 10)[0] == [interrupts.fd]
        with pytest.raises(Interrupted) as caught:
            interrupts.check()
    assert caught.value.number == number


def test_first_signal_counts():
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.received == signal.SIGTERM


def test_sleep_after_a_signal_does_not_begin():
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Interrupted):
            interrupts.sleep(_FOR_EVER_S)


def test_sleep_lasts_as_long_as_asked(monkeypatch):
    now, waits = [100.0], []

    class Poller:
        """Waits less than it is asked to, as a poll may."""

        def register(self, fd, what):
            waits.append((fd, what))

        def poll(self, milliseconds):
            waits.append(milliseconds)
            now[0] += max(milliseconds / 2000, 0.5)

    monkeypatch.setattr("harness.launch.matching.time", SimpleNamespace(monotonic=lambda: now[0]))
    with Interrupts() as interrupts:
        monkeypatch.setattr("harness.launch.matching.select.poll", Poller)
        interrupts.sleep(4.0)
        assert waits == [(interrupts.fd, select.POLLIN), 4000, 2000, 1000, 500]
    assert now == [104.0]


def test_acknowledged_signal_is_dealt_with_and_the_next_counts():
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        interrupts.acknowledge()
        interrupts.check()
        assert select.select([interrupts.fd], [], [], 0)[0] == []
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.received == signal.SIGTERM


def test_signal_that_was_set_aside_counts_again():
    with Interrupts() as interrupts:
        with interrupts.set_aside():
            interrupts.check()
        interrupts.check()
        os.kill(os.getpid(), signal.SIGINT)
        with interrupts.set_aside():
            interrupts.check()
            os.kill(os.getpid(), signal.SIGTERM)
            with pytest.raises(Interrupted):
                interrupts.check()
        assert interrupts.received == signal.SIGINT


def test_flood_of_signals_does_not_block():
    with Interrupts() as interrupts:
        while True:  # fill the pipe
            try:
                os.write(interrupts._write, b"!" * 4096)
            except BlockingIOError:
                break
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.received == signal.SIGINT


def test_handlers_are_put_back():
    before = [signal.getsignal(number) for number in SIGNALS]
    with Interrupts():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before


@pytest.mark.parametrize("wait", ["sleep", "settle_after"])
def test_a_wait_ends_with_the_signal(monkeypatch, wait):
    monkeypatch.setattr(matching, "_SETTLE_S", _FOR_EVER_S)
    with Interrupts() as interrupts:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM))
        timer.start()
        with pytest.raises(Interrupted):  # that this ends is the assertion
            getattr(interrupts, wait)(
                *((_FOR_EVER_S,) if wait == "sleep" else (signal.SIGTERM, None))
            )
        timer.join()


@pytest.mark.parametrize(
    ("job", "number", "code", "waits"),
    [
        (False, None, 1, False),
        (False, signal.SIGKILL, None, False),
        (False, signal.SIGTERM, None, True),
        (False, None, 143, True),  # a shell whose program was ended by TERM
        (True, None, 1, True),
        (True, signal.SIGSEGV, None, True),
    ],
)
def test_which_ends_may_be_those_of_a_signal_to_all(monkeypatch, job, number, code, waits):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    if job:
        monkeypatch.setenv("SLURM_JOB_ID", "1")
    with Interrupts() as interrupts:
        waited = []
        interrupts.sleep = waited.append
        interrupts.settle_after(number, code)
    assert bool(waited) == waits


@pytest.mark.parametrize("job", [True, False])
def test_in_a_job_two_terms_at_once_are_one_request(monkeypatch, job):
    monkeypatch.setattr(
        matching, "_ONE_S", _FOR_EVER_S
    )  # at once is what a busy machine makes of it
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    if job:
        monkeypatch.setenv("SLURM_JOB_ID", "1")
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        with interrupts.set_aside():  # clean-up
            os.kill(os.getpid(), signal.SIGTERM)
            assert (interrupts.received is None) == job
            os.kill(os.getpid(), signal.SIGINT)  # a person
            assert interrupts.received is not None


def test_its_descriptors_go_with_it():
    interrupts = Interrupts()
    fd = interrupts.fd
    with interrupts:
        os.fstat(fd)
    del interrupts
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(fd)


def test_a_signal_that_nobody_dealt_with_is_handed_on_to_those_around():
    with Interrupts() as around:
        with Interrupts():
            os.kill(os.getpid(), signal.SIGINT)
        assert around.received == signal.SIGINT
        around.acknowledge()
        with Interrupts() as inner:  # the control
            os.kill(os.getpid(), signal.SIGINT)
            inner.acknowledge()
        assert around.received is None
