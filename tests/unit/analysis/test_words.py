from __future__ import annotations

import pytest

from analysis.words import PLACEHOLDER, alike, normal, placeholder_of, shorten, shown


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
