"""The pictures of studies: what is drawn are the study's numbers."""

from __future__ import annotations

import numpy as np

from analysis.plan.error_rates import power_study, type1_study
from analysis.plan.study_picture import power_picture
from analysis.plots.marks import Dots


def drawn_spots(axes):
    return [mark.points for mark in axes.marks if isinstance(mark, Dots)]


def test_a_panel_for_each_number_of_runs_with_a_curve_for_each_test(population, rng):
    found = power_study(
        population(), shift=1.02, runs=(3, 4, 5, 6), shifted=(0, 2, 6), tests=("t", "welch"),
        simulations=9, rng=rng,
    )  # fmt: skip
    panels = power_picture(found).axes
    assert [axes.title for axes in panels] == ["3 runs", "4 runs", "5 runs", "6 runs"]
    for axes, runs in zip(panels, (3, 4, 5, 6), strict=True):
        for points, test in zip(drawn_spots(axes), ("t", "welch"), strict=True):
            want = [(k, found.rate(test, shifted=k, runs=runs)) for k in (0, 2, 6)]
            np.testing.assert_allclose(points, want)


def test_over_the_runs_where_one_number_is_shifted(population, rng):
    found = power_study(
        population(), runs=(3, 30), shifted=(1,), tests=("welch",), simulations=9, rng=rng
    )
    (axes,) = power_picture(found).axes
    assert axes.x.log
    want = [(m, found.rate("welch", shifted=1, runs=m)) for m in (3, 30)]
    np.testing.assert_allclose(drawn_spots(axes)[0], want)
    level = type1_study(population(), runs=(3, 5), tests=("welch",), simulations=9, rng=rng)
    (axes,) = power_picture(level).axes
    assert [x for x, _ in drawn_spots(axes)[0]] == [3, 5]


def test_one_point_is_drawn_and_texts_are_there(population, rng):
    found = type1_study(population(), runs=(3,), tests=("welch",), simulations=9, rng=rng)
    text = power_picture(found).svg("title", "words")
    assert "type-I error" in text
    assert "the level 0.05" in text
