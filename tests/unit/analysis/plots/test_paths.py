"""Many marks as one path: their places, by hand."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from analysis import plots


def drawn(*marks: plots.Mark) -> str:
    return plots.plot(90, marks, "")


def test_lines_are_one_path_in_thousandths_from_the_top() -> None:
    lines = [(0, 0.5, 1, 0.5), (0.25, 0, 0.25, 1), (0, 0, 1, 1)]
    svg = drawn(plots.segments(lines, "grid", top=0, height=90))
    assert 'd="M0 500H1000M250 1000V0M0 1000L1000 0"' in svg
    assert drawn(plots.segments([], "grid", top=0, height=90)) == drawn()


def test_boxes_have_the_full_height() -> None:
    assert 'd="M0 0H100V1000H0ZM200 0H1000V1000H200Z"' in drawn(
        plots.boxes([(0, 0.1), (0.2, 1)], "panel", top=0, height=90)
    )


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


def test_a_cross_is_two_strokes_around_its_place() -> None:
    svg = drawn(plots.cross(0.5, 4, "ink", r=3))
    assert 'x="50.00%" y="4.0"' in svg
    assert 'd="M-3 -3L3 3M-3 3L3 -3"' in svg


def test_drawings_in_one_place_are_joined_and_others_are_not() -> None:
    one = plots.dots([(0, 0)], "a", top=0, height=90)
    two = plots.dots([(1, 1)], "b", top=0, height=90)
    other = plots.dots([(1, 1)], "c", top=0, height=80)
    svg = plots.plot(90, [one, two, other], "what is seen")
    root = ElementTree.fromstring(svg)
    assert [len(inner) for inner in root] == [2, 1]
    assert [path.get("class") for path in root.iter("path")] == ["dots a", "dots b", "dots c"]


def test_each_of_many_dots_is_written_as_seen_from_the_one_before() -> None:
    points = [(k / 997, (k * k % 997) / 997) for k in range(997)]
    steps = re.findall(r"m(-?\d+) ?(-?\d+)h0", drawn(plots.dots(points, "a", top=0, height=90)))
    x = y = 0
    found = [(x := x + int(across), y := y + int(down)) for across, down in steps]
    assert found == [(round(1000 * a), round(1000 * (1 - b))) for a, b in points]


def test_a_text_may_have_a_lead_of_another_role() -> None:
    svg = drawn(plots.label(0.5, 9, "<1>", "", lead="a & ", lead_css="long"))
    assert '<tspan class="long">a &amp; </tspan>&lt;1&gt;</text>' in svg
