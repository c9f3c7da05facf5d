"""Files that the libraries wrote: whose each is, and what is said where one keeps no runs.

Authority: the files (``tests/golden/foreign/source``); ``tests/golden/readings.jsonl`` holds their cells.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.registry import TOOLS
from tests.golden.test_readings import lines

GOLDEN = Path(__file__).resolve().parents[4] / "golden" / "foreign"
REFUSED = {
    "mitata-none.json": ("js", r"'sort' were not kept.*samples: true"),
    "tinybench-none.json": ("js", r"'join 1000' were not kept.*retainSamples: true"),
    "vitest-none.json": ("js", r"sort 1000' were not kept.*--outputJson never has them.*includeSamples"),
    "r-bench-summary.csv": ("long-csv", r"summaries only.*a row for each run"),
    "julia-estimates.json": ("julia", r"a TrialEstimate, no samples.*run\(\.\.\.\)"),
}  # fmt: skip
UNKNOWN = {"bencher.json", "fio.json", "github-action.json", "sysbench.txt"}  # no runs, no reader


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_without_runs_is_refused_with_what_keeps_them(read_golden, name) -> None:
    with pytest.raises(AnalysisError) as told:
        read_golden(name)
    assert told.match(f"(?s){REFUSED[name][1]}")


FOREIGN = {name.partition("/")[2]: line for name, line in lines().items() if "foreign/" in name}
KNOWN = {name: line["format"] for name, line in FOREIGN.items() if "format" in line}
KNOWN |= {name: kind for name, (kind, _) in REFUSED.items()}


@pytest.mark.parametrize("name", KNOWN)
def test_a_file_is_known_to_one_format(golden, name) -> None:
    opened = open_foreign(golden(name))
    knowing = [tool.name for tool in TOOLS if not tool.generic and tool.knows(opened)]
    assert knowing == [KNOWN[name]] * (KNOWN[name] != "long-csv")  # tables are looked at last


def test_every_file_is_tried() -> None:
    there = {path.name for path in GOLDEN.iterdir()} - {"source"}
    assert there == KNOWN.keys() | UNKNOWN
