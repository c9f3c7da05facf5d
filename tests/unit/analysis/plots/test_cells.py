"""Pictures in cells of a table, by what SVG 1.1 says of percentages and nested drawings."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from analysis import plots

HREF = "href"


def drawn(markup: str) -> ET.Element:
    return ET.fromstring(markup)


def mark_of(mark: plots.Mark) -> ET.Element:
    (found,) = drawn(plots.cell([mark], ""))
    return found


def test_a_cell_says_its_result_or_is_hidden_from_readers() -> None:
    told = drawn(plots.cell([], 'a "b" & <c>'))
    assert (told.get("role"), told.get("aria-label")) == ("img", 'a "b" & <c>')
    assert drawn(plots.cell([], "")).get("aria-hidden") == "true"


def test_uprights_and_fields_reach_from_top_to_bottom() -> None:
    line = mark_of(plots.upright(0.25, "one"))
    assert [line.get(key) for key in ("x1", "x2", "y1", "y2")] == ["25%", "25%", "0", "100%"]
    area = mark_of(plots.field(0.5, 0.525, "margin"))
    assert (area.get("x"), area.get("width"), area.get("height")) == ("50%", "2.5%", "100%")


def test_a_background_is_drawn_once_and_used_again() -> None:
    first = mark_of(plots.shared("ground", [plots.upright(0.5, "one")]))
    assert (first.get("id"), len(first)) == ("ground", 1)
    assert mark_of(plots.again("ground")).get(HREF) == "#ground"


def test_strokes_are_one_path_and_stay_inside() -> None:
    found = mark_of(plots.strokes([-0.2, 0.25, 1.5], "session", top=20, height=6))
    path = found.find("path")
    assert path is not None
    assert path.get("d") == "M0 0v1M250 0v1M1000 0v1"
    assert (found.get("y"), found.get("height")) == ("20", "6")
    assert not list(drawn(plots.cell([plots.strokes([], "session", top=20, height=6)], "")))


def test_a_dot_is_a_circle_at_its_place_that_says_what_it_is() -> None:
    found = mark_of(plots.dot(0.25, 8, "faster", title="a & b", r=2.5))
    assert (found.tag, found.get("class")) == ("circle", "faster")
    assert [found.get(key) for key in ("cx", "cy", "r")] == ["25%", "8", "2.5"]
    assert found.findtext("title") == "a & b"
