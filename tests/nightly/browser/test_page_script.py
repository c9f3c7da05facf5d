"""The page's script in Chromium: sorting, filtering, values, copies, downloads, choices, permalinks.

The page is one of our shell with a chapter of the test's own, so that each part is seen alone.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from markupsafe import Markup

from analysis.plots.axes import Scale, read_out
from analysis.plots.marks import Area, Dots, plot
from analysis.report import assembling as shell
from analysis.report.assembling import Chapter, Report, html_page
from tests.processes import wait_until

RAW = {"runs": [1.5, 2.5], "name": "</script>"}


def sample(anchor: str, title: str) -> Chapter:
    return Chapter(
        name="sample", anchor=anchor, title=title, values={"html": markup(anchor)}, sections=tuple
    )


def markup(anchor: str) -> Markup:
    scale = Scale(0.010, 0.100, log=True)
    cloud = Dots([(0.5, scale.at(0.042))], "", Area(0, 100, axis=read_out(scale, "s")))
    rows = "".join(
        f'<tr><th scope="row">{name}</th><td data-sort="{value}">{text}</td></tr>'
        for name, value, text in (
            ("b|ten", "10", "10 ms"),
            ("b|nine", "9", "9 ms"),
            ("none", "", "unknown"),
            ("b|hundred", "100", "100 ms"),
        )
    )
    short = '<tr><th scope="row">zlib</th><td><svg aria-hidden="true"></svg></td><td>1.1</td></tr>'
    raw = json.dumps(RAW).replace("<", "\\u003c")
    return Markup(f"""<section id="{anchor}"><h1>new is faster</h1><p class="deck">By 2.</p>
<table><caption>new</caption><tbody>{short}</tbody></table><ul><li><span aria-hidden="true">1</span>One caution</li></ul></section>
<section id="{anchor}more"><h2>More</h2>
<div class="wide"><table id="table{anchor}" class="sortable" data-filter="benchmark"><caption>times</caption>
<thead><tr><th scope="col">name</th><th scope="col">time</th></tr></thead><tbody>{rows}</tbody></table></div>
<details id="{anchor}zlib" data-jump="zlib"><summary>zlib</summary><h3>zlib</h3>
<p id="{anchor}deep">inside</p></details>
<details id="{anchor}awk" data-jump="awk"><summary>awk</summary><h3>awk</h3></details>
<pre class="copyable">@misc{{key}}</pre>{plot(100, [cloud], "one dot at 42 ms")}
<script type="application/json" id="{anchor}raw" data-download="raw.json">{raw}</script></section>""")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(shell, "chapter_html", lambda chapter, _names: chapter["html"])
    chapters = (sample("top", ""), sample("metric-2-top", "Again"))
    report = Report(
        title="t", headline="new is faster", metrics=("wall", "cpu"), chapters=chapters, cautions=()
    )
    path = tmp_path / "page.html"
    path.write_text(html_page(report), encoding="utf-8")
    return path


def names(browser, table: str = "#tabletop") -> list[str]:
    script = "return [...document.querySelectorAll(`${arguments[0]} tbody tr`)].filter(r => !r.hidden).map(r => r.cells[0].textContent)"
    return browser.run(script, table)


def press(browser, text: str, within: str = "body") -> None:
    script = "[...document.querySelector(arguments[1]).querySelectorAll('button')].find(b => b.textContent.trim() === arguments[0]).click()"
    browser.run(script, text, within)


def choose(browser, label: str, option: str) -> None:
    script = """const label = [...document.querySelectorAll('label')].find(l => l.textContent.startsWith(arguments[0]));
    const select = label.querySelector('select');
    select.value = [...select.options].find(o => o.textContent === arguments[1]).value;
    select.dispatchEvent(new Event('change'))"""
    browser.run(script, label, option)


def eventually(browser, script: str, *args: object) -> object:
    return wait_until(lambda: browser.run(script, *args), script)


def test_the_script_is_small_and_the_policy_knows_it(browser, page: Path) -> None:
    browser.open(page)
    assert browser.console() == []
    script = browser.run("return document.querySelector('body > script').textContent")
    assert len(script.encode()) <= 10_000
    for word in ("innerHTML", "eval(", "Function(", "fetch(", "XMLHttp", "import("):
        assert word not in script


def test_a_script_that_the_policy_does_not_know_is_refused(browser, page: Path) -> None:
    # the negative control of what all pages rest on
    evil = "<script>document.title = 'evil'</script><img src=x onerror=\"document.title='evil'\">"
    page.write_text(page.read_text("utf-8").replace("</main>", f"{evil}</main>"), encoding="utf-8")
    browser.open(page)
    assert browser.run("return document.title") != "evil"
    assert any("Content Security Policy" in message for message in browser.console())


def test_numbers_sort_as_numbers_and_unknown_ones_come_last(browser, page: Path) -> None:
    browser.open(page)
    before = names(browser)
    press(browser, "time", "#tabletop")
    assert names(browser) == ["b|nine", "b|ten", "b|hundred", "none"]
    head = "return document.querySelectorAll('#tabletop thead th')[1].getAttribute('aria-sort')"
    assert browser.run(head) == "ascending"
    press(browser, "time", "#tabletop")
    assert names(browser) == ["b|hundred", "b|ten", "b|nine", "none"]
    assert browser.run(head) == "descending"
    press(browser, "time", "#tabletop")
    assert names(browser) == before
    assert browser.run(head) is None


def test_names_sort_too(browser, page: Path) -> None:
    browser.open(page)
    press(browser, "name", "#tabletop")
    assert names(browser) == ["b|hundred", "b|nine", "b|ten", "none"]


def test_a_filter_shows_the_rows_with_all_words(browser, page: Path) -> None:
    browser.open(page)
    script = "const box = document.querySelector('#topmore input[type=search]'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))"
    browser.run(script, "B|  TE")
    eventually(browser, "return document.querySelector('[role=status]').textContent === '1 of 4'")
    assert names(browser) == ["b|ten"]
    browser.run(script, "")
    eventually(browser, "return document.querySelector('[role=status]').textContent === '4 of 4'")
    assert len(names(browser)) == 4


def test_the_value_of_a_dot_is_shown_under_the_pointer(browser, page: Path) -> None:
    browser.open(page)
    box = browser.run(
        "const s = document.querySelector('svg.plot'); s.scrollIntoView(); const b = s.getBoundingClientRect();"
        "return [b.left + b.width / 2, b.top + 100 * arguments[0]]",
        1 - Scale(0.010, 0.100, log=True).at(0.042),
    )
    browser.tell("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + 3, y=box[1])
    tip = "const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent"
    assert eventually(browser, tip) == "42 ms"
    browser.tell("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + 200, y=box[1])
    eventually(browser, "return document.getElementById('tip').hidden")


@pytest.fixture
def copied(browser, page: Path):
    """Open the page and give what it hands to the clipboard."""
    browser.open(page)
    browser.run(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (t) => { window.copied = t }}})"
    )
    return lambda: eventually(browser, "return window.copied")


def test_a_table_is_copied_as_markdown_and_its_signs_stay_literal(browser, copied) -> None:
    press(browser, "copy as Markdown", "#topmore")
    assert copied().splitlines() == [
        "| name | time |",
        "| --- | --- |",
        r"| b\|ten | 10 ms |",
        r"| b\|nine | 9 ms |",
        "| none | unknown |",
        r"| b\|hundred | 100 ms |",
    ]


def test_the_summary_is_copied_as_markdown(browser, copied) -> None:
    press(browser, "copy summary as Markdown")
    text = copied()
    assert text.startswith("## new is faster\n\nBy 2.\n\n|  |  |\n| --- | --- |\n| zlib | 1.1 |")
    assert text.endswith("- One caution\n")


def test_a_listing_is_copied_as_it_is(browser, copied) -> None:
    press(browser, "copy", "#topmore")
    assert copied() == "@misc{key}"


def test_without_a_clipboard_the_text_is_copied_all_the_same(browser, page: Path) -> None:
    browser.open(page)
    browser.run(
        "Object.defineProperty(navigator, 'clipboard', {value: undefined});"
        "document.addEventListener('copy', () => { window.copied = getSelection().toString() || document.activeElement.value })"
    )
    browser.driver.find_element("css selector", ".copyable + .tools button").click()
    assert eventually(browser, "return window.copied") == "@misc{key}"


def test_raw_values_are_downloaded_byte_by_byte(browser, page: Path) -> None:
    browser.open(page)
    press(browser, "download raw.json", "#topmore")
    path = browser.downloads / "raw.json"
    wait_until(lambda: path.exists() and path.stat().st_size, "the file is there")
    assert json.loads(path.read_text("utf-8")) == RAW
    path.unlink()
    assert browser.console() == []


def test_going_to_a_benchmark_unfolds_it(browser, page: Path) -> None:
    browser.open(page)
    assert not browser.run("return topawk.open")
    choose(browser, "go to", "awk")
    eventually(browser, "return topawk.open && location.hash === '#topawk'")


def test_a_permalink_unfolds_what_holds_its_target(browser, page: Path) -> None:
    browser.open(page)
    browser.run("location.hash = 'topdeep'")
    eventually(browser, "return topzlib.open")
    browser.driver.get(page.as_uri() + "#topawk")
    browser.driver.refresh()
    eventually(browser, "return topawk.open && !topzlib.open")


def test_one_metric_at_a_time_or_all(browser, page: Path) -> None:
    browser.open(page)
    seen = "return [...document.querySelectorAll('main h1')].filter(e => e.getClientRects().length).length"
    assert browser.run(seen) == 2
    choose(browser, "metric", "cpu")
    assert browser.run(seen) == 1
    choose(browser, "metric", "all")
    assert browser.run(seen) == 2


def test_without_scripts_no_control_is_seen(browser, page: Path) -> None:
    with browser.without_scripts():
        browser.open(page)
        assert browser.run("return document.querySelectorAll('button,select,input').length") == 0
        assert browser.run("return controls.getClientRects().length") == 0
        assert names(browser) == ["b|ten", "b|nine", "none", "b|hundred"]
