from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.data.columns import MetricColumn
from analysis.data.matrix import PerformanceMatrix
from analysis.data.number_text import NUMBER
from analysis.data.pair import match
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.multilevel.compare import multilevel


def matrix(name: str = "m", *, better: str = "lower", **samples: list[float]) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples(name, samples, better=better)


def read(path: Path, text: str, **options: object) -> PerformanceMatrix:
    path.write_text(text)
    return PerformanceMatrix.read(path, **({"better": "lower"} | options))


def test_ragged_samples_keep_their_order_and_identity() -> None:
    m = PerformanceMatrix.from_samples(
        "v",
        {"b": [3.0, 1.0, 2.0], "a": [5.0]},
        better="lower",
        blocks={"b": [1, 2, 3], "a": [1]},
        sessions={"a": ["s"], "b": ["s", "s", "t"]},
    )
    assert m.benchmarks == ("b", "a")
    assert m.runs == (3, 1)
    assert m.medians().tolist() == [2.0, 5.0]
    assert m.values("b").tolist() == [3.0, 1.0, 2.0]
    assert m.sessions is not None
    assert m.sessions[0].tolist() == ["s", "s", "t"]
    assert m.blocks is not None
    assert m.select(["a"]).blocks[0].tolist() == [1]
    assert str(m) == "v: 2 benchmarks x 1 to 3 runs, in s, lower is better"


def test_arrays_are_read_only_copies() -> None:
    source = np.array([1.0, 2.0])
    m = PerformanceMatrix.from_samples("v", {"a": source}, better="lower")
    source[0] = 9
    assert m.values("a")[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        m.values("a")[0] = 2
    with pytest.raises(FrozenInstanceError):
        m.name = "w"


def test_constant_samples_are_data() -> None:
    assert matrix(a=[2.0, 2.0, 2.0]).values("a").tolist() == [2.0] * 3


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_values_that_are_not_positive_and_finite_are_refused(bad: float) -> None:
    with pytest.raises(AnalysisError, match="run 2 is") as error:
        matrix(a=[1.0, bad])
    assert error.value.where == "m, benchmark 'a'"


def test_other_bad_samples_are_refused() -> None:
    with pytest.raises(InsufficientDataError, match="no benchmark"):
        matrix()
    with pytest.raises(InsufficientDataError, match="no runs"):
        matrix(a=[])
    with pytest.raises(AnalysisError, match="flat list"):
        matrix(a=[[1.0]])
    with pytest.raises(AnalysisError, match="not numbers"):
        matrix(a=["x"])
    with pytest.raises(UsageError, match="better must be"):
        matrix(a=[1.0], better="less")
    with pytest.raises(UsageError, match="blocks must hold"):
        PerformanceMatrix.from_samples("m", {"a": [1.0]}, better="lower", blocks={"a": [1, 2]})
    with pytest.raises(UsageError, match="sessions must name"):
        PerformanceMatrix.from_samples("m", {"a": [1.0]}, better="lower", sessions={"b": [1]})
    with pytest.raises(UsageError, match="known here: a"):
        matrix(a=[1.0]).values("b")


@pytest.mark.parametrize(
    ("suffix", "text", "layout"),
    [
        (".csv", "benchmark,run1,run2,run3\na,1,2,3\nb,4,5\n", {}),
        (".csv", "a,1,2,3\nb,4,5,\n", {}),
        (".csv", '\ufeff"benchmark", "run1","run2",run3\r\n"a",1,2,3\r\n"b",4,5,\r\n', {}),
        (".txt", "# two benchmarks\na\t1\t2\t3\nb\t4\t5\n\n", {}),
        (".txt", "benchmark 1 2 3\na 1 2 3\nb  4 5\n", {}),
        (".json", '{"a": [1, 2, 3], "b": [4, 5]}', {}),
        (".csv", "a,b\n1,4\n2,5\n3,\n", {"layout": "columns"}),
        (".csv", "run,a,b\n1,1,4\n2,2,5\n3,3\n", {"layout": "columns"}),
        (".txt", "a\tb\n1\t4\n2\t5\n3\t\n", {"layout": "columns"}),
    ],
)
def test_rows_and_columns_in_every_dress(tmp_path: Path, suffix: str, text: str, layout) -> None:
    m = read(tmp_path / f"x{suffix}", text, **layout)
    assert m.name == "x"
    assert m.benchmarks == ("a", "b")
    assert [v.tolist() for v in m.samples] == [[1, 2, 3], [4, 5]]


def test_bare_numbers_are_benchmarks_1_2_3(tmp_path: Path) -> None:
    rows = read(tmp_path / "x.txt", "1 2 3\n4 5 6\n")
    assert rows.benchmarks == ("1", "2")
    columns = read(tmp_path / "x.txt", "1 2 3\n4 5 6\n", layout="columns")
    assert [v.tolist() for v in columns.samples] == [[1, 4], [2, 5], [3, 6]]
    listed = read(tmp_path / "x.json", "[[1, 4], [2, 5], [3, 6]]", layout="columns")
    assert [v.tolist() for v in listed.samples] == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".dat", ".json", ""])
def test_one_number_a_line_is_one_benchmark_under_every_name(tmp_path: Path, suffix: str) -> None:
    for text in (
        "1.5\n2.5\n",
        '"1.5"\n"2.5"\n',
        "# ms\n1.5 # cold\n\n 2.5,\n",
        '\ufeff"1,5"\n"2,5"',
    ):
        m = read(tmp_path / f"x{suffix}", text)
        assert m.benchmarks == ("values",)
        assert m.values("values").tolist() == [1.5, 2.5]
    rows = read(tmp_path / f"x{suffix}", "1.5\n2.5\n", layout="rows")
    assert (rows.benchmarks, rows.runs) == (("1", "2"), (1, 1))
    headed = read(tmp_path / f"x{suffix}", "time\n1.5\n2.5\n")
    assert (headed.benchmarks, headed.runs) == (("values",), (2,))
    assert [caution.code for caution in headed.cautions] == ["headings-left-out"]
    named = read(tmp_path / f"x{suffix}", "a,1.5\nb,2.5\n")
    assert (named.benchmarks, named.runs) == (("a", "b"), (1, 1))


def test_one_column_is_one_benchmark(tmp_path: Path) -> None:
    column = read(tmp_path / "x.txt", "time\n1.5\n2.5\n", layout="columns")
    assert column.benchmarks == ("time",)
    assert column.runs == (2,)


@pytest.mark.parametrize(
    ("suffix", "layout", "text", "place", "what"),
    [
        (".csv", "rows", "a,1,2\nb,3,nan\n", "2:5", "'nan' is not a positive"),
        (".csv", "rows", "a,1,0\n", "1:5", "'0' is not a positive"),
        (".csv", "rows", "a,1,2\nb,3,x\n", "2:5", "'x' is not a number"),
        (".csv", "rows", "a,1,x\nb,3,4\n", "1:5", "'x' is not a number"),  # no heading either
        (".csv", "rows", "a,0.54s,0.55s\nb,3,4\n", "1:3", "'0.54s' is not a number"),
        (".csv", "rows", "a,1,,3\n", "1:5", "a run is missing here"),
        (".csv", "rows", "a,1\nb,,\n", "2:1", "'b' has no runs"),
        (".csv", "rows", "a,1\na,2\n", "2:1", "a second time"),
        (".csv", "rows", "a,1_000\n", "1:3", "'1_000' is not a number"),
        (".txt", "rows", "a 1 2\nb 3 1e\n", "2:5", "'1e' is not a number"),
        (".txt", "columns", "a b\n1 2\n3\n", "3:1", "1 cells, others have 2"),
        (".csv", "columns", "a,b\n1,\n3,4\n", "2:3", "a run is missing here"),
        (".json", "rows", '{"a": [1, 2],\n "b": [3, NaN]}', "2:11", "'NaN' is not a positive"),
        (".json", "rows", '{"a": [1, "2"]}', "1:11", "is not a number"),
        (".json", "rows", '{"x:y": [1, null]}', "1:13", "'null' is not a number"),
        (".json", "rows", '{"a": [1, 2}', "1:12", "this is no JSON"),
    ],
)
def test_bad_cells_are_refused_with_their_place(
    tmp_path: Path, suffix: str, layout: str, text: str, place: str, what: str
) -> None:
    path = tmp_path / f"x{suffix}"
    with pytest.raises(AnalysisError, match=what) as error:
        read(path, text, layout=layout)
    assert error.value.where == f"{path}:{place}"


@pytest.mark.parametrize(
    ("suffix", "text", "what"),
    [
        (".csv", "", "no values"),
        (".csv", "# only this\n", "no values"),
        (".csv", "benchmark,run1\n", "a heading and no values"),
        (".json", "{}", "not a matrix"),
        (".json", '{"a": [1], "a": [2]}', "twice"),
        (".json", '{"a": [[1]]}', "flat list"),
        (".json", "[" * 100_000, "nested too deeply|no JSON"),
    ],
)
def test_files_without_a_matrix_are_refused(
    tmp_path: Path, suffix: str, text: str, what: str
) -> None:
    with pytest.raises(AnalysisError, match=what):
        read(tmp_path / f"x{suffix}", text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        PerformanceMatrix.read(tmp_path / "none.csv", better="lower")
    (tmp_path / "x.csv").write_bytes(b"a,1\n\xff,2\n")
    with pytest.raises(AnalysisError, match="not UTF-8"):
        PerformanceMatrix.read(tmp_path / "x.csv", better="lower")
    with pytest.raises(UsageError, match="layout"):
        PerformanceMatrix.read(tmp_path / "x.csv", better="lower", layout="diagonal")


def test_names_above_numbers_are_benchmarks(tmp_path: Path) -> None:
    """Each row was a benchmark, whose runs were one number of each column."""
    m = read(tmp_path / "x.csv", "first,second\n1,2\n3,4\n5,6\n")
    assert (m.benchmarks, m.values("second").tolist()) == (("first", "second"), [2, 4, 6])
    assert [one.code for one in m.cautions] == ["columns-as-benchmarks"]
    with pytest.raises(
        AnalysisError, match=r"first, second may be the names of columns(.|\n)*--layout columns"
    ):
        read(tmp_path / "x.csv", "first,second\n1,2\n3,4\n")
    m = read(tmp_path / "x.csv", "first,second\n1,2\n3,4\n", layout="rows")
    assert (m.benchmarks, m.values("2").tolist()) == (("1", "2"), [3, 4])


def test_match_by_name_says_what_is_left_out() -> None:
    pair = match(matrix("x", a=[1.0], b=[2.0], c=[3.0]), matrix("y", c=[1.0], a=[2.0], d=[3.0]))
    assert pair.candidate.benchmarks == pair.baseline.benchmarks == ("a", "c")
    assert pair.baseline.values("c").tolist() == [1.0]
    assert tuple(map(str, pair.cautions)) == (
        "left out, because only 'x' has it: b",
        "left out, because only 'y' has it: d",
    )
    assert match(matrix("x", a=[1.0]), matrix("y", a=[1.0])).cautions == ()


def test_match_refuses_what_cannot_be_compared() -> None:
    with pytest.raises(AnalysisError, match="no benchmark in common"):
        match(matrix(a=[1.0]), matrix(b=[1.0]))
    with pytest.raises(AnalysisError, match="differ in 'better'"):
        match(matrix(a=[1.0]), matrix(a=[1.0], better="higher"))


# ---- the attacks on 0.1.0, B7, B8: crashes and a number that took quadratic time


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a": [1, ' + "9" * 5000 + "]}", "is not a positive finite"),
        ("[" * 990 + "]" * 990, "."),
        ("[" * 100_000, "nested too deeply"),
        ('{"samples": {"a": [1, 2]}, "cautions": 2.0}', "'cautions' must be a list of texts"),
        ('{"samples": {"a": [1, 2]}, "caution_codes": [1]}', "must be a list of texts"),
        ('{"samples": {"a": [1, 2]}, "sessions": {"a": [[1], 2]}}', "lists of whole numbers"),
        ('{"samples": {"a": [1, 2]}, "blocks": {"a": [1, "b"]}}', "lists of whole numbers"),
        ('{"samples": {"a": [1, 2]}, "blocks": {"a": [1, true]}}', "lists of whole numbers"),
        ('{"samples": {"a": [1, 2]}, "blocks": {"a": 5}}', "lists of whole numbers"),
        ('{"samples": {"a": [1, 2]}, "blocks": {"a": [1, 9223372036854775808]}}', "whole numbers"),
    ],
)
def test_a_damaged_json_file_is_an_error_with_its_place(
    tmp_path: Path, text: str, what: str
) -> None:
    with pytest.raises(AnalysisError, match=what) as error:
        read(tmp_path / "x.json", text)
    assert str(tmp_path / "x.json") in str(error.value.where)


@pytest.mark.parametrize("ids", [[[1], 2], [10**30, 1], [1.5, 2.5], [None, 1]])
def test_ids_that_are_no_numbers_and_no_names_are_refused(ids: list[object]) -> None:
    with pytest.raises(
        UsageError,
        match=r"one whole number or name for each|must be a mapping of texts, each to a list",
    ):
        PerformanceMatrix.from_samples("m", {"a": [1, 2]}, better="lower", blocks={"a": ids})


@pytest.mark.parametrize("text", ["1" * 200_000 + "x", "1" * 200_000 + ".", ".", "+-1"])
def test_a_long_number_is_read_in_one_pass(text: str) -> None:
    # two ways to match a digit took minutes here; the test would never end
    assert (NUMBER.fullmatch(text) is not None) == text.endswith("1.")


def test_whole_number_of_5000_digits_in_a_file_is_no_number_here(tmp_path: Path) -> None:
    # Python converts 4,300 digits; this ended in a traceback
    path = tmp_path / "m.json"
    path.write_text('{"a": [1, 2, 1' + "0" * 5000 + "]}")
    with pytest.raises(AnalysisError, match=r"m\.json:1:14: .* is not a positive finite") as error:
        PerformanceMatrix.read(path, better="lower")
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("sessions", [[1, 1, 2], ["mon", "mon", "tue"]])
def test_failed_runs_come_back_from_json(tmp_path: Path, sessions: list[int | str]) -> None:
    last = sessions[-1]
    made = PerformanceMatrix.from_samples(
        "new",
        {"a": [1.0, 1.1, 1.2]},
        better="lower",
        sessions={"a": sessions},
        failed={"a": {last: 2}, "dead": {sessions[0]: 3, last: 1}, "total": 4},
    )
    path = tmp_path / "new.json"
    path.write_text(json.dumps(made.to_dict()))
    found = PerformanceMatrix.read(path, better="lower")
    assert found.failed == made.failed == {"a": 2, "dead": 4, "total": 4}
    assert found.failed_by_session == made.failed_by_session


@pytest.mark.parametrize("wrong", [7, {"a": -1}, {"a": True}, {"a": {"1": "x"}}, {"a": {"x": 1}}])
def test_failed_runs_that_are_none_are_refused(tmp_path: Path, wrong: object) -> None:
    path = tmp_path / "new.json"
    whole = {"samples": {"a": [1.0, 2.0]}, "sessions": {"a": [1, 2]}, "failed": wrong}
    path.write_text(json.dumps(whole))
    with pytest.raises(AnalysisError, match="failed"):
        PerformanceMatrix.read(path, better="lower")


@pytest.mark.parametrize(
    ("name", "where"), [("5", "m.json:2:9"), ("[5]", "m.json")], ids=["a number", "a list"]
)
def test_a_name_that_is_no_text_is_refused_with_its_place(
    tmp_path: Path, name: str, where: str
) -> None:
    with pytest.raises(AnalysisError, match="'name' must be text") as failed:
        read(tmp_path / "m.json", f'{{\n"name": {name},\n"samples": {{"a": [1.5, 2.5]}}}}\n')
    assert failed.value.where == str(tmp_path / where)


def test_sessions_of_failed_runs_are_refused_where_nobody_named_those_of_the_others() -> None:
    with pytest.raises(UsageError, match="the sessions of failed runs are named") as caught:
        PerformanceMatrix.from_samples(
            "new", {"a": [1.0, 1.1]}, better="lower", failed={"a": {1: 2}}
        )
    assert caught.value.where == "new, benchmark 'a'"


# --- Processes and their iterations: a run is a process's mean, and pooling is asked for and told


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
