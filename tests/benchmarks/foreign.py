"""How fast, and in how much memory, large files of other tools are read.

Each reader stands beside its floor, the least that any reader does with the same file: a loop of
``re`` over the lines of ``go test -bench``, one of ``csv`` over the rows of a long table. Both are
timed in one process, interleaved; memory is the peak of a fresh process that only reads the file.
Execute it by hand::

    python tests/benchmarks/foreign.py [RESULT_LINES] [ROWS] [ROUNDS]

Figures to reach: go text at most 5x, the long CSV at most 2x, Parquet in 0.5 s; 1 GB each.
"""

from __future__ import annotations

import csv
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from analysis.data.opening import open_foreign
from analysis.importers.registry import read_foreign

LIMIT_GO, LIMIT_CSV, LIMIT_PARQUET_S, LIMIT_MB = 5.0, 2.0, 0.5, 1000.0

_LINE = re.compile(r"^(Benchmark\S+)\s+(\d+)((?:\s+\S+\s+\S+)+)$")
_PAIR = re.compile(r"(\S+)\s+(\S+)")
_PEAK = """
import sys
from pathlib import Path
from analysis.data.opening import open_foreign
from analysis.importers.registry import read_foreign
read_foreign(open_foreign(sys.argv[1]))
# ru_maxrss would count the process that started this one
status = Path("/proc/self/status").read_text().split("\\n")
print(next(line.split()[1] for line in status if line.startswith("VmHWM:")))
"""


def write_go(path: Path, lines: int) -> None:
    """Write so many result lines: 200 benchmarks, as often as it takes."""
    rng = random.Random(20261122)
    with path.open("w") as file:
        file.write("goos: linux\ngoarch: amd64\npkg: example.org/p\ncpu: AMD EPYC\n")
        for k in range(lines):
            name = f"BenchmarkSort/n={k % 200}-8"
            nanoseconds = rng.lognormvariate(6, 0.1)
            file.write(
                f"{name:<30}\t{rng.randrange(1000, 9_999_999):>8}\t{nanoseconds:>12.2f} ns/op"
                "\t     920 B/op\t       2 allocs/op\n"
            )
        file.write("PASS\nok  \texample.org/p\t12.345s\n")


def rows_of(count: int) -> list[tuple[str, str, int, int, int, float]]:
    """Make rows of a long table: 20 benchmarks, 5 variants, 10 sessions."""
    rng = random.Random(20261122)
    return [
        (
            f"benchmark-{k % 20}",
            f"variant-{k // 20 % 5}",
            k * 10 // count + 1,
            k // 1000 % 50 + 1,
            k // 100 % 10 + 1,
            rng.lognormvariate(0, 0.05),
        )
        for k in range(count)
    ]


HEADINGS = ("benchmark", "variant", "session", "process", "iteration", "time_ms")


def write_csv(path: Path, rows: list[tuple[str, str, int, int, int, float]]) -> None:
    """Write them as CSV."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADINGS)
        writer.writerows(rows)


def write_parquet(path: Path, rows: list[tuple[str, str, int, int, int, float]]) -> None:
    """Write them as Parquet."""
    import pyarrow
    from pyarrow import parquet

    columns = [list(column) for column in zip(*rows, strict=True)]
    parquet.write_table(pyarrow.table(dict(zip(HEADINGS, columns, strict=True))), path)


def loop_re(path: Path) -> None:
    """The floor of go text: match every line, take its pairs as numbers."""
    for line in path.read_text().split("\n"):
        if match := _LINE.match(line):
            for value, _unit in _PAIR.findall(match[3]):
                float(value)


def loop_csv(path: Path) -> None:
    """The floor of a long table: go over the rows and keep nothing."""
    with path.open(newline="") as file:
        for _row in csv.reader(file):
            pass


def read(path: Path) -> None:
    """The work: everything that the file holds, in cells."""
    read_foreign(open_foreign(str(path)))


def timed(function: Callable[[Path], None], path: Path) -> float:
    """Give the seconds of one call."""
    start = time.perf_counter()
    function(path)
    return time.perf_counter() - start


def peak_mb(path: Path) -> float:
    """Give the peak memory of a fresh process that reads the file."""
    root = Path(__file__).resolve().parents[2]
    out = subprocess.run(
        [sys.executable, "-c", _PEAK, str(path)],
        check=True,
        capture_output=True,
        text=True,
        cwd=root,
    )
    return int(out.stdout) * 1024 / 1e6


def beside(name: str, path: Path, floor: Callable[[Path], None], limit: float, rounds: int) -> bool:
    """Measure a reader beside its floor, print both, and tell whether a figure is missed."""
    pairs = [(timed(floor, path), timed(read, path)) for _ in range(rounds)]
    least, whole = (min(column) for column in zip(*pairs, strict=True))
    peak = peak_mb(path)
    print(
        f"  {name:<10} floor {least:7.3f} s   read {whole:7.3f} s   ratio {whole / least:6.2f} "
        f"(limit {limit})   peak {peak:5.0f} MB (limit {LIMIT_MB:.0f})"
    )
    return whole / least > limit or peak >= LIMIT_MB


def main(lines: int = 100_000, count: int = 1_000_000, rounds: int = 3) -> int:
    """Measure, print the table, and give 1 when a figure is missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        go, table, columns = folder / "go.txt", folder / "long.csv", folder / "long.parquet"
        write_go(go, lines)
        rows = rows_of(count)
        write_csv(table, rows)
        write_parquet(columns, rows)
        del rows
        print(f"{lines:,} result lines, {count:,} rows, the best of {rounds} rounds")
        missed = beside("go text", go, loop_re, LIMIT_GO, rounds)
        missed |= beside("long CSV", table, loop_csv, LIMIT_CSV, rounds)
        seconds = [timed(read, columns) for _ in range(rounds + 1)][1:]  # the first one imports
        peak = peak_mb(columns)
        print(
            f"  {'Parquet':<10} read {min(seconds):7.3f} s (limit {LIMIT_PARQUET_S})"
            f"   peak {peak:5.0f} MB (limit {LIMIT_MB:.0f})"
        )
        missed |= min(seconds) > LIMIT_PARQUET_S or peak >= LIMIT_MB
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
