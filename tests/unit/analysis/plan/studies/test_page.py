"""The pages of studies: every cell says the number that it stands for."""

from __future__ import annotations

import pytest

from analysis.pages.model import Table, Value, page_of
from analysis.plan.error_rates import coverage_study, power_study, type1_study
from analysis.plan.study import CoverageStudy, Covered


def table_of(study):
    (table,) = (
        block
        for section in page_of(study).sections
        for block in section.blocks
        if isinstance(block, Table)
    )
    return table


def rate(cell):
    return Value(f"{cell.rate:.3f} ± {cell.error:.3f}", cell.rate)


def test_a_line_for_each_point_and_a_column_for_each_test(population, rng):
    found = power_study(
        population(), shift=1.02, shifted=(0, 6), tests=("t", "welch"), simulations=9, rng=rng
    )
    table = table_of(found)
    assert [c.heading for c in table.columns] == ["shifted", "t", "t on logs"]
    cells = {(cell.shifted, cell.test): cell for cell in found.cells}
    assert table.rows == tuple(
        (Value(str(k), k), rate(cells[k, "t"]), rate(cells[k, "welch"])) for k in (0, 6)
    )


def test_several_numbers_of_runs_have_a_column(population, rng):
    found = power_study(
        population(), runs=(3, 4), shifted=(0, 6), tests=("t",), simulations=9, rng=rng
    )
    table = table_of(found)
    assert [c.heading for c in table.columns] == ["runs", "shifted", "t"]
    points = [(row[0].value, row[1].value) for row in table.rows]
    assert points == [(3, 0), (3, 6), (4, 0), (4, 6)]


def test_a_type_1_study_has_lines_of_runs(population, rng):
    found = type1_study(population(), runs=(3, 5), tests=("welch",), simulations=9, rng=rng)
    table = table_of(found)
    assert [c.heading for c in table.columns] == ["runs", "t on logs"]
    assert [row[0] for row in table.rows] == [Value("3", 3), Value("5", 5)]


def test_the_table_of_a_coverage_study(population, rng):
    found = coverage_study(
        population(), runs=(3,), intervals=("percentile", "t", "hpt"), simulations=20,
        resamples=99, rng=rng,
    )  # fmt: skip
    for row, cell in zip(table_of(found).rows, found.every, strict=True):
        runs, interval, coverage, low, high, width, end = row
        named = {"t": "t", "percentile": "percentile", "hpt": "HPT speedup"}
        assert (runs.value, interval) == (3, named[cell.interval])
        assert coverage == rate(cell)
        assert (low.value, high.value) == (cell.below / 20, cell.above / 20)
        assert low.text == f"{cell.below / 20:.3f}"
        assert (width.value, end.value) == (cell.width, cell.low)
        assert float(end.text) == pytest.approx(cell.low, rel=1e-3)
        if cell.interval == "hpt":  # a bound has no width
            assert width == Value("-", None)
        else:
            assert float(width.text) == pytest.approx(cell.width, rel=0.01)


def study_of(cell):
    return CoverageStudy(
        population="p", benchmarks=2, values=(9, 9), ratio=2.0, confidence=0.95,
        mean="geometric", draws="run", replace=True, resamples=99, cells=(cell,), seed=None,
    )  # fmt: skip


def test_intervals_that_do_not_exist_are_said_and_give_no_rates():
    some = Covered(
        interval="bca",
        runs=3,
        held=3,
        below=1,
        above=0,
        refused=6,
        simulations=10,
        width=0.5,
        low=1.8,
    )
    (row,) = table_of(study_of(some)).rows
    assert row[1:4] == ("bca (6 do not exist)", rate(some), Value("0.250", 0.25))
    none = Covered(
        interval="bca",
        runs=3,
        held=0,
        below=0,
        above=0,
        refused=10,
        simulations=10,
        width=None,
        low=None,
    )
    (row,) = table_of(study_of(none)).rows
    assert row[2:] == (Value("-", None),) * 5
    assert study_of(none).to_dict()["cells"][0]["rate"] is None
