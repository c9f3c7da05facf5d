"""Foreign texts in README.md stay what they are: markdown-it, a reader of CommonMark, is the authority."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings, strategies as st
from markdown_it import MarkdownIt

from analysis.artifact.documents import _safe, _ticked
from tests.examples import examples

TEXTS = st.text(
    st.one_of(
        st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]),
        st.sampled_from("`*_[]<>#|&;\\!-+1.)~=: \"'("),
    ),
    max_size=30,
)
READER = MarkdownIt("commonmark").enable("table")


def words(tokens) -> str:
    found = []
    for token in tokens:
        if token.type in {"text", "code_inline"}:
            found.append(token.content)
        found.append(words(token.children or []))
    return "".join(found)


def kinds(tokens) -> set[str]:
    return {t.type for t in tokens}.union(*(kinds(t.children or []) for t in tokens))


@given(TEXTS)
@example("&lt;b&gt; &copy;")
@example("- no list")
@example("1. no list")
@example("+ no list")
@example("# no heading")
@example("> no quote")
@example("<b>no tag</b>")
@example("![no](picture)")
@example("---")
@example("~~~")
@example("a | b")
@settings(max_examples=examples(300), deadline=None)
def test_a_paragraph_of_a_foreign_text_is_that_text(text):
    plain = " ".join(text.split())
    tokens = READER.parse(_safe(text))
    assert words(tokens) == plain
    assert kinds(tokens) <= {"paragraph_open", "inline", "text", "text_special", "paragraph_close"}


@pytest.mark.parametrize("write", [_safe, _ticked])
@given(text=TEXTS)
@settings(max_examples=examples(300), deadline=None)
def test_a_cell_of_a_foreign_text_is_that_text(write, text):
    plain = " ".join(text.split())
    table = f"| a | b |\n|---|---|\n| {write(text)} | end |"
    tokens = READER.parse(table)
    cells = [t for t in tokens if t.type == "inline"][2:]
    assert [words([cell]).strip() for cell in cells] == [plain, "end"]
    assert not kinds(tokens) & {"html_inline", "link_open", "image", "em_open", "strong_open"}
