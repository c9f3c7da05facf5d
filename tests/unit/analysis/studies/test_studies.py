"""Monte Carlo studies: what is drawn, how it is tested, and what is told of it."""

from __future__ import annotations

import argparse
import io
import json
import math

import numpy as np
import pytest
from scipy import stats

from analysis import cli
from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError, UsageError
from analysis.stats.streams import stream
from analysis.studies.coverage import coverage_study
from analysis.studies.draws import drawn_pairs
from analysis.studies.error_rates import power_study, type1_study
from analysis.studies.pvalues import pvalue_of
from analysis.studies.result import monte_carlo_error


def population(n=6, values=200, sd=0.02, seed=1, better="lower", **ids):
    logs = np.random.default_rng(seed).normal(0, sd, (n, values))
    rows = {f"b{k}": np.exp(row) for k, row in enumerate(logs)}
    if "blocks" in ids:
        ids["blocks"] = {name: ids["blocks"] for name in rows}
    return PerformanceMatrix.from_samples("p", rows, better=better, **ids)


@pytest.fixture
def rng():
    return stream(3, "test")


# --- draws ------------------------------------------------------------------------------------


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_draws_come_from_the_population_and_shifts_make_the_candidate_better(better):
    source = population(better=better)
    factors = np.ones((3, 6))
    factors[:, 2] = 4.0
    for ours, theirs in drawn_pairs(source, 1, 5, 3, "run", factors=factors):
        assert ours.runs == theirs.runs == (5,) * 6
        for k, (row, of) in enumerate(zip(ours.samples, source.samples, strict=True)):
            scale = 1.0 if k != 2 else (0.25 if better == "lower" else 4.0)
            assert np.isin(row, of * scale).all()
        assert all(
            np.isin(r, of).all() for r, of in zip(theirs.samples, source.samples, strict=True)
        )


def test_a_benchmark_more_changes_no_other_draw():
    def first(n):
        pair = next(drawn_pairs(population(n), 1, 5, 2, "run", factors=1.0))
        return [row.tolist() for row in pair[0].samples[:3]]

    assert first(3) == first(6)


def test_blocks_are_drawn_whole():
    blocks = np.arange(200)
    source = population(blocks=blocks)
    ours, theirs = next(drawn_pairs(source, 1, 5, 2, "block", factors=1.0))
    for matrix in (ours, theirs):
        places = [
            [int(np.flatnonzero(of == value)[0]) for value in row]
            for row, of in zip(matrix.samples, source.samples, strict=True)
        ]
        assert all(row == places[0] for row in places)
    assert set(ours.blocks[0]) & set(theirs.blocks[0]) == set()


def test_blocks_that_cannot_be_drawn(rng):
    with pytest.raises(UsageError, match="no block ids"):
        type1_study(population(), draws="block", rng=rng)
    with pytest.raises(UsageError, match="more than one run"):
        type1_study(population(blocks=np.zeros(200, dtype=int)), draws="block", rng=rng)
    apart = PerformanceMatrix.from_samples(
        "p",
        {"a": [1.0, 2.0], "b": [1.0, 2.0]},
        better="lower",
        blocks={"a": [1, 2], "b": [2, 3]},
    )
    with pytest.raises(InsufficientDataError, match="fewer than two blocks"):
        type1_study(apart, draws="block", rng=rng)


# --- the tests --------------------------------------------------------------------------------


@pytest.mark.parametrize("alternative", ["two-sided", "candidate"])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_t_is_the_paired_t_test_on_log_ratios(alternative, better, rng):
    ours, theirs = next(drawn_pairs(population(better=better), 1, 5, 1, "run", factors=1.01))
    sign = 1 if better == "higher" else -1
    gains = [
        sign * (np.log(a).mean() - np.log(b).mean())
        for a, b in zip(ours.samples, theirs.samples, strict=True)
    ]
    side = "greater" if alternative == "candidate" else "two-sided"
    want = stats.ttest_1samp(gains, 0, alternative=side).pvalue
    assert pvalue_of((ours, theirs), "t", alternative, 9, rng) == pytest.approx(want)


def test_welch_on_one_benchmark_is_welchs_test(rng):
    ours, theirs = next(drawn_pairs(population(1), 1, 5, 1, "run", factors=1.01))
    logs = np.log(theirs.samples[0]), np.log(ours.samples[0])
    want = stats.ttest_ind(*logs, equal_var=False)
    assert pvalue_of((ours, theirs), "welch", "two-sided", 9, rng) == pytest.approx(want.pvalue)
    one = stats.ttest_ind(*logs, equal_var=False, alternative="greater").pvalue
    assert pvalue_of((ours, theirs), "welch", "candidate", 9, rng) == pytest.approx(one)


@pytest.mark.parametrize("test", ["t", "welch"])
def test_no_spread_at_all(test, rng):
    flat = PerformanceMatrix.from_samples("p", {"a": [1.0] * 3, "b": [1.0] * 3}, better="lower")
    fast = PerformanceMatrix.from_samples("q", {"a": [0.5] * 3, "b": [0.5] * 3}, better="lower")
    assert pvalue_of((flat, flat), test, "two-sided", 9, rng) == 1.0
    assert pvalue_of((fast, flat), test, "two-sided", 9, rng) == 0.0
    assert pvalue_of((fast, flat), test, "candidate", 9, rng) == 0.0
    assert pvalue_of((flat, fast), test, "candidate", 9, rng) == 1.0


# --- power and type-I error -------------------------------------------------------------------


def test_power_rises_with_the_shifted_benchmarks_and_is_no_more_than_alpha_without(rng):
    found = power_study(
        population(), shift=1.05, shifted=(0, 2, 6), simulations=60, resamples=199, rng=rng
    )
    for test in ("hpt", "t", "welch", "randomization"):
        rates = [found.rate(test, shifted=k) for k in (0, 2, 6)]
        assert rates[0] <= 0.05 + 4 * monte_carlo_error(3, 60)
        assert rates[0] < rates[2]
        assert rates[2] > 0.9
    # two of six: the tests on all runs see it, the one over benchmarks takes it for scatter
    assert found.rate("welch", shifted=2) > found.rate("t", shifted=2) + 0.3


def test_the_shift_counts_in_either_direction_and_the_alternative_in_one(rng):
    options = {"shift": 1 / 1.1, "shifted": (6,), "tests": ("welch",), "simulations": 20}
    assert power_study(population(), rng=rng, **options).rate("welch", shifted=6) == 1.0
    one = power_study(population(), rng=rng, alternative="candidate", **options)
    assert one.rate("welch", shifted=6) == 0.0


def test_type1_study_has_a_line_for_each_number_of_runs(rng):
    found = type1_study(population(), runs=(3, 5), tests=("welch",), simulations=100, rng=rng)
    assert [(cell.runs, cell.shifted) for cell in found.cells] == [(3, 0), (5, 0)]
    assert found.rate("welch", runs=3) < 0.15
    assert "both sides are the same" in str(found)


def test_hpt_that_cannot_reject_is_told(rng):
    found = type1_study(population(5), runs=(5,), tests=("hpt",), simulations=2, rng=rng)
    assert any("HPT cannot reject at 0.05 with 5 benchmarks" in text for text in found.cautions)
    one = type1_study(
        population(5), runs=(5,), tests=("hpt",), simulations=2, alternative="candidate", rng=rng
    )
    assert not any("cannot reject" in text for text in one.cautions)


def test_cautions(rng):
    small = population(values=10)
    found = type1_study(small, runs=(2,), tests=("t",), simulations=2, rng=rng)
    text = " ".join(map(str, found.cautions))
    assert "only 10 values" in text
    assert "drawn on their own" in text
    assert "drift and differences between sessions" in text


def test_seeds_repeat_and_progress_is_told():
    seen = []
    options = {"shifted": (1,), "tests": ("t", "randomization"), "simulations": 5, "resamples": 99}
    first = power_study(
        population(), rng=stream(1, "a"), progress=lambda d, t: seen.append((d, t)), **options
    )
    assert first.to_dict() == power_study(population(), rng=stream(1, "a"), **options).to_dict()
    assert seen == [(k, 5) for k in range(1, 6)]


def test_a_study_is_json_and_fits_the_screen(rng):
    found = power_study(population(), shifted=(0, 6), simulations=5, resamples=99, rng=rng, seed=3)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["cells"][0].keys() == {
        *("test", "shifted", "runs", "rejected", "simulations", "rate", "error"),
    }
    assert (data["seed"], data["kind"]) == (3, "power")
    assert all(len(line) <= 96 for line in str(found).splitlines())


def test_monte_carlo_errors():
    assert monte_carlo_error(50, 100) == pytest.approx(0.05, rel=0.02)
    assert 0 < monte_carlo_error(0, 100) < 0.011


@pytest.mark.parametrize(
    "wrong",
    [
        {"shifted": (7,)},
        {"shifted": ()},
        {"shifted": (-1,)},
        {"shift": 0.0},
        {"shift": math.nan},
        {"runs": 1},
        {"tests": ("wilcoxon",)},
        {"tests": ()},
        {"alternative": "less"},
        {"alpha": 0.0},
        {"alpha": 0.7},
        {"draws": "session"},
        {"simulations": 0},
    ],
)
def test_wrong_arguments(rng, wrong):
    with pytest.raises(UsageError):
        power_study(population(), rng=rng, **wrong)


# --- coverage ---------------------------------------------------------------------------------


def test_coverage_of_few_runs(rng):
    found = coverage_study(population(), runs=(3,), simulations=60, resamples=199, rng=rng)
    cells = {cell.interval: cell for cell in found.cells}
    assert list(cells) == ["percentile", "corrected", "bca", "studentized", "t"]
    assert cells["t"].rate > cells["percentile"].rate
    assert cells["t"].width > cells["corrected"].width > cells["percentile"].width
    for cell in cells.values():
        assert cell.held + cell.below + cell.above == 60
    assert "hold the true 2" in " ".join(str(found).split())


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_the_ratio_is_a_speedup(rng, better):
    found = coverage_study(
        population(better=better), runs=(10,), intervals=("t",), ratio=3.0, simulations=30, rng=rng
    )
    assert found.cells[0].rate > 0.8


def test_other_means_have_no_t_interval(rng):
    found = coverage_study(
        population(), runs=(5,), mean="arithmetic", simulations=5, resamples=99, rng=rng
    )
    assert "t" not in {cell.interval for cell in found.cells}
    with pytest.raises(UsageError, match="no interval is named"):
        coverage_study(population(), mean="harmonic", intervals=("t",), rng=rng)


def test_intervals_that_do_not_exist_are_counted(rng):
    flat = PerformanceMatrix.from_samples("p", {"a": [1.0] * 9, "b": [2.0] * 9}, better="lower")
    found = coverage_study(flat, runs=(3,), simulations=4, resamples=99, rng=rng)
    json.dumps(found.to_dict(), allow_nan=False)
    cells = {cell.interval: cell for cell in found.cells}
    assert (cells["t"].rate, cells["percentile"].rate) == (1.0, 1.0)
    for cell in cells.values():
        assert cell.held + cell.below + cell.above + cell.refused == 4
    assert str(found)


# --- the command ------------------------------------------------------------------------------


def execute(*words):
    parser = argparse.ArgumentParser(prog="fairtrial")
    cli.register(parser.add_subparsers())
    args = parser.parse_args(words)
    out = io.StringIO()
    return args.run(args, out, io.StringIO()), out.getvalue()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.csv"
    rows = population(values=40).samples
    path.write_text(
        "".join(f"b{k}," + ",".join(map(repr, r.tolist())) + "\n" for k, r in enumerate(rows))
    )
    return str(path)


def test_the_command(file):
    words = ("--better", "lower", "--simulations", "4", "--resamples", "99")
    code, text = execute("study", "power", file, *words, "--shift", "5", "--shifted", "0,6")
    assert code == 0
    assert "power to tell 1.05x on some of 6 benchmarks, 5 runs each" in text
    data = json.loads(execute("study", "type1", file, *words, "--runs", "3,4", "--json")[1])
    assert [cell["runs"] for cell in data["cells"]] == [3] * 4 + [4] * 4
    data = json.loads(execute("study", "coverage", file, *words, "--runs", "3", "--json")[1])
    assert data["confidence"] == 0.95
    assert len(data["cells"]) == 5


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("type1", "--shift", "1"), "--shift is for 'study power'"),
        (
            ("coverage", "--alternative", "candidate"),
            "--alternative is for 'study power and type1'",
        ),
        (("power", "--mean", "harmonic"), "--mean is for 'study coverage'"),
        (("power", "--runs", "3,5"), "one number of runs"),
        (("power", "--simulations", "0"), "simulations must be 1 or more"),
    ],
)
def test_what_the_command_refuses(file, words, what):
    with pytest.raises(UsageError, match=what):
        execute("study", words[0], file, "--better", "lower", *words[1:])
