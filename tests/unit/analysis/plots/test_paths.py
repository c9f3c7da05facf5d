"""Many marks as one path: their places, by hand."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from analysis import plots


def drawn(*marks: plots.Mark) -> str:
    return plots.plot(90, marks, "")


@pytest.mark.parametrize("towards", ["left", "right", "up", "down"])
def test_an_arrow_points_at_its_place(towards: str) -> None:
    path = ElementTree.fromstring(drawn(plots.arrow(0.5, 10, towards, "ink")))[0][0].get("d")
    assert path is not None
    first, tip, last = (
        tuple(map(float, point.split())) for point in path.removeprefix("M").split("L")
    )
    assert tip == (0, 0)
    axis, sign = {"left": (0, 1), "right": (0, -1), "up": (1, 1), "down": (1, -1)}[towards]
    assert first[axis] * sign > 0
    assert last[axis] == first[axis]
    assert last[1 - axis] == -first[1 - axis] != 0  # an arm at either side


def test_each_of_many_dots_is_written_as_seen_from_the_one_before() -> None:
    points = [(k / 997, (k * k % 997) / 997) for k in range(997)]
    steps = re.findall(r"m(-?\d+) ?(-?\d+)h0", drawn(plots.dots(points, "a", top=0, height=90)))
    x = y = 0
    found = [(x := x + int(across), y := y + int(down)) for across, down in steps]
    assert found == [(round(1000 * a), round(1000 * (1 - b))) for a, b in points]
