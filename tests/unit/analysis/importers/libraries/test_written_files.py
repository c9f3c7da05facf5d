"""Files that the libraries wrote: count, first, last and sum of each cell, by a reading of their own.

Authority: the files (``tests/golden/foreign/source``); what is done here to each is what its library's
documentation says of the layout, without our readers.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.registry import TOOLS

GOLDEN = Path(__file__).resolve().parents[4] / "golden" / "foreign"
Cells = Iterator[tuple[str, str | None, list[float]]]


def data_of(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text("utf-8"))


def mitata(name: str) -> Cells:
    for bench in data_of(name)["benchmarks"]:
        for run in bench["runs"]:
            group = "json > " if bench["group"] == 1 else ""
            arg = " n=1" if run["name"] == "slice" else ""
            samples = run["stats"]["samples"] if "stats" in run else []
            yield f"{group}{run['name']}{arg}", None, [one * 1e-9 for one in samples]


def tinybench(name: str) -> Cells:
    for task in data_of(name):
        samples = task["result"].get("latency", {}).get("samples", [])
        yield task["name"], None, [one / 1000 for one in samples]


def benchmarkjs(name: str) -> Cells:
    data = data_of(name)
    for one in data if isinstance(data, list) else [data["0"], data["1"], data["2"]]:
        yield one["name"], None, one["stats"]["sample"]


def vitest(name: str) -> Cells:
    for one in data_of(name):
        if one["samples"]:
            yield one["name"], None, [sample / 1000 for sample in one["samples"]]


def benchmarkdotnet(name: str) -> Cells:
    for bench in data_of(name)["Benchmarks"]:
        yield bench["FullName"], None, [one / 1e9 for one in bench["Statistics"]["OriginalValues"]]


def bench_of_r(name: str) -> Cells:
    units = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
    found: dict[tuple[str, str], list[float]] = {}
    with (GOLDEN / name).open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            text = row["time"].strip()
            unit = next((u for u in units if text.endswith(u)), "s")
            where = f"n={row['n']}" if "n" in row else Path(name).stem
            value = float(text.removesuffix(unit)) * units[unit]
            found.setdefault((where, row["expression"]), []).append(value)
    for (where, expression), values in found.items():
        yield where, expression, values


def microbenchmark(name: str) -> Cells:
    with (GOLDEN / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for expression in dict.fromkeys(row["expr"] for row in rows):
        times = [float(row["time"]) / 1e9 for row in rows if row["expr"] == expression]
        yield "microbenchmark", expression, times


READINGS = {
    "mitata.json": ("js", mitata),
    "tinybench.json": ("js", tinybench),
    "benchmarkjs.json": ("js", benchmarkjs),
    "benchmarkjs-suite.json": ("js", benchmarkjs),
    "vitest-own-reporter.json": ("js", vitest),
    "benchmarkdotnet.json": ("benchmarkdotnet", benchmarkdotnet),
    "benchmarkdotnet-0.15.json": ("benchmarkdotnet", benchmarkdotnet),
    "r-bench.csv": ("r-bench", bench_of_r),
    "r-bench-printed.csv": ("r-bench", bench_of_r),
    "r-bench-press.csv": ("r-bench", bench_of_r),
    "microbenchmark.csv": ("r-bench", microbenchmark),
}
REFUSED = {
    "mitata-none.json": ("js", r"'sort' were not kept.*samples: true"),
    "tinybench-none.json": ("js", r"'join 1000' were not kept.*retainSamples: true"),
    "vitest-none.json": ("js", r"sort 1000' were not kept.*--outputJson never has them.*includeSamples"),
    "r-bench-summary.csv": ("r-bench", r"summaries only.*unnest"),
    "julia-estimates.json": ("julia", r"a TrialEstimate, no samples.*run\(\.\.\.\)"),
}  # fmt: skip
UNKNOWN = {"bencher.json", "fio.json", "github-action.json", "sysbench.txt"}  # no runs, no reader


@pytest.mark.parametrize("name", READINGS)
def test_a_cell_is_what_another_reading_of_the_file_gives(read_golden, name) -> None:
    kind, reading = READINGS[name]
    file = read_golden(name)
    assert file.format == kind
    wanted = list(reading(name))
    assert [(one.benchmark, one.variant) for one in file.cells] == [one[:2] for one in wanted]
    for cell, (_, _, values) in zip(file.cells, wanted, strict=True):
        assert len(cell.values) == len(values)
        assert cell.values == pytest.approx(values, rel=1e-12, abs=0)
        assert sum(cell.values) == pytest.approx(sum(values), rel=1e-12, abs=0)
        assert (cell.metric, cell.unit, cell.better) == ("time", "s", "lower")
        assert (cell.known, len(cell.processes)) == (True, 1 if values else 0)
        assert cell.failed in ((1,) if not values else (0, None))


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_without_runs_is_refused_with_what_keeps_them(read_golden, name) -> None:
    with pytest.raises(AnalysisError) as told:
        read_golden(name)
    assert told.match(f"(?s){REFUSED[name][1]}")


@pytest.mark.parametrize("name", sorted({**READINGS, **REFUSED}))
def test_a_file_is_known_to_one_format(golden, name) -> None:
    opened = open_foreign(golden(name))
    knowing = [tool.name for tool in TOOLS if not tool.generic and tool.knows(opened)]
    assert knowing == [{**READINGS, **REFUSED}[name][0]]


def test_every_file_is_tried() -> None:
    there = {path.name for path in GOLDEN.iterdir()} - {"source"}
    assert there == READINGS.keys() | REFUSED.keys() | UNKNOWN
