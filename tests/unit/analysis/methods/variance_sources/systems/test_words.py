"""What is said of predictions across systems, and drawn: the numbers are the result's."""

import itertools
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.methods.variance_sources import predictions
from analysis.methods.variance_sources.page import histogram_of, systems_picture, systems_said
from analysis.methods.variance_sources.systems import across_cautions, sources_of_table
from analysis.pages.model import Figure, Section, Table, page_of
from analysis.plots.chart import picture_bytes
from analysis.plots.marks import Curve


@pytest.fixture(scope="module")
def found():
    draw = np.random.default_rng(5)
    family = draw.integers(0, 20, 120)
    clock = draw.uniform(1, 4, 20)[family]
    runs = {f"run{k}": (9 * clock + draw.normal(size=120)).tolist() for k in range(3)}
    table = runs | {
        "family": [f"f{k}" for k in family],
        "clock": clock.tolist(),
        "a <b> & $c_d$ \x1b[31m" + "x" * 80: [f"level \x07 {k}" for k in draw.integers(0, 9, 120)],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predictions, "MOST_TREES", 20)
        return sources_of_table(
            table,
            ["run0", "run1", "run2"],
            group="family",
            folds=2,
            repeats=2,
            rng=np.random.default_rng(1),
        )


def blocks(page):
    def below(section):
        for block in section.blocks:
            yield from below(block) if isinstance(block, Section) else [block]

    return [block for section in page.sections for block in below(section)]


def test_the_first_sentence_holds_both_correlations_and_the_second_the_ceiling(found):
    text = " ".join(str(found).split())
    assert f"correlate by {found.correlation:.3f} [" in text
    assert f"by {found.correlation_grouped:.3f} [" in text
    assert f"No prediction can pass a correlation of {found.ceiling:.3f}" in text
    assert systems_said(found.systems).startswith("Of systems held out at random")


def test_no_word_claims_a_cause(found):
    text = str(found)
    for sentence in re.split(r"(?<=[.:;])\s", text):
        if "cause" in sentence:
            assert re.search(r"\b(no|not|need)\b|A cause is shown by an\s+experiment", sentence)
    assert "prediction-is-no-cause" in [caution.code for caution in found.cautions]


def test_tables_hold_the_numbers_of_the_result(found):
    tables = {block.name: block for block in blocks(page_of(found)) if isinstance(block, Table)}
    assert {"agreement", "importance", "dependence", "agreement-2"} <= set(tables)
    first = tables["importance"].rows[0]
    assert (first[0], first[1].value) == (found.importance[0].factor, found.importance[0].mean)
    random, grouped = tables["agreement"].rows
    across = found.systems[0]
    assert random[1].value == across.random.correlation
    assert grouped[3].value == across.grouped.rmse


def test_a_response_that_is_not_predicted_is_said_to_be_so(found):
    variation = found.systems[1]
    assert variation.strictest.explained <= 0
    assert "The mean of all systems predicts as well" in str(found)


def test_the_picture_is_the_same_each_time_and_bears_hostile_names(found):
    pictures = [block for block in blocks(page_of(found)) if isinstance(block, Figure)]
    assert len(pictures) == 2
    assert all("importance" in one.alt for one in pictures)
    texts = [picture_bytes(systems_picture(found.systems), "svg") for _ in range(2)]
    assert texts[0] == texts[1]
    assert b"\x1b" not in texts[0]


def test_no_share_is_a_negative_zero(found):
    (one, *_) = found.systems
    nothing = tuple(replace(covariate, mean=-1e-6) for covariate in one.importance)
    text = str(replace(found, systems=(replace(one, importance=nothing),)))
    assert " 0.00 %" in text
    assert "-0.00 %" not in text


def test_the_picture_has_the_three_first_curves(found):
    (one, *_) = found.systems
    curves = tuple(replace(one.dependence[0], factor=f"factor{k}") for k in range(5))
    text = picture_bytes(systems_picture([replace(one, dependence=curves)]), "svg").decode()
    assert [f"factor{k}" in text for k in range(5)] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("random", "grouped", "leaks"),
    [
        (0.8, None, False),
        (0.8, 0.795, False),
        (0.7, 0.8, False),
        (0.8, 0.7, True),
        (None, 0.7, False),
    ],
)
def test_a_random_split_leaks_where_families_held_out_are_predicted_worse(random, grouped, leaks):
    families = None if grouped is None else SimpleNamespace(correlation=grouped)
    at_random = SimpleNamespace(correlation=random, low=0.5)
    across = SimpleNamespace(random=at_random, grouped=families, ceiling=None)
    response = SimpleNamespace(name="score", left_out=0, kind="performance", resamples=None)
    codes = [caution.code for caution in across_cautions(across, response)]
    assert ("random-split-leaks" in codes) == leaks


@pytest.mark.parametrize(("low", "leaks"), [(-0.1, False), (0.05, True)])
def test_what_is_not_predicted_at_random_leaks_nothing(found, low, leaks):
    one = found.systems[0]
    far = replace(
        one,
        random=replace(one.random, correlation=0.1, low=low),
        grouped=replace(one.grouped, correlation=-0.2),
    )
    response = SimpleNamespace(name="score", left_out=0, kind="performance", resamples=None)
    codes = [caution.code for caution in across_cautions(far, response)]
    assert ("random-split-leaks" in codes) == leaks


def bars_of(across):
    """Give the edges and heights of the histogram's outline."""
    axes = histogram_of(across)
    (outline,) = (mark for mark in axes.marks if isinstance(mark, Curve))
    points = np.asarray(outline.points)
    return axes, points[::2, 0], points[1:-1:2, 1]


def test_histograms_hold_every_system_and_show_variation_as_a_share(found):
    # the published figure 11: scores, and their relative variation
    for across in found.systems:
        values = across.measured
        if across.kind == "variation":
            values = 100 * np.exp(values)
        axes, edges, heights = bars_of(across)
        assert heights.sum() == across.rows == 120
        assert heights.tolist() == [
            ((values >= low) & (values < high)).sum() if high < edges[-1] else (values >= low).sum()
            for low, high in itertools.pairwise(edges)
        ]
        assert axes.x.log == (across.kind == "variation")
    assert axes.x_label == "standard deviation, % of the mean"


def test_a_histogram_of_two_values_and_of_far_outliers(found):
    performance = found.systems[0]
    for values in (
        np.repeat([1.0, 2.0], 60),
        np.append(np.random.default_rng(1).normal(size=119), 1e9),
    ):
        _, edges, heights = bars_of(replace(performance, measured=values))
        assert heights.sum() == 120
        assert 8 <= len(edges) - 1 <= 40
