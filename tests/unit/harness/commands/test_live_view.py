"""What a person watches: the head of a trial, plain lines, and how often a terminal is drawn anew."""

from __future__ import annotations

import io
import json
import math
import re
from types import SimpleNamespace

import pytest

from analysis.announcing import cells
from analysis.errors import StoreError
from analysis.record.shapes import encode_checked
from analysis.record.trial_files import Finding, GivenUp, PlannedRun
from harness.commands import live_view as module, live_view as view_module
from harness.commands.live_view import CompareView, View, scale
from harness.commands.options import WantedCommand
from harness.trial.progress import read_progress
from harness.trial.writer import Store
from tests.unit.harness.commands.conftest import Terminal

RUN = PlannedRun(position=3, session=2, block=1, benchmark="x", variant="a", warmup=False)


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(s=0.0)
    monkeypatch.setattr(view_module.time, "monotonic", lambda: now.s)
    return now


@pytest.mark.parametrize("verbose", [False, True])
def test_the_head_counts_the_checks_and_shows_each_only_if_asked(make_campaign, tmp_path, verbose):
    findings = tuple(
        Finding(check=check, status=status, what=f"{check} is so")
        for check, status in (
            ("load", "warn"),
            ("governor", "unknown"),
            ("swap", "fail"),
            ("turbo", "ok"),
            ("own", "warn"),  # of no list: what a meter or a later version found
        )
    )
    prepared = SimpleNamespace(
        findings=findings, free_bytes=10**9, cpus=SimpleNamespace(text="none", cautions=())
    )
    err = io.StringIO()
    view = View(err, verbose=verbose)
    view.opened(tmp_path, make_campaign(), prepared)
    lines = err.getvalue().splitlines()
    assert "checks  1 ok, 2 warn, 1 fail, 1 unknown    'fairtrial doctor' says which" in lines
    told = [line.strip().split(":")[0] for line in lines if " is so" in line]
    assert told == (["warn load", "fail swap", "warn own"] if verbose else ["warn own"])
    before = err.getvalue()
    view.findings(findings)  # nothing is said again
    assert err.getvalue() == before
    late = Finding(check="load", status="warn", what="something else is so")
    view.findings([late])
    view.end()
    said = err.getvalue().removeprefix(before)
    folded = "checks  1 warn while it ran (load)\n"
    assert said == ("  warn load: something else is so\n" if verbose else folded)


@pytest.mark.parametrize("columns", [80, 79, 100])
def test_a_progress_line_keeps_the_value_and_lets_the_spread_go_first(clock, columns):
    view = View(io.StringIO())
    view.begin(360, 0, 6)
    view._done, clock.s = 120, 23.0
    view._walls["command", "gzip-6-k-c-data"] = [0.02, 0.021, 0.0242, 0.03]
    view._now = SimpleNamespace(
        benchmark="command",
        variant="gzip-6-k-c-data",
        outcome="ok",
        wall_ns=24_200_000,
        warmup=False,
    )
    session, bar, text = view._parts(columns)
    assert "24.2 ms" in text
    assert len(session) + 1 + bar + 1 + len(text) <= columns


def test_a_trial_that_goes_on_says_so_first(make_campaign, tmp_path):
    err = io.StringIO()
    view = View(err)
    view.begin_with("going on at run 210 of 360 (session 4 of 6), about 2 min 50 s")
    assert err.getvalue() == ""  # it may still be refused
    prepared = SimpleNamespace(
        findings=(), free_bytes=10**9, cpus=SimpleNamespace(text="none", cautions=())
    )
    view.opened(tmp_path, make_campaign(), prepared)
    assert err.getvalue().startswith(
        "going on at run 210 of 360 (session 4 of 6), about 2 min 50 s\n"
    )


def test_plain_lines_come_every_half_minute_and_count_what_was_added(clock):
    err = io.StringIO()
    view = View(err)
    view.begin(10, 4, 2)
    clock.s = 29.0
    view.run_started(RUN)
    assert not err.getvalue()
    view.total_changed(25)
    clock.s = 30.0
    view.tick()
    clock.s = 59.0
    view.tick()
    assert err.getvalue() == "session 2 of 2: 4/25 runs, 0:30, x / a\n"


def test_a_terminal_is_drawn_at_most_five_times_a_second(clock, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    view = View(terminal)
    view.begin(10, 0, 2)
    drawn = []
    for eighth in range(1, 11):
        clock.s = eighth / 8
        before = len(terminal.getvalue())
        view.run_started(RUN)
        drawn.append(len(terminal.getvalue()) > before)
    view.end()
    assert drawn == [False, True] * 5


@pytest.mark.parametrize(("done", "total"), [(209, 360), (9_000, 100_000), (0, 5)])
def test_a_progress_line_fits_its_terminal(clock, done, total):
    view = View(io.StringIO())
    view.begin(total, 0, 3)
    view._done, clock.s = done, 4_000.0
    view._now = RUN
    for width in range(38, 160):
        session, bar, text = view._parts(width)
        assert len(session) + 1 + bar + 1 + len(text) <= width


@pytest.mark.parametrize(
    ("benchmarks", "variants", "text"),
    [
        ("x", "a", "c · 1 variant x 1 benchmark x 1 run x 1 session = 3 runs (2 warm-up)"),
        ("xy", "ab", "c · 2 variants x 2 benchmarks x 1 run x 1 session = 12 runs (8 warm-up)"),
        ("xyz", "a", "c · 1 variant x 3 benchmarks x 1 run x 1 session = 9 runs (6 warm-up)"),
    ],
)
def test_the_size_of_a_campaign_in_one_line(make_campaign, benchmarks, variants, text):
    campaign = make_campaign(tuple(benchmarks), tuple(variants), runs=1, warmup=2)
    assert scale(campaign, 1, None) == text


@pytest.fixture
def draw(monkeypatch):
    """Give the last progress line on a terminal of some width, 3:51 after the start."""

    def line(width, total=360, done=209, elapsed=231.0, **run):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")
        now = [0.0]
        monkeypatch.setattr(view_module.time, "monotonic", lambda: now[0])
        terminal = Terminal()
        view = View(terminal)
        view.begin(total, 0, 3)
        view._done = done
        now[0] = elapsed
        known = {"session": 2, "block": 1, "benchmark": "text", "variant": "gzip-1"}
        known |= {"position": done, "warmup": False, **run}
        terminal.truncate(0)
        view.run_started(PlannedRun(**known))
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


@pytest.mark.parametrize("sign", "x版")
def test_a_name_gives_way_to_what_stands_behind_it(draw, sign):
    text = draw(120, benchmark=sign * 40, warmup=True)
    assert text.startswith("session 2 of 3 ━━━")
    assert text.endswith(" (warm-up)")


@pytest.mark.parametrize("width", [40, 80])
def test_long_trial_keeps_its_times(draw, width):
    text = draw(width, total=100_000, done=9_000, elapsed=4_000.0)
    assert "9000/100000" in text
    assert "1:06:40" in text
    assert "11:14:04 left" in text
    assert len(text) <= width


# --- The line that a person watches: what stands in it, how wide it is, and how often it is drawn


GZIPS = ("gzip -6 -k -c data", "gzip -1 -k -c data")


@pytest.fixture
def view_clock(monkeypatch):
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


def test_before_the_first_look_it_counts(view_clock):
    view = watching(Terminal())
    for _ in range(4):
        view.run_done(run())
    view.run_done(run(warmup=True))
    assert view.line(0.4) == "measuring, 4 runs, 0.4 s"


def test_it_tells_the_difference_with_its_interval(view_clock):
    view = watching(Terminal())
    view.looked(look(candidate()), 18, 2.1)
    assert view.line(2.1) == "gzip -1 -k -c data: 45 % less time (31 to 59 %) · 18 runs · 2.1 s"


def test_an_undecided_one_lies_between_and_the_cap_is_told(view_clock):
    view = watching(Terminal(), ("a", "b"))
    one = candidate(speedup=1.0, low=0.92, high=1.1, word="undecided")
    view.looked(look(one), 60, 6.0)
    assert (
        view.line(6.0) == "b: between 10 % less and 9 % more · 60 runs · 6.0 s · stops after 20 s"
    )


@pytest.mark.parametrize(
    ("cap_s", "end"),
    [(1.6, "stops after 1.6 s"), (1.4, "1.5 s"), (1.5, "1.5 s"), (math.inf, "1.5 s")],
)
def test_a_cap_is_told_as_it_is_until_it_has_passed(view_clock, cap_s, end):
    view = watching(Terminal(), ("a", "b"), cap_s)
    one = candidate(speedup=1.0, low=0.92, high=1.1, word="undecided")
    view.looked(look(one), 60, 1.2)
    assert view.line(1.5).endswith(f" · {end}")


def test_the_time_that_is_left_is_that_of_the_look_that_decides(view_clock):
    view = watching(Terminal(), ("a", "b"))
    one = candidate(speedup=1.1, low=0.92, high=1.3, word="undecided")
    view.looked(look(one, sessions=6, needed=10), 60, 6.0)
    assert view.line(6.5).endswith(" · decided in about 4 s")  # 10 sessions of 1 s
    view.looked(look(one, sessions=6, needed=60), 60, 6.0)
    assert view.line(6.5).endswith(" · stops after 20 s")


def test_of_several_it_is_the_widest_undecided_one_or_else_the_leader(view_clock):
    view = watching(Terminal(), ("a", "b", "c", "d"))
    narrow = candidate("v2", 1.0, 0.99, 1.02, "undecided")
    wide = candidate("v3", 1.0, 0.7, 1.4, "undecided")
    view.looked(look(candidate(), narrow, wide), 9, 1.0)
    assert view.line(1.0).startswith("d: between ")
    view.looked(look(candidate(), candidate("v2")), 9, 1.0)
    assert view.line(1.0).startswith("b: 45 % less time")


@pytest.mark.parametrize("columns", [30, 50, 80, 200])
def test_fields_fall_from_the_right_and_the_interval_stays(view_clock, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for sign in "b版":
        view = watching(Terminal(), ("a", sign * 60))
        view.looked(look(candidate()), 100_000, 1000.0)
        text = view.line(1000.0)
        assert cells(text) <= min(79, columns - 1)
        assert "(31 to 59 %)"[:10] in text


def test_it_is_drawn_ten_times_a_second_at_most_and_gone_at_the_end(view_clock):
    screen = Terminal()
    view = watching(screen)
    for _ in range(1000):
        view_clock.at += 0.003
        view.tick()
    assert screen.getvalue().count("\x1b[K") <= 3 / 0.1 + 1
    view.end()
    assert screen.getvalue().endswith("\r\x1b[K")
    shown = len(screen.getvalue())
    view_clock.at += 10
    view.tick()
    assert len(screen.getvalue()) == shown


def test_what_is_said_meanwhile_stands_in_its_place(view_clock):
    screen = Terminal()
    view = watching(screen)
    view_clock.at += 1
    view.tick()
    view.insist("waiting for another trial")
    assert screen.getvalue().endswith("\r\x1b[Kwaiting for another trial\n")


def test_without_a_terminal_a_line_stands_after_5_s_and_at_doubling_times(view_clock):
    screen = io.StringIO()
    view = watching(screen)
    view.looked(look(candidate(word="undecided")), 40, 5.0)
    for _ in range(450):
        view_clock.at += 0.1
        view.tick()
    times = re.findall(r"^compare: 40 runs, (\d+) s, undecided so far$", screen.getvalue(), re.M)
    assert times == ["5", "10", "20", "40"]
    assert "\x1b" not in screen.getvalue()


@pytest.mark.parametrize("screen", [Terminal(), io.StringIO()])
def test_quiet_is_quiet(view_clock, screen):
    view = watching(screen, quiet=True)
    view_clock.at += 60
    view.tick()
    view.say("nothing")
    view.end()
    assert screen.getvalue() == ""


def test_a_plain_terminal_gets_no_escapes(view_clock, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    screen = Terminal()
    view = watching(screen)
    view_clock.at += 6
    view.tick()
    view.end()
    assert "\x1b" not in screen.getvalue()
    assert screen.getvalue().startswith("compare: 0 runs, 6 s")


def test_a_command_that_a_terminal_would_obey_is_written_out(view_clock):
    screen = Terminal()
    view = watching(screen, ("a", "b\x1b[31m"))
    view.looked(look(candidate()), 3, 1.0)
    view_clock.at += 1
    view.tick()
    assert "\x1b[31m" not in screen.getvalue()


def test_exit_codes_that_count_are_counted(view_clock):
    view = watching(Terminal())
    for code in (0, 1, 1):
        view.run_done(run(exit_code=code))
    view.run_done(run(exit_code=2, outcome="exit"))
    assert dict(view.exit_codes) == {("v1", 1): 2}


@pytest.fixture
def store(tmp_path, make_manifest):
    made = Store.create(make_manifest(planned=18), tmp_path / "runs", b"")
    yield made
    made.release()


def test_trial_that_has_just_begun(store):
    found = read_progress(store.path)
    assert (found.state, found.done, found.planned, found.last) == ("running", 0, 18, None)
    assert found.left_s is None
    assert "0 of 18 runs, started" in str(found)


def test_running_trial_knows_what_is_left(store, make_measurement):
    # One cell, 2 runs and a warm-up each, 6 cells: 18 runs of one second, 4 done.
    for position, benchmark in enumerate("xyzx"):
        store.append_measurement(
            make_measurement(
                position, benchmark=benchmark, wall_ns=10**9, before_s=0.5, after_s=0.5
            )
        )
    found = read_progress(store.path)
    assert found.seconds == {"x/a": 2.0, "y/a": 2.0, "z/a": 2.0}
    assert found.left_s == pytest.approx((18 - 4) * 2.0)
    assert found.last == "x / a 1.00 s"
    assert "about 0:28 left" in str(found)


def test_a_given_up_cell_that_takes_long_is_not_waited_for(store, make_measurement):
    # 6 cells of 2 runs and a warm-up; x / a, of 100 s, is given up after one run of each
    store.update(
        given_up=(
            GivenUp(
                benchmark="x",
                variant="a",
                session=1,
                position=6,
                runs=1,
                why="1 run failed: timeout",
            ),
        )
    )
    cells = [(b, v) for b in "xyz" for v in "ab"]
    rows = [(b, v) for _ in range(3) for b, v in cells]
    del rows[12]  # its second measured run
    for position, (b, v) in enumerate(rows):
        seconds = 100 if (b, v) == ("x", "a") else 1
        store.append_measurement(
            make_measurement(position, benchmark=b, variant=v, wall_ns=seconds * 10**9)
        )
        if position == 11:
            assert read_progress(store.path).left_s == pytest.approx(5.0)
    found = read_progress(store.path)
    assert (found.done, found.planned) == (17, 17)
    assert found.left_s == pytest.approx(0.0)


def test_failed_runs_are_counted_by_outcome(store, make_measurement):
    for position, outcome in enumerate(["ok", "exit", "timeout", "exit"]):
        store.append_measurement(make_measurement(position, outcome=outcome))
    found = read_progress(store.path)
    assert found.failed == {"exit": 2, "timeout": 1}
    assert "3 failed (x / a: 2 exit, 1 timeout)" in str(found)
    assert found.last.endswith("exit")


def test_run_without_a_time_is_no_zero(store, make_measurement):
    store.append_measurement(make_measurement(0, outcome="hook-failed", wall_ns=None))
    assert read_progress(store.path).seconds == {}


def test_repeated_warmups_do_not_count(store, make_measurement):
    store.append_measurement(make_measurement(0))
    store.append_measurement(make_measurement(-1, warmup=True))
    assert read_progress(store.path).done == 1


def test_torn_last_line_is_passed_over(store, make_measurement):
    for position in range(2):
        store.append_measurement(make_measurement(position))
    path = store.path / "measurements.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    assert read_progress(store.path).done == 1


def test_running_without_the_lock_means_killed(store, make_measurement):
    store.append_measurement(make_measurement(0))
    store.release()
    found = read_progress(store.path)
    assert (found.state, found.left_s) == ("killed", None)
    assert "--resume" in str(found)


@pytest.mark.parametrize("status", ["complete", "interrupted", "stopped"])
def test_ended_trial_says_how(store, status):
    store.finish(status, "why")
    found = read_progress(store.path)
    assert (found.state, found.reason) == (status, "why")
    assert ("--resume" in str(found)) == (status != "complete")


def test_progress_is_json(store):
    assert json.loads(json.dumps(read_progress(store.path).to_dict()))["planned"] == 18


def test_anything_else_is_no_trial(tmp_path):
    with pytest.raises(StoreError, match="not a trial directory"):
        read_progress(tmp_path)


def at(seconds: float) -> str:
    return f"2026-11-21T04:{12 + int(seconds) // 60}:{seconds % 60:012.9f}Z"


def test_time_between_runs_counts_but_not_between_sessions(store, make_measurement):
    # One second each and four of cooling down; then a pause, a new session, and a resumed one.
    rows = [("x", 1, 0, 0.0), ("y", 1, 0, 5.0), ("x", 1, 0, 10.0)]
    rows += [("x", 2, 0, 300.0), ("y", 2, 0, 307.0), ("z", 2, 1, 900.0)]
    for position, (benchmark, session, segment, start) in enumerate(rows):
        store.append_measurement(
            make_measurement(
                position,
                benchmark=benchmark,
                session=session,
                segment=segment,
                started_at=at(start),
                wall_ns=10**9,
                before_s=0.5,
            )
        )
    seconds = read_progress(store.path).seconds
    assert seconds == pytest.approx({"x/a": 6.0, "y/a": 5.0, "z/a": 1.5})


def test_clock_that_was_set_back_is_no_time_between_runs(store, make_measurement):
    for position, start in enumerate([100.0, 0.0]):
        store.append_measurement(
            make_measurement(position, started_at=at(start), wall_ns=2 * 10**9)
        )
    assert read_progress(store.path).seconds == {"x/a": 2.0}


def test_rows_of_another_version_are_counted(store, make_measurement):
    for position, benchmark in enumerate("xyzx"):
        row = make_measurement(position, benchmark=benchmark, wall_ns=10**9).to_dict() | {"new": 1}
        del row["before_s"], row["after_s"]
        if benchmark == "y":
            del row["wall_ns"]
        with (store.path / "measurements.jsonl").open("ab") as file:
            file.write(encode_checked(row) + b"\n")
    found = read_progress(store.path)
    assert (found.done, found.seconds) == (4, {"x/a": 1.0, "z/a": 1.0})
