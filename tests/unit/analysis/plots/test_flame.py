"""A flame graph drawn for the page and for a file: labels in their boxes, the difference as a bar, the same bytes.

Authority: the design (colour never alone, labels that do not overlap, title and description, no script).
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings, strategies as st

from analysis.plots.drawing import picture_bytes
from analysis.plots.flame import ROW, FlameWords, flame_picture, flame_plot, role_of
from analysis.plots.flame_layout import flame_of
from analysis.plots.labels import text_width
from analysis.plots.palette import PRINT
from analysis.plots.sheet import Sheet
from tests.examples import examples

WORDS = FlameWords(
    lambda box: box.name or "all",
    lambda box: f"{box.difference:+.1f} ms",
    lambda box: f"{box.name}: {box.baseline:.1f}, {box.candidate:.1f}",
)
BASE = {("main",): 2.0, ("main", "sort"): 10.0, ("main", "read"): 5.0, ("main", "<b>&\x07"): 1.0}
CAND = {("main",): 2.0, ("main", "sort"): 16.0, ("main", "read"): 3.0, ("main", "<b>&\x07"): 1.0}
FLAME = flame_of(BASE, CAND)
KEYS = ("more time in new: bar at the bottom", "less: bar at the top")
LEAST_WIDTHS = {"flame-narrow": 280.0, "flame-broad": 640.0, "flame-widest": 1040.0}


def page(flame=FLAME):
    return str(flame_plot(flame, WORDS, "what it shows"))


def picture(flame=FLAME, width=178.0):
    return flame_picture(
        flame, WORDS, Sheet(width=width, font_size=9), title="keys", keys=KEYS, notes=["a note"]
    )


def svg(made):
    return picture_bytes(made, "svg", title="what", alt="shows")


def test_a_difference_is_a_bar_of_its_length_below_for_more_and_above_for_less():
    root = ET.fromstring(page())
    bars = {one.get("class"): one for one in root.iter("rect") if "flame-bar" in one.get("class")}
    more, less = bars["flame-bar slower"], bars["flame-bar faster"]
    total = FLAME.total
    assert float(more.get("width").rstrip("%")) == pytest.approx(100 * 6 / total, abs=0.02)
    assert float(less.get("width").rstrip("%")) == pytest.approx(100 * 2 / total, abs=0.02)
    assert float(less.get("y")) == 2 * ROW
    assert float(more.get("y")) > 2.7 * ROW
    same = next(box for box in FLAME.boxes if box.name.startswith("<b>"))
    assert role_of(same, total) == "neither"


def test_no_script_and_nothing_foreign_is_in_the_file():
    text = svg(picture()).decode()
    assert "<script" not in text
    assert "href" not in text
    assert "\x07" not in text
    assert "<b>" not in text
    assert text == svg(picture()).decode()
    assert len(re.findall(r"<text", text)) >= 5


def test_a_file_tells_more_from_less_without_colour():
    text = svg(picture()).decode()
    for colour in (PRINT.faster, PRINT.slower):
        grey = text.replace(colour, "#777777")
        assert grey != text
    assert [key for key in KEYS if key in text] == list(KEYS)


names = st.sampled_from(["a", "main", "std::vector<std::string>::push_back", "größe", "x" * 90])
chains = st.dictionaries(
    st.lists(names, min_size=1, max_size=5).map(tuple), st.floats(0.01, 50), min_size=1, max_size=25
)


@given(chains, chains)
@settings(max_examples=examples(60))
def test_a_label_on_the_page_stays_in_its_box_at_the_least_width(base, cand):
    flame = flame_of(base, cand)
    boxes = {(round(100 * box.left, 2), box.depth): box for box in flame.boxes}
    for text in ET.fromstring(page(flame)).iter("text"):
        (width,) = {
            LEAST_WIDTHS[word] for word in text.get("class").split() if word in LEAST_WIDTHS
        }
        at = round(float((text.get("x") or "0").rstrip("%")), 2), int(float(text.get("y")) // ROW)
        room = boxes[at].width * width - float(text.get("dx"))
        assert text_width(text.text) <= room + 1e-6


@given(chains, chains, st.sampled_from([85.0, 178.0, 280.0]))
@settings(max_examples=examples(40))
def test_no_two_texts_of_a_file_touch_or_leave_the_sheet(base, cand, width):
    made = picture(flame_of(base, cand), width)
    drawn = [box for _, box in made.texts()]
    for k, one in enumerate(drawn):
        assert one.left >= -1
        assert one.right <= made.width + 1
        assert one.top >= -1
        assert one.bottom <= made.height + 1
        for two in drawn[k + 1 :]:
            across = min(one.right, two.right) - max(one.left, two.left)
            down = min(one.bottom, two.bottom) - max(one.top, two.top)
            assert min(across, down) <= 1
