"""Every item of the five sources is shown by a test that is there, or says why it cannot be had."""

from __future__ import annotations

import argparse
import ast
import shlex
from functools import cache
from pathlib import Path

import pytest

from harness.commands.command_parser import parser_for
from tests.contract.generate import ROOT, Item, sources, sources_text

SOURCES = sources()
# how many were read out of each source, of which none may be lost
LEAST = {"000": 70, "001": 112, "002": 29, "003": 85, "004": 85}


@cache
def names_in(path: Path) -> frozenset[str]:
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if hasattr(one, "name")}
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
    return frozenset(found)


def fault_of(item: Item) -> str:
    """Say what is wrong with an item; nothing where all is well."""
    if bool(item.test) == bool(item.why):
        return "either a test shows it, or it says why none can"
    path, _, name = item.test.partition("::")
    if item.test and not (ROOT / path).is_file():
        return f"there is no file {path}"
    if item.test and name not in names_in(ROOT / path):
        return f"there is no test {item.test}"
    if item.command:
        program, command, *words = shlex.split(item.command)
        if program != "fairtrial":
            return "a command begins with fairtrial"
        (known,) = (
            a for a in parser_for(command)._actions if isinstance(a, argparse._SubParsersAction)
        )
        options = known.choices[command]._option_string_actions
        for word in words:
            if word.startswith("-") and word.partition("=")[0] not in options and word != "-":
                return f"{command} has no option {word}"
    return ""


def test_each_item_is_shown_or_says_why_not():
    faults = {f"{one.name} {item.place}": fault_of(item) for one in SOURCES for item in one.items}
    assert {place: fault for place, fault in faults.items() if fault} == {}


def test_none_of_the_items_is_lost():
    assert {source.name: len(source.items) for source in SOURCES}.keys() == LEAST.keys()
    for source in SOURCES:
        assert len(source.items) >= LEAST[source.name]
        assert len({(one.place, one.what) for one in source.items}) == len(source.items)


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (Item("1", "x"), "either"),
        (Item("1", "x", test="tests/contract/test_sources.py::test_gone"), "no test"),
        (Item("1", "x", test="tests/contract/test_gone.py::test_gone"), "no file"),
        (Item("1", "x", test="a", why="b"), "either"),
        (
            Item("1", "x", "tests/contract/test_sources.py::test_none_of_the_items_is_lost", "fairtrial hpt A B --gone"),
            "no option",
        ),
    ],
)  # fmt: skip
def test_an_item_whose_test_or_option_is_gone_is_found(item, said):
    assert said in fault_of(item)


def test_the_page_is_made_from_the_list():
    page = (ROOT / "docs" / "methods" / "sources.md").read_text(encoding="utf-8")
    assert sources_text() in page
