"""Pass the quick tests with the lowest versions that pyproject.toml allows, and with other Pythons.

Each in an environment of its own below .venv-versions. What is missing or skipped is said: an
interpreter that is not there has passed nothing.

python tests/contract/versions.py [--only NAME]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from make_venv import places_of_pip

PROJECT = Path(__file__).resolve().parents[2]
PLACE = PROJECT / ".venv-versions"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")  # the first gets the lowest versions that are allowed
EXTRAS = ("zstd", "parquet", "sources", "dask")  # of a user
TESTS = ("tests/unit", "tests/golden", "tests/contract")
MISSING = "not executed: no such interpreter on PATH or in ~/.pyenv, and uv could fetch none"
UV = Path(sys.executable).with_name("uv")
PASSED = re.compile(r"\d+ passed(, \d+ (skipped|deselected|warnings?))* in .*")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One environment: an interpreter, and which of the allowed versions it gets."""

    name: str
    python: str | None
    resolution: str


def works(command: str | Path) -> bool:
    """Try it: a version manager may leave a command that only says that there is none."""
    return subprocess.run([command, "-V"], capture_output=True, check=False).returncode == 0


def interpreter(version: str) -> str | None:
    """Find an interpreter on PATH, or among those of pyenv, or one that uv has or fetches."""
    managed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = (shutil.which(f"python{version}"), *map(str, managed))
    known = next((command for command in found if command and works(command)), None)
    return known or fetched(version)


def fetched(version: str) -> str | None:
    with suppress(subprocess.CalledProcessError):
        uv("python install", version)
        words = [UV, "python", "find", version]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    return None


def cells() -> list[Cell]:
    oldest, *newer = PYTHONS
    return [
        Cell(name="lowest", python=interpreter(oldest), resolution="lowest-direct"),
        *(Cell(name=v, python=interpreter(v), resolution="highest") for v in newer),
    ]


def uv(command: str, *words: str | Path) -> None:
    subprocess.run([UV, *command.split(), "-q", *words], cwd=PROJECT, check=True)


def execute(cell: Cell) -> str:
    """Make the environment and pass the tests in it; give the last line of what pytest says."""
    assert cell.python is not None
    folder = PLACE / cell.name
    python, versions = folder / "bin" / "python", folder / "versions.txt"
    shutil.rmtree(folder, ignore_errors=True)
    uv("venv --seed", "--python", cell.python, folder)  # with pip, which tests execute
    # Only what a user has is lowest: the tools of the tests are as new as can be.
    extras = [f"--extra={name}" for name in EXTRAS]
    resolved = f"pip compile --resolution {cell.resolution} pyproject.toml"
    uv(resolved, *extras, "-o", versions, "-p", python)
    uv("pip install -e .[test]", "-c", versions, "-p", python)
    subprocess.run([python, "tests/compile_kernels.py"], cwd=PROJECT, check=True)
    alone = [python, "tests/own_network.py", python, "-m", "pytest"]
    done = subprocess.run(
        [*alone, "-q", "-n", "2", "--dist", "loadgroup", *TESTS],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    print(done.stdout, flush=True)
    last = [line.strip("= ") for line in done.stdout.splitlines() if " passed" in line]
    return last[-1] if last else f"pytest ended with {done.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="NAME", help="one cell: lowest, 3.12, ...")
    only = parser.parse_args().only
    os.environ |= places_of_pip(sys.executable)
    said: dict[str, str] = {}
    for cell in cells():
        if only not in {None, cell.name}:
            continue
        try:
            said[cell.name] = execute(cell) if cell.python else MISSING
        except subprocess.CalledProcessError as error:
            said[cell.name] = f"no environment: {' '.join(map(str, error.cmd))}"
    for name, line in said.items():
        print(f"{name:<8} {line}")
    missing = sum(line == MISSING for line in said.values())
    print(f"{len(said) - missing} of {len(said)} executed")
    return int(any(line != MISSING and not PASSED.fullmatch(line) for line in said.values()))


if __name__ == "__main__":
    sys.exit(main())
