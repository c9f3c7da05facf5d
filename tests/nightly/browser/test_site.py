"""The site that ``make site`` makes of docs/: every link, anchor and picture is there, and nothing needs a network."""

from __future__ import annotations

import runpy
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[3]
MADE = runpy.run_path(str(ROOT / "docs" / "site" / "make_site.py"))
SITE = MADE["PLACE"] / "html"


class Page(HTMLParser):
    """What a page links to, what it loads, and the names of its places."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.ids = [], [], set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        about = dict(attrs)
        if "id" in about:
            self.ids.add(about["id"])
        if tag == "a" and about.get("href"):
            self.links.append(about["href"])
        elif tag == "link" and about.get("rel") in ("stylesheet", "icon"):
            self.loads.append(about["href"])
        elif tag in ("img", "script", "iframe", "source") and about.get("src"):
            self.loads.append(about["src"])


def complaints(site):
    """Say which links, anchors and loads of a site's pages do not hold."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        if path.name == "404.html":  # it is shown at any depth, and names its place on a server
            continue
        for link in page.loads:
            if not link.startswith("data:") and not (path.parent / link).is_file():
                yield f"{path.name} loads {link}"
        for link in page.links:
            name, _, anchor = unquote(link).partition("#")
            if name.startswith(("http:", "https:", "mailto:")):
                continue
            target = (path.parent / name).resolve() if name else path
            if not target.is_file():
                yield f"{path.name} links to {link}"
            elif anchor and target in pages and anchor not in pages[target].ids:
                yield f"{path.name} links to {link}: no such place"


@pytest.fixture(scope="module")
def site():
    MADE["main"]()
    return SITE


def test_every_link_anchor_and_picture_is_there_and_nothing_is_fetched(site):
    assert list(complaints(site)) == []


def test_every_page_of_the_documentation_is_in_it(site):
    for page in (ROOT / "docs").rglob("*.md"):
        inside = page.relative_to(ROOT / "docs")
        if inside.parts[0] != "site":
            name = "tasks" if str(inside) == "README.md" else str(inside.with_suffix(""))
            name = name.removesuffix("README") + "index" * name.endswith("README")
            assert (site / f"{name}.html").is_file(), inside
    assert "<title>" in (site / "example" / "report.html").read_text("utf-8")


def test_the_first_page_has_one_command_one_picture_and_the_live_report(site):
    page = Page(site / "index.html")
    text = (site / "index.html").read_text("utf-8")
    assert text.count("$ fairtrial") == 1
    assert [one for one in page.loads if one.endswith(".png") and "assets" not in one] == [
        "report.png"
    ]
    assert "example/report.html" in page.links


@pytest.mark.parametrize(
    "wrong",
    ['<a href="gone.html">x</a>', '<a href="#gone">x</a>', '<img src="https://x.org/a.png">'],
)
def test_what_does_not_hold_would_be_found(wrong, tmp_path):
    (tmp_path / "page.html").write_text(f"<html><p id=there>{wrong}</p></html>")
    assert len(list(complaints(tmp_path))) == 1


def test_a_search_from_a_file_finds_pages(site, browser):
    browser.width(1200)
    browser.open(site / "compare.html")
    browser.run("document.querySelector('.md-search__button').click()")
    found = "const e = document.activeElement; return (e.shadowRoot || e).textContent"
    browser.driver.switch_to.active_element.send_keys("hyperfine")
    until = time.monotonic() + 30
    while (
        said := "Coming from hyperfine" in browser.run(found)
    ) is False and time.monotonic() < until:
        time.sleep(0.1)
    assert said
    assert browser.console() == []
    assert all(url.startswith(("file:", "blob:", "data:")) for url in browser.requests())
