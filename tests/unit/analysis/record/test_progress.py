"""The line that tells how far a computation is: where it moves, where it is silent, and its end."""

from __future__ import annotations

import io

import pytest

from analysis.record import printer as progress
from analysis.record.printer import Printer, progress_on


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A second passes between any two looks at the clock."""
    ticks = iter(range(1000))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(ticks)))


def told(stream, **how) -> str:
    with progress_on(Printer(stream), "steps", **how) as report:
        for done in range(1, 5):
            report(done, 4)
    return stream.getvalue()


def test_a_terminal_has_a_moving_line_with_a_bar_which_is_gone_at_the_end(clock):
    parts = told(Terminal(), bar=True).split("\r\x1b[K")
    assert parts[1] == "[######..................] 1 of 4 steps, about 3 s left"
    assert parts[4] == "[########################] 4 of 4 steps, about 0 s left"
    assert parts[-1] == ""


def test_elsewhere_a_line_stands_now_and_then_or_none(clock, monkeypatch):
    monkeypatch.setattr(progress, "_PLAIN_S", 2.0)
    assert told(io.StringIO()) == "2 of 4 steps, about 2 s left\n4 of 4 steps, about 0 s left\n"
    assert told(io.StringIO(), plain=False) == ""


def test_the_line_is_gone_after_an_error_too(clock):
    stream = Terminal()

    def interrupted(stream):
        with progress_on(Printer(stream), "steps") as report:
            report(1, 4)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted(stream)
    assert stream.getvalue().endswith("left\r\x1b[K")
