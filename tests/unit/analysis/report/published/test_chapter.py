"""The panel as HTML. Authorities: the design, HTML (ids, tables), the chapter's own values."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from analysis.pages.model import Section, Table, Value
from analysis.report.assembling import chapter_html
from analysis.report.published import chapter as published
from analysis.report.published_answers import MethodAnswer, Ratio, axis_of


class Read(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def every(self, tag: str) -> list[dict[str, str]]:
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture
def chapter(judged):
    return published(judged())


def test_an_interval_that_leaves_the_axis_ends_in_an_arrow():
    # the line for other benchmarks may reach as far again as all else lies apart, and no farther
    near = MethodAnswer(candidate="new", value=Ratio("1.10", 1.1), low=Ratio("1.05", 1.05))
    wide = replace(near, high=Ratio("9.00", 9.0), low=Ratio("0.10", 0.1))
    _, rows = axis_of({"these": replace(near, high=Ratio("1.15", 1.15)), "similar": wide})
    assert (rows["these"].count("<path"), rows["similar"].count("<path")) == (0, 2)


def test_every_number_of_the_rows_is_on_the_page(chapter):
    text = "".join(Read(str(chapter_html(chapter))).text).replace("\u00a0", " ")
    for row in chapter["rows"]:
        for answer in row["answers"]:
            for piece in (*answer.first, *answer.second):
                assert (piece if isinstance(piece, str) else piece.text).strip() in text


def test_cells_sort_by_their_numbers(chapter):
    page = Read(str(chapter_html(chapter)))
    sortable = [attrs for attrs in page.every("table") if "sortable" in attrs.get("class", "")]
    assert len(sortable) == sum(
        len(one["tables"]) for path in chapter["paths"] for one in path["methods"]
    )
    found = re.findall(r'<td(?: data-sort="([^"]*)")?>([^<]*)</td>', str(chapter_html(chapter)))
    values = [
        cell
        for path in chapter["paths"]
        for one in path["methods"]
        for table in one["tables"]
        for row in table["table"].rows
        for cell in row
        if isinstance(cell, Value)
    ]
    assert len(found) == len(values)
    for (sort, said), cell in zip(found, values, strict=True):
        if cell.value is None:
            assert (sort, said) == ("", "")
        else:  # a bare number sorts as it stands, as exactly as it is written
            assert float(sort or said) == pytest.approx(cell.value, rel=0.01, abs=0.0006)


def tables(block):
    if isinstance(block, Table):
        yield block
    if isinstance(block, Section):
        for one in block.blocks:
            yield from tables(one)


def test_the_other_renderers_hold_the_same_values(chapter):
    (section,) = chapter.sections()
    found = list(tables(section))
    for place, table in enumerate(found[: len(chapter["candidates"])]):
        answers = [row["answers"][place] for row in chapter["rows"]]
        heads = [column.heading for column in table.columns]
        for head, field in (("value", "value"), ("low", "low"), ("p", "pvalue")):
            column = [row[heads.index(head)] for row in table.rows]
            expected = [getattr(answer, field) for answer in answers]
            assert [(c.text, c.value) for c in column] == [
                ("", None) if one is None else (one.text, one.value) for one in expected
            ]
    kept = [
        one["table"]
        for path in chapter["paths"]
        for way in path["methods"]
        for one in way["tables"]
    ]
    assert found[len(chapter["candidates"]) :] == kept
    assert all(
        isinstance(cell, (str, Value)) for table in found for row in table.rows for cell in row
    )


@pytest.mark.parametrize(("failing", "first"), [(None, 0), ("quick", 1), ("again", 0)])
def test_the_axis_is_of_the_first_candidate_that_has_numbers(judged, failing, first):
    chapter = published(judged(change=lambda made: made.fail(lambda row: row.variant == failing)))
    assert chapter["candidates"] == ("quick", "again")
    assert chapter.drawn()["first"] == first
    page = Read(str(chapter_html(chapter)))
    assert {"svg"} <= {tag for tag, _ in page.tags}
