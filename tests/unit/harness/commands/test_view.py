"""What a person watches: the head of a trial, plain lines, and how often a terminal is drawn anew."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from analysis.record.trial_files import Finding, PlannedRun
from harness.commands import live_view as view_module
from harness.commands.live_view import View, scale
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
