"""BenchmarkTools.jl's JSON. Authority: its writer (``serialization.jl``), the struct ``Trial``, and
``push!`` and ``sort!`` of it; files by hand in that layout. A real file of estimates is refused elsewhere."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError

VERSIONS = {"Julia": "1.10.4", "BenchmarkTools": {"major": 1, "minor": 6, "patch": 0}}


def trial(*times: float, gctimes: list[float] | None = None, **params: object) -> list:
    about = {"seconds": 5.0, "samples": 10000, "evals": 10, "gcsample": False} | params
    return ["Trial", {"params": ["Parameters", about], "times": list(times), "memory": 0, "allocs": 0,
                      "gctimes": [0.0] * len(times) if gctimes is None else gctimes}]  # fmt: skip


def group(**data: list) -> list:
    return ["BenchmarkGroup", {"tags": ["t"], "data": data}]


def test_trials_are_named_by_their_groups(foreign) -> None:
    file = foreign([VERSIONS, [group(fib=group(small=trial(5.0, 7.0)), sort=trial(9.0, evals=1))]])
    first, second = file.cells
    assert (first.benchmark, first.processes) == (
        "fib/small",
        ((pytest.approx(5e-9), pytest.approx(7e-9)),),
    )
    assert (second.benchmark, second.values) == ("sort", pytest.approx((9e-9,)))
    assert ("1 to 10 iterations" in str(file.losses), first.variant) == (True, None)
    assert (first.keys["group"], first.keys["evals"], first.keys["name"]) == (
        "fib",
        "10",
        "fib/small",
    )
    assert (first.metric, first.unit, first.better) == ("time", "s", "lower")
    assert {"one-process", "order-unknown"} <= {loss.code for loss in file.losses}


def test_time_of_the_garbage_collector_is_a_metric(foreign) -> None:
    file = foreign([VERSIONS, [trial(5.0, 7.0, gctimes=[0.0, 2.0])]], "r.json")
    assert [(c.benchmark, c.metric, c.values) for c in file.cells] == [
        ("r", "time", pytest.approx((5e-9, 7e-9))),
        ("r", "gctime", pytest.approx((0.0, 2e-9))),
    ]


KIND, ABOUT = trial(5.0)
OLD = ["BenchmarkTools.BenchmarkGroup", {"data": {"a": [f"BenchmarkTools.{KIND}", ABOUT]}}]
STRANGE = ["Trial", "no fields"]


def within(times: int) -> list:
    return group(g=within(times - 1)) if times else trial(1.0)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([OLD], ["a"]),  # types had the name of their module
        ([trial(1.0), group(a=trial(2.0))], ["1", "2/a"]),
        # what is no value hides none behind it
        (["?", trial(1.0), STRANGE, group(x=STRANGE, a=trial(2.0))], ["2", "4/a"]),
        ([within(100)], ["/".join(["g"] * 100)]),
    ],
)
def test_names_of_values(foreign, values, names) -> None:
    assert [cell.benchmark for cell in foreign([VERSIONS, values]).cells] == names


def test_summaries_beside_trials_are_left_out(foreign) -> None:
    estimate = ["TrialEstimate", {"time": 3.0, "gctime": 0.0}]
    file = foreign([VERSIONS, [group(a=trial(1.0), b=estimate)]])
    assert len(file.cells) == 1
    assert [note.code for note in file.notes] == ["left-out"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([["TrialJudgement", {}]], "a TrialJudgement, no samples"),
        ([["Parameters", {"evals": 1}]], "it holds no trial"),
        ([], "it holds no trial"),
        ([group(a=trial())], r"\[1\]\[0\]\[1\].data.a\[1\]: the values of 'a' were not kept"),
        ([trial(-1.0)], r"\[1\]\[0\]\[1\].times\[0\]: the value -1.0 is negative"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(foreign, values, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign([VERSIONS, values])
