"""Notes and next commands: nothing is cut, and what is shown can be pasted.

Authorities: a shell, which takes the lines back into the words that were given; the page of the first minute
(``note  TEXT``, ``next  COMMAND    WHY``, 80 columns).
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from analysis.pages import as_markup, as_text
from analysis.pages.model import Next, Note, Page, Section
from analysis.words import command_line, next_lines, note_lines, quoted
from harness.commands.command_parser import parser_for
from tests.examples import examples

LONG = (
    "fairtrial", "run", "campaign.yaml", "--resume", "--trial",
    "runs/compressors-20261121-041233-x4", "--sessions", "+4",
)  # fmt: skip


def pasted(lines: list[str], why: str) -> str:
    """Give what a person copies: without ``next`` and without the reason."""
    if len(lines) == 1:
        return lines[0].removeprefix("next  ").removesuffix(f"    {why}" if why else "")
    end = next(k for k, line in enumerate(lines) if not line.endswith(" \\"))
    return "\n".join(lines[: end + 1]).removeprefix("next  ")


def words_in_bash(text: str) -> list[bytes]:
    told = subprocess.run(
        [shutil.which("bash") or "bash", "-c", f"printf '%s\\0' {text}"],
        capture_output=True,
        env={"LC_ALL": "C.UTF-8"},
        check=True,
    )
    return told.stdout.split(b"\0")[:-1]


def test_a_short_command_and_its_reason_are_one_line():
    assert next_lines(("fairtrial", "verdict", "runs/a b"), "judges it") == [
        "next  fairtrial verdict 'runs/a b'    judges it"
    ]
    assert next_lines(("fairtrial", "status")) == ["next  fairtrial status"]


def test_a_name_with_a_dash_is_no_option_of_the_command():
    # authority: the parser, which took '-O2' behind --variant, and a path '-x.yaml', for options
    words = ("fairtrial", "run", "-x.yaml", "--resume", "--trial", "-runs/x", "--sessions", "+4")
    line = command_line(words)
    assert line == "fairtrial run ./-x.yaml --resume --trial=-runs/x --sessions +4"
    read = parser_for("run").read(line.split()[1:])
    assert (read.campaign, read.trial) == (Path("-x.yaml"), Path("-runs/x"))
    line = command_line(("fairtrial", "verdict", "-a b", "--variant", "-O2", "-q", "-o", "-"))
    assert line == "fairtrial verdict './-a b' --variant=-O2 -q -o -"
    assert next_lines(("fairtrial", "verdict", "-x y")) == ["next  fairtrial verdict './-x y'"]
    assert (
        command_line(("gcc", "-O2", "-x.c")) == "gcc -O2 -x.c"
    )  # of other programs nothing is known


def test_a_long_command_is_continued_so_that_it_can_be_pasted():
    lines = next_lines(LONG, "would settle random (3 to 9)")
    assert lines == [
        "next  fairtrial run campaign.yaml --resume --trial \\",
        "          runs/compressors-20261121-041233-x4 --sessions +4",
        "      would settle random (3 to 9)",
    ]
    assert words_in_bash(pasted(lines, "")) == [word.encode() for word in LONG]


def test_a_note_has_its_further_lines_below_its_text():
    lines = note_lines("the host was busy (load 3.1 on 2 CPUs): " + "all times are longer " * 5)
    assert lines[0].startswith("note  the host was busy")
    assert len(lines) > 1
    assert all(line.startswith("      all") or line[6] != " " for line in lines[1:])
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("word", ["a\nb", "\x1b[31m", "\u202e", "a'b\\\t", "\udcff", "\U000e0001"])
def test_a_word_without_a_glyph_is_pasted_as_it_was(word):
    told = quoted(word)
    assert told.isprintable()
    assert words_in_bash(told) == [word.encode(errors="surrogateescape")]


WORD = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=30
)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(WORD, min_size=1, max_size=8), st.integers(40, 100))
def test_any_command_can_be_pasted(words, width):
    lines = next_lines(words, "", width)
    assert words_in_bash(pasted(lines, "")) == [word.encode() for word in words]
    for line in lines:  # only a word that is longer than a line is wider
        held = line.removeprefix("next  ").strip().removesuffix(" \\")
        assert len(line) <= width or held in map(quoted, words)
    assert "…" not in command_line(words) or any("…" in word for word in words)


def test_every_form_of_a_page_says_both():
    blocks = (Note("a & b"), Next(("fairtrial", "verdict", "a b"), "why"))
    page = Page(title="t", sections=(Section(blocks),))
    line = "fairtrial verdict 'a b'"
    assert blocks[1].line == line
    assert as_text.render(page) == f"note  a & b\nnext  {line}    why"
    markdown = as_markup.render_markdown(page)
    assert "**Note:** a &amp; b" in markdown
    assert f"**Next:** why\n\n```sh\n{line}\n```" in markdown
    assert r"\emph{Note:} a \& b" in as_markup.render_latex(page)
    assert r"\emph{Next:} why \texttt{fairtrial verdict {'}a b{'}}" in as_markup.render_latex(page)
    html = as_markup.render_html(page)
    assert "<p><strong>note</strong> a &amp; b</p>" in html
    assert "<pre><code>fairtrial verdict &#x27;a b&#x27;</code></pre>" in html
