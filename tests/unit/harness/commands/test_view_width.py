from __future__ import annotations

import re

import pytest

from analysis.record.trial_files import PlannedRun
from harness.commands import live_view as view_module
from harness.commands.live_view import View
from tests.unit.harness.commands.conftest import Terminal


@pytest.fixture
def draw(monkeypatch):
    """Give the last progress line on a terminal of some width, 3:51 after the start."""

    def line(width: int, total: int = 360, done: int = 209, elapsed: float = 231.0) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")
        now = [0.0]
        monkeypatch.setattr(view_module.time, "monotonic", lambda: now[0])
        terminal = Terminal()
        view = View(terminal)
        view.begin(total, 0, 3)
        view._done = done
        now[0] = elapsed
        run = PlannedRun(
            position=done, session=2, block=1, benchmark="text", variant="gzip-1", warmup=False
        )
        terminal.truncate(0)
        view.run_started(run)
        drawn = terminal.getvalue()
        view.end()
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn)
        return [part for part in re.split(r"[\r\n\0]+", plain) if part.strip()][-1]

    return line


@pytest.mark.parametrize("width", [40, 50, 79, 80, 100, 200])
def test_bar_count_and_times_are_there_at_every_width(draw, width):
    text = draw(width)
    assert re.search("[━╸╺]", text)
    assert "209/360" in text
    assert "3:51, about 2:47 left" in text
    assert len(text) <= width


def test_label_and_cell_come_where_there_is_room(draw):
    assert "session" not in draw(79)
    assert "session 2 of 3" in draw(80)
    assert all("text / gzip-1" in draw(width) for width in (79, 80, 120))
    assert "gzip" not in draw(40)


@pytest.mark.parametrize("width", [40, 80])
def test_long_trial_keeps_its_times(draw, width):
    text = draw(width, total=100_000, done=9_000, elapsed=4_000.0)
    assert "9000/100000" in text
    assert "1:06:40" in text
    assert "11:14:04 left" in text
    assert len(text) <= width
