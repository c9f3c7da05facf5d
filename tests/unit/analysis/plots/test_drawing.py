"""How pictures are written: letters stay letters, the same bytes each time, nothing from outside."""

from __future__ import annotations

import io
import math
import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from hypothesis import example, given, strategies as st
from PIL import Image

from analysis.errors import UsageError
from analysis.plots.axes import (
    Axes,
    Scale,
    Sheet,
    Spots,
    quantity_axis,
    quantity_scale,
    quantity_ticks,
    ratio_scale,
    ratio_ticks,
    read_out,
)
from analysis.plots.chart import ENDINGS, arranged, check_picture, picture_bytes
from analysis.plots.marks import PRINT, Area, Dots, plot

SVG = "{http://www.w3.org/2000/svg}"
SHEET = Sheet(width=85, font_size=7)


def picture(text="gzip-1 & <b>", sheet=SHEET):
    axes = Axes(x_label=text)
    quantity_axis(axes, "x", Scale(1.0, 3.0), "1")
    quantity_axis(axes, "y", Scale(0.0, 10.0), "1")
    axes.curve([1, 2, 3], [1, 4, 9], "c0 curve")
    return arranged(sheet, [[axes]], 38.0)


def drawn(kind, **said):
    return picture_bytes(picture(), kind, **said)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_bytes_each_time_and_no_date(ending):
    first, second = (drawn(ending[1:], title="t", alt="a") for _ in range(2))
    assert first == second
    assert not re.search(rb"CreationDate|<dc:date>|tIME|Software", first)


def test_svg_asks_for_nothing():
    text = drawn("svg").decode()
    assert "<!DOCTYPE" not in text
    assert not re.findall(r'(?:href|src)="(?!#)', text)
    assert "url(http" not in text


def test_the_fonts_of_a_pdf_are_embedded_as_true_type():
    pdf = drawn("pdf", title="one", alt="half")
    inner = b"".join(
        zlib.decompress(part)
        for part in re.findall(rb"stream\r?\n(x.*?)\r?\nendstream", pdf, re.DOTALL)
        if part[:1] == b"x"
    )
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf + inner
    assert b"/Title (one)" in pdf
    assert b"/Subject (half)" in pdf


def test_the_letters_of_a_pdf_have_their_outlines():
    pdf = drawn("pdf")
    fonts = [
        TTFont(io.BytesIO(part))
        for part in map(
            zlib.decompress, re.findall(rb"stream\r?\n(x.*?)\r?\nendstream", pdf, re.DOTALL)
        )
        if part.startswith(b"\x00\x01\x00\x00")
    ]
    (glyphs,) = (font["glyf"].glyphs for font in fonts)
    drawn_ones = [one for one in glyphs.values() if len(getattr(one, "data", b"")) > 0]
    assert len(drawn_ones) > len({*"gzip1"})


def spotted(look, shape):
    """Draw one spot alone, in the middle of its area."""
    axes = Axes(sides="")
    axes.spots(0.5, 0.5, look, r=6, shape=shape)
    found = arranged(Sheet(width=40), [[axes]], 40.0)
    (spot,) = (one for one in found.items if isinstance(one, Spots))
    return found, spot.points[0]


def colours(text):
    return np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)])


@pytest.mark.parametrize(
    ("look", "shape", "filled", "rimmed"),
    [
        ("faster", "circle", True, True),
        ("faster hollow", "circle", False, True),
        ("faster ring", "circle", False, True),
        ("faster", "square", True, True),
        ("faster hollow", "diamond", False, True),
        ("faster", "cross", True, False),
        ("faster", "plus", True, False),
    ],
)
def test_spots_of_a_png_have_their_fill_and_their_rim(look, shape, filled, rimmed):
    found, place = spotted(look, shape)
    dots = np.asarray(Image.open(io.BytesIO(picture_bytes(found, "png")))).astype(int)
    x, y = (place * 300 / 72).round().astype(int)
    close = np.abs(dots - colours(PRINT.faster)).max(axis=2) < 40
    assert close[y - 1 : y + 2, x - 1 : x + 2].any() == filled
    assert close[y, x + 15 : x + 40].any() == (rimmed or shape == "plus")
    assert close.sum() > 100


def test_png_says_what_it_shows_and_has_print_resolution():
    png = drawn("png", title="one", alt="µs → ms")
    assert b"Title\x00one" in png
    assert "µs → ms".encode() in png
    width = int.from_bytes(png[16:20], "big")
    assert width == pytest.approx(85 / 25.4 * 300, abs=1)


def test_control_characters_do_not_break_the_file():
    svg = picture_bytes(picture("a\x07b\x1b"), "svg", title="\x00", alt="\x0b")
    root = ElementTree.fromstring(svg)
    assert root.findtext(f"{SVG}title") == "␀"
    assert root.findtext(f"{SVG}desc") == "␋"
    texts = ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")]
    assert "a␇b␛" in texts


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"width": 3}, "40 to 1000 mm"),
        ({"width": float("nan")}, "40 to 1000 mm"),
        ({"font_size": 90}, "4 to 40 points"),
        ({"font_family": "No Such Font"}, "no font 'No Such Font'"),
    ],
)
def test_sheets_that_nobody_can_draw_on(wrong, words):
    with pytest.raises(UsageError, match=words):
        Sheet(**wrong).check()
    SHEET.check()


def test_a_picture_is_refused_where_there_is_no_folder(tmp_path):
    assert check_picture(str(tmp_path / "a.svg")) == tmp_path / "a.svg"
    with pytest.raises(UsageError, match="there is no folder"):
        check_picture(str(tmp_path / "none" / "a.svg"))
    with pytest.raises(UsageError, match="a picture ends in"):
        check_picture(str(tmp_path / "a.gif"))


# --- Scales of any width have ticks that lie on them: found by a trial whose interval spans 1e30.


ENDS = st.floats(-280, 280)


@example(0.5, 5.0, 2)
@given(ENDS, st.floats(1e-6, 250), st.integers(2, 8))
def test_ticks_of_a_log_scale_lie_on_it_and_are_few(low: float, wide: float, most: int) -> None:
    scale = Scale(10**low, 10 ** min(300.0, low + wide), log=True)
    ticks = quantity_ticks(scale, "1", most)
    assert len(ticks) <= most
    for tick in ticks:
        assert -1e-6 <= scale.at(tick.value) <= 1 + 1e-6
    if wide >= 2 * most:  # many powers of ten: some of them are shown
        assert len(ticks) >= 2


@example([280.0, -191.0])
@example([280.0, -187.0])
@given(st.lists(ENDS, min_size=1, max_size=5))
def test_ticks_of_speedups_lie_on_the_scale(logs: list[float]) -> None:
    scale = ratio_scale([10**x for x in logs], 0.01)
    ticks = ratio_ticks(scale)
    assert all(0 <= scale.at(tick.value) <= 1 for tick in ticks)
    assert all(math.isfinite(tick.value) for tick in ticks)


@given(st.lists(st.floats(0.5, 2), max_size=3), st.floats(0.01, 0.5))
def test_a_scale_of_speedups_holds_one_and_both_ends_of_the_margin(
    values: list[float], margin: float
) -> None:
    scale = ratio_scale(values, margin, room=0.0)
    assert scale.low == pytest.approx(min([1 / (1 + margin), *values]))
    assert scale.high == pytest.approx(max([1 + margin, *values]))


@pytest.mark.parametrize("value", [5e-324, 1e-305, 1e305])
def test_values_at_the_ends_of_all_numbers_have_a_scale(value: float) -> None:
    scale = quantity_scale([value])
    assert 0 < scale.low < scale.high < math.inf
    assert math.isfinite(scale.at(value))


@pytest.mark.parametrize(
    ("ends", "most", "wanted"),
    [((0.93, 1.08), 4, [0.95, 1.0, 1.05]), ((0.975, 1.025), 5, [0.98, 0.99, 1.0, 1.01, 1.02])],
)
def test_narrow_axes_have_round_values_of_their_own_and_no_end_is_left_bare(ends, most, wanted):
    found = ratio_ticks(Scale(*ends, log=True), most)
    assert [tick.value for tick in found] == wanted
    # 1, 1.5, 2, 3 are more ticks, but tell nothing of the upper half
    assert ratio_ticks(Scale(0.88, 6.84, log=True))[-1].value >= 4


# --- Many marks as one path: their places, by hand.


def test_each_of_many_dots_is_written_as_seen_from_the_one_before() -> None:
    points = [(k / 997, (k * k % 997) / 997) for k in range(997)]
    steps = re.findall(r"m(-?\d+) ?(-?\d+)h0", plot(90, [Dots(points, "a", Area(0, 90))], ""))
    x = y = 0
    found = [(x := x + int(across), y := y + int(down)) for across, down in steps]
    assert found == [(round(1000 * a), round(1000 * (1 - b))) for a, b in points]


# --- What the page's script needs to read a dot's value from its place.


def test_an_axis_is_described_in_the_unit_of_its_ticks() -> None:
    assert read_out(Scale(0.02, 0.08, log=True), "s") == "20 80 1 ms"
    assert read_out(Scale(0.0, 10.0), "1") == "0 10 0"
    assert read_out(Scale(-1.0, 1.0), "points") == "-1 1 0 points"


@pytest.mark.parametrize("scale", [Scale(0.013, 0.87, log=True), Scale(0.5, 3.5)])
@pytest.mark.parametrize("value", [0.6, 0.75, 0.86])
def test_a_value_can_be_read_from_the_dots_place(scale: Scale, value: float) -> None:
    # as the script does it: the share of the height between the ends, or between their logarithms
    axis = read_out(scale, "points")
    markup = plot(80, [Dots([(0.5, scale.at(value))], "x", Area(0, 80, axis=axis))], "")
    low, high, log, _ = re.search(r'data-axis="([^"]*)"', markup)[1].split()
    share = 1 - int(re.search(r"m500 (\d+)h0", markup)[1]) / 1000
    if log == "1":
        read = float(low) * (float(high) / float(low)) ** share
    else:
        read = float(low) + (float(high) - float(low)) * share
    assert math.isclose(read, value, rel_tol=0.004)
