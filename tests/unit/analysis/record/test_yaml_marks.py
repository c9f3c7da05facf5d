"""What the YAML reader accepts, what it refuses, and that each place it names is right."""

from __future__ import annotations

import tracemalloc

import pytest

from analysis.errors import CampaignError
from analysis.record.yaml_reader import MAX_DEPTH, Plain, excerpt, quote, read_document


def problems_of(text: str):
    try:
        return read_document(text, "f").problems
    except CampaignError as error:
        return list(error.problems)


def pointed_at(problem) -> str:
    """Give what stands above the carets."""
    line, carets = problem.excerpt.split("\n")
    start = carets.index("^")
    return line[start : start + carets.count("^")]


def test_scalars_stay_texts_and_know_whether_they_were_quoted():
    value = read_document("a: 1_0\nb: '1'\nc: [x, \"y\"]\nd: |\n  z\n", "f").value
    assert value == {"a": "1_0", "b": "1", "c": ["x", "y"], "d": "z\n"}
    assert isinstance(value["a"], Plain)
    assert isinstance(value["c"][0], Plain)
    assert not isinstance(value["b"], Plain)
    assert not isinstance(value["d"], Plain)


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_an_empty_value_is_none_unless_quoted(text):
    assert read_document(f"a: {text}", "f").value == {"a": None}
    assert read_document(f"a: '{text}'", "f").value == {"a": text}


def test_every_value_and_key_has_its_mark():
    document = read_document("a:\n  b: [x, yy]\n  'c': {d: 1}\n", "f")

    def at(path, *, key=False):
        mark = document.mark(path, key=key)
        return mark.line, mark.column, mark.width

    assert at(("a",), key=True) == (1, 1, 1)
    assert at(("a", "b"), key=True) == (2, 3, 1)
    assert at(("a", "b")) == (2, 6, 1)
    assert at(("a", "b", 1)) == (2, 10, 2)
    assert at(("a", "c"), key=True) == (3, 3, 3)
    assert at(("a", "c", "d")) == (3, 12, 1)
    assert document.where(("a", "b", 1)) == "f:2:10"
    # What is not there is shown at what is around it: the key 'c'.
    assert at(("a", "c", "missing")) == (3, 3, 3)


def test_a_part_of_a_value_has_a_mark_even_on_a_later_line():
    document = read_document("a: >\n  one two\n  three {x}\n", "f")
    mark = document.mark(("a",), part="{x}")
    assert (mark.line, mark.column, mark.width) == (3, 9, 3)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_breaks_of_every_system_are_counted(newline):
    document = read_document(newline.join(["a: 1", "b: 2", "b: 3"]), "f")
    assert [(p.where, p.what) for p in document.problems] == [
        ("f:3:1", "'b' is given twice (first on line 2)")
    ]


REFUSED = [
    # text, where, what (its beginning), what the carets point at
    ("a: 1\nb:\n  c: 1\n  c: 2\n", "4:3", "'c' is given twice (first on line 3)", "c"),
    ("{a: 1, 'a': 2}", "1:8", "'a' is given twice (first on line 1)", "'a'"),
    ("a: &x 1\n", "1:4", "the anchor '&x' is not allowed", "&x 1"),
    ("a: *x\n", "1:4", "the alias '*x' is not allowed", "*x"),
    ("*x : 1\n", "1:1", "the alias '*x' is not allowed", "*x"),
    ("a: 1\n<<: {b: 1}\n", "2:1", "the merge key '<<' is not allowed", "<<"),
    ("a: !!int 1\n", "1:4", "the tag 'tag:yaml.org,2002:int' is not allowed", "!!int 1"),
    ("a: !x [1]\n", "1:4", "the tag '!x' is not allowed", "!"),
    ("a: !!python/object:os.system x", "1:4", "the tag 'tag:yaml.org,2002:python/object", "!!pyth"),
    ("%TAG ! tag:x,2000:\n---\na: 1\n", "1:1", "a %TAG directive is not allowed", "%TAG"),
    ("a: 1\n---\nb: 1\n", "2:1", "a second document begins here", "---"),
    ("? [a, b]\n: 1\n", "1:3", "a key must be a text", "["),
    ("{a}: 1\n", "1:1", "a key must be a text", "{"),
    ("{a: 1, : 2}", "1:8", "not valid YAML: expected the node content", ":"),
    ("a: 1\n: 2\n", "2:1", "not valid YAML: expected <block end>", ":"),
    ("~: 2\n", "1:1", "a key is missing here", "~"),
    ('a: "\\0"\n', "1:4", "the character U+0000 is not allowed in a text", '"\\0"'),
    ('a: "\\ud800"\n', "1:4", "the character U+D800 is not allowed in a text", '"\\ud800"'),
    ("a: x\x00y\n", "1:5", "the character U+0000 is not allowed in YAML", "␀"),
    ("é: \x1b[1m\n", "1:4", "the character U+001B is not allowed in YAML", "␛"),
    ("a: 1\n\tb: 2\n", "2:1", "not valid YAML: found character '\\t'", "␉"),
    ("a: b: c\n", "1:5", "not valid YAML: mapping values are not allowed here", ":"),
    ("a: [1\nb: 2\n", "2:2", "not valid YAML: expected ',' or ']'", ":"),
    ("a: 1\n- b\n", "2:1", "not valid YAML: expected <block end>", "-"),
    ("a: 'x\n", "1:4", "not valid YAML: found unexpected end of stream", "'"),
    ("b: 1\na: [1\n", "2:4", "not valid YAML: expected ',' or ']'", "["),
    ("b: 1\na: [1,\n", "3:1", "not valid YAML: expected the node content", ""),
    ("a: @x\n", "1:4", "not valid YAML: found character '@' that cannot start", "@"),
    ("a: %x\n", "1:4", "not valid YAML: found character '%' that cannot start", "%"),
    ("a: 1\n b: 2\n", "2:3", "not valid YAML: mapping values are not allowed here", ":"),
    ("", "1:1", "the file holds nothing", ""),
    ("# only a comment\n", "2:1", "the file holds nothing", ""),
]


@pytest.mark.parametrize(("text", "where", "what", "token"), REFUSED)
def test_wrong_yaml_is_refused_where_it_is_wrong(text, where, what, token):
    first = problems_of(text)[0]
    assert first.where == f"f:{where}"
    assert first.what.startswith(what)
    assert pointed_at(first).startswith(token)
    assert first.fix


def test_all_is_reported_at_once_and_what_can_be_read_is_kept():
    text = "a: 1\na: {b: 1, b: 2}\na: {b: 1}\nc: !x &y z\n"
    assert [p.where for p in problems_of(text)] == ["f:2:1", "f:2:11", "f:3:1", "f:4:4", "f:4:4"]
    assert read_document("a: 1\na: 2\n", "f").value == {"a": "1"}
    assert read_document("---\na: 1\n...\n", "f").value == {"a": "1"}


def test_an_alias_bomb_is_refused_at_its_first_alias_without_memory():
    text = "a: &a [x,x,x,x,x,x,x,x,x]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True):
        text += f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    tracemalloc.start()
    found = problems_of(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found[-1].where, found[-1].what) == ("f:2:8", "the alias '*a' is not allowed")
    assert peak < 2_000_000


@pytest.mark.parametrize("bracket", ["[", "{a: ", "- ", "? "])
def test_a_bomb_of_brackets_is_refused_at_the_depth_limit(bracket):
    tracemalloc.start()
    found = problems_of(bracket * 2_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 1
    assert "nested deeper" in found[0].what or "key" in found[0].what
    assert peak < 1_000_000


def test_the_deepest_allowed_nesting_is_read():
    assert not problems_of("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert problems_of("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))


@pytest.mark.parametrize(
    ("line", "column", "length", "shown"),
    [
        ("abc def", 5, 3, "  abc def\n      ^^^"),
        ("abc", 4, 1, "  abc\n     ^"),  # just behind the end
        ("a\tb\x1b", 2, 1, "  a␉b␛\n   ^"),
        ("a\u202eb", 3, 1, "  a\ufffdb\n    ^"),  # a character that would turn the line around
        ("日本 x", 4, 1, "  日本 x\n       ^"),  # wide characters take two columns
        ("", 1, 1, "  \n  ^"),
    ],
)
def test_the_carets_stand_under_the_token(line, column, length, shown):
    assert excerpt(line, column, length) == shown


@pytest.mark.parametrize("column", [1, 50, 500, 990])
def test_a_long_line_is_cut_around_the_token(column):
    line = "".join(str(i % 10) for i in range(1, 1001))
    shown, carets = excerpt(line, column, 3).split("\n")
    assert len(shown) <= 100
    at = carets.index("^")
    assert shown[at : at + 3] == line[column - 1 : column + 2]


def test_quotes_shorten_and_make_control_characters_visible():
    assert quote("ten") == "'ten'"
    assert quote("a\nb") == "'a␊b'"
    assert quote("x" * 100) == "'" + "x" * 39 + "…'"
