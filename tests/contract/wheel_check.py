"""Build everything twice, install the wheel alone from an index, and use it from another folder.

python tests/contract/wheel_check.py [--into DIST] [--weights]

The flat layout lets tests pass while a file is missing from the wheel; this does not. The second
build is of the unpacked source distribution, at another place, with other rights, names' order and
time zone: it must give the same bytes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

from make_venv import places_of_pip

from docs.distribution.local_index import archives, write_index, write_sums
from docs.distribution.shared_files import shared_files
from harness.commands.first_steps import PLACES

PROJECT = Path(__file__).resolve().parents[2]
OTHERWISE = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "SOURCE_DATE_EPOCH": ""}

CAMPAIGN = """
name: wheel
variants: {a: {code: "pass"}, b: {code: "pass"}}
benchmarks: {one: {command: [python3, -c, "{code}"]}, two: {command: [python3, -c, "{code};1"]}}
protocol: {sessions: 1, runs: 5}
isolation: {cpus: none}
"""
SIZES = """
from importlib.metadata import distributions
for one in distributions():
    found = {path.locate().resolve() for path in one.files or ()}
    print(sum(path.stat().st_size for path in found if path.is_file()), one.metadata["Name"].lower())
"""


def call(*command: str | Path, cwd: Path, ended: tuple[int, ...] = (0,), **more: str) -> str:
    """Execute a command; end with what it printed where it does not end as it should."""
    environment = {name: value for name, value in (os.environ | more).items() if value}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in ended:
        print(done.stdout, done.stderr, sep="\n")
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return done.stdout


def new_environment(place: Path, *packages: str, index: str = "") -> Path:
    """Make an environment of these packages only, and give its interpreter."""
    uv, python = Path(sys.executable).with_name("uv"), place / "bin" / "python"
    call(uv, "venv", "-q", "--python", sys.executable, place, cwd=place.parent)
    among = ("--index", index) if index else ()
    call(uv, "pip", "install", "-q", "--python", python, *among, *packages, cwd=place.parent)
    return python


def build_twice(place: Path) -> Path:
    """Build the project, then what it built, and give the folder of both archives, which are the same."""
    isolated = ("-m", "build", "--installer", "uv", "-o", place / "dist", PROJECT)
    call(sys.executable, *isolated, cwd=place)
    first = {path.name: path for path in archives(place / "dist")}
    (sdist,) = (path for name, path in first.items() if name.endswith(".tar.gz"))
    with tarfile.open(sdist) as packed:
        packed.extractall(place, filter="data")
    source = place / sdist.name.removesuffix(".tar.gz")
    known = os.umask(0o077)
    try:
        for path in source.rglob("*"):
            path.chmod(path.stat().st_mode & 0o700)
            os.utime(path)
        project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))
        builder = new_environment(place / "builder", *project["build-system"]["requires"])
        words = (builder, "-m", "hatchling", "build", "-d", place / "again")
        call(*words, cwd=source, **OTHERWISE)
        second = {path.name: path for path in archives(place / "again")}
    finally:
        os.umask(known)
    if first.keys() != second.keys():
        sys.exit(f"failed: two builds gave {sorted(first)} and {sorted(second)}")
    for name, path in first.items():
        if path.read_bytes() != second[name].read_bytes():
            sys.exit(f"failed: two builds of {name} differ")
    return place / "dist"


def complete(dist: Path) -> None:
    """Hold what the archives contain against what there is to install."""
    wheel, sdist = (next(dist.glob(ending)) for ending in ("*.whl", "*.tar.gz"))
    named = zipfile.ZipFile(wheel).namelist()
    with tarfile.open(sdist) as packed:
        inside = {name.partition("/")[2] for name in packed.getnames()}
    for held, prefix, told in ((named, ".data/data/", "wheel"), (inside, "", "sdist")):
        shared = {name.partition(prefix)[2] if prefix else name for name in held}
        if missing := shared_files().keys() - shared:
            sys.exit(f"failed: the {told} lacks {sorted(missing)}")
    if "LICENSE" not in inside or not any(name.endswith("licenses/LICENSE") for name in named):
        sys.exit("failed: an archive has no licence")


def used(dist: Path, place: Path) -> Path:
    """Install by name from an index of a folder into an empty environment; measure and judge with it."""
    index = write_index(dist, place / "simple")
    python = new_environment(place / "env", "fairtrial", index=index.as_uri())
    (place / "campaign.yaml").write_text(CAMPAIGN)
    fairtrial = place / "env" / "bin" / "fairtrial"
    call(fairtrial, "run", "campaign.yaml", "-q", cwd=place)
    (trial,) = (place / "runs").iterdir()
    call(fairtrial, "verdict", trial, cwd=place)
    call(fairtrial, "init", "new.yaml", cwd=place)
    call(fairtrial, "run", "new.yaml", "--dry-run", cwd=place)
    # 3: this machine has something fatal for measuring, such as the load of these very tests
    call(fairtrial, "doctor", cwd=place, ended=(0, 3))
    call(python, "-P", "-m", "harness", "--version", cwd=place)
    for shell, name in PLACES.items():
        call(fairtrial, "completion", shell, cwd=place)
        if not (place / "env" / "share" / name).is_file():
            sys.exit(f"failed: the wheel has no script of {shell}")
    return python


def weights(python: Path) -> None:
    """Print what each package of the new environment weighs, the heaviest first."""
    sizes = call(python, "-c", SIZES, cwd=python.parent)
    rows = sorted((int(size), name) for size, name in map(str.split, sizes.splitlines()))
    for size, name in reversed(rows):
        print(f"| {name} | {size / 1e6:.1f} |")
    print(f"| together | {sum(size for size, _ in rows) / 1e6:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, metavar="DIST", help="keep what was built there")
    parser.add_argument("--weights", action="store_true", help="print what each package weighs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wheel-") as folder:
        place = Path(folder)
        os.environ |= places_of_pip(sys.executable)
        os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        dist = build_twice(place)
        complete(dist)
        python = used(dist, place)
        if args.weights:
            weights(python)
        if args.into:
            shutil.rmtree(args.into, ignore_errors=True)
            shutil.copytree(dist, args.into, ignore=shutil.ignore_patterns(".*"))
            write_sums(args.into)
            write_index(args.into, args.into / "simple")
    print("wheel: built twice alike, installed alone from an index, used from another folder")


if __name__ == "__main__":
    main()
