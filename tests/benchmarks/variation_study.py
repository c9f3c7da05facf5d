"""Repeat the published study of variation across systems, as far as its data are public.

``python tests/benchmarks/variation_study.py DATASETS [--short]`` prints, for tables of published SPEC
results, how well performance is predicted for rows held out at random (as published) and for
processors held out as a whole; and for one split of 70 to 30, ten times. DATASETS is a folder with

- ``spec_cpu2006/cpu2006_published.csv.xz``: the list of results of SPEC CPU2006 as spec.org gives it,
  a row for each result, with its columns' own names (`Benchmark`, `Baseline`, `Processor`, ...);
- ``spec_cpu2017/int_speed.csv.xz``: results of SPEC CPU2017 with parsed machine fields and a column
  for each benchmark's ratio (``600.perlbench_s``, ...).

Neither is part of this project. What cannot be repeated, and what came out, stands in
``docs/methods/variance_sources.md``. It takes some minutes; ``--short`` takes a sixth of the rows.
"""

from __future__ import annotations

import csv
import lzma
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from analysis.methods.variance_sources.result import Sources
from analysis.methods.variance_sources.systems import sources_of_table

SEED = 7
PUBLISHED, WITH_FLAGS = 0.982, 0.992  # section 7 of the study
SPLITS = 10
_GIB = {"MB": 1 / 1024, "GB": 1.0, "TB": 1024.0}
_TOTAL = re.compile(r"^\s*([\d.]+)\s*(MB|GB|TB)", re.IGNORECASE)
_STICKS = re.compile(r"(\d+)\s*x\s*([\d.]+)\s*(MB|GB|TB)", re.IGNORECASE)
# What no machine is described by: the suite, names, the peak score, the dates of the result.
_NO_FIELDS_2006 = ("Benchmark", "System", "Result", "Memory", "Test Date", "Published")
_NO_FIELDS_2017 = ("file", "test_sponsor", "l1d_cache_kb", "mem_kb")


def rows_of(path: Path) -> list[dict[str, str]]:
    """Read a packed CSV."""
    with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def cint2006(folder: Path) -> dict[str, list[object]]:
    """Give the table of CINT2006 base scores."""
    rows = [
        row
        for row in rows_of(folder / "spec_cpu2006" / "cpu2006_published.csv.xz")
        if row["Benchmark"] == "CINT2006"
    ]
    table = columns_of(rows, [name for name in rows[0] if name not in _NO_FIELDS_2006])
    memory = [memory_of(row["Memory"]) for row in rows]
    for place, name in enumerate(("memory_gib", "sticks", "stick_gib")):
        table[name] = [one[place] for one in memory]
    # the family is held out; the model of the processor stays a covariate, as in the study
    return table | {"family": [row["Processor"] for row in rows]}


def cpu2017(folder: Path) -> dict[str, list[object]]:
    """Give the table of CPU2017 integer speed: the geometric mean of the benchmarks' ratios."""
    rows = rows_of(folder / "spec_cpu2017" / "int_speed.csv.xz")
    ratios = [name for name in rows[0] if re.match(r"\d{3}\.", name)]
    fields = [
        name
        for name in rows[0]
        if name not in _NO_FIELDS_2017 and not re.match(r"(t_)?\d{3}\.", name)
    ]
    scores: list[object] = [
        math.exp(sum(math.log(float(row[name])) for name in ratios) / len(ratios))
        if all(row[name] for name in ratios)
        else None
        for row in rows
    ]
    table = columns_of(rows, fields)
    return table | {
        "memory_gib": [float(row["mem_kb"]) / 1024**2 for row in rows],
        "family": [row["model_name"] for row in rows],
        "score": scores,
    }


def columns_of(rows: list[dict[str, str]], names: list[str]) -> dict[str, list[object]]:
    """Give columns of numbers where all cells are, else of texts."""
    return {name: column_of([row[name] for row in rows]) for name in names}


def column_of(cells: list[str]) -> list[object]:
    """Give the numbers of a column, None where it is empty; the texts where one is no number."""
    try:
        return [float(cell) if cell else None for cell in cells]
    except ValueError:
        return [cell or None for cell in cells]


def memory_of(text: str) -> tuple[float | None, float | None, float | None]:
    """Read ``96 GB (6 x 16 GB ...)`` as its size, the number of sticks and the size of one."""
    total, sticks = _TOTAL.match(text), _STICKS.search(text)
    return (
        float(total[1]) * _GIB[total[2].upper()] if total else None,
        float(sticks[1]) if sticks else None,
        float(sticks[2]) * _GIB[sticks[3].upper()] if sticks else None,
    )


def chosen(table: dict[str, list[object]], rows: np.ndarray) -> dict[str, list[object]]:
    """Give some rows, without columns that do not vary there."""
    found = {name: [cells[k] for k in rows] for name, cells in table.items()}
    return {name: cells for name, cells in found.items() if len({*cells} - {None}) > 1}


def rows_above(table: dict[str, list[object]], response: str, least: float) -> np.ndarray:
    """Give the rows whose response is known and larger."""
    scores = [math.nan if s is None else float(str(s)) for s in table[response]]
    return np.flatnonzero(np.array(scores) > least)


def predicted(table: dict[str, list[object]], response: str, **more: int) -> Sources:
    """Predict a response, at random and with whole processors held out."""
    rng = np.random.default_rng(SEED)
    return sources_of_table(table, response, group="family", rng=rng, seed=SEED, **more)


def split_once(table: dict[str, list[object]], response: str, seed: int) -> Sources:
    """Predict a response as published: 30 % of the rows, held out at random; no family is known."""
    columns = {name: cells for name, cells in table.items() if name != "family"}
    rng = np.random.default_rng(seed)
    return sources_of_table(columns, response, test_share=0.3, repeats=2, rng=rng, seed=seed)


def studies(folder: Path, *, short: bool = False) -> Iterator[tuple[str, Sources]]:
    """Give the answer for each table."""
    for name, table, response in (
        ("CINT2006, all results", cint2006(folder), "Baseline"),
        ("CINT2006, usable results (score above 1)", cint2006(folder), "Baseline"),
        ("CPU2017 integer speed", cpu2017(folder), "score"),
    ):
        keep = rows_above(table, response, 1.0 if "usable" in name else -math.inf)
        if short:
            keep = keep[::6]
        yield name, predicted(chosen(table, keep), response)


def main() -> None:
    """Print what comes out."""
    given = [one for one in sys.argv[1:] if one != "--short"]
    if len(given) != 1 or not Path(given[0], "spec_cpu2006").is_dir():
        sys.exit("give the folder that holds spec_cpu2006 and spec_cpu2017")
    for name, found in studies(Path(given[0]), short="--short" in sys.argv):
        (across,) = found.systems
        print(f"{name}: {across.rows:,} rows, {across.families:,} processors")
        print(f"{found}\n", flush=True)
    for least in (-math.inf, 1.0):
        table = cint2006(Path(given[0]))
        table = chosen(table, rows_above(table, "Baseline", least))
        splits = [split_once(table, "Baseline", seed) for seed in range(SPLITS)]
        found_r = [round(one.correlation or 0.0, 4) for one in splits]
        print(f"CINT2006, scores above {least:g}, one split, {SPLITS} seeds: {found_r}")
        for one in splits[0].systems[0].influence[:10]:
            print(f"  {one.factor}: {100 * one.share:.3f}")
    print(f"published for 8,236 results of CINT2006, one random split: {PUBLISHED}, {WITH_FLAGS}")


if __name__ == "__main__":
    main()
