"""How pictures are written: letters stay letters, the same bytes each time, nothing from outside."""

from __future__ import annotations

import io
import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from PIL import Image

from analysis.errors import UsageError
from analysis.plots.axes import Axes, Scale, quantity_axis
from analysis.plots.chart import ENDINGS, Sheet, arranged, check_picture, picture_bytes
from analysis.plots.marks import PRINT
from analysis.plots.paper import Spots

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
