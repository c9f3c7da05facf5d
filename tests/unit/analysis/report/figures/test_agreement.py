"""A figure and the report show the same numbers: both come from one verdict and one statistics room."""

from __future__ import annotations

import pytest

from analysis.plots.drawing import Sheet
from analysis.report.benchmarks.gather import gather
from analysis.report.figures.kinds import draw

SHEET = Sheet(width=85, font_size=7)


@pytest.mark.parametrize("looks", [None, 3])
def test_the_shift_function_is_that_of_the_part(looks, measured):
    subject = measured(("base", "fast", "slow"), looks=looks)
    (part,) = (one for one in gather(subject).benchmarks if one.name == "b")
    rows = draw("shift", subject, SHEET, benchmark="b").rows
    for against in part.candidates:
        ours = [row[1:5] for row in rows if row[0] == against.variant]
        theirs = [(q.share, q.speedup.value, q.low.value, q.high.value) for q in against.shift]
        assert len(ours) == 9
        assert ours == [pytest.approx(row) for row in theirs]


def test_lag_and_normal_plots_are_those_of_the_part(measured):
    subject = measured()
    (part,) = (one for one in gather(subject).benchmarks if one.name == "a")
    lag, qq = (draw(kind, subject, SHEET, benchmark="a") for kind in ("lag", "qq"))
    for cloud in part.folded.lags:
        assert sum(row[0] == cloud.variant for row in lag.rows) == len(cloud.dots)
        assert f"{cloud.variant}: {cloud.alt.rpartition(', ')[2]}" in lag.alt
    for cloud in part.folded.qqs:
        found = [row[1:] for row in qq.rows if row[0] == cloud.variant]
        assert len(found) == len(cloud.dots)
        # the part holds shares of a square: the same but for its size
        scale = (2 * cloud.dots[-1][0] - 1) / found[-1][0]
        for (x, y), (across, up) in zip(cloud.dots, found, strict=True):
            assert (2 * x - 1, 2 * y - 1) == pytest.approx((across * scale, up * scale))
