"""JMH's JSON. Authority: its writer (JSONResultFormat), and files written by hand in its layout."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError


def result(**more: object) -> dict:
    metric = {
        "score": 2.5,
        "scoreError": "NaN",
        "scoreUnit": "us/op",
        "rawData": [[1.0, 2.0], [3.0, 4.0]],
    }
    primary = metric | more.pop("primary", {})
    return {
        "jmhVersion": "1.37", "benchmark": "p.C.m", "mode": "avgt", "threads": 1, "forks": 2,
        "warmupIterations": 3, "measurementIterations": 2, "primaryMetric": primary,
        "secondaryMetrics": {},
    } | more  # fmt: skip


def test_forks_are_processes(foreign) -> None:
    found = foreign([result(params={"n": "10", "gc": "on"})])
    (cell,) = found.cells
    assert cell.processes == (pytest.approx((1e-6, 2e-6)), pytest.approx((3e-6, 4e-6)))
    assert (cell.known, cell.warmups, cell.failed, cell.variant) == (True, 6, None, None)
    assert (cell.benchmark, cell.metric, cell.unit, cell.better) == (
        "p.C.m n=10 gc=on", "time", "s", "lower",
    )  # fmt: skip
    assert (cell.keys["n"], cell.keys["mode"], cell.keys["benchmark"]) == ("10", "avgt", "p.C.m")
    assert found.variant_rule == "the file's name"
    assert "one-process" not in {loss.code for loss in found.losses}


def test_without_forks_there_is_one_process(foreign) -> None:
    found = foreign([result(forks=0, primary={"rawData": [[1.0, 2.0]]})])
    assert (len(found.cells[0].processes), found.cells[0].warmups) == (1, 3)
    assert "one-process" in {loss.code for loss in found.losses}


@pytest.mark.parametrize(
    ("mode", "unit", "metric", "ours", "better", "first"),
    [
        ("thrpt", "ops/s", "throughput", "ops/s", "higher", 1.0),
        ("thrpt", "ops/ms", "throughput", "ops/ms", "higher", 1.0),
        ("avgt", "ops/s", "throughput", "ops/s", "higher", 1.0),  # as scalajs-benchmark has it
        ("avgt", "ns/op", "time", "s", "lower", 1e-9),
        ("ss", "ms/op", "single_shot", "s", "lower", 1e-3),
        ("ss", "s/op", "single_shot", "s", "lower", 1.0),
        ("avgt", "min/op", "time", "s", "lower", 60.0),
        ("avgt", "hr/op", "time", "s", "lower", 3600.0),
        ("avgt", "day/op", "time", "s", "lower", 86400.0),
        ("latency", "points", "latency", "points", None, 1.0),  # never guessed
        (None, "points", "value", "points", None, 1.0),
    ],
)
def test_modes(foreign, mode, unit, metric, ours, better, first) -> None:
    (cell,) = foreign([result(mode=mode, primary={"scoreUnit": unit})]).cells
    assert (cell.metric, cell.unit, cell.better) == (metric, ours, better)
    assert cell.values[0] == pytest.approx(first)


def test_a_histogram_has_a_mean(foreign) -> None:
    raw = [[[[1.0, 3], [5.0, 1]], [[2.0, 2]], []], [[[4.0, 1]], [[8.0, 1]]]]
    primary = {"scoreUnit": "ms/op", "rawDataHistogram": raw}
    found = foreign([result(mode="sample", primary=primary)])
    (cell,) = found.cells
    # (3 * 1 + 5) / 4 = 2; an iteration without a sample has no value
    assert cell.processes == (pytest.approx((2e-3, 2e-3)), pytest.approx((4e-3, 8e-3)))
    assert (cell.metric, cell.unit) == ("sample_time", "s")
    assert "histograms" in {loss.code for loss in found.losses}


def test_secondary_metrics_are_metrics(foreign) -> None:
    def one(unit: str, *raw: list[object]) -> dict:
        return {"score": 1.0, "scoreUnit": unit, "rawData": list(raw)}

    found = foreign([
        result(
            secondaryMetrics={
                "·gc.alloc.rate.norm": one("B/op", [16.0, 16.0], [24.0, 24.0]),
                "·gc.time": one("ms", [5.0], [6.0]),
                "·gc.count": one("counts", [1.0], [2.0]),
                "·gc.churn": one("MB/sec", ["NaN"], [2.0]),
            }
        )
    ])  # fmt: skip
    told = {c.metric: (c.unit, c.better, c.values) for c in found.cells[1:]}
    assert told == {
        "·gc.alloc.rate.norm": ("B/op", None, (16.0, 16.0, 24.0, 24.0)),
        "·gc.time": ("s", None, pytest.approx((0.005, 0.006))),
        "·gc.count": ("counts", None, (1.0, 2.0)),
    }
    assert [note.code for note in found.notes] == ["left-out"]


def test_a_fork_that_is_missing_failed(foreign) -> None:
    found = foreign([result(forks=3)])
    assert found.cells[0].failed == 1
    assert [note.code for note in found.notes] == ["forks-missing"]


def test_names_that_the_tool_broke_into_lines_are_whole(foreign) -> None:
    text = """[ { "benchmark" : "p.C.m", "mode" : "avgt", "forks" : 1,
      "params" : { "v" : "a,
        b" },
      "primaryMetric" : { "scoreUnit" : "s/op", "rawData" : [ [ 1.5 ] ] } } ]"""
    assert foreign(text).cells[0].keys["v"] == "a,b"


def test_forks_have_numbers(foreign) -> None:
    """The first fork of the second metric has no sample: its second one stays the second."""
    second = {"score": 1.0, "scoreUnit": "ms", "rawData": [[], [6.0]]}
    time, gc = foreign([result(secondaryMetrics={"gc.time": second})]).cells
    assert (time.labels, gc.labels) == (("avgt 1", "avgt 2"), ("avgt 2",))
    assert gc.processes == (pytest.approx((6e-3,)),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *(
            ([result(primary=change)], said)
            for change, said in (
                ({"rawData": []}, r"jmh\.json\.rawData=false"),
                ({"rawData": [[], []]}, r"jmh\.json\.rawData=false"),
                ({"rawData": None}, r"jmh\.json\.rawData=false"),
                ({"rawData": [[1.0, "NaN"]]}, r"\[0\].primaryMetric.rawData\[0\]\[1\]: the value nan is not a finite"),
                ({"rawData": [[1.0, "+INF"]]}, "not a finite number"),
                ({"rawData": [1.0]}, "a fork is not a list"),
                ({"rawDataHistogram": [[[[1.0]]]]}, "not a pair"),
                ({"rawDataHistogram": [[[[1.0, 0]]]]}, "no mean"),
            )
        ),
        *(
            (text, "-rf json -rff FILE")
            for text in (
                '"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit"\n"m","avgt",1,5,1.0,NaN,"s/op"\n',
                '"Benchmark";"Mode";"Threads";"Samples";"Score";"Score Error (99,9%)";"Unit"\n"m";"avgt";1;5;1,0;NaN;"s/op"\n',
                "Benchmark       (n)  Mode  Cnt  Score   Error  Units\nC.m              10  avgt    5  1.000 ± 0.1  s/op\n",
                "# JMH version: 1.37\n# VM version: JDK 21\n# Warmup: 5 iterations, 10 s each\nIteration   1: 1.0 s/op\n",
            )
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(foreign, content, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(content)
