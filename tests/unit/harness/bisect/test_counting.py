"""What is counted over a bisection's trials. Authority: Fisher's test, and programs that are known."""

from __future__ import annotations

from pathlib import Path

from analysis.history.bisection_filling import fails_more
from analysis.record.commits import bisection_of_trial, is_bisection
from harness.bisect.bisecting import same_programs
from harness.bisect.workshop import Built, NotBuilt


def test_a_place_that_fails_more_often_than_the_ends_is_named_and_no_other():
    counts = {0: (1, 60), 40: (0, 60), 7: (4, 8), 9: (1, 20), 11: (0, 8)}
    assert fails_more(counts, 40) == (7,)
    # the controls: as often, and more seldom
    assert fails_more({0: (10, 20), 40: (10, 20), 7: (4, 8)}, 40) == ()
    assert fails_more({0: (20, 20), 40: (20, 20), 7: (1, 8)}, 40) == ()
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
