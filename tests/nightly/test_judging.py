"""The judgement of a toy project of which it is known who survives."""

from __future__ import annotations

import io
import shutil
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from tests.mutants import records
from tests.mutants.__main__ import main

PRODUCT = """
LIMIT = 10


def checked(x):
    return x > 0 and x < LIMIT


def unchecked(x):
    return x > 0


def executed_but_not_looked_at(x):
    return x * 2


def waits(n):
    while n > 3:
        n -= 1
    return n


def by_a_process():
    return 5
"""
TESTS = """
import subprocess, sys, time
import pytest
from harness.toy import wall

def test_checked():
    assert [wall.checked(x) for x in (0, 1, 9, 10)] == [False, True, True, False]

def test_nothing():
    wall.executed_but_not_looked_at(3)

def test_waits():
    assert wall.waits(6) == 3

def test_process():
    code = "from harness.toy import wall; raise SystemExit(wall.by_a_process())"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 5

def test_that_fails_always():
    wall.executed_but_not_looked_at(4)
    raise AssertionError
"""


def execute(tree: Path, *words: str) -> str:
    """Judge a tree; give what is printed."""
    with redirect_stdout(io.StringIO()) as told:
        assert main(["--tree", str(tree), *words]) == 0
    return told.getvalue()


def judged(tree: Path) -> list[dict[str, Any]]:
    return records.read(tree / ".mutants" / "records.jsonl")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("toy")
    for path, text in (
        ("harness/toy/wall.py", PRODUCT),
        ("tests/unit/harness/toy/test_wall.py", TESTS),
    ):
        (tree / path).parent.mkdir(parents=True)
        (tree / path).write_text(text)
    (tree / "harness/__init__.py").touch()
    (tree / "harness/toy/__init__.py").touch()
    (tree / "analysis").mkdir()
    return tree


@pytest.fixture(scope="module")
def said(toy: Path) -> str:
    """Judge the toy; give what is printed."""
    assert "stage own: 8 mutants of 1 rooms" in execute(toy, "--dry-run")
    assert not (toy / ".mutants").exists()
    return execute(toy, "--limit", "15")


def test_who_is_killed_and_who_is_not(toy, said):
    known = judged(toy)
    own = {(one["function"], one["result"]) for one in known if one["stage"] == "own"}
    assert {result for function, result in own if function == "unchecked"} == {"no test"}
    # its only other test fails without a mutant, too: it judges nobody
    assert {r for function, r in own if function == "executed_but_not_looked_at"} == {"survived"}
    for function in ("checked", "", "by_a_process"):
        assert {result for name, result in own if name == function} == {"killed"}
    assert {r for name, r in own if name == "waits"} <= {"killed", "timeout"}
    assert (toy / "harness/toy/wall.py").read_text() == PRODUCT
    assert (toy / ".mutants/tree/harness/toy/wall.py").read_text() == PRODUCT
    assert "executed_but_not_looked_at" in said
    assert "harness/toy" in said

    # what is judged is not judged again; a torn run goes on
    lines = (toy / ".mutants/records.jsonl").read_text().splitlines(keepends=True)
    (toy / ".mutants/records.jsonl").write_text("".join(lines[:-3]) + lines[-3][:20])
    execute(toy, "--limit", "15")
    again = [(one["mutant"], one["stage"]) for one in judged(toy)]
    assert sorted(again) == sorted((one["mutant"], one["stage"]) for one in known)


@pytest.mark.usefixtures("said")
def test_the_same_mutants_are_judged_in_a_tree_whose_files_moved(toy, tmp_path):
    tree = tmp_path / "after"
    (tree / "harness").mkdir(parents=True)
    (tree / "analysis").mkdir()
    (tree / "harness/__init__.py").touch()
    for old, new in (
        ("harness/toy", "harness/lego"),
        ("tests/unit/harness/toy", "tests/unit/harness/lego"),
    ):
        (tree / new).mkdir(parents=True)
        for path in (toy / old).glob("*.py"):
            (tree / new / path.name).write_text(
                path.read_text().replace("harness.toy", "harness.lego")
            )
    before = toy / ".mutants/records.jsonl"
    said = execute(tree, "--limit", "15", "--stages", "own", "--pair", str(before))
    assert {one["before"] for one in judged(tree)} == {one["mutant"] for one in judged(toy)}
    row = said.splitlines()[-2].split()
    assert row[0] == "all"
    assert row[4:6] == ["0", "0"]


@pytest.mark.usefixtures("said")
def test_who_killed_before_is_asked_first_and_the_others_when_that_is_not_enough(toy, tmp_path):
    tree = tmp_path / "weaker"
    shutil.copytree(toy, tree, ignore=shutil.ignore_patterns(".mutants"))
    tests = tree / "tests/unit/harness/toy/test_wall.py"
    weaker = tests.read_text().replace("(0, 1, 9, 10)", "(0, 1)").replace(", True, False]", "]")
    tests.write_text(weaker)
    before = toy / ".mutants/records.jsonl"
    said = execute(tree, "--limit", "15", "--stages", "own", "--pair", str(before))
    stages = {one["function"]: one["stage"] for one in judged(tree) if one["result"] == "killed"}
    assert stages["by_a_process"] == "again"
    # who lives now was asked by the others, too
    alive = {one["function"] for one in judged(tree) if one["result"] == "survived"}
    assert alive & {"checked", ""}
    row = said.splitlines()[-2].split()
    assert row[0] == "all"
    assert int(row[4]) >= 1
