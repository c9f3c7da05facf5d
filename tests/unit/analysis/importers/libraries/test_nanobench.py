"""nanobench's JSON. Authority: its template (``templates::json()`` in ``nanobench.h``, MIT licence) and
``Result::add``, which divides time and counters by the iterations; files by hand in that layout."""

from __future__ import annotations

import pytest

from analysis.errors import AnalysisError


def epoch(elapsed: float, iterations: int = 10, **counters: float) -> dict:
    zero = dict.fromkeys(
        ("pagefaults", "cpucycles", "contextswitches", "instructions", "branchinstructions", "branchmisses"), 0
    )  # fmt: skip
    return {"iterations": iterations, "elapsed": elapsed} | zero | counters


def result(*epochs: dict, **more: object) -> dict:
    return {
        "title": "benchmark", "name": "sort", "unit": "op", "batch": 1, "complexityN": -1, "epochs": 11,
        "clockResolution": 1.8e-08, "warmup": 0, "relative": 0, "median(elapsed)": 2e-9,
        "totalTime": 1.0, "measurements": list(epochs or (epoch(2e-9), epoch(3e-9, 12))),
    } | more  # fmt: skip


def test_epochs_are_iterations_of_one_process(foreign) -> None:
    file = foreign({"results": [result()]})
    (cell,) = file.cells
    assert cell.processes == ((2e-9, 3e-9),)
    assert (cell.benchmark, cell.known, cell.variant) == ("sort", True, None)
    assert "means of 12 iterations" in str(file.losses)
    assert (cell.metric, cell.unit, cell.better) == ("time", "s", "lower")
    assert (cell.keys["unit"], cell.keys["batch"]) == ("op", "1")
    assert {"one-process", "no-sessions"} <= {loss.code for loss in file.losses}


def test_counters_that_were_read_are_metrics(foreign) -> None:
    """0 in the whole file: the kernel did not let it count. 0 of one benchmark: a count."""
    file = foreign({
        "results": [
            result(epoch(1e-9, instructions=4.5), epoch(2e-9, instructions=4.0)),
            result(epoch(1e-9), name="other"),
        ]
    })  # fmt: skip
    told = [(c.benchmark, c.metric, c.unit, c.better, c.values) for c in file.cells]
    assert told == [
        ("sort", "time", "s", "lower", (1e-9, 2e-9)),
        ("sort", "instructions", "", None, (4.5, 4.0)),
        ("other", "time", "s", "lower", (1e-9,)),
        ("other", "instructions", "", None, (0.0,)),
    ]


def test_a_title_is_part_of_the_name(foreign) -> None:
    file = foreign({"results": [result(title="maps"), result(title="sets", batch=100)]})
    assert [cell.benchmark for cell in file.cells] == ["maps/sort", "sets/sort"]
    assert "whole-batches" in {loss.code for loss in file.losses}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        *(
            ({"results": [result(**change)]}, said)
            for change, said in (
                ({"measurements": []}, r"were not kept.*templates::json\(\)"),
                ({"measurements": None}, r"were not kept.*templates::json\(\)"),
                ({"measurements": [epoch(-1.0)]}, r"results\[0\].measurements\[0\].elapsed: the value -1.0 is neg"),
                ({"measurements": [{"iterations": 1}]}, r"measurements\[0\] has no key 'elapsed'"),
                ({"measurements": [1]}, r"measurements\[0\] has no key 'elapsed'"),
                ({"name": None}, "a benchmark has no name"),
            )
        ),
        # three keys alone tell whose file it is
        ({"results": [{"measurements": [epoch(1e-9)], "batch": 1, "epochs": 1}]}, "a benchmark has no name"),
        ('"title";"name";"unit";"batch";"elapsed";"error %";"instructions"\n"t";"n";"op";1;2e-9;0.1;3\n',
         r"summaries only.*templates::json\(\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(foreign, content, said) -> None:
    with pytest.raises(AnalysisError, match=f"(?s){said}"):
        foreign(content)
