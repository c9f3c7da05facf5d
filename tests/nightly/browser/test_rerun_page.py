"""The joint report on a trial and its rerun in Chromium. Authorities: axe-core, CSP level 3."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.artifact.rerun import joint_report, judge_reruns

TESTS = Path(__file__).resolve().parents[2]
SAMPLE = TESTS.parent / "tests" / "data" / "sample-0.2.0"
chromium = SimpleNamespace(**runpy.run_path(str(TESTS / "nightly" / "browser" / "chromium.py")))


@pytest.fixture
def page(tmp_path):
    pairs = [
        ("one", SAMPLE, SAMPLE, SAMPLE / "campaign.yaml"),
        ("<b>two</b>\u202e", SAMPLE, SAMPLE, SAMPLE / "campaign.yaml"),
    ]
    path = tmp_path / "rerun.html"
    path.write_text(joint_report(judge_reruns("a.zip", tmp_path, pairs)), encoding="utf-8")
    return path


def test_it_holds_what_every_page_of_ours_must(browser, page):
    # tables of fragments, as in notebooks, are named by a label that is heard and not seen
    assert [
        said for said in browser.holds(page) if "no caption: <table aria-label=" not in said
    ] == []
