"""Names and texts of others as they are shown. Authorities: UAX 9 (controls of direction), the design (shortened in the middle)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from analysis.words import PLACEHOLDER, alike, normal, placeholder_of, shorten, shortened, shown


def test_long_names_are_cut_in_their_middle():
    assert shorten("short", 10) == "short"
    assert shorten("a-rather-long-name", 10) == "a-rat…name"
    assert shorten("a-rather-long-name", 9) == "a-ra…name"


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
    assert shown(text) == said
    assert shown(said) == said


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


@pytest.mark.parametrize("mark", BIDI)
def test_a_control_of_direction_is_told_and_gone(mark: str) -> None:
    assert shown(f"evil{mark}gpj.exe") == f"evilU+{ord(mark):04X}gpj.exe"


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
