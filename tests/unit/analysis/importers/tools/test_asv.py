"""asv's results. Authority: the sample files, counted by hand, and its writer, versions 1 and 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.gathering import gather
from analysis.importers.naming import ReadingChoices
from analysis.importers.registry import read_foreign

COLUMNS = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b",
           "stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples", "profile"]  # fmt: skip
NAN = float("nan")


def row(result, params=(), samples=None, number=None) -> list:
    found = [result, list(params), "v", 1, 0.5, None, None, None, None, number, None, samples]
    while found[-1] is None:  # as asv cuts its columns
        found.pop()
    return found


def whole(results: dict, commit: str = "c1", env: str = "e1", machine: str = "m") -> dict:
    return {"commit_hash": commit, "env_name": env, "date": 1, "params": {"machine": machine, "numpy": "2.0"},
            "python": "3.12", "result_columns": COLUMNS, "results": results, "durations": {}, "version": 2}  # fmt: skip


TIME = {"b.time_x": row([0.5], samples=[[0.25, 0.5, 0.75]], number=[7])}


@pytest.mark.parametrize("source", ["asv", "asv/lab1-existing-py_python3.json"])
def test_sample(read_sample, source: str) -> None:
    found = read_sample(source)
    small, large, memory, track = found.cells
    assert found.variant_rule == "the commit"
    for cell, n, values in (
        (small, "100", (0.25, 0.5, 0.75)),
        (large, "1000", (4.0, 5.0, 4.5)),
    ):
        assert cell.benchmark == f"b.Suite.time_sort(n={n})"
        assert cell.values == values
        assert (cell.metric, cell.unit, cell.better) == ("time", "s", "lower")
        assert (cell.known, cell.inner, cell.warmups, cell.failed) == (False, 50, None, 0)
        assert cell.variant == "c0ffee" * 6 + "c0ff"
        assert (cell.keys["n"], cell.keys["env_name"]) == (n, "existing-py_python3")
    assert (memory.values, memory.metric, memory.unit, memory.better) == (
        (8056.0,),
        "memory",
        "B",
        "lower",
    )
    assert (track.values, track.metric, track.unit, track.better) == ((42.0,), "value", "", None)


def test_combinations_that_failed_were_skipped_or_have_no_samples(foreign) -> None:
    axes = [["1", "2"], ["'a'", "'b'"]]
    samples = [[0.5, 0.6], None, None, None]
    results = {
        "b.time_x": row([0.5, None, NAN, 0.7], axes, samples, [3, None, None, 4]),
        "b.track_y": row([1.0, NAN], [["1", "2"]]),
        "b.time_z": row(None, [["1", "2"]]),
    }
    found = foreign(whole(results))
    told = [(c.benchmark, c.values, c.failed, c.inner) for c in found.cells]
    assert told == [
        ("b.time_x(param1=1, param2='a')", (0.5, 0.6), 0, 3),
        ("b.time_x(param1=1, param2='b')", (), 1, None),
        ("b.track_y(param1=1)", (1.0,), 0, None),
        ("b.time_z(param1=1)", (), 1, None),
        ("b.time_z(param1=2)", (), 1, None),
    ]
    assert [note.code for note in found.notes] == ["summaries-left-out", "skipped"]


def test_times_without_samples_only_are_refused_with_the_option(foreign) -> None:
    with pytest.raises(AnalysisError, match="--record-samples"):
        foreign(whole({"b.time_x": row([0.5])}))


def test_units_stand_in_the_file_of_the_benchmarks(foreign, tmp_path: Path) -> None:
    about = {"b.fast": {"type": "time", "unit": "seconds", "param_names": ["n"]},
             "b.track_t": {"type": "track", "unit": "ms"}, "b.track_r": {"type": "track", "unit": "req/s"},
             "b.peakmem_p": {"type": "peakmemory", "unit": "bytes"}, "version": 2}  # fmt: skip
    (tmp_path / "benchmarks.json").write_text(json.dumps(about))
    found = foreign(
        whole({
            "b.fast": row([0.5], [["9"]], [[0.5]]),
            "b.track_t": row([3.0]),
            "b.track_r": row([4.0]),
            "b.peakmem_p": row([5]),
        })
    )  # fmt: skip
    told = [(c.benchmark, c.metric, c.unit, c.better, c.values) for c in found.cells]
    assert told == [
        ("b.fast(n=9)", "time", "s", "lower", (0.5,)),
        ("b.track_t", "value", "s", None, (0.003,)),
        ("b.track_r", "value", "req/s", None, (4.0,)),
        ("b.peakmem_p", "peak_memory", "B", "lower", (5.0,)),
    ]


def test_a_benchmarks_file_that_is_damaged_is_not_needed(foreign, tmp_path: Path) -> None:
    (tmp_path / "benchmarks.json").write_text("{")
    assert foreign(whole(TIME)).cells[0].unit == "s"


def test_other_columns_in_another_order(foreign) -> None:
    data = whole({"b.time_x": [[[0.5, 0.6]], [], [0.5]]}) | {
        "result_columns": ["samples", "params", "result"]
    }
    assert foreign(data).cells[0].values == (0.5, 0.6)


def test_version_1_had_no_columns(foreign) -> None:
    old = {
        "commit_hash": "c", "date": 1, "params": {"machine": "m"}, "python": "2.7", "version": 1,
        "results": {
            "b.time_x": {"result": [0.5], "params": [], "samples": [[0.25, 0.75]], "stats": [{"number": 4}]},
            "b.time_y": 0.5,
            "b.time_z": None,
            "b.track_t": 7,
        },
    }  # fmt: skip
    found = foreign(old)
    assert [(c.benchmark, c.values, c.failed, c.inner) for c in found.cells] == [
        ("b.time_x", (0.25, 0.75), 0, 4),
        ("b.time_z", (), 1, None),
        ("b.track_t", (7.0,), 0, None),
    ]


def folder(path: Path, *files: dict) -> Path:
    for k, data in enumerate(files):
        machine = path / data["params"]["machine"]
        machine.mkdir(parents=True, exist_ok=True)
        (machine / "machine.json").write_text("{}")
        (machine / f"{k}-env.json").write_text(json.dumps(data))
    (path / "benchmarks.json").write_text("{}")
    return path


def test_a_folder_of_commits(tmp_path: Path) -> None:
    other = {"b.time_x": row([0.5], samples=[[0.3, 0.4]])}
    made = folder(tmp_path / "results", whole(TIME), whole(other, commit="c2"))
    found = gather([read_foreign(open_foreign(str(made)))], ReadingChoices())
    assert found.variants == ("c1", "c2")
    assert [one.cell.session for one in found.cells] == ["m/0-env.json", "m/1-env.json"]
    assert not any(caution.code == "equal-names" for caution in found.cautions)


def test_environments_of_one_commit_are_variants(tmp_path: Path) -> None:
    other = {"b.time_x": row([0.5], samples=[[0.3, 0.4]])}
    made = folder(tmp_path / "r", whole(TIME), whole(other, env="e2"))
    found = gather([read_foreign(open_foreign(str(made)))], ReadingChoices())
    assert found.variants == ("c1, e1", "c1, e2")
    assert "the commit and environment" in found.rule


def test_a_file_of_the_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    made = folder(tmp_path / "r", whole(TIME))
    (made / "a.json").write_bytes(b"\x1f\x8bdamaged")  # before the others
    with pytest.raises(AnalysisError, match=r"r/a\.json: the \.gz file is damaged"):
        read_foreign(open_foreign(str(made)))
    (made / "a.json").write_text('{"what": "else"}')
    assert read_foreign(open_foreign(str(made))).format == "asv"


def test_a_result_of_the_folder_that_is_cut_off_is_named(tmp_path: Path) -> None:
    made = folder(tmp_path / "r", whole(TIME))
    (made / "a.json").write_text(json.dumps(whole(TIME))[:-20])
    with pytest.raises(AnalysisError, match=r"r/a\.json:1: the file is cut off"):
        read_foreign(open_foreign(str(made)))


def test_so_many_combinations_are_no_result(foreign) -> None:
    axes = [[str(k) for k in range(100)]] * 6
    with pytest.raises(AnalysisError, match="combinations"):
        foreign(whole(TIME | {"b.time_y": row(None, axes)}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            row([0.5], samples=[[0.5, -1.0]]),
            r"results\['b.time_x'\]\[0\]\[1\]: the value -1.0 is negative",
        ),
        (row([0.5, 0.6], samples=[[0.5]]), "1 combinations, its results do not fit"),
        (row([0.5], ["n"]), "parameters are not lists"),
        (5, "does not fit its columns"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(foreign, change, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(whole({"b.time_x": change}))
