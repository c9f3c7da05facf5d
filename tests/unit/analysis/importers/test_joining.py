"""Metrics of one process stand in one row only where it can be told that they are of one.

Authority: the names of processes written into the cells.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from analysis.importers.importing import joined_processes
from analysis.importers.parsing import ForeignCell
from tests.examples import examples


def made(metric: str, *values: float, labels: str | None = None, known: bool = True) -> ForeignCell:
    processes = tuple((v,) for v in values) if known else (values,)
    return ForeignCell(
        benchmark="b",
        metric=metric,
        processes=processes,
        known=known,
        labels=None if labels is None else tuple(labels),
    )


def single(rows):
    return [{name: values[0] for name, values in row.values.items()} for row in rows]


def test_a_process_that_only_a_later_metric_has_stands_behind_its_neighbour() -> None:
    cells = [made("time", 2.0, 4.0, labels="24"), made("rss", 1.0, 2.0, 3.0, 5.0, labels="1235")]
    assert single(joined_processes(cells)) == [
        {"rss": 1.0}, {"time": 2.0, "rss": 2.0}, {"rss": 3.0}, {"rss": 5.0}, {"time": 4.0},
    ]  # fmt: skip


def test_without_names_equal_counts_are_joined_by_their_order() -> None:
    assert single(joined_processes([made("t", 1.0, 2.0), made("m", 3.0, 4.0)])) == [
        {"t": 1.0, "m": 3.0},
        {"t": 2.0, "m": 4.0},
    ]


@pytest.mark.parametrize("labels", [None, "12"])
def test_without_names_other_counts_are_rows_of_their_own(labels) -> None:
    """Nobody knows which of three processes lacks the metric."""
    cells = [made("t", 1.0, 2.0, 3.0), made("m", 4.0, 5.0, labels=labels), made("k", 6.0, 7.0, 8.0)]
    assert single(joined_processes(cells)) == [
        {"t": 1.0, "k": 6.0}, {"t": 2.0, "k": 7.0}, {"t": 3.0, "k": 8.0}, {"m": 4.0}, {"m": 5.0},
    ]  # fmt: skip


def test_two_processes_of_one_name_are_not_told_apart_by_it() -> None:
    cells = [made("t", 1.0, 2.0, labels="11"), made("m", 3.0, labels="1")]
    assert single(joined_processes(cells)) == [{"t": 1.0}, {"t": 2.0}, {"m": 3.0}]


def test_as_many_names_as_processes_are_demanded() -> None:
    with pytest.raises(ValueError, match="2 names of 3 processes"):
        made("t", 1.0, 2.0, 3.0, labels="12")


def test_cells_without_values_add_nothing() -> None:
    assert single(joined_processes([made("t"), made("m", 1.0)])) == [{"m": 1.0}]
    assert joined_processes([]) == []


names = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(names, min_size=1, max_size=4))
def test_every_value_comes_back_once_beside_those_of_its_process(columns) -> None:
    cells = [
        made(f"m{k}", *(k * 100.0 + ord(name) for name in of), labels="".join(of))
        for k, of in enumerate(columns)
    ]
    rows = single(joined_processes(cells))
    for row in rows:
        assert len({value % 100 for value in row.values()}) == 1
    assert sorted(v for row in rows for v in row.values()) == sorted(
        v for one in cells for v in one.values
    )
    first = [row["m0"] for row in rows if "m0" in row]
    assert first == list(cells[0].values)  # in the order in which they were executed
    wanted = {name for of in columns for name in of}
    assert len(rows) == len(wanted)
