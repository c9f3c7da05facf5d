"""Densities of runs and of means beside their normal laws: figures 2 and 4 of the HPT paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.diagnose.normality import (
    MEAN_SIZES,
    grown_bandwidth,
    mean_sample_size,
    normal_curves,
    runs_of,
)
from analysis.importers.reader import Reading
from analysis.plots.chart import Sheet
from analysis.report.figures import draw
from analysis.report.subject import subject_of
from analysis.stats.arguments import stream
from analysis.stats.samples import kernel_density

WIDE = Sheet(width=178, font_size=8)


def single(synthetic, tmp_path, values):
    trial = synthetic({"base": {"a": values.tolist()}}, sessions=2).write(tmp_path / "one")
    return subject_of([str(trial)], Reading(), explain=False)


def outside(drawing):
    return int(drawing.alt.split("base: ")[1].split(" %")[0])


def test_a_density_stands_against_its_normal_law(synthetic, tmp_path):
    # authorities: scipy's Gaussian kernels and normal law; two speeds are no normal law, normal runs are
    rng = np.random.default_rng(7)
    normal = rng.normal(1, 0.02, 400)
    drawing = draw("density", single(synthetic, tmp_path / "n", normal), WIDE)
    stored = np.round(normal, 9)  # in ns
    at, kernel, law = np.array([row[1:] for row in drawing.rows]).T
    width = normal_curves(stored).bandwidth / stored.std(ddof=1)
    assert kernel == pytest.approx(stats.gaussian_kde(stored, width)(at), rel=1e-6)
    assert law == pytest.approx(stats.norm(stored.mean(), stored.std(ddof=1)).pdf(at), rel=1e-9)
    assert outside(drawing) <= 8
    two = np.where(rng.random(400) < 0.5, 1.3, 1.0) * normal
    assert outside(draw("density", single(synthetic, tmp_path / "t", two), WIDE)) > 25


def test_means_of_skewed_runs_look_normal_late_and_those_of_normal_runs_from_the_first(
    synthetic, tmp_path
):
    # the central limit: the skewness of a mean of n lognormal runs falls as 1 / sqrt(n)
    rng = np.random.default_rng(3)
    skewed = draw("means", single(synthetic, tmp_path / "s", np.exp(rng.normal(0, 1.2, 600))), WIDE)
    normal = draw("means", single(synthetic, tmp_path / "n", rng.normal(1, 0.02, 600)), WIDE)
    assert [row[1:3] for row in skewed.rows] == [(n, 150) for n in MEAN_SIZES]
    small = [row[3] for row in skewed.rows if row[1] <= 60]
    assert max(small) <= 0.05
    assert sum(row[3] <= 0.05 for row in normal.rows) <= 3  # of 15: at most so many in 99.5 %
    # the numbers are those of the study on the same stream
    matrix = single(synthetic, tmp_path / "n2", rng.normal(1, 0.02, 50)).matrices["base"]
    study = mean_sample_size(runs_of(matrix), rng=stream(0, "mean sample size", "base"))
    drawn = draw("means", single(synthetic, tmp_path / "n3", matrix.samples[0]), WIDE)
    assert [row[3] for row in drawn.rows] == pytest.approx([one.pvalue for one in study], rel=1e-6)


def test_the_window_grows_until_one_peak_is_left():
    # two points: one peak from half of their distance on (the mixture of two equal normal laws)
    assert grown_bandwidth(np.array([0.0, 2.0])) == pytest.approx(1.0, rel=0.03)
    x = np.random.default_rng(1).normal(size=150)
    window = grown_bandwidth(x)
    grid = np.linspace(-5, 5, 2000)
    peaks = [
        np.count_nonzero(np.diff(np.sign(np.diff(kernel_density(x, grid, w)))) < 0)
        for w in (window, window / 1.1)
    ]
    assert peaks[0] == 1 < peaks[1]


@pytest.mark.parametrize("seed", range(6))
def test_halving_finds_what_growing_step_by_step_finds(seed):
    # authority: Silverman 1981; the rule itself, from the smallest window on
    rng = np.random.default_rng(seed)
    x = rng.lognormal(0, 0.5, 60) if seed % 2 else rng.normal(rng.choice([0, 4], 60))
    reach = float(np.ptp(x))
    grid = np.linspace(x.min() - reach / 4, x.max() + reach / 4, 256)
    window = reach / 100
    while np.count_nonzero(np.diff(np.sign(np.diff(kernel_density(x, grid, window)))) < 0) > 1:
        window *= 1.02
    assert grown_bandwidth(x) == window
