"""mitata, Benchmark.js, tinybench and Vitest. Authority: files of each, and its code.

mitata 1.0.34, ``lib.mjs``: samples are sorted, then ``slice(2, -2)`` where there are more than 12;
tinybench 2 to 6 sort too; Vitest's ``createBenchmarkJsonReport`` writes ``samples: []``.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.errors import AnalysisError

GOLDEN = Path(__file__).resolve().parents[4] / "golden" / "foreign"


def codes(file) -> set[str]:
    return {loss.code for loss in (*file.losses, *file.notes)}


def test_a_mitata_sample_is_the_mean_of_a_batch(foreign) -> None:
    stats = {"kind": "fn", "samples": [1.0, 2.0, 4.0], "ticks": 12288}
    run = {"name": "noop", "args": {}, "stats": stats}
    file = foreign({"layout": [], "benchmarks": [{"alias": "noop", "group": 3, "runs": [run]}]})
    (cell,) = file.cells
    assert cell.values == pytest.approx((1e-9, 2e-9, 4e-9))
    assert "means of 4096 iterations" in str(file.losses)
    assert "trimmed" not in codes(file)  # so few are all


def test_mitata_cut_off_is_not_pyperf(foreign) -> None:
    text = (GOLDEN / "mitata.json").read_text()
    with pytest.raises(AnalysisError, match="the file is cut off"):
        foreign(text[:2000])


def test_one_benchmark_of_benchmarkjs(foreign) -> None:
    one = json.loads((GOLDEN / "benchmarkjs.json").read_text())[1]
    (cell,) = foreign(one).cells
    assert (cell.benchmark, len(cell.values)) == ("join 1000", 7)


def test_tinybench_of_version_2(foreign) -> None:
    result = {"totalTime": 0.5, "hz": 2.0, "rme": 1.5, "samples": [0.25, 0.5]}
    (cell,) = foreign([{"runs": 2, "bench": {}, "name": "a", "opts": {}, "result": result}]).cells
    assert (cell.benchmark, cell.values) == ("a", (0.00025, 0.0005))


def test_results_of_tinybench_have_no_names(foreign) -> None:
    """``bench.results`` is a list of them without their tasks."""
    results = [task["result"] for task in json.loads((GOLDEN / "tinybench.json").read_text())]
    with pytest.raises(AnalysisError, match=r"(?s)a benchmark has no name.*give it one"):
        foreign(results)


def test_a_report_of_vitest_with_samples(foreign) -> None:
    """None writes them today; the layout has room for them."""
    data = json.loads((GOLDEN / "vitest-none.json").read_text())
    benches = data["files"][0]["groups"][0]["benchmarks"]
    for one in benches[:2]:
        one["samples"] = [0.5, 0.75]
    good, _, failed = foreign(data).cells
    assert good.benchmark == "a.bench.js > sorting > sort 1000"
    assert (good.values, good.keys["group"]) == ((0.0005, 0.00075), "a.bench.js > sorting")
    assert (failed.failed, failed.values) == (1, ())


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([{"name": "a", "stats": {"rme": 1, "moe": 2}}], "'a' were not kept.*stats.sample"),
        ([{"name": "a", "result": {"latency": {"samples": [-1.0]}}}], r"samples\[0\]: the value -1.0 is negative"),
        ({"layout": [], "benchmarks": [{"runs": [{"name": "", "stats": {"samples": [1]}}]}]}, "no name"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(foreign, data, said) -> None:
    with pytest.raises(AnalysisError, match=f"(?s){said}"):
        foreign(data)
