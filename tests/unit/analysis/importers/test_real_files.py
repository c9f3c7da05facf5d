"""Real files of the tools, where they are beside this project: they are never copied into it.

Values by hand: cells of the file; runs, first run and sum of its first cell. What the readers make of
each layout, ``data/tools`` and ``golden/foreign`` hold everywhere.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from analysis.data.opening import open_foreign
from analysis.importers.registry import read_foreign

SHARED = Path(__file__).resolve().parents[5] / "shared"
FILES = {
    "samples/asv": (4, 10, 6.844199879196822e-07, 6.865900004413561e-06),
    "samples/benchexec/results.default.tasks.xml": (6, 1, 0.07689720400003353, 0.07689720400003353),
    "samples/benchexec/table.csv": (6, 1, 0.07689720400003353, 0.07689720400003353),
    "samples/criterion": (6, 20, 630556e-9 / 7665, 2.4030804344973878e-06),
    "samples/generic-csv/long.csv": (2, 8, 0.0089196353, 0.1639675014),
    "samples/generic-csv/wide.csv": (2, 8, 0.0089196353, 0.1639675014),
    "samples/go-bench/old.txt": (10, 6, 893.3e-9, 6711.5e-9),
    "samples/go-bench/test-json.jsonl": (2, 3, 33.38e-9, 109.57e-9),
    "samples/google-benchmark/old.json": (11, 6, 159.33993135307824e-9, 1400.823917531412e-9),
    "samples/google-benchmark/new.json": (11, 6, 437.3137922505128e-9, 1630.8565960959427e-9),
    "samples/google-benchmark/reps-truncated.csv": (8, 3, 189.054e-9, 574.51e-9),
    "samples/hyperfine/parameter-list.json": (2, 8, 0.0089196353, 0.1639675014),
    "samples/hyperfine/two-commands.json": (2, 10, 0.000618117, 0.078229354),
    "samples/perf-stat/interval-100ms.csv": (1, 2, 0.00083, 0.00089),
    "samples/perf-stat/json-lines.jsonl": (3, 1, 0.000567952, 0.000567952),
    "samples/perf-stat/x-comma-r5.csv": (3, 1, 0.00049, 0.00049),
    "samples/pyperf/base.json": (2, 12, 9.047928466732191e-07, 7.35605419921459e-06),
    "samples/pyperf/new.json": (2, 12, 4.284353393557705e-06, 1.2014558105469253e-05),
    "samples/pytest-benchmark/full-json.json": (3, 15, 4.3603999984043184e-07, 6.558640002367611e-06),
    "samples/rebench/rebench.data": (5, 3, 0.21, 0.36),
    "datasets/spec_cpu2017_three_runs/cint2017-rates.csv": (20, 3, 998.344268, 2991.83228),
    "datasets/spec_cpu2017_three_runs/cint2017-speed.csv": (40, 3, 364.896465, 1079.4841),
    "datasets/tool_formats/criterion_fibonacci_iterative_raw.csv": (
        1, 100, 1128000e-9 / 209454, 4.7231731103554666e-07,
    ),
    "datasets/tool_formats/go_bent_raw_excerpt.txt.xz": (132, 16, 8.707940798, 140.361104392),
}  # fmt: skip


@pytest.mark.skipif(not SHARED.is_dir(), reason="files of other tools are not beside this project")
def test_real_files_are_read_as_by_hand() -> None:
    for name, (cells, runs, first, total) in FILES.items():
        found = read_foreign(open_foreign(str(SHARED / name))).cells
        values = found[0].values
        assert (len(found), len(values)) == (cells, runs), name
        assert (values[0], math.fsum(values)) == pytest.approx((first, total), rel=1e-12), name
