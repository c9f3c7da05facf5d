"""What is counted over a bisection's trials. Authority: scipy's Fisher test, and programs that are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import fisher_exact

from analysis.record.bisections import bisection_of_trial, is_bisection
from harness.bisect.bisecting import at_least, fails_more, same_programs
from harness.bisect.built import Built, NotBuilt


@pytest.mark.parametrize(
    ("failed", "runs", "others_failed", "others"),
    [(3, 8, 0, 40), (1, 8, 0, 16), (0, 8, 2, 16), (8, 8, 16, 16), (5, 20, 4, 60)],
)
def test_the_p_is_that_of_fishers_test(failed, runs, others_failed, others):
    table = [[failed, runs - failed], [others_failed, others - others_failed]]
    p = fisher_exact(table, alternative="greater").pvalue
    assert at_least(failed, runs, others_failed, others) == pytest.approx(p, rel=1e-9)


def test_a_place_that_fails_more_often_than_the_ends_is_named_and_no_other():
    counts = {0: (1, 60), 40: (0, 60), 7: (4, 8), 9: (1, 20), 11: (0, 8)}
    assert fails_more(counts, 40) == (7,)
    assert fails_more({0: (10, 20), 40: (10, 20), 7: (4, 8)}, 40) == ()  # the control
    assert fails_more({}, 40) == ()


def test_programs_are_the_same_only_where_nothing_unknown_lies_between():
    def built(identity):
        return Built(
            commit=None, tree=Path("t"), programs={}, identity=identity, seconds=0.0
        )  # of the commit nothing is asked

    broken = NotBuilt(commit=None, why="make failed", log=Path("log"))
    found = {1: built("a"), 2: built("a"), 3: broken, 4: built("a"), 6: built("a"), 7: built("b")}
    assert same_programs(found, ()) == (2, 4)
    assert same_programs(found, (4,)) == (2,)


def test_a_trial_knows_the_bisection_that_it_belongs_to(tmp_path):
    folder = tmp_path / "runs" / "bisect-app"
    (folder / "search" / "0007-abc").mkdir(parents=True)
    (folder / "bisect.json").write_text("{}")
    assert is_bisection(folder)
    assert bisection_of_trial(folder / "step0") == folder
    assert bisection_of_trial(folder / "search" / "0007-abc") == folder
    assert bisection_of_trial(tmp_path / "runs" / "other") is None
