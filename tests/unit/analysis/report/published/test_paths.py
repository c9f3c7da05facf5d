"""Decision paths. Authorities: the methods, asked again; their draws, counted with numpy."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.single_run import mean_difference, probability_faster
from analysis.methods.speedup_test.compare import speedup_test_suite
from analysis.report.published import chapter as published


def way(chapter, key, place=0):
    return next(one for one in chapter["paths"][place]["methods"] if one["key"] == key)


def column(table, heading):
    place = [one.heading for one in table.columns].index(heading)
    return [row[place] for row in table.rows]


@pytest.fixture
def subject(judged):
    return judged()


def test_the_rank_table_is_that_of_hpt(subject):
    table = way(published(subject), "hpt")["tables"][0]["table"]
    result = hpt(subject.matrices["quick"], subject.matrices["base"], confidence=0.95)
    rows = {row.name: row for row in result.benchmarks}
    names = column(table, "benchmark")
    assert names == [name for name in subject.order if name in rows]
    assert [v.value for v in column(table, "rank")] == [rows[name].rank for name in names]
    assert [v.value for v in column(table, "p faster")] == [
        rows[name].pvalue_candidate for name in names
    ]
    assert column(table, "winner") == [
        {"candidate": "quick", "baseline": "base", "tie": "tie"}[rows[name].winner]
        for name in names
    ]


def test_the_sums_of_ranks_are_said(subject):
    result = hpt(subject.matrices["quick"], subject.matrices["base"], confidence=0.95)
    told = " ".join(way(published(subject), "hpt")["sentences"])
    assert f"sum to {result.rank_sum_candidate:g}" in told
    assert f"baseline to {result.rank_sum_baseline:g}" in told


def test_the_curve_is_hpts_and_marks_its_largest_speedup(subject):
    chapter = published(subject)
    steps = way(chapter, "hpt")["steps"]
    best = hpt_speedup(subject.matrices["quick"], subject.matrices["base"], confidence=0.95)
    assert steps.largest.value == best.value
    assert steps.largest.text == chapter["rows"][2]["answers"][0].low.text
    for speedup, reliability in steps.points[1:-1]:
        beyond = speedup * (1 + 1e-7)  # the step's value holds from there on
        assert reliability == best.curve.confidence(beyond)


def test_the_steps_are_those_of_the_speedup_test(subject):
    table = way(published(subject), "speedup-test")["tables"][0]["table"]
    suite = speedup_test_suite(
        baseline=subject.matrices["base"], candidate=subject.matrices["quick"], confidence=0.95
    )
    tests = {test.name: test for test in suite.benchmarks}
    names = column(table, "benchmark")
    assert sorted(names) == sorted(tests)
    for name, normal, p, median in zip(
        names,
        column(table, "normal, candidate: p"),
        column(table, "mean faster: p"),
        column(table, "median faster: p"),
        strict=True,
    ):
        steps = {(step.test, step.sample): step for step in tests[name].mean.steps}
        assert normal.value == steps["Shapiro-Wilk", "candidate"].pvalue
        assert p.value == tests[name].mean.pvalue
        assert median.value == tests[name].median.pvalue


def test_a_test_that_was_not_done_leaves_its_cell_empty(judged, draw):
    # two runs a side: Shapiro-Wilk needs three, so there is no t (report of the Speedup-Test, figure 1)
    times = draw({"base": (1.0, 1.0), "quick": (2.0, 2.0)}, ("one", "two"), sessions=2, runs=1)
    table = way(published(judged(times, sessions=2)), "speedup-test")["tables"][0]["table"]
    assert {(cell.text, cell.value) for cell in column(table, "mean faster: p")} == {("", None)}
    assert set(column(table, "mean")) == {"cannot conclude"}


def test_no_p_is_shown_as_zero(subject):
    for path in published(subject)["paths"]:
        for one in path["methods"]:
            for found in one["tables"]:
                for row in found["table"].rows:
                    for cell, head in zip(row, found["table"].columns, strict=True):
                        if " p" in f" {head.heading}" and not isinstance(cell, str) and cell.text:
                            assert not set(cell.text) <= set("0.")


# --- what resampling drew


@pytest.mark.parametrize(("key", "drawn"), [("randomization", 32), ("bootstrap", 10_000)])
def test_every_draw_is_in_the_histogram(judged, key, drawn):
    # 5 sessions that hold both variants: 2^5 assignments of the labels
    found = way(published(judged()), key)["histogram"]
    assert sum(found["counts"]) == drawn
    assert found["low"] < found["observed"].value < found["high"]
    assert f"{drawn:,}" in found["alt"]


def test_the_bins_are_equally_wide_in_logs(judged):
    subject = judged()
    found = way(published(subject), "bootstrap")["histogram"]
    values = subject.candidates[0].panel.answers.bootstrap.replicates
    edges = np.geomspace(found["low"], found["high"], len(found["counts"]) + 1)
    again, _ = np.histogram(values, bins=edges)
    assert np.abs(again - np.array(found["counts"])).sum() <= 4  # values on an edge, by rounding


def test_the_alt_text_states_the_result_and_the_interval_is_written_as_in_the_row(judged):
    chapter = published(judged())
    null, anew = way(chapter, "randomization")["histogram"], way(chapter, "bootstrap")["histogram"]
    low, high = anew["ends"]
    assert f"observed ratio is {null['observed'].text}" in null["alt"]
    assert "p = 0.0625" in null["alt"]
    assert f"{low.text} to {high.text}" in anew["alt"]
    assert "simulated" in anew["alt"]
    answer = next(one for one in chapter["rows"] if one["key"] == "bootstrap")["answers"][0]
    found = way(chapter, "bootstrap")["histogram"]
    assert (found["observed"].text, found["ends"][0].text, found["ends"][1].text) == (
        answer.value.text,
        answer.low.text,
        answer.high.text,
    )


def test_draws_that_are_all_equal_have_an_axis(judged):
    same = {name: {"one": [0.1] * 10, "two": [0.2] * 10} for name in ("base", "same")}
    found = [
        one["histogram"]
        for one in published(judged(same))["paths"][0]["methods"]
        if one["histogram"]
    ]
    for histogram in found:
        assert histogram["low"] < 1 < histogram["high"]


# --- single runs


def single_runs(chapter, place=0):
    found = way(chapter, "mixtures", place)
    return found, found["tables"][0]["table"]


def cells(table, heading):
    place = [one.heading for one in table.columns].index(heading)
    return {row[0]: row[place] for row in table.rows}


def test_the_metrics_are_those_of_the_mixtures(judged):
    subject = judged()
    _, table = single_runs(published(subject))
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
    chapter = published(judged())
    heading = "chance to be best of all (I3)"
    both = [cells(single_runs(chapter, place)[1], heading) for place in (0, 1)]
    for name, first in both[0].items():
        assert 0 < first.value + both[1][name].value <= 1 + 1e-9
    # where all three are alike, each has about a third
    assert both[0]["text"].value > 0.99


def test_two_variants_have_no_third_metric(judged, draw):
    times = draw({"base": (1.0, 1.0), "quick": (2.0, 1.5)}, ("one", "two"))
    _, table = single_runs(published(judged(times)))
    assert not [one for one in table.columns if "I3" in one.heading]


@pytest.mark.parametrize(("runs", "few"), [(5, True), (6, False)])
def test_fewer_than_thirty_runs_are_cautioned(judged, draw, runs, few):
    times = draw({"base": (1.0, 1.0), "quick": (2.0, 1.5)}, ("one", "two"), runs=runs)
    found, table = single_runs(published(judged(times)))
    said = set(cells(table, "caution").values())
    assert said == ({"fewer than 30 runs"} if few else {""})
    assert any("fewer than 30" in text for text in found["sentences"]) == few
