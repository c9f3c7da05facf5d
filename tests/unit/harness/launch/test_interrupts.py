from __future__ import annotations

import os
import select
import signal
import threading
from types import SimpleNamespace

import pytest

from harness.launch import matching
from harness.launch.matching import Interrupted, Interrupts

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


def test_sleep_ends_at_once():
    with Interrupts() as interrupts:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM))
        timer.start()
        with pytest.raises(Interrupted):
            interrupts.sleep(_FOR_EVER_S)  # that this ends is the assertion
        timer.join()


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


def test_a_signal_that_others_have_had_is_waited_for(monkeypatch):
    monkeypatch.setattr(matching, "_SETTLE_S", _FOR_EVER_S)
    with Interrupts() as interrupts:
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM))
        timer.start()
        with pytest.raises(Interrupted):
            interrupts.settle_after(signal.SIGTERM, None)
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
