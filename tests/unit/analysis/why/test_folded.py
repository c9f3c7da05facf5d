"""Stacks of a profile: they have the milliseconds of the rows, and names that rows bear.

Authority: the rows of `explain` on the same profile: what all stacks of a function take themselves is its row. The
form is that of flamegraph.pl (`stackcollapse`) and speedscope ("Brendan Gregg's collapsed stack format").
"""

import io
import re
import runpy
from collections import defaultdict
from pathlib import Path

import pytest

from analysis.diagnose.explain import explain
from analysis.diagnose.session_profiles import folded, stacks_of
from analysis.record.profiles import read_profile
from harness.cli import main
from tests.profiled import CALLS, profile_beside

build = runpy.run_path(str(Path(__file__).resolve().parents[1] / "conftest.py"))["build"]
CELLS = {"keys": [0.03, 0.03], "logs": [0.05, 0.05]}


def profiled(place, **options):
    trial = build({"base": CELLS, "slow": CELLS}, sessions=2).write(place / "sort")
    return read_profile(profile_beside(trial, build, variant="slow", **options))


def keys_of(place, **options):
    stored = profiled(place, benchmarks=("keys",), **options)
    return stored, explain(stored, benchmark="keys")


@pytest.mark.parametrize("chains", ["fp", None])
def test_what_a_functions_stacks_take_themselves_is_its_row(tmp_path, chains):
    stored, told = keys_of(tmp_path, chains=chains)
    stacks = stacks_of(stored, told)
    own = defaultdict(lambda: [0.0, 0.0])
    for path, times in stacks.items():
        for side in (0, 1):
            own[path[-1]][side] += times[side]
    assert len(told.rows) > 8
    for row in told.rows:
        assert own[row.name] == pytest.approx([row.baseline_ms, row.candidate_ms], rel=1e-9)
    assert (max(map(len, stacks)) > 1) == (chains is not None)
    total = [sum(times[side] for times in stacks.values()) for side in (0, 1)]
    assert total == pytest.approx([told.total.baseline_ms, told.total.candidate_ms], rel=1e-9)


def test_a_line_is_a_variants_stack_and_whole_microseconds(tmp_path):
    odd = ("_start@app", "main@app", "<[u8; 4]>::sum\n@app")
    stored, told = keys_of(tmp_path, calls={**CALLS, odd: (2.0, 3.0)})
    lines = folded([(stored, told)]).splitlines()
    found = [re.fullmatch(r"(base|slow)((?:;[^;\n]+)+) ([1-9]\d*)", line) for line in lines]
    assert all(found)
    total = {side: sum(int(one[3]) for one in found if one[1] == side) for side in ("base", "slow")}
    assert total["base"] == pytest.approx(1000 * told.total.baseline_ms, abs=len(lines))
    assert total["slow"] == pytest.approx(1000 * told.total.candidate_ms, abs=len(lines))
    assert any(one[2].startswith(";main (app);<[u8: 4]>::sum") for one in found)


def test_several_answers_stand_apart_in_one_file(tmp_path):
    stored = profiled(tmp_path)
    text = folded([(stored, explain(stored, benchmark=name)) for name in ("keys", "logs")])
    heads = {tuple(line.split(";")[:2]) for line in text.splitlines()}
    sides = ("base", "slow")
    assert heads == {(f"{name}: slow against base", one) for name in CELLS for one in sides}


def test_a_renamed_function_has_its_new_name(tmp_path):
    calls = {("main@app", "qsort_cmp@app"): (2.0, 0.0), ("main@app", "compare@app"): (0.0, 9.0)}
    stored, apart = keys_of(tmp_path, calls=calls)
    told = explain(stored, benchmark="keys", renames={"qsort_cmp": "compare"})
    assert {path[-1] for path in stacks_of(stored, apart)} == {"qsort_cmp (app)", "compare (app)"}
    (times,) = stacks_of(stored, told).values()
    assert min(times) > 1


def test_direct_recursion_is_one_frame_and_what_calls_main_is_left_out(tmp_path):
    calls = {
        ("_start@app", "main@app", "walk@app", "walk@app", "walk@app"): (5.0, 6.0),
        ("__libc_start_call_main@libc.so.6", "main@app", "walk@app"): (4.0, 5.0),
        ("start_thread@libc.so.6", "helper@app"): (3.0, 3.0),
    }
    assert set(stacks_of(*keys_of(tmp_path, calls=calls))) == {
        ("main (app)", "walk (app)"),
        ("start_thread (libc)", "helper (app)"),
    }


def test_the_command_writes_them_of_a_stored_profile(tmp_path):
    profiled(tmp_path, benchmarks=("keys",))
    out, err = io.StringIO(), io.StringIO()
    file = tmp_path / "f.folded"
    words = ["why", f"{tmp_path / 'sort'}:slow", "--stored", "--folded", str(file)]
    assert main(words, out, err) in (0, 1), err.getvalue()
    assert re.fullmatch(r"((base|slow);.+ [1-9]\d*\n)+", file.read_text())
