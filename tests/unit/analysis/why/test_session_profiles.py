"""What a function is called: alike in both variants, and never more alike than it is.

Authority: docs/why.md, "Names"; the names themselves are what gcc 12, clang, c++filt, rustc, CPython 3.12 and
node's --perf-basic-prof write.
"""

from __future__ import annotations

import io
import math
import re
import runpy
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.diagnose.explain import corrected, counting_variance, explain, holm, row_of
from analysis.diagnose.session_profiles import (
    PROGRAM,
    Side,
    folded,
    function_name,
    is_mangled,
    names_of,
    plain_name,
    plain_object,
    stacks_of,
)
from analysis.diagnose.why_result import Row
from analysis.record.profiles import (
    KERNEL,
    SampledCell,
    SampledFunction,
    StoredProfile,
    read_profile,
)
from harness.cli import main
from tests.examples import examples
from tests.profiled import CALLS, profile_beside
from tests.unit.analysis.why.made_profiles import FOLDER, PROFILE


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("get.isra.0", "get"),
        ("get.part.0.isra.12", "get"),
        ("get.constprop.3.cold", "get"),
        ("get.cold", "get"),
        ("get.lto_priv.0", "get"),
        ("get.llvm.1234567890123", "get"),
        ("get(int) [clone .isra.0]", "get(int)"),
        ("get(int) [clone .part.0] [clone .cold.7]", "get(int)"),
        ("core::fmt::Formatter::pad::h0123456789abcdef", "core::fmt::Formatter::pad"),
        ("mycrate[ca63f166dbe9294]::foo", "mycrate::foo"),
        ("std[0]::mem::align_of::<usize>", "std::mem::align_of::<usize>"),
        ("memcpy@@GLIBC_2.14", "memcpy"),
        # what looks alike, and belongs to the name
        ("memcpy@plt", "memcpy@plt"),
        ("main.compare.func1", "main.compare.func1"),
        ("colder", "colder"),
        ("a.coldest", "a.coldest"),
        ("f(int [3])", "f(int [3])"),
        (
            "std::vector<int>::operator[](unsigned long)",
            "std::vector<int>::operator[](unsigned long)",
        ),
        ("str[abi:cxx11]()", "str[abi:cxx11]()"),
        ("x::h0123456789abcde", "x::h0123456789abcde"),
        ("cmp.1", "cmp.1"),
        ("[unknown]", "[unknown]"),
        ("", "[unknown]"),
    ],
)
def test_what_compilers_append_is_no_part_of_a_name(symbol, name):
    assert plain_name(symbol) == name


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("libc-2.31.so", "libc"),
        ("libc.so.6", "libc"),
        ("libstdc++.so.6.0.30", "libstdc++"),
        ("ld-linux-x86-64.so.2", "ld-linux-x86-64"),
        ("/usr/lib/libz.so.1", "libz"),
        ("sort-1.2", "sort-1.2"),
        ("[vdso]", "vdso"),
        (KERNEL, KERNEL),
        ("[kernel.kallsyms]", KERNEL),
        ("perf-4711.map", "made at run time"),
        ("jitted-12-3.so", "made at run time"),
        ("//anon", "made at run time"),
        ("anon", "made at run time"),
        ("jit", "made at run time"),
        ("[unknown]", "unknown"),
    ],
)
def test_of_a_file_neither_folder_nor_version_counts(file, name):
    assert plain_object(file) == name


@pytest.mark.parametrize(
    ("symbol", "file", "name"),
    [
        ("py::key:/home/a/prog.py", "perf-12.map", ("py::key", "prog.py")),
        ("py::Table.key:prog.py", "perf-99.map", ("py::Table.key", "prog.py")),
        ("py::<module>:<frozen runpy>", "perf-9.map", ("py::<module>", "<frozen runpy>")),
        ("JS:*key /tmp/x/prog.js:3:13", "perf-1.map", ("JS:key", "prog.js")),
        ("JS:~key /tmp/y/prog.js:8:13", "perf-2.map", ("JS:key", "prog.js")),
        ("LazyCompile:* file:///tmp/p.js:1:1", "perf-2.map", ("LazyCompile:(anonymous)", "p.js")),
        ("JS:^key /tmp/y/prog.js:8:13", "jit", ("JS:key", "prog.js")),
        ("Builtin:ArraySort", "perf-2.map", ("Builtin:ArraySort", "made at run time")),
        ("ns::f(a b)", "app", ("ns::f(a b)", "app")),
    ],
)
def test_functions_of_interpreters_are_those_of_their_source(symbol, file, name):
    assert function_name(symbol, file) == name


def test_what_is_still_mangled_is_known():
    mangled = ("_ZN3foo3barEv", "_Z3fooi", "__ZN3foo3barEv", "_RNvCs15kBYyAo9fc_7mycrate3foo")
    assert all(map(is_mangled, mangled))
    plain = ("foo", "_start", "_Zone", "_Run", "__libc_start_main", "std::sort")
    assert not any(map(is_mangled, plain))


def _stored(base: dict[str, str], slow: dict[str, str]) -> StoredProfile:
    """Give a profile whose variants have these functions: symbol -> file."""
    cells = tuple(
        SampledCell(
            session=1,
            benchmark="b0",
            variant=variant,
            runs=1,
            samples=len(functions),
            lost=0,
            functions=tuple(
                SampledFunction(symbol=symbol, object=file, samples=1)
                for symbol, file in functions.items()
            ),
        )
        for variant, functions in (("v0", base), ("v1", slow))
    )
    return StoredProfile(profile=PROFILE, cells=cells, timed=FOLDER)


def test_a_program_under_two_names_is_one_object():
    names = names_of(
        _stored({"f": "sort-old", "g": "libc.so.6"}, {"f": "sort-new", "g": "libc.so.6"}), "b0"
    )
    assert names("f", "sort-old") == names("f", "sort-new") == ("f", PROGRAM)
    assert names("g", "libc.so.6") == ("g", "libc")


def test_the_programs_of_the_cells_are_one_object_whatever_else_is_sampled():
    one = _stored({"f": "old", "g": "old-plugin.so"}, {"f": "new", "g": "new-plugin.so"})
    named = {"b0/v0": "old", "b0/v1": "new"}
    names = names_of(replace(one, profile=replace(PROFILE, program_names=named)), "b0")
    assert names("f", "old") == names("f", "new") == ("f", PROGRAM)
    assert names("g", "old-plugin.so") != names("g", "new-plugin.so")


def test_files_are_not_taken_for_one_where_several_could_be_meant():
    names = names_of(_stored({"f": "old"}, {"f": "new", "g": "plugin.so"}), "b0")
    assert names("f", "old") == ("f", "old")
    assert names("f", "new") == ("f", "new")
    # and what both have is never the program of one
    same = names_of(_stored({"f": "app"}, {"f": "app"}), "b0")
    assert same("f", "app") == ("f", "app")


@settings(max_examples=examples(200))
@given(st.text(max_size=40), st.text(max_size=20))
def test_a_name_is_its_own_name(symbol, file):
    once = function_name(symbol, file)
    assert plain_name(plain_name(symbol)) == plain_name(symbol)
    assert plain_object(once.object) == once.object or once.object == "made at run time"
    assert once.function


# --- t over sessions and Holm's correction
#
# Authority: scipy's t (`ttest_rel`, `t.interval`), Holm (1979) written out anew below, and for the variance of counts
# exact enumeration over where a piece of a run begins (docs/why.md, "Counting").


def times(rng: np.random.Generator, n: int) -> np.ndarray:
    return 30 + rng.standard_normal(n)


@pytest.mark.parametrize("n", [2, 4, 6, 30])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_a_row_is_scipys_paired_t(n, confidence):
    rng = np.random.default_rng(n)
    base, slow = times(rng, n), times(rng, n) + 0.5
    row = row_of(base, slow, confidence, function="f")
    told = stats.ttest_rel(slow, base)
    ends = told.confidence_interval(confidence)
    assert row.pvalue == pytest.approx(told.pvalue, rel=1e-12)
    assert (row.low_ms, row.high_ms) == pytest.approx((ends.low, ends.high), rel=1e-12)
    assert row.difference_ms == pytest.approx((slow - base).mean(), rel=1e-12)


def test_without_spread_a_difference_has_no_p():
    # binary fractions, so that nothing is rounded
    row = row_of(np.array([1.0, 2.0, 3.0]), np.array([1.5, 2.5, 3.5]), 0.95, function="f")
    assert row.pvalue is None
    same = row_of(np.zeros(4), np.zeros(4), 0.95, function="f")
    assert same.pvalue == 1.0


def test_the_error_is_never_below_that_of_counting():
    base, slow = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.5, 2.5, 3.5, 4.5])
    least = 0.25
    row = row_of(base, slow, 0.95, least, function="f")
    error = math.sqrt(least / 4)
    reach = stats.t.ppf(0.975, 3) * error
    assert (row.low_ms, row.high_ms) == pytest.approx((0.5 - reach, 0.5 + reach), rel=1e-12)
    assert row.pvalue == pytest.approx(2 * stats.t.sf(0.5 / error, 3), rel=1e-12)
    # where sessions vary more, it changes nothing
    rng = np.random.default_rng(1)
    wide = times(rng, 6), times(rng, 6)
    assert row_of(*wide, 0.95, 1e-3, function="f") == row_of(*wide, 0.95, function="f")


def side(samples: int, milliseconds: float, runs: int = 3) -> Side:
    four = np.ones(4)
    return Side(
        counts=np.full((4, 1), samples),
        samples=np.full(4, samples),
        runs=np.full(4, runs),
        sampled=milliseconds * four,
        unseen=0 * four,
        wall=0 * four,
        waiting=0 * four,
    )


def test_the_least_variance_is_that_of_pieces_of_any_length():
    # a piece of length `lam` samples, whose begin lies anywhere between two of them
    begins = (np.arange(2000) + 0.5) / 2000
    lengths = (np.arange(200) + 0.5) / 200 + 3
    counts = np.floor(begins[:, None] + lengths) - np.floor(begins[:, None])
    variance = counts.var(axis=0).mean()
    assert variance == pytest.approx(1 / 6, abs=1e-4)
    found = counting_variance(side(100, 30.0), side(120, 36.0, runs=6))
    assert found == pytest.approx(variance * (3 * 0.3**2 + 6 * 0.3**2), rel=1e-3)


def test_what_is_unknown_counts_in_the_family():
    assert holm([0.01, None, 0.02]) == [pytest.approx(0.03), None, pytest.approx(0.04)]


def plain(p: float | None, difference: float = 1.0, function: str = "f") -> Row:
    return Row(
        function=function,
        baseline_ms=1.0,
        candidate_ms=1.0 + difference,
        difference_ms=difference,
        low_ms=None,
        high_ms=None,
        pvalue=p,
    )


def test_only_what_holds_after_the_correction_is_named():
    told = corrected([plain(0.01), plain(0.03), plain(None)], 0.05, names=True)
    assert [row.named for row in told] == [True, False, False]
    assert [row.pvalue_adjusted for row in told] == [pytest.approx(0.03), pytest.approx(0.06), None]
    assert not any(row.named for row in corrected([plain(1e-9)], 0.05, names=False))


# --- Stacks of a profile: they have the milliseconds of the rows, and names that rows bear
#
# Authority: the rows of `explain` on the same profile: what all stacks of a function take themselves is its row. The
# form is that of flamegraph.pl (`stackcollapse`) and speedscope ("Brendan Gregg's collapsed stack format").


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
    stacks = stacks_of(stored, "keys", {})
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
    lines = folded([(stored, "keys", {})]).splitlines()
    found = [re.fullmatch(r"(base|slow)((?:;[^;\n]+)+) ([1-9]\d*)", line) for line in lines]
    assert all(found)
    total = {side: sum(int(one[3]) for one in found if one[1] == side) for side in ("base", "slow")}
    assert total["base"] == pytest.approx(1000 * told.total.baseline_ms, abs=len(lines))
    assert total["slow"] == pytest.approx(1000 * told.total.candidate_ms, abs=len(lines))
    assert any(one[2].startswith(";main (app);<[u8: 4]>::sum") for one in found)


def test_several_answers_stand_apart_in_one_file(tmp_path):
    stored = profiled(tmp_path)
    text = folded([(stored, name, {}) for name in ("keys", "logs")])
    heads = {tuple(line.split(";")[:2]) for line in text.splitlines()}
    sides = ("base", "slow")
    assert heads == {(f"{name}: slow against base", one) for name in CELLS for one in sides}


def test_a_renamed_function_has_its_new_name(tmp_path):
    calls = {("main@app", "qsort_cmp@app"): (2.0, 0.0), ("main@app", "compare@app"): (0.0, 9.0)}
    stored = profiled(tmp_path, benchmarks=("keys",), calls=calls)
    apart = stacks_of(stored, "keys", {})
    assert {path[-1] for path in apart} == {"qsort_cmp (app)", "compare (app)"}
    (times,) = stacks_of(stored, "keys", {"qsort_cmp": "compare"}).values()
    assert min(times) > 1


def test_direct_recursion_is_one_frame_and_what_calls_main_is_left_out(tmp_path):
    calls = {
        ("_start@app", "main@app", "walk@app", "walk@app", "walk@app"): (5.0, 6.0),
        ("__libc_start_call_main@libc.so.6", "main@app", "walk@app"): (4.0, 5.0),
        ("start_thread@libc.so.6", "helper@app"): (3.0, 3.0),
    }
    assert set(stacks_of(profiled(tmp_path, calls=calls), "keys", {})) == {
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
