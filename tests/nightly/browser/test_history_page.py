"""The page of a history in Chromium: what must hold for each of our pages.

Authorities: the design (widths, dark, print, no labels that overlap), axe-core, CSP level 3; that they are HTML, `test_valid_pages.py`.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.report.history import history_html

HERE = Path(__file__).resolve().parent
chromium = SimpleNamespace(**runpy.run_path(str(HERE / "chromium.py")))
hostile = SimpleNamespace(**runpy.run_path(str(HERE / "hostile.py")))
histories = SimpleNamespace(**runpy.run_path(str(HERE / "histories.py")))

KINDS = histories.KINDS


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Give the page of a kind."""
    folder = tmp_path_factory.mktemp("history")

    def page(kind: str) -> Path:
        path = folder / f"{kind}.html"
        if not path.exists():
            path.write_text(history_html(KINDS[kind]()), "utf-8")
        return path

    return page


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_holds_in_every_way_it_is_looked_at(browser, report, kind):
    found = browser.holds(report(kind))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("width", [320, 480, 700, 701, 1200])
def test_nothing_overlaps_or_is_cut_off_at_further_widths(browser, report, width):
    browser.width(width)
    browser.open(report("usual"))
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


def test_a_name_leads_to_its_strip_also_where_it_is_folded(browser, report):
    browser.open(report("40 benchmarks"))
    assert not browser.run("return document.querySelector('#still details').open")
    browser.driver.get(f"{report('40 benchmarks').as_uri()}#strip-2")  # bench-001, unchanged
    assert browser.run("return document.querySelector('#still details').open")


def test_the_pointer_reads_a_night(browser, report):
    browser.open(report("usual"))
    told = browser.run(
        "const path = document.querySelector('.history-night'), to = path.getScreenCTM();"
        "const [, x, y] = path.getAttribute('d').match(/m(-?\\d+) ?(-?\\d+)h0/);"
        "const place = {bubbles: true, clientX: to.a * x + to.e, clientY: to.d * y + to.f};"
        "path.dispatchEvent(new PointerEvent('pointermove', place));"
        "return document.getElementById('tip').textContent"
    )
    assert told.endswith("×")
    assert float(told.removesuffix("×")) == pytest.approx(0.95, abs=0.03)
