"""A suite's response and flags as the published study has them (its section 7).

Authority for the standard deviation: the exact law of the bootstrap. The median of n of n values drawn
with replacement is the j-th smallest with the probability that the middle draw of a uniform sample
falls into (j - 1, j] / n; benchmarks are drawn each on its own.
"""

import json

import numpy as np
import pytest
from scipy.stats import binom

from analysis.errors import AnalysisError, UsageError
from analysis.methods.variance_sources.mixed_table import flag_columns, mixed_table
from analysis.methods.variance_sources.systems import sources_of_table
from analysis.methods.variance_sources.systems_table import (
    RESAMPLES,
    bootstrapped_sds,
    runs_of_benchmarks,
    suite_responses,
)

B = {f"b{k}": [f"b{k} {run}" for run in (1, 2, 3)] for k in range(12)}


def rng(seed=1):
    return np.random.default_rng(seed)


def exact_sd(runs):
    """Give the sd of the geometric mean of medians over all resamples there are; odd numbers of runs."""
    moments = np.ones(2)
    for values in runs:
        n = len(values)
        below = binom.sf(n // 2, n, np.arange(n + 1) / n)  # the middle draw is among the j smallest
        weights = np.diff(below)
        for power in (1, 2):
            moments[power - 1] *= weights @ np.sort(values) ** (power / len(runs))
    return np.sqrt(moments[1] - moments[0] ** 2)


def test_the_exact_law_itself():
    # 27 samples of three: 7 have the smallest in the middle, 13 the middle one, 7 the largest
    values = [1.0, 2.0, 4.0]
    mean = (7 * 1 + 13 * 2 + 7 * 4) / 27
    assert exact_sd([values]) ** 2 == pytest.approx((7 + 13 * 4 + 7 * 16) / 27 - mean**2)


@pytest.mark.parametrize("runs", [3, 5])
def test_the_standard_deviation_is_that_of_all_resamples(runs):
    values = rng(2).lognormal(0, 0.1, (4, 12, runs))
    exact = [exact_sd(row) for row in values]
    assert bootstrapped_sds(values, 20_000, rng()) == pytest.approx(exact, rel=0.02)
    # that of 500, as published: its own error is 1 / sqrt(1000) = 3 %
    many = rng(3).lognormal(0, 0.1, (100, 12, runs))
    ratio = bootstrapped_sds(many, RESAMPLES, rng()) / [exact_sd(row) for row in many]
    assert ratio.mean() == pytest.approx(1, abs=0.01)
    assert ratio.std() == pytest.approx(0.0316, rel=0.35)


def test_it_is_neither_that_of_means_nor_that_of_one_benchmark():
    # the negative control: other numbers that one might compute are told from it
    values = rng(2).lognormal(0, 0.1, (50, 12, 3))
    found = bootstrapped_sds(values, 4000, rng())
    of_means = (
        values.mean(axis=2).mean(axis=1)
        * np.sqrt((values.var(axis=2) / 3 / values.mean(axis=2) ** 2).sum(axis=1))
        / 12
    )
    assert np.median(found / of_means) > 1.3
    assert np.median(found / bootstrapped_sds(values[:, :1], 4000, rng())) < 0.5


def test_rows_with_fewer_runs_keep_their_number():
    values = rng(4).lognormal(0, 0.1, (6, 3, 5))
    values[2:, 1, 3:] = np.nan
    found = bootstrapped_sds(values, 20_000, rng())
    for row, sd in zip(values, found, strict=True):
        assert sd == pytest.approx(exact_sd([v[~np.isnan(v)] for v in row]), rel=0.02)


def test_equal_runs_do_not_vary():
    values = np.tile(rng(5).lognormal(0, 0.3, (3, 4, 1)), (1, 1, 3))
    assert bootstrapped_sds(values, 100, rng()).tolist() == [0, 0, 0]


def suite(rows=60, seed=6):
    draw = rng(seed)
    clock = draw.integers(20, 40, rows)
    cells = clock[:, None, None] * np.exp(draw.normal(0, 0.01, (rows, 12, 3)))
    table = {"clock": clock.tolist()}
    return table | {
        name: cells[:, k, run].tolist()
        for k, names in enumerate(B.values())
        for run, name in enumerate(names)
    }


def test_performance_and_variation():
    table = suite()
    performance, variation = suite_responses(mixed_table(table), B, resamples=500, rng=rng())
    runs = np.array([[table[name] for name in names] for names in B.values()])
    assert performance.values == pytest.approx(np.exp(np.log(np.median(runs, axis=1)).mean(axis=0)))
    assert performance.noise == pytest.approx((np.exp(variation.values) * performance.values) ** 2)
    assert (performance.name, variation.name) == (
        "geometric mean of 12 benchmarks",
        "log(sd / mean) of 12 benchmarks",
    )
    assert variation.noise is None
    assert (performance.kind, variation.kind) == ("performance", "variation")


def test_rows_without_a_benchmark_and_with_single_runs():
    table = suite()
    for name in B["b3"]:
        table[name][0] = None  # no performance
    for name in B["b4"][1:]:
        table[name][1] = None  # a performance, no variation
    performance, variation = suite_responses(mixed_table(table), B, resamples=50, rng=rng())
    assert performance.left_out == 1
    assert variation.left_out == 2
    assert performance.rows.tolist() == list(range(1, 60))
    assert np.isnan(performance.noise).sum() == 1


def test_both_are_predicted():
    found = sources_of_table(
        suite(120) | {"other": [k % 7 for k in range(120)]},
        B,
        test_share=0.3,
        repeats=2,
        resamples=100,
        rng=rng(),
        seed=1,
    )
    performance, variation = found.systems
    assert found.correlation > 0.9
    assert found.ceiling > 0.99
    assert (performance.resamples, variation.resamples) == (100, 100)
    assert performance.influence[0].factor == "clock"
    assert abs(variation.random.correlation) < 0.5
    codes = [caution.code for caution in found.cautions]
    assert codes.count("ceiling-unknown") == 1
    json.dumps(found.to_dict(), allow_nan=False)


def test_one_run_each_has_a_performance_only():
    first = {name: names[:1] for name, names in B.items()}
    table = {
        name: cells for name, cells in suite(80).items() if name == "clock" or name.endswith(" 1")
    }
    found = sources_of_table(table, first, folds=2, repeats=2, rng=rng())
    assert [one.kind for one in found.systems] == ["performance"]
    assert "variation-not-predicted" in {caution.code for caution in found.cautions}


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ({}, "no benchmark is named"),
        ({"b0": []}, "the benchmark 'b0' has no columns"),
        ({"b0": ["b0 1"], "b1": ["b0 1"]}, "the column 'b0 1' is named twice"),
        ({"b0": ["b0 9"]}, "there is no column 'b0 9', named as a run of b0"),
    ],
)
def test_what_no_suite_is(response, said):
    with pytest.raises(UsageError, match=said):
        sources_of_table(suite(), response, rng=rng())
    with pytest.raises(UsageError, match="tell their variation"):
        sources_of_table(suite(), B, variation="clock", rng=rng())


def test_values_that_are_not_positive():
    table = suite()
    table["b2 2"][7] = 0.0
    with pytest.raises(
        AnalysisError, match="'b2 2' is 0: a geometric mean needs positive"
    ) as caught:
        sources_of_table(table, B, rng=rng())
    assert "row 8" in str(caught.value)


def test_columns_are_found_by_their_names():
    heads = [
        "gcc",
        "gcc 1",
        "gcc_2",
        "GCC.3",
        "gcc run 4",
        "gccrun5",
        "gcc-run-6",
        "gcc2 1",
        "gcc sd",
        "perl#1",
    ]
    found = runs_of_benchmarks(heads, ["gcc", "perl"])
    assert found == {"gcc": tuple(heads[:7]), "perl": ("perl#1",)}
    with pytest.raises(UsageError, match="no column holds runs of the benchmark 'mcf'") as caught:
        runs_of_benchmarks(heads, ["mcf"], "t.csv")
    assert "'mcf 1'" in str(caught.value)
    with pytest.raises(UsageError, match="'gcc' is named twice"):
        runs_of_benchmarks(heads, ["gcc", "gcc"])


# ---- flags


def flagged(cells, **more):
    table = mixed_table({"score": [1.0] * len(cells), "flags": cells} | more)
    return table, np.arange(len(cells))


def of_flags(cells, names):
    table, rows = flagged(cells)
    return flag_columns(table, names, rows)


def test_flags_are_booleans_of_the_rows():
    columns, cautions = of_flags(["-a -b", "-b", None, "-c  -a\t-b -a"], ["flags"])
    found = {column.name: column.values.tolist() for column in columns}
    nan = np.nan
    assert found == {
        "-a": pytest.approx([1, 0, nan, 1], nan_ok=True),
        "-c": pytest.approx([0, 0, nan, 1], nan_ok=True),
    }
    # -b stands in all rows that are known
    assert [caution.code for caution in cautions] == ["flags-left-out"]


def test_the_most_common_are_taken():
    cells = [" ".join(f"-f{k}" for k in range(150) if row % (k + 2) == 0) for row in range(400)]
    table, rows = flagged(cells)
    columns, cautions = flag_columns(table, ["flags"], rows)
    assert [column.name for column in columns] == [f"-f{k}" for k in range(100)]
    assert "of 150 flags 100 are covariates: the most common; 50 rarer ones" in str(cautions[0])


def test_two_columns_and_a_name_that_is_taken():
    table, rows = flagged(["-a", "-b", None], score2=[1, 2, 3], c=["-x -a", None, None])
    columns, _ = flag_columns(table, ["flags", "c"], rows)
    found = {column.name: column.values.tolist() for column in columns}
    assert list(found) == ["-a", "-x", "-b"]
    assert found["-a"][:2] == [1, 0]
    assert np.isnan(found["-a"][2])
    table, rows = flagged(["score a", "a"])
    assert [column.name for column in flag_columns(table, ["flags"], rows)[0]] == ["score (flags)"]


def test_flags_that_tell_nothing_are_refused():
    with pytest.raises(AnalysisError, match="all rows have the same flags in 'flags'"):
        of_flags(["-a", "-a", None], ["flags"])
    with pytest.raises(AnalysisError, match="'score' holds numbers, and no flags"):
        of_flags(["-a", "-b"], ["score"])
    with pytest.raises(UsageError, match="did you mean 'flags'"):
        of_flags(["-a", "-b"], ["flag"])


def test_a_planted_flag_predicts_and_a_column_as_a_whole_does_not():
    # the negative control: nearly every row has a text of its own, which no model learns from
    draw = rng(8)
    flags = [[f"-f{k}" for k in range(12) if draw.random() < 0.5] for _ in range(200)]
    score = [10.0 + 3 * ("-f4" in row) + draw.normal(0, 0.5) for row in flags]
    table = {"score": score, "flags": [" ".join(row) for row in flags], "x": draw.normal(size=200)}
    more = {"folds": 2, "repeats": 2, "ignore": []}
    split = sources_of_table(table, "score", flags=["flags"], rng=rng(), **more)
    whole = sources_of_table(table, "score", rng=rng(), **more)
    assert split.importance[0].factor == "-f4"
    assert split.systems[0].influence[0].factor == "-f4"
    assert split.correlation > 0.9
    assert abs(whole.correlation) < 0.4
    assert split.systems[0].covariates[0].name == "x"
    assert len(split.systems[0].covariates) == 13
