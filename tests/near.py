"""Print the test files that import what changed since main, also by way of others, the nearest first.

Changed is what differs from where this branch left main, or on main from HEAD; new files count. What
loads a module by its name, as the command does, is not seen: ``make test`` has the rest.

python tests/near.py [CHANGED_FILE ...]
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOPS = ("harness", "analysis", "tests")
OUTSIDE = ("tests/host/", "tests/drills/", "tests/nightly/")  # have commands of their own
IMPORTS = re.compile(r"(?m)^ *(?:from ([\w.]+) import (\([^)]*\)|.*)|import ([\w., ]+))")


def git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def changed() -> list[str]:
    base = git("merge-base", "main", "HEAD") or ["HEAD"]
    return git("diff", "--name-only", *base) + git("ls-files", "-o", "--exclude-standard")


def module_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported(path: str, text: str) -> Iterator[str]:
    """Give the names that a file imports; of ``from a import b`` both ``a`` and ``a.b``."""
    package = path.split("/")[:-1]
    for source, names, plain in IMPORTS.findall(text):
        if plain:
            yield from re.findall(r"[\w.]+", plain)
            continue
        up = len(source) - len(source.lstrip("."))
        above = package[: len(package) - up + 1] if up else []
        name = ".".join([*above, *filter(None, [source.lstrip(".")])])
        yield name
        yield from (f"{name}.{one}" for one in re.findall(r"\w+", names))


def importers(files: dict[str, str]) -> dict[str, set[str]]:
    """Give of each file those that import it; a conftest is imported by the tests below its folder."""
    known = {module_of(path): path for path in files}
    found: dict[str, set[str]] = {path: set() for path in files}
    for path, text in files.items():
        for name in imported(path, text):
            if name in known:
                found[known[name]].add(path)
    for path in files:
        folder, _, name = path.rpartition("/")
        if name == "conftest.py" and folder != "tests":
            found[path] |= {one for one in files if one.startswith(f"{folder}/")} - {path}
    return found


def nearest(asked: Iterable[str], importing: dict[str, set[str]]) -> list[str]:
    """Order all that imports `asked` by how many steps away it is."""
    front = [path for path in asked if path in importing]
    seen = dict.fromkeys(front)
    while front:
        front = sorted({one for path in front for one in importing[path]} - set(seen))
        seen |= dict.fromkeys(front)
    return list(seen)


def main(asked: list[str]) -> int:
    paths = (path for top in TOPS for path in (ROOT / top).rglob("*.py"))
    files = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}
    files["tests/conftest.py"] = ""  # it reaches everything, and says nothing of what is near
    asked = asked or changed()
    found = [
        path
        for path in nearest(asked, importers(files))
        if path.rpartition("/")[2].startswith("test_") and not path.startswith(OUTSIDE)
    ]
    print(f"{len(found)} test files import what changed ({len(asked)} files)", file=sys.stderr)
    print(*found, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
