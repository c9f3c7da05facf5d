"""No number can differ between the forms of a report: all of them are read back and compared.

The authority for the numbers is ``verdict --json`` on the same trial; for what a form says, a reader
of that form that knows nothing of ours.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from markdown_it import MarkdownIt

from analysis.importers.reader import Reading
from analysis.pages import (
    as_markup as as_csv,
    as_markup as as_latex,
    as_markup as as_markdown,
    as_text,
)
from analysis.pages.model import Page, Table, Value
from analysis.report.assembling import Report, assemble, brief_page, html_page
from analysis.report.subject import subjects_of
from analysis.words import shown

SAMPLE = str(Path(__file__).resolve().parents[4] / "tests" / "data" / "sample-0.2.0")


ALONE = "a,1.0,1.1,0.9,1.2\nb,2.0,2.1,2.2,1.9\n"


@pytest.fixture(scope="module", params=["trial", "two sides", "one file"])
def report(request, tmp_path_factory) -> Report:
    if request.param == "one file":
        file = tmp_path_factory.mktemp("alone") / "m.csv"
        file.write_text(ALONE)
        return assemble(subjects_of([str(file)], Reading(better="lower")))
    if request.param == "two sides":
        return assemble(subjects_of([f"{SAMPLE}:gzip-1", f"{SAMPLE}:gzip-6"], Reading()))
    return assemble(subjects_of([SAMPLE], Reading(), ["wall", "user"]))


@pytest.fixture(scope="module")
def page(report) -> Page:
    return report.screen()


@pytest.fixture(scope="module")
def tables(page) -> list[Table]:
    """All tables but that of the cautions, which are a list in most forms."""
    return [table for table in as_csv.tables_of(page) if table.name != "cautions"]


def text_of(cell) -> str:
    return shown(cell if isinstance(cell, str) else cell.text)


def bare(text: str) -> str:
    """Leave out what typesetting adds or takes: the kinds and numbers of spaces."""
    return re.sub(r"\s+", "", text)


def grids(tables) -> list[list[list[str]]]:
    return [[[bare(text_of(cell)) for cell in row] for row in table.rows] for table in tables]


def test_csv_says_what_the_page_says(page, tables):
    lines = list(csv.DictReader(io.StringIO(as_csv.render(page))))
    cells = [(t.name, cell) for t in tables for row in t.rows for cell in row]
    told = [line for line in lines if line["table"] != "cautions"]
    assert len(told) == len(cells)
    for line, (name, cell) in zip(told, cells, strict=True):
        assert (line["table"], line["text"]) == (name, text_of(cell))
        number = cell.value if isinstance(cell, Value) else None
        assert (float(line["value"]) if line["value"] else None) == number


class Cells(HTMLParser):
    """The rows of all tables, and all text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[str]]] = []
        self.open = False
        self.skip = 0
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.skip += tag in {"script", "style", "sub"}
        if tag == "table":
            self.tables.append([])
        if tag == "tr" and self.tables:
            self.tables[-1].append([])
        if tag in {"td", "th"}:
            self.tables[-1][-1].append("")
            self.open = True

    def handle_endtag(self, tag):
        self.skip -= tag in {"script", "style", "sub"}
        if tag in {"td", "th"}:
            self.open = False

    def handle_data(self, data):
        if self.skip:
            return
        self.text.append(data)
        if self.open:
            self.tables[-1][-1][-1] += data


def test_markdown_says_what_the_page_says(page, tables):
    reader = Cells()
    reader.feed(
        MarkdownIt("commonmark", {"html": True})
        .enable("table")
        .render(as_markdown.render_markdown(page))
    )
    told = [[[bare(cell) for cell in row] for row in table[1:]] for table in reader.tables]
    assert told == grids(tables)


SIGNS = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\char34{}": '"',
    r"\ldots{}": "…",
    r"\ensuremath{\times}": "×",
    r"\ensuremath{\pm}": "±",
    r"\ensuremath{\mu}": "µ",
    r"\ensuremath{\cdot}": "·",
    r"\ensuremath{\le}": "≤",
    r"\ensuremath{\ge}": "≥",
    r"\ensuremath{\approx}": "≈",
    r"\ensuremath{\to}": "→",
    r"\ensuremath{\infty}": "∞",
    r"\textsuperscript{2}": "²",
    r"\ensuremath{-}": "−",
    r"\milli\second": "ms",
    r"\micro\second": "µs",
    r"\nano\second": "ns",
    r"\second": "s",
    r"\percent": "%",
}


def as_typed(text: str) -> str:
    """Write a text with the signs that LaTeX has for it."""
    for sign, typed in (("μ", "µ"), ("’", "'"), ("“", "``"), ("”", "''")):
        text = text.replace(sign, typed)
    return text


def unset(tex: str) -> str:
    """Read a cell of LaTeX as a person reads it."""
    for sign, text in SIGNS.items():
        tex = tex.replace(sign, text)
    tex = re.sub(r"\\ftUnicode\{(.)\}\{[0-9A-F]+\}", r"\1", tex)
    tex = re.sub(r"\\(?:SI|num)\b", "", tex).replace("---", "—").replace("--", "–")
    return bare(re.sub(r"(?<!\\)[{}~]", "", tex.replace(r"\,", "")).replace("\\", ""))


def test_latex_says_what_the_page_says(page, tables):
    bodies = re.findall(r"\\toprule\n(.*?)\\bottomrule", as_latex.render_latex(page), re.DOTALL)
    assert len(bodies) == len(tables)
    for body, table, grid in zip(bodies, tables, grids(tables), strict=True):
        lines = [
            line for line in body.splitlines() if line.endswith(r"\\") and "multicolumn" not in line
        ]
        told = [[unset(cell) for cell in re.split(r"(?<!\\)&", line[:-2])] for line in lines]
        expected = [[as_typed(cell) for cell in row] for row in grid]
        assert told[1 if table.headed else 0 :] == expected


def test_the_terminal_says_what_the_page_says(report):
    lines = as_text.render(brief_page(report)).splitlines()
    for brief in report.briefs:
        for one in brief["candidates"]:
            for row in one["rows"]:
                numbers = (row[key].text for key in ("speedup", "low", "high"))
                parts = (row["label"], *numbers, row["word"])
                pattern = r"\s+(?:.*\s)?".join(re.escape(part) for part in parts if part)
                assert any(re.match(rf"\s*{pattern}", line) for line in lines), row


SCALES = {"": 1.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "%": 1e-2}


def test_each_number_is_written_as_it_is(tables):
    count = 0
    for table in tables:
        for row in table.rows:
            for column, cell in zip(table.columns, row, strict=True):
                if isinstance(cell, str) or cell.value is None:
                    continue
                found = re.fullmatch(r"([-+]?\d+(?:\.(\d+))?)(?:\s(\S+))?", cell.text)
                if found is None or (found[3] or "") not in SCALES:
                    continue
                scale = SCALES[found[3] or ""]
                step = scale * 10.0 ** -len(found[2] or "")
                apart = abs(float(found[1]) * scale - cell.value) / step
                far = 1.0 if column.heading.endswith((" from", "to")) else 0.5  # outward
                assert apart <= far + 1e-4, (table.name, cell)
                count += 1
    assert count >= 2


def test_the_page_in_a_browser_holds_the_same_strings(report):
    if not any(chapter.name == "answer" for chapter in report.chapters):
        return
    reader = Cells()
    reader.feed(html_page(report))
    rows = [bare(" ".join(row)) for table in reader.tables for row in table]
    for brief in report.briefs:
        for one in brief["candidates"]:
            for row in one["rows"]:
                numbers = (row[key].text for key in ("speedup", "low", "high"))
                texts = [bare(text) for text in numbers if text]
                held = [told for told in rows if all(text in told for text in texts)]
                assert held, (one["variant"], row)
                if row["candidate"] is not None:
                    assert any(bare(row["label"]) in told for told in held), (one["variant"], row)


EVIL = '"><img src=x onerror=alert(1)></pre></table></script><script>alert(1)</script>{{7*7}}]]>&amp;\u202e\x1b[31m'


@pytest.fixture(scope="module")
def hostile(synthetic, tmp_path_factory) -> Report:
    """Report on three variants that others named, of which a run failed."""
    rng = np.random.default_rng(1)
    data = {
        name: {b: (f * np.exp(rng.normal(0, 0.01, 12))).tolist() for b in (EVIL, "n" * 200, "c")}
        for name, f in ((f"old {EVIL}", 1.0), (f"new {EVIL}", 0.5), ("<i>slow", 1.6))
    }
    made = synthetic(data, sessions=4, campaign_path=f"/x/{EVIL}.yaml", targets={EVIL: "ab"})
    (at, *_) = (k for k, row in enumerate(made.rows) if row.benchmark == EVIL and row.session == 2)
    made.rows[at] = replace(made.rows[at], outcome="exit", exit_code=1)
    made.extra["campaign.yaml"] = f"name: x # {EVIL}\n".encode()
    made.extra[f"outputs/{at:04d}.stderr"] = EVIL.encode()
    path = made.write(tmp_path_factory.mktemp("hostile") / "<script>t")
    return assemble(subjects_of([str(path)], Reading()), sources=True)


class Elements(HTMLParser):
    """The elements of a page, which close in order, and the words in each."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.kinds: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[tuple[str, str]] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.kinds.append(tag)
        self.attributes += attrs
        if tag not in {"br", "col", "img", "input", "link", "meta"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.words.append(("".join(self.open[-1:]), data))

    @property
    def text(self) -> str:
        return bare("".join(words for _, words in self.words)).replace("\N{MINUS SIGN}", "-")


CHAPTERS = ["answer", "parts", "panel", "suite", "variation", "happened", "conditions", "paper"]


def test_names_of_others_are_text_in_every_chapter(hostile):
    assert [chapter.name for chapter in hostile.chapters] == CHAPTERS
    page = html_page(hostile)
    found = Elements(page)
    assert not {"i", "img"} & set(found.kinds)
    assert found.kinds.count("script") == 2  # our own, and the values
    assert not [key for key, _ in found.attributes if key.startswith("on")]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", page)
    assert bare(f"old {shown(EVIL)}") in found.text
    assert "<i>slow" in found.text
    assert "U+202E" in page
    assert {tag for tag, words in found.words if "n" * 60 in words} <= {"caption"}


def test_every_cell_stands_on_the_page_in_a_browser(hostile):
    text = Elements(html_page(hostile)).text.replace("×", "x")
    tables = {table.name: table for table in as_csv.tables_of(hostile.screen())}
    drawn = ("speedups", "answer", "panel", "cautions")
    read = [name for name in tables if not name.startswith(drawn)]
    assert {"parts-runs", "suite-ranks", "conditions"} <= set(read)
    assert {"differed", "failed", "provenance", "variation-components"} <= set(read)
    for name in read:
        for cell in (text_of(cell) for row in tables[name].rows for cell in row):
            is_short = shown(EVIL) in cell or "n" * 60 in cell  # on the page
            assert is_short or bare(cell) in text, (name, cell)


def test_no_form_writes_what_is_no_number(page, report):
    for form in (
        as_csv.render(page),
        as_markdown.render_markdown(page),
        as_latex.render_latex(page),
        as_text.render(page),
    ):
        assert not re.search(r"\b(nan|inf|None)\b", form)
    json.dumps(report.to_dict(), allow_nan=False)
    assert math.isfinite(report.briefs[0]["level"].value or math.nan)
