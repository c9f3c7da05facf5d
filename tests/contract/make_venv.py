"""Make the project's virtual environment, on whatever a machine offers.

Tried in this order: python3 -m venv; python3 -m venv --without-pip with the pip of the base
interpreter; uv; virtualenv. Debian's python3 without python3-venv leaves a broken folder behind, so
each attempt starts from nothing.

The versions are those of tests/constraints.txt, with which the tests are known to pass; `make
constraints` resolves them anew.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
WANTED = ["-e", ".[test,dev]", "-c", "tests/constraints.txt"]


def call(*command: str) -> bool:
    print("+", " ".join(command), flush=True)
    return subprocess.run(command, cwd=PROJECT, check=False).returncode == 0


def with_venv(place: Path) -> bool:
    python = str(place / "bin" / "python")
    return call(sys.executable, "-m", "venv", str(place)) and call(
        python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *WANTED
    )


def without_pip(place: Path) -> bool:
    python = str(place / "bin" / "python")
    return call(sys.executable, "-m", "venv", "--without-pip", str(place)) and call(
        sys.executable, "-m", "pip", "--python", python, "install", "-q", *WANTED
    )


def with_uv(place: Path) -> bool:
    python = str(place / "bin" / "python")
    return call("uv", "venv", "-q", "--python", sys.executable, str(place)) and call(
        "uv", "pip", "install", "-q", "--python", python, *WANTED
    )


def with_virtualenv(place: Path) -> bool:
    python = str(place / "bin" / "python")
    return call("virtualenv", "-q", "-p", sys.executable, str(place)) and call(
        python, "-m", "pip", "install", "-q", *WANTED
    )


def main() -> int:
    place = Path(sys.argv[1]).absolute()
    ways: list[tuple[Callable[[Path], bool], str | None]] = [
        (with_venv, None),
        (without_pip, None),
        (with_uv, "uv"),
        (with_virtualenv, "virtualenv"),
    ]
    for way, program in ways:
        if program is not None and shutil.which(program) is None:
            continue
        shutil.rmtree(place, ignore_errors=True)
        if way(place):
            return 0
    shutil.rmtree(place, ignore_errors=True)
    print(
        "No virtual environment could be made. On Debian and Ubuntu: sudo apt install python3-venv;"
        "\notherwise install uv or virtualenv. If the steps above speak of the network, the package"
        "\nindex could not be reached.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
