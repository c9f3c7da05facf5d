from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from harness.campaign.scalar_kinds import TemplateError, parse_template


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
