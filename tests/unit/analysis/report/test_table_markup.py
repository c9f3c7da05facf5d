"""A table of plain cells as HTML: headings for those who hear it, numbers for those who sort."""

from __future__ import annotations

from analysis.pages.model import Column, Table, Value
from analysis.report.table_markup import table_html

EVIL = "<script>alert(1)</script>"


def test_cells_are_escaped_isolated_and_sortable():
    table = Table(
        name="t",
        columns=(Column("name", "left"), Column(EVIL)),
        rows=((EVIL, Value("1.50", 1.5)), ("x", Value("", None))),
        notes=(EVIL, ""),
    )
    html = str(table_html(table, f'a "{EVIL}"'))
    assert "<script" not in html
    assert html.count('<th scope="col"') == 2
    assert html.count('<th scope="row"') == 2
    assert '<td class="right" data-sort="1.5">1.50</td>' in html
    assert '<td class="right"></td>' in html
    assert "<bdi>&lt;script&gt;" in html
    assert "<caption" in html
    assert html.count('class="note"') == 1


def test_a_table_of_labelled_lines_has_no_head():
    table = Table(name="t", columns=(Column("a"), Column("b")), rows=(("x", "y"),), headed=False)
    assert "<thead" not in table_html(table, "facts")
