"""How long commands take to start, side by side with ``python -c pass`` and an older checkout.

python tests/benchmarks/start_up.py [--rounds 30] [--against CHECKOUT]

All execute with this interpreter and its libraries, in turns of a shuffled order: ratios are medians
over the rounds. CPU seconds (user and system) say more than wall time on a machine that is not idle.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
WORDS = {
    "--help": ["--help"],
    "run --dry-run": ["run", str(ROOT / "configs" / "quickstart.yaml"), "--dry-run"],
    "verdict": ["verdict", str(SAMPLE)],
    "hpt": ["hpt", f"{SAMPLE}:gzip-1", f"{SAMPLE}:gzip-6"],
}
BARE = "python -c pass"


def seconds(command: list[str], checkout: Path) -> tuple[float, float]:
    """Give the wall and the CPU time of a command."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 3}:  # a dry run on a host that is not fit
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument(
        "--against", type=Path, metavar="CHECKOUT", help="an older one of this tree"
    )
    options = parser.parse_args()
    checkouts = {"": ROOT} | ({"older": options.against.resolve()} if options.against else {})
    ways = {(BARE, ""): ([sys.executable, "-c", "pass"], ROOT)} | {
        (name, age): ([sys.executable, "-P", "-m", "harness", *words], checkout)
        for age, checkout in checkouts.items()
        for name, words in WORDS.items()
    }
    rng = random.Random(1)
    found: dict[tuple[str, str], list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(options.rounds):
        for way in rng.sample(sorted(ways), len(ways)):
            found[way].append(seconds(*ways[way]))

    def ratio(way: tuple[str, str], base: tuple[str, str]) -> float:
        return statistics.median(
            a / b for (_, a), (_, b) in zip(found[way], found[base], strict=True)
        )

    print(f"{'':<16} {'wall':>9} {'CPU':>9}  of {BARE}" + "  of older" * bool(options.against))
    for name in (BARE, *WORDS):
        wall, cpu = (statistics.median(values) for values in zip(*found[name, ""], strict=True))
        line = f"{name:<16} {wall * 1e3:6.0f} ms {cpu * 1e3:6.0f} ms"
        line += f"  {ratio((name, ''), (BARE, '')):{3 + len(BARE)}.2f}"
        if (name, "older") in found:
            line += f"  {ratio((name, ''), (name, 'older')):8.3f}"
        print(line)


if __name__ == "__main__":
    main()
