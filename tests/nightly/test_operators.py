"""What is changed, what is left alone, and the key by which a mutant is found again."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.drawing import compiles
from tests.mutants.operators import Site, sites


def changed(line: str) -> set[tuple[str, str]]:
    """Give operator and changed line of each mutant of the last line of a function."""
    source = f"def f(a, b, c):\n    {line}\n".encode()
    return {
        (site.operator, site.applied(source).decode().splitlines()[1].strip())
        for site in sites(source)
        if compiles(source, site)
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = a < b", {("comparison", "x = (a >= b)"), ("boundary", "x = (a <= b)")}),
        ("x = a is b", {("comparison", "x = (a is not b)")}),
        ("x = a + b", {("arithmetic", "x = (a - b)")}),
        ("x = 2 * a", {("arithmetic", "x = (2 / a)"), ("constant", "x = 3 * a"), ("constant", "x = 1 * a")}),
        ("x = a[0]", {("constant", "x = a[1]"), ("constant", "x = a[(-1)]")}),
        ("x = True", {("constant", "x = False")}),
        ("x = a and b", {("and_or", "x = (a or b)")}),
        ("x = not a", {("not", "x = a")}),
        ("x = -a", {("sign", "x = a")}),
        ("x = f(a, b)", {("arguments", "x = f(b, a)")}),
        ("return a", {("return", "return None")}),
        ("return None", set()),
        ("return", set()),
        ("a.append(b)", {("statement", "pass")}),
        ("a.b = c", {("statement", "pass")}),
        ("a -= b", {("statement", "pass"), ("arithmetic", "a += b")}),
        ("raise a", {("statement", "pass")}),
        ("x = [y for y in a if y]", {("condition", "x = [y for y in a if (not y)]")}),
        ("x = b if a else c", {("condition", "x = b if (not a) else c")}),
    ],
)  # fmt: skip
def test_what_becomes_of_a_line(line, expected):
    assert changed(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "'a docstring'", "assert a == 1", "import os", "x = 'a' + b", "x = '%d' % a", "x = f'{a + 1}'",
        "x: Literal[1, 2]", "x = f(a, 'text')", "x = f(a, a)", "x = 'text'", "x = cast(a, b)",
    ],
)  # fmt: skip
def test_what_no_test_should_judge_is_left_alone(line):
    assert changed(line) == set()


def test_names_for_the_type_checker_are_left_alone():
    source = (
        b"if TYPE_CHECKING:\n    N = 1\n__all__ = ['a', 'b'][0:1]\n@overload\ndef f(a=1): ...\n"
    )
    assert sites(source) == []


def test_bytes_before_a_site_are_counted_not_letters():
    source = "def f(a):\n    return 'µµ' * (a + 1)\n".encode()
    found = {site.applied(source).decode() for site in sites(source)}
    assert "def f(a):\n    return 'µµ' * ((a - 1))\n" in found
    for site in sites(source):
        ast.parse(site.applied(source))


BODY = """
class Wall:
    LIMIT = 3

    def high(self, x):
        if x > self.LIMIT:
            return x + 1
        return x + 1
"""


def keys(source: str) -> dict[str, Site]:
    return {site.key: site for site in sites(source.encode())}


def test_keys_are_unique_and_stay_when_the_code_moves():
    here = keys(BODY)
    assert len(here) == len(sites(BODY.encode()))
    spaced = BODY.replace("x + 1", "(x\n   +\n   1)")
    moved = keys(f"'''Another file.'''\nimport os\n\ndef other(x):\n    return x + 1\n{spaced}")
    assert here.keys() < moved.keys()
    for key, site in here.items():
        assert (site.function, site.operator) == (moved[key].function, moved[key].operator)


def test_keys_change_with_function_and_statement():
    here = keys(BODY)
    renamed = keys(BODY.replace("def high", "def tall"))
    assert {one.function for key, one in here.items() if key in renamed} == {""}
    grown = keys(BODY.replace("x > self", "x > 2 * self"))
    assert {one.statement for key, one in here.items() if key not in grown} == {"If x > self.LIMIT"}


def test_what_the_import_executes_says_whose_name_it_is():
    found = sites(b"LIMIT = 3\nclass A:\n    n: int = 4\n    def f(self, k=5): return k\n")
    assert [(site.function, site.names) for site in found if site.operator == "constant"][::2] == [
        ("", ("LIMIT",)), ("", ("A", "n")), ("A", ("A",)),
    ]  # fmt: skip


def test_compiled_functions_are_known():
    found = sites(b"@compiled.kernel\ndef f(x):\n    return x + 1\ndef g(x):\n    return x + 1\n")
    assert {(site.function, site.compiled) for site in found} == {("f", True), ("g", False)}
