"""The page of a bisection in Chromium: what must hold for each of our pages.

Authorities: the design (widths, dark, print, no labels that overlap), axe-core, CSP level 3; that they are HTML, `test_valid_pages.py`.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.report.bisection.page import bisection_html

HERE = Path(__file__).resolve().parent
chromium = SimpleNamespace(**runpy.run_path(str(HERE / "chromium.py")))
hostile = SimpleNamespace(**runpy.run_path(str(HERE / "hostile.py")))
bisections = SimpleNamespace(**runpy.run_path(str(HERE / "bisections.py")))

KINDS = bisections.KINDS


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Give the page of a kind."""
    folder = tmp_path_factory.mktemp("bisection")

    def page(kind: str) -> Path:
        path = folder / f"{kind}.html"
        if not path.exists():
            path.write_text(bisection_html(KINDS[kind]()), "utf-8")
        return path

    return page


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_holds_in_every_way_it_is_looked_at(browser, report, kind):
    found = browser.holds(report(kind))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("width", [320, 700, 701, 1200])
@pytest.mark.parametrize("kind", ["two culprits", "sessions spent"])
def test_nothing_overlaps_or_is_cut_off_at_further_widths(browser, report, kind, width):
    browser.width(width)
    browser.open(report(kind))
    browser.unfold()
    assert browser.layout() == []


def test_nothing_foreign_is_executed(browser, report):
    browser.tell(
        "Page.addScriptToEvaluateOnNewDocument",
        source="window.alert = () => { window.executed = true }",
    )
    browser.open(report("hostile"))
    browser.unfold()
    assert not browser.run("return window.executed")
    assert browser.console() == []
    assert browser.requests() == []
    text = report("hostile").read_text("utf-8")
    for word in ("\x1b", "\x00", "\u202e", "\u2066"):
        assert word not in text
