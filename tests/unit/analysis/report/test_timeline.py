"""Trials whose host does what a test says: each run a second after the one before it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.importers.reader import Reading
from analysis.pages.model import Figure
from analysis.report import timeline as picture_module
from analysis.report.assembling import chapter_html
from analysis.report.subject import Subject, subject_of
from analysis.report.timeline import change_scale, chapter as happened, clock_of, runs_of

BENCHES = {"text": 0.02, "logs": 2.0, "random": 0.2}
RUNS = 20


@pytest.fixture(scope="module")
def subject(
    tmp_path_factory: pytest.TempPathFactory,
    synthetic: Callable[..., object],
    once: Callable[..., object],
) -> Callable[..., Subject]:
    """Give a subject of trials on which the host's speed is `speed(session, second)`."""

    def make(speed=lambda session, second: 1.0, *, change=None, sessions=3, trials=1, **names):
        paths, folder = [], tmp_path_factory.mktemp("trials")
        for number in range(trials):
            rng = np.random.default_rng(7)
            benches = names.get("benches", BENCHES)
            cells = {bench: [1.0] * RUNS * sessions for bench in benches}
            made = synthetic({"base": cells, "fast": cells}, sessions=sessions, warmup=1)
            rows = []
            begin = {}
            for place, row in enumerate(made.rows):
                start = place + 100.0 * row.session
                second = start - begin.setdefault(row.session, start)
                level = benches[row.benchmark] * (0.5 if row.variant == "fast" else 1.0)
                wall = level * speed(row.session, second) * float(rng.lognormal(0, 0.004))
                rows.append(replace(row, start_ns=round(start * 1e9), wall_ns=round(wall * 1e9)))
            made.rows = rows
            if change is not None:
                change(made)
            paths.append(str(made.write(folder / f"trial-{number}")))
        sources = paths if trials == 1 else [f"{path}:fast" for path in paths]
        return subject_of(sources, Reading(), explain=False)

    return once(make)


# --- The trial as it happened: times of runs, their places, what was found of the host


TWO = lambda _, second: 1.3 if (second // 30) % 2 else 1.0  # noqa: E731 - a host of two speeds


class Picture:
    """Reads the picture of a chapter's first trial; texts and lines of both widths bear their class."""

    def __init__(self, chapter, number: int = 0) -> None:
        figures = [one for one in next(iter(chapter.sections())).blocks if isinstance(one, Figure)]
        self._root = ElementTree.fromstring(str(figures[number].draw()))

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


def test_a_steady_host_is_said_and_each_run_is_drawn_against_its_own_cell(subject):
    chapter = happened(subject())
    assert "No test of the whole host found that it changed." in chapter["deck"]
    (timeline,) = chapter["timelines"]
    picture = Picture(chapter)
    assert picture.texts("happened-strong") == []
    assert picture.marks("path", "happened-cross") == []
    assert picture.heights.size == 2 * 3 * 60  # cells a hundredfold apart are alike here
    assert np.ptp(picture.heights) > 0.2
    assert sum(one["runs"].value for one in timeline["sessions"]) == 360
    assert [one["session"] for one in timeline["sessions"]] == ["1", "2", "3"]
    assert all(one["level"].value == pytest.approx(1, abs=0.01) for one in timeline["sessions"])


def test_what_the_diagnosis_found_of_the_host_stands_above(subject):
    found = subject(TWO)
    texts = [one.text for one in found.verdict.diagnosis.findings if one.code[:5] == "host-"]
    assert texts
    assert happened(found)["deck"][1].casefold() == f"{'; '.join(texts)}.".casefold()


def test_the_scale_holds_nearly_all_runs_and_the_median():
    logs = np.concatenate((np.linspace(-0.2, 0.4, 1000), [3.0]))
    scale = change_scale(logs)
    inside = (logs >= math.log(scale.low)) & (logs <= math.log(scale.high))
    assert 0.98 <= inside.mean() < 1
    assert scale.low < 1 < scale.high
    assert scale.high < 2  # one far run does not press the others together
    for none in (np.zeros(5), np.array([])):
        assert change_scale(none).low < 1 < change_scale(none).high


def test_one_benchmark_stands_out(subject):
    found = subject()
    chapter = happened(found)
    assert sum(map(len, Picture(chapter).panels("happened-opened"))) == 120
    named = [name for one in found.verdict.cautions for name in one.about if name in found.order]
    assert chapter["deck"][0].endswith(f"dark: {[*named, *found.order][0]}.")


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
    assert len(Picture(chapter).marks("path", "happened-cross")) == 2
    assert chapter["failed"] == 2
    assert "Crosses: failed runs" in chapter_html(chapter)
    assert "2 failed runs" in timeline["alt"]
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
    assert "other work in 1 session" in chapter["timelines"][0]["alt"]
    picture = Picture(chapter)
    (bar,) = picture.marks("rect", "ink")
    second = picture.marks("rect", "panel")[1]
    assert (bar["x"], bar["width"]) == (second["x"], second["width"])
    assert picture.texts("happened-strong") == ["other work"]


def test_far_runs_are_counted_and_lie_at_the_edge(subject):
    def far(made):
        measured = [k for k, row in enumerate(made.rows) if not row.warmup]
        made.rows[measured[5]] = replace(made.rows[measured[5]], wall_ns=10**11)

    chapter = happened(subject(change=far))
    heights = Picture(chapter).heights
    edge = int(((heights == 0) | (heights == 1)).sum())
    assert heights.max() == 1
    assert f"; {edge} beyond the edges" in chapter["timelines"][0]["alt"]


def test_two_trials_stand_above_each_other_on_one_axis(subject):
    chapter = happened(subject(trials=2))
    assert [one["label"] for one in chapter["timelines"]] == ["A", "B"]
    assert Picture(chapter, 0).scale == Picture(chapter, 1).scale
    assert [text[:2] for text in chapter["deck"][1:]] == ["A:", "B:"]


def test_files_and_trials_without_times_have_no_such_chapter(subject, tmp_path):
    def unknown(made):
        made.rows = [replace(row, start_ns=None) for row in made.rows]

    assert happened(subject(change=unknown)) is None
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("x,1,2,1.5\n")
    paths = [str(tmp_path / f"{name}.csv") for name in ("a", "b")]
    assert happened(subject_of(paths, Reading(better="lower"), explain=False)) is None


def test_a_crowd_is_thinned_to_its_lowest_middle_and_highest(subject, monkeypatch):
    monkeypatch.setattr(picture_module, "_MOST_DOTS", 100)
    monkeypatch.setattr(picture_module, "_COLUMNS", 30)
    crowd = subject()
    picture = Picture(happened(crowd))
    runs = runs_of(crowd.trial, clock_of(crowd.trial), "wall", crowd.trial.manifest.variants)
    assert picture.heights.size < 0.6 * runs.rows.size
    # nothing that stands out is lost: the highest and the lowest of each session are there
    low, high = np.log(picture.scale)
    for k, heights in enumerate(picture.panels()):
        places = (runs.logs[runs.clock.place[runs.rows] == k] - low) / (high - low)
        assert max(heights) == pytest.approx(np.clip(places, 0, 1).max(), abs=1e-3)
        assert min(heights) == pytest.approx(np.clip(places, 0, 1).min(), abs=1e-3)


@pytest.fixture
def timed(tmp_path, synthetic):
    """Write a trial of one benchmark and variant: start and duration of each run, in seconds."""

    def write(*sessions, segments=None):
        count = sum(map(len, sessions))
        made = synthetic({"a": {"x": [1.0] * count}}, sessions=len(sessions))
        every = [run for session in sessions for run in session]
        segments = segments or [0] * count
        made.rows = [
            replace(
                row,
                start_ns=None if start is None else round(start * 1e9),
                wall_ns=round(wall * 1e9),
                segment=segment,
            )
            for row, (start, wall), segment in zip(made.rows, every, segments, strict=True)
        ]
        return read_trial(made.write(tmp_path / "trial"))

    return write


def test_each_session_begins_at_0(timed):
    clock = clock_of(timed([(10, 1), (12, 3)], [(100, 1), (101, 2)]))
    assert clock is not None
    assert clock.seconds.tolist() == [0, 2, 0, 1]
    assert clock.lengths.tolist() == [5, 3]


def test_a_resumed_session_goes_on_where_it_was_broken_off(timed):
    clock = clock_of(timed([(10, 1), (12, 3), (5000, 1)], segments=[0, 0, 1]))
    assert clock is not None
    assert clock.seconds.tolist() == [0, 2, 5]
    assert clock.lengths.tolist() == [6]


def test_where_a_clock_goes_back_or_is_unknown_a_run_begins_when_the_one_before_ended(timed):
    clock = clock_of(timed([(10, 1), (None, 2), (3, 1), (4, 1)], [(1, 1)] * 4))
    assert clock is not None
    assert clock.seconds[:4].tolist() == [0, 1, 3, 4]


def test_without_any_start_there_is_no_clock(timed):
    assert clock_of(timed([(None, 1), (None, 1)])) is None


def test_lengths_are_positive_whatever_is_known(timed):
    clock = clock_of(timed([(10, 0), (10, 0)]))
    assert clock is not None
    assert np.isfinite(clock.lengths).all()
    assert (clock.lengths > 0).all()
