"""Runs of 0, as the kernel's account of short runs has them: arithmetic means of sessions."""

import math
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.errors import AnalysisError
from analysis.methods.hpt.compare import hpt
from analysis.methods.multilevel.compare import multilevel


def zeroed(name, rows, sessions, trial="/t", better="lower"):
    """Give a matrix whose only benchmarks have runs of 0."""
    whole = PerformanceMatrix.from_samples(
        name,
        {bench: np.add(values, 1.0) for bench, values in rows.items()},
        better=better,
        sessions=dict.fromkeys(rows, sessions),
        trial=trial,
    )
    zeros = replace(whole, samples=tuple(np.array(v, dtype=float) for v in rows.values()))
    return replace(whole.select([]), with_zeros=zeros)


def test_sessions_are_compared_by_arithmetic_means():
    sessions = [1, 1, 2, 2, 3, 3]
    a = zeroed("new", {"x": [0.0, 0.02, 0.01, 0.01, 0.01, 0.0]}, sessions)
    b = zeroed("old", {"x": [0.02, 0.02, 0.01, 0.02, 0.0, 0.02]}, sessions)
    result = multilevel(a, b)
    (line,) = result.benchmarks
    expected = [math.log(0.02 / 0.01), math.log(0.015 / 0.01), math.log(0.01 / 0.005)]
    assert line.differences == pytest.approx(expected)
    assert line.runs_candidate == 6
    assert line.spread_candidate is None
    assert "means-of-zeros" in {caution.code for caution in result.cautions}


def test_a_mean_of_0_is_below_the_clocks_resolution():
    sessions = [1, 1, 2, 2]
    a = zeroed("new", {"x": [0.0, 0.0, 0.01, 0.01], "y": [0.0, 0.01, 0.01, 0.01]}, sessions)
    b = zeroed("old", {"x": [0.02, 0.02, 0.01, 0.02], "y": [0.02, 0.01, 0.0, 0.02]}, sessions)
    result = multilevel(a, b)
    line = result.benchmarks[0]
    assert (line.speedup, line.outcome, line.reason) == (None, "undecided", "below-resolution")
    assert "all runs of a session are 0" in str(result)
    (told,) = (one.text for one in result.cautions if one.code == "below-resolution")
    assert "clock" not in told  # of a share of 0 % no clock is to blame
    assert result.benchmarks[1].speedup is not None
    assert result.these is None


def test_zeros_beside_others_and_on_one_side_only(matrix_of):
    runs = [("p", s, f"{s}.{k}", 1.0 + k / 9) for s in (1, 2, 3) for k in range(2)]
    plain = matrix_of("old", [*runs, *[("x", s, b, 0.01 + v / 100) for _, s, b, v in runs]])
    p = matrix_of("new", runs)
    carried = replace(p, benchmarks=("x",), samples=(np.array([0.0, 0.01] * 3),))
    result = multilevel(replace(p, with_zeros=carried), plain)
    assert [line.name for line in result.benchmarks] == ["p", "x"]
    assert all(line.low is not None for line in result.benchmarks)


@pytest.mark.parametrize("sessions", [[1, 1, 1, 1], [1, 1, 2, 2]])
def test_zeros_in_other_designs(sessions):
    a = zeroed("new", {"x": [0.0, 0.01, 0.0, 0.01]}, sessions, trial="/a")
    for trial in ("/a", "/b"):
        b = zeroed("old", {"x": [0.01, 0.01, 0.0, 0.02]}, sessions, trial=trial)
        assert multilevel(a, b).benchmarks[0].speedup == pytest.approx(2.0)


def test_the_sentence_about_two_occasions_leaves_zeros_out():
    values = [1.0, 1.1, 1.2, 1.05]

    def side(name, trial, factor):
        matrix = PerformanceMatrix.from_samples(
            name, {"p": np.multiply(values, factor)}, better="lower", trial=trial
        )
        zeros = zeroed(name, {"x": [0.0, 0.01, 0.0, 0.01]}, [1, 1, 1, 1]).with_zeros
        return replace(matrix, with_zeros=replace(zeros, trial=trial, sessions=None))

    a, b = side("new", "/a", 0.5), side("old", "/b", 1.0)
    result = multilevel(a, b)
    assert result.design == "confounded"
    plain = multilevel(replace(a, with_zeros=None), replace(b, with_zeros=None))
    assert result.occasions == plain.occasions is not None


def test_a_trial_carries_zeros_only_when_asked(synthetic, tmp_path):
    made = synthetic({"a": {"x": [1.0, 2.0, 3.0]}, "b": {"x": [1.0, 2.0, 3.0]}})
    made.rows[:2] = [replace(row, system_s=0.0) for row in made.rows[:2]]
    trial = read_trial(made.write(tmp_path))
    with pytest.raises(AnalysisError):
        trial.matrix("a", "system")
    carried = trial.matrix("a", "system", carry_zeros=True)
    assert carried.benchmarks == ()
    assert carried.with_zeros.benchmarks == ("x",)
    assert "not-positive" not in {caution.code for caution in carried.cautions}
    other = trial.matrix("b", "system", carry_zeros=True)
    assert multilevel(carried, other).benchmarks[0].name == "x"
    with pytest.raises(AnalysisError, match="there is no benchmark"):
        hpt(carried, other)
    wall = trial.matrix("a", carry_zeros=True)
    assert wall.with_zeros is None
    assert wall.benchmarks == ("x",)
