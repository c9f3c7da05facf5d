"""What is drawn of HPT's curve. Authority: `HptCurve.confidence`, which has tests of its own."""

from __future__ import annotations

import re

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.report.published_answers import reliability_plot, reliability_steps


def best(*, benchmarks=8, runs=8, faster=1.5, seed=4):
    rng = np.random.default_rng(seed)
    gains = rng.lognormal(0, 0.2, benchmarks)
    sides = [
        PerformanceMatrix.from_samples(
            name,
            {
                f"b{k}": (level * gain if name == "new" else level) * rng.lognormal(0, 0.05, runs)
                for k, gain in enumerate(gains)
            },
            better="lower",
        )
        for name, level in (("new", 1 / faster), ("old", 1.0))
    ]
    return hpt_speedup(*sides)


def test_the_steps_are_the_curve_and_it_says_where_the_marks_are():
    found = best()
    steps = reliability_steps(found, found.printed or "")
    places = [speedup for speedup, _ in steps.points]
    assert places == sorted(places)
    assert places[0] < 1 < found.value < places[-1]
    for k, (speedup, reliability) in enumerate(steps.points[:-1]):
        after = steps.points[k + 1][0]
        assert reliability == found.curve.confidence(min(speedup * (1 + 1e-9), after))
    steps = reliability_steps(found, found.printed)
    assert steps.largest.text == found.printed
    assert steps.largest.value == found.value
    assert steps.at_tested.value == found.curve.confidence(1.0)
    assert found.printed in steps.alt


def test_the_largest_speedup_has_a_line_from_its_reliability_to_the_axis():
    plot = reliability_plot(reliability_steps(best(), "1.4"))
    lines = {
        css: [(float(top), float(bottom)) for top, bottom in re.findall(pattern, plot)]
        for css in ("grid", "one dashed", "ink")
        for pattern in [rf'<line class="{css}"[^>]* y1="([0-9.]+)"[^>]* y2="([0-9.]+)"']
    }
    (axis, _), (required, _) = lines["grid"][0], lines["one dashed"][0]
    assert lines["ink"] == [(required, axis)]


def test_without_a_largest_speedup_it_says_so():
    found = best(benchmarks=2, runs=2)  # two benchmarks reach at most 0.75
    steps = reliability_steps(found, found.printed or "")
    assert steps.largest is None
    assert "no speedup has 0.95" in steps.alt


def test_a_flat_curve_is_drawn():
    same = PerformanceMatrix.from_samples("same", {"b": [1.0, 1.0]}, better="lower")
    steps = reliability_steps(hpt_speedup(same, same), "")
    assert len(steps.points) == 2
    assert "NaN" not in reliability_plot(steps)


@pytest.mark.parametrize("benchmarks", [8, 120])
def test_a_long_curve_is_thinned_to_what_an_eye_can_tell(benchmarks):
    found = best(benchmarks=benchmarks, faster=1.1)
    steps = reliability_steps(found, found.printed or "")
    assert len(steps.points) <= 403
    if benchmarks > 100:
        assert found.curve.speedups.size > 403  # the negative control: there is something to thin
    assert len(reliability_plot(steps)) < 12_000
