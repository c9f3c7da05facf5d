"""What a function is called: alike in both variants, and never more alike than it is.

Authority: docs/why.md, "Names"; the names themselves are what gcc 12, clang, c++filt, rustc, CPython 3.12 and
node's --perf-basic-prof write.
"""

from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from analysis.diagnose.session_profiles import (
    PROGRAM,
    function_name,
    is_mangled,
    names_of,
    plain_name,
    plain_object,
)
from analysis.record.profiles import KERNEL, SampledCell, SampledFunction, StoredProfile
from tests.examples import examples
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
