"""CSV by its letters; `tests/property/test_pages_properties.py` reads it back."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess

import pytest

from analysis.pages.as_markup import (
    escaped,
    guarded,
    numeral,
    render,
    render_latex,
    separate,
    tables_of,
)
from analysis.pages.model import Caution, Column, CommandLine, Page, Section, Sentence, Table, Value

TABLE = Table(
    name="times",
    columns=(Column("", "left"), Column("±"), Column("±"), Column("", "left")),
    rows=(("a", Value("1.5 s", 1.5), Value("", None), "x,y"), ("a", Value("2", 2), "-", '"')),
)
PAGE = Page(
    title="t",
    sections=(Section((Sentence("s"), TABLE, Section((TABLE,), title="the second metric's"))),),
    cautions=(Caution("a-code", "beware", ("a", "b")),),
)


def test_one_long_table():
    lines = render(PAGE).splitlines()
    assert lines[:9] == [
        "table,row,column,text,value",
        "times,a,name,a,",
        "times,a,±,1.5 s,1.5",
        "times,a,± (2),,",
        'times,a,column 4,"x,y",',
        "times,a (2),name,a,",
        "times,a (2),±,2,2",
        "times,a (2),± (2),-,",
        'times,a (2),column 4,"""",',
    ]
    assert lines[9] == "times-2,a,name,a,"
    assert lines[-4:] == [
        "cautions,1,number,1,1",
        "cautions,1,code,a-code,",
        'cautions,1,about,"a, b",',
        "cautions,1,caution,beware,",
    ]


def test_a_file_for_each_table():
    files = separate(PAGE)
    assert list(files) == ["times", "times-2", "cautions"]
    assert files["times"].splitlines() == [
        "name,±,± (text),± (2),± (2) (text),column 4",
        'a,1.5,1.5 s,,,"x,y"',
        'a,2,2,,-,""""',
    ]


def test_a_tables_name_can_be_a_files():
    table = Table(name="../ä b", columns=(Column("x"),), rows=(("1",),))
    assert [t.name for t in tables_of(Page(title="t", sections=(Section((table,)),)))] == ["b"]


@pytest.mark.parametrize(
    "text", ["=1+1", "+x", "-x", "- 1", "@SUM(1)", "\t=1", "\r=1", "+1 %", "--1"]
)
def test_what_begins_like_a_formula_is_guarded(text):
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "x", "1.5", "-1.5", "+2e-05", "-.5", "'=1", "a=b", "±1"])
def test_plain_numbers_and_other_texts_are_not(text):
    assert guarded(text) == text


def test_both_ways_to_write_guard_every_cell_when_asked():
    columns = (Column("=head", "left"), Column("@n"))
    table = Table(name="t", columns=columns, rows=(("=1+1", Value("-1.5", -1.5)),))
    page = Page(title="", sections=(Section((table,)),))
    cells = {cell for text in (render(page), *separate(page).values()) for cell in cells_of(text)}
    assert {"=1+1", "=head", "@n", "-1.5"} <= cells
    assert "=1+1" in cells_of(separate(page)["t"])
    told = (render(page, guard=True), *separate(page, guard=True).values())
    guarded_cells = {cell for text in told for cell in cells_of(text)}
    assert {"'=1+1", "'=head", "'@n", "-1.5"} <= guarded_cells
    assert not any(cell[:1] in {"=", "@"} for cell in guarded_cells)


def cells_of(text):
    return [cell for line in csv.reader(io.StringIO(text)) for cell in line]


# --- LaTeX by its letters: booktabs' rules, siunitx's columns, nothing of a name's is a command


def page(*sections, **more):
    return Page(title="A & B", sections=sections, **more)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gzip-1", "gzip-1"),
        ("a\\b{c}", r"a\textbackslash{}b\{c\}"),
        ("$#&%_^~", r"\$\#\&\%\_\textasciicircum{}\textasciitilde{}"),
        ("±1 µs × 2", r"\ensuremath{\pm}1 \ensuremath{\mu}s \ensuremath{\times} 2"),
        ("née Łódź", "née Łódź"),
        ("日\n", r"\ftUnicode{日}{65E5}\ftUnicode{␊}{240A}"),
        ("Student’s “t”", "Student's ``t''"),
        ("``q'' --", r"{`}{`}q{'}{'} {-}{-}"),
    ],
)
def test_each_sign_is_itself(text, told):
    assert escaped(text) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2.71", r"\num{2.71}"),
        ("1.2e-05", r"\num{1.2e-05}"),
        ("3.0 MB/s", r"\num{3.0}~MB/s"),
        ("-", "{-}"),
        ("> 100", r"{\textgreater{} 100}"),
    ],
)
def test_numbers_are_siunitxs(text, told):
    assert numeral(text) == told


HOSTILE = (
    "\\end{document}",
    "a_b$%&#{}~^\\",
    "[x]",
    "*",
    "日本\n\0",
    "ŉđ§©ß « »",
    "^^M^^5c",
    "?` !`",
)
PAPER = r"""\documentclass{article}
\usepackage{array,booktabs,graphicx,longtable,siunitx}
\begin{document}
\input{report}
END
\end{document}
"""


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
def test_latex_reads_it(tmp_path):
    rows = tuple((text, Value("40.2 ms", 0.04), Value("1.50", 1.5)) for text in HOSTILE)
    columns = (Column("_", "left"), Column("%"), Column("#"))
    sections = [Section((Sentence(text), CommandLine(text)), title=text) for text in HOSTILE]
    told = page(Section((Table(name="a_b", columns=columns, rows=rows),)), *sections)
    (tmp_path / "report.tex").write_text(render_latex(told), "utf-8")
    (tmp_path / "paper.tex").write_text(PAPER)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "paper.tex"]
    done = subprocess.run(
        command, check=False, cwd=tmp_path, capture_output=True, text=True, errors="replace"
    )
    if "siunitx.sty' not found" in done.stdout:
        pytest.skip("LaTeX is not installed")
    assert done.returncode == 0, done.stdout[-2000:]
