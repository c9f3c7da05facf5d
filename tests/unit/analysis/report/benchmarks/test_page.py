"""The chapter in words: the same values as the pictures', one line a benchmark and variant."""

from __future__ import annotations

import json

import pytest

from analysis.pages import as_text
from analysis.pages.model import Page, Table, Value
from analysis.report.benchmarks.gather import gather
from analysis.report.chapter import html_of, sections_of

NAMES = {name: float(k + 1) for k, name in enumerate("abcdef")}


@pytest.fixture
def parts(made):
    matrix, subject = made
    found = gather(subject(matrix("new", NAMES, seed=2), matrix("old", NAMES)))
    assert found is not None
    return found


def tables(parts) -> dict[str, Table]:
    (section,) = sections_of(parts)
    return {block.name: block for block in section.blocks if isinstance(block, Table)}


def test_a_line_for_each_benchmark_and_variant(parts) -> None:
    rows = tables(parts)["parts-runs"].rows
    assert [(row[0], row[1]) for row in rows] == [
        (part.name, variant) for part in parts.benchmarks for variant in ("old", "new")
    ]
    assert all(row[2] == Value("40", 40) for row in rows)


def test_every_number_of_the_tables_stands_on_the_page(parts) -> None:
    text = str(html_of(parts))
    for row in tables(parts)["parts-runs"].rows:
        assert all(cell.text in text for cell in row if isinstance(cell, Value))


def test_session_values_and_quantiles_of_open_parts(parts) -> None:
    found = tables(parts)
    opened = [part for part in parts.benchmarks if part.opened]
    assert len(found["parts-sessions"].rows) == 5 * len(opened)
    assert len(found["parts-quantiles"].rows) == 9 * len(opened)


def test_text_is_as_wide_as_a_screen(parts) -> None:
    text = as_text.render(Page(title="parts", sections=sections_of(parts)))
    assert "a  " in text
    assert "new is" in text


def test_json_holds_the_values_and_no_places(parts) -> None:
    told = parts.to_dict()
    text = json.dumps(told)
    assert "plot" not in text
    first, given = told["benchmarks"][0], parts.benchmarks[0]
    assert first["name"] == given.name
    assert first["variants"][1]["mean"]["value"] == given.variants[1].mean.value
    assert [one["session"] for one in first["candidates"][0]["by_session"]] == list("12345")
    assert len(first["candidates"][0]["shift"]) == 9
