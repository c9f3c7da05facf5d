"""Metrics of mixtures. Authorities: the functions of `analysis.methods.mixture`; I3 of all sums to 1."""

from __future__ import annotations

import pytest

from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.single_run import mean_difference, probability_faster
from analysis.report.published.gather import gather


def table_of(chapter, place=0):
    found = next(one for one in chapter.paths[place].methods if one.key == "mixtures")
    return found, found.tables[0].table


def cells(table, heading):
    place = [one.heading for one in table.columns].index(heading)
    return {row[0]: row[place] for row in table.rows}


def test_the_metrics_are_those_of_the_mixtures(judged):
    subject = judged()
    _, table = table_of(gather(subject))
    ours, theirs = (
        fit_mixture(subject.matrices[name].values("json"), max_components=5)
        for name in ("quick", "base")
    )
    assert cells(table, "mean distance (I1)")["json"].value == mean_difference(ours, theirs)
    faster = cells(table, "chance to be faster (I2)")["json"]
    assert faster.value == probability_faster(ours, theirs)
    assert faster.text == "> 0.999"
    assert cells(table, "modes, candidate (I4)")["json"].value == ours.modes().size


def test_the_chances_to_be_best_of_all_sum_to_one(judged):
    # section 6.3 of the paper: over the choice of the first, I3 sums to 1; the baseline has the rest
    chapter = gather(judged())
    heading = "chance to be best of all (I3)"
    both = [cells(table_of(chapter, place)[1], heading) for place in (0, 1)]
    for name, first in both[0].items():
        assert 0 < first.value + both[1][name].value <= 1 + 1e-9
    # where all three are alike, each has about a third
    assert both[0]["text"].value > 0.99


def test_two_variants_have_no_third_metric(judged, draw):
    times = draw({"base": (1.0, 1.0), "quick": (2.0, 1.5)}, ("one", "two"))
    _, table = table_of(gather(judged(times)))
    assert not [one for one in table.columns if "I3" in one.heading]


@pytest.mark.parametrize(("runs", "few"), [(5, True), (6, False)])
def test_fewer_than_thirty_runs_are_cautioned(judged, draw, runs, few):
    times = draw({"base": (1.0, 1.0), "quick": (2.0, 1.5)}, ("one", "two"), runs=runs)
    found, table = table_of(gather(judged(times)))
    said = set(cells(table, "caution").values())
    assert said == ({"fewer than 30 runs"} if few else {""})
    assert any("fewer than 30" in text for text in found.sentences) == few
