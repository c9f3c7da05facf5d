"""What ``make test`` costs: CPU and wall seconds by step and by kind of test, and the dearest tests.

python tests/benchmarks/suite.py [--clone] [--workers 2] [--tests tests/golden]

The steps are executed one after the other (`make test` executes style, types and unit at a time). CPU
seconds are user and system, children counted. ``--clone`` measures a new clone of what is committed,
which has no environment, no bytecode and no cache of mypy or ruff: what a newcomer waits for.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPS = ("setup", "style", "types", "unit")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clone", action="store_true", help="measure a new clone of this tree")
    parser.add_argument("--workers", type=int, help="(one more than there are cores)")
    parser.add_argument("--tests", default="", help="a part of them, such as tests/golden")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="suite-") as folder:
        tree = ROOT
        if options.clone:
            tree = Path(folder) / "clone"
            subprocess.run(["git", "clone", "-q", ROOT, tree], check=True)
        return measured(tree, options.workers, options.tests)


def measured(tree: Path, workers: int | None, tests: str) -> int:
    """Execute the steps in a tree and print what each cost; give the first exit code that is not 0."""
    rows, worst = [], 0
    for step in STEPS:
        words = ["make", "--no-print-directory", step]
        words += [f"WORKERS={workers}"] if workers else []
        if step == "unit":
            words += [*([f"TESTS={tests}"] if tests else []), "PYTEST_ARGS=--costs"]
        began, before = time.perf_counter(), _cpu()
        code = subprocess.run(words, cwd=tree, check=False, env=_environment()).returncode
        rows.append((step, _cpu() - before, time.perf_counter() - began))
        worst = worst or code
    rows.append(("all", *(sum(row[k] for row in rows) for k in (1, 2))))
    print(f"\n{'step':10} {'CPU s':>8} {'wall s':>8}")
    for step, cpu, wall in rows:
        print(f"{step:10} {cpu:8.1f} {wall:8.1f}")
    return worst


def _environment() -> dict[str, str]:
    kept = dict(os.environ)
    kept.pop("MAKEFLAGS", None)
    return kept


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
