"""The chapter on the distribution behind a judged quantile.

Authority: numpy's inverted_cdf of all values of a cell, put together here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.iterations import pooled
from analysis.pages.model import Table
from analysis.report.answer import chapter as answer_of
from analysis.report.assembling import chapter_html
from analysis.report.benchmarks import distribution as chapter
from analysis.report.further import published
from analysis.report.methods_text import paragraph_of
from analysis.verdict.judging import judge
from tests.planted_values import NAME, with_values
from tests.unit.analysis.report.figures.test_iterations import subject_of


def together(trial, values, variant):
    return np.concatenate([values[row] for row in np.flatnonzero(trial.variant == variant)])


@pytest.mark.parametrize("sessions", [3, 1])
def test_the_table_has_the_quantiles_of_all_values_as_far_as_there_are_enough(sessions):
    trial, values = with_values(sessions=sessions, runs=2, each=150)
    found = chapter(subject_of(trial, NAME))
    (section,) = found.sections()
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    headings = [column.heading for column in table.columns]
    assert headings[2:] == ["values", "p50", "p90", "p99", "largest"]  # none has a p99.9
    for number, (_, _, values_of, *quantiles, most) in enumerate(table.rows):
        every = together(trial, values, number)
        assert values_of.value == every.size
        assert [one.value for one in quantiles] == [
            np.quantile(every, share, method="inverted_cdf") for share in (0.5, 0.9, 0.99)
        ]
        assert most.value == every.max()
    assert ("of all values of a session together" in found.lead) == (sessions > 1)
    assert chapter_html(found).count("<svg") == 1


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
    subject = subject_of(with_values(sessions=sessions, runs=2, each=150)[0], NAME)
    merged = sessions > 1
    first, *_ = answer_of(subject).sections()
    assert "2 runs a cell" in first.blocks[0].text
    explained = replace(subject, verdict=judge(subject.trial, metric=NAME, explain=True))
    assert ("to them a session is a run" in published(explained).values["lead"]) == merged
    assert ("to them a session is a run" in str(explained.verdict)) == merged
    told = "".join(one.text for one in paragraph_of(subject, {}))
    assert ("The value of a session is the quantile of all values of t" in told) == merged
