"""Make the project's virtual environment, on whatever a machine offers.

Tried in this order: python3 -m venv; python3 -m venv --without-pip with the pip of the base
interpreter; uv; virtualenv. Debian's python3 without python3-venv leaves a broken folder behind, so
each attempt starts from nothing. Where pip can install uv, uv installs the rest, from the places that
pip is configured for: a sixth of the CPU time. Where it cannot, pip does.

The versions are those of tests/constraints.txt, with which the tests are known to pass; `make
constraints` resolves them anew.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
WANTED = ["-e", ".[test,dev]", "-c", "tests/constraints.txt"]


def call(*command: str, environment: dict[str, str] | None = None) -> bool:
    print("+", " ".join(command), flush=True)
    known = {**os.environ, **(environment or {})}
    return subprocess.run(command, cwd=PROJECT, env=known, check=False).returncode == 0


# pip's key, uv's variable, and what stands between several values; where only one may be, nothing
SETTINGS = (
    ("index-url", "UV_DEFAULT_INDEX", ""), ("extra-index-url", "UV_INDEX", " "),
    ("find-links", "UV_FIND_LINKS", ","), ("trusted-host", "UV_INSECURE_HOST", " "),
    ("constraint", "UV_CONSTRAINT", " "), ("cert", "SSL_CERT_FILE", ""),
)  # fmt: skip


def places_of_pip(python: str) -> dict[str, str]:
    """Give where pip looks for packages, as variables for uv."""
    words = [python, "-m", "pip", "config", "list"]
    listed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    known: dict[str, list[str]] = {}
    for line in listed.splitlines():  # such as global.extra-index-url='file:///one file:///two'
        name, _, value = line.partition("=")
        section, _, key = name.rpartition(".")
        if section in {":env:", "global", "install"}:
            known.setdefault(key, []).extend(value.strip("'\"").split())
    found = {
        variable: between.join(dict.fromkeys(known[key])) if between else known[key][0]
        for key, variable, between in SETTINGS
        if key in known
    }
    return found | {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # all places are equal, as for pip


def with_venv(place: Path) -> bool:
    python = str(place / "bin" / "python")
    pip = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    if not call(sys.executable, "-m", "venv", str(place)):
        return False
    if call(*pip, "uv", "-c", "tests/constraints.txt") and installed(place, python, WANTED):
        return True
    return call(*pip, *WANTED)


def installed(place: Path, python: str, wanted: Sequence[str]) -> bool:
    """Install with the uv of the environment at `place`, into that of `python`."""
    uv = (str(place / "bin" / "uv"), "pip", "install", "-q", "--python", python)
    if call(*uv, *wanted, environment=places_of_pip(str(place / "bin" / "python"))):
        return True
    print("uv could not do it: pip does", flush=True)
    return False


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


def into(other: str, wanted: Sequence[str]) -> int:
    """Install packages into another environment: by this one's uv, or by the other's own pip."""
    if installed(Path(sys.prefix), other, wanted):
        return 0
    return int(not call(other, "-m", "pip", "install", "-q", *wanted))


def main() -> int:
    if sys.argv[1] == "--into":
        return into(str(Path(sys.argv[2]).absolute() / "bin" / "python"), sys.argv[3:])
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
