"""Each check of a page finds the one fault that was put into a page without any."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

chromium = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("chromium.py"))))

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>t</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{margin:20px;font:16px/1.5 sans-serif;color:#111;background:#fff}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.wide{overflow-x:auto}svg{overflow:visible;display:block}svg text{font-size:11.5px}</style></head>
<body><main><h1>A page</h1><p id="here">Words that are <a href="#here">linked</a>.</p><!--here-->
<table><caption>times <span class="unseen">hidden words that would lie on others</span></caption>
<tr><th scope="col">a</th><th scope="col">b</th></tr><tr><td>1</td><td>2</td></tr></table>
<svg role="img" aria-label="all is well" width="100%" height="40">
<text x="10%" y="12">one</text><text x="60%" y="12">two</text><text x="10%" y="26">three</text></svg>
</main></body></html>"""

FAULTS = {
    "console": ("<script>nothing()</script>", "nothing is not defined"),
    "requests": ('<img alt="" src="http://127.0.0.1:9/x.png">', "http://127.0.0.1:9/x.png"),
    "sideways": ('<div style="width:3000px">wide</div>', "scrolls sideways"),
    "text beside text": (
        '<p style="height:5px">first</p><p style="margin-top:-14px">second</p>',
        '"second"',
    ),
    "text on text": (
        '<svg aria-hidden="true" height="20"><text x="5" y="9">over</text><text x="9" y="11">under</text></svg>',
        "overlap",
    ),
    "cut": ('<p style="margin-left:-60px">cut at the left</p>', "is cut off"),
    "small": ('<p style="font-size:11px">small</p>', "is 11 px high"),
    "twice": ('<p id="here">again</p>', "the id here is there twice"),
    "no target": ('<a href="#nowhere">x</a>', "no target"),
    "elsewhere": ('<a href="javascript:alert(1)">x</a>', "leads elsewhere"),
    "a file": ("<object></object>", "not of this file"),
    "a handler": ('<p onclick="x()">x</p>', "a handler"),
    "headings": ("<h3>Deep</h3>", "h3 after h1"),
    "an empty heading": ("<h2> </h2>", "an empty heading"),
    "two h1": ("<h1>Again</h1>", "2 h1"),
    "no alt": ('<svg role="img" aria-label=" "></svg>', "neither an alt text nor hidden"),
    "not hidden": ("<svg></svg>", "neither an alt text nor hidden"),
    "no caption": ('<table><tr><th scope="col">x</th></tr></table>', "no caption"),
    "no scope": ("<table><caption>x</caption><tr><th>x</th></tr></table>", "no scope"),
    "stretched": (
        '<svg aria-hidden="true"><text y="20" textLength="90">wide</text></svg>',
        "stretched",
    ),
    "contrast": ('<p style="color:#ccc">pale</p>', "color-contrast"),
}


def written(folder: Path, fault: str = "") -> Path:
    path = folder / "page.html"
    path.write_text(PAGE.replace("<!--here-->", fault), encoding="utf-8")
    return path


def test_a_good_page_holds(browser, tmp_path: Path) -> None:
    assert browser.holds(written(tmp_path)) == []


LOOKS = {"console": "console", "requests": "requests", "contrast": "axe"} | dict.fromkeys(
    ("sideways", "text beside text", "text on text", "cut", "small"), "layout"
)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(browser, tmp_path: Path, name: str) -> None:
    fault, said = FAULTS[name]
    browser.width(900)
    browser.open(written(tmp_path, fault))
    found = getattr(browser, LOOKS.get(name, "structure"))()
    assert any(said in complaint for complaint in found), found


def test_colours_that_are_pale_in_the_dark_only_are_found(browser, tmp_path: Path) -> None:
    pale = "<style>@media (prefers-color-scheme:dark){p{color:#ccc}}</style>"
    found = browser.holds(written(tmp_path, pale))
    assert found
    assert all(said.startswith("900 px, dark: color-contrast (serious)") for said in found)


def test_rows_of_one_shape_are_thinned_and_another_one_is_looked_at(
    browser, tmp_path: Path
) -> None:
    row = '<tr><td title="{0}">{0}</td><td style="width:{0}px">x{0}</td></tr>'
    rows = [row.format(k) for k in range(60)]
    rows[40] = rows[40].replace("<td ", '<td class="pale" ', 1)
    for k, colour in ((50, "#111"), (51, "#999")):  # numbers that are no sizes
        rows[k] = rows[k].replace(f"width:{k}px", f"color:{colour}")
    style = "<style>.pale{color:#ccc}</style>"
    table = f"<table><caption>many</caption><tbody>{''.join(rows)}</tbody></table>"
    browser.open(written(tmp_path, style + table))
    browser.thin(5)
    left = browser.run("return [...document.querySelectorAll('td[title]')].map(e => e.title)")
    assert left == ["0", "1", "40", "50", "51"]
    assert "color-contrast" in browser.axe()[0]


def test_what_is_folded_or_scrolls_in_its_place_is_no_fault(browser, tmp_path: Path) -> None:
    wide = '<div class="wide" tabindex="0"><pre style="width:3000px">x</pre></div>'
    folded = '<details><summary>more</summary><p style="margin-left:-60px">cut</p></details>'
    browser.width(360)
    browser.open(written(tmp_path, wide + folded))
    assert browser.layout() == []
    browser.unfold()
    assert len(browser.layout()) == 1


def test_a_script_is_not_executed_where_scripts_are_off(browser, tmp_path: Path) -> None:
    page = written(tmp_path, "<script>document.title = 'changed'</script>")
    with browser.without_scripts():
        browser.open(page)
        assert browser.run("return document.title") == "t"
    browser.open(page)
    assert browser.run("return document.title") == "changed"


def test_the_validator_finds_what_is_no_html(tmp_path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("no Java is installed")
    good, bad = tmp_path / "a good one", tmp_path / "bad"
    good.mkdir(), bad.mkdir()
    pages = written(good), written(bad, "</em>")
    found = chromium.invalid(*pages)
    assert found[pages[0]] == []
    assert "Stray end tag" in found[pages[1]][0]
    with pytest.raises(AssertionError):  # one that it cannot read is not one without faults
        chromium.invalid(tmp_path / "none.html")
