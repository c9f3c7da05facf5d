"""The line that a person watches: what stands in it, how wide it is, and how often it is drawn."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace

import pytest

from harness.commands import live_view as module
from harness.commands.live_view import CompareView
from harness.commands.options import WantedCommand
from tests.unit.harness.commands.conftest import Terminal

GZIPS = ("gzip -6 -k -c data", "gzip -1 -k -c data")


@pytest.fixture
def clock(monkeypatch):
    """Give a clock that stands still until it is moved."""
    now = SimpleNamespace(at=100.0)
    monkeypatch.setattr(module.time, "monotonic", lambda: now.at)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return now


def watching(screen, commands=GZIPS, cap_s=20.0, **how):
    view = CompareView(screen, **how)
    wanted = [WantedCommand(command=text, variant=f"v{k}") for k, text in enumerate(commands)]
    view.of(wanted, "", cap_s)
    view.begin(0, 0, 0)
    view.run_started(None)
    return view


def candidate(variant="v1", speedup=1.82, low=1.45, high=2.4, word="faster"):
    line = SimpleNamespace(speedup=speedup, low=low, high=high, outcome=word)
    return SimpleNamespace(variant=variant, line=line, word=word)


def look(*candidates, sessions=3, leader="v1", needed=None):
    return SimpleNamespace(
        candidates=candidates, leader=leader, sessions=sessions, needed=needed, stop=None
    )


def run(**changes):
    known = {"warmup": False, "outcome": "ok", "exit_code": 0, "variant": "v1", "detail": None}
    return SimpleNamespace(**known | changes)


def test_before_the_first_look_it_counts(clock):
    view = watching(Terminal())
    for _ in range(4):
        view.run_done(run())
    view.run_done(run(warmup=True))
    assert view.line(0.4) == "measuring, 4 runs, 0.4 s"


def test_it_tells_the_difference_with_its_interval(clock):
    view = watching(Terminal())
    view.looked(look(candidate()), 18, 2.1)
    assert view.line(2.1) == "gzip -1 -k -c data: 45 % less time (31 to 59 %) · 18 runs · 2.1 s"


def test_an_undecided_one_lies_between_and_the_cap_is_told(clock):
    view = watching(Terminal(), ("a", "b"))
    one = candidate(speedup=1.0, low=0.92, high=1.1, word="undecided")
    view.looked(look(one), 60, 6.0)
    assert (
        view.line(6.0) == "b: between 10 % less and 9 % more · 60 runs · 6.0 s · stops after 20 s"
    )


def test_the_time_that_is_left_is_that_of_the_look_that_decides(clock):
    view = watching(Terminal(), ("a", "b"))
    one = candidate(speedup=1.1, low=0.92, high=1.3, word="undecided")
    view.looked(look(one, sessions=6, needed=10), 60, 6.0)
    assert view.line(6.5).endswith(" · decided in about 4 s")  # 10 sessions of 1 s
    view.looked(look(one, sessions=6, needed=60), 60, 6.0)
    assert view.line(6.5).endswith(" · stops after 20 s")


def test_of_several_it_is_the_widest_undecided_one_or_else_the_leader(clock):
    view = watching(Terminal(), ("a", "b", "c", "d"))
    narrow = candidate("v2", 1.0, 0.99, 1.02, "undecided")
    wide = candidate("v3", 1.0, 0.7, 1.4, "undecided")
    view.looked(look(candidate(), narrow, wide), 9, 1.0)
    assert view.line(1.0).startswith("d: between ")
    view.looked(look(candidate(), candidate("v2")), 9, 1.0)
    assert view.line(1.0).startswith("b: 45 % less time")


@pytest.mark.parametrize("columns", [30, 50, 80, 200])
def test_fields_fall_from_the_right_and_the_interval_stays(clock, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    view = watching(Terminal(), ("a", "b" * 60))
    view.looked(look(candidate()), 100_000, 1000.0)
    text = view.line(1000.0)
    assert len(text) <= min(79, columns - 1)
    assert "(31 to 59 %)"[:10] in text


def test_it_is_drawn_ten_times_a_second_at_most_and_gone_at_the_end(clock):
    screen = Terminal()
    view = watching(screen)
    for _ in range(1000):
        clock.at += 0.003
        view.tick()
    assert screen.getvalue().count("\x1b[K") <= 3 / 0.1 + 1
    view.end()
    assert screen.getvalue().endswith("\r\x1b[K")
    shown = len(screen.getvalue())
    clock.at += 10
    view.tick()
    assert len(screen.getvalue()) == shown


def test_what_is_said_meanwhile_stands_in_its_place(clock):
    screen = Terminal()
    view = watching(screen)
    clock.at += 1
    view.tick()
    view.insist("waiting for another trial")
    assert screen.getvalue().endswith("\r\x1b[Kwaiting for another trial\n")


def test_without_a_terminal_a_line_stands_after_5_s_and_at_doubling_times(clock):
    screen = io.StringIO()
    view = watching(screen)
    view.looked(look(candidate(word="undecided")), 40, 5.0)
    for _ in range(450):
        clock.at += 0.1
        view.tick()
    times = re.findall(r"^compare: 40 runs, (\d+) s, undecided so far$", screen.getvalue(), re.M)
    assert times == ["5", "10", "20", "40"]
    assert "\x1b" not in screen.getvalue()


@pytest.mark.parametrize("screen", [Terminal(), io.StringIO()])
def test_quiet_is_quiet(clock, screen):
    view = watching(screen, quiet=True)
    clock.at += 60
    view.tick()
    view.say("nothing")
    view.end()
    assert screen.getvalue() == ""


def test_a_plain_terminal_gets_no_escapes(clock, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    screen = Terminal()
    view = watching(screen)
    clock.at += 6
    view.tick()
    view.end()
    assert "\x1b" not in screen.getvalue()
    assert screen.getvalue().startswith("compare: 0 runs, 6 s")


def test_a_command_that_a_terminal_would_obey_is_written_out(clock):
    screen = Terminal()
    view = watching(screen, ("a", "b\x1b[31m"))
    view.looked(look(candidate()), 3, 1.0)
    clock.at += 1
    view.tick()
    assert "\x1b[31m" not in screen.getvalue()


def test_exit_codes_that_count_are_counted(clock):
    view = watching(Terminal())
    for code in (0, 1, 1):
        view.run_done(run(exit_code=code))
    view.run_done(run(exit_code=2, outcome="exit"))
    assert dict(view.exit_codes) == {("v1", 1): 2}
