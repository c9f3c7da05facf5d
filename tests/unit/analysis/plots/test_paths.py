"""Many marks as one path: their places, by hand."""

from __future__ import annotations

import re

from analysis import plots


def test_each_of_many_dots_is_written_as_seen_from_the_one_before() -> None:
    points = [(k / 997, (k * k % 997) / 997) for k in range(997)]
    steps = re.findall(
        r"m(-?\d+) ?(-?\d+)h0", plots.plot(90, [plots.dots(points, "a", top=0, height=90)], "")
    )
    x = y = 0
    found = [(x := x + int(across), y := y + int(down)) for across, down in steps]
    assert found == [(round(1000 * a), round(1000 * (1 - b))) for a, b in points]
