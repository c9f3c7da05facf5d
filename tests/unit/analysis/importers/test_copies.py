"""Benchmarks of one name in one file: kept apart whole, the same on every occasion.

Authority: the values written into the cells.
"""

from __future__ import annotations

from analysis.importers.gathering import ReadingChoices, gather

RATE = {"metric": "rate", "unit": "B/s", "better": "higher"}


def shown(found):
    return [(one.benchmark, one.cell.metric, one.cell.values) for one in found.cells]


def test_cells_of_one_name_are_kept_apart_and_told(cell, file) -> None:
    found = gather([file(cell(), cell("b", 7.0))], ReadingChoices())
    assert found.benchmarks == ("b", "b (2)")
    assert [c.code for c in found.cautions] == ["equal-names"]
    assert found.cautions[0].about == ("b",)


def test_a_further_metric_goes_to_the_benchmark_that_has_it(cell, file) -> None:
    """Only the second one counts bytes: they are not the first one's."""
    found = gather([file(cell("b", 1.0), cell("b", 2.0), cell("b", 9.0, **RATE))], ReadingChoices())
    assert shown(found) == [
        ("b", "time", (1.0,)),
        ("b (2)", "time", (2.0,)),
        ("b (2)", "rate", (9.0,)),
    ]
    # the control: metrics of two different benchmarks may alternate as they like
    mixed = [cell("b", 1.0), cell("c", 2.0), cell("b", 8.0, **RATE), cell("c", 9.0, **RATE)]
    assert shown(gather([file(*mixed)], ReadingChoices()))[2:] == [
        ("b", "rate", (8.0,)),
        ("c", "rate", (9.0,)),
    ]


def test_a_name_that_the_file_has_itself_is_never_given(cell, file) -> None:
    cells = [cell("b", 1.0), cell("b (2)", 2.0), cell("b", 3.0), cell("b", 4.0)]
    assert gather([file(*cells)], ReadingChoices()).benchmarks == ("b", "b (2)", "b (3)", "b (4)")


def test_what_the_file_tells_apart_has_one_name_on_every_occasion(cell, file) -> None:
    """Two programs become one benchmark by --benchmark: the second day names them the other way."""

    def day(k: int, *order: str):
        cells = [
            cell(name, k + ord(name) / 128, variant="v", keys={"suite": "s"}) for name in order
        ]
        return file(*cells, source=f"day{k}.json")

    found = gather(
        [day(1, "x", "y"), day(2, "y", "x"), day(3, "y")], ReadingChoices(benchmark="suite")
    )
    assert [(o.benchmark, o.cell.benchmark) for o in found.cells] == [
        ("s", "x"), ("s (2)", "y"), ("s (2)", "y"), ("s", "x"), ("s (2)", "y"),
    ]  # fmt: skip


def test_sittings_of_one_occasion_hold_further_processes(cell, file, imported) -> None:
    cells = [cell("b", float(k), variant="v", session=f"start {k}") for k in (1, 2)]
    matrix = imported(file(*cells), session="file").matrix("v", "time")
    assert matrix.values("b").tolist() == [1.0, 2.0]
    assert matrix.sessions[0].tolist() == [1, 1]
    # the control: within one start it is another benchmark
    cells = [cell("b", float(k), variant="v", session="start 1") for k in (1, 2)]
    assert imported(file(*cells), session="file").matrix("v", "time").benchmarks == ("b", "b (2)")
