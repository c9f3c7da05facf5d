"""Processes and their iterations: a run is a process's mean, and pooling is asked for and told."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.data.columns import MetricColumn
from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, UsageError
from analysis.methods.multilevel.compare import multilevel

VALUES = st.lists(st.tuples(st.floats(0.5, 2.0), st.integers(0, 4)), min_size=1, max_size=30)


def of(values: list[float], ids: list, **more: object) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples(
        "v", {"b": values}, better="lower", processes={"b": ids}, **more
    )


def test_a_run_is_the_arithmetic_mean_of_its_process() -> None:
    m = of([1, 2, 3, 4, 5, 9], ["y", "y", "x", "x", "x", "z"], sessions={"b": [1, 1, 2, 2, 2, 3]})
    assert m.values("b").tolist() == [1.5, 4.0, 9.0]  # in the order of appearance
    assert m.sessions is not None
    assert m.sessions[0].tolist() == [1, 2, 3]
    assert [one.code for one in m.cautions] == ["process-means"]
    assert "1 to" not in m.cautions[0].text


@given(VALUES)
def test_means_agree_with_a_plain_loop_and_pooling_gives_all_back(
    pairs: list[tuple[float, int]],
) -> None:
    values, ids = [v for v, _ in pairs], [k for _, k in pairs]
    m = of(values, ids)
    means = [np.mean([v for v, k in pairs if k == one]) for one in dict.fromkeys(ids)]
    np.testing.assert_allclose(m.values("b"), means, rtol=1e-12)
    pooled = m.at_level("iteration")
    assert pooled.values("b").tolist() == values
    assert [one.code for one in pooled.cautions] == ["iterations-pooled"]
    assert m.at_level("process") is m


def test_equal_iterations_have_exactly_their_value() -> None:
    assert of([0.1] * 7, [1] * 7).values("b").tolist() == [0.1]


def test_selecting_benchmarks_keeps_their_iterations() -> None:
    m = PerformanceMatrix.from_samples(
        "v",
        {"a": [1.0, 3.0], "b": [2.0, 6.0]},
        better="lower",
        processes={"a": [1, 1], "b": [1, 2]},
    ).select(["b"])
    assert m.at_level("iteration").values("b").tolist() == [2.0, 6.0]


def test_a_process_in_two_sessions_is_refused() -> None:
    with pytest.raises(UsageError, match="two sessions"):
        of([1.0, 2.0], [1, 1], sessions={"b": [1, 2]})


def test_what_knows_no_iterations_cannot_be_pooled() -> None:
    plain = PerformanceMatrix.from_samples("v", {"b": [1.0, 2.0]}, better="lower")
    with pytest.raises(UsageError, match="nothing is known of iterations"):
        plain.at_level("iteration")
    with pytest.raises(UsageError, match="no level 'run'"):
        plain.at_level("run")


def test_pooled_iterations_find_what_is_not_there() -> None:
    """Processes differ by 1 %, iterations by 0.05 %: only process means are level."""
    wrong = {"process": 0, "iteration": 0}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sides = []
        for name in ("new", "old"):
            levels = np.repeat(rng.normal(0, 0.01, 6), 20)
            values = np.exp(levels + rng.normal(0, 0.0005, 120))
            ids = np.repeat(np.arange(6), 20)
            sides.append(
                PerformanceMatrix.from_samples(
                    name, {"b": values}, better="lower", processes={"b": ids}
                )
            )
        for level in wrong:
            found = multilevel(*(side.at_level(level) for side in sides), margin=0.0001)
            wrong[level] += found.benchmarks[0].outcome in ("faster", "slower")
    assert wrong["process"] <= 8  # binomial(60, .05): more than 8 in 0.4 %
    assert wrong["iteration"] >= 30  # the control: most comparisons are wrong


def test_a_column_gives_means_and_the_iterations_of_chosen_runs() -> None:
    column = MetricColumn(
        values=np.array([5.0, 1.0, 2.0, 7.0, 9.0]), offsets=np.array([0, 3, 5, 5])
    )
    means = column.per_run()
    assert means[:2].tolist() == [8 / 3, 8.0]
    assert np.isnan(means[2])
    values, place = column.of_runs(np.array([1, 0]))
    assert values.tolist() == [7.0, 9.0, 5.0, 1.0, 2.0]
    assert place.tolist() == [0, 0, 1, 1, 1]


def test_iterations_come_back_from_json(tmp_path: Path) -> None:
    """Authority: what was written. Processes are interleaved, and one has one iteration."""
    made = PerformanceMatrix.from_samples(
        "v",
        {"a": [1.0, 5.0, 2.0, 6.0, 9.0], "b": [1.5]},
        better="lower",
        sessions={"a": [1, 2, 1, 2, 2], "b": [1]},
        blocks={"a": ["x", "y", "x", "y", "z"], "b": ["x"]},
        processes={"a": [1, 2, 1, 2, 3], "b": [1]},
        metric="time",
        origin="f.json",
    )
    told = made.to_dict()
    assert told["iterations"] == {"a": [[1.0, 2.0], [5.0, 6.0], [9.0]], "b": [[1.5]]}
    path = tmp_path / "m.json"
    path.write_text(json.dumps(told))
    again = PerformanceMatrix.read(path, better="lower")
    assert again.to_dict() == told
    assert again.values("a").tolist() == [1.5, 5.5, 9.0]
    pooled = again.at_level("iteration")
    assert sorted(pooled.values("a").tolist()) == [1.0, 2.0, 5.0, 6.0, 9.0]
    assert pooled.sessions is not None
    assert pooled.sessions[0].tolist() == [1, 1, 2, 2, 2]
    assert [one.code for one in again.cautions] == ["process-means"]


@pytest.mark.parametrize(
    ("iterations", "told"),
    [
        ({"a": [[1.0, 2.0]]}, "a list for each run of 'a'"),
        ({"a": [[1.0], []]}, "a list for each run of 'a'"),
        ({"b": [[1.0], [2.0]]}, "a list for each run of 'a'"),
        ([1], "a list for each run of 'a'"),
        ({"a": [[1.0], [2.5]]}, "run 2 of 'a' is not the mean"),
        ({"a": [[1.0], [2.0, -2.0]]}, "positive"),
        ({"a": [[1.0], ["x"]]}, "not a number|no number|must be"),
    ],
)
def test_iterations_that_do_not_fit_are_refused(
    tmp_path: Path, iterations: object, told: str
) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"samples": {"a": [1.0, 2.0]}, "iterations": iterations}))
    with pytest.raises(AnalysisError, match=told):
        PerformanceMatrix.read(path, better="lower")
