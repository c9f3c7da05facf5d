"""Names of any script. Authority: the Unicode Character Database (as Python holds it), and UAX #15."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata

import jsonschema
import pytest
from hypothesis import example, given, strategies as st

from analysis.errors import CampaignError
from analysis.words import alike, normal
from harness.campaign.resolve import load_campaign
from harness.campaign.scalar_kinds import NAME, TemplateError, parse_template, words_of
from harness.campaign.schema import editor_schema

PATTERN = editor_schema()["$defs"]["Name"]["pattern"]
OLD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")  # what names were before
DECOMPOSED = unicodedata.normalize("NFD", "é")


@pytest.fixture
def load(tmp_path):
    def make(**sections):
        campaign = {"name": "n", "variants": {"a": None}, "benchmarks": {"b": {"command": "true"}}}
        path = tmp_path / "c.yaml"
        path.write_text(json.dumps(campaign | sections, ensure_ascii=False), encoding="utf-8")
        return load_campaign(path)

    return make


@pytest.mark.parametrize(
    "name",
    [
        *("é", DECOMPOSED, "größe", "日本語", "हिन्दी", "текст", "ไทย", "العربية", "עברית"),
        *("한국어", "𠀀", "٣", "ß-1"),
    ],
)
def test_letters_and_digits_of_any_script_are_names(load, name):
    found = load(name=name, variants={name: None, "z": None}, baseline=name, benchmarks={
        name: {"command": "true", "metrics": {name: {"regex": "(x)", "unit": "s", "better": "lower"}}}
    })  # fmt: skip
    plain = unicodedata.normalize("NFC", name)
    assert (found.name, found.baseline) == (plain, plain)
    assert [cell.benchmark for cell in found.cells] == [plain] * 2
    assert found.cells[0].variant == plain


@pytest.mark.parametrize(
    "name",
    ["_a", "-a", ".a", "+a", "a b", "a/b", "a:b", "a,b", "→", "a€", "🚀", "a\u202eb", "a\u200bb", "a\u200db", "́a", "a\xa0b", "aㅤ", "a️", "a、b", "x" * 101, "é" * 51, "Å", "יִ"],
)  # fmt: skip
def test_what_is_no_letter_and_no_digit_is_refused(load, name):
    with pytest.raises(CampaignError) as raised:
        load(variants={name: None})
    assert re.search(PATTERN, name) is None
    if name.isprintable():
        assert "letters, digits and . _ + -" in str(raised.value)


OF_TEXT, OF_NAMES = (
    jsonschema.Draft202012Validator(schema)
    for schema in ({"pattern": PATTERN}, {"propertyNames": {"pattern": PATTERN}})
)


@given(st.text(max_size=6) | st.text("aB0._+-é日\u0301", max_size=55))
@example("a" * 100)
@example("é" * 50)
def test_the_editor_accepts_what_the_loader_accepts(name):
    for value, editor in ((name, OF_TEXT), ({name: 1}, OF_NAMES)):
        assert editor.is_valid(value) == (NAME.fullmatch(name) is not None)


@given(st.text(st.characters(max_codepoint=127), max_size=102))
@example("a" * 100)
@example("a" * 101)
def test_ascii_names_are_what_they_were(name):
    assert (NAME.fullmatch(name) is None) == (OLD.fullmatch(name) is None)


def test_signs_are_letters_digits_and_their_marks_by_the_standard():
    wrong = []
    # beyond 0x32000 are rows of tags and what nobody has assigned, or keeps private
    beyond = (*range(0x32000, 0xE0000, 61), *range(0xE0000, 0xE0200), *range(0xE0200, 0x110000, 61))
    for code in (*range(0x80, 0x32000), *beyond):
        sign = chr(code)
        kind = unicodedata.category(sign)
        letter = kind[0] == "L" or kind == "Nd"
        accepted = NAME.fullmatch(f"a{sign}") is not None
        if accepted and not (letter or kind in {"Mn", "Mc"}):
            wrong.append(sign)
        if accepted and unicodedata.normalize("NFC", sign) != sign:
            wrong.append(sign)  # a name would grow when it is normalised
        # later versions of the standard have further letters; of these none is lost
        if (
            letter
            and unicodedata.ucd_3_2_0.category(sign) == kind
            and not accepted
            and (
                unicodedata.normalize("NFC", sign) == sign
                and sign not in "\u115f\u1160\u3164\uffa0"
            )
        ):
            wrong.append(sign)
    assert wrong == []


@given(st.text("abé\u0301ø日\u093f𠀀", min_size=1, max_size=50))
def test_a_name_stays_short_enough_for_a_file_in_its_normal_form(name):
    if NAME.fullmatch(name) is None:
        return
    plain = normal(name)
    assert len(plain) <= len(name)
    assert len(plain.encode()) + len("-20261123-052546-c1d1") <= 255
    assert NAME.fullmatch(plain)
    assert normal(plain) == plain


def test_two_spellings_of_one_name_are_one_key(load):
    with pytest.raises(CampaignError, match="is given twice"):
        load(variants={"é": None, DECOMPOSED: None})


def test_variables_of_the_environment_keep_their_spelling(load):
    found = load(benchmarks={"b": {"command": "true", "env": {DECOMPOSED: DECOMPOSED}}})
    assert found.cells[0].env == {DECOMPOSED: DECOMPOSED}


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a", "b"], []),
        (["gzip", "GZip"], [("gzip", "GZip")]),
        (["ｎame", "name"], [("ｎame", "name")]),
        (["é", DECOMPOSED], [("é", DECOMPOSED)]),
        (["ß", "ss"], [("ß", "ss")]),
        (["e", "é"], []),
    ],
)
def test_names_that_look_alike_are_told(load, names, told):
    assert alike(names) == told
    if DECOMPOSED not in names:
        notes = load(variants=dict.fromkeys(names), baseline=names[0]).notes
        assert any("look alike" in note for note in notes) == bool(told)


@pytest.mark.parametrize(
    ("text", "values", "filled"),
    [
        ("plain", {}, "plain"),
        ("", {}, ""),
        ("-{level}", {"level": "6"}, "-6"),
        ("{a}{b}", {"a": "1", "b": "2"}, "12"),
        ("{a}-{a}", {"a": "x y"}, "x y-x y"),
        ("{{a}}", {"a": "1"}, "{a}"),
        ("{{{a}}}", {"a": "1"}, "{1}"),
        ("awk '{{print $1}}'", {}, "awk '{print $1}'"),
        ("{a}", {"a": "{b}", "b": "no"}, "{b}"),  # what is filled in is not a template
        ("{opt-level}", {"opt-level": "2"}, "2"),
    ],
)
def test_a_template_is_filled_in(text, values, filled):
    assert parse_template(text).fill(values) == filled


def test_the_names_are_given_in_their_order():
    assert parse_template("{b} {{x}} {a}{b}").names == ("b", "a", "b")


@pytest.mark.parametrize(
    ("text", "part", "what"),
    [
        ("a { b", "{", "the brace '{' stands alone"),
        ("a } b", "}", "the brace '}' stands alone"),
        ("{a}}", "}", "the brace '}' stands alone"),
        ("{}", "{}", "'{}' is not a placeholder"),
        ("{print $1}", "{print $1}", "'{print $1}' is not a placeholder"),
        ("{1}", "{1}", "'{1}' is not a placeholder"),
        ("{a.b}", "{a.b}", "'{a.b}' is not a placeholder"),
        ("{a!r}", "{a!r}", "'{a!r}' is not a placeholder"),
    ],
)
def test_a_wrong_template_is_refused_with_the_part_that_is_wrong(text, part, what):
    with pytest.raises(TemplateError) as caught:
        parse_template(text)
    assert caught.value.part == part
    assert caught.value.what == what
    assert caught.value.fix


def test_the_remedy_for_a_brace_that_is_meant_works():
    with pytest.raises(TemplateError) as caught:
        parse_template("{print $1}")
    remedy = caught.value.fix.rpartition(": ")[2]
    assert parse_template(remedy).fill({}) == "{print $1}"


def test_a_missing_value_is_an_error():
    with pytest.raises(KeyError):
        parse_template("{a}").fill({"b": "1"})


@given(st.text())
def test_doubled_braces_give_any_text_back(text):
    doubled = text.replace("{", "{{").replace("}", "}}")
    assert parse_template(doubled).fill({}) == text


PARTS = ["a", " ", "\\\n", "\\ ", "\\'", "'b  $c \\'", "'\\\n'", '""']
QUOTED = ["a", " ", "'", "\\$d", "\\`", "\\\\", '\\"', "\\e", "\\\n", "\n", "#"]


@given(
    st.lists(
        st.sampled_from(PARTS)
        | st.lists(st.sampled_from(QUOTED)).map(lambda of: f'"{"".join(of)}"')
    )
)
def test_a_command_is_split_as_a_shell_splits_it(parts):
    command = "x" + "".join(parts)
    shell = ["sh", "-c", f"printf '%s\\0' {command}"]
    printed = subprocess.run(shell, capture_output=True, text=True, check=True).stdout
    assert words_of(command) == printed.split("\0")[:-1]
