"""The pictures: they can be drawn of anything that has a result, and are the same each time."""

import warnings

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError
from analysis.methods.resampling.biplot import biplot, biplot_picture
from analysis.methods.resampling.report import resampling_picture, resampling_report
from analysis.plots.chart import Sheet, write_picture
from analysis.plots.marks import Text
from analysis.plots.paper import Outline


def systems(count, benchmarks=5, runs=6, spread=0.02):
    generator = np.random.default_rng(7)
    return [
        PerformanceMatrix.from_samples(
            f"system {k}",
            {f"b{i}": generator.lognormal(i, spread, runs) for i in range(benchmarks)},
            better="lower",
        )
        for k in range(count)
    ]


def report(**options):
    return resampling_report(
        *systems(2, **options), resamples=500, rng=np.random.default_rng(1), seed=1
    )


def table(n, p, seed=1):
    generator = np.random.default_rng(seed)
    return biplot(
        generator.lognormal(0, 0.3, (n, p)),
        [f"machine {k}" for k in range(n)],
        [f"bench-{k}" for k in range(p)],
    )


def names_in(picture):
    """Give the names in a biplot's plane with their boxes, and the plane's place."""
    axes = picture.axes[0]
    wanted = [mark.text for mark in axes.marks if isinstance(mark, Text)]
    edge = next(one for one in picture.items if isinstance(one, Outline)).parts[0]
    found = {text: box for text, box in picture.texts() if text in wanted}
    (left, _), (right, _) = edge.tolist()  # of the line through 0, from side to side
    return found, left, right


def apart(boxes):
    boxes = list(boxes)
    return not any(a.meets(b) for k, a in enumerate(boxes) for b in boxes[k + 1 :])


def test_every_name_stands_in_the_frame_and_none_covers_another():
    picture = biplot_picture(table(8, 12))
    texts, left, right = names_in(picture)
    assert {f"machine {k}" for k in range(8)} | {f"bench-{k}" for k in range(12)} <= set(texts)
    assert apart(texts.values())
    for box in texts.values():
        assert left <= box.left < box.right <= right
        assert 0 <= box.top < box.bottom <= picture.height


def test_axes_say_the_share_and_the_title_the_scale():
    result = table(6, 4)
    picture = biplot_picture(result)
    axes = picture.axes[0]
    assert axes.x_label == f"PC1 ({100 * result.explained[0]:.1f} % of the variance)"
    assert axes.y_label == f"PC2 ({100 * result.explained[1]:.1f} % of the variance)"
    title = picture.texts()[0][0]
    assert "6 systems (points) over 4 benchmarks (arrows) · logarithms" in title


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_few_systems_and_any_size(size):
    for rows in ([[1.0], [2.0], [4.0]], [[1.0, 5], [2.0, 5], [3.0, 5]]):
        values = np.array(rows) * size
        result = biplot(values, "abc"[: len(values)], "xy"[: values.shape[1]], scale="covariance")
        texts, left, right = names_in(biplot_picture(result))
        assert set(texts) >= set("abc")
        assert all(left <= box.left < box.right <= right for box in texts.values())


def test_two_systems_are_refused_because_they_lie_on_a_line():
    with pytest.raises(InsufficientDataError, match="is a line"):
        biplot_picture(biplot([[1.0, 2.0], [2.0, 1.0]], "ab", "xy"))


def test_names_of_systems_that_lie_together_do_not_pile_up():
    # 30 systems that are all but one: what has no room of its own is left out and counted
    generator = np.random.default_rng(3)
    values = np.exp(generator.normal(0, 1e-3, (30, 4)))
    values[0] *= [8, 1, 1, 1]
    picture = biplot_picture(
        biplot(values, [f"a long machine name {k}" for k in range(30)], list("wxyz"))
    )
    texts, *_ = names_in(picture)
    assert apart(texts.values())
    assert "points without a name: " in picture.axes[0].title


def test_a_biplot_for_a_column_has_its_width_and_no_title():
    sheet = Sheet(width=85, font_size=7)
    picture = biplot_picture(table(5, 4), sheet)
    assert picture.width / 72 * 25.4 == pytest.approx(85)
    assert not any("systems (points)" in text for text, _ in picture.texts())
    assert len(picture.axes) == 1


@pytest.mark.parametrize("options", [{"runs": 1}, {"spread": 0.0}, {"benchmarks": 1}, {"runs": 2}])
def test_resampling_of_little(options):
    picture = resampling_picture(report(**options))
    top, middle, bottom = picture.axes
    observed, *interval = (key.text for key in top.keys)
    assert observed.startswith("observed ")
    # one run tells no interval, and what does not vary is said to
    assert len(interval) == (options != {"runs": 1})
    flat = options in ({"runs": 1}, {"spread": 0.0})
    told = [mark.text for mark in middle.marks if isinstance(mark, Text)]
    assert told == ["the passes do not vary"] * flat
    assert [tick.text for tick in bottom.y_ticks] == ["system 0", "system 1"]
    assert apart(box for _, box in picture.texts())


@pytest.mark.parametrize("sides", ["lower", "upper"])
def test_one_sided(sides):
    found = resampling_report(*systems(2), sides=sides, resamples=200, rng=np.random.default_rng(1))
    keys = resampling_picture(found).axes[0].keys
    assert f"95 % {sides} bound (percentile)" in [key.text for key in keys]


@pytest.mark.parametrize(("count", "boxes"), [(3, 3), (45, 40)])
def test_many_systems_side_by_side(count, boxes):
    first, second, *others = systems(count)
    found = resampling_report(
        first, second, others=others, resamples=300, rng=np.random.default_rng(1)
    )
    picture = resampling_picture(found)
    bottom = picture.axes[2]
    assert [tick.text for tick in bottom.y_ticks] == [f"system {k}" for k in range(boxes)]
    assert {f"system {k}" for k in range(boxes)} <= {text for text, _ in picture.texts()}
    assert ("5 more systems" in bottom.x_label) == (count > boxes)


def test_names_are_no_formulas_and_unknown_letters_no_warning(tmp_path):
    result = biplot([[1.0, 2], [2, 1], [4, 3]], ["$a$", "变体", "x_{1"], ["$\\frac$", "y%"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_picture(biplot_picture(result), tmp_path / "names.svg")
    text = (tmp_path / "names.svg").read_text("utf-8")
    assert all(f">{name}</text>" in text for name in (*result.systems, *result.benchmarks))
