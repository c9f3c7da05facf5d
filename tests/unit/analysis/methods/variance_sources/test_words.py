"""What a reader is told of components and factors, and in which order.

Authority: the rule of the page: causes first, then what was there before the run, then what was seen, and
last what may follow from a long run; no cause is claimed of what nobody drew.
"""

from dataclasses import replace

import numpy as np
import pytest

from analysis.methods.variance_sources.page import standing_out
from analysis.methods.variance_sources.result import Component, Factor, Sources
from analysis.pages.as_text import render
from analysis.pages.model import Table, page_of

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
    assert told(components=(part,)).startswith(
        "no factor could be tested: nothing that may explain"
    )


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
    assert f"of the variance lies {written} between sessions" in text


def test_the_time_of_day_is_told_as_clocks_do():
    day = replace(CHANCE, factor="time_of_day", lowest="43165.4", highest="39600 to 61199")
    day = replace(day, effect_of="circle")
    wide = render(page_of(result(day)), width=120)  # a cell of 80 columns is folded
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
        page_of(with_components(some, ("text", "old", "new")))
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
