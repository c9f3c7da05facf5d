"""What the calibrations have passed with, and what has changed since.

They take minutes, so that not every test run makes all of them: `make calibrate` does, and then writes
beside this file what they depend on. While that agrees with the tree, they need no repetition.

python tests/calibration/passed.py            says what has changed; exit code 1 if anything has
python tests/calibration/passed.py --write    after all of them have passed
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PASSED = Path(__file__).with_name("passed.json")
# Methods with their kernels and tables, what is counted of them, streams, and the calibrations themselves.
SUBJECTS = (
    "analysis/calibration",
    "analysis/comparison",
    "analysis/explaining",
    "analysis/methods",
    "analysis/planning",
    "analysis/stats",
    "analysis/studies",
    "tests/calibration",
)
# What a calibration of the runner's rules executes of it.
RULES = ("analysis/record/disturbance.py", "harness/trial/deciding/repeating.py")
LIBRARIES = ("numba", "numpy", "scikit-learn", "scipy")

State = dict[str, dict[str, str]]


def state(root: Path = ROOT) -> State:
    """Give the hashes of the sources below `root`, and the versions of the libraries."""
    sources = sorted(
        path
        for subject in SUBJECTS
        for path in (root / subject).rglob("*")
        if path.suffix in {".py", ".json"} and path.name != PASSED.name
    )
    sources += [root / rule for rule in RULES if (root / rule).exists()]
    return {
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "sources": {
            path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sources
        },
    }


def changes(then: State, now: State) -> list[str]:
    """Say what differs, a line each."""
    found = []
    for kind in sorted(then.keys() | now.keys()):
        before, after = then.get(kind, {}), now.get(kind, {})
        for name in sorted(before.keys() | after.keys()):
            if name not in after:
                found.append(f"{name} is gone")
            elif name not in before:
                found.append(f"{name} is new")
            elif before[name] != after[name]:
                versions = f": {before[name]} -> {after[name]}" if kind == "libraries" else ""
                found.append(f"{name} has changed{versions}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="all of them have passed, just now")
    if parser.parse_args().write:
        PASSED.write_text(json.dumps(state(), indent=1) + "\n", encoding="utf-8")
        return 0
    if not PASSED.exists():
        print(f"no calibration has passed yet: there is no {PASSED.relative_to(ROOT)}")
        return 1
    found = changes(json.loads(PASSED.read_text(encoding="utf-8")), state())
    if found:
        print("since the calibrations have passed:", *found, sep="\n  ")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
