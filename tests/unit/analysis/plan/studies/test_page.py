"""The pages of studies: every cell says the number that it stands for."""

from dataclasses import replace

import numpy as np

from analysis.pages.model import Table, Value, page_of
from analysis.plan.draw import draw_study
from analysis.plan.error_rates import CoverageStudy, power_study, type1_study
from analysis.plan.study import Covered
from analysis.plots.marks import Curve, Dots


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
    counts = {"below": 1, "above": 0, "simulations": 10}
    some = Covered(interval="bca", runs=3, held=3, refused=6, width=0.5, low=1.8, **counts)
    (row,) = table_of(study_of(some)).rows
    assert row[1:4] == ("bca (6 do not exist)", rate(some), Value("0.250", 0.25))
    none = replace(some, held=0, below=0, refused=10, width=None, low=None)
    (row,) = table_of(study_of(none)).rows
    assert row[2:] == (Value("-", None),) * 5
    assert study_of(none).to_dict()["cells"][0]["rate"] is None


# --- The pictures of studies: what is drawn are the study's numbers.


def drawn_spots(axes):
    return [mark.points for mark in axes.marks if isinstance(mark, Dots)]


def test_a_panel_for_each_number_of_runs_with_a_curve_for_each_test(population, rng):
    found = power_study(
        population(), shift=1.02, runs=(3, 4, 5, 6), shifted=(0, 2, 6), tests=("t", "welch"),
        simulations=9, rng=rng,
    )  # fmt: skip
    panels = found.picture().axes
    assert [axes.title for axes in panels] == ["3 runs", "4 runs", "5 runs", "6 runs"]
    for axes, runs in zip(panels, (3, 4, 5, 6), strict=True):
        for points, test in zip(drawn_spots(axes), ("t", "welch"), strict=True):
            want = [(k, found.rate(test, shifted=k, runs=runs)) for k in (0, 2, 6)]
            np.testing.assert_allclose(points, want)


def test_over_the_runs_where_one_number_is_shifted(population, rng):
    found = power_study(
        population(), runs=(3, 30), shifted=(1,), tests=("welch",), simulations=9, rng=rng
    )
    (axes,) = found.picture().axes
    assert axes.x.log
    want = [(m, found.rate("welch", shifted=1, runs=m)) for m in (3, 30)]
    np.testing.assert_allclose(drawn_spots(axes)[0], want)
    level = type1_study(population(), runs=(3, 5), tests=("welch",), simulations=9, rng=rng)
    (axes,) = level.picture().axes
    assert [x for x, _ in drawn_spots(axes)[0]] == [3, 5]


def test_one_point_is_drawn_and_texts_are_there(population, rng):
    found = type1_study(population(), runs=(3,), tests=("welch",), simulations=9, rng=rng)
    text = found.picture().svg("title", "words")
    assert "type-I error" in text
    assert "the level 0.05" in text


def test_the_intervals_of_each_draw_are_drawn(population, rng):
    found = draw_study(
        population(seed=2), population(seed=3), speedup=1.5, simulations=9, resamples=99, rng=rng
    )
    picture = found.picture()
    (axes,) = picture.axes
    curves = {mark.css: mark.points[:, 1] for mark in axes.marks if isinstance(mark, Curve)}
    np.testing.assert_allclose(curves["ink curve"], [draw.ratio for draw in found.each])
    np.testing.assert_allclose(curves["c1 d1 curve"], [draw.hpt for draw in found.each])
    np.testing.assert_allclose(curves["c0 line"], [draw.bootstrap[1] for draw in found.each])
    np.testing.assert_allclose(curves["c2 d2 curve"], [draw.paired_t[1] for draw in found.each])
    assert axes.y.low < found.ratio < 1.5 < axes.y.high
    assert "HPT 0.95-speedup" in picture.svg("t", "a")


def test_draws_of_few_benchmarks_lack_what_does_not_exist(population, rng):
    found = draw_study(population(1), population(1, seed=2), simulations=4, resamples=99, rng=rng)
    picture = found.picture()
    assert "HPT claims no speedup in 4 of 4 draws" in picture.svg("t", "a")
