"""HPT against the paper's Table 1, the slides' two rank tables, and R's distribution functions.

The inputs beside this file are the numbers as printed in T. Chen et al., HPCA 2012 (paper and
slides), with values computed in R and by an independent scipy program.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from analysis.methods.hpt.compare import hpt, signed_rank_stage
from analysis.stats.ranks import (
    rank_sum_normal,
    rank_sum_table,
    rank_sum_tied,
    signed_rank_normal,
    signed_rank_table,
)

HERE = Path(__file__).parent


def expected(folder: str) -> dict:
    return json.loads((HERE / folder / "expected.json").read_text())


def test_table_1_cell_by_cell(splash: tuple) -> None:
    with (HERE / "hpt_splash2" / "published_table.csv").open() as file:
        printed = list(csv.DictReader(file))
    computed = expected("hpt_splash2")["computed_scipy"]["per_benchmark"]
    names = {"X": "candidate", "Y": "baseline", "Tie": "tie"}
    rows = hpt(*splash, speedup=1.76).benchmarks
    for row, cell, ours in zip(rows, printed, computed, strict=True):
        assert row.name == cell["benchmark"] == ours["benchmark"]
        assert row.median_candidate == pytest.approx(float(cell["median_x"]), abs=1e-12)
        assert row.median_baseline == pytest.approx(float(cell["median_y"]), abs=1e-12)
        assert row.winner == names[cell["winner"]]
        assert row.difference == pytest.approx(float(cell["diff"]), abs=1e-12)
        assert row.rank == float(cell["rank"])
        assert row.rank_sum_candidate == ours["ranksum_x"]
        assert row.rank_sum_baseline == ours["ranksum_y"]
        assert row.pvalue_candidate == pytest.approx(ours["p_x_greater"], rel=1e-12)
        assert row.pvalue_baseline == pytest.approx(ours["p_y_greater"], rel=1e-12)


def test_table_1_as_a_whole(splash: tuple) -> None:
    result = hpt(*splash, speedup=1.76)
    assert (result.rank_sum_candidate, result.rank_sum_baseline) == (80, 25)
    assert result.pvalue == 0.0452880859375
    assert result.confidence == 0.9547119140625
    assert result.outcome == "candidate"
    assert result.stage_two == "table"
    winners = [row.winner for row in result.benchmarks]
    assert [winners.count(w) for w in ("candidate", "tie", "baseline")] == [8, 2, 4]


def test_geometric_mean_speedup_has_confidence_0_64(splash: tuple) -> None:
    result = hpt(*splash, speedup=2.14)
    assert result.rank_sum_baseline == 46.5
    assert result.confidence == 0.642578125
    assert result.outcome == "undecided"


def test_step_function_of_the_speedup(splash: tuple) -> None:
    steps = expected("hpt_splash2")["computed_scipy"]["step_function_of_gamma"]
    for step in steps:
        if step["where"] == "just above":  # break points are printed with 6 decimals
            result = hpt(*splash, speedup=step["gamma"] + 2e-6)
            assert result.rank_sum_baseline == step["RB"], step
            assert result.confidence == pytest.approx(step["confidence"], abs=1e-13), step


def test_convention_of_ties_changes_radiosity_and_says_so(splash: tuple) -> None:
    golden = expected("hpt_splash2")["computed_scipy"]
    exact = hpt(*splash, speedup=1.76, ties="exact")
    other = golden["by_convention"]["ranksum=conditional;signedrank=conditional"]
    assert exact.rank_sum_baseline == other["RB_1_76"]
    assert exact.confidence == pytest.approx(other["confidence_1_76"], abs=1e-13)
    assert hpt(*splash, speedup=2.14, ties="exact").confidence == pytest.approx(
        other["confidence_2_14"], abs=1e-13
    )
    table = hpt(*splash, speedup=1.76)
    assert any("'radiosity' is a tie" in text for text in table.cautions)
    assert any("'radiosity' is a win for X" in text for text in exact.cautions)
    row = next(row for row in exact.benchmarks if row.name == "radiosity")
    assert row.pvalue_candidate == pytest.approx(
        golden["radiosity_p_conditional_with_ties"], rel=1e-12
    )


def test_radiosity_by_every_law() -> None:
    golden = expected("hpt_splash2")["computed_scipy"]
    ranks = np.array([8.5, 8.5, 8.5, 1, 8.5, 4, 4, 4, 4, 4])  # X's five runs first: 35
    assert rank_sum_table(35, 5, 5) == pytest.approx(0.07539682539682539, rel=1e-14)
    assert rank_sum_tied(35, ranks, 5) == pytest.approx(
        golden["radiosity_p_conditional_with_ties"], rel=1e-13
    )
    assert rank_sum_normal(35, 5, 5) == pytest.approx(golden["radiosity_p_normal_no_cc"], rel=1e-12)
    assert rank_sum_normal(35, 5, 5, tied_ranks=ranks, continuity=0.5) == pytest.approx(
        golden["radiosity_p_normal_tie_corrected_cc"], rel=1e-12
    )


def test_tables_against_r() -> None:
    golden = expected("hpt_splash2")["computed_R"]
    for r in (25, 26, 46, 47):
        assert signed_rank_table(r, 14) == golden[f"psignrank_{r}_14"]
    for w, p in golden["ranksum_upper_tail_5_5"].items():
        assert rank_sum_table(float(w), 5, 5) == pytest.approx(p, rel=1e-13)


def test_specint_pair_without_speedup(specint: tuple) -> None:
    golden = expected("hpt_slides_specint")["computed_scipy"]
    result = hpt(*specint)
    assert (result.rank_sum_candidate, result.rank_sum_baseline) == (78, 0)
    assert result.confidence == golden["confidence_exact"]
    assert [row.rank for row in result.benchmarks] == [
        r["rank"] for r in golden["table_no_speedup"]
    ]
    assert all(row.pvalue_candidate is None for row in result.benchmarks)
    assert any("stage one was skipped" in text for text in result.cautions)


def test_specint_pair_at_2_239(specint: tuple) -> None:
    golden = expected("hpt_slides_specint")["computed_scipy"]
    result = hpt(*specint, speedup=2.239)
    for row, cell in zip(result.benchmarks, golden["table_at_2_239"], strict=True):
        assert row.rank == cell["rank"]
        assert row.median_candidate == pytest.approx(cell["A"], abs=6e-4)
        assert row.difference == pytest.approx(cell["diff"], abs=6e-4)
    assert (result.rank_sum_candidate, result.rank_sum_baseline) == (61, 17)
    assert result.confidence == golden["confidence_2_239"]
    # The supremum of the speedups with confidence 0.95 lies between these two.
    supremum = golden["r_speedup_sup"]["exact table"]
    assert hpt(*specint, speedup=supremum - 1e-6).outcome == "candidate"
    assert hpt(*specint, speedup=supremum + 1e-6).outcome == "undecided"


def test_29_benchmarks_of_the_program_window() -> None:
    # Only medians are known: every difference counts, as the printed ranks show.
    golden = expected("hpt_slides_cpu2006")
    with (HERE / "hpt_slides_cpu2006" / "rank_table_repaired.csv").open() as file:
        rows = list(csv.DictReader(file))
    a = np.array([float(row["A"]) for row in rows])
    b = np.array([float(row["B"]) for row in rows])
    plain = signed_rank_stage(a - b)
    assert plain.ranks.tolist() == [float(row["rank_printed"]) for row in rows]
    stage = signed_rank_stage(a / 2.7 - b)
    assert (stage.rank_sum_candidate, stage.rank_sum_baseline) == (314, 121)
    assert stage.law == "normal"
    assert round(1 - stage.pvalue_candidate, 3) == golden["published"]["confidence_at_2_700"]
    assert stage.pvalue_candidate == pytest.approx(golden["computed_R"]["p_cc"], rel=1e-12)
    assert signed_rank_table(121, 29) == pytest.approx(golden["computed_R"]["p_exact"], rel=1e-12)
    assert signed_rank_normal(121, 29, continuity=0) == pytest.approx(
        golden["computed_R"]["p_nocc"], rel=1e-12
    )
    at = {g: signed_rank_stage(a / g - b) for g in (2.819, 2.820)}
    assert [s.rank_sum_baseline for s in at.values()] == [140, 141]
    assert at[2.819].pvalue_candidate <= 0.05 < at[2.820].pvalue_candidate
