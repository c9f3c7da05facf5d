"""The report in Chromium, of trials of many shapes: what must hold for each of our pages.

Authorities: the design (widths, dark, print, no labels that overlap), axe-core, vnu, CSP level 3.
"""

from __future__ import annotations

import io
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.record.manifest import about_quantile
from harness.cli import main

TESTS = Path(__file__).resolve().parents[2]
SAMPLE = TESTS.parent / "tests" / "data" / "sample-0.2.0"


def load(path: str) -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(TESTS / path)))


chromium = load("nightly/browser/chromium.py")
sys.path.append(str(TESTS / "benchmarks"))  # what that program imports
big = load("benchmarks/report.py")
hostile = load("nightly/browser/hostile.py")
profiled = load("profiled.py")
build = load("unit/analysis/conftest.py").build

Kind = Callable[[Path], list[str]]


def made(write: Callable[..., None], *design: object) -> Kind:
    def kind(folder: Path) -> list[str]:
        write(folder / "trial", *design)
        return [str(folder / "trial")]

    return kind


def sides(_: Path) -> list[str]:
    return [f"{SAMPLE}:gzip-1", f"{SAMPLE}:gzip-6"]


def matrices(folder: Path) -> list[str]:
    for name, slower in (("new", 0), ("old", 3)):
        rows = (
            f"b{k}, {', '.join(str(10 + k + slower + (7 * j) % 5) for j in range(12))}"
            for k in range(6)
        )
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    return [str(folder / "new.csv"), str(folder / "old.csv"), "--better", "lower"]


def explained(folder: Path) -> list[str]:
    shutil.copytree(SAMPLE, folder / "sample")
    profiled.profile_beside(folder / "sample", build, variant="gzip-1", benchmarks=("text", "logs"))
    return [str(folder / "sample"), "--sources"]


def latencies(folder: Path) -> list[str]:
    """Judge the p99 of three variants, of which each run printed 500 values."""
    rng = np.random.default_rng(20261127)
    about = {"unit": "ms", "better": "lower"}
    metrics = {"latency": about, "latency.p99": about_quantile("ms", "lower", "latency", 0.99)}
    names = {"plain": 1.0, "gzip": 1.3, "a-variant-with-quite-a-long-name-of-its-own": 4.0}
    trial = build(
        {name: {"get": [1.0] * 6, "set": [1.0] * 6} for name in names}, sessions=3, metrics=metrics
    )
    for k, row in enumerate(trial.rows):
        values = names[row.variant] * rng.lognormal(0, 0.6, 500)
        quantile = float(np.quantile(values, 0.99, method="inverted_cdf"))
        told = {"latency": tuple(values.tolist()), "latency.p99": (quantile,)}
        trial.rows[k] = replace(row, metrics=told)
    trial.write(folder / "latencies")
    return [str(folder / "latencies"), "--metric", "latency.p99"]


def hostile_functions(folder: Path) -> list[str]:
    """Explain the hostile trial by functions with hostile names; one profile is of nothing that is there."""
    (trial,) = made(hostile.write)(folder)
    names = [name.replace("@", "") for name in (*hostile.HOSTILE, hostile.LONG)]
    calls = {
        ("main@app", *(f"{one}@app" for one in names[: k + 1])): (3.0, 4.0 + k) for k in range(9)
    }
    calls |= {(f"{one}@{one}",): (2.0, 2.0) for one in names}
    variant = hostile.VARIANTS["gzip-1"]
    profiled.profile_beside(Path(trial), build, variant=variant, calls=calls)
    (folder / "trial.why" / hostile.HOSTILE[1]).mkdir()
    return [trial, "--sources"]


KINDS: dict[str, Kind] = {
    "sample": lambda _: [str(SAMPLE)],
    "hostile": made(hostile.write),
    "sources and functions of the sample": explained,
    "sources and functions of hostile names": hostile_functions,
    "two sides": sides,
    "matrix files": matrices,
    "one file": lambda folder: [matrices(folder)[0], "--better", "lower"],
    "two metrics": lambda _: [str(SAMPLE), "--metric", "wall,max_rss"],
    "quantiles of sessions": latencies,
    "32 benchmarks": made(big.write, big.Design(32, 3, 3, 2)),
    "6 variants": made(big.write, big.Design(7, 6, 3, 6)),
    "4 variants on 8 benchmarks": made(big.write, big.Design(8, 4, 6, 8)),
    "30 sessions": made(big.write, big.Design(5, 2, 30, 3)),
    "62 benchmarks": made(big.write, big.Design(62, 2, 3, 2)),
}

# what these show is on other pages, too: the same page with one more chapter, or with more variants
ELSEWHERE = {"sample", "hostile", "4 variants on 8 benchmarks"}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the page of a kind; each is made once."""
    known: dict[str, Path] = {}

    def page(kind: str) -> Path:
        if kind not in known:
            folder = tmp_path_factory.mktemp("report")
            known[kind] = folder / "report.html"
            said = io.StringIO()
            words = ["report", *KINDS[kind](folder), "-o", str(known[kind])]
            assert main(words, io.StringIO(), said) == 0, said.getvalue()
        return known[kind]

    return page


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ELSEWHERE])
def test_the_page_holds_in_every_way_it_is_looked_at(browser, report, kind: str) -> None:
    found = browser.holds(report(kind))
    assert not found, "\n".join(found)


def test_a_link_to_a_folded_chapter_or_into_it_opens_it(browser, report) -> None:
    page = report("sample").as_uri()
    folded = "return [...document.querySelectorAll('section>.chapter')].map(d => d.open)"
    browser.open(report("sample"))
    assert browser.run(folded) == [False] * 5
    for place, number in (("panel", 0), ("paper-commands", 4)):
        browser.driver.get("about:blank")
        browser.driver.get(f"{page}#{place}")
        assert browser.run(folded) == [k == number for k in range(5)]


def test_four_variants_on_eight_benchmarks_take_six_screens(browser, report) -> None:
    for width in (900, 1600):
        browser.width(width, 900)
        browser.open(report("4 variants on 8 benchmarks"))
        assert browser.run("return document.documentElement.scrollHeight") <= 6 * 900
        browser.unfold()
        assert browser.run("return document.documentElement.scrollHeight") > 6 * 900


@pytest.fixture(scope="module")
def complaints(report) -> dict[str, list[str]]:
    """Give what the validator says of each kind: it is started once, which is what takes long."""
    if shutil.which("java") is None:
        pytest.skip("no Java is installed")
    pages = {kind: report(kind) for kind in KINDS}
    found = chromium.invalid(*pages.values())
    return {kind: found[page] for kind, page in pages.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_is_valid_html(complaints, kind: str) -> None:
    assert not complaints[kind], "\n".join(complaints[kind])


@pytest.mark.parametrize(("wide", "high"), [(8.27, 11.69), (8.5, 11)], ids=["A4", "Letter"])
def test_the_page_is_printed(browser, report, wide: float, high: float) -> None:
    browser.open(report("sample"))
    pdf = browser.printed(wide=wide, high=high)
    assert pdf.startswith(b"%PDF")
    assert 2 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type/Page/") <= 12


def test_nothing_foreign_is_executed(browser, report) -> None:
    page = report("hostile")
    text = page.read_text("utf-8")
    for lax in (False, True):  # without the policy as well: escaping alone must hold
        if lax:
            page = page.with_name("lax.html")
            policy = text.index("<meta http-equiv")
            page.write_text(text[:policy] + text[text.index(">", policy) + 1 :], "utf-8")
        watch = browser.tell(
            "Page.addScriptToEvaluateOnNewDocument",
            source="window.alert = () => { window.executed = true }",
        )
        browser.open(page)
        browser.unfold()
        assert not browser.run("return window.executed")
        assert browser.console() == []
        assert browser.requests() == []
        found = (
            "return document.querySelectorAll('img, iframe, object, [onload], [onerror]').length"
        )
        assert browser.run(found) == 0
        kinds = browser.run("return [...document.scripts].map(s => s.type)")
        assert sorted(set(kinds)) in (["", "application/json"], [""])
        assert kinds.count("") == 1
        browser.tell("Page.removeScriptToEvaluateOnNewDocument", identifier=watch["identifier"])
    for word in ("49}", "\x1b", "\x00", "\u202e", "\u2066"):
        assert word not in text
    assert "{{7*7}}" in text
    assert "U+202E" in text


def test_the_size_of_a_page_stays_small(report) -> None:
    # the figures of the large trials (tests/benchmarks/report.py) are 5 MB for 40 x 300 x 3 and 10 MB
    # for 500 x 30 x 2; what does not grow with the runs must leave room for them
    assert report("sample").stat().st_size < 500_000
    assert report("32 benchmarks").stat().st_size < 1_500_000
    assert report("62 benchmarks").stat().st_size < 1_500_000


def test_the_same_trial_gives_the_same_bytes(report, tmp_path: Path) -> None:
    # in another process, with another order of sets
    again = tmp_path / "again.html"
    words = ["report", str(report("hostile").parent / "trial"), "-o", str(again)]
    subprocess.run(
        [sys.executable, "-m", "harness", *words],
        cwd=TESTS.parent,
        env=os.environ | {"PYTHONHASHSEED": "4711"},
        check=True,
        capture_output=True,
    )
    assert again.read_bytes() == report("hostile").read_bytes()
