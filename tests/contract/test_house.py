"""The house's own rules: where things stand, what they are called, what packages hand on."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import analysis
from analysis.stats.compiled import kernel_sources

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for half in ("harness", "analysis") for path in (ROOT / half).rglob("*.py"))
PACKAGES = sorted({path.parent for path in SOURCES})
FACES = [path for path in SOURCES if path.name == "__init__.py" and "hands_on(" in path.read_text()]
# why a file may be longer than 400 lines
LONG: dict[str, str] = {}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def local(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=local)
def test_no_module_is_named_like_one_of_the_standard_library(path):
    assert path.stem not in sys.stdlib_module_names


def test_no_public_name_is_a_module_or_package_of_the_judge():
    # `from analysis import name` would hand out the module, once somebody has imported it
    taken = {path.stem for path in (ROOT / "analysis").iterdir() if path.name != "__init__.py"}
    assert not taken & set(analysis.__all__)


def handed_on(path: Path) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Give what a face says to the type checker, and what it hands on at run time."""
    said: dict[str, set[str]] = {}
    table: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module != "faces":
            said.setdefault(node.module or "", set()).update(alias.name for alias in node.names)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "hands_on":
            given = node.args[1]
            tables = {"_ROOMS": vars(analysis).get("_ROOMS")} | {
                "": ast.literal_eval(given) if isinstance(given, ast.Dict) else None
            }
            rooms = tables[getattr(given, "id", "")]
            table = {room: set(names.split()) for room, names in rooms.items()}
    return said, table


@pytest.mark.parametrize("path", FACES, ids=local)
def test_a_face_hands_on_what_it_says(path):
    said, table = handed_on(path)
    assert said == table
    package = importlib.import_module(name_of(path))
    for room, names in table.items():
        home = importlib.import_module(f"{name_of(path)}.{room}")
        for name in names:
            assert getattr(package, name) is getattr(home, name)
    assert dir(package) == sorted(set().union(*table.values()))


@pytest.mark.parametrize("path", FACES, ids=local)
def test_no_handed_on_name_is_a_room_of_its_package(path):
    # once the room is imported, the package's attribute of that name is the module
    rooms = {entry.stem for entry in path.parent.iterdir()}
    assert not rooms & set().union(*handed_on(path)[1].values())


@pytest.mark.parametrize("path", PACKAGES, ids=local)
def test_a_folder_can_be_taken_in_at_a_glance(path):
    assert len([entry for entry in path.glob("*.py") if entry.name != "__init__.py"]) <= 20


def test_long_files_have_a_reason():
    long = {local(path) for path in SOURCES if len(path.read_text().splitlines()) > 400}
    assert long == set(LONG)


def kernels(text: str) -> list[str]:
    """List the functions that are compiled by our decorator, whatever module it is reached by."""
    return [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        for mark in node.decorator_list
        if ast.unparse(mark).rpartition(".")[2] == "kernel"
    ]


def test_every_kernel_is_part_of_the_caches_name():
    # a file left out would go on with yesterday's machine code after a change of its kernels
    with_kernels = {path for path in SOURCES if kernels(path.read_text())}
    assert len(with_kernels) >= 8
    assert with_kernels <= set(kernel_sources())
    assert kernels("@compiled.kernel\ndef f(x): return x") == ["f"]


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
    front = {"harness", "harness.cli", "analysis", "analysis.cli", "analysis.errors"} | {
        "analysis.printer"
    }
    commands = {name for name in ours if re.match(r"(harness|analysis)\.commands\b", name)}
    formats = {
        "analysis.formats",
        "analysis.formats.registry",
    }  # which files there are, for the help
    assert ours - commands - front - formats == {"analysis.faces", "analysis.version"}
    assert "harness.commands.compare_campaign" not in commands
    assert not {"numpy", "yaml", "rich", "psutil", "json", "joblib"} & loaded


def test_the_picture_of_the_floors_is_fresh():
    # otherwise: python docs/draw_floors.py
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_floors.py"))
    assert drawn["PICTURE"].read_text() == drawn["picture"]()
