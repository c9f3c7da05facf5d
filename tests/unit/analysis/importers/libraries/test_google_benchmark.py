"""Google Benchmark, 1.4 to 1.9. Authority: the sample files, counted by hand, and its reporters."""

from __future__ import annotations

import json

import pytest

from analysis.errors import AnalysisError

ROW = {
    "name": "BM_x",
    "family_index": 0,
    "per_family_instance_index": 0,
    "run_name": "BM_x",
    "run_type": "iteration",
    "repetitions": 2,
    "repetition_index": 0,
    "threads": 1,
    "iterations": 10,
    "real_time": 4.0,
    "cpu_time": 2.0,
    "time_unit": "ms",
}
HEAD = "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message"


def whole(*rows: dict) -> dict:
    context = {"date": "2026-01-02T03:04:05+00:00", "host_name": "h", "num_cpus": 2}
    return {"context": context, "benchmarks": list(rows)}


def aggregate(word: str, **more: object) -> dict:
    return ROW | {"name": f"BM_x_{word}", "run_type": "aggregate", "aggregate_name": word} | more


def test_aggregates_of_any_kind_are_no_values(foreign) -> None:
    rows = [
        ROW,
        ROW | {"repetition_index": 1, "real_time": 6.0},
        *(aggregate(word) for word in ("mean", "median", "stddev", "cv", "p99")),
        {"name": "BM_BigO", "run_name": "BM", "run_type": "aggregate", "aggregate_name": "BigO",
         "cpu_coefficient": 1.0, "real_coefficient": 1.0, "big_o": "N", "time_unit": "ns"},
        {"name": "BM_RMS", "run_name": "BM", "run_type": "aggregate", "aggregate_name": "RMS", "rms": 0.1},
    ]  # fmt: skip
    found = foreign(whole(*rows))
    assert {cell.benchmark for cell in found.cells} == {"BM_x"}
    assert found.cells[0].values == pytest.approx((0.004, 0.006))


def test_files_of_old_versions_know_aggregates_by_their_names(foreign) -> None:
    old = {"iterations": 9, "real_time": 2.0, "cpu_time": 1.0, "time_unit": "us"}
    names = ["A", "A", "A_mean", "A_median", "A_stddev", "B_mean"]  # B_mean: no B was measured
    found = foreign(whole(*({"name": name} | old for name in names)))
    assert {cell.benchmark: len(cell.values) for cell in found.cells} == {"A": 2, "B_mean": 1}


def test_units_may_differ_from_row_to_row(foreign) -> None:
    rows = [
        ROW | {"time_unit": unit, "repetition_index": k} for k, unit in enumerate(("ns", "us", "s"))
    ]
    assert foreign(whole(*rows)).cells[0].values == pytest.approx((4e-9, 4e-6, 4.0))


def test_a_skipped_benchmark_is_no_failure(foreign) -> None:
    skipped = ROW | {"name": "BM_s", "run_name": "BM_s", "skipped": True, "skip_message": "no GPU",
                     "real_time": 0.0, "cpu_time": 0.0, "iterations": 0}  # fmt: skip
    found = foreign(whole(ROW, skipped))
    assert {cell.benchmark for cell in found.cells} == {"BM_x"}
    assert found.cells[0].failed == 0
    assert [note.code for note in found.notes] == ["skipped"]


def test_one_repetition_that_failed_is_counted_beside_the_others(foreign) -> None:
    error = ROW | {"error_occurred": True, "error_message": "x", "real_time": 0.0, "cpu_time": 0.0}
    cell = foreign(whole(ROW, error, ROW)).cells[0]
    assert (cell.values, cell.failed) == (pytest.approx((0.004, 0.004)), 1)


def test_one_name_registered_twice_stays_two_cells(foreign) -> None:
    found = foreign(whole(ROW, ROW | {"family_index": 1, "real_time": 9.0}))
    assert [cell.values for cell in found.cells if cell.metric == "real_time"] == [
        (0.004,),
        (0.009,),
    ]


def test_threads_manual_time_and_labels(foreign) -> None:
    name = "BM_x/n:8/manual_time/threads:2"
    cell = foreign(whole(ROW | {"name": name, "run_name": name, "threads": 2, "label": "L"})).cells[
        0
    ]
    assert cell.benchmark == name
    assert (cell.keys["n"], cell.keys["threads"], cell.keys["label"]) == ("8", "2", "L")


def test_counters(foreign) -> None:
    counted = {
        "bytes_per_second": 5.0,
        "max_bytes_used": 7,
        "rate": 2.5,
        "debt": -1.0,
        "hole": float("nan"),
    }
    found = foreign(whole(ROW | counted))
    told = {c.metric: (c.unit, c.better, c.values) for c in found.cells if c.metric in counted}
    assert told == {
        "bytes_per_second": ("B/s", "higher", (5.0,)),
        "max_bytes_used": ("B", "lower", (7.0,)),
        "rate": ("", None, (2.5,)),
    }
    assert [note.code for note in found.notes] == ["left-out", "left-out"]


def test_a_csv_behind_other_output_with_a_statistic_of_the_program(foreign) -> None:
    text = "\n".join([
        "Running ./x",
        HEAD + ',"k"',
        '"A",10,4,2,ns,,,"l, ""q""",,,1',
        '"A",10,6,3,ns,,,,,,1',
        '"A_mean",2,5,2.5,ns,,,,,,1',
        '"A_p99",2,6,3,ns,,,,,,1',
        '"A_large",10,40,20,ns,,,,,,1',
        '"A_large",10,60,30,ns,,,,,,1',
        '"A_BigO",,1,1,N,,,,,,',
        '"S",,,,,,,,false,"not here"',
        "",
    ])  # fmt: skip
    found = foreign(text, "r.csv")
    times = {c.benchmark: c.values for c in found.cells if c.metric == "real_time"}
    assert times == {"A": pytest.approx((4e-9, 6e-9)), "A_large": pytest.approx((4e-8, 6e-8))}
    assert [note.code for note in found.notes] == ["skipped"]


def test_what_the_program_says_before_its_json_is_left_out(foreign) -> None:
    text = (
        "2026-01-02T03:04:05+00:00\nRunning ./x\nRun on (2 X 2000 MHz CPU s)\n***WARNING*** {x}\n"
    )
    found = foreign(text + json.dumps(whole(ROW), indent=2), "log.txt")
    assert found.cells[0].values == (0.004,)


def test_a_counter_that_not_every_repetition_has_is_told(foreign) -> None:
    found = foreign(whole(ROW | {"hits": 3.0}, ROW))
    assert [cell.metric for cell in found.cells] == ["real_time", "cpu_time"]
    assert [n.text for n in found.notes] == ["'hits' of 'BM_x' is left out: not every run has it"]


FAILED = ROW | {"error_occurred": True, "error_message": "x"}
AGGREGATES = "--benchmark_report_aggregates_only"
CUT = r"r\.csv:3: the line is cut off"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (whole(aggregate("mean"), aggregate("cv")), AGGREGATES),
        (whole(FAILED, aggregate("mean")), AGGREGATES),
        (whole(), AGGREGATES),
        ("-----\nBenchmark        Time             CPU   Iterations\n-----\nBM_x  4 ns  4 ns  10\n",
         "--benchmark_out_format=json"),
        (whole(ROW | {"real_time": -1.0}), r"benchmarks\[0\].real_time: the value -1.0 is negative"),
        (whole(ROW | {"real_time": float("nan")}), r"benchmarks\[0\].real_time: the value nan is not a finite number"),
        (whole(ROW | {"time_unit": "fortnight"}), "the unit 'fortnight' is not known"),
        (whole(ROW | {"run_name": 4}), "a benchmark has no name"),
        *((f'{HEAD}\n"A",10,4,2,ns,,,,,\n"A",10,4{more}', CUT) for more in ("", ",2,ns,,", ",2,ns,,,,,,1,2")),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(foreign, content, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(content, "r.csv")
