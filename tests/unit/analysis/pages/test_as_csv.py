"""CSV by its letters; `tests/property/test_renderer_properties.py` reads it back."""

from __future__ import annotations

import csv
import io

import pytest

from analysis.pages.as_markup import guarded, render, separate, tables_of
from analysis.pages.model import Caution, Column, Page, Section, Sentence, Table, Value

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
