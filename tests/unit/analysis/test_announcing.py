"""What is under way, said while it lasts: on a terminal, elsewhere, quietly, and what else is written.

The authority is the rule of docs/concepts.md: what it does at once, how far it is from 3 s on, plain
lines after 5, 10, 20, 40 s. The clock is the test's own.
"""

from __future__ import annotations

import io
import os
import threading

import pytest

from analysis import announcing
from analysis.announcing import announced, as_one, away, doing, meanwhile, still
from analysis.record.printer import Printer
from tests.unit.harness.commands.conftest import Terminal


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(announcing, "clock", found)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return found


def on_screen(text: str) -> list[str]:
    """Give the lines that a terminal shows after a text with line feeds, returns and backspaces."""
    lines, row, column = [""], 0, 0
    for sign in text:
        if sign == "\n":
            lines.append("")
            row, column = row + 1, 0
        elif sign == "\r":
            column = 0
        elif sign == "\b":
            column -= 1
        else:
            lines[row] = lines[row][:column].ljust(column) + sign + lines[row][column + 1 :]
            column += 1
    return [line.rstrip() for line in lines]


def test_a_terminal_is_told_at_once_and_shows_nothing_of_it_at_the_end(clock):
    terminal = Terminal()
    with announced(Printer(terminal), "verdict"):
        assert terminal.getvalue() == ""
        doing("reading 41,000 runs")
        assert on_screen(terminal.getvalue()) == ["reading 41,000 runs"]
    assert on_screen(terminal.getvalue()) == [""]
    assert "\x1b" not in terminal.getvalue()


def test_how_long_it_takes_and_will_take_is_told_from_three_seconds_on(clock):
    terminal = Terminal()
    with announced(Printer(terminal), "bundle"):
        doing("hashing", 0, 12, "trials")
        clock.now = 2.9
        doing("hashing", 3, 12, "trials")
        assert on_screen(terminal.getvalue()) == ["hashing 3 of 12 trials"]
        clock.now = 4.0
        doing("hashing", 4, 12, "trials")
        assert on_screen(terminal.getvalue()) == ["hashing 4 of 12 trials, about 8 s left"]
        doing("packing")
        clock.now = 7.0
        still()
        assert on_screen(terminal.getvalue()) == ["packing, 3 s so far"]


@pytest.mark.parametrize(
    ("left_s", "said"), [(0.2, "about 1 s"), (600.0, "about 10 min"), (9000.0, "about 2.5 h")]
)
def test_the_time_left_is_said_in_a_fitting_unit(clock, left_s, said):
    terminal = Terminal()
    with announced(Printer(terminal), "study"):
        doing("simulating", 0, 10)
        clock.now = 9 * left_s if left_s > 1 else 3.0
        doing("simulating", 9, 10)
        text = on_screen(terminal.getvalue())[0]
    assert text == f"simulating 9 of 10, {said} left"


def test_a_loop_that_says_it_each_time_draws_ten_times_a_second_at_most(clock):
    terminal = Terminal()
    with announced(Printer(terminal), "study"):
        for done in range(1001):
            doing("simulating", done, 1000)
            clock.now += 0.001
    assert 9 <= terminal.getvalue().count("simulating") <= 11


def test_a_new_task_is_drawn_at_once_whatever_was_drawn_just_before(clock):
    terminal = Terminal()
    with announced(Printer(terminal), "report"):
        doing("reading 41,000 runs")
        doing("explaining: bootstrap (3 of 7)")
        assert on_screen(terminal.getvalue()) == ["explaining: bootstrap (3 of 7)"]


def test_what_else_is_written_takes_the_place_of_the_line(clock):
    terminal = Terminal()  # both streams end there
    out, err = Printer(terminal, must=True), Printer(terminal)
    with announced(err, "report"):
        doing("judging")
        out.write("the answer\n")
        doing("drawing")
        err.write("a word\n")
    assert on_screen(terminal.getvalue()) == ["the answer", "a word", ""]


def test_elsewhere_a_plain_line_stands_after_5_10_20_and_40_seconds(clock):
    stream = io.StringIO()
    with announced(Printer(stream), "study"):
        for second in range(61):
            clock.now = float(second)
            doing("simulating", second, 100, "trials")
    assert stream.getvalue().splitlines() == [
        "study: simulating 5 of 100 trials, about 2 min left, 5 s so far",
        "study: simulating 10 of 100 trials, about 2 min left, 10 s so far",
        "study: simulating 20 of 100 trials, about 80 s left, 20 s so far",
        "study: simulating 40 of 100 trials, about 60 s left, 40 s so far",
    ]


def test_a_plain_line_that_comes_late_is_one(clock):
    stream = io.StringIO()
    with announced(Printer(stream), "mixture"):
        doing("fitting")
        clock.now = 23.0
        still()
        clock.now = 39.0
        still()
    assert stream.getvalue() == "mixture: fitting, 23 s so far\n"


def test_a_terminal_that_cannot_return_has_plain_lines(clock, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    with announced(Printer(terminal), "verdict"):
        doing("judging")
    assert terminal.getvalue() == ""


def test_quiet_says_nothing_and_without_a_listener_nobody_is_told(clock):
    terminal = Terminal()
    doing("judging")
    still()
    away()
    with meanwhile("compiling"), announced(Printer(terminal), "run", quiet=True):
        doing("judging")
        clock.now = 50.0
        still()
    assert terminal.getvalue() == ""


def test_after_what_is_done_meanwhile_the_task_before_is_under_way_again(clock):
    terminal = Terminal()
    with announced(Printer(terminal), "report"):
        doing("explaining")
        with meanwhile("compiling the statistics"):
            assert on_screen(terminal.getvalue()) == ["compiling the statistics"]
        assert on_screen(terminal.getvalue()) == ["explaining"]
    with announced(Printer(terminal), "report"):
        with meanwhile("compiling the statistics"):
            pass
        assert on_screen(terminal.getvalue()) == [""]


def test_parts_of_one_task_only_move_its_line(clock):
    terminal = Terminal()
    with announced(Printer(terminal), "history"):
        doing("reading", 1, 8, "nights")
        with as_one():
            doing("reading", 9_000, 10_000, "runs")
            clock.now = 4.0
            doing("hashing")
        shown = on_screen(terminal.getvalue())
        doing("hashing")  # negative control: outside it is another task
        after = on_screen(terminal.getvalue())
    assert shown == ["reading 1 of 8 nights, about 28 s left"]
    assert after == ["hashing"]


def test_an_error_and_ctrl_c_leave_no_line(clock):
    for kind in (ValueError, KeyboardInterrupt):
        terminal = Terminal()

        def interrupted(kind=kind, terminal=terminal):
            with announced(Printer(terminal), "report"):
                doing("judging")
                raise kind

        with pytest.raises(kind):
            interrupted()
        assert on_screen(terminal.getvalue()) == [""]


@pytest.mark.parametrize("columns", [1, 2, 20, 40, 80])
def test_a_hostile_name_is_cut_to_the_terminal_and_obeyed_by_none(clock, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    terminal = Terminal()
    with announced(Printer(terminal), "verdict"):
        doing("reading \x1b[2J\n" + "ひ" * 60 + "x" * 60)
        drawn = terminal.getvalue()
    assert "\x1b" not in drawn
    assert "\n" not in drawn
    assert announcing.cells(drawn.removeprefix("\r")) < max(2, columns)


def test_a_child_that_was_forked_draws_nothing_on_its_parent_s_screen(clock, tmp_path):
    place = tmp_path / "screen"
    with place.open("w", encoding="utf-8") as stream:
        stream.isatty = lambda: True  # type: ignore[method-assign]
        with announced(Printer(stream), "bundle"):
            doing("hashing")
            child = os.fork()
            if not child:
                doing("hashing here too")
                away()
                stream.flush()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            assert place.read_bytes() == b"\rhashing"


def test_threads_may_say_it_at_the_same_time(clock):
    terminal = Terminal()
    with announced(Printer(terminal), "mixture"):
        doing("fitting")

        def work() -> None:
            for k in range(500):
                doing(f"fitting {k}")
                away()

        threads = [threading.Thread(target=work) for _ in range(3)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert on_screen(terminal.getvalue()) == [""]
