"""What callgrind counts is held against programs whose loops are known; formats are those of valgrind's manual."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.errors import HostError
from harness.why.counting import counts_in, find_valgrind

programs = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[3] / "why_programs.py")))

WRITTEN = """\
# callgrind format
positions: line
events: Ir
summary: 130

ob=/usr/bin/app
fl=app.c
fn=visit
10 3
cfn=weigh
calls=2 20
10 100
fi=inlined.h
11 7
fn=0x0000000000001150
0 5
ob=/lib/libc.so.6
fn=_IO_puts
9 15

totals: 130
"""


@pytest.fixture(scope="module")
def programs_folder(tmp_path_factory):
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    if not programs.has_compiler():
        pytest.skip("no C compiler is installed")
    folder = tmp_path_factory.mktemp("programs")
    source = folder / "program.c"
    source.write_text(programs.SOURCE)
    flags = ("-O2", "-DVISITS=1000", "-DPARSED=30", "-DWEIGHED=20")
    subprocess.run(["cc", *flags, "-o", str(folder / "app"), str(source)], check=True)
    return folder


def counted(folder, *argv):
    into = folder / f"counts-{len(list(folder.iterdir()))}"
    into.mkdir()
    words = find_valgrind().around([str(folder / "app"), *argv], into)
    subprocess.run(words, check=True, capture_output=True)
    return counts_in(into)


def test_costs_are_a_functions_own_and_files_of_processes_add_up(tmp_path):
    (tmp_path / "counts.17").write_text(WRITTEN)
    (tmp_path / "counts.17.1").write_text(WRITTEN)
    assert counts_in(tmp_path) == {
        ("visit", "app"): 20,
        ("[unknown]", "app"): 10,
        ("_IO_puts", "libc.so.6"): 30,
    }


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="c++filt is not installed")
def test_names_that_valgrind_cannot_read_are_made_readable(tmp_path):
    mangled = "_RNvCs1234_3app5weigh"  # Rust's newer form (RFC 2603)
    (tmp_path / "counts.17").write_text(WRITTEN.replace("fn=_IO_puts", f"fn={mangled}"))
    ((name, _),) = (key for key in counts_in(tmp_path) if "weigh" in key[0])
    assert name.endswith("::weigh")
    assert name != mangled


def test_a_loop_is_counted_exactly_and_alike_twice(programs_folder):
    first, second = counted(programs_folder), counted(programs_folder)
    assert first == second
    # the loop of weigh is one instruction more or less than that of parse, a few times each
    assert 1000 * 20 * 3 <= first["weigh", "app"] <= 1000 * 20 * 8
    assert 1000 * 30 * 3 <= first["parse", "app"] <= 1000 * 30 * 8


def test_a_child_is_counted_and_what_was_done_before_it_is_not_counted_twice(programs_folder):
    plain, forked = counted(programs_folder), counted(programs_folder, "fork")
    for name in ("weigh", "parse", "visit"):
        assert forked[name, "app"] == plain[name, "app"]
    before = sum(many for (_, place), many in plain.items() if place != "app")
    twice = sum(many for (_, place), many in forked.items() if place != "app")
    assert twice < 1.2 * before  # that of the start would be there twice


def test_without_valgrind_the_remedy_is_told(tmp_path):
    with pytest.raises(HostError, match="not installed") as caught:
        find_valgrind(str(tmp_path))
    assert "apt install valgrind" in (caught.value.fix or "")


def test_a_valgrind_that_does_not_start_is_told(tmp_path):
    broken = tmp_path / "valgrind"
    broken.write_text("#!/bin/sh\necho no >&2; exit 3\n")
    broken.chmod(0o755)
    with pytest.raises(HostError, match="cannot be executed"):
        find_valgrind(f"{tmp_path}{os.pathsep}/bin")
