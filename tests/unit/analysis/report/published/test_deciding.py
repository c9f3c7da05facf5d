"""Decision paths of HPT and the Speedup-Test. Authority: the methods, asked again."""

from __future__ import annotations

import pytest

from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.methods.speedup_test.compare import speedup_test_suite
from analysis.report.published.gather import gather


def way(chapter, key, place=0):
    return next(one for one in chapter.paths[place].methods if one.key == key)


def column(table, heading):
    place = [one.heading for one in table.columns].index(heading)
    return [row[place] for row in table.rows]


@pytest.fixture
def subject(judged):
    return judged()


def test_the_rank_table_is_that_of_hpt(subject):
    table = way(gather(subject), "hpt").tables[0].table
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
    told = " ".join(way(gather(subject), "hpt").sentences)
    assert f"sum to {result.rank_sum_candidate:g}" in told
    assert f"baseline to {result.rank_sum_baseline:g}" in told


def test_the_curve_is_hpts_and_marks_its_largest_speedup(subject):
    chapter = gather(subject)
    steps = way(chapter, "hpt").steps
    best = hpt_speedup(subject.matrices["quick"], subject.matrices["base"], confidence=0.95)
    assert steps.largest.value == best.value
    assert steps.largest.text == chapter.rows[2].answers[0].low.text
    for speedup, reliability in steps.points[1:-1]:
        beyond = speedup * (1 + 1e-7)  # the step's value holds from there on
        assert reliability == best.curve.confidence(beyond)


def test_the_steps_are_those_of_the_speedup_test(subject):
    table = way(gather(subject), "speedup-test").tables[0].table
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
    table = way(gather(judged(times, sessions=2)), "speedup-test").tables[0].table
    assert {(cell.text, cell.value) for cell in column(table, "mean faster: p")} == {("", None)}
    assert set(column(table, "mean")) == {"cannot conclude"}


def test_no_p_is_shown_as_zero(subject):
    for path in gather(subject).paths:
        for one in path.methods:
            for found in one.tables:
                for row in found.table.rows:
                    for cell, head in zip(row, found.table.columns, strict=True):
                        if " p" in f" {head.heading}" and not isinstance(cell, str) and cell.text:
                            assert not set(cell.text) <= set("0.")
