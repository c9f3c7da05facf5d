"""The house's own rules: where things stand, what they are called, what is private."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

import analysis

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for half in ("harness", "analysis") for path in (ROOT / half).rglob("*.py"))
PACKAGES = sorted({path.parent for path in SOURCES})
OPENED = ("harness", "analysis", "analysis.methods")  # their packages are rooms of their own
# why a file may have more than 500 lines, up to 700: path -> reason
LONG: dict[str, str] = {}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def local(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=local)
def test_no_module_is_named_like_one_of_the_standard_library_or_like_a_test(path):
    assert path.stem not in sys.stdlib_module_names
    assert not path.stem.endswith("_test")


def test_no_public_name_is_a_module_or_package_of_the_judge():
    # `from analysis import name` would hand out the module, once somebody has imported it
    taken = {path.stem for path in (ROOT / "analysis").iterdir() if path.name != "__init__.py"}
    assert not taken & set(analysis.__all__)


def said_and_handed_on() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Give what the face of the judge says to a type checker, and what it hands on at run time."""
    said: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse((ROOT / "analysis/__init__.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module != "lazy_names":
            said.setdefault(node.module or "", set()).update(alias.name for alias in node.names)
    return said, {home: set(names.split()) for home, names in vars(analysis)["_ROOMS"].items()}


def test_the_one_face_hands_on_what_it_says():
    said, table = said_and_handed_on()
    assert said == table
    for home, names in table.items():
        module = importlib.import_module(f"analysis.{home}")
        for name in names:
            assert getattr(analysis, name) is getattr(module, name)
    assert dir(analysis) == sorted(set().union(*table.values())) == analysis.__all__


def room_of(module: str) -> str:
    """Give the room of a module: the folder that stands in an opened package, with all below it."""
    parts = module.split(".")
    for depth in range(len(parts), 0, -1):
        if ".".join(parts[: depth - 1]) in OPENED:
            return ".".join(parts[:depth])
    return parts[0]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def taken_from_elsewhere(text: str, module: str, known: Collection[str]) -> Iterator[str]:
    """List the private names of other rooms that a module of `text` imports or reaches for."""
    package = module.split(".") if module in {name_of(path) for path in PACKAGES} else None
    here = package or module.split(".")[:-1]
    modules: dict[str, str] = {}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {one.asname or one.name: one.name for one in node.names}
        if not isinstance(node, ast.ImportFrom):
            continue
        up = here[: len(here) - node.level + 1] if node.level else []
        base = ".".join([*up, *([node.module] if node.module else [])])
        for one in node.names:
            full = f"{base}.{one.name}"
            if full in known:
                modules[one.asname or one.name] = full
            ours = full.partition(".")[0] in {"harness", "analysis"}
            if ours and any(map(is_private, full.split("."))) and room_of(full) != room_of(module):
                yield full
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            home = modules.get(ast.unparse(node.value), "")
            if home.partition(".")[0] in {"harness", "analysis"} and room_of(home) != room_of(
                module
            ):
                yield f"{home}.{node.attr}"


def test_what_is_private_is_used_in_its_room_alone():
    known = {name_of(path) for path in SOURCES}
    found = {
        local(path): taken
        for path in SOURCES
        if (taken := list(taken_from_elsewhere(path.read_text(), name_of(path), known)))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("from ..one.ranks import _order", ["analysis.one.ranks._order"]),
        ("from ..one import ranks as r\nr._order()", ["analysis.one.ranks._order"]),
        ("import analysis.one.ranks\nanalysis.one.ranks._n", ["analysis.one.ranks._n"]),
        ("from ..one import _ranks", ["analysis.one._ranks"]),
        ("from .matrix import _order\nself._order\nfrom os import _exit", []),
        ("from ..one.ranks import order, __doc__", []),
    ],
)
def test_a_private_name_of_another_room_would_be_found(text, taken):
    known = {"analysis.one.ranks", "analysis.two.matrix"}
    assert list(taken_from_elsewhere(text, "analysis.two.columns", known)) == taken


@pytest.mark.parametrize("path", PACKAGES, ids=local)
def test_a_folder_can_be_taken_in_at_a_glance(path):
    assert len([entry for entry in path.glob("*.py") if entry.name != "__init__.py"]) <= 20


def test_long_files_have_a_reason():
    lengths = {local(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name for name, lines in lengths.items() if lines > 500} == set(LONG)
    assert [name for name, lines in lengths.items() if lines > 700] == []


def streams(text: str) -> set[str]:
    """Give how a module reaches for a stream of the process: by name, or with print."""
    said = {
        ast.unparse(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute | ast.Name | ast.ImportFrom)
    }
    pattern = r"print|sys\.(__)?(stdout|stderr)(__)?|from sys import .*"
    return {text for text in said if re.fullmatch(pattern, text)}


def test_only_the_command_line_knows_the_streams_of_the_process():
    # commands and what a person watches are handed theirs
    found = {local(path) for path in SOURCES if streams(path.read_text())}
    assert found == {"harness/cli.py"}
    assert streams("import sys\nsys.stderr.write('x')\nprint(1)") == {"sys.stderr", "print"}
    assert streams("from sys import stdout") == {"from sys import stdout"}


def test_help_imports_the_command_line_and_nothing_behind_it():
    code = (
        "import sys, io; from harness.cli import main; main(['--help'], io.StringIO(), sys.stderr);"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    ours = {name for name in loaded if name.partition(".")[0] in {"harness", "analysis"}}
    floor = {"errors", "lazy_names", "record", "record.printer", "registry", "version"}
    assert ours == {"harness", "harness.cli", "analysis", *(f"analysis.{name}" for name in floor)}
    assert not {"numpy", "yaml", "rich", "psutil", "json", "joblib"} & loaded


def test_the_picture_of_the_floors_is_fresh():
    # otherwise: python docs/draw_floors.py
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_floors.py"))
    assert drawn["PICTURE"].read_text() == drawn["picture"]()


def test_the_house_has_few_rooms_and_floors_no_circle_and_no_arrow_up():
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_floors.py"))
    rooms, floors, circles, up = (int(line.split()[-1]) for line in drawn["count"]().splitlines())
    assert rooms <= 22
    assert floors <= 11
    assert (circles, up) == (0, 0)


def test_circles_and_arrows_up_are_counted():
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_floors.py"))
    rooms = dict.fromkeys(("analysis.data", "analysis.pages", "analysis.methods.hpt"), 1)
    arrows = {
        ("analysis.data", "analysis.pages"),
        ("analysis.pages", "analysis.data"),
        ("analysis.methods.hpt", "analysis.data"),
    }
    assert drawn["circles"](rooms, arrows) == [{"analysis.data", "analysis.pages"}]
    assert drawn["circles"](rooms, arrows - {("analysis.pages", "analysis.data")}) == []
    assert drawn["arrows_up"](arrows) == [("analysis.pages", "analysis.data")]
