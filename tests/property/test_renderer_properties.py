"""Whatever the names are, a renderer's marks stay its own, and what was said can be read back.

Authorities: a parser of CommonMark with GitHub's tables (markdown-it), the csv module, and the rules
of TeX's braces and line ends.
"""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from html.parser import HTMLParser

from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from analysis.pages import as_markup as as_csv, as_markup as as_latex, as_markup as as_markdown
from analysis.pages.as_markup import escaped
from analysis.pages.model import Caution, Column, CommandLine, Page, Section, Sentence, Table, Value
from analysis.words import shown
from tests.examples import examples

HOSTILE = st.sampled_from(
    list("|_$%\\&#{}~^<>`*[]()!@\"'-+=:.,/ \n\r\t\0\x1b\u202e\u2028\ud800a1é中…×")
)
TEXT = st.text(st.one_of(HOSTILE, st.characters()), max_size=24)
NAME = TEXT.filter(lambda text: bool(shown(text).strip()))
NUMBER = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**9), 10**9))


@st.composite
def tables(draw, name=NAME):
    width = draw(st.integers(1, 4))
    cell = st.one_of(TEXT, st.builds(lambda x: Value(f"{x:.3g}", x), NUMBER))
    rows = draw(st.lists(st.tuples(*[cell] * width), max_size=4))
    columns = tuple(
        Column(draw(TEXT), draw(st.sampled_from(["left", "right"]))) for _ in range(width)
    )
    notes = tuple(draw(TEXT) for _ in rows) if rows and draw(st.booleans()) else ()
    return Table(name=draw(name), columns=columns, rows=tuple(rows), notes=notes)


@st.composite
def pages(draw):
    block = st.one_of(st.builds(Sentence, NAME), st.builds(CommandLine, NAME), tables())
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


def text_of(cell) -> str:
    return cell if isinstance(cell, str) else cell.text


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


OURS = frozenset(
    [
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "pre",
        "code",
        "ol",
        "li",
        "strong",
        "br",
        "sub",
        "details",
        "summary",
    ]
)


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
    seen = read_markdown(as_markdown.render_markdown(page))
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
    seen = read_markdown(as_markdown.render_markdown(page))
    assert seen.tags == ["h3", "p", "p", "strong", "ol", "li"]
    lines = squeezed(seen.text)
    assert lines == squeezed(f"t {shown(text)} Cautions {shown(text)}")


def test_a_mention_is_none():
    page = Page(title="t", sections=(Section((Sentence("by @somebody"),)),))
    assert "@somebody" not in as_markdown.render_markdown(page)
    assert "@somebody" in read_markdown(as_markdown.render_markdown(page)).text


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
    told = as_latex.render_latex(page)
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
    told = list(csv.reader(io.StringIO(as_csv.render(page), newline="")))
    assert told[0] == ["table", "row", "column", "text", "value"]
    tables = as_csv.tables_of(page)
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
    files = as_csv.separate(page)
    tables = as_csv.tables_of(page)
    assert list(files) == [table.name for table in tables]
    for table in tables:
        lines = list(csv.reader(io.StringIO(files[table.name], newline="")))
        assert len(lines) == len(table.rows) + 1
        assert len(set(lines[0])) == len(lines[0])
        assert {len(line) for line in lines} == {len(lines[0])}


def test_entities_are_what_markdown_readers_take_for_signs():
    page = Page(title="t", sections=(Section((Sentence("a < b & c > d $x$"),)),))
    assert unescape("&lt;&gt;&amp;&#36;") == "<>&$"
    assert squeezed(read_markdown(as_markdown.render_markdown(page)).text) == "t a < b & c > d $x$"
