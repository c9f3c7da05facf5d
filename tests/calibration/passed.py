"""What the calibrations have passed with, and what has changed since.

They take minutes, so that not every test run makes all of them: `make calibrate` does, and then writes
beside this file what they depend on. While that agrees with the tree, they need no repetition.

What counts is the parsed code of each definition, not where it stands: moving it to another file or
renaming a room changes no number, and asks for no calibration. Nor do docstrings, comments, imports
and annotations.

python tests/calibration/passed.py            says what has changed; exit code 1 if anything has
python tests/calibration/passed.py --write    after all of them have passed
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib.metadata
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PASSED = Path(__file__).with_name("passed.json")
OWN = ("tests/calibration/passed.py", "tests/calibration/passed.json")
# Methods with their kernels and tables, what is counted of them, streams, and the calibrations
# themselves: folders, or single files.
SUBJECTS = (
    "analysis/diagnose/modes.py",
    "analysis/history/changes.py",
    "analysis/history/judged.py",
    "analysis/history/judging.py",
    "analysis/history/least_p.json",
    "analysis/history/ordered.py",
    "analysis/history/places.py",
    "analysis/history/step_search.py",
    "analysis/methods",
    "analysis/plan",
    "analysis/stats",
    "analysis/verdict/comparison.py",
    "analysis/verdict/comparison_effects.py",
    "analysis/verdict/comparison_result.py",
    "analysis/diagnose/explain.py",
    "tests/calibration",
)
# What a calibration executes of a file that holds more: file -> definitions.
RULES = {
    "analysis/diagnose/cell_tests.py": """
        LEAST_OF_MODE _COMPONENTS _RISK _RESAMPLES _PLACES _HINT _MOST _BEYOND
        modes_by_values _valleys _without_few _gap _joined _one_mode
    """,
    "analysis/diagnose/why_result.py": "INSTRUCTIONS _WORK story_of",
    "analysis/history/bisection.py": "words_of_metrics",
    "analysis/record/run_numbers.py": """
        SHARE LEAST_NS MOST_REPEATS waited_ns is_disturbed judged_row Disturbances DisturbanceTally
    """,
    "analysis/record/trial_files.py": "LOOKS OPEN_LOOKS with_look",
    "harness/trial/plan.py": "PlannedSession _rounds",
    "harness/trial/outcomes.py": """
        _IN_A_ROW _NAMED _CHECK RepeatedRun repeats_of Repeats still_to_do repeats_left
        stored_repeats recorded_repeats _in_vain
    """,
}
# Where a definition of the subjects may have moved to without having changed.
EVERYWHERE = ("analysis", "harness", "tests/calibration")
LIBRARIES = ("numba", "numpy", "scikit-learn", "scipy")

# kind -> name -> what is held against the tree; of definitions the hashes of all that have the name
State = dict[str, dict[str, str]]

_PLACE = re.compile(r"\b(?:analysis|harness)(?:[./]\w+)+")
_NOT_CODE = {"annotation", "returns", "type_comment", "type_params", "ctx", "kind"}
_HAND_ON = {"__all__", "__getattr__", "__dir__"}  # what a package hands on is no number


def definitions(text: str) -> Iterator[tuple[str, str]]:
    """Give the name and the hash of each definition of a module."""
    for node in ast.parse(text).body:
        said = _code(node)
        name = _name(node)
        if said and name not in _HAND_ON:
            yield name, hashlib.sha256(said.encode()).hexdigest()[:16]


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    first = targets[0].elts[0] if isinstance(targets[0], ast.Tuple) else targets[0]
    return first.id if isinstance(first, ast.Name) else type(node).__name__


def _is_no_code(node: object) -> bool:
    """Tell what no number can depend on: imports, docstrings, what a type checker alone reads."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("TypeVar(")


def _code(node: object) -> str:
    """Spell the code in one way, whatever its Python version and layout; "" where there is none."""
    if _is_no_code(node):
        return ""
    if isinstance(node, list):
        return ",".join(filter(None, map(_code, node)))
    if isinstance(node, ast.Constant):
        value = node.value
        return repr(_PLACE.sub("", value) if isinstance(value, str) else value)
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = [
        f"{name}={said}"
        for name, value in ast.iter_fields(node)
        if name not in _NOT_CODE and value is not None and (said := _code(value))
    ]
    if isinstance(node, ast.AnnAssign) and "ClassVar" in ast.unparse(node.annotation):
        parts.append("ClassVar")
    return f"{type(node).__name__}({';'.join(parts)})"


def _files(root: Path, places: Iterable[str], *endings: str) -> list[Path]:
    found = {
        path
        for place in places
        for path in ((root / place).rglob("*") if (root / place).is_dir() else [root / place])
        if path.suffix in endings and path.exists()
    }
    return sorted(found - {root / name for name in OWN})


def _found(paths: Iterable[Path]) -> dict[str, str]:
    hashes: dict[str, set[str]] = {}
    for path in paths:
        for name, digest in definitions(path.read_text(encoding="utf-8")):
            hashes.setdefault(name, set()).add(digest)
    return {name: " ".join(sorted(found)) for name, found in sorted(hashes.items())}


def state(root: Path = ROOT) -> State:
    """Give the hashes of the definitions below `root`, of tables, and the libraries' versions."""
    found = _found(_files(root, SUBJECTS, ".py"))
    for rule, names in RULES.items():
        known = _found(_files(root, [rule], ".py"))
        for name in names.split():
            both = {*found.get(name, "").split(), *known.get(name, "").split()}
            found[name] = " ".join(sorted(both))
    return {
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "tables": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in _files(root, SUBJECTS, ".json")
        },
        "definitions": {name: hashes for name, hashes in sorted(found.items()) if hashes},
    }


def changes(then: State, now: State, elsewhere: dict[str, str] | None = None) -> list[str]:
    """Say what differs, a line each; a definition that stands `elsewhere` has only moved."""
    found = []
    moved = elsewhere or {}
    for kind in sorted(then.keys() | now.keys()):
        before, after = then.get(kind, {}), now.get(kind, {})
        for name in sorted(before.keys() | after.keys()):
            old, new = set(before.get(name, "").split()), set(after.get(name, "").split())
            lost, added = old - new - set(moved.get(name, "").split()), new - old
            if kind == "libraries" and lost:
                found.append(f"{name} has changed: {' '.join(lost)} -> {' '.join(added)}")
            elif lost:
                found.append(f"{name} {'has changed' if added else 'is gone'}")
            elif added:
                found.append(f"{name} is new")
    return found


def differences(then: State, root: Path = ROOT) -> list[str]:
    """Say what has changed below `root`."""
    now = state(root)
    if not changes(then, now):
        return []
    return changes(then, now, _found(_files(root, EVERYWHERE, ".py")))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="all of them have passed, just now")
    if parser.parse_args().write:
        PASSED.write_text(json.dumps(state(), indent=1) + "\n", encoding="utf-8")
        return 0
    if not PASSED.exists():
        print(f"no calibration has passed yet: there is no {PASSED.relative_to(ROOT)}")
        return 1
    found = differences(json.loads(PASSED.read_text(encoding="utf-8")))
    if found:
        print("since the calibrations have passed:", *found, sep="\n  ")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
