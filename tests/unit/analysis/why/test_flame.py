"""Callers of a profile as one graph: its boxes have the milliseconds of the rows, and names that rows bear.

Authority: the rows of `explain` on the same profile: what all boxes of a function take themselves is its row.
"""

from __future__ import annotations

import runpy
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import UsageError
from analysis.record.profiles import read_profile
from analysis.why.explain import explain
from analysis.why.flame import call_graph, write_flames
from tests.profiled import CALLS, profile_beside

build = runpy.run_path(str(Path(__file__).resolve().parents[1] / "conftest.py"))["build"]
CELLS = {"keys": [0.03, 0.03], "logs": [0.05, 0.05]}


def profiled(place, **options):
    trial = build({"base": CELLS, "slow": CELLS}, sessions=2).write(place / "sort")
    return read_profile(profile_beside(trial, build, variant="slow", **options))


@pytest.fixture(scope="module")
def stored(tmp_path_factory, shared):
    folder = tmp_path_factory.mktemp("flame")
    found = profiled(folder)
    with shared(folder):
        yield found


@pytest.fixture(scope="module")
def graph(stored):
    return call_graph(stored, explain(stored, benchmark="keys"))


def test_what_a_functions_boxes_take_themselves_is_its_row(graph):
    own = defaultdict(lambda: [0.0, 0.0])
    for box in graph.flame.boxes:
        own[box.name][0] += box.own_baseline
        own[box.name][1] += box.own_candidate
    rows = {row.name: row for row in graph.told.rows}
    assert len(rows) > 8
    for name, row in rows.items():
        assert own[name] == pytest.approx([row.baseline_ms, row.candidate_ms], rel=1e-9)
    root = graph.flame.boxes[0]
    total = graph.told.total
    assert root.baseline == pytest.approx(total.baseline_ms, rel=1e-9)
    assert root.candidate == pytest.approx(total.candidate_ms, rel=1e-9)


def test_named_functions_bear_their_star_and_all_is_told_in_words(graph):
    names = {box.name: graph.words.name(box) for box in graph.flame.boxes}
    assert names["qsort_cmp (app)"] == "* qsort_cmp"
    assert names["emit (app)"] == "emit"
    assert "qsort_cmp (app) +6." in graph.alt
    assert "Left out: 1 box narrower" in " ".join(graph.notes)
    box = next(one for one in graph.flame.boxes if one.name == "sort_keys (app)")
    assert "; itself " in graph.words.whole(box)


def test_a_renamed_function_is_one_box(tmp_path):
    calls = {chain: ms for chain, ms in CALLS.items() if "qsort_cmp" not in chain[-1]} | {
        ("_start@app", "main@app", "qsort_cmp@app"): (2.0, 0.0),
        ("_start@app", "main@app", "compare@app"): (0.0, 9.0),
    }
    stored = profiled(tmp_path, calls=calls, benchmarks=("keys",))
    apart = call_graph(stored, explain(stored, benchmark="keys"))
    told = explain(stored, benchmark="keys", renames={"qsort_cmp": "compare"})
    one = call_graph(stored, told)
    assert {"qsort_cmp (app)", "compare (app)"} < {box.name for box in apart.flame.boxes}
    (box,) = (box for box in one.flame.boxes if box.name == "compare (app)")
    assert box.own_baseline > 1
    assert "qsort_cmp (app)" not in {box.name for box in one.flame.boxes}


def test_direct_recursion_is_one_box_and_unknown_callers_are_counted(tmp_path):
    calls = {
        ("main@app", "walk@app", "walk@app", "walk@app"): (5.0, 6.0),
        ("lone@app",): (10.0, 12.0),
    }
    stored = profiled(tmp_path, calls=calls, benchmarks=("keys",))
    graph = call_graph(stored, explain(stored, benchmark="keys"))
    assert max(box.depth for box in graph.flame.boxes) == 2
    assert graph.alone == pytest.approx(2 / 3, abs=0.03)
    assert "--chains dwarf" in " ".join(graph.notes)


def test_chains_that_unwinding_ends_at_main_or_above_it_are_one(tmp_path):
    calls = {
        ("_start@app", "main@app", "work@app"): (5.0, 6.0),
        ("__libc_start_call_main@libc.so.6", "main@app", "work@app"): (4.0, 5.0),
        ("main@app", "work@app"): (3.0, 4.0),
        ("start_thread@libc.so.6", "helper@app"): (3.0, 3.0),
    }
    stored = profiled(tmp_path, calls=calls, benchmarks=("keys",))
    graph = call_graph(stored, explain(stored, benchmark="keys"))
    paths = {box.path for box in graph.flame.boxes}
    assert {path for path in paths if "work (app)" in path} == {("main (app)", "work (app)")}
    assert ("start_thread (libc)", "helper (app)") in paths


def test_boxes_of_a_sample_or_two_are_left_out(tmp_path):
    calls = {("main@app", "work@app"): (3.0, 4.0)}
    calls |= {("main@app", f"once{k}@app"): (0.04, 0.04) for k in range(5)}
    stored = profiled(tmp_path, calls=calls, benchmarks=("keys",))
    few = replace(
        stored,
        cells=tuple(
            cell if cell.session == 1 else replace(cell, session=cell.session + 100)
            for cell in stored.cells
        ),
    )  # the only session that has timed runs too
    graph = call_graph(few, explain(few, benchmark="keys"))
    assert {box.name for box in graph.flame.boxes} == {"", "main (app)", "work (app)"}
    assert graph.flame.narrow >= 3


def test_one_answer_goes_to_the_file_and_several_beside_it(stored, graph, tmp_path):
    path = tmp_path / "f.svg"
    assert write_flames([(stored, graph.told)], path) == (path,)
    first = path.read_bytes()
    assert b"<script" not in first
    assert len(first) < 40_000
    both = [(stored, explain(stored, benchmark=name)) for name in ("keys", "logs")]
    found = write_flames(both, path)
    assert [one.name for one in found] == ["f-slow-keys.svg", "f-slow-logs.svg"]
    assert found[0].read_bytes() == first


def test_a_profile_without_callers_is_refused_with_the_way_to_record_them(tmp_path):
    stored = profiled(tmp_path, chains=None, benchmarks=("keys",))
    told = explain(stored, benchmark="keys")
    assert call_graph(stored, told) is None
    with pytest.raises(UsageError, match="needs callers") as refused:
        write_flames([(stored, told)], tmp_path / "f.svg")
    assert "--chains dwarf" in refused.value.fix
    assert not (tmp_path / "f.svg").exists()


def test_programs_that_took_no_time_have_no_flame_graph(tmp_path):
    stored = profiled(tmp_path, benchmarks=("keys",))
    timed = read_trial(stored.timed)
    nothing = np.zeros_like(timed.numbers["user_s"])
    idle = replace(timed, numbers={**timed.numbers, "user_s": nothing, "system_s": nothing})
    told = explain(stored, benchmark="keys")
    assert call_graph(stored, told, idle) is None
