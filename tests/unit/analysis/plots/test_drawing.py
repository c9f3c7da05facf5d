"""How pictures are written: letters stay letters, the same bytes each time, nothing from outside."""

from __future__ import annotations

import re
import zlib
from xml.etree import ElementTree

import pytest

from analysis.errors import UsageError
from analysis.plots import Axes, Scale, arranged, quantity_axis
from analysis.plots.drawing import ENDINGS, picture_bytes
from analysis.plots.sheet import Sheet

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


def test_svg_is_text_with_title_and_description():
    root = ElementTree.fromstring(drawn("svg", title="one", alt="half & <half>"))
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root.findtext(f"{SVG}title") == "one"
    assert root.findtext(f"{SVG}desc") == "half & <half>"
    texts = ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text")]
    assert "gzip-1 & <b>" in texts
    assert root.get("width") == f"{85 / 25.4 * 72:.6f}pt"


def test_svg_asks_for_nothing():
    text = drawn("svg").decode()
    assert "<!DOCTYPE" not in text
    assert not re.findall(r'(?:href|src)="(?!#)', text)
    assert "url(http" not in text


def test_a_font_that_is_not_there_has_one_as_wide():
    assert "'DejaVu Sans', Verdana, sans-serif" in drawn("svg").decode()


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


def test_the_letters_of_the_sheet():
    small, large = (
        picture_bytes(picture(sheet=sheet), "svg").decode()
        for sheet in (SHEET, Sheet(width=85, font_size=11, font_family="DejaVu Serif"))
    )
    assert re.search(r"font-size: 7px; font-family: 'DejaVu Sans'", small)
    assert re.search(r"font-size: 11px; font-family: 'DejaVu Serif'", large)


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
