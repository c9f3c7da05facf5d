"""The biplot's edges: few systems, constant benchmarks, missing values, huge scales."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.biplot import biplot, biplot_picture
from analysis.pages.model import Table, Value
from analysis.plots.axes import Outline

# command lines with each option once, executed in fresh processes
ROWS = """
0   biplot new.csv old.csv newer.csv --better lower --layout rows --decimal point --level process --scale covariance --plot b.svg --json
0,6 biplot runs/one --warmup-iterations 0 --metric max_rss
2   biplot long.csv --columns value=absent -q
"""
THREE = np.array([[1.0, 2.0], [2.0, 1.0], [4.0, 3.0]])


def names(prefix, count):
    return [f"{prefix}{k}" for k in range(count)]


def of(values, **options):
    values = np.asarray(values)
    return biplot(values, names("s", values.shape[0]), names("b", values.shape[1]), **options)


def test_two_variables_by_hand():
    # columns (1, 2, 3) and (1, 2, 3): variance 1 each, all along the diagonal
    found = of([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], scale="covariance")
    assert found.explained == pytest.approx([1, 0], abs=1e-15)
    assert found.loadings[:, 0] == pytest.approx([math.sqrt(0.5)] * 2)
    assert found.scores[:, 0] == pytest.approx([-math.sqrt(2), 0, math.sqrt(2)], abs=1e-15)
    assert found.sds[0] == pytest.approx(math.sqrt(2))  # divisor n - 1
    assert found.rank == 1
    assert not found.scores[:, 1].any()


def test_log_is_the_default_and_does_not_see_units():
    found, scaled = of(THREE), of(THREE * [1e9, 1e-9])
    assert found.scale == "log"
    assert scaled.scores == pytest.approx(found.scores, abs=1e-12)
    assert scaled.loadings == pytest.approx(found.loadings, abs=1e-12)
    assert of(THREE, scale="covariance").explained[0] != pytest.approx(found.explained[0])


@pytest.mark.parametrize("scale", ["log", "covariance", "correlation"])
@pytest.mark.parametrize("size", [1e-300, 1e-9, 1e9, 1e300])
def test_any_size(scale, size):
    found, plain = of(THREE * size, scale=scale), of(THREE, scale=scale)
    assert found.explained == pytest.approx(plain.explained, abs=1e-9)
    assert found.loadings == pytest.approx(plain.loadings, abs=1e-9)
    factor = size if scale == "covariance" else 1.0
    assert found.scores / factor == pytest.approx(plain.scores, abs=1e-9)


def test_more_benchmarks_than_systems():
    rng = np.random.default_rng(5)
    found = of(rng.uniform(1, 2, (4, 30)))
    assert found.scores.shape == (4, 4)
    assert found.loadings.shape == (30, 4)
    assert found.rank == 3
    assert found.explained.sum() == pytest.approx(1)
    assert found.explained[3] == 0
    assert any("at most 3 components" in text for text in found.cautions)


def test_two_systems_and_one_benchmark():
    found = of([[1.0], [2.0]])
    assert found.explained.tolist() == [1.0]
    assert found.correlations.tolist() == [[1.0]]
    assert any("two systems lie on a line" in text for text in found.cautions)
    assert "PC2" not in str(found)


def test_a_constant_benchmark():
    values = np.column_stack([THREE, [7.0, 7.0, 7.0]])
    with pytest.raises(AnalysisError, match="'b2' has one value on all systems"):
        of(values, scale="correlation")
    for scale in ("log", "covariance"):
        found = of(values, scale=scale)
        assert found.loadings[2, : found.rank] == pytest.approx([0, 0], abs=1e-15)
        assert np.isnan(found.correlations[2]).all()
        assert found.to_dict()["correlations"][2] == [None] * 3
        assert any("no arrow: b2" in text for text in found.cautions)
    assert " - " in str(of(values))


def test_of_constant_benchmarks_the_first_is_named_and_others_are_counted():
    for count, said in ((1, "by the spread"), (3, "by the spread (2 more)")):
        values = np.column_stack([THREE, np.full((3, count), 7.0)])
        with pytest.raises(AnalysisError) as told:
            of(values, scale="correlation")
        assert told.value.what.endswith(said)


def test_rounding_makes_no_correlation_beyond_one():
    rng = np.random.default_rng(4)
    for _ in range(20):
        x = rng.uniform(1, 2, 7)
        found = of(np.column_stack([x, 3 * x, 5 - x, 4 - 0.7 * x]), scale="covariance")
        assert np.abs(found.correlations).max() == 1
        assert found.correlations[0] == pytest.approx([1, 1, -1, -1])


def test_a_huge_constant_hides_no_small_benchmark():
    found = of([[1e15, 1.0], [1e15, 2.0]], scale="covariance")
    assert found.explained[0] == 1
    assert found.scores[:, 0] == pytest.approx([-0.5, 0.5])


@pytest.mark.parametrize("scale", ["log", "covariance", "correlation"])
def test_nothing_varies(scale):
    with pytest.raises(AnalysisError, match="no benchmark differs"):
        of(np.full((3, 2), 0.3), scale=scale)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("scale", ["log", "covariance", "correlation"])
def test_missing_values_are_named(bad, scale):
    values = THREE.copy()
    values[1, 1] = bad
    with pytest.raises(AnalysisError, match=r"system 's1', benchmark 'b1'"):
        of(values, scale=scale)


def test_logarithms_need_positive_values_and_others_do_not():
    values = THREE - 2
    with pytest.raises(AnalysisError, match="logarithms need positive"):
        of(values)
    assert of(values, scale="covariance").scores == pytest.approx(
        of(THREE, scale="covariance").scores
    )


@pytest.mark.parametrize(
    ("values", "systems", "benchmarks", "error", "words"),
    [
        ([[1.0, 2.0]], ["a"], ["x", "y"], InsufficientDataError, "there is one"),
        (np.empty((0, 1)), [], ["x"], InsufficientDataError, "there is none"),
        (np.empty((2, 0)), ["a", "b"], [], InsufficientDataError, "no benchmark"),
        ([[1.0], [2.0]], ["a", "a"], ["x"], UsageError, "'a' is there twice"),
        ([[1.0], [2.0]], ["a", "b"], ["x", "y"], UsageError, "do not fit 2 systems x 2"),
        ([["one"], [2.0]], ["a", "b"], ["x"], AnalysisError, "are not numbers"),
        ([[1.0], [2.0, 3.0]], ["a", "b"], ["x"], AnalysisError, "are not numbers"),
    ],
)
def test_what_is_no_table(values, systems, benchmarks, error, words):
    with pytest.raises(error, match=words):
        biplot(values, systems, benchmarks)


def test_an_unknown_scale():
    with pytest.raises(UsageError, match="scale must be"):
        of(THREE, scale="ranks")


def test_text_of_a_large_table_stays_narrow_and_short():
    rng = np.random.default_rng(2)
    text = str(biplot(rng.uniform(1, 2, (60, 200)), names("s" * 100, 60), names("b" * 100, 200)))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 96
    assert len(lines) < 110
    assert "and 30 systems nearer to the middle" in text
    assert "correlations of the 19,900 pairs" in text


@pytest.mark.parametrize("shape", [(2, 5), (2, 2), (7, 2)])
def test_the_largest_loading_is_positive_where_rounding_decides(shape):
    # correlation: of two systems, or of two benchmarks, all loadings are equally large
    for seed in range(20):
        values = np.random.default_rng(seed).lognormal(size=shape)
        names = [[f"{kind}{k}" for k in range(n)] for kind, n in zip("sb", shape, strict=True)]
        found = biplot(values, *names, scale="correlation")
        held = found.loadings[:, : found.rank]
        assert (held[np.abs(held).argmax(axis=0), np.arange(found.rank)] > 0).all()
        assert (held[0] > 0).all()
        assert held.T @ held == pytest.approx(np.eye(found.rank), abs=1e-12)


def test_scores_are_written_with_the_decimals_of_their_component():
    found = biplot([[12345.0, 2], [23456.0, 3], [54567.0, 1]], "abc", "xy", scale="covariance")
    text = str(found)
    assert "  a       -17778  -0.5773" in text
    huge = biplot([[1e9], [2e9], [4.5e9]], "abc", "x", scale="covariance")
    assert "-1.500e+09" in str(huge)
    assert "correlation between" not in str(huge)  # one benchmark has no other


# --- The page of a biplot: its tables hold the result's numbers, its picture is told in words.


def of_page(systems, benchmarks, **options):
    values = np.random.default_rng(3).lognormal(0, 0.3, (systems, benchmarks))
    names = [[f"{kind}{k}" for k in range(n)] for kind, n in (("s", systems), ("b", benchmarks))]
    return biplot(values, *names, **options)


def tables(result):
    return {
        block.name: (section.title, block)
        for section in result.screen().sections
        for block in section.blocks
        if isinstance(block, Table)
    }


def numbers(table, first=1):
    return [[cell.value for cell in row[first:]] for row in table.rows]


def test_coordinates():
    result = of_page(5, 4)
    found = tables(result)
    title, scores = found["scores"]
    assert title == "scores"
    assert numbers(scores) == result.scores[:, :2].tolist()
    assert [row[0] for row in scores.rows] == list(result.systems)
    assert numbers(found["loadings"][1]) == result.loadings[:, :2].tolist()
    for name, digits in (("scores", 2e-3), ("loadings", 5.1e-4)):
        for row in found[name][1].rows:
            for cell in row[1:]:
                assert float(cell.text) == pytest.approx(cell.value, abs=digits)


def test_of_many_the_outermost_are_told_in_their_order():
    result = of_page(40, 3)
    section = next(s for s in result.screen().sections if s.title == "scores")
    table, rest = section.blocks
    shown = [int(row[0].removeprefix("s")) for row in table.rows]
    assert shown == sorted(shown)
    assert len(shown) == 30
    assert numbers(table) == result.scores[shown, :2].tolist()
    far = np.hypot(*result.scores[:, :2].T)
    assert far[shown].min() >= np.delete(far, shown).max()
    assert rest.text == "and 10 systems nearer to the middle (--json gives all)"


def test_correlations_of_few_benchmarks_are_all_told():
    title, table = tables(of_page(5, 9))["correlations"]
    assert title == "correlations of the benchmarks"
    assert numbers(table) == of_page(5, 9).correlations.tolist()
    constant = biplot([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]], "abc", "xy")
    _, table = tables(constant)["correlations"]
    unknown = Value("-", None)
    assert [row[1:] for row in table.rows] == [(Value("1.00", 1.0), unknown), (unknown, unknown)]


def test_names_stand_whole_beside_their_correlations():
    names = ["abcdefghijklmnop", "abcdefghijklmnopq"]
    result = biplot([[1.0, 5.0], [2.0, 4.0], [4.0, 6.0]], "xyz", names)
    _, table = tables(result)["correlations"]
    assert [row[0] for row in table.rows] == names


def test_of_many_benchmarks_the_extreme_correlations_are_told():
    result = of_page(8, 10)
    title, table = tables(result)["correlations"]
    pairs = result.correlations[np.triu_indices(10, 1)]
    assert title == (f"correlations of the 45 pairs of benchmarks: median {np.median(pairs):.2f}")
    for row, pick in zip(table.rows, (np.min, np.max), strict=True):
        label, cell, names = row
        assert label == ("least" if pick is np.min else "most")
        assert cell.value == pick(pairs)
        i, j = (int(name.removeprefix("b")) for name in names.split(" and "))
        assert result.correlations[i, j] == cell.value
    one = np.ones((3, 10))
    one[1, 0] = 2
    assert "correlations: fewer than two benchmarks vary" in str(
        biplot(one, "abc", [f"b{k}" for k in range(10)])
    )


def test_one_benchmark_has_no_correlations():
    assert "correlations" not in tables(of_page(4, 1))


# --- The biplot as a picture: where arrows end and names stand.


def of_picture(values):
    systems, benchmarks = np.shape(values)
    return biplot(values, [f"s{k}" for k in range(systems)], [f"b{k}" for k in range(benchmarks)])


def corners(picture, count):
    """Give the lines of so many corners, in the order in which they were drawn."""
    drawn = [one.parts[0] for one in picture.items if isinstance(one, Outline) and one.parts]
    return [line for line in drawn if len(line) == count]


@pytest.mark.parametrize("seed", [0, 7, 8])
def test_where_there_is_room_no_name_lies_on_an_arrow(seed):
    picture = biplot_picture(of_picture(np.random.default_rng(seed).lognormal(0, 0.3, (9, 8))))
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
    picture = biplot_picture(of_picture(values))
    assert len(corners(picture, 3)) == 2
    told = [text for text, _ in picture.texts()]
    assert {"b0", "b1"} <= set(told)
    assert "b2" not in told
    assert "arrows without a name: 1" in told


def test_an_axis_without_variance_says_so():
    picture = biplot_picture(of_picture([[1.0, 3.0], [2.0, 6.0], [4.0, 12.0]]))
    told = [text for text, _ in picture.texts()]
    assert "PC1 (100.0 % of the variance)" in told
    assert "PC2 (no variance)" in told
