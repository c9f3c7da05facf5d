"""A report in words: the compact table first, then a section for each chapter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.pages.model import Caution, Section, Sentence, page_of
from analysis.report.page import Chapter, Report, brief_page


def told(*, anchor, title, sections):
    return Chapter(
        name="told",
        anchor=anchor,
        title=title,
        values={},
        sections=lambda: sections,
    )


def report(*chapters, cautions=0):
    return Report(
        title="t",
        headline="h",
        metrics=("wall",),
        chapters=chapters,
        cautions=tuple(Caution("c", f"{k}", (f"{k}",)) for k in range(cautions)),
    )


ONE = Section((Sentence("one"),))
TWO = Section((Sentence("two"),), "inner")


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ((ONE,), Section(ONE.blocks, "title")),
        ((Section(ONE.blocks, "title"),), Section(ONE.blocks, "title")),
        ((TWO,), Section((TWO,), "title")),
        ((ONE, TWO), Section((ONE, TWO), "title")),
        ((), None),
    ],
)
def test_a_chapter_is_one_section_under_its_title(sections, expected):
    page = page_of(report(told(anchor="a", title="title", sections=sections)))
    assert page.title == "h"
    assert page.sections == (() if expected is None else (expected,))


def test_a_chapter_without_a_title_is_the_answer():
    page = page_of(report(told(anchor="a", title="", sections=(ONE,))))
    assert page.sections == (Section(ONE.blocks, "The answer"),)


@pytest.mark.parametrize(
    ("count", "more"), [(3, None), (4, "1 more caution:"), (30, "27 more cautions:")]
)
def test_the_compact_form_has_the_first_cautions_and_counts_the_rest(count, more):
    whole = report(cautions=count)
    page = brief_page(replace(whole, shown=whole.cautions[:3]))
    assert page.cautions == whole.cautions[:3]
    following = [block.text for section in page.following for block in section.blocks]
    assert following[0].startswith(more) if more else not following
    assert len(page_of(report(cautions=count)).cautions) == count


def test_json_has_each_chapter_under_its_name_and_the_cautions():
    chapters = [told(anchor=a, title="t", sections=()) for a in ("a", "b")]
    found = report(*chapters, cautions=1).to_dict()
    assert [one["anchor"] for one in found["told"]] == ["a", "b"]
    assert (found["cautions"], found["caution_codes"]) == (["0"], ["c"])
    assert list(found)[:3] == ["schema", "method", "tool_version"]
