"""What the chapter says of runs whose host is known, by construction."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.importers.sources import Reading
from analysis.pages.model import Table, Value
from analysis.report.chapter import sections_of
from analysis.report.subject import subject_of
from analysis.report.timeline.gather import gather

TWO = lambda _, second: 1.3 if (second // 30) % 2 else 1.0  # noqa: E731 - a host of two speeds


def test_a_steady_host_has_one_speed(subject):
    chapter = gather(subject())
    assert chapter.title == "The trial as it happened"
    assert "No test of the whole host found that it changed." in chapter.deck[0]
    (timeline,) = chapter.timelines
    assert timeline.states == ()
    assert timeline.crosses == ()
    assert "no change of the whole host was found" in timeline.alt


def test_two_speeds_are_named_where_they_are(subject):
    chapter = gather(subject(TWO))
    assert chapter.title == "The trial as it happened: a host with two speeds"
    assert "two states, 30\u00a0% apart" in chapter.deck[0]
    assert "which is why the intervals rest on sessions" in chapter.deck[0]
    (timeline,) = chapter.timelines
    fast, slow = timeline.states
    assert (fast.text, slow.text) == ("fast state", "slow state")
    # where the labels stand lie the runs: half of them at either level
    heights = np.array([y for panel in timeline.panels for _, y in (*panel.dots, *panel.opened)])
    for state in (fast, slow):
        assert 0.35 < (abs(heights - state.at) < 0.1).mean() < 0.65
    assert "30\u00a0% above the fast state" in timeline.alt


def test_each_run_is_drawn_against_its_own_cell(subject):
    chapter = gather(subject())
    (timeline,) = chapter.timelines
    dots = [y for panel in timeline.panels for _, y in (*panel.dots, *panel.opened)]
    beyond = sum(panel.beyond for panel in timeline.panels)
    assert len(dots) + beyond == 2 * 3 * 60  # cells a hundredfold apart are alike here
    assert max(dots) - min(dots) > 0.2
    assert sum(panel.runs.value for panel in timeline.panels) == 360
    assert [panel.session for panel in timeline.panels] == ["1", "2", "3"]
    assert all(panel.level.value == pytest.approx(1, abs=0.01) for panel in timeline.panels)


def test_one_benchmark_stands_out(subject):
    found = subject()
    chapter = gather(found)
    opened = sum(len(panel.opened) for panel in chapter.timelines[0].panels)
    assert 100 <= opened <= 120
    named = [name for one in found.verdict.cautions for name in one.about if name in found.order]
    assert f"those of {[*named, *found.order][0]} stand out" in chapter.deck[0]


def test_a_slow_session_is_seen_in_its_level(subject):
    chapter = gather(subject(lambda session, _: 1.5 if session == 2 else 1.0))
    levels = [panel.level.value for panel in chapter.timelines[0].panels]
    assert levels == pytest.approx([1, 1.5, 1], abs=0.02)


def test_failed_runs_are_crosses_and_no_dots(subject):
    def fail(made):
        measured = [k for k, row in enumerate(made.rows) if not row.warmup]
        for k, outcome in ((measured[3], "timeout"), (measured[200], "exit")):
            made.rows[k] = replace(made.rows[k], outcome=outcome, exit_code=3)
        made.rows[0] = replace(made.rows[0], outcome="signal", signal=11)  # a warm-up

    chapter = gather(subject(change=fail))
    (timeline,) = chapter.timelines
    assert [cross.brief for cross in timeline.crosses] == ["timeout", "exit 3"]
    assert timeline.crosses[0].text == "logs / fast timeout"
    assert timeline.crosses[0].at < timeline.crosses[1].at
    assert chapter.failed == 2
    assert "2 runs failed" in timeline.alt
    assert sum(panel.runs.value for panel in timeline.panels) == 358


def test_findings_of_the_runner_stand_over_their_sessions(subject):
    rows = [
        {"session": 2, "when": "after", "check": "load", "status": "warn", "what": "busy"}
        | {"where": "/proc/stat = 0.85"},
        {"session": 3, "when": "after", "check": "load", "status": "ok", "what": "calm"}
        | {"where": "/proc/stat = 0.01"},
    ]

    def note(made):
        made.extra["findings.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    (timeline,) = gather(subject(change=note)).timelines
    (lane,) = timeline.lanes
    second = timeline.panels[1]
    assert lane.words == "other work"
    assert lane.spans == ((second.left, second.left + second.width, "0.85"),)
    assert "other work in 1 session (0.85)" in timeline.alt


def test_pauses_are_said_and_closed(subject):
    (timeline,) = gather(subject()).timelines
    assert any("pauses between sessions" in note for note in timeline.notes)


def test_far_runs_are_counted_and_lie_at_the_edge(subject):
    def far(made):
        measured = [k for k, row in enumerate(made.rows) if not row.warmup]
        made.rows[measured[5]] = replace(made.rows[measured[5]], wall_ns=10**11)

    (timeline,) = gather(subject(change=far)).timelines
    assert sum(len(panel.above) for panel in timeline.panels) >= 1
    (note,) = [note for note in timeline.notes if "beyond" in note]
    beyond = sum(panel.beyond for panel in timeline.panels)
    assert int(re.match(r"\d+", note)[0]) == beyond


def test_two_trials_stand_above_each_other_on_one_axis(subject):
    chapter = gather(subject(trials=2))
    assert [one.label for one in chapter.timelines] == ["A", "B"]
    first, second = chapter.timelines
    assert first.levels == second.levels
    assert chapter.title == "The trials as they happened"
    assert [text[:2] for text in chapter.deck[1:]] == ["A:", "B:"]


def test_files_and_trials_without_times_have_no_such_chapter(subject, tmp_path):
    def unknown(made):
        made.rows = [replace(row, start_ns=None) for row in made.rows]

    assert gather(subject(change=unknown)) is None
    rng = np.random.default_rng(1)
    paths = []
    for name in ("a", "b"):
        values = {bench: rng.lognormal(0, 0.1, 6) for bench in ("x", "y", "z", "u", "v", "w")}
        matrix = PerformanceMatrix.from_samples(name, values, better="lower")
        path = tmp_path / f"{name}.csv"
        lines = [
            ",".join([bench, *map(str, row)])
            for bench, row in zip(matrix.benchmarks, matrix.samples, strict=True)
        ]
        path.write_text("\n".join(lines) + "\n")
        paths.append(str(path))
    assert gather(subject_of(paths, Reading(better="lower"))) is None


def test_json_holds_no_places(subject):
    told = json.loads(json.dumps(gather(subject(TWO)).to_dict()))
    (timeline,) = told["timelines"]
    assert {"sessions", "alt", "findings"} <= timeline.keys()
    assert not {"dots", "opened", "left", "width"} & timeline["sessions"][0].keys()
    assert len(json.dumps(told)) < 20_000


def test_tables_hold_the_values_of_the_chapter(subject):
    chapter = gather(subject(TWO))
    tables = [b for s in sections_of(chapter) for b in s.blocks if isinstance(b, Table)]
    cells = {cell for table in tables for row in table.rows for cell in row}
    panels = chapter.timelines[0].panels
    assert {panel.seconds for panel in panels} | {panel.higher for panel in panels} <= cells
    assert {one.pvalue for one in chapter.found} <= cells
    assert all(isinstance(one.pvalue, Value) for one in chapter.found)


def test_the_same_trial_gives_the_same_chapter(subject):
    assert gather(subject(TWO)).to_dict() == gather(subject(TWO)).to_dict()
