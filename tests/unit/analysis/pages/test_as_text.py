from __future__ import annotations

from typing import Any

import pytest

from analysis.pages.as_text import render
from analysis.pages.model import Caution, Column, CommandLine, Page, Section, Sentence, Table, Value


def page(*sections: Section, **more: Any) -> Page:
    return Page(title="t", sections=sections, **more)


def table(**more: Any) -> Table:
    columns = (Column("", "left"), Column("time"))
    rows = (("a", Value("1.5", 1.5)), ("bcd", "10"))
    return Table(name="times", columns=columns, rows=rows, **more)


def test_what_follows_comes_after_the_numbered_cautions() -> None:
    cautions = (Caution("x", "word " * 30), Caution("y", "b"))
    text = render(
        page(
            Section((Sentence("S."),)),
            cautions=cautions,
            following=(Section((CommandLine("do " * 50),), title="next"),),
        ),
        width=40,
    )
    answer, told, following = text.split("\n\n")
    lines = told.splitlines()
    assert (lines[0], lines[1][:11], lines[-1]) == ("cautions", "  [1] word ", "  [2] b")
    assert all(line.startswith("      word") for line in lines[2:-1])
    assert max(map(len, lines)) <= 40
    assert following.splitlines()[1].startswith("  do do")  # a command is never broken
    assert len(following.splitlines()) == 2
    assert answer == "S."


def test_a_figure_of_a_sentence_is_not_broken() -> None:
    for width in range(12, 60):
        for sign in ("=", "<"):
            text = render(
                page(Section((Sentence(f"so it is, and p {sign} 0.03 here"),))), width=width
            )
            assert f"p {sign} 0.03" in text


def test_nothing_gives_nothing() -> None:
    assert render(page()) == ""
    assert render(page(Section(()), cautions=())) == ""


@pytest.mark.parametrize(
    "wrong", [{"rows": (("a",),)}, {"notes": ("one of two",)}, {"rows": (("a", "b", "c"),)}]
)
def test_a_table_that_does_not_hold_together(wrong: dict[str, Any]) -> None:
    given = {"columns": table().columns, "rows": table().rows} | wrong
    with pytest.raises(ValueError, match="times"):
        Table(name="times", **given)


def test_no_line_begins_with_the_sign_of_a_percentage() -> None:
    for length in range(60, 110):
        text = render(page(Section((Sentence("x" * length + " margin 1 % of it"),))))
        assert not any(line.lstrip().startswith("%") for line in text.splitlines())


def test_a_further_part_of_a_wide_table_leaves_out_rows_that_have_nothing_there() -> None:
    columns = (Column("", "left"), Column("time"), Column("note", "left"))
    rows = (("a", Value("1" * 20, 1.0), ""), ("b", "10", "[1]"))
    wide = Table(name="times", columns=columns, rows=rows)
    lines = render(page(Section((wide,))), width=24).splitlines()
    assert [line.split() for line in lines[3:]] == [["note"], ["b", "[1]"]]
    empty = Table(name="times", columns=columns, rows=tuple((*row[:2], "") for row in rows))
    assert "note" not in render(page(Section((empty,))), width=24)
