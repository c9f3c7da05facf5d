from __future__ import annotations

import os
import select
import signal
import threading
import time

import pytest

from harness.launch.interrupts import Interrupted, Interrupts

_LONG_S = 60.0  # a suite that was started with a signal ignored waits no longer for it
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
        began = time.monotonic()
        with pytest.raises(Interrupted):
            interrupts.sleep(_LONG_S)
        timer.join()
        assert time.monotonic() - began < _LONG_S


def test_sleep_after_a_signal_does_not_begin():
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Interrupted):
            interrupts.sleep(_LONG_S)


def test_sleep_lasts_as_long_as_asked():
    with Interrupts() as interrupts:
        began = time.monotonic()
        interrupts.sleep(0.05)
        assert time.monotonic() - began >= 0.05


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


def test_a_signal_that_others_have_had_is_waited_for():
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
