"""The chapter's HTML: everything escaped, the result in words, and few bytes for many runs."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from analysis.report.chapter import html_of
from analysis.report.timeline.clock import clock_of
from analysis.report.timeline.gather import gather
from analysis.report.timeline.timeline import runs_of

EVIL = '"><script>alert(1)</script>\u202e'


class Tags(HTMLParser):
    """Collect tags, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_one_section_with_its_picture_in_words(subject):
    chapter = gather(subject(lambda _, s: 1.3 if (s // 30) % 2 else 1.0))
    tags = Tags(str(html_of(chapter)))
    assert tags.found[0] == ("section", {"id": "happened"})
    (picture,) = [about for tag, about in tags.found if about.get("role") == "img"]
    assert picture["aria-label"] == chapter.timelines[0].alt
    assert [tag for tag, _ in tags.found if tag in ("h1", "h2", "h3")] == ["h2"]
    captions = [tag for tag, _ in tags.found if tag == "caption"]
    assert len(captions) == len([tag for tag, _ in tags.found if tag == "table"]) == 2
    text = "".join(tags.words)
    for panel in chapter.timelines[0].panels:
        assert panel.seconds.text in text
        assert panel.higher.text in text


def test_foreign_names_are_text(subject):
    def fail(made):
        row = next(k for k, row in enumerate(made.rows) if row.benchmark == EVIL and row.block)
        made.rows[row] = replace(made.rows[row], outcome="exit", exit_code=1)

    benches = {EVIL: 0.1, "logs": 0.1, "x" * 200: 0.1}
    chapter = gather(subject(change=fail, benches=benches))
    assert len(chapter.timelines[0].crosses) == 1
    html = str(html_of(chapter))
    assert "script" not in [tag for tag, _ in Tags(html).found]
    assert EVIL not in html
    assert "\u202e" not in html
    assert "x" * 60 not in html
    assert "U+202E" in html
    assert "exit 1" in "".join(Tags(html).words)


def test_every_run_is_drawn_while_there_are_few(subject):
    chapter = gather(subject())
    html = str(html_of(chapter))
    clouds = re.findall(r'class="dots [^"]*" d="([^"]*)"', html)
    drawn = sum(cloud.count("h0") for cloud in clouds)
    beyond = html.count('"happened-beyond"')
    assert drawn + beyond == 360


@pytest.fixture
def many(subject, monkeypatch):
    """A subject whose picture has to be thinned: more dots than are drawn."""
    from analysis.report.timeline import timeline

    monkeypatch.setattr(timeline, "_MOST_DOTS", 100)
    monkeypatch.setattr(timeline, "_COLUMNS", 30)
    return subject()


def test_a_crowd_is_thinned_to_its_lowest_middle_and_highest(many):
    (timeline,) = gather(many).timelines
    trial = many.trial
    runs = runs_of(trial, clock_of(trial), "wall", trial.manifest.variants)
    assert any(f"of {runs.rows.size} runs are drawn" in note for note in timeline.notes)
    drawn = [dot for panel in timeline.panels for dot in (*panel.dots, *panel.opened)]
    assert len(drawn) < 0.6 * runs.rows.size
    # nothing that stands out is lost: the highest and the lowest of each session are there
    full = [np.array([y for _, y in (*p.dots, *p.opened)]) for p in timeline.panels]
    low, high = np.log(timeline_scale(timeline))
    for k, heights in enumerate(full):
        mine = runs.clock.place[runs.rows] == k
        places = (runs.logs[mine] - low) / (high - low)
        inside = places[(places >= 0) & (places <= 1)]
        assert heights.max() == pytest.approx(inside.max(), abs=1e-3)
        assert heights.min() == pytest.approx(inside.min(), abs=1e-3)


def timeline_scale(timeline) -> tuple[float, float]:
    low, high, *_ = timeline.axis.split()
    return float(low), float(high)


def test_labels_exist_for_both_widths_and_bear_no_style(subject):
    html = str(html_of(gather(subject())))
    assert 'class="happened-wide' in html
    assert 'class="happened-narrow' in html
    assert "style=" not in html
