"""The two installations that are compared: the tree at a tag or commit, and the tree as it lies here.

Each is a wheel in a virtual environment of its own, with compiled bytecode; the dependencies are those of the
project's environment, the same for both. They are kept below build/unchanged by what is in the tree.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
BUILD = PROJECT / "build" / "unchanged"
TAKEN = (".", ":!tests", ":!runs")  # what a build reads, wherever a tree has it


@dataclass(frozen=True, kw_only=True)
class Installation:
    """A tree that is installed: `key` names its content, `place` is its virtual environment."""

    key: str
    place: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.place / "bin" / "python"

    @property
    def kernels(self) -> Path:
        """Where it keeps its machine code; no other tree's is taken."""
        return BUILD / "kernels" / self.key


def install_commit(name: str) -> Installation:
    """Install the tree at the tag or commit `name`."""
    archive = _call("git", "archive", "--format=tar", name, *TAKEN)
    BUILD.mkdir(parents=True, exist_ok=True)
    source = BUILD / "sources" / "base"
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(source, filter="data")
    return _install(source)


def install_present() -> Installation:
    """Install the tree as it lies here, committed or not."""
    source = BUILD / "sources" / "now"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    listed = _call("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *TAKEN)
    for name in filter(None, listed.decode().split("\0")):
        if (PROJECT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(PROJECT / name, source / name)
    return _install(source)


def _install(source: Path) -> Installation:
    key = _content(source)
    made = Installation(key=key, place=BUILD / "installed" / key)
    ready = made.place / "ready"
    if ready.exists():
        return made
    print(f"installing {source.name} as {key}", file=sys.stderr, flush=True)
    shutil.rmtree(made.place, ignore_errors=True)
    _call(sys.executable, "-m", "venv", "--without-pip", made.place)
    wheels = made.place / "wheel"
    _call(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", wheels, source)
    (wheel,) = wheels.glob("*.whl")
    install = ("install", "-q", "--no-deps", "--compile", wheel)
    _call(sys.executable, "-m", "pip", "--python", made.python, *install)
    (own,) = made.place.glob("lib/python3*/site-packages")
    # A path in a .pth file is searched, and the .pth files in that folder are not obeyed: what is
    # installed there for editing is not found.
    (shared,) = Path(sys.prefix).glob("lib/python3*/site-packages")
    (own / "dependencies.pth").write_text(f"{shared}\n")
    _check_and_warm(made)
    ready.touch()
    return made


def _check_and_warm(made: Installation) -> None:
    """See that its own modules are found, and compile its kernels."""
    environment = os.environ | {"FAIRTRIAL_CACHE": str(made.kernels), "PYTHONSAFEPATH": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    where = "import analysis, harness; print(analysis.__file__); print(harness.__file__)"
    found = _call(made.python, "-c", where, environment=environment).decode().split()
    if not all(Path(path).is_relative_to(made.place) for path in found):
        raise SystemExit(f"the installation in {made.place} takes {', '.join(found)}")
    _call(made.python, PROJECT / "tests" / "compile_kernels.py", environment=environment)


def _content(source: Path) -> str:
    digest = hashlib.sha256(sys.version.encode() + sys.prefix.encode())
    for path in sorted(source.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _call(*command: str | Path, environment: dict[str, str] | None = None) -> bytes:
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr.decode(errors="replace"))
        raise SystemExit(f"failed: {' '.join(map(str, command))}")
    return done.stdout
