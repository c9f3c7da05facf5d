"""Patterns that find no end: the run is unparsable, and the trial hears who asks it to stop."""

from __future__ import annotations

import os
import signal
import subprocess
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
