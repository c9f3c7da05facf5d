"""A figure and the report show the same numbers: both come from one verdict and one statistics room."""

from __future__ import annotations

import pytest

from analysis.plots.chart import Sheet
from analysis.report.benchmarks.benchmarks import Benchmark, Known
from analysis.report.benchmarks.pictures import squares
from analysis.report.figures.kinds import draw
from analysis.report.runs import Grounds, cells_of, normal_quantiles

SHEET = Sheet(width=85, font_size=7)


def of(subject, name):
    return Benchmark(Known(subject), name, cells_of(subject, name), {}, opened=True)


@pytest.mark.parametrize("looks", [None, 3])
def test_the_shift_function_is_that_of_the_part(looks, measured):
    subject = measured(("base", "fast", "slow"), looks=looks)
    part = of(subject, "b")
    rows = draw("shift", subject, SHEET, benchmark="b").rows
    for variant, told in part.candidates.items():
        ours = [row[1:5] for row in rows if row[0] == variant]
        ends = ("speedup", "low", "high")
        theirs = [(q["share"], *(q[end].value for end in ends)) for q in told["shift"]]
        assert len(ours) == 9
        assert ours == [pytest.approx(row) for row in theirs]


def test_normal_plots_are_those_of_the_part(measured):
    subject = measured()
    part = of(subject, "a")
    qq = draw("qq", subject, SHEET, benchmark="a")
    (_, (_, normals)) = squares(part, Grounds("g"))
    for name, other in normals:
        found = [row[1:] for row in qq.rows if row[0] == name]
        assert found == [pytest.approx(dot) for dot in normal_quantiles(part.cells[name]).tolist()]
        assert f"{name}: {len(found)} runs" in other
