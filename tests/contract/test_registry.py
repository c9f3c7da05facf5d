"""What the product finds by its name exists, all of it, and nothing is found by a name that is computed.

So a file can be moved by whoever rewrites each name that stands in full.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from analysis import registry
from analysis.importers.exports.targets import TARGETS
from analysis.importers.registry import TOOLS
from analysis.pages.model import page_of
from analysis.report.figures.kinds import KINDS
from harness.cli import RUNNER

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for half in ("harness", "analysis") for path in (ROOT / half).rglob("*.py"))
REGISTRY = "analysis/registry.py"
# a file of the product that looks for what lies beside it: which, and why it may
BESIDE = {
    "harness/cli.py": "it looks whether the judge beside it is ours, before it imports anything",
    "harness/launch/launcher.py": "a program of its own, without our packages",
    REGISTRY: "the one place that knows where the packages lie",
}
IMPORTING = {
    REGISTRY: "`load`",
    "analysis/lazy_names.py": "the public names",
}


def local(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def strings(tree: ast.AST) -> set[str]:
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def registered(table: str) -> dict[str, list[str]]:
    """Give the classes for which a function is registered in a table, with their modules."""
    found: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == f"{table}.register":
                    of = ast.unparse(mark.args[0])
                    found.setdefault(of, []).append(local(path)[:-3].replace("/", "."))
    return found


def test_every_name_in_full_is_a_module_or_a_file():
    found = {text for path in SOURCES for text in strings(ast.parse(path.read_text("utf-8")))}
    modules = {text for text in found if re.fullmatch(r"(analysis|harness)(\.\w+)+", text)}
    assert len(modules) > 50
    for name in modules:
        importlib.import_module(name)
    places = {text for text in found if re.fullmatch(r"(analysis|harness)(/[\w.]+)+", text)}
    assert len(places) >= 6
    for place in places:
        assert registry.shipped(place).exists(), place


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        (r"\bimportlib\.import_module\b|\b__import__\(|\bfrom importlib import", IMPORTING),
        (r"\b__file__\b|\bimportlib\.resources\b|\bPackageLoader\b", BESIDE),
    ],
)
def test_only_the_registry_imports_by_name_and_knows_where_files_lie(pattern, allowed):
    found = {local(path) for path in SOURCES if re.search(pattern, path.read_text("utf-8"))}
    assert found == set(allowed)


def test_no_name_that_is_loaded_is_computed():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"load", "shipped"}:
                given = node.args[0]
                assert not isinstance(given, ast.JoinedStr | ast.BinOp), local(path)


def test_whatever_is_registered_for_a_class_is_found():
    table = registry.PAGES
    assert {name: [module] for name, module in table.items()} == registered(page_of.__name__)
    for module in table.values():
        registry.load(module)
    assert set(table) <= {one.__name__ for one in page_of.registry}


def test_commands_chapters_and_figures_have_their_functions():
    assert all(callable(registry.function(place)) for place, _ in registry.COMMANDS.values())
    assert all(callable(registry.function(place)) for place, _ in RUNNER.values())
    rooms = map(registry.load, registry.CHAPTERS.values())
    assert all(callable(room.chapter) for room in rooms)
    for name, kind in KINDS.items():
        assert callable(getattr(registry.load(kind.module), f"draw_{name}"))


def test_formats_have_their_readers_and_writers():
    for tool in TOOLS:
        assert callable(tool.knows)
        assert callable(tool.read)
    assert all(callable(target.writer) for target in TARGETS)
