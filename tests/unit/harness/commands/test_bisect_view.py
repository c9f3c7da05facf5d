"""What a person watches during a bisection: a page that grows, one line that is rewritten, and nothing if quiet."""

from __future__ import annotations

import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.announcing import cells
from analysis.history.step_search import Search
from harness.commands import bisect_view as module, live_view
from harness.commands.bisect_view import BisectView
from tests.unit.analysis.history.made_bisections import commits
from tests.unit.analysis.history.test_step_search import made
from tests.unit.harness.commands.conftest import Terminal


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Give a clock that stands still until it is moved."""
    now = SimpleNamespace(at=100.0)
    for one in (module, live_view):
        monkeypatch.setattr(one.time, "monotonic", lambda: now.at)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return now


def question(last: int, **changes: Any) -> Any:
    return SimpleNamespace(
        asked=SimpleNamespace(
            good="v1.4.0", bad="v1.5.0", metric="wall", margin=0.01, looks=(6, 12, 24)
        ),
        info=SimpleNamespace(unit="s", better="lower"),
        commits=SimpleNamespace(commits=commits(last, **changes)),
        campaign=SimpleNamespace(name="app"),
        notes=("the working tree has changes that are not committed: no matter",),
    )


def watched(screen: io.StringIO, last: int = 64, step: int = 20, **how: Any) -> BisectView:
    """Let a view watch a search whose step is known, of which two commits do not build."""
    asked = question(last, **how.pop("commits", {}))
    view = BisectView(screen, **how)
    view.begins(asked, Path("runs/bisect-app-20261123"))
    out = {last // 2, step - 1}

    def builds(place: int) -> bool:
        view.building(asked.commits.commits[place])
        good = place not in out
        log = Path(f"runs/bisect-app-20261123/builds/{place}.log")
        why = {} if good else {"why": "does not build: make: exit code 2", "log": log}
        view.built(SimpleNamespace(commit=asked.commits.commits[place], **why))
        return good

    measure = made(last, {step: 5}, sd=0.009, seed=4)

    def session(places: tuple[int, ...]) -> Any:
        view.begin(24, 0, 1)
        view.run_started(None)  # type: ignore[arg-type]
        view.end()
        return measure(places)

    Search(session, last, watcher=view, builds=builds).result()
    view.close()
    return view


def test_in_a_pipe_each_event_is_a_line() -> None:
    screen = io.StringIO()
    view = watched(screen)
    text = screen.getvalue()
    lines = text.splitlines()
    assert lines[0] == "v1.4.0..v1.5.0: 64 commits, wall of app, margin 1 %"
    assert lines[1] == "builds execute what these commits contain, with your rights"
    assert "\x1b" not in text
    assert "\r" not in text
    assert "is there a difference?" in lines
    assert re.search(r"(?m)^  6 sessions: v1.5.0 takes [\d.]+ % more time \(.*\): slower$", text)
    assert re.search(r"(?m)^search +sessions +slow already +left$", text)
    assert re.search(r"(?m)^ +\d+  [0-9a-f]{7}  change \d+ +1 +[01]\.\d\d +\d+$", text)
    assert re.search(r"skipped: does not build: make: exit code 2", text)
    # 5 % of three looks: the answer says "at a risk of 1.7 %" of the one that decided
    proof = "(?m)^proof 1, fresh sessions: [0-9a-f]{7} against [0-9a-f]{7}, risk 1.7 % a look$"
    assert re.search(proof, text)
    assert view.sessions > 12
    assert view.folder == Path("runs/bisect-app-20261123")
    assert all(cells(line) <= 80 for line in lines)


def test_each_number_is_that_of_the_search() -> None:
    screen = io.StringIO()
    watched(screen)
    asked, measure = commits(64), made(64, {20: 5}, sd=0.009, seed=4)
    search = Search(measure, 64, builds=lambda place: place not in (32, 19))
    found = search.result()
    text = screen.getvalue()
    for place, (sessions, slow) in search.probes.items():
        sha = asked[place].commit[:7]
        last = [line for line in text.splitlines() if re.match(rf" +{place}  {sha}  change", line)][
            -1
        ]
        assert last.split()[-3:-1] == [str(sessions), f"{slow:.2f}"]
    assert f"proof 1, fresh sessions: {asked[found.culprits[0].upto].commit[:7]} against " in text


def played(text: str) -> list[str]:
    """Give the lines that a terminal shows in the end."""
    lines, at = [""], 0
    for part in re.split(r"(\x1b\[1A|\x1b\[K|\r|\n)", text):
        if part == "\x1b[1A":
            at -= 1
        elif part == "\x1b[K":
            lines[at] = ""
        elif part == "\n":
            at += 1
            lines += [""] * (at == len(lines))
        elif part != "\r":
            lines[at] += part
    return lines


def test_the_moving_line_counts_runs_and_time(clock: SimpleNamespace) -> None:
    screen = Terminal()
    view = BisectView(screen)
    view.begins(question(8), Path("runs/b"))
    view.building(question(8).commits.commits[4])
    assert played(screen.getvalue())[-1].startswith("  building 4 ")
    view.begin(24, 0, 1)
    for _ in range(3):
        clock.at += 5
        view.run_done(SimpleNamespace(outcome="ok", variant="v", detail=None))  # type: ignore[arg-type]
    assert played(screen.getvalue())[-1] == "  session 1: 3 of 24 runs, 0:15"
    view.end()
    assert played(screen.getvalue())[-1] == ""


def test_what_is_said_during_a_build_stays_in_a_pipe_only() -> None:
    for screen, lasting in ((Terminal(), False), (io.StringIO(), True)):
        view = BisectView(screen)
        asked = question(8)
        view.begins(asked, Path("runs/b"))
        commit = asked.commits.commits[4]
        view.building(commit)
        view.say("build   make")
        view.built(SimpleNamespace(commit=commit))  # type: ignore[arg-type]
        view.close()
        assert ("build   make" in played(screen.getvalue())) == lasting


def test_quiet_says_nothing() -> None:
    for screen in (io.StringIO(), Terminal()):
        watched(screen, quiet=True)
        assert screen.getvalue() == ""


@pytest.mark.parametrize(
    "subject", ["\x1b[2J red \n alert \u202e", "\u7248\u672c" * 60, "e\u0301" * 90]
)
def test_a_hostile_subject_is_harmless_and_fits(subject: str) -> None:
    screen = io.StringIO()
    watched(screen, commits={"subject": subject.replace("{", "")})
    text = screen.getvalue()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
    assert all(cells(line) <= 80 for line in text.splitlines())


def test_a_search_inside_names_its_ends() -> None:
    screen = io.StringIO()
    asked = question(64)
    view = BisectView(screen)
    view.begins(asked, Path("runs/b"))
    Search(made(64, {11: 5, 50: 6}), 64, watcher=view).result()
    heads = re.findall(r"(?m)^search behind ([0-9a-f]{7}) up to ([0-9a-f]{7}) ", screen.getvalue())
    shorts = {one.short for one in asked.commits.commits}
    assert heads
    assert all(set(one) <= shorts for one in heads)
