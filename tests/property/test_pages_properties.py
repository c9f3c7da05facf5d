"""Whatever the names are, a renderer's marks stay its own, and what was said can be read back.

Authorities: a parser of CommonMark with GitHub's tables (markdown-it), the csv module, and the rules
of TeX's braces and line ends.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from markdown_it import MarkdownIt

from analysis.announcing import cells
from analysis.data.trial import read_trial
from analysis.errors import FairtrialError
from analysis.importers.reader import Reading
from analysis.pages import as_markup, as_text
from analysis.pages.as_markup import escaped
from analysis.pages.model import (
    Caution,
    Column,
    CommandLine,
    Next,
    Note,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    text_of,
)
from analysis.pages.result import short
from analysis.plots.marks import Box, Wanted, placed
from analysis.record.trial_files import FINDINGS, GivenUp
from analysis.report.assembling import assemble
from analysis.report.subject import subject_of
from analysis.verdict.cautions import shown_cautions
from analysis.verdict.gate import gate_verdict
from analysis.verdict.judging import judge
from analysis.verdict.result import Verdict
from analysis.words import Name, shown
from tests.examples import examples
from tests.unit.analysis.conftest import build as synthetic

HOSTILE = st.sampled_from(
    list("|_$%\\&#{}~^<>`*[]()!@\"'-+=:.,/ \n\r\t\0\x1b\u202e\u2028\ud800a1é中…×")
)
TEXT = st.text(st.one_of(HOSTILE, st.characters()), max_size=24)
NAME = TEXT.filter(lambda text: bool(shown(text).strip()))
NUMBER = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**9), 10**9))


@st.composite
def tables(draw, name=NAME):
    width = draw(st.integers(1, 4))
    cell = st.one_of(TEXT, st.builds(Name, TEXT), st.builds(lambda x: Value(f"{x:.3g}", x), NUMBER))
    rows = draw(st.lists(st.tuples(*[cell] * width), max_size=4))
    columns = tuple(
        Column(
            draw(st.sampled_from([str, Name]))(draw(TEXT)), draw(st.sampled_from(["left", "right"]))
        )
        for _ in range(width)
    )
    notes = tuple(draw(TEXT) for _ in rows) if rows and draw(st.booleans()) else ()
    return Table(name=draw(name), columns=columns, rows=tuple(rows), notes=notes)


@st.composite
def pages(draw):
    words = st.tuples(st.just("fairtrial"), NAME)
    block = st.one_of(
        *(st.builds(kind, NAME) for kind in (Sentence, CommandLine, Note)),
        st.builds(Next, words, TEXT),
        tables(),
    )
    section = st.builds(
        Section, st.lists(block, min_size=1, max_size=3).map(tuple), st.one_of(st.just(""), NAME)
    )
    cautions = draw(st.lists(st.builds(Caution, st.just("a-code"), NAME), max_size=2))
    return Page(
        title=draw(NAME),
        sections=tuple(draw(st.lists(section, min_size=1, max_size=3))),
        cautions=tuple(cautions),
        following=tuple(draw(st.lists(section, max_size=1))),
    )


def squeezed(text: str) -> str:
    """Give what a browser shows: spaces at the ends and several in a row do not count."""
    return " ".join(text.split())


class Seen(HTMLParser):
    """What a browser makes of it: rows of cells, blocks of text, and the tags that it met."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self.cell = False

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in {"td", "th"}:
            self.tables[-1][-1].append("")
            self.cell = True

    def handle_data(self, data):
        self.text += data
        if self.cell:
            self.tables[-1][-1][-1] += data

    def handle_endtag(self, tag):
        if tag in {"td", "th"}:
            self.cell = False


OURS = {
    *("h3", "h4", "h5", "h6", "p", "table", "thead", "tbody", "tr", "th"),
    *("td", "pre", "code", "ol", "li", "strong", "br", "sub", "details", "summary"),
}


def read_markdown(text: str) -> Seen:
    seen = Seen()
    seen.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    return seen


def said_in(page: Page) -> list[Table]:
    found = []
    for section in (*page.sections, *page.following):
        found += [block for block in section.blocks if isinstance(block, Table)]
    return found


@settings(max_examples=examples(150), deadline=None)
@given(pages())
def test_markdown_keeps_every_table_and_makes_no_tag_of_a_name(page):
    seen = read_markdown(as_markup.render_markdown(page))
    assert set(seen.tags) <= OURS
    assert len(seen.tables) == len(said_in(page))
    for told, table in zip(seen.tables, said_in(page), strict=True):
        assert {len(row) for row in told} <= {len(table.columns)}
        heads = [column.heading for column in table.columns]
        rows = [[text_of(cell) for cell in row] for row in table.rows]
        for k, note in enumerate(table.notes):
            rows[k][0] = f"{rows[k][0]} {note}" if note else rows[k][0]
        assert len(told) == len(rows) + 1
        for ours, theirs in zip(told, [heads, *rows], strict=True):
            assert [squeezed(a).replace(" ", "") for a in ours] == [
                squeezed(shown(b)).replace(" ", "") for b in theirs
            ]


@settings(max_examples=examples(150), deadline=None)
@given(NAME)
def test_a_sentence_of_markdown_stays_one(text):
    page = Page(title="t", sections=(Section((Sentence(text),)),), cautions=(Caution("c", text),))
    seen = read_markdown(as_markup.render_markdown(page))
    assert seen.tags == ["h3", "p", "p", "strong", "ol", "li"]
    lines = squeezed(seen.text)
    assert lines == squeezed(f"t {shown(text)} Cautions {shown(text)}")


OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


@settings(max_examples=examples(150), deadline=None)
@given(pages())
def test_every_renderer_cleans_every_text_so_that_no_page_needs_to(page):
    forms = (as_text.render, as_markup.render_html, as_markup.render_markdown)
    for text in [form(page) for form in (*forms, as_markup.render_latex, as_markup.render)]:
        assert not OBEYED.search(text)
    assert not OBEYED.search(short(page, page))
    # a line feed of a name begins no line: only ours do
    said = (Section((CommandLine(page.title), Note("a\nb"))),)
    one_line = replace(page, sections=said, cautions=(), following=())
    assert len(as_text.render(one_line).splitlines()) == 2


def cut_table(names, heads):
    rows = tuple((Name(name), *(Value("1234", 1.0) for _ in heads)) for name in names)
    return Table(name="t", columns=columns_of("@benchmark", *map(Name, heads)), rows=rows)


PART = st.text("abcde/-_. \n\u202e中", min_size=1, max_size=30).filter(str.strip)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(PART, min_size=1, max_size=6),
    st.text("xyz/-", max_size=60),
    st.lists(st.text("pqr-", min_size=1, max_size=40), max_size=3),
)
def test_names_in_a_table_are_cut_to_its_room_and_stay_apart(names, shared, heads):
    table = cut_table([shared + name for name in names], heads)
    lines = as_text.render(Page(title="t", sections=(Section((table,)),))).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) == 1 + len(names)  # one line a row
    said = [re.sub(rf"( +1234){{{len(heads)}}}$", "", line).strip() for line in lines[1:]]
    told = {shown(name).strip(): text for name, text in zip(names, said, strict=True)}
    whole = {shown(shared + name) for name in names}
    if max(map(len, whole)) <= 20:  # what fits is whole
        assert {text.strip() for text in whole} == set(said)
        assert not heads or len({*map(cells, lines)}) == 1  # a sign may take two columns
    if len(told) > 1 and all(1 <= len(name) <= 10 for name in told):
        assert len({*told.values()}) == len(told)


def test_what_all_names_share_goes_first_then_headings_are_cut_twice_as_short_as_names():
    # authority: 80 columns; a first column that names things is never cut to nothing (first use, F2)
    def written(names, *heads, form=as_text.render):
        page = Page(title="t", sections=(Section((cut_table(names, heads),)),))
        return [re.split("  +", line) for line in form(page).splitlines()]

    ends = ("deflate_slow", "crc32_z")
    names = [f"suite/with/a/path/that/is/long/{name} (minigzip)" for name in ends]
    head, *rows = written(names, "v" * 30, "w" * 30)
    assert head == ["benchmark", "v" * 30, "w" * 30]
    assert [row[0] for row in rows] == [f"…{name}…" for name in ends]
    head, *rows = written(names, "v" * 60, "w" * 60)
    assert [row[0] for row in rows] == [f"…{name}…" for name in ends]
    assert {len(text) for text in head[1:]} == {31}
    head, *rows = written(names[:1], *["v" * 30] * 4)
    assert (len(rows[0][0]), len(head[1])) == (24, 12)
    markdown = str(written(names, "v" * 90, form=as_markup.render_markdown))
    assert all(name in markdown for name in (*names, "v" * 90))


def test_a_mention_is_none():
    page = Page(title="t", sections=(Section((Sentence("by @somebody"),)),))
    assert "@somebody" not in as_markup.render_markdown(page)
    assert "@somebody" in read_markdown(as_markup.render_markdown(page)).text


def braces_hold(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"(?<!\\)(?:\\\\)*[{}]", re.sub(r"\\[{}]", "", text)):
        depth += 1 if brace[-1] == "{" else -1
        if depth < 0:
            return False
    return depth == 0


BARE = re.compile(r"(?<!\\)[%#$&_^~]")


@settings(max_examples=examples(150), deadline=None)
@given(TEXT)
def test_no_text_is_a_command_of_tex(text):
    told = escaped(text)
    assert braces_hold(told)
    assert not BARE.search(told.replace("~", "") if "\N{NO-BREAK SPACE}" in text else told)
    # only our own commands: whatever follows a backslash is known
    known = (
        r"\\(?:[{}$&%#_,]|text(?:backslash|ascii(?:circum|tilde)|less|greater|bar)\{\}|char34\{\}"
        r"|ensuremath\{(?:\\(?:times|pm|le|ge|approx|mu|cdot|to|infty)|-)\}|ldots\{\}"
        r"|textsuperscript\{2\}|ftUnicode\{)"
    )
    assert "\\" not in re.sub(known, "", told)
    assert not re.search(r"(?<![-–—])--(?!-)|``|''|,,", told.replace("---", "")) or set(
        "–—“”’‘"
    ) & set(text)


@settings(max_examples=examples(100), deadline=None)
@given(pages())
def test_latex_keeps_its_environments_and_the_columns_of_its_tables(page):
    told = as_markup.render_latex(page)
    assert braces_hold(told)
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", told):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    bodies = re.findall(r"\\toprule\n(.*?)\\bottomrule", told, re.DOTALL)
    assert len(bodies) == len(said_in(page))
    for body, table in zip(bodies, said_in(page), strict=True):
        rows = [
            line for line in body.splitlines() if line.endswith(r"\\") and "multicolumn" not in line
        ]
        assert len(rows) == len(table.rows) + 1
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(table.columns) - 1}
        assert not any(row.startswith(("[", "*")) for row in rows)


@settings(max_examples=examples(150), deadline=None)
@given(pages())
def test_csv_gives_back_every_cell_and_every_digit(page):
    told = list(csv.reader(io.StringIO(as_markup.render(page), newline="")))
    assert told[0] == ["table", "row", "column", "text", "value"]
    tables = as_markup.tables_of(page)
    cells = [(t, row, k) for t in tables for row in t.rows for k in range(len(row))]
    assert len(told) == len(cells) + 1
    assert len({tuple(line[:3]) for line in told[1:]}) == len(cells)  # each is found by its names
    for line, (table, row, k) in zip(told[1:], cells, strict=True):
        cell = row[k]
        assert line[0] == table.name
        assert line[3] == shown(text_of(cell))
        if isinstance(cell, Value):
            assert float(line[4]) == cell.value
        else:
            assert line[4] == ""


@settings(max_examples=examples(100), deadline=None)
@given(pages())
def test_a_file_for_each_table_holds_its_rows(page):
    files = as_markup.separate(page)
    tables = as_markup.tables_of(page)
    assert list(files) == [table.name for table in tables]
    for table in tables:
        lines = list(csv.reader(io.StringIO(files[table.name], newline="")))
        assert len(lines) == len(table.rows) + 1
        assert len(set(lines[0])) == len(lines[0])
        assert {len(line) for line in lines} == {len(lines[0])}


def test_entities_are_what_markdown_readers_take_for_signs():
    page = Page(title="t", sections=(Section((Sentence("a < b & c > d $x$"),)),))
    assert unescape("&lt;&gt;&amp;&#36;") == "<>&$"
    assert squeezed(read_markdown(as_markup.render_markdown(page)).text) == "t a < b & c > d $x$"


# --- Texts beside marks: whatever is wanted, what is kept lies over nothing else


names = st.text(max_size=30)
FRAME = Box(0, 0, 330, 330)


points = st.tuples(st.floats(0, 330), st.floats(0, 330))


@given(
    st.lists(st.tuples(points, names, st.integers(0, 3)), max_size=25),
    st.lists(points, max_size=10),
)
def test_texts_in_a_plane_cover_neither_marks_nor_each_other_nor_leave_the_frame(
    labels: list[tuple[tuple[float, float], str, int]], marks: list[tuple[float, float]]
) -> None:
    taken = [Box(x - 4, y - 4, x + 4, y + 4) for x, y in marks]
    wanted = [Wanted(text, x, y, weight) for (x, y), text, weight in labels]
    room = {"size": 11.5, "measure": lambda text: 6.5 * len(text), "distances": (5.0, 9.0, 23.0)}
    found = placed(wanted, frame=FRAME, taken=taken, **room)
    assert len(found) == len(wanted)
    boxes = [one.box for one in found if one is not None]
    assert all(box.within(FRAME) for box in boxes)
    for one, other in itertools.combinations(boxes, 2):
        assert not one.meets(other)
    assert not any(box.meets(mark) for box in boxes for mark in taken)
    assert found == placed(wanted, frame=FRAME, taken=taken, **room)


# --- Four screens show the same cautions of a trial, and none names what a screen does not show
#
# The authority is the policy of the cautions (docs/verdict.md): one list for verdict, gate, compare and report, at
# most three whole sentences that fit 80 columns, about the benchmarks and variants on the screen.


LONGEST = 74
# names that no sentence of ours holds
NAMES = ("qzb", "qzb-" + "long" * 12, "qz{b}", "qzb\N{LATIN SMALL LETTER U WITH DIAERESIS}")
CHECKS = (
    ("load", "3.10 over 1 min on 2 CPUs, 3 other threads runnable now; busiest: make 90 %", "fail"),
    ("gaps", "cpu1 lost 12.00 % of 200 ms to others: 3 gaps, the longest 9.1 ms", "fail"),
    ("steal", "the hypervisor took 12 % of cpu1 during the session", "fail"),
    ("throttle", "slowed down 3 times", "warn"),
    ("kernel_log", "the kernel said something {strange}", "warn"),
    ("environment", "the kernel changed", "warn"),
    ("input", "the file data, an argument of a command, has changed since it was used", "warn"),
    ("drift", "the program gzip has changed", "warn"),
)


@st.composite
def trials(draw: st.DrawFn) -> dict[str, Any]:
    """Draw what a small trial is made of: failures, waiting, things that the host did, a metric of some."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.sampled_from([1, 2, 3, 15]))
    benchmarks = [f"{draw(st.sampled_from(NAMES))}-{k}" for k in range(count)]
    variants = [f"v{draw(st.sampled_from(NAMES))}-{k}" for k in range(draw(st.integers(2, 3)))]
    sessions, runs = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    noise = draw(st.sampled_from([0.0, 0.01, 0.2]))
    size = sessions * runs
    times = {
        v: {b: np.exp(rng.normal(0, noise, size) - 3).tolist() for b in benchmarks}
        for v in variants
    }
    cells = [(b, v) for b in benchmarks for v in variants]
    return {
        "times": times,
        "sessions": sessions,
        "failing": draw(st.sets(st.sampled_from(cells), max_size=3)),
        "often": draw(st.sampled_from([0.2, 1.0])),
        "waiting": draw(st.sets(st.sampled_from(variants))),
        "metered": draw(st.sets(st.sampled_from(benchmarks))),
        "zeros": draw(st.booleans()),
        "given_up": draw(st.sets(st.sampled_from(cells), max_size=2)),
        "checks": draw(st.sets(st.sampled_from(CHECKS), max_size=4)),
        "outputs": draw(st.sets(st.sampled_from(cells), max_size=2)),
        "chance": rng.random(len(cells) * size).tolist(),
    }


def written(drawn: dict[str, Any], path: Path) -> Path:
    """Write the trial, as the runner does."""
    metrics = {"rate": {"unit": "1/s", "better": "higher"}} if drawn["metered"] else {}
    made = synthetic(
        drawn["times"],
        sessions=drawn["sessions"],
        metrics=metrics,
        given_up=tuple(
            GivenUp(benchmark=b, variant=v, session=1, position=1, runs=1, why="exit")
            for b, v in sorted(drawn["given_up"])
        ),
    )
    rows = []
    for row, chance in zip(made.rows, drawn["chance"], strict=True):
        changes: dict[str, Any] = {"disturbed": row.variant in drawn["waiting"] and chance < 0.8}
        if row.benchmark in drawn["metered"]:
            rate = 0.0 if drawn["zeros"] and chance < 0.3 else 100 * (1 + chance / 10)
            changes["metrics"] = {"rate": [rate]}
        if (row.benchmark, row.variant) in drawn["failing"] and chance < drawn["often"]:
            changes |= {"outcome": "exit", "exit_code": 1, "metrics": {}}
        rows.append(replace(row, **changes))
    made.rows = rows
    notes = [
        {"session": 1, "when": when, "check": check, "status": status, "what": what}
        for check, what, status in sorted(drawn["checks"])
        for when in (["resume"] if check == "drift" else ["before", "during"])
    ]
    notes += [
        {
            "session": 1,
            "when": "during",
            "check": "output",
            "status": "warn",
            "what": f"{b} / {v} wrote another output than before",
        }
        for b, v in sorted(drawn["outputs"])
    ]
    made.extra[FINDINGS] = b"".join(json.dumps(one).encode() + b"\n" for one in notes)
    return Path(made.write(path))


def notes_of(page: Page) -> list[str]:
    """Give the notes below an answer, without the numbers that rows bear."""
    blocks = [block for section in (*page.sections, *page.following) for block in section.blocks]
    texts = [block.text for block in blocks if isinstance(block, Note)]
    plain = [text.partition("] ")[2] if text.startswith("[") else text for text in texts]
    return [text for text in plain if not text.startswith("and ")]


def reported(path: Path, metric: str) -> list[str]:
    """Give the codes of the cautions that stand open on the report's first screen."""
    subject = subject_of([str(path)], Reading(metric=metric), explain=False)
    return [caution.code for caution in assemble([subject]).shown]


def names_shown(verdict: Verdict) -> set[str]:
    found = {verdict.data.baseline, *(one.variant for one in verdict.candidates)}
    for one in verdict.candidates:
        found |= {line.name for line in one.multilevel.benchmarks} if one.multilevel else set()
    return found


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(drawn=trials(), metric=st.sampled_from(["wall", "rate", "max_rss"]), only=st.booleans())
def test_four_screens_say_the_same_of_what_they_show(
    drawn: dict[str, Any], metric: str, only: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = written(drawn, tmp_path_factory.mktemp("trials") / "trial")
    trial = read_trial(path)
    asked = {"benchmarks": [trial.manifest.benchmarks[0]]} if only else {}
    try:
        verdict = judge(trial, metric=metric, **asked)
    except FairtrialError:  # nothing that counts: no screen
        return
    told = shown_cautions(verdict)
    texts = [one.text for one in told.cautions]
    assert len(texts) <= 3
    assert all(0 < len(text) <= LONGEST and "\n" not in text for text in texts), texts
    everything = {*trial.manifest.benchmarks, *trial.manifest.variants}
    shown = names_shown(verdict) if verdict.compared or verdict.alone else everything  # to say why
    for one in told.cautions:
        assert one.short is not None
        assert set().union(*one.short.slots) <= shown | {metric}
        for name in everything - shown if one.code != "benchmarks-of-one-side" else ():
            assert not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", one.text)
    assert notes_of(verdict.screen()) == texts
    if any(one.multilevel for one in verdict.candidates):
        gated = gate_verdict(verdict, "worse>2%")
        own = [str(one.short) for one in gated.cautions if one.code == "gate-without"]
        assert notes_of(gated.screen()) == own + texts
    if not asked:
        codes = [one.code for one in told.cautions]
        assert reported(path, metric) == codes
