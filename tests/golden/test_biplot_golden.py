"""The biplot of the five machines and seven Big Data benchmarks, against the paper and R."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix_file import read_systems
from analysis.methods.biplot import biplot

FOLDER = Path(__file__).parent / "irving_bigdata"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
R, SCIPY = EXPECTED["computed_R"], EXPECTED["computed_scipy"]
PROPER = 4  # five machines: the fifth component holds nothing


@pytest.fixture(scope="module")
def table():
    return read_systems(FOLDER / "medians.csv")


def of(table, scale):
    return biplot(table.values, table.systems, table.benchmarks, scale=scale)


def aligned(ours, theirs):
    """Turn the columns of the reference to our signs."""
    return theirs * np.sign((ours * theirs).sum(axis=0))


@pytest.mark.parametrize(
    ("scale", "key"), [("covariance", "cov"), ("correlation", "cor"), ("log", "log_cov")]
)
def test_against_prcomp(table, scale, key):
    found, want = of(table, scale), R[key]
    assert found.rank == PROPER
    assert found.explained == pytest.approx(want["prop"], abs=1e-12)
    if "sdev" in want:
        assert found.sds[:PROPER] == pytest.approx(want["sdev"][:PROPER], rel=1e-10)
    if "loadings" in want:
        ours, theirs = found.loadings[:, :PROPER], np.array(want["loadings"])[:, :PROPER]
        assert ours == pytest.approx(aligned(ours, theirs), abs=1e-10)
    if "scores" in want:
        ours, theirs = found.scores[:, :PROPER], np.array(want["scores"])[:, :PROPER]
        assert ours == pytest.approx(aligned(ours, theirs), rel=1e-9, abs=1e-8)


def test_against_scipy(table):
    found, want = of(table, "covariance"), SCIPY["covariance_pca"]
    theirs = np.array(want["loadings_rows_are_pcs"]).T[:, :PROPER]
    assert found.loadings[:, :PROPER] == pytest.approx(
        aligned(found.loadings[:, :PROPER], theirs), abs=1e-10
    )
    assert found.explained[:2].sum() == pytest.approx(SCIPY["two_pc_share"], abs=1e-12)


@pytest.mark.parametrize("scale", ["log", "covariance", "correlation"])
def test_all_49_correlations(table, scale):
    found = of(table, scale).correlations
    assert found == pytest.approx(np.array(R["correlation"]), abs=1e-12)
    with (FOLDER / "published_correlations.csv").open(newline="", encoding="utf-8") as file:
        heads, *rows = csv.reader(file)
    assert heads[1:] == list(table.benchmarks)
    printed = np.array([row[1:] for row in rows], dtype=float)
    assert printed.size == 49
    assert np.abs(found - printed).max() <= 0.005 + 1e-12


def test_published_remarks(table):
    found = of(table, "covariance")
    published = EXPECTED["published"]
    b = table.benchmarks.index("b")
    assert found.explained[:2].sum() >= published["first_two_pcs_explain_at_least"]
    assert round(float(found.loadings[b, 0]), 2) == published["loading_b_pc1"]
    assert table.systems[np.abs(found.scores[:, 0]).argmax()] == "5"
    assert table.systems[np.abs(found.scores[:, 1]).argmax()] == "2"
    # the caution that the unscaled picture needs, and the default does not
    assert any("'b' alone makes 82 % of PC1" in text for text in found.cautions)
    assert not any("alone makes" in text for text in of(table, "log").cautions)


def test_the_answer_rounds_shares_and_does_not_cut_them(table):
    # R gives 0.99976; what is not all of the variance is not written as 100 %
    assert "(together 99.98 %)" in of(table, "covariance").conclusion


def test_the_published_example_of_two_variables():
    """Figure 15: loadings (0.966, 0.258), shares of "about 95 %" and 5 %.

    The 1,000 points are not printed. Points with exactly that covariance, by its closed form
    sum of share x loading x loading', must give shares and loadings back.
    """
    axes = np.array([[0.966, 0.258], [0.258, -0.966]])
    ring = np.linspace(0, 2 * np.pi, 1000, endpoint=False)
    points = np.column_stack([np.cos(ring), np.sin(ring)]) * np.sqrt([0.95, 0.05]) @ axes
    found = biplot(points, [f"p{k}" for k in range(1000)], ["X1", "X2"], scale="covariance")
    assert found.explained == pytest.approx([0.95, 0.05], abs=1e-9)
    assert np.abs(found.loadings) == pytest.approx(np.abs(axes), abs=2e-4)


def test_the_published_loading_is_not_that_of_scaled_components(table):
    b = table.benchmarks.index("b")
    assert of(table, "correlation").loadings[b, 0] == pytest.approx(0.337, abs=5e-4)
