"""What the page's script needs to read a dot's value from its place."""

from __future__ import annotations

import math
import re

import pytest

from analysis.plots import dots, plot
from analysis.plots.axes import Scale, read_out


def test_an_axis_is_described_in_the_unit_of_its_ticks() -> None:
    assert read_out(Scale(0.02, 0.08, log=True), "s") == "20 80 1 ms"
    assert read_out(Scale(0.0, 10.0), "1") == "0 10 0"
    assert read_out(Scale(-1.0, 1.0), "points") == "-1 1 0 points"


@pytest.mark.parametrize("scale", [Scale(0.013, 0.87, log=True), Scale(0.5, 3.5)])
@pytest.mark.parametrize("value", [0.6, 0.75, 0.86])
def test_a_value_can_be_read_from_the_dots_place(scale: Scale, value: float) -> None:
    # as the script does it: the share of the height between the ends, or between their logarithms
    axis = read_out(scale, "points")
    markup = plot(80, [dots([(0.5, scale.at(value))], "x", top=0, height=80, axis=axis)], "")
    low, high, log, _ = re.search(r'data-axis="([^"]*)"', markup)[1].split()
    share = 1 - int(re.search(r"m500 (\d+)h0", markup)[1]) / 1000
    if log == "1":
        read = float(low) * (float(high) / float(low)) ** share
    else:
        read = float(low) + (float(high) - float(low)) * share
    assert math.isclose(read, value, rel_tol=0.004)
