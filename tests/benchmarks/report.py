"""How long a report takes, how large it is, and how soon Chromium has read it.

Two trials are written, 40 benchmarks x 300 runs x 3 variants and 500 x 30 x 2, and reported by the
command, each in a fresh process after one that warmed up. Execute it by hand::

    python tests/benchmarks/report.py            # measure
    python tests/benchmarks/report.py FOLDER     # only write the trials there

Figures to reach: 15 s and 5 MB, 40 s and 10 MB; DOMContentLoaded within 2 s.
"""

from __future__ import annotations

import math
import random
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from large_trials import Row, run_of, write_trial

ROOT = Path(__file__).resolve().parents[2]


class Design(NamedTuple):
    """How large a trial is, and what its report may take."""

    benchmarks: int
    variants: int
    sessions: int
    blocks: int  # of a session: a run of each cell in each
    seconds: float = math.inf
    megabytes: float = math.inf


DESIGNS = {
    "big40": Design(40, 3, 10, 30, seconds=15, megabytes=5),
    "big500": Design(500, 2, 5, 6, seconds=40, megabytes=10),
}


def write(path: Path, design: Design) -> None:
    """Write a finished trial: most benchmarks differ, by sizes of their own; some do not.

    Sessions shift, some cells have two modes, a run in a thousand is far, one in three thousand fails.
    """
    rng = random.Random(20261122)
    variants = tuple(f"variant-{k}" for k in range(design.variants))
    benches = tuple(f"group-{k % 7}/benchmark-{k}" for k in range(design.benchmarks))
    cells = [(bench, variant) for bench in benches for variant in variants]
    level = {bench: rng.lognormvariate(math.log(0.05), 1.0) for bench in benches}
    ratio = {
        cell: 1.0
        if cell[1] == variants[0] or rng.random() < 0.3
        else rng.lognormvariate(0.05, 0.1) * 1.15 ** (variants.index(cell[1]) - 1)
        for cell in cells
    }
    modes = {bench for bench in benches if rng.random() < 0.1}
    shifts: dict[tuple[str, str, int], float] = {}

    def measured(planned: Row) -> Row:
        bench, variant = planned["benchmark"], planned["variant"]
        key = bench, variant, planned["session"]
        if key not in shifts:
            shifts[key] = rng.gauss(0, 0.01)
        log = shifts[key] + rng.gauss(0, 0.02)
        log += 0.2 * (bench in modes and rng.random() < 0.4)
        log += 0.7 * (rng.random() < 0.001)
        outcome = "exit" if rng.random() < 1 / 3000 else "ok"
        wall = 1e9 * level[bench] / ratio[bench, variant] * math.exp(log)
        return run_of(planned["position"], wall, outcome=outcome)

    write_trial(
        path,
        (benches, variants, design.sessions, design.blocks),
        measured,
        order=lambda cells: rng.sample(cells, len(cells)),
    )


def reported(trial: Path, page: Path) -> float:
    """Give the seconds that the command takes, in a process of its own."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "harness", "report", str(trial), "-o", str(page)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - start


def opened(page: Path) -> float:
    """Give the seconds until Chromium has read the page (DOMContentLoaded), the median of three."""
    chromium = runpy.run_path(str(ROOT / "tests" / "nightly" / "browser" / "chromium.py"))
    with chromium["Browser"]() as browser:
        found = []
        for _ in range(3):
            browser.open(page)
            found.append(
                browser.run(
                    "const [n] = performance.getEntriesByType('navigation');"
                    "return n.domContentLoadedEventEnd"
                )
            )
    return statistics.median(found) / 1000


def main() -> None:
    if len(sys.argv) > 1:
        for name, design in DESIGNS.items():
            write(Path(sys.argv[1]) / name, design)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, design in DESIGNS.items():
            trial, page = Path(folder) / name, Path(folder) / f"{name}.html"
            write(trial, design)
            reported(trial, page)
            seconds = reported(trial, page)
            print(
                f"{name}: {seconds:.1f} s (at most {design.seconds:g}), "
                f"{page.stat().st_size / 1e6:.1f} MB (at most {design.megabytes:g}), "
                f"DOMContentLoaded after {opened(page):.2f} s (at most 2)",
                flush=True,
            )


if __name__ == "__main__":
    main()
