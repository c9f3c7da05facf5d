"""Lilliefors and Shapiro against R (nortest, base stats); nightly/test_against_r.py asks R itself."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from analysis.diagnose.normality import lilliefors, shapiro

HERE = Path(__file__).parent

# nortest::lillie.test and shapiro.test in R 4.2.2 on columns of the inputs beside this file
R = {
    "specint_A": (0.492993024367728, 4.52680544149322e-09, 0.36818365946764, 2.19544380989863e-06),
    "specint_B": (0.247616608343431, 0.040606282328426, 0.852012678074071, 0.0388783171971679),
    "spec29_A": (0.341857771263365, 1.76592897624844e-09, 0.418567864833647, 1.21404027653372e-09),
    "spec29_B": (0.221716681265757, 0.000829986593055214, 0.882101058887077, 0.00374999501845605),
}


def column(sample: str) -> list[float]:
    suite, side = sample.split("_")
    path = {"specint": "hpt_slides_specint/scores.csv", "spec29": "hpt_slides_cpu2006/"}[suite]
    path += "rank_table_repaired.csv" if suite == "spec29" else ""
    with (HERE / path).open() as file:
        return [float(row[side]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("sample", R)
def test_suites_of_the_slides(sample: str) -> None:
    distance, p, w, p_w = R[sample]
    ours = lilliefors(column(sample))
    assert ours.statistic == pytest.approx(distance, rel=1e-12)
    assert ours.pvalue == pytest.approx(p, rel=1e-11)
    theirs = shapiro(column(sample))
    assert theirs.statistic == pytest.approx(w, rel=1e-7)
    assert theirs.pvalue == pytest.approx(p_w, rel=1e-5)


def test_every_sample_of_the_reference() -> None:
    folder = HERE / "speedup_test"
    golden = json.loads((folder / "expected.json").read_text())["computed_R"]
    seen = 0
    for name, want in golden["normality_all_samples"].items():
        if not name.startswith("b"):
            continue
        path = folder / f"bench{name[1]}.data.{'xy'.index(name[2]) + 1}"
        values = np.loadtxt(path, ndmin=1)
        assert values.size == want["n"]
        assert shapiro(values).pvalue == pytest.approx(want["shapiro_p"], rel=1e-6)
        if "lillie_p" in want:
            ours = lilliefors(values)
            assert ours.statistic == pytest.approx(want["lillie_D"], rel=1e-11)
            assert ours.pvalue == pytest.approx(want["lillie_p"], rel=1e-9)
            seen += 1
    assert seen == 7
