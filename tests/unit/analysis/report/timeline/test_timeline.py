"""What the chapter says of runs whose host is known, by construction."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import accumulate
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.importers.reader import Reading
from analysis.pages.model import Table, Value
from analysis.report import timeline as picture_module
from analysis.report.subject import subject_of
from analysis.report.timeline import chapter as happened
from analysis.report.timeline_runs import clock_of, runs_of

TWO = lambda _, second: 1.3 if (second // 30) % 2 else 1.0  # noqa: E731 - a host of two speeds


class Picture:
    """Reads the picture of a chapter's first trial; texts and lines of both widths bear their class."""

    def __init__(self, chapter, number: int = 0) -> None:
        svg, *_ = chapter.drawn()["drawings"][number]
        self._root = ElementTree.fromstring(str(svg))

    def marks(self, tag: str, css: str) -> list[dict[str, str]]:
        return [one.attrib for one in self._root.iter(tag) if css in one.get("class", "")]

    def texts(self, css: str = "") -> list[str]:
        return [one.text or "" for one in self._root.iter("text") if css in one.get("class", "")]

    def panels(self, role: str = "dots") -> list[list[float]]:
        """Give the runs' heights from the bottom, as shares, of each panel."""
        clouds = [one for one in self._root.iter("svg") if one.get("data-axis")]
        paths = [[p.get("d", "") for p in one if role in p.get("class", "")] for one in clouds]
        found = []
        for some in paths:  # each dot is written as seen from the one before
            steps = (re.findall(r"m-?\d+ ?(-?\d+)h0", path) for path in some)
            downs = [y for path in steps for y in accumulate(map(int, path))]
            found.append([1 - y / 1000 for y in downs])
        return found

    @property
    def scale(self) -> tuple[float, float]:
        axis = next(
            one.get("data-axis", "") for one in self._root.iter("svg") if one is not self._root
        )
        low, high, *_ = axis.split()
        return float(low), float(high)

    @property
    def heights(self) -> np.ndarray:
        return np.array([y for panel in self.panels() for y in panel])


def test_a_steady_host_has_one_speed_and_each_run_is_drawn_against_its_own_cell(subject):
    chapter = happened(subject())
    assert chapter.title == "The trial as it happened"
    assert "No test of the whole host found that it changed." in chapter["deck"][0]
    (timeline,) = chapter["timelines"]
    picture = Picture(chapter)
    assert picture.texts("happened-strong") == []  # no levels are named
    assert picture.marks("path", "happened-cross") == []
    assert "no change of the whole host was found" in timeline["alt"]
    (timeline,) = chapter["timelines"]
    dots = Picture(chapter).heights
    beyond = sum(panel["beyond_scale"] for panel in timeline["sessions"])
    assert len(dots) + beyond == 2 * 3 * 60  # cells a hundredfold apart are alike here
    assert max(dots) - min(dots) > 0.2
    assert sum(panel["runs"].value for panel in timeline["sessions"]) == 360
    assert [panel["session"] for panel in timeline["sessions"]] == ["1", "2", "3"]
    assert all(panel["level"].value == pytest.approx(1, abs=0.01) for panel in timeline["sessions"])
    assert not any("are drawn" in note for note in chapter["timelines"][0]["notes"])
    picture = Picture(chapter)
    assert picture.heights.size + len(picture.marks("line", "happened-beyond")) == 360


def test_two_speeds_are_named_where_they_are_and_tables_hold_the_values(subject):
    chapter = happened(subject(TWO))
    assert chapter.title == "The trial as it happened: a host with two speeds"
    assert "two states, 30\u00a0% apart" in chapter["deck"][0]
    assert "which is why the intervals rest on sessions" in chapter["deck"][0]
    (timeline,) = chapter["timelines"]
    picture = Picture(chapter)
    names = picture.texts("happened-strong")[-2:]
    assert names == ["fast state", "slow state"]
    # where the labels stand lie the runs: half of them at either level
    panel = picture.marks("rect", "panel")[0]
    for label in picture.marks("text", "happened-strong")[-2:]:
        at = 1 - (float(label["y"]) - 4 - float(panel["y"])) / float(panel["height"])
        assert 0.35 < (abs(picture.heights - at) < 0.1).mean() < 0.65
    assert "30\u00a0% above the fast state" in timeline["alt"]
    tables = [b for s in chapter.sections() for b in s.blocks if isinstance(b, Table)]
    cells = {cell for table in tables for row in table.rows for cell in row}
    panels = chapter["timelines"][0]["sessions"]
    assert {panel["seconds"] for panel in panels} | {panel["higher"] for panel in panels} <= cells
    assert {one["pvalue"] for one in chapter["found"]} <= cells
    assert all(isinstance(one["pvalue"], Value) for one in chapter["found"])


def test_one_benchmark_stands_out(subject):
    found = subject()
    chapter = happened(found)
    opened = sum(map(len, Picture(chapter).panels("happened-opened")))
    assert 100 <= opened <= 120
    named = [name for one in found.verdict.cautions for name in one.about if name in found.order]
    assert f"those of {[*named, *found.order][0]} stand out" in chapter["deck"][0]


def test_a_slow_session_is_seen_in_its_level(subject):
    chapter = happened(subject(lambda session, _: 1.5 if session == 2 else 1.0))
    levels = [panel["level"].value for panel in chapter["timelines"][0]["sessions"]]
    assert levels == pytest.approx([1, 1.5, 1], abs=0.02)


def test_failed_runs_are_crosses_and_no_dots(subject):
    def fail(made):
        measured = [k for k, row in enumerate(made.rows) if not row.warmup]
        for k, outcome in ((measured[3], "timeout"), (measured[200], "exit")):
            made.rows[k] = replace(made.rows[k], outcome=outcome, exit_code=3)
        made.rows[0] = replace(made.rows[0], outcome="signal", signal=11)  # a warm-up

    chapter = happened(subject(change=fail))
    (timeline,) = chapter["timelines"]
    picture = Picture(chapter)
    assert picture.texts("happened-narrow happened-strong") == ["timeout", "exit 3"]
    assert picture.texts("happened-wide happened-strong")[0] == "logs / fast timeout"
    assert len(picture.marks("path", "happened-cross")) == 2
    # for each a line through the panels, and one below
    first, _, second, _ = (
        float(one["x1"].rstrip("%")) for one in picture.marks("line", "happened-line")
    )
    assert first < second
    assert chapter["failed"] == 2
    assert "2 runs failed" in timeline["alt"]
    assert sum(panel["runs"].value for panel in timeline["sessions"]) == 358


def test_findings_of_the_runner_stand_over_their_sessions(subject):
    rows = [
        {"session": 2, "when": "after", "check": "load", "status": "warn", "what": "busy"}
        | {"where": "/proc/stat = 0.85"},
        {"session": 3, "when": "after", "check": "load", "status": "ok", "what": "calm"}
        | {"where": "/proc/stat = 0.01"},
    ]

    def note(made):
        made.extra["findings.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    chapter = happened(subject(change=note))
    (timeline,) = chapter["timelines"]
    assert timeline["findings"] == [{"text": "other work", "sessions": 1}]
    assert "other work in 1 session (0.85)" in timeline["alt"]
    picture = Picture(chapter)
    (bar,) = picture.marks("rect", "ink")
    second = picture.marks("rect", "panel")[1]
    assert (bar["x"], bar["width"]) == (second["x"], second["width"])
    assert picture.texts("happened-wide happened-strong") == ["other work 0.85"]


def test_pauses_are_said_and_closed(subject):
    (timeline,) = happened(subject())["timelines"]
    assert any("pauses between sessions" in note for note in timeline["notes"])


def test_far_runs_are_counted_and_lie_at_the_edge(subject):
    def far(made):
        measured = [k for k, row in enumerate(made.rows) if not row.warmup]
        made.rows[measured[5]] = replace(made.rows[measured[5]], wall_ns=10**11)

    chapter = happened(subject(change=far))
    (timeline,) = chapter["timelines"]
    edge = Picture(chapter).marks("rect", "panel")[0]["y"]
    assert edge in [one["y1"] for one in Picture(chapter).marks("line", "happened-beyond")]
    (note,) = [note for note in timeline["notes"] if "beyond" in note]
    beyond = sum(panel["beyond_scale"] for panel in timeline["sessions"])
    assert int(re.match(r"\d+", note)[0]) == beyond


def test_two_trials_stand_above_each_other_on_one_axis(subject):
    chapter = happened(subject(trials=2))
    assert [one["label"] for one in chapter["timelines"]] == ["A", "B"]
    first, second = (
        [one["y1"] for one in picture.marks("line", "grid")]
        for picture in (Picture(chapter, 0), Picture(chapter, 1))
    )
    assert first == second
    assert Picture(chapter, 0).scale == Picture(chapter, 1).scale
    assert chapter.title == "The trials as they happened"
    assert [text[:2] for text in chapter["deck"][1:]] == ["A:", "B:"]


def test_files_and_trials_without_times_have_no_such_chapter(subject, tmp_path):
    def unknown(made):
        made.rows = [replace(row, start_ns=None) for row in made.rows]

    assert happened(subject(change=unknown)) is None
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
    assert happened(subject_of(paths, Reading(better="lower"), explain=False)) is None


def test_a_crowd_is_thinned_to_its_lowest_middle_and_highest(subject, monkeypatch):
    monkeypatch.setattr(picture_module, "_MOST_DOTS", 100)
    monkeypatch.setattr(picture_module, "_COLUMNS", 30)
    crowd = subject()
    chapter = happened(crowd)
    trial = crowd.trial
    runs = runs_of(trial, clock_of(trial), "wall", trial.manifest.variants)
    picture = Picture(chapter)
    drawn = picture.heights.size
    assert drawn < 0.6 * runs.rows.size
    (note,) = [note for note in chapter["timelines"][0]["notes"] if "are drawn" in note]
    assert note.startswith(f"{drawn} of {runs.rows.size} runs are drawn")
    # nothing that stands out is lost: the highest and the lowest of each session are there
    low, high = np.log(picture.scale)
    for k, heights in enumerate(picture.panels()):
        mine = runs.clock.place[runs.rows] == k
        places = (runs.logs[mine] - low) / (high - low)
        inside = places[(places >= 0) & (places <= 1)]
        assert max(heights) == pytest.approx(inside.max(), abs=1e-3)
        assert min(heights) == pytest.approx(inside.min(), abs=1e-3)
