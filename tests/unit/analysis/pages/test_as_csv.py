"""CSV by its letters; `tests/property/test_renderer_properties.py` reads it back."""

from __future__ import annotations

from analysis.pages.as_csv import render, separate, tables_of
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
