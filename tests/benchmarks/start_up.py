"""How long ``fairtrial --help`` takes, against the same environment's ``python -c pass``.

python tests/benchmarks/start_up.py [--rounds 30]
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path


def seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    folder = Path(sys.executable).parent
    ways = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "fairtrial --help": [str(folder / "fairtrial"), "--help"],
    }
    rng = random.Random(1)
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name in rng.sample(sorted(ways), len(ways)):
            found[name].append(seconds(ways[name]))
    base = found["python -c pass"]
    for name, values in found.items():
        ratio = statistics.median(a / b for a, b in zip(values, base, strict=True))
        print(f"{name:<18} {statistics.median(values) * 1e3:6.1f} ms   {ratio:.2f}x")


if __name__ == "__main__":
    main()
