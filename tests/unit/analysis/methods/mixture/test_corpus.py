"""Many samples together, values of clusters, and grids that are coarser than the clock.

Authority: sections 7.3, 7.4, 7.6 and appendix 1 of Worms and Touati (what is summed up, the printed list
of ammp's clusters), numpy's median and type 7 quartile, and counting by hand.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from analysis import fit_mixture
from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError
from analysis.methods.mixture.fit import coarser_grid
from analysis.methods.mixture.goodness import corpus_summary, fit_corpus
from analysis.methods.mixture.pictures import corpus_alt
from analysis.methods.mixture.report import MixtureOptions, mixture_report
from analysis.plots.chart import write_picture
from analysis.plots.marks import Curve, Dots
from analysis.stats.arguments import stream

GOLDEN = Path(__file__).parents[4] / "golden" / "varcore_ammp"
AMMP = [float(row.split(",")[0]) for row in (GOLDEN / "times.csv").read_text().splitlines()[1:]]
PRINTED = [  # VARCORE_extract_cluster_list, appendix 1
    [92.41, 92.01, 92.22],
    [93.22, 93.21, 93.21, 93.02, 93.21],
    [93.61, 93.62, 94.01, 93.42, 93.82, 93.41, 93.61, 93.41, 93.42, 93.42, 93.61, 93.62, 93.42, 93.81],
    [94.22, 94.22, 94.22, 94.22, 94.21],
    [95.61, 95.02, 94.62, 94.81],
]  # fmt: skip


def made(samples, **options):
    matrix = PerformanceMatrix.from_samples("x", samples, better="lower", unit="s")
    chosen = MixtureOptions(**{"resamples": 0, **options})
    return mixture_report([matrix], options=chosen, rng=stream(1, "test"))


@pytest.fixture(scope="module")
def corpus():
    """Give a report of samples with one, two and three modes, and one that cannot be fitted."""
    rng = np.random.default_rng(7)
    samples = {
        f"b{k}": rng.normal(10, 0.2, 30) + 5 * (np.arange(30) % modes)
        for k, modes in enumerate((1, 1, 2, 2, 3))
    }
    return made({**samples, "flat": [1.0] * 5}, resamples=9, max_components=4)


# ---- values of the clusters


def test_clusters_are_those_that_the_paper_prints():
    report = made({"ammp": AMMP}, clusters=True)
    (cell,) = report.cells
    assert [one.tolist() for one in cell.clusters] == PRINTED
    data = report.to_dict()
    assert data["benchmarks"][0]["variants"][0]["clusters"] == PRINTED
    assert "clusters" not in data["options"]
    assert "component 0: 92.41, 92.01, 92.22\n" in str(report)
    assert "component 3: 94.22, 94.22, 94.22, 94.22, 94.21\n" in str(report)


def test_nothing_is_listed_that_was_not_asked_for():
    report = made({"ammp": AMMP})
    assert "clusters" not in json.dumps(report.to_dict())
    assert "component 0:" not in str(report)


# ---- the summary


def test_components_and_modes_are_counted(corpus):
    cells = [cell for cell in corpus.cells if cell.mixture is not None]
    k = [cell.mixture.components for cell in cells]
    found = corpus.corpus
    assert found.samples == 5 == found.tested
    assert found.components.median == np.median(k)
    assert found.components.upper_quartile == np.quantile(k, 0.75, method="linear")
    assert found.components.largest == max(k)
    assert found.modes == {1: 2, 2: 2, 3: 1}
    assert found.rejected == sum(cell.fit_test.pvalue <= 0.05 for cell in cells)
    assert "one mode in 40 %, two modes in 40 %, three modes in 20 %" in " ".join(
        str(corpus).split()
    )
    data = corpus.to_dict()["corpus"]
    assert data["modes"] == {"1": 2, "2": 2, "3": 1}
    assert set(data) == {"samples", "components", "modes", "tested", "rejected"}


def test_one_benchmark_is_no_corpus():
    assert made({"ammp": AMMP}).to_dict()["corpus"] is None


def test_four_modes_and_more_are_told_together():
    rng = np.random.default_rng(3)
    many = {
        f"b{k}": rng.normal(10, 0.2, 60) + 5 * (np.arange(60) % modes)
        for k, modes in enumerate((4, 5))
    }
    assert "upper quartile 4.75, at most 5; four modes or more in 100 %" in " ".join(
        str(made(many)).split()
    )


def test_a_corpus_of_the_library_is_summed_up_alike():
    rng = np.random.default_rng(7)
    samples = {"a": rng.normal(10, 1, 40), "b": AMMP, "flat": [1.0] * 9}
    rows = fit_corpus(samples, resamples=19, rng=np.random.default_rng(1))
    found = corpus_summary((row.mixture, row.test) for row in rows)
    assert (found.samples, found.tested, found.components.largest) == (2, 2, 5)
    assert found.modes == {1: 1, 4: 1}
    with pytest.raises(InsufficientDataError, match="no sample has a mixture"):
        corpus_summary([(None, None)])


# ---- the picture


def closed(axes):
    return next(one for one in axes.marks if isinstance(one, Curve) and one.closed).points.T


def test_the_picture_holds_every_p_and_every_number_of_modes(corpus, tmp_path):
    picture = corpus.picture()
    write_picture(picture, tmp_path / "x.svg")
    ps, quantiles, levels = picture.axes
    p = np.sort([cell.fit_test.pvalue for cell in corpus.cells if cell.fit_test is not None])
    heights = closed(ps)[1][1:-1:2]
    assert heights.size == 20
    assert heights.sum() == pytest.approx(1)
    assert heights[0] == pytest.approx(np.mean(p <= 0.05))
    dots = next(one for one in quantiles.marks if isinstance(one, Dots)).points
    assert dots == pytest.approx(np.column_stack(((np.arange(5) + 0.5) / 5, p)))
    edges, shares = closed(levels)
    assert edges[::2].tolist() == [0.5, 1.5, 2.5, 3.5]
    assert shares[1:-1:2] == pytest.approx([0.4, 0.4, 0.2])
    assert "samples by number of modes: 2 with 1, 2 with 2, 1 with 3" in corpus_alt(corpus.corpus)


def test_p_of_exactly_5_percent_stands_among_the_rejected():
    # negative control of the first bar: 39 resamples give p = 0.05 and 0.075, one on each side
    rng = np.random.default_rng(1)
    report = made({f"b{k}": np.round(rng.normal(30, 1, 35)) for k in range(6)}, resamples=39)
    p = [cell.fit_test.pvalue for cell in report.cells]
    assert report.corpus.rejected == sum(one <= 0.05 for one in p) > 0
    assert closed(report.picture().axes[0])[1][1] == pytest.approx(report.corpus.rejected / 6)


def test_without_fit_tests_there_are_modes_alone(tmp_path):
    report = made({"a": AMMP, "b": AMMP})
    picture = report.picture()
    write_picture(picture, tmp_path / "x.png")
    assert len(picture.axes) == 1
    assert "fit tests" not in corpus_alt(report.corpus)


# ---- grids that are coarser than the resolution


def codes(found):
    return [caution.code for caution in found]


def test_the_resolution_of_the_print_makes_ticks_of_ammp_and_0_2_forbids_them():
    fine, coarse = (fit_mixture(AMMP, resolution=step) for step in (0.01, 0.2))
    assert fine.components == 9  # of 14 readings, 0.2 apart
    assert coarse.components <= 5
    assert coarse.components == 1
    assert "grid-coarser" in codes(fine.cautions)
    assert "grid-coarser" not in codes(coarse.cautions)
    assert "grid-coarser" not in codes(fit_mixture(AMMP).cautions)


@pytest.mark.parametrize("step", [0.01, 0.02, 0.05])
def test_the_grid_of_ammp_is_told(step):
    (caution,) = coarser_grid(AMMP, step)
    assert "stand some 0.2 apart (14 readings for 31 values)" in caution.text
    assert "try a resolution of 0.2" in caution.text


def test_exact_multiples_are_told_with_their_step():
    (caution,) = coarser_grid(AMMP, 0.001)
    assert "stand 0.01 apart (19 readings for 31 values)" in caution.text
    assert "try a resolution of 0.01" in caution.text


def test_planted_grids_are_found_and_anything_else_is_not():
    told = {"planted": 0, "normal": 0, "own step": 0, "lognormal": 0, "clusters": 0}
    for k in range(200):
        rng = np.random.default_rng([28, k])
        planted = np.round(
            np.round(rng.normal(93, 0.8, 31) / 0.2) * 0.2 + rng.choice([0, 0.01], 31), 2
        )
        anywhere = rng.choice(rng.uniform(0, 10, int(rng.integers(3, 8))), 31)
        samples = {
            "planted": (planted, 0.01),
            "normal": (rng.normal(10, 1, 31), 10 ** rng.uniform(-4, 0)),
            "own step": (np.round(rng.normal(10, rng.uniform(0.05, 1), 31), 2), 0.01),
            "lognormal": (rng.lognormal(0, 1, 31), 10 ** rng.uniform(-3, -1)),
            "clusters": (anywhere + rng.normal(0, 0.003, 31), 0.01),
        }
        for name, (values, step) in samples.items():
            told[name] += bool(codes(coarser_grid(values, step)))
    assert told.pop("planted") > 170
    assert told["normal"] == told["lognormal"] == told["own step"] == 0
    assert told["clusters"] <= 3  # of few tight clusters some stand evenly


def test_equal_and_few_values_have_no_grid():
    assert not codes(coarser_grid([5.0] * 6, 0.1))
    assert not codes(coarser_grid([5.0, 7.0], 0.1))


def test_reports_tell_it_of_one_sample_and_of_many():
    one = made({"ammp": AMMP}, resolution=0.01)
    assert codes(one.cautions).count("grid-coarser") == 1
    both = made({"a": AMMP, "b": AMMP, "c": np.arange(30) + 0.5}, resolution=0.01)
    assert "the values of 2 of 3 samples stand on a coarser grid" in " ".join(str(both).split())


def test_components_at_the_floor_are_told_of_many():
    rng = np.random.default_rng(2)
    few = {f"b{k}": rng.normal(10, 1, 8) for k in range(3)}
    assert "in 3 of 3 samples components have the least variance" in " ".join(
        str(made(few, resolution=1e-6)).split()
    )
    assert "least variance" not in str(made(few))
