"""The pages of studies: every cell says the number that it stands for."""

from analysis.pages.model import Table, Value, page_of
from analysis.plan.error_rates import CoverageStudy
from analysis.plan.study import Covered


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
