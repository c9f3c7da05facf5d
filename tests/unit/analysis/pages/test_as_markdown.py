"""Markdown by its letters; `tests/property/test_renderer_properties.py` reads it back."""

from __future__ import annotations

from analysis.pages.as_markup import render_markdown
from analysis.pages.model import (
    Caution,
    Column,
    CommandLine,
    Figure,
    Page,
    Section,
    Sentence,
    Table,
    Value,
)


def table(**more):
    columns = (Column("", "left"), Column("time"))
    rows = (("a|b", Value("1.5", 1.5)), ("max_rss", "10"))
    return Table(name="times", columns=columns, rows=rows, **more)


def page(*sections, **more):
    return Page(title="A headline", sections=sections, **more)


def test_the_answer_is_seen_and_the_rest_is_folded():
    text = render_markdown(
        page(
            Section((Sentence("It is so."), table())),
            Section((CommandLine("fairtrial x"),), title="why <b>"),
            cautions=(Caution("x", "beware"), Caution("y", "2. too")),
            following=(Section((Sentence("then"),), title="next"),),
        )
    )
    assert text == (
        "### A headline\n\n"
        "It is so.\n\n"
        "|  | time |\n| :--- | ---: |\n| a\\|b | 1.5 |\n| max_rss | 10 |\n\n"
        "**Cautions**\n\n1. beware\n2. 2\\. too\n\n"
        "<details><summary>why &lt;b&gt;</summary>\n\n```sh\nfairtrial x\n```\n\n</details>\n\n"
        "#### next\n\nthen\n"
    )


def test_notes_and_missing_headings_keep_the_columns():
    text = render_markdown(page(Section((table(headed=False, notes=("see", "")),))))
    assert text.splitlines()[2:] == [
        "|  |  |",
        "| :--- | ---: |",
        "| a\\|b<br><sub>see</sub> | 1.5 |",
        "| max_rss | 10 |",
    ]


def test_a_command_with_ticks_has_a_longer_fence():
    assert "\n````sh\na ```b\n````\n" in render_markdown(page(Section((CommandLine("a ```b"),))))


def test_inner_sections_are_headings_and_pictures_are_left_out():
    inner = Section((Sentence("two"),), title="deeper")
    picture = Figure(name="f", alt="a picture", draw=lambda: None)
    text = render_markdown(page(Section((Sentence("one"), inner, picture), title="outer")))
    assert text == "### A headline\n\n#### outer\n\none\n\n##### deeper\n\ntwo\n"


def test_an_empty_part_is_not_folded():
    assert render_markdown(page(Section(()), Section((), title="nothing"))) == "### A headline\n"


def test_what_does_not_fit_is_left_out_and_named():
    sections = [Section((Sentence(letter * 1000),), title=letter) for letter in "abc"]
    whole = render_markdown(page(Section((Sentence("It is so."),)), *sections))
    assert render_markdown(page(Section((Sentence("It is so."),)), *sections), most=10_000) == whole
    for most in (500, 1600, 2700, 3900):
        text = render_markdown(page(Section((Sentence("It is so."),)), *sections), most=most)
        assert len(text) <= most
        assert "It is so." in text
        kept = text.count("<details>")
        assert kept == {500: 0, 1600: 1, 2700: 2, 3900: 3}[most]
        named = text.partition("no room here: ")[2].partition("<")[0]
        assert named == ", ".join("abc"[kept:])
