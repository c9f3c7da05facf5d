"""A private copy of a tree, in which mutants are made and judged: the working tree stays as it is.

The copy has an environment of its own, made in a second: its packages are the project's, found by
path, its commands and the product are the copy's, in every process that a test starts. What is
executed in it sees no other process and writes nowhere else, where the machine allows that: a
mutant may send a signal to any number and remove any folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# Children of a test record what they execute, too, while the map is made (see recording.py).
_CHILDREN = "import os; os.environ.get('COVERAGE_PROCESS_START') and __import__('coverage').process_startup()"
_ENCLOSED = """
mount --bind "$1" "$1" || exit 77
case "$1" in /tmp/*) ;; *) mount --bind "$1/tmp" /tmp || exit 77 ;; esac
mount -o remount,bind,ro / || exit 77
shift; "$@"; exit $?
"""
HALVES = ("harness", "analysis")


@dataclass(frozen=True, slots=True)
class PrivateTree:
    """A copy of a tree: `work` holds all that belongs to it, `root` is the tree itself."""

    work: Path
    root: Path

    @property
    def python(self) -> Path:
        """The interpreter whose product is this copy."""
        return self.root / ".venv" / "bin" / "python"

    @property
    def temporary(self) -> Path:
        """The folder of temporary files: /tmp itself is another one in there, where paths are short."""
        enclosed = enclosure(self.work) and not self.work.is_relative_to("/tmp")
        return Path("/tmp") if enclosed else self.work / "tmp"

    def environment(self) -> dict[str, str]:
        """Give what processes in the copy find in their environment."""
        kept = {name: value for name, value in os.environ.items() if name not in _FORGOTTEN}
        return kept | {
            "HOME": str(self.work / "home"),
            "TMPDIR": str(self.temporary),
            "FAIRTRIAL_CACHE": str(self.work / "kernels"),
            "PATH": f"{self.python.parent}:{os.environ.get('PATH', os.defpath)}",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }

    def command(self, *words: str | Path) -> list[str]:
        """Give the command line that executes a command in the copy, enclosed where that can be."""
        alone = self.root / "tests" / "own_network.py"
        network = [str(self.python), str(alone)] if alone.exists() else []
        return [*enclosure(self.work), *network, *map(str, words)]


_FORGOTTEN = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS", "VIRTUAL_ENV", "MAKEFLAGS"}


def enclosure(work: Path) -> list[str]:
    """Give the words before a command that enclose it, or none where the machine forbids that."""
    words = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"]
    words += ["sh", "-c", _ENCLOSED, "sh", str(work)]
    try:
        tried = subprocess.run([*words, "true"], capture_output=True, check=False)
    except OSError:
        return []
    return words if tried.returncode == 0 else []


def product_hash(root: Path) -> str:
    """Give a hash of all product code: a map of another product is stale."""
    digest = hashlib.sha256()
    for path in product_files(root):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def product_files(root: Path) -> list[Path]:
    """List the files of the product."""
    return sorted(path for half in HALVES for path in (root / half).rglob("*.py"))


def copied(tree: Path, work: Path) -> PrivateTree:
    """Copy a tree (what git knows and what is not ignored) and give it an environment.

    A copy that is there already is made anew: nothing of an interrupted run may be left in it.
    """
    private = PrivateTree(work, work / "tree")
    shutil.rmtree(private.root, ignore_errors=True)
    for name in ("tmp", "home", "kernels", "map"):
        (work / name).mkdir(parents=True, exist_ok=True)
    for name in _files(tree):
        if (tree / name).is_file() or (tree / name).is_symlink():
            target = private.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, target, follow_symlinks=False)
    _environment(private.root)
    return private


def _files(tree: Path) -> list[str]:
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=tree, capture_output=True, check=False)
    if done.returncode:  # no repository: all there is
        found = [path.relative_to(tree) for path in tree.rglob("*")]
        return [str(path) for path in found if not {".venv", ".mutants"} & set(path.parts)]
    return [name for name in done.stdout.decode().split("\0") if name]


def _environment(root: Path) -> None:
    """Make .venv: packages of the environment that executes this, commands and product of `root`."""
    place, ours = root / ".venv", Path(sys.prefix)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    inside = next((place / "lib").glob("python3*/site-packages"))
    packages = ours / inside.relative_to(place)
    (inside / "private.pth").write_text(f"{root}\n{packages}\n{_CHILDREN}\n")
    for script in (ours / "bin").iterdir():
        target = place / "bin" / script.name
        if target.exists() or not script.is_file():
            continue
        content = script.read_bytes()
        if content.startswith(b"#!" + os.fsencode(ours)):
            target.write_bytes(content.replace(os.fsencode(ours), os.fsencode(place), 1))
            target.chmod(0o755)
        else:
            target.symlink_to(script)
