"""The chapter on the distribution behind a judged quantile.

Authority: numpy's inverted_cdf of all values of a cell, put together here.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.session_quantiles import pooled
from analysis.report.answer_headline import measured
from analysis.report.assembling import chapter_html
from analysis.report.benchmarks.chapter import chapter as benchmarks_of
from analysis.report.distribution import chapter
from analysis.report.methods_text import paragraph_of
from analysis.report.published import chapter as published
from analysis.verdict.judging import judge
from tests.planted_values import NAME, with_values
from tests.unit.analysis.report.figures.test_iterations import subject_of


def together(trial, values, variant):
    return np.concatenate([values[row] for row in np.flatnonzero(trial.variant == variant)])


@pytest.mark.parametrize("sessions", [3, 1])
def test_the_table_has_the_quantiles_of_all_values_as_far_as_there_are_enough(sessions):
    trial, values = with_values(sessions=sessions, runs=2, each=150)
    found = chapter(subject_of(trial, NAME)).to_dict()
    assert found["shares"] == [0.5, 0.9, 0.99]  # of 900 or 300 values none has a p99.9
    for number, cell in enumerate(found["cells"]):
        every = together(trial, values, number)
        assert cell["values"]["value"] == every.size
        assert [one["value"] for one in cell["quantiles"]] == [
            np.quantile(every, share, method="inverted_cdf") for share in found["shares"]
        ]
        assert cell["most"]["value"] == every.max()
    assert ("of all values of a session together" in found["lead"]) == (sessions > 1)


def test_there_is_none_of_another_metric_or_where_the_values_are_not_there():
    trial, _ = with_values()
    assert chapter(subject_of(trial, "wall")) is None
    assert chapter(replace(subject_of(trial, NAME), trials=())) is None
    own, _ = with_values(own=[1.5] * 12)
    assert chapter(subject_of(own, NAME)) is None


def test_pooled_values_of_a_warm_up_are_left_out():
    trial, values = with_values(warmup="5")
    found = pooled(trial, "t", np.array([0, 1]))
    assert found.total == 70
    assert found.values.tolist() == sorted([*values[0][5:], *values[1][5:]])


@pytest.mark.parametrize("sessions", [3, 1])
def test_the_rest_of_the_report_knows_that_a_session_has_one_value(sessions):
    """Runs are counted all the same, and no dot is called one."""
    subject = subject_of(with_values(sessions=sessions, runs=2, each=150)[0], NAME)
    html = chapter_html(benchmarks_of(subject))
    text = " ".join(re.sub("<[^>]*>", "", html).split())
    merged = sessions > 1
    assert ("Each dot is t.p90 of all values of a session" in text) == merged
    assert ("share of sessions with at most a value" in text) == merged
    assert ("Each dot is a run" in text) == (not merged)
    assert "2 runs a cell" in measured(subject)[0][0].text
    explained = replace(subject, verdict=judge(subject.trial, metric=NAME, explain=True))
    assert ("to them a session is a run" in published(explained).values["lead"]) == merged
    assert ("to them a session is a run" in str(explained.verdict)) == merged
    told = "".join(one.text for one in paragraph_of(subject, {}))
    assert ("The value of a session is the quantile of all values of t" in told) == merged
