"""The ceilings of the house: lines, files, rooms, and what a command walks through may only fall.

``size.toml`` holds them, and how often which file calls `shown`, which cleans a text: renderers and printers do that
for all others. `python -m tests.contract.test_size` lowers each to what there is; nothing but a hand
raises one, in a commit whose message says why. Lines are of ``git ls-files``; code is what is left
without blank lines, comments, docstrings and imports.
"""

from __future__ import annotations

import ast
import json
import re
import runpy
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.tree

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("size.toml")
CEILINGS = tomllib.loads(TABLE.read_text())
WALKS = {
    "help": ("--help",),
    "verdict": ("verdict", "runs/sample"),
    "report": ("report", "runs/sample", "-o", "page.html"),
    "run": ("run", "configs/quickstart.yaml", "--dry-run"),
}
WALK = """
import io, json, os, sys
seen = set()
def enter(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_flags & 2 and not code.co_name.startswith("<"):
        seen.add((code.co_filename, code.co_qualname))
here, *words = sys.argv[1:]
sys.path.insert(0, here)
words = [os.path.join(here, word) if "/" in word else word for word in words]
if words[0] != "--help":
    import analysis.announcing  # a slow machine would enter more, to say what it waits for
    analysis.announcing.clock = lambda: 0.0
sys.setprofile(enter)
from harness.cli import main
assert main(words, io.StringIO(), sys.stderr) == 0
sys.setprofile(None)
rooms = (here + "/harness", here + "/analysis")  # templates count or not, as they are cached
ours = [one for one in seen if one[0].startswith(rooms) and one[0].endswith(".py")]
heavy = {"scipy.optimize", "numpy.f2py.crackfortran"}  # a third of what a verdict took to start
assert words[0] == "report" or not heavy & sys.modules.keys()
modules = [name for name in sys.modules if name.split(".")[0] in ("harness", "analysis")]
found = len(modules), len({one[0] for one in ours}), len(ours)
print(json.dumps(dict(zip(("modules", "files", "functions"), found))))
"""


def code_lines(text: str) -> int:
    """Count the lines of code of a file, as the module's docstring says."""
    lines = text.splitlines()
    open_now: list[ast.AST] = [ast.parse(text)]
    while open_now:  # statements alone: expressions are nine of ten nodes
        node = open_now.pop()
        for body in ("body", "orelse", "handlers", "finalbody", "cases"):
            open_now += getattr(node, body, ())
        match node:
            case ast.Import() | ast.ImportFrom():
                left_out: ast.stmt | None = node
            case ast.Expr(ast.Constant(str())):
                left_out = node
            case _:
                continue
        lines[left_out.lineno - 1 : left_out.end_lineno] = [""] * (
            (left_out.end_lineno or 0) - left_out.lineno + 1
        )
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in lines)


def sizes() -> dict[str, dict[str, int]]:
    """Count lines, code and files of product, tests and documentation, and the house's rooms."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    parts = ("product", "tests", "docs", "calls", "shown")
    found: dict[str, Counter[str]] = {part: Counter() for part in parts}
    for name in listed.stdout.decode().split("\0"):
        part = "product" if name.startswith(("harness/", "analysis/")) else name.partition("/")[0]
        if not name.endswith(".md" if part == "docs" else ".py") or part not in found:
            continue
        text = (ROOT / name).read_text("utf-8") if (ROOT / name).exists() else ""
        found[part] += Counter(files=1, lines=text.count("\n"))
        if part == "product":
            found[part]["code"] += code_lines(text)
            found["calls"]["shorten"] += len(re.findall(r"(?<![\w.])shorten\(", text))
            if re.search(r"words import (\([^)]*|[^\n(]*)\bshown\b", text):
                found["shown"][name] = len(re.findall(r"(?<![\w.])shown\(|\(shown,", text))
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_floors.py"))["count"]().splitlines()
    house = dict(re.fullmatch(r"(\w+).* (\d+)", line).groups() for line in drawn)
    return {**found, "house": {name: int(count) for name, count in house.items()}}


def walked(name: str, folder: Path) -> dict[str, int]:
    """Give the modules imported, and the files and functions entered, by one command."""
    words = [sys.executable, "-c", WALK, str(ROOT), *WALKS[name]]
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True)
    found = json.loads(done.stdout)
    return {"modules": found["modules"]} if name == "run" else found  # hosts have more or less


def test_code_is_counted_without_what_is_none():
    text = '"""A.\n\nB."""\n\nimport a\nfrom b import (\n    c,\n)\n\n# d\ndef e():\n    """F."""\n    return """g\nh"""\n'
    assert code_lines(text) == 3


def test_lines_files_and_rooms_do_not_grow():
    for part, found in sizes().items():
        allowed = CEILINGS[part]
        assert {key: n for key, n in found.items() if n > allowed.get(key, 0)} == {}, part


@pytest.mark.parametrize("name", WALKS)
def test_a_command_walks_through_no_more_than_before(name, tmp_path):
    found, allowed = walked(name, tmp_path), dict(CEILINGS[f"walk-{name}"])
    if name != "help":  # a slow machine enters a few more, to wait
        allowed["functions"] = allowed.get("functions", 0) * 51 // 50
    assert {key: n for key, n in found.items() if n > allowed[key]} == {}, allowed


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        walks = {f"walk-{name}": walked(name, Path(folder)) for name in WALKS}
    found = sizes() | walks
    lines = ["# python -m tests.contract.test_size lowers what may be lowered; see its docstring"]
    for part, counts in found.items():
        lines += ["", f"[{part}]"]
        for key, n in counts.items():
            least = CEILINGS.get(part, {}).get(key, 0 if part == "shown" else n)
            lines.append(f"{json.dumps(key) if '/' in key else key} = {min(n, least)}")
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
