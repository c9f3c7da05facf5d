"""Names and texts of others as they are shown. Authorities: UAX 9 (controls of direction), the design (shortened in the middle)."""

from __future__ import annotations

import copy
import importlib
import pickle
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from analysis.errors import (
    AnalysisError,
    FairtrialError,
    InsufficientDataError,
    StoreError,
    UsageError,
    library_needed,
)
from analysis.pages import as_markup, as_text
from analysis.pages.model import Next, Note, Page, Section
from analysis.registry import put_off
from analysis.words import (
    PLACEHOLDER,
    Name,
    alike,
    command_line,
    next_lines,
    normal,
    note_lines,
    placeholder_of,
    quoted,
    shorten,
    shortened,
    shown,
)
from harness.commands.command_parser import parser_for
from tests.examples import examples


def test_long_names_are_cut_in_their_middle():
    assert shorten("short", 10) == f"{Name('short'):.10}" == "short"
    assert shorten("a-rather-long-name", 10) == "a-rat…name"
    assert f"{Name('a-rather-long-name'):.9}" == "a-ra…name"


@pytest.mark.parametrize("width", range(2, 30))
def test_what_is_cut_has_the_width_that_was_asked_for(width):
    assert len(shorten("x" * 40, width)) == width


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain ~ é 日 \u200d", "plain ~ é 日 \u200d"),
        ("a\nb", "a␊b"),
        ("\x00\x1b[2J\x1f", "␀␛[2J␟"),
        ("a\x7f", "a␡"),
        ("\x80\x9f", "U+0080U+009F"),
        ("user\u202etxt", "userU+202Etxt"),
        ("\udcff\U0010ffff", "U+DCFFU+10FFFF"),
    ],
)
def test_what_has_no_glyph_is_shown_as_its_picture_or_its_number(text, said):
    assert shown(said) == f"{Name(text)}" == said
    assert str(Name(text)) == "".join([Name(text)]) == text


@pytest.mark.parametrize(
    ("name", "stored"),
    [("plain", "plain"), ("e\u0301", "\u00e9"), ("\u00e9", "\u00e9"), ("\u212b", "\u00c5")],
)
def test_names_are_stored_in_one_form_however_they_were_typed(name, stored):
    assert normal(name) == stored


def test_compatibility_forms_stay_apart_in_names():
    assert normal("\ufb01x") == "\ufb01x"  # the ligature fi


def test_names_that_look_alike_are_told_with_the_first_of_them():
    names = ["Zip", "zip", "tar", "\uff5a\uff49\uff50", "stra\u00dfe", "STRASSE", "tar"]
    assert alike(names) == [
        ("Zip", "zip"),
        ("Zip", "\uff5a\uff49\uff50"),
        ("stra\u00dfe", "STRASSE"),
    ]
    assert alike(["a", "b", "a1"]) == []


@pytest.mark.parametrize(
    ("tag", "said"), [(None, "redacted-host-12"), ("0a1b2c3d", "redacted-host-12-0a1b2c3d")]
)
def test_a_placeholder_tells_its_sort_number_and_tag(tag, said):
    assert placeholder_of("host", 12, tag) == said
    found = PLACEHOLDER.fullmatch(said)
    assert found
    assert found.groupdict() == {"sort": "host", "number": "12", "tag": tag}


BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # UAX 9, 2


@pytest.mark.parametrize(
    "text", ["", "gzip-6", "größe", "日本語", "e\u0301", "👩\u200d🔬", "عربي", "<b>&"]
)
def test_what_can_be_seen_stays(text: str) -> None:
    assert shown(text) == text


@given(st.text(st.characters()))
def test_what_is_shown_has_no_control_and_can_be_written(text: str) -> None:
    safe = shown(text)
    assert not {unicodedata.category(c) for c in safe} & {"Cc", "Cs", "Zl", "Zp"}
    assert not set(safe) & set(BIDI)
    assert safe.encode("utf-8").decode("utf-8") == safe
    assert shown(safe) == safe


def test_long_names_lose_their_middle_and_one_name_twice_is_no_clash() -> None:
    name = "parser/corpora/wikipedia/utf8-long"
    found = shortened([name, "json"], 24)
    assert found["json"] == "json"
    assert len(found[name]) == 24
    assert found[name].startswith("parser/corpo")
    assert found[name].endswith("utf8-long")
    assert found[name].count("…") == 1
    name = "n" * 50
    assert len(shortened([name, name], 20)[name]) == 20


def test_names_that_would_look_alike_show_where_they_differ() -> None:
    names = [f"{'a' * 90}-case-{k}-{'z' * 90}" for k in (1, 2, 37)]
    found = shortened(names, 24)
    assert len(set(found.values())) == 3
    for name, text in found.items():
        assert len(text) <= 24
        assert name[92:].split("-")[1] in text  # the number, which alone differs
        assert text.startswith("aaa")
        assert text.endswith("zzz")


def test_names_that_differ_in_two_places_far_apart_are_whole_at_worst() -> None:
    names = [f"{a}{'x' * 60}{b}" for a in ("head-1-of-many", "head-1-of-more") for b in ("p" * 20,)]
    names += [f"k{'x' * 40}{a}{'y' * 40}{b}{'x' * 40}k" for a in "ab" for b in "cd"]
    found = shortened(names, 20)
    assert len(set(found.values())) == len(names)


@given(st.lists(st.text("ab/\n\u202e", max_size=60), max_size=12), st.integers(8, 30))
def test_different_names_stay_different_and_others_fit(names: list[str], width: int) -> None:
    found = shortened(names, width)
    assert set(found) == set(names)
    for one in found:
        for other in found:
            assert (found[one] == found[other]) == (shown(one) == shown(other))
    for name, text in found.items():
        assert len(text) <= width or text == shown(name)


# --- What an error tells, also when it comes from another process


ERRORS = [
    FairtrialError("it failed"),
    UsageError("no such benchmark", "a.toml:3:1", "name one of 'x' and 'y'"),
    StoreError("a file was changed", fix="take a copy"),
    InsufficientDataError("too few runs", "benchmark 'x'", "measure more", n=1, needed=2),
]


@pytest.mark.parametrize(
    ("kind", "code"), [(FairtrialError, 70), (UsageError, 2), (StoreError, 5), (AnalysisError, 6)]
)
def test_every_kind_has_its_exit_code(kind: type[FairtrialError], code: int) -> None:
    assert kind("x").exit_code == code


def test_too_few_values_end_as_every_failed_analysis_and_are_counted() -> None:
    error = InsufficientDataError("too few", n=3, needed=5)
    assert (error.exit_code, error.n, error.needed) == (6, 3, 5)


def test_it_is_written_with_its_place_before_it_and_its_remedy_below() -> None:
    assert str(ERRORS[0]) == "it failed"
    assert str(ERRORS[1]) == "a.toml:3:1: no such benchmark\n  fix: name one of 'x' and 'y'"
    assert str(ERRORS[2]) == "a file was changed\n  fix: take a copy"


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ModuleNotFoundError("No module named 'pyarrow'"), "is not installed"),
        (
            ImportError("pyarrow requires NumPy 2.0 or newer"),
            "cannot be imported: pyarrow requires NumPy 2.0 or newer",
        ),
    ],
)
def test_an_optional_library_is_absent_or_does_not_suit(error, why) -> None:
    told = library_needed("a Parquet file", "pyarrow", error, "t.parquet", fix="pip install it")
    assert str(told) == (
        f"t.parquet: a Parquet file needs the library pyarrow, which {why}\n  fix: pip install it"
    )
    assert told.exit_code == 2


def test_it_is_repeated_as_it_was_raised() -> None:
    assert repr(UsageError("what", "where", "fix")) == "UsageError('what', 'where', 'fix')"


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_from_another_process_it_comes_as_it_was(error, again) -> None:
    found = again(error)
    assert type(found) is type(error)
    assert found.args == error.args
    assert vars(found) == vars(error)
    assert str(found) == str(error)


# --- Modules that wait until something of theirs is used


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give the name of an imported package with a module `late`, which tells when it is run."""
    name = "fairtrial_waits_for_its_parts"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("ran = []\n", encoding="utf-8")
    (folder / "late.py").write_text(
        f"import {name}\n{name}.ran.append('late')\nanswer = 42\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    # set before they are taken out, so that what the test imports goes again
    for each in (name, f"{name}.late"):
        monkeypatch.setitem(sys.modules, each, sys)
        del sys.modules[each]
    importlib.invalidate_caches()
    importlib.import_module(name)
    return name


def test_a_module_put_off_runs_once_when_something_of_it_is_used(package: str) -> None:
    put_off(f"{package}.late")
    home = sys.modules[package]
    assert home.late is sys.modules[f"{package}.late"]
    assert home.ran == []
    assert home.late.answer == 42
    assert importlib.import_module(f"{package}.late") is home.late
    assert home.ran == ["late"]


def test_a_module_that_is_there_already_stays(package: str) -> None:
    late = importlib.import_module(f"{package}.late")
    put_off(f"{package}.late")
    assert sys.modules[f"{package}.late"] is late
    assert sys.modules[package].late is late
    assert sys.modules[package].ran == ["late"]


def test_a_module_that_is_nowhere_is_left_out(package: str) -> None:
    put_off(f"{package}.nowhere")
    assert f"{package}.nowhere" not in sys.modules


# --- Notes and next commands: nothing is cut, and what is shown can be pasted
#
# Authorities: a shell, which takes the lines back into the words that were given; the page of the first minute
# (``note  TEXT``, ``next  COMMAND    WHY``, 80 columns).


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
    assert command_line(("df", "-h", "-x $(y)")) == "df -h './-x $(y)'"
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
