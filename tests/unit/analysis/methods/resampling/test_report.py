"""The pages: every number that a person reads is the result's, and the report holds its parts' own."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError
from analysis.methods.biplot import biplot, biplot_picture
from analysis.methods.resampling.bootstrap import bootstrap_speedup
from analysis.methods.resampling.distribution import compare_distributions, empirical_distribution
from analysis.methods.resampling.randomization import randomization_test
from analysis.methods.resampling.report import resampling_picture, resampling_report
from analysis.pages.model import Caution, Page, Sentence, Table
from analysis.plots.axes import Outline, Sheet
from analysis.plots.chart import write_picture
from analysis.plots.marks import Text
from analysis.stats.arguments import stream


def matrix(name="A", factor=1.0, *, runs=5, cautions=(), **more):
    generator = np.random.default_rng(len(name))
    samples = {f"b{k}": factor * generator.lognormal(k, 0.02, runs) for k in range(4)}
    return PerformanceMatrix.from_samples(name, samples, better="lower", cautions=cautions, **more)


def in_rounds(name, factor=1.0):
    ids = {f"b{k}": list(range(5)) for k in range(4)}
    return matrix(name, factor, blocks=ids)


def report(*pair, seed=3, **options):
    pair = pair or (matrix(), matrix("BB", 1.1))
    return resampling_report(*pair, rng=stream(seed, "resample"), seed=seed, **options)


def blocks(page: Page, kind):
    """Give all blocks of a kind, in their order, with the titles of their sections."""
    return [
        (section.title, block)
        for section in page.sections
        for block in section.blocks
        if isinstance(block, kind)
    ]


def only_table(page: Page) -> Table:
    ((_, table),) = blocks(page, Table)
    return table


def labelled(table: Table):
    """Give the rows of a table without headings by their labels."""
    assert not table.headed
    return {row[0]: row[1] for row in table.rows}


def rng():
    return np.random.default_rng(1)


# ---- the parts


def test_rounds_are_counted():
    pair = in_rounds("A"), in_rounds("BB", 1.1)
    for found in (randomization_test(*pair, rng=rng()), bootstrap_speedup(*pair, rng=rng())):
        rows = labelled(only_table(found.screen()))
        assert rows[""] == found.unit_counts == "5 with both variants"


def test_five_numbers_are_the_distributions():
    found = empirical_distribution(matrix(), resamples=500, rng=rng())
    table = only_table(found.screen())
    assert [column.heading for column in table.columns] == [
        "", "minimum", "Q1", "median", "Q3", "maximum", "mean", "IQR",
    ]  # fmt: skip
    ((name, *cells),) = table.rows
    assert name == "A"
    numbers = [*found.five, found.observed]
    assert [cell.value for cell in cells] == [*numbers, found.consistency]
    decimals = {len(cell.text.partition(".")[2]) for cell in cells[:-1]}
    assert len(decimals) == 1
    for cell, number in zip(cells, numbers, strict=False):
        # two digits of the interquartile range are seen
        assert float(cell.text) == pytest.approx(number, abs=(found.q3 - found.q1) / 20)
    assert float(cells[-1].text.removesuffix(" %")) == pytest.approx(
        100 * found.consistency, rel=0.06
    )


@pytest.mark.parametrize(("count", "tables"), [(2, 1), (3, 2), (12, 2), (13, 1)])
def test_who_beats_whom_is_told_of_three_to_twelve_systems(count, tables):
    found = compare_distributions(
        [matrix("x" * k) for k in range(1, count + 1)], resamples=50, rng=rng()
    )
    assert len(blocks(found.screen(), Table)) == tables


# ---- the report


def test_the_report_is_composed_of_its_parts_sections():
    found = report()
    page = found.screen()
    assert page.sections[0].blocks == tuple(Sentence(text) for text in found.conclusions)
    tables = blocks(page, Table)
    assert [title for title, _ in tables[:2]] == ["test", "interval"]
    parts = (found.test, found.interval, found.distributions)
    assert [table for _, table in tables] == [only_table(part.screen()) for part in parts]
    assert page.sections[-1].blocks == (Sentence("seed 3"),)
    assert page.cautions == found.cautions


def test_each_caution_once_but_those_of_two_sides_with_one_name():
    ours = matrix("same", cautions=[Caution("failed-left-out", "3 failed runs left out")])
    theirs = matrix("same", 1.1, cautions=[Caution("failed-left-out", "40 failed runs left out")])
    found = report(ours, theirs)
    said = [str(caution) for caution in found.cautions]
    assert said[:2] == ["same: 3 failed runs left out", "same: 40 failed runs left out"]
    assert len(said) == len(set(said))
    # one session, what the runs share: told by the test and by the interval
    assert [caution.code for caution in found.cautions].count("sessions-unknown") == 1


def test_two_systems_of_one_name_are_told_apart_in_what_is_said_of_their_passes():
    systems = [
        matrix("A", runs=1, cautions=[Caution("noted", "taken at night")]),
        matrix("A", runs=2, cautions=[Caution("noted", "taken at night")]),
        matrix("B", runs=1),
    ]
    found = compare_distributions(systems, resamples=20, rng=rng())
    assert [(caution.code, caution.about) for caution in found.cautions] == [
        ("noted", ("A",)),
        ("passes-equal", ("A",)),
        ("few-passes", ("A", "system 2")),
        ("passes-equal", ("B",)),
        ("extremes-grow", ()),
    ]
    twice = compare_distributions([systems[0], systems[0]], resamples=20, rng=rng())
    assert [caution.code for caution in twice.cautions] == ["noted", "passes-equal", "passes-equal"]


# --- The report of `fairtrial resample`: three answers from one root, and what is missing said.


def test_three_answers_that_agree():
    found = report(resamples=2000)
    assert found.test.ratio == found.interval.ratio
    assert found.interval.low < found.test.ratio < found.interval.high
    first, second = found.distributions.systems
    assert second.observed / first.observed == pytest.approx(found.test.ratio)
    assert first.resamples == found.test.resamples == found.interval.resamples == 2000
    assert len(found.conclusions) == 3


def test_same_seed_same_answer():
    assert report().to_dict() == report().to_dict()
    assert report(seed=4).to_dict() != report().to_dict()


def test_one_run_of_each_gives_no_interval_and_says_so():
    found = report(matrix(runs=1), matrix("BB", 1.1, runs=1))
    assert found.interval is None
    assert "no interval: there is one run" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["interval"] is None
    assert found.test.exact


def test_further_systems_are_described_beside_the_two():
    alone = report()
    found = report(others=[matrix("CCC", 1.2)])
    assert (found.test.pvalue, found.interval.low) == (alone.test.pvalue, alone.interval.low)
    names = [system.name for system in found.distributions.systems]
    assert names == ["A", "BB", "CCC"]
    # what is drawn for the two does not depend on the others
    assert found.distributions.systems[0].q1 == alone.distributions.systems[0].q1
    assert "share of pairs of passes in which the row beats the column" in str(found)
    assert "beats the column" not in str(alone)


# --- The pictures: they can be drawn of anything that has a result, and are the same each time


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


def plots_report(**options):
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
    picture = resampling_picture(plots_report(**options))
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
