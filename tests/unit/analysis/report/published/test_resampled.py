"""Histograms of resampled ratios. Authorities: the methods' draws, counted with numpy; exact counts."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.report.published.gather import gather


def way(chapter, key):
    return next(one for one in chapter.paths[0].methods if one.key == key)


@pytest.mark.parametrize(("key", "drawn"), [("randomization", 32), ("bootstrap", 10_000)])
def test_every_draw_is_in_the_histogram(judged, key, drawn):
    # 5 sessions that hold both variants: 2^5 assignments of the labels
    found = way(gather(judged()), key).histogram
    assert sum(found.counts) == drawn
    assert found.low < found.observed.value < found.high
    assert f"{drawn:,}" in found.alt


def test_the_bins_are_equally_wide_in_logs(judged):
    subject = judged()
    found = way(gather(subject), "bootstrap").histogram
    values = subject.candidates[0].panel.answers.bootstrap.replicates
    edges = np.geomspace(found.low, found.high, len(found.counts) + 1)
    again, _ = np.histogram(values, bins=edges)
    assert np.abs(again - np.array(found.counts)).sum() <= 4  # values on an edge, by rounding


def test_the_alt_text_states_the_result(judged):
    chapter = gather(judged())
    null, anew = way(chapter, "randomization").histogram, way(chapter, "bootstrap").histogram
    assert f"observed ratio is {null.observed.text}" in null.alt
    assert "p = 0.0625" in null.alt
    assert f"{anew.ends[0].text} to {anew.ends[1].text}" in anew.alt
    assert "simulated" in anew.alt


def test_the_interval_is_written_as_in_the_row(judged):
    chapter = gather(judged())
    answer = next(one for one in chapter.rows if one.key == "bootstrap").answers[0]
    found = way(chapter, "bootstrap").histogram
    assert (found.observed.text, found.ends[0].text, found.ends[1].text) == (
        answer.value.text,
        answer.low.text,
        answer.high.text,
    )


def test_draws_that_are_all_equal_have_an_axis(judged):
    same = {name: {"one": [0.1] * 10, "two": [0.2] * 10} for name in ("base", "same")}
    found = [one.histogram for one in gather(judged(same)).paths[0].methods if one.histogram]
    for histogram in found:
        assert histogram.low < 1 < histogram.high
