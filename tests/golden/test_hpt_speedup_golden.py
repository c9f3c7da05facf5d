"""The r-Speedup against the paper, the slides' two suites, and an independent scipy program.

The paper's 1.76 is met as "the speedup under test 1.76 has confidence 0.95"; as the result of the
search it needs half-integers read upwards, which then misses the printed 0.64 (docs/methods/hpt.md).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.speedup import hpt_speedup

HERE = Path(__file__).parent


def expected(folder: str) -> dict:
    return json.loads((HERE / folder / "expected.json").read_text())


def test_splash_2(splash: tuple) -> None:
    golden = expected("hpt_splash2")
    result = hpt_speedup(*splash)
    law = golden["computed_scipy"]["by_convention"]["ranksum=table;signedrank=table"]
    assert result.value == pytest.approx(law["sup_speedup_0_95"], abs=1e-9)
    # R_Y is 25 at 1.76 and 25.5 up to and at 1.7776: half-integers are read downwards.
    assert result.attained_confidence == 0.9547119140625
    assert result.printed == "1.777"
    published = golden["published"]
    assert round(result.curve.confidence(1.76), 2) == published["confidence_at_1_76"]
    assert round(result.curve.confidence(2.14), 2) == published["confidence_at_gm_speedup"]
    assert not result.below_one


def test_splash_2_given_the_ties(splash: tuple) -> None:
    golden = expected("hpt_splash2")["computed_scipy"]["by_convention"]
    other = golden["ranksum=conditional;signedrank=conditional"]
    result = hpt_speedup(*splash, ties="exact")
    assert result.value == pytest.approx(other["sup_speedup_0_95"], abs=1e-9)
    assert result.curve.confidence(1.76) == pytest.approx(other["confidence_1_76"], abs=1e-13)
    assert result.curve.confidence(2.14) == pytest.approx(other["confidence_2_14"], abs=1e-13)


def test_every_step_of_splash_2(splash: tuple) -> None:
    steps = expected("hpt_splash2")["computed_scipy"]["step_function_of_gamma"]
    assert len(steps) > 40
    curve = hpt_speedup(*splash).curve
    for step in steps:  # printed with 6 decimals
        gamma = step["gamma"]
        if step["where"] == "just above":
            assert curve.confidence(gamma + 2e-6) == pytest.approx(step["confidence"], abs=1e-13)
        else:
            exact = [g for g in curve.speedups.tolist() if abs(g - gamma) < 1e-6] or [gamma]
            reached = {round(hpt(*splash, speedup=g).confidence, 12) for g in exact}
            assert round(step["confidence"], 12) in reached, step


def test_specint_pair(specint: tuple) -> None:
    golden = expected("hpt_slides_specint")
    result = hpt_speedup(*specint)
    supremum = golden["computed_scipy"]["r_speedup_sup"]["exact table"]
    assert result.value == pytest.approx(supremum, rel=1e-12)
    assert result.attained_confidence == golden["computed_scipy"]["confidence_2_239"]
    assert float(result.printed or "nan") == golden["published"]["r_speedup_0_95"]


def test_29_benchmarks(cpu2006: tuple) -> None:
    golden = expected("hpt_slides_cpu2006")
    result = hpt_speedup(*cpu2006)
    law = golden["computed_scipy"]["by_convention"]["normal with continuity correction 0.5"]
    assert result.value == pytest.approx(law["r_speedup_sup"], rel=1e-12)
    assert float(result.printed or "nan") == golden["published"]["r_speedup"]
    at = {g: hpt(*cpu2006, speedup=g) for g in (1.0, 2.7, 2.819, 2.82)}
    assert at[1.0].confidence == pytest.approx(law["confidence_no_speedup"], abs=1e-12)
    assert at[2.7].confidence == pytest.approx(law["confidence_2_700"], abs=1e-12)
    assert round(at[2.7].confidence, 3) == golden["published"]["confidence_at_2_700"]
    assert at[2.819].confidence == pytest.approx(law["confidence_2_819"], abs=1e-12)
    assert at[2.82].confidence == pytest.approx(law["confidence_2_820"], abs=1e-12)
    sums = golden["computed_scipy"]
    assert at[2.7].rank_sum_candidate == sums["R_A_2_700"]
    assert at[2.819].rank_sum_baseline == sums["R_B_2_819"]
    assert at[2.82].rank_sum_baseline == sums["R_B_2_820"]
