"""The page of a biplot: its tables hold the result's numbers, its picture is told in words."""

import numpy as np
import pytest

from analysis.methods.resampling.biplot import biplot
from analysis.pages.model import Table, Value, page_of


def of(systems, benchmarks, **options):
    values = np.random.default_rng(3).lognormal(0, 0.3, (systems, benchmarks))
    names = [[f"{kind}{k}" for k in range(n)] for kind, n in (("s", systems), ("b", benchmarks))]
    return biplot(values, *names, **options)


def tables(result):
    return {
        block.name: (section.title, block)
        for section in page_of(result).sections
        for block in section.blocks
        if isinstance(block, Table)
    }


def numbers(table, first=1):
    return [[cell.value for cell in row[first:]] for row in table.rows]


def test_coordinates():
    result = of(5, 4)
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
    result = of(40, 3)
    section = next(s for s in page_of(result).sections if s.title == "scores")
    table, rest = section.blocks
    shown = [int(row[0].removeprefix("s")) for row in table.rows]
    assert shown == sorted(shown)
    assert len(shown) == 30
    assert numbers(table) == result.scores[shown, :2].tolist()
    far = np.hypot(*result.scores[:, :2].T)
    assert far[shown].min() >= np.delete(far, shown).max()
    assert rest.text == "and 10 systems nearer to the middle (--json gives all)"


def test_correlations_of_few_benchmarks_are_all_told():
    title, table = tables(of(5, 9))["correlations"]
    assert title == "correlations of the benchmarks"
    assert numbers(table) == of(5, 9).correlations.tolist()
    constant = biplot([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]], "abc", "xy")
    _, table = tables(constant)["correlations"]
    assert [row[1:] for row in table.rows] == [(Value("1.00", 1.0), "-"), ("-", "-")]


def test_a_name_of_16_letters_stands_whole_beside_its_correlations():
    names = ["abcdefghijklmnop", "abcdefghijklmnopq"]
    result = biplot([[1.0, 5.0], [2.0, 4.0], [4.0, 6.0]], "xyz", names)
    _, table = tables(result)["correlations"]
    assert [row[0] for row in table.rows] == ["abcdefghijklmnop", "abcdefgh…klmnopq"]


def test_of_many_benchmarks_the_extreme_correlations_are_told():
    result = of(8, 10)
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
    assert "correlations" not in tables(of(4, 1))
