"""The biplot as a picture: where arrows end and names stand."""

import numpy as np
import pytest

from analysis.methods.resampling.biplot import biplot, biplot_picture
from analysis.plots.paper import Outline


def of(values):
    systems, benchmarks = np.shape(values)
    return biplot(values, [f"s{k}" for k in range(systems)], [f"b{k}" for k in range(benchmarks)])


def corners(picture, count):
    """Give the lines of so many corners, in the order in which they were drawn."""
    drawn = [one.parts[0] for one in picture.items if isinstance(one, Outline) and one.parts]
    return [line for line in drawn if len(line) == count]


@pytest.mark.parametrize("seed", [0, 7, 8])
def test_where_there_is_room_no_name_lies_on_an_arrow(seed):
    picture = biplot_picture(of(np.random.default_rng(seed).lognormal(0, 0.3, (9, 8))))
    names = [box for text, box in picture.texts() if text[0] in "sb" and text[1:].isdigit()]
    assert len(names) == 9 + 8
    arrows = corners(picture, 3)  # their heads, tip first
    shafts = corners(picture, 2)[2:10]  # after both lines through the middle
    assert len(arrows) == 8
    for (tip, *_), (middle, _) in zip(arrows, shafts, strict=True):
        for share in np.linspace(0.4, 1, 9):
            x, y = middle + share * (tip - middle)
            for box in names:
                assert not (box.left < x < box.right and box.top < y < box.bottom)


def test_a_benchmark_that_is_constant_has_no_arrow():
    values = np.array([[1.0, 2.0, 7.0], [2.0, 1.0, 7.0], [4.0, 3.0, 7.0]])
    picture = biplot_picture(of(values))
    assert len(corners(picture, 3)) == 2
    told = [text for text, _ in picture.texts()]
    assert {"b0", "b1"} <= set(told)
    assert "b2" not in told
    assert "arrows without a name: 1" in told


def test_an_axis_without_variance_says_so():
    picture = biplot_picture(of([[1.0, 3.0], [2.0, 6.0], [4.0, 12.0]]))
    told = [text for text, _ in picture.texts()]
    assert "PC1 (100.0 % of the variance)" in told
    assert "PC2 (no variance)" in told
