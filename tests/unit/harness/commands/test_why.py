"""What a person watches while a profile is recorded: what is asked, then one line; the small trial's own words if verbose."""

from __future__ import annotations

import io
import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from analysis import announcing
from analysis.announcing import announced
from analysis.record.printer import Printer
from harness.commands.bisect_view import WhyView, said_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError("a text is no terminal")


def measured(position: int, outcome: str = "ok") -> Any:
    detail = None if outcome == "ok" else "exit code 3"
    return SimpleNamespace(
        position=position,
        outcome=outcome,
        detail=detail,
        benchmark="keys",
        variant="new",
        repeats=None,
    )


def watched(**how: Any) -> str:
    screen = Terminal()
    view = WhyView(screen, **how)
    with announced(Printer(screen), "why", quiet=how.get("quiet", False)):
        view.about(said_of("new", "old", ("keys",), "6 sessions"))
        view.say("profile session 1")
        view.begin(4, 0, 2)
        view.run_done(measured(0))
        view.run_done(measured(-1))  # a run that is repeated
        view.run_done(measured(1, "exit"))
        view.run_done(measured(-1, "exit"))
        view.total_changed(5)
        view.tick()
        view.end()
    return screen.getvalue()


def test_it_says_what_is_asked_and_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(announcing, "clock", itertools.count().__next__)  # each look a second later
    told = watched()
    assert told.startswith("new against old on keys: 6 sessions (Ctrl-C ends it)\n")
    assert "executing 2 of 5 runs" in told
    assert told.count("a run of keys / new failed: exit code 3\n") == 1
    assert "profile session 1" not in told


def test_verbose_tells_more_and_quiet_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "profile session 1" in watched(verbose=True)
    assert watched(quiet=True) == ""


def test_several_benchmarks_are_counted() -> None:
    assert said_of("new", "old", ("a", "b"), "6 sessions").startswith("new against old on 2 bench")
