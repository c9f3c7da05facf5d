"""An initial memory disk that holds this Python, fairtrial and busybox: all of a small machine."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("yaml", "_yaml", "rich", "pygments", "markdown_it", "mdurl", "psutil", "cpuinfo")
_LEFT_OUT = shutil.ignore_patterns(
    "test", "tests", "idlelib", "tkinter", "lib2to3", "ensurepip", "turtledemo", "pydoc_data",
    "config-*", "site-packages", "dist-packages", "__pycache__", "*.a", "*.pyc",
)  # fmt: skip
_LIBRARY = re.compile(r"(/\S+)(?= \(0x)")

INIT = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /root /etc
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t cgroup2 cgroup2 /sys/fs/cgroup
/bin/busybox mount -t tmpfs tmpfs /tmp
/bin/busybox mount -t tmpfs tmpfs /run
/bin/busybox chmod 1777 /tmp
/bin/busybox hostname vm
echo 'root:x:0:0::/root:/bin/sh' > /etc/passwd
echo 'user:x:1000:1000::/tmp:/bin/sh' >> /etc/passwd
/bin/busybox sh -c 'PYTHONPATH=/app:/app/site PYTHONHASHSEED=0 exec {python} /app/inside.py' < /dev/null
echo "DRILL-ENDED $?"
/bin/busybox poweroff -f
"""


def make(folder: Path, busybox: Path) -> Path:
    """Make the disk in a folder; give its file."""
    tree = folder / "tree"
    python = Path(sys.executable).resolve()
    _put(tree, python)
    stdlib = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(stdlib, tree / stdlib.relative_to("/"), ignore=_LEFT_OUT)
    for package in PACKAGES:
        places = (Path(entry) / package for entry in sys.path)
        found = next((place for place in places if place.is_dir()), None)
        if found is not None:
            shutil.copytree(found, tree / "app" / "site" / package, ignore=_LEFT_OUT)
    for package in ("harness", "analysis"):
        shutil.copytree(ROOT / package, tree / "app" / package, ignore=_LEFT_OUT)
    for name in ("inside.py", "trials.py"):
        shutil.copy(Path(__file__).with_name(name), tree / "app" / name)
    _compile_empty(tree / "app" / "empty")
    for binary in [python, *tree.rglob("*.so")]:
        for library in _libraries(binary):
            _put(tree, library)
    (tree / "bin").mkdir()
    shutil.copy(busybox, tree / "bin" / "busybox")
    for name in ("sh", "true", "sleep", "setsid", "cat", "echo", "kill"):
        (tree / "bin" / name).symlink_to("busybox")
    init = tree / "init"
    init.write_text(INIT.format(python=python))
    init.chmod(0o755)
    return _packed(tree, folder / "initrd.gz")


def _put(tree: Path, file: Path) -> None:
    target = tree / file.relative_to("/")
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)


def _libraries(binary: Path) -> list[Path]:
    told = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=False).stdout
    return [Path(name) for name in _LIBRARY.findall(told)]


def _compile_empty(program: Path) -> None:
    """Make a program that does nothing, where there is a compiler; busybox stands in for it."""
    source = "int main(void) { return 0; }"
    compiler = shutil.which("cc")
    if compiler is not None:
        subprocess.run(
            [compiler, "-O2", "-static", "-x", "c", "-", "-o", str(program)],
            input=source, text=True, check=False,
        )  # fmt: skip
    if not program.exists():
        program.symlink_to("/bin/true")


def _packed(tree: Path, file: Path) -> Path:
    names = b"\0".join(os.fsencode(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    archive = subprocess.run(
        ["cpio", "--null", "-o", "-H", "newc", "--quiet", "-R", "0:0"],
        cwd=tree,
        input=names,
        capture_output=True,
        check=True,
    )
    file.write_bytes(gzip.compress(archive.stdout, compresslevel=1))
    return file
