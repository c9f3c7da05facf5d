"""asv's results. Authority: the sample files, counted by hand, and its writer, versions 1 and 2."""

from __future__ import annotations

import gzip
import json
import lzma
import zlib
from pathlib import Path

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.gathering import ReadingChoices, gather
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


AXES = [["1", "2"], ["'a'", "'b'"]]
V1 = {"result_columns": None, "version": 1}
OBJECT = {"result": [0.5], "params": [], "samples": [[0.25, 0.75]], "stats": [{"number": 4}]}


def told(found) -> list:
    return [(c.benchmark.removeprefix("b."), c.values, c.failed) for c in found.cells]


@pytest.mark.parametrize(
    ("results", "more", "cells", "codes"),
    [
        (
            {"time_x": row([0.5, None, NAN, 0.7], AXES, [[0.5, 0.6], None, None, None], [3, None, None, 4])},
            {},
            [("time_x(param1=1, param2='a')", (0.5, 0.6), 0), ("time_x(param1=1, param2='b')", (), 1),
             ("time_x(param1=2, param2='b')", (0.7,), 0)],
            ["single", "skipped"],
        ),
        (
            {"track_y": row([1.0, NAN], AXES[:1]), "time_z": row(None, AXES[:1]), "time_n": None},
            {},
            [("track_y(param1=1)", (1.0,), 0), ("time_z(param1=1)", (), 1),
             ("time_z(param1=2)", (), 1), ("time_n", (), 1)],
            ["skipped"],
        ),
        ({"mem_a": row([None], AXES[:1], [None])}, {}, [("mem_a(param1=1)", (), 1), ("mem_a(param1=2)", (), 1)], []),
        (
            {"track_a": row([{"x": 1}]), "track_b": row(["text"]), "track_c": row([-1.5]), "track_d": row([True]), "track_e": row([2])},
            {},
            [("track_e", (2.0,), 0)],
            ["left-out"],
        ),
        (
            {"time_x": [[[0.5, 0.6]], [], [0.5]]},
            {"result_columns": ["samples", "params", "result"]},
            [("time_x", (0.5, 0.6), 0)],
            [],
        ),
        (
            {"time_x": OBJECT, "time_y": 0.5, "time_z": None, "track_t": 7, "track_o": {"a": 1}, "time_n": NAN,
             "time_p": {"result": None, "params": AXES[:1]}, "time_s": {"result": 0.5, "stats": {"number": 2}}},
            V1,
            [("time_x", (0.25, 0.75), 0), ("time_y", (0.5,), 0), ("time_z", (), 1),
             ("track_t", (7.0,), 0), ("time_p(param1=1)", (), 1), ("time_p(param1=2)", (), 1),
             ("time_s", (0.5,), 0)],
            ["single", "skipped", "left-out"],
        ),
    ],
)  # fmt: skip
def test_results_of_every_kind(foreign, results, more, cells, codes) -> None:
    data = whole({f"b.{name}": given for name, given in results.items()}) | more
    found = foreign({key: value for key, value in data.items() if value is not None})
    assert told(found) == cells
    known = ("processes-unknown", "no-sessions", "warm-ups-unknown")
    assert [c.code for c in (*found.losses, *found.notes) if c.code not in known] == codes


def test_what_is_known_of_the_whole_file(foreign) -> None:
    found = foreign(whole(TIME | {"b.time_y": row([0.5])}) | {"date": 1500000000000})
    facts = {"host": "m", "environment": "e1", "commit": "c1"}
    assert found.facts == facts | {"date": "2017-07-14T02:40:00+00:00"}
    assert "asv run --record-samples keeps them" in found.losses[0].text
    with pytest.raises(AnalysisError, match="no result is a number"):
        foreign(whole({"b.time_x": row([NAN])}))


def test_units_stand_in_the_file_of_the_benchmarks(foreign, tmp_path: Path) -> None:
    about = {"b.fast": {"type": "time", "unit": "seconds", "param_names": ["n"]},
             "b.track_t": {"type": "track", "unit": "ms"}, "b.track_r": {"type": "track", "unit": "req/s"},
             "b.peakmem_p": {"type": "peakmemory", "unit": "bytes"}, "version": 2}  # fmt: skip
    (tmp_path / "benchmarks.json").write_text(json.dumps(about))
    results = {"b.fast": row([0.5], [["9"]], [[0.5]]), "b.track_t": row([3.0]),
               "b.track_r": row([4.0]), "b.peakmem_p": row([5])}  # fmt: skip
    found = foreign(whole(results))
    assert [(c.benchmark, c.metric, c.unit, c.better, c.values) for c in found.cells] == [
        ("b.fast(n=9)", "time", "s", "lower", (0.5,)),
        ("b.track_t", "value", "s", None, (0.003,)),
        ("b.track_r", "value", "req/s", None, (4.0,)),
        ("b.peakmem_p", "peak_memory", "B", "lower", (5.0,)),
    ]
    (tmp_path / "benchmarks.json").write_text("{")  # damaged: it is not needed
    assert foreign(whole(TIME)).cells[0].unit == "s"


def folder(path: Path, *files: dict) -> Path:
    for k, data in enumerate(files):
        machine = path / data["params"]["machine"]
        machine.mkdir(parents=True, exist_ok=True)
        (machine / "machine.json").write_text("{}")
        (machine / f"{k}-env.json").write_text(json.dumps(data))
    (path / "benchmarks.json").write_text("{}")
    return path


def test_a_folder_of_commits_and_environments(tmp_path: Path) -> None:
    other = {"b.time_x": row([0.5], samples=[[0.3, 0.4]])}
    third = whole({"b.time_x": 0.7}, env="") | {"version": 1}
    del third["result_columns"]
    made = folder(tmp_path / ".asv" / "results", whole(TIME), whole(other, commit="c2"), third)
    packed = made / "m" / "1-env.json"
    packed.with_suffix(".json.gz").write_bytes(gzip.compress(packed.read_bytes()))
    packed.unlink()
    for source, below in ((tmp_path, ".asv/results/"), (made, "")):  # a project's root, or the tree
        found = gather([read_foreign(open_foreign(str(source)))], ReadingChoices())
        assert found.variants == ("c1, e1", "c2, e1", "c1, env")
        assert "the commit and environment" in found.rule
        names = [f"{below}m/{name}" for name in ("0-env.json", "1-env.json.gz", "2-env.json")]
        assert [one.cell.session for one in found.cells] == names
        assert not any(caution.code == "equal-names" for caution in found.cautions)


def test_a_file_of_the_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    made = folder(tmp_path / "r", whole(TIME))
    cut = json.dumps(whole(TIME))[:-20].encode()
    for data, said in (
        (b"\x1f\x8bdamaged", r"r/a\.json: the \.gz file is damaged"),  # before the others
        (cut, r"r/a\.json:1: the file is cut off"),
    ):
        (made / "a.json").write_bytes(data)
        with pytest.raises(AnalysisError, match=said):
            read_foreign(open_foreign(str(made)))
    (made / "a.json").write_text('{"what": "else"}')
    assert read_foreign(open_foreign(str(made))).format == "asv"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (row([0.5], samples=[[0.5, -1.0]]), r"results\['b.time_x'\]\[0\]\[1\]: the value -1.0 is negative"),
        (row([0.5, 0.6], samples=[[0.5]]), "1 combinations, its results do not fit"),
        (row([0.5], ["n"]), "parameters are not lists"),
        (5, "does not fit its columns"),
        (row(None, [[str(k) for k in range(100)]] * 6), "combinations"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(foreign, change, said) -> None:
    with pytest.raises(AnalysisError, match=said):
        foreign(whole({"b.time_x": change}))


def test_files_of_lzip_are_read(tmp_path) -> None:
    """Authority: lzip's manual, section 6: its file format."""
    text = json.dumps(whole(TIME)).encode()
    packed = lzma.compress(text, lzma.FORMAT_ALONE)[13:]
    crc = zlib.crc32(text).to_bytes(4, "little")
    member = b"LZIP\x01\x17" + packed + crc + bytes(16)
    (tmp_path / "machine").mkdir()
    (tmp_path / "machine" / "r.json.lz").write_bytes(member)
    assert read_foreign(open_foreign(str(tmp_path))).format == "asv"
    for damaged in (member[:-30], member[:20], member.replace(crc, b"____")):
        (tmp_path / "r.json.lz").write_bytes(damaged)
        with pytest.raises(AnalysisError, match=r"the \.lz file is damaged"):
            open_foreign(str(tmp_path / "r.json.lz"))
