"""What judges the tests themselves: workers, skips, planted hosts that are lent, calibrations that passed."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import runpy
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import too_many
from tests.hosts import trees

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
passed = SimpleNamespace(**runpy.run_path(str(TESTS / "calibration/passed.py")))


def test_reasons_of_one_kind_count_together() -> None:
    found = Counter({"no R: a": 2, "no R: b": 1})
    assert too_many(found, {"no R*": 3, "no jq": 1}) == []
    assert too_many(found, {"no R*": 2}) == ["3 skipped, 2 expected at most: no R*"]


@pytest.mark.parametrize("folder", ["nightly", "drills", "host", "calibration", "benchmarks"])
def test_what_the_product_has_no_more_is_imported_by_no_test_that_others_execute(folder) -> None:
    nodes = (
        n for path in (TESTS / folder).rglob("*.py") for n in ast.walk(ast.parse(path.read_text()))
    )
    found = [
        n
        for n in nodes
        if isinstance(n, ast.ImportFrom) and re.match("analysis|harness", n.module or "")
    ]
    names = {(node.module, one.name) for node in found for one in node.names}
    assert names
    for module, name in names:
        has = hasattr(importlib.import_module(module), name)
        assert has or importlib.util.find_spec(f"{module}.{name}"), (module, name)


# --- model hosts that are used again


def there(root: Path) -> dict[str, str | None]:
    paths = {path.relative_to(root).as_posix(): path for path in root.rglob("*")}
    return {name: path.read_text() if path.is_file() else None for name, path in paths.items()}


def test_a_host_that_is_lent_is_the_one_that_is_planted(tmp_path: Path) -> None:
    asked = [make() for make in trees.TREES.values()]
    asked += [asked[0] | {"proc/stat": None}, asked[0] | {"run": "EMPTY FOLDER"}, {"x": "1"}]
    planted = [there(trees.plant(tmp_path / str(k), tree)) for k, tree in enumerate(asked)]
    for k in (*range(len(asked)), *range(0, len(asked), 2), 0):
        assert there(trees.lent(asked[k])) == planted[k]
        with trees.borrowed(asked[k]) as root:
            assert there(root) == planted[k]
            shutil.rmtree(root / "proc", ignore_errors=True)
            (root / "proc/stat").mkdir(parents=True)
            (root / "proc/more").symlink_to(tmp_path)
            (root / "etc").mkdir(exist_ok=True)
            (root / "etc/more").write_text("x")


# --- what the calibrations have passed with


FIRST_TEXT = '''"""What it is."""

import os

LIMIT = 3


def one(value: int) -> int:
    """Say one."""
    return value + LIMIT


class Two:
    """Two."""

    def say(self):
        return "two"
'''


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """Give a file of a method, in a tree with nothing else."""
    path = tmp_path / "analysis/methods/hpt/kernel.py"
    path.parent.mkdir(parents=True)
    path.write_text(FIRST_TEXT)
    (tmp_path / "analysis/elsewhere").mkdir()
    return path


def test_a_changed_definition_or_library_asks_for_the_calibrations(
    tmp_path: Path, kernel: Path
) -> None:
    before = passed.state(tmp_path)
    assert passed.differences(before, tmp_path) == []
    kernel.write_text(FIRST_TEXT.replace("LIMIT = 3", "LIMIT = 4").replace('"two"', '"three"'))
    kernel.with_name("new.py").write_text("def three(): pass\n")
    (tmp_path / "analysis/elsewhere/text.py").write_text("def four(): 'no number depends on it'\n")
    after = passed.state(tmp_path)
    changed = ["LIMIT has changed", "Two has changed", "three is new"]
    assert passed.differences(before, tmp_path) == changed
    assert "three is gone" in passed.changes(after, before)
    newer = {**before, "libraries": {**before["libraries"], "numpy": "9.9"}}
    was = before["libraries"]["numpy"]
    assert passed.changes(before, newer) == [f"numpy has changed: {was} -> 9.9"]


@pytest.mark.parametrize(
    ("found", "written"),
    [
        ('    """Say one."""\n', ""),
        ("import os\n", "from ..errors import why\n"),
        ("value: int) -> int", "value)"),
        ("return value + LIMIT", "return (value + LIMIT)  # as it was"),
    ],
)
def test_what_changes_no_number_asks_for_nothing(
    tmp_path: Path, kernel: Path, found: str, written: str
) -> None:
    before = passed.state(tmp_path)
    assert found in FIRST_TEXT
    kernel.write_text(FIRST_TEXT.replace(found, written))
    assert passed.differences(before, tmp_path) == []


def test_a_definition_that_moves_asks_for_nothing(tmp_path: Path, kernel: Path) -> None:
    before = passed.state(tmp_path)
    head, found, rest = FIRST_TEXT.partition("class Two:")
    kernel.write_text(head)
    inside, outside = (
        tmp_path / "analysis/methods/words.py",
        tmp_path / "analysis/elsewhere/words.py",
    )
    inside.write_text(found + rest)
    assert passed.differences(before, tmp_path) == []
    inside.rename(outside)
    assert passed.differences(before, tmp_path) == []
    kernel.write_text(FIRST_TEXT.replace(found + rest, "def further(): pass"))
    outside.write_text(found + rest.replace("two", "deux"))
    assert passed.differences(before, tmp_path) == ["Two is gone", "further is new"]


def test_every_calibration_is_one_and_has_spot_checks() -> None:
    files = sorted((TESTS / "calibration").glob("test_*.py"))
    assert len(files) >= 8
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "\npytestmark = pytest.mark.calibration\n" in text, path.name
        assert "spot_check" in text, path.name


def test_what_passed_covers_every_kernel_method_and_rule() -> None:
    files = set(passed._files(ROOT, passed.SUBJECTS, ".py"))
    sources = (ROOT / "analysis").rglob("*.py")
    kernels = {path for path in sources if "\n@kernel\n" in path.read_text("utf-8")}
    assert len(kernels) >= 5
    assert kernels <= files
    assert all((ROOT / subject).exists() for subject in passed.SUBJECTS)
    for rule, names in passed.RULES.items():
        told = {name for name, _ in passed.definitions((ROOT / rule).read_text("utf-8"))}
        assert set(names.split()) <= told, rule
    text = "".join(path.read_text("utf-8") for path in files)
    assert all(f"\ndef {name}(" in text for name in ("fit_mixture", "stream", "hpt"))
