"""What a reader is told of components and factors, and in which order.

Authority: the rule of the page: causes first, then what was there before the run, then what was seen, and
last what may follow from a long run; no cause is claimed of what nobody drew.
"""

import itertools
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.methods.variance_sources import predictions
from analysis.methods.variance_sources.result import Component, Factor, Sources, standing_out
from analysis.methods.variance_sources.systems import across_cautions, sources_of_table
from analysis.methods.variance_sources.systems_page import (
    histogram_of,
    systems_picture,
    systems_text,
)
from analysis.pages.as_text import render
from analysis.pages.model import Figure, Section, Table
from analysis.plots.chart import picture_bytes
from analysis.plots.marks import Curve

ONE = Factor(
    benchmark="b",
    variant="v",
    factor="padding_bytes mod 64",
    kind="randomized",
    effect=2.0,
    effect_of="circle",
    low=1.5,
    high=2.5,
    lowest="elsewhere",
    highest="12 to 27",
    runs=90,
    pvalue=0.001,
    pvalue_adjusted=0.04,
    known_before=True,
    causal=True,
    may_follow=False,
)
SEEN = replace(
    ONE,
    factor="temperature_c",
    kind="observed",
    effect_of="sd",
    lowest=None,
    highest=None,
    known_before=False,
    causal=False,
    pvalue_adjusted=0.002,
)
FOLLOWS = replace(SEEN, factor="involuntary_switches", may_follow=True, pvalue_adjusted=0.001)
BEFORE = replace(SEEN, factor="cpu", effect_of="levels", known_before=True, lowest="1", highest="3")
CHANCE = replace(ONE, factor="position", pvalue=0.03, pvalue_adjusted=0.4)


def result(*factors, components=()):
    return Sources(
        of=("t",),
        response="wall",
        unit="s",
        permutations=2000,
        factors=factors,
        components=components,
    )


def told(*factors, **more):
    return " ".join(str(result(*factors, **more)).split())


def test_causes_first_and_what_may_follow_last():
    out = standing_out(result(FOLLOWS, SEEN, CHANCE, BEFORE, ONE))
    assert [one.factor for one in out] == [
        "padding_bytes mod 64",
        "cpu",
        "temperature_c",
        "involuntary_switches",
    ]


def test_only_what_was_drawn_is_called_an_effect():
    assert "it was randomized: this would be its effect, unless this is the 1 in 20 trials" in told(
        ONE
    )
    assert (
        "wall at environment padding modulo 64 of 12 to 27 is 2.00x [1.50, 2.50] that elsewhere"
        in told(ONE)
    )
    other = replace(ONE, lowest="12 to 27", highest="elsewhere")
    assert "wall elsewhere is 2.00x [1.50, 2.50] that at environment padding" in told(other)
    for one in (SEEN, BEFORE, FOLLOWS):
        assert "its effect" not in told(one)
    assert "no cause is claimed" in told(SEEN)
    assert "may follow from long runs" in told(FOLLOWS)
    assert "nobody drew it" in told(BEFORE)


def test_one_of_many_tests_is_told_as_that_with_the_error_of_the_family():
    """Authority: a trial in which 1 of 85 tests had p = 0.044 and the words "so this is its effect"."""
    many = [replace(CHANCE, factor=f"m{k}", pvalue_adjusted=0.5 + k / 1000) for k in range(84)]
    text = told(replace(ONE, pvalue_adjusted=0.044), *many)
    assert text.startswith("1 of 85 tests stands out from chance: ")
    assert "(adjusted p = 0.0440, one of 85 tests)" in text
    assert "unless this is the 1 in 20 trials in which chance alone finds something" in text
    assert "so this is its effect" not in text
    found = result(ONE, replace(ONE, factor="position", pvalue_adjusted=0.001))
    assert str(found).startswith("2 of 2 tests stand out from chance: ")
    for confidence, said in (
        (0.99, "the 1 in 100 trials in which"),
        (0.9, "the 1 in 10 trials in which"),
        (0.93, "one of the 7 % of trials in which"),
    ):
        one = replace(result(replace(ONE, pvalue_adjusted=0.001)), confidence=confidence)
        assert said in " ".join(str(one).split())


def test_nothing_that_stands_out_is_no_proof():
    text = told(CHANCE)
    assert text.startswith("no factor stands out from chance: 1 factor in 1 cell of benchmark")
    assert "no proof that none matters" in text


def test_the_level_is_that_of_the_result():
    strict = replace(result(ONE), confidence=0.99)
    assert not standing_out(strict)
    assert "family-wise risk 1 %" in " ".join(str(strict).split())


def test_what_cannot_be_told_has_no_row():
    untold = replace(
        BEFORE, factor="session", pvalue=None, pvalue_adjusted=None, low=None, high=None
    )
    text = told(untold)
    assert "no factor could be tested" in text
    assert "session" not in text.replace("no factor could be tested", "").replace("sessions", "")


def test_runs_of_which_nothing_is_known_are_answered_too():
    """Such as those of another tool's file, which holds times only: an answer never begins with a table."""
    part = Component(benchmark="b", variant="v", source="run", levels=20, sd=0.1, share=1.0)
    assert told(components=(part,)).startswith("no factor could be tested: too few of these runs")


def test_what_may_follow_is_marked_in_the_table_and_explained_once():
    """A rate's interval may leave out 1 where p is 1, as its count goes the other way: a riddle else."""
    riddle = replace(FOLLOWS, effect=0.74, low=0.69, high=0.80, pvalue=1.0, pvalue_adjusted=1.0)
    text = told(riddle, replace(riddle, factor="minor_faults"))
    assert text.count("observed, may follow") == 2
    assert text.count("p asks rate and count alike") == 1
    assert "may follow" not in told(SEEN)


def test_endless_intervals_and_many_factors_are_written(planted):
    many = [replace(CHANCE, factor=f"m{k}", pvalue_adjusted=0.5 + k / 100) for k in range(30)]
    text = told(*many)
    assert "m9" in text
    assert "m10" not in text
    assert "and 20 less surprising ones (--json gives all)" in text
    assert "[0, inf]" in told(replace(ONE, low=0.0, high=np.inf))


@pytest.mark.parametrize("share", [0.0, 0.004, 0.5, 1.0])
def test_components_say_where_the_variance_lies(share):
    parts = tuple(
        Component(benchmark="b", variant="v", source=source, levels=3, sd=part**0.5, share=part)
        for source, part in (("session", share), ("run", 1 - share))
    )
    text = told(components=parts)
    written = {0.0: "0 %", 0.004: "< 1 %", 0.5: "50 %", 1.0: "100 %"}[share]
    assert f"the variance lies {written} between sessions" in text


def test_the_time_of_day_is_told_as_clocks_do():
    day = replace(CHANCE, factor="time_of_day", lowest="43165.4", highest="39600 to 61199")
    day = replace(day, effect_of="circle")
    wide = render(result(day).screen(), width=120)  # a cell of 80 columns is folded
    assert "11:00:00 to 16:59:59 : 11:59:25" in wide
    assert "43165" not in wide + told(day)
    assert "12 to 27 : elsewhere" in told(ONE)  # bytes stay bytes


SOURCES = ("benchmark", "host", "session", "benchmark:session", "block", "run", "iteration")


def with_components(sources, names):
    parts = tuple(
        Component(
            benchmark=bench,
            variant=variant,
            source=source,
            levels=4,
            sd=0.00123,
            share=1 / len(sources),
        )
        for bench in (None, names[0])
        for variant in names[1:]
        for source in sources
    )
    return result(components=parts)


def test_where_one_table_has_no_room_shares_have_their_own():
    few, many = (
        with_components(some, ("text", "old", "new")).screen()
        for some in (SOURCES[:3], SOURCES[:6])
    )
    tables = [
        {
            one.name: one
            for section in page.sections
            for one in section.blocks
            if isinstance(one, Table)
        }
        for page in (few, many)
    ]
    assert "components-shares" not in tables[0]
    assert tables[0]["components"].rows[0][2].text == "0.12 % (33 %)"
    assert tables[1]["components"].rows[0][2].text == "0.12 %"
    assert tables[1]["components-shares"].rows[0][2].text == "17 %"
    assert tables[1]["components-shares"].rows[0][:2] == ("all together", "old")


# --- What is said of predictions across systems, and drawn: the numbers are the result's.


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
    assert systems_text(found.systems).startswith("For systems held out at random")


def test_no_word_claims_a_cause(found):
    text = str(found)
    for sentence in re.split(r"(?<=[.:;])\s", text):
        if "cause" in sentence:
            assert re.search(r"\b(no|not|need)\b|A cause is shown by an\s+experiment", sentence)
    assert "prediction-is-no-cause" in [caution.code for caution in found.cautions]


def test_tables_hold_the_numbers_of_the_result(found):
    tables = {block.name: block for block in blocks(found.screen()) if isinstance(block, Table)}
    assert {"agreement", "importance", "dependence", "agreement-2"} <= set(tables)
    first = tables["importance"].rows[0]
    assert (first[0], first[1].value) == (found.importance[0].factor, found.importance[0].mean)
    random, grouped = tables["agreement"].rows
    across = found.systems[0]
    assert random[1].value == across.random.correlation
    assert grouped[3].value == across.grouped.rmse


def test_a_response_that_is_not_predicted_is_said_to_be_so(found):
    for explained in (0.0, 0.01):  # what a forest predicts is its version's
        one = found.systems[0]
        held = replace(one, grouped=replace(one.strictest, explained=explained))
        said = "The mean of all systems predicts as well" in str(replace(found, systems=(held,)))
        assert said == (explained <= 0)


def test_the_picture_is_the_same_each_time_and_bears_hostile_names(found):
    pictures = [block for block in blocks(found.screen()) if isinstance(block, Figure)]
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
